"""Proposed roles of invented columns: what may link people, few enough to be of use; what names say."""

from typing import Any

import pytest

from kanon_pg.audit.findings import Suggestion
from kanon_pg.audit.names import lists_people, names_a_person, role_by_name, without_accents
from kanon_pg.audit.roles import MOST_QUASI_IDENTIFIERS, ObservedColumn, suggestions_for
from kanon_pg.audit.suggesting import declaring
from kanon_pg.audit.values import look_of
from kanon_pg.db.catalog import ColumnFacts


@pytest.mark.parametrize(
    "name",
    ["patient_id", "patientNbr", "PERSON_KEY", "id_customer", "person", "subject no", "ssn", "memberUuid"],
)
def test_numbers_of_people(name: str) -> None:
    assert names_a_person(name)
    found = role_by_name(name)
    assert found is not None
    assert found.role == "identifier"


@pytest.mark.parametrize(
    "name",
    ["patient_age", "encounter_id", "device_id", "ward_id", "persons_in_household", "class_of_worker", "zip"],
)
def test_other_names(name: str) -> None:
    assert not names_a_person(name)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("patients", True),
        ("Person", True),
        ("dim_customer", True),
        ("user_master", True),
        ("patient_visits", False),
        ("wards", False),
        ("records", False),
    ],
)
def test_lists_of_people(table: str, expected: bool) -> None:
    assert lists_people(table) == expected


def observed(
    name: str, type_: str = "text", distinct: int = 6, rows: int = 20_000, **found: Any
) -> ObservedColumn:
    facts = ColumnFacts(name, type_, type_, type_, "b", False, False, True, None, None, True, False)
    counted = {"missing": 0.0, "length": None, "single": 0, "determined_by": (), "determines": ()}
    return ObservedColumn(
        facts, rows, distinct=distinct, **counted | {"separation": 1 - 1 / distinct} | found
    )


def proposed(*columns: ObservedColumn) -> dict[str, Suggestion]:
    return {one.column: one for one in suggestions_for(columns)}


@pytest.mark.parametrize("name", ["fnlwgt", "instance_weight", "household_weights", "PERWT", "wgt"])
def test_weights_of_a_survey_link_nobody(name: str) -> None:
    (found,) = suggestions_for([observed(name, "numeric", 9_000)])
    assert found.role == "withheld"
    assert "survey" in found.reasons[0]


def test_a_weight_may_be_a_person_s_or_a_row_s() -> None:
    of_bodies = [observed("weight", "text", 10), observed("weight", "int4", 90), observed("birth_weight")]
    assert {suggestions_for([one])[0].role for one in of_bodies} == {"quasi_identifier"}
    assert proposed(observed("weight", "float8", 15_000))["weight"].role == "withheld"


@pytest.mark.parametrize("type_", ["int4", "numeric", "float8"])
def test_a_number_with_a_value_for_nearly_every_row_is_no_quasi_identifier(type_: str) -> None:
    found = proposed(observed("turnover", type_, 19_900), observed("shoe_size", type_, 30))
    assert found["turnover"].role == "withheld"
    assert found["shoe_size"].role == "quasi_identifier"


@pytest.mark.parametrize(("distinct", "role"), [(5_000, "identifier"), (19_900, "withheld")])
def test_an_exact_number_that_tells_an_identifier_in_several_rows_is_one(distinct: int, role: str) -> None:
    found = proposed(
        observed("patient_id", distinct=5_000, determined_by=(("chart", 1.0),), is_repeated=True),
        observed("chart", "int4", distinct, determines=("patient_id",)),
    )
    assert found["patient_id"].role == "entity"
    assert found["chart"].role == role


def test_a_number_that_stands_for_something_is_an_identifier() -> None:
    assert proposed(observed("order_no", "int4", 19_900))["order_no"].role == "identifier"


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("final_result", "school and exams"),
        ("financial_outcome", "money"),
        ("lab_result", "health"),
        ("medications", "health"),
        ("labor_costs", "money"),
        ("collaboration", None),
        ("result", None),
        ("resultant", None),
        ("air_conditioned", None),
    ],
)
def test_words_decide_and_no_parts_of_words(name: str, topic: str | None) -> None:
    found = role_by_name(name)
    assert (found and found.topic) == topic


