"""Risk, identifying sets, suggestions and the test of k-anonymity agree with plain SQL, either way."""

from collections.abc import Iterator
from typing import Any

import pytest

from kanon_pg.audit.findings import IdentifyingSet, RiskFigures, Suggestion
from tests.fixtures.interfaces import Interface


def one(interface: Interface, query: str) -> Any:
    row: Any = interface.connection.execute(query.encode()).fetchone()
    return row[0] if len(row) == 1 else row


def test_people_are_counted_where_they_are_declared(audit_interface: Interface) -> None:
    (found,) = audit_interface.risk("of_persons")
    people, classes = one(
        audit_interface,
        "select (select count(distinct person) from of_persons), count(*)"
        " from (select distinct age, ward, sex from of_persons) as c",
    )
    assert (found.people, found.classes, found.rows) == (people, classes, 211)
    assert found.columns == ("age", "ward", "sex")
    assert [one.column for one in found.homogeneous] == ["illness"]


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
    connection.execute("drop table clinic cascade")


def test_nothing_is_declared_but_the_statement_is_told(audit_interface: Interface, clinic: None) -> None:
    audit_interface.notices.clear()
    audit_interface.suggest("clinic")
    (notice,) = [notice for notice in audit_interface.notices if notice.startswith("Nothing was declared.")]
    statement = notice.partition("To do as proposed: ")[2]
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
