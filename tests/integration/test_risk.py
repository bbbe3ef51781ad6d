"""Risk, identifying sets, suggestions and the test of k-anonymity agree with plain SQL, either way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kanon_pg.audit.findings import IdentifyingSet, RiskFigures, Suggestion
from tests.fixtures.audits import COLUMNS, identify, is_anonymous, risk, suggest
from tests.fixtures.interfaces import Interface


def one(interface: Interface, query: str) -> Any:
    row: Any = interface.connection.execute(query.encode()).fetchone()
    return row[0] if len(row) == 1 else row


CLASSES = "(select count(*) as n from people group by age, ward, sex) as c"


def test_risk_of_rows(audit_interface: Interface) -> None:
    (found,) = risk(audit_interface, "people", columns=COLUMNS, sensitive=["illness"], threshold=0.4)
    classes, smallest, average, uniques, above = one(
        audit_interface,
        "select count(*), min(n), count(*)::float8 / sum(n)::float8, count(*) filter (where n = 1),"
        f" coalesce(sum(n) filter (where n < 2.5), 0)::int from {CLASSES}",
    )
    assert (found.rows, found.people, found.classes) == (211, 211, classes)
    assert found.smallest_class == smallest
    assert found.prosecutor_risk == found.journalist_risk == pytest.approx(1 / smallest)
    assert found.prosecutor_average == found.marketer_risk == pytest.approx(average)
    assert found.sample_uniques == uniques
    assert found.people_above == above
    assert found.share_above == pytest.approx(above / 211)
    assert found.journalist_basis == "the table itself"
    same = one(
        audit_interface,
        "select count(*), coalesce(sum(n), 0)::int from ("
        " select count(*) as n from people group by age, ward, sex"
        " having count(distinct illness) + (count(*) > count(illness))::int = 1"
        ") as c",
    )
    assert (found.homogeneous[0].classes, found.homogeneous[0].people) == same
    assert found.homogeneous_people == same[1]


def test_people_are_counted_where_they_are_declared(audit_interface: Interface) -> None:
    (found,) = risk(audit_interface, "of_persons")
    people, classes = one(
        audit_interface,
        "select sum(n)::int, count(*) from (select count(distinct person) as n from of_persons"
        " group by age, ward, sex) as c",
    )
    assert (found.people, found.classes, found.rows) == (people, classes, 211)
    assert found.columns == ("age", "ward", "sex")
    assert [told.column for told in found.homogeneous] == ["illness"]


def test_releases_follow_their_table(audit_interface: Interface) -> None:
    audit_interface.anonymize("of_persons", 5)
    try:
        before, after = risk(audit_interface, "of_persons")
        assert (before.relation, after.relation) == ('"public"."of_persons"', '"safe"."of_persons"')
        assert after.prosecutor_risk <= 1 / 5 < before.prosecutor_risk
        assert risk(audit_interface, "safe.of_persons") == (after,)
    finally:
        audit_interface.drop("of_persons")


def test_k_anonymity_is_that_of_group_by(audit_interface: Interface) -> None:
    k = 3
    smallest = one(audit_interface, f"select min(n) from {CLASSES}")
    assert is_anonymous(audit_interface, "people", k, COLUMNS) == (smallest >= k)
    people = one(
        audit_interface,
        "select min(n) from (select count(distinct person) as n from of_persons group by age, ward, sex) c",
    )
    assert is_anonymous(audit_interface, "of_persons", k) == (people >= k)
    assert is_anonymous(audit_interface, "people", k, ["sex"])


def test_identifying_sets_tell_all_rows_apart(audit_interface: Interface) -> None:
    sets = identify(audit_interface, "people", columns=[*COLUMNS, "illness", "person"])
    assert sets[0].kind == "minimum"
    distinct = one(
        audit_interface,
        "select count(*) from (select distinct age, ward, sex, illness, person from people) as d",
    )
    for found in sets:
        names = ", ".join(found.columns)
        assert found.distinct_rows == distinct
        assert (
            one(audit_interface, f"select count(*) from (select distinct {names} from people) as d")
            == distinct
        )
        assert found.at_least <= found.size
        for name in found.columns:
            rest = ", ".join(other for other in found.columns if other != name) or "1"
            assert (
                one(audit_interface, f"select count(*) from (select distinct {rest} from people) as d")
                < distinct
            )


@pytest.fixture(scope="module")
def clinic(audit_interfaces: tuple[Interface, Interface]) -> Iterator[None]:
    connection = audit_interfaces[0].connection
    connection.execute(
        """
        create table clinic as
            select i as visit, 'p' || i / 4 as insurance_number, 1000 + i % 39 as zip,
                'city ' || i % 39 / 3 as city, 1950 + i % 50 as birth_year, i % 7 as diagnosis,
                gen_random_uuid() as token, 'same' as kind, nullif(i % 4, 0) as x1, '{}'::json as doc,
                i / 4 as chart, repeat('long story ' || i, 6) as remarks
            from generate_series(1, 400) as i;
        alter table clinic add primary key (visit);
        """
    )
    yield
    connection.execute("drop table clinic")


def test_nothing_is_declared_but_the_statement_is_told(audit_interface: Interface, clinic: None) -> None:
    audit_interface.notices.clear()
    suggest(audit_interface, "clinic")
    (told,) = [notice for notice in audit_interface.notices if notice.startswith("Nothing was declared.")]
    statement = told.partition("To do as proposed: ")[2]
    assert "entity => 'insurance_number'" in statement
    query = "select count(*) from kanon.declarations where relation = 'clinic'::regclass"
    assert one(audit_interface, query) == 0
    audit_interface.connection.execute(statement.encode())
    assert one(audit_interface, query) == 1
    audit_interface.undeclare("clinic")


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [("risk", RiskFigures), ("identifying_set", IdentifyingSet), ("suggestion", Suggestion)],
)
def test_types_have_the_fields_of_the_dataclasses(
    audit_interfaces: tuple[Interface, Interface], type_name: str, kind: type
) -> None:
    rows = audit_interfaces[0].connection.execute(
        "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0 order by attnum",
        [f"kanon.{type_name}"],
    )
    assert [name for (name,) in rows] == list(kind.__dataclass_fields__)  # type: ignore[attr-defined]