def test_a_wide_table_gets_the_quasi_identifiers_that_others_know_best() -> None:
    known = ["age", "sex", "zip", "marital_status", "industry"]
    unknown = [observed(f"c{number}", "int4", number + 2) for number in range(195)]
    found = proposed(*unknown, *map(observed, known))
    chosen = {name for name, one in found.items() if one.role == "quasi_identifier"}
    # The rest of the ten are the columns without a telling name that tell most rows apart.
    assert chosen == {*known, *(f"c{number}" for number in range(190, 195))}
    assert len(chosen) == MOST_QUASI_IDENTIFIERS
    assert found["c0"].role == "withheld"
    assert found["c0"].reasons[0] == (
        "Nothing says that others cannot know it; but 10 others are better known or tell more rows apart."
    )
    assert "'c0'" not in declaring("t", list(found.values()))


def test_what_is_about_relatives_comes_after_what_is_about_the_person() -> None:
    others = [observed(f"{whose}_country", distinct=90) for whose in ("father", "mother")]
    found = proposed(*others, *(observed(f"job_{number}", distinct=3) for number in range(10)))
    assert [name for name, one in found.items() if one.role == "withheld"] == [
        "father_country",
        "mother_country",
    ]


def test_of_columns_that_tell_each_other_one_is_enough() -> None:
    found = proposed(
        observed("education", determined_by=(("education_num", 1.0),), determines=("education_num",)),
        observed("education_num", "int4", determined_by=(("education", 1.0),), determines=("education",)),
        observed("sex", distinct=2, determined_by=(("education", 0.995),)),
    )
    assert [one.role for one in found.values()] == ["quasi_identifier", "withheld", "quasi_identifier"]
    assert found["education_num"].reasons[0] == "education always tells its value: one of both is enough."


def test_a_flag_names_nobody() -> None:
    assert proposed(observed("own_telephone", distinct=2))["own_telephone"].role == "quasi_identifier"
    assert proposed(observed("telephone", distinct=19_000))["telephone"].role == "identifier"


def test_exact_amounts_come_with_a_warning() -> None:
    found = proposed(observed("salary", "int4", 19_000), observed("income_class", distinct=2))
    assert {one.role for one in found.values()} == {"sensitive"}
    warning = "Whoever knows the exact number finds the row: think of publishing ranges."
    assert [warning in one.reasons for one in found.values()] == [True, False]


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("English", "surname, date_of_birth, sex, postcode, marital_status, salary, diagnosis"),
        ("German", "Nachname, Geburtsdatum, Geschlecht, Postleitzahl, Familienstand, Gehalt, Krankheit"),
        ("French", "Nom de famille, date_de_naissance, sexe, code_postal, état civil, salaire, maladie"),
        (
            "Spanish",
            "primer apellido, fecha_nacimiento, sexo, código postal, estado_civil, sueldo, enfermedad",
        ),
        ("Portuguese", "sobrenome, data_nascimento, sexo, CEP, estado_civil, salário, doença"),
        ("codes", "name, dob, sex, puma, msp, pincp, dear"),
    ],
)
def test_names_in_several_languages(language: str, names: str) -> None:
    expected = ["identifier", *["quasi_identifier"] * 4, "sensitive", "sensitive"]
    for spell in (str.lower, str.upper, without_accents):
        found = [role_by_name(spell(name)) for name in names.split(", ")]
        assert [one and one.role for one in found] == expected, language


@pytest.mark.parametrize(
    "name", ["Kundennummer", "numero_client", "código do utente", "id_paciente", "Versicherten-Nr", "n° DNI"]
)
def test_numbers_of_people_in_several_languages(name: str) -> None:
    assert names_a_person(name)


def test_umlauts_and_accents_may_be_missing() -> None:
    spelled = ["größe", "groesse", "grosse", "GROESSE", "âge", "age", "straße", "strasse"]
    assert all(role_by_name(name) == role_by_name(name.upper()) != None for name in spelled)  # noqa: E711


def test_race_and_marital_status_come_before_weights_whatever_they_are_called() -> None:
    weights = [observed(name, "int4", 400) for name in ("pwgtp", "wgtp")]
    unknown = [observed(f"c{number}", "int4", 400) for number in range(20)]
    found = proposed(*weights, *unknown, *map(observed, ("rac1p", "msp", "hisp")))
    assert {found[name].role for name in ("pwgtp", "wgtp")} == {"withheld"}
    assert {found[name].role for name in ("rac1p", "msp", "hisp")} == {"quasi_identifier"}


