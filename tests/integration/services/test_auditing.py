"""Audits find what trying all sets of columns finds, and no more rights are needed."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import pytest

from kanon_pg.audit.findings import Suggestion
from kanon_pg.errors import InputError
from tests.fixtures.auditing import classes_by_hand, violates
from tests.fixtures.services import COLUMNS, Services


def rows_of(services: Services, table: str, names: Sequence[str]) -> list[tuple[Hashable, ...]]:
    """Return what GROUP BY tells apart: to each value the rank that PostgreSQL gives it."""
    ranks = ", ".join(f"dense_rank() over (order by {name})" for name in names)
    return services.values(f"select {ranks} from {table} order by ctid")


# --- violating sets -----------------------------------------------------------------------------------------


def test_without_a_declaration_keys_are_not_audited_and_json_is_left_out(services: Services) -> None:
    found = services.audit("people", 2).sets
    assert {name for one in found for name in one.columns} <= {"person", "age", "ward", "sex", "illness"}
    assert "Left out, because their types have no equality: doc." in services.notices


def test_declared_people_are_counted_not_rows(services: Services) -> None:
    """Two rows a person: 211 rows, 106 people; identifier and entity are not audited."""
    (found,) = services.audit("of_persons", 107, columns=["sex"]).sets
    assert (found.columns, found.people_at_risk, found.smallest_class) == ((), 106, 106)
    names = {name for one in services.audit("of_persons", 2).sets for name in one.columns}
    assert not names & {"id", "person", "doc"}


def test_an_identifier_can_be_audited_if_it_is_named(services: Services) -> None:
    found = services.audit("of_persons", 2, columns=["id"]).sets
    assert [(one.columns, one.people_at_risk) for one in found] == [(("id",), 106)]


def test_names_that_need_quotes(services: Services) -> None:
    services.table('Odd "t', {'A b"c': "integer"}, [(i % 7,) for i in range(9)])
    (found,) = services.audit('"Odd ""t"', 2).sets
    assert found.columns == ('A b"c',)


def test_max_columns_says_what_is_open(services: Services) -> None:
    found = services.audit("people", 2, columns=COLUMNS, max_columns=1).sets
    assert {one.size for one in found} <= {1}
    assert services.notices == [
        "Every minimal violating set of at most 1 column is listed; larger ones may be missing."
    ]


def test_too_many_columns_are_refused(services: Services) -> None:
    services.table("broad", {f"c{number}": "integer" for number in range(63)}, [(1,) * 63])
    with pytest.raises(InputError, match="63 columns are more than the 62") as refused:
        services.audit("broad", 2)
    assert 'SELECT * FROM kanon_suggest(\'"public"."broad"\') proposes which.' in (refused.value.hint or "")
    services.declare("broad", quasi_identifiers=["c1", "c2"])
    with pytest.raises(InputError) as refused:
        services.audit("broad", 2)
    assert refused.value.hint == "Name the declared quasi-identifiers: columns => ARRAY['c1', 'c2']."
    assert len(services.audit("broad", 2, columns=["c1", "c2"]).sets) == 1


def test_details_are_those_of_counting_by_hand(services: Services) -> None:
    names = [*COLUMNS, "illness"]
    result = services.audit("of_persons", 5, columns=names, details=True)
    assert (result.rows, result.people, result.entity) == (211, 106, "person")
    assert [one.role for one in result.column_figures] == ["quasi_identifier"] * 3 + ["sensitive"]
    cells = rows_of(services, "of_persons", names)
    persons = [person for (person,) in services.values("select person from of_persons order by ctid")]

    def at_risk(places: Sequence[int]) -> int:
        small = [who for _, who in classes_by_hand(cells, places, persons) if max(1, len(who)) < 5]
        return len(set().union(*small))

    for place, column in enumerate(result.column_figures):
        assert column.people_at_risk == at_risk([place])
        assert column.people_at_risk_without == at_risk([one for one in range(4) if one != place])
        assert column.violating_sets == sum(column.name in one.columns for one in result.sets)
    for whole, places in ((result.audited, range(4)), (result.quasi_identifiers, range(3))):
        assert whole is not None
        assert whole.people_at_risk == at_risk(places)
        assert sum(bar.rows for bar in whole.sizes) == result.rows


# --- releases -----------------------------------------------------------------------------------------------


@pytest.fixture
def released(services: Services) -> Iterator[Services]:
    services.anonymize("of_persons", 5, method="greedy")
    yield services
    services.drop("of_persons")


def test_a_release_singles_nobody_out(released: Services) -> None:
    result = released.audit("safe.of_persons", 5)
    assert (result.sets, result.hides_people, result.is_complete) == ((), True, True)
    assert released.is_anonymous("safe.of_persons", 5)
    with pytest.raises(InputError, match="does not tell whose rows it has"):
        released.is_anonymous("safe.of_persons", 5, ["sex", "illness"])


def test_releases_follow_their_table(released: Services) -> None:
    before, after = released.risk("of_persons")
    assert (before.relation, after.relation) == ('"public"."of_persons"', '"safe"."of_persons"')
    assert after.prosecutor_risk <= 1 / 5 < before.prosecutor_risk
    assert released.risk("safe.of_persons") == (after,)


def test_details_show_a_release_before_and_after(released: Services) -> None:
    result = released.audit("of_persons", 5, details=True)
    (release,) = result.releases
    assert (release.release, release.k) == ("of_persons", 5)
    assert release.before == result.risk
    assert release.before.prosecutor_risk > release.after.prosecutor_risk
    assert release.after.prosecutor_risk <= 1 / 5


# --- risk, k-anonymity, identifying sets --------------------------------------------------------------------


def test_risk_of_rows(services: Services) -> None:
    (found,) = services.risk("people", columns=COLUMNS, sensitive=["illness"], threshold=0.4)
    cells, illnesses = (rows_of(services, "people", names) for names in (COLUMNS, ["illness"]))
    sizes = Counter(cells)
    above = sum(size for size in sizes.values() if size < 2.5)
    assert (found.rows, found.people, found.classes) == (211, 211, len(sizes))
    assert found.prosecutor_risk == found.journalist_risk == pytest.approx(1 / min(sizes.values()))
    assert found.prosecutor_average == found.marketer_risk == pytest.approx(len(sizes) / 211)
    assert found.sample_uniques == sum(size == 1 for size in sizes.values())
    assert (found.people_above, found.share_above) == (above, pytest.approx(above / 211))
    assert found.journalist_basis == "the table itself"
    per_class: dict[Any, set[Any]] = {}
    for cell, illness in zip(cells, illnesses, strict=True):
        per_class.setdefault(cell, set()).add(illness)
    same = [cell for cell, values in per_class.items() if len(values) == 1]
    (homogeneous,) = found.homogeneous
    assert (homogeneous.classes, homogeneous.people) == (len(same), sum(sizes[cell] for cell in same))


def test_a_register_lowers_the_risk_of_a_journalist(services: Services) -> None:
    (alone,) = services.risk("people", columns=COLUMNS)
    (found,) = services.risk("people", columns=COLUMNS, population="register")
    assert found.journalist_basis == "population table"
    assert found.journalist_risk == pytest.approx(alone.journalist_risk / 3)
    assert found.prosecutor_risk == alone.prosecutor_risk
    (sample,) = services.risk("people", columns=COLUMNS, sampling_fraction=0.1)
    assert sample.journalist_basis == "sampling fraction"
    assert sample.journalist_average < alone.journalist_average
    services.execute("create table turned as select sex, ward, age from register")
    assert services.risk("people", columns=COLUMNS, population="turned") == (found,)


def test_minimal_uniques_are_counted_by_size(services: Services) -> None:
    (found,) = services.risk("people", columns=["age", "ward"])
    alone = sum(
        count == 1
        for name in ("age", "ward")
        for count in Counter(rows_of(services, "people", [name])).values()
    )
    assert found.minimal_uniques is not None
    assert found.minimal_uniques[0] == alone
    assert sum(found.people_by_unique) == found.sample_uniques


@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_k_anonymity_is_that_of_the_smallest_class(services: Services, k: int) -> None:
    cells = rows_of(services, "people", COLUMNS)
    persons = [person for (person,) in services.values("select person from of_persons order by ctid")]
    assert services.is_anonymous("people", k, COLUMNS) != violates(cells, range(3), k)
    assert services.is_anonymous("of_persons", k) != violates(cells, range(3), k, persons)
    assert services.is_anonymous("people", k, ["sex"])


def test_nobody_known_is_one_person(services: Services) -> None:
    services.table("shades", {"a": "integer", "who": "integer"}, [(1, None)] * 9)
    services.declare("shades", quasi_identifiers=["a"], entity="who")
    assert not services.is_anonymous("shades", 2)


def test_identifying_sets_tell_all_rows_apart(services: Services) -> None:
    names = [*COLUMNS, "illness", "person"]
    sets = services.identify("people", columns=names)
    assert sets[0].kind == "minimum"
    distinct = len(set(rows_of(services, "people", names)))
    for found in sets:
        assert found.distinct_rows == distinct == len(set(rows_of(services, "people", found.columns)))
        assert found.at_least <= found.size
        for name in found.columns:
            rest = [other for other in found.columns if other != name]
            assert len(set(rows_of(services, "people", rest))) < distinct


# --- suggestions --------------------------------------------------------------------------------------------


def suggested(services: Services, table: str) -> dict[str, Suggestion]:
    return {one.column: one for one in services.suggest(table)}


@pytest.fixture
def clinic(services: Services) -> Services:
    columns = {
        "visit": "integer",
        "insurance_number": "text",
        "zip": "integer",
        "city": "text",
        "birth_year": "integer",
        "diagnosis": "integer",
        "token": "uuid",
        "kind": "text",
        "x1": "integer",
        "doc": "json",
        "chart": "integer",
        "remarks": "text",
    }
    rows = [
        (
            *(i, f"p{i // 4}", 1000 + i % 39, f"city {i % 39 // 3}", 1950 + i % 50, i % 7, f"{i:032x}"),
            *("same", i % 4 or None, "{}", i // 4, f"long story {i}" * 6),
        )
        for i in range(1, 401)
    ]
    services.table("clinic", columns, rows, keys=["visit"])
    return services


def test_suggested_roles(clinic: Services) -> None:
    found = suggested(clinic, "clinic")
    assert {name: one.role for name, one in found.items()} == {
        "visit": "identifier",
        "insurance_number": "entity",
        "zip": "quasi_identifier",
        "city": "withheld",
        "birth_year": "quasi_identifier",
        "diagnosis": "sensitive",
        "token": "identifier",
        "kind": "insensitive",
        "x1": "quasi_identifier",
        "doc": "identifier",
        "chart": "identifier",
        "remarks": "identifier",
    }
    assert found["city"].reasons[0] == "zip always tells its value: one of both is enough."
    assert found["city"].restored_by == ("zip",)
    assert found["chart"].reasons[0] == "Its value tells that of insurance_number, an identifier."
    assert found["x1"].missing == pytest.approx(100 / 400)
    assert (found["x1"].distinct_values, found["doc"].distinct_values) == (3, None)
    assert all("city 1" not in reason for one in found.values() for reason in one.reasons)
    (notice,) = [notice for notice in clinic.notices if notice.startswith("Nothing was declared.")]
    assert "entity => 'insurance_number'" in notice
    assert clinic.values("select 1 from kanon.declaration where relation = 'clinic'::regclass") == []


def test_who_is_in_one_row_only_needs_no_entity_and_the_only_value_singles_out(
    services: Services,
) -> None:
    columns = {"patient_id": "integer", "height": "integer", "rare": "integer", "never": "text"}
    rows = [(i, i % 3, 1 if i == 7 else None, None) for i in range(1, 401)]
    services.table("once", columns, rows)
    found = suggested(services, "once")
    assert found["patient_id"].role == "identifier"
    assert found["rare"].role != "insensitive"
    assert (found["rare"].distinct_values, found["rare"].unique_values) == (1, 1)
    assert found["never"].role == "insensitive"
    assert (found["never"].distinct_values, found["never"].unique_values) == (0, 0)


def test_all_columns_of_a_wide_table_are_counted(services: Services) -> None:
    columns = {f"c{number}": "integer" for number in range(70)}
    rows = [tuple(i % (number + 2) for number in range(70)) for i in range(1, 301)]
    services.table("broad", columns, rows)
    found = suggested(services, "broad")
    assert [one.distinct_values for one in found.values()] == [number + 2 for number in range(70)]
    # i % 2 is determined by i % 4, and so on: those that tell most rows apart stay.
    chosen = [name for name, one in found.items() if one.role == "quasi_identifier"]
    assert (len(chosen), chosen[-1]) == (10, "c69")
    assert {one.role for one in found.values()} == {"quasi_identifier", "withheld"}
    # i % 66 tells i % 33 in the same 62 columns, i % 71 is beyond them.
    assert "c64" not in found["c31"].restored_by
    assert "c61" in found["c19"].restored_by  # i % 63 tells i % 21
    assert any("among 62 at a time" in notice for notice in services.notices)


def test_where_nothing_links_people_no_declaration_is_proposed(services: Services) -> None:
    rows = [(Decimal(i) * Decimal("7.5"), i * i) for i in range(1, 301)]
    services.table("measured", {"flow": "numeric", "heat": "integer"}, rows)
    assert {one.role for one in services.suggest("measured")} == {"withheld"}
    assert not any("kanon_declare" in notice for notice in services.notices)
    assert any("No quasi-identifier is proposed" in notice for notice in services.notices)


def test_a_table_without_columns_is_refused(services: Services) -> None:
    services.table("nothing", {})
    with pytest.raises(InputError, match="has no columns"):
        services.suggest("nothing")
