"""Proposed roles of invented columns: what may link people, few enough to be of use; what names say."""

from __future__ import annotations

from typing import Any

import pytest

from kanon_pg.audit.findings import Suggestion
from kanon_pg.audit.roles import (
    MOST_QUASI_IDENTIFIERS,
    ObservedColumn,
    lists_people,
    names_a_person,
    role_by_name,
    suggestions_for,
)
from kanon_pg.audit.suggesting import declaring
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
