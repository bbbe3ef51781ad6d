"""Suggested roles: what keys, names and all rows say, in wide and in large tables, by both interfaces."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kanon_pg.audit.findings import Suggestion
from kanon_pg.errors import InputError
from tests.fixtures.audits import suggest
from tests.fixtures.interfaces import Interface


@pytest.fixture(scope="module")
def registry(audit_interfaces: tuple[Interface, Interface]) -> Iterator[None]:
    connection = audit_interfaces[0].connection
    connection.execute(
        """
        create table patients (pid integer primary key);
        insert into patients select generate_series(0, 99);
        create table wards (ward integer primary key);
        insert into wards select generate_series(0, 6);
        create table stays as
            select i as stay, i % 100 as pid, i % 7 as ward, i % 90 as customer_no, i % 23 as height
            from generate_series(1, 400) as i;
        alter table stays add primary key (stay), add foreign key (pid) references patients,
            add foreign key (ward) references wards;
        create table once as
            select i as patient_id, i % 3 as height, case when i = 7 then 1 end as rare, null::text as never
            from generate_series(1, 400) as i;
        """
    )
    yield
    connection.execute("drop table stays, patients, wards, once")


def by_name(interface: Interface, table: str) -> dict[str, Suggestion]:
    return {one.column: one for one in suggest(interface, table)}


def test_a_reference_to_people_that_repeats_is_the_entity(audit_interface: Interface, registry: None) -> None:
    found = by_name(audit_interface, "stays")
    assert {name: one.role for name, one in found.items()} == {
        "stay": "identifier",
        "pid": "entity",
        "ward": "quasi_identifier",
        "customer_no": "identifier",
        "height": "quasi_identifier",
    }
    assert found["pid"].reasons[:2] == (
        "It refers to patients, by its name a table of people.",
        "Several rows have the same value: they are one person's, so count people by it.",
    )


def test_who_is_in_one_row_only_needs_no_entity(audit_interface: Interface, registry: None) -> None:
    assert by_name(audit_interface, "once")["patient_id"].role == "identifier"


def test_the_only_one_with_a_value_is_singled_out_by_it(audit_interface: Interface, registry: None) -> None:
    found = by_name(audit_interface, "once")
    assert found["rare"].role != "insensitive"
    assert (found["rare"].distinct_values, found["rare"].unique_values) == (1, 1)
    assert found["never"].role == "insensitive"
    assert (found["never"].distinct_values, found["never"].unique_values) == (0, 0)


def test_all_columns_of_a_wide_table_are_counted(audit_interface: Interface) -> None:
    columns = ", ".join(f"i % {number + 2} as c{number}" for number in range(70))
    audit_interface.connection.execute(
        f"create table broad as select {columns} from generate_series(1, 300) as i".encode()
    )
    audit_interface.notices.clear()
    try:
        found = by_name(audit_interface, "broad")
    finally:
        audit_interface.connection.execute("drop table broad")
    assert [one.distinct_values for one in found.values()] == [number + 2 for number in range(70)]
    # i % 2 is told by i % 4, and so on: those that tell most rows apart stay.
    chosen = [name for name, one in found.items() if one.role == "quasi_identifier"]
    assert (len(chosen), chosen[-1]) == (10, "c69")
    assert {one.role for one in found.values()} == {"quasi_identifier", "withheld"}
    # i % 66 tells i % 33 in the same 62 columns, i % 71 is beyond them.
    assert "c64" not in found["c31"].restored_by
    assert "c61" in found["c19"].restored_by  # i % 63 tells i % 21
    assert any("among 62 at a time" in notice for notice in audit_interface.notices)


def test_where_nothing_links_people_no_declaration_is_proposed(audit_interface: Interface) -> None:
    audit_interface.connection.execute(
        "create table measured as select i * 7.5 as flow, i * i as heat from generate_series(1, 300) as i"
    )
    audit_interface.notices.clear()
    try:
        assert {one.role for one in suggest(audit_interface, "measured")} == {"withheld"}
    finally:
        audit_interface.connection.execute("drop table measured")
    assert not any("kanon_declare" in notice for notice in audit_interface.notices)
    assert any("No quasi-identifier is proposed" in notice for notice in audit_interface.notices)


def test_a_table_without_columns_is_refused(audit_interface: Interface) -> None:
    audit_interface.connection.execute("create table nothing (); insert into nothing default values")
    try:
        with pytest.raises(InputError, match="has no columns"):
            suggest(audit_interface, "nothing")
    finally:
        audit_interface.connection.execute("drop table nothing")


def test_what_a_sample_does_not_show_is_looked_up_in_all_rows(
    audit_interfaces: tuple[Interface, Interface], registry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two rows of one person, or the one row with another value, are seldom in a sample."""
    monkeypatch.setattr("kanon_pg.audit.suggest._MOST_ROWS", 30)
    interface = audit_interfaces[1]
    interface.connection.execute(
        "create table seldom as select i - (i = 400)::int as patient_id, (i = 7)::int as flag, 1 as same"
        " from generate_series(1, 400) as i"
    )
    try:
        found = by_name(interface, "seldom")
    finally:
        interface.connection.execute("drop table seldom")
    assert found["patient_id"].role == "entity"
    assert found["flag"].role != "insensitive"
    assert found["same"].role == "insensitive"