def looking(name: str, values: list[str], type_: str = "text", **found: Any) -> ObservedColumn:
    return observed(name, type_, len(set(values)), values=tuple(values), look=look_of(type_, values), **found)


_MANY = range(30)
_LOOKS: list[tuple[str, list[str]]] = [
    ("identifier", [f"person{number}@example.org" for number in _MANY]),
    ("identifier", [f"+49 228 55{number:02}17" for number in _MANY]),
    ("identifier", [f"(0228) 55{number:02}-17" for number in _MANY]),
    ("identifier", [f"DE{number:02} 3704 0044 0532 0130 00" for number in _MANY]),
    ("identifier", [f"10.0.0.{number}" for number in _MANY]),
    ("identifier", [f"Mary Sm{'i' * number}th" for number in _MANY]),
    ("identifier", [f"M{'ü' * number}ller, Jürgen" for number in _MANY]),
    ("quasi_identifier", [f"13{number:03}" for number in _MANY]),
    ("quasi_identifier", [f"SW1{chr(65 + number % 26)} {1 + number // 26}AA" for number in _MANY]),
    ("quasi_identifier", [f"{1940 + 2 * number}-05-17" for number in _MANY]),
    ("quasi_identifier", [f"17.05.{1940 + 2 * number}" for number in _MANY]),
]


@pytest.mark.parametrize(("role", "values"), _LOOKS, ids=[values[1] for _, values in _LOOKS])
def test_values_speak_where_names_do_not(role: str, values: list[str]) -> None:
    found = proposed(looking("c1", values))["c1"]
    assert found.role == role
    assert found.reasons[0].startswith("Its values look like")


def test_values_that_are_no_addresses_speak_for_nothing() -> None:
    words = [f"word{'s' * number}" for number in _MANY]
    cities = [f"Ville{'n' * number}euve" for number in _MANY]
    codes = [f"A{number}" for number in _MANY]
    amounts = [str(1_000_000 + number) for number in _MANY]
    assert [look_of("text", values) for values in (words, cities, codes, amounts, [], ["12345"] * 9)] == [
        None
    ] * 6


def test_mail_addresses_are_identifiers_whatever_the_name_says() -> None:
    mails = [f"person{number}@example.org" for number in _MANY]
    assert proposed(looking("residence", mails))["residence"].role == "identifier"


def test_dates_of_birth_are_known_better_than_other_columns() -> None:
    births = [f"{1940 + 2 * number}-05-17" for number in _MANY]
    unknown = [observed(f"c{number}", distinct=900) for number in range(20)]
    assert proposed(*unknown, looking("d", births, "date"))["d"].role == "quasi_identifier"


def test_when_a_row_was_written_is_withheld_unless_it_is_no_moment() -> None:
    moments = [f"2024-05-17 10:00:{number:02}" for number in _MANY]
    assert proposed(looking("created_at", moments, "timestamp"))["created_at"].role == "withheld"
    assert proposed(looking("created_at", ["here", "there"]))["created_at"].role == "quasi_identifier"


def test_a_date_to_the_second_and_both_coordinates_are_alike() -> None:
    moments = [f"2024-05-17 10:00:{number:02}" for number in _MANY]
    degrees = [f"{number}.123456" for number in _MANY]
    names = ("happened", "lat", "long")

    def exact(name: str, values: list[str], type_: str) -> ObservedColumn:
        # With a value for each row every column tells those of all others.
        others = tuple(other for other in names if other != name)
        told = {"determined_by": tuple((other, 1.0) for other in others), "determines": others}
        return looking(name, values, type_, rows=30, single=30, **told)

    found = proposed(
        exact("happened", moments, "timestamp"),
        exact("lat", degrees, "float8"),
        exact("long", degrees, "float8"),
    )
    assert {one.role for one in found.values()} == {"quasi_identifier"}
    assert [one.hierarchy and one.hierarchy["builder"] for one in found.values()] == [
        "dates",
        "intervals",
        "intervals",
    ]


def test_numbers_that_stand_for_kinds_have_no_hierarchy() -> None:
    numbers = [str(number) for number in range(60)]
    found = proposed(
        *(looking(name, numbers, "int4") for name in ("industry_recode", "occupation", "points", "ward_no"))
    )
    assert [name for name, one in found.items() if one.hierarchy] == ["points"]
