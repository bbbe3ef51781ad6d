"""Declarations come and go without a trace, and notices name roles that are probably not what is meant."""

from __future__ import annotations

import psycopg

from tests.fixtures.interfaces import Interface

_VISITS = (
    "create table visits as select i as id, i / 2 as patient, i % 2 as sex, i % 5 as zip,"
    " 'w' || i % 3 as ward from generate_series(1, 60) as i"
)


def row_types_views(connection: psycopg.Connection) -> list[str]:
    found = connection.execute(
        "select relname::text from pg_class where relnamespace = 'kanon'::regnamespace and relkind = 'v'"
        " and relname like '%row_types%'"
    )
    return [name for (name,) in found]


def test_a_declaration_without_quasi_identifiers_has_no_row_types_and_can_be_listed(
    interface: Interface,
) -> None:
    connection = interface.connection
    connection.execute(_VISITS)
    interface.declare("visits", quasi_identifiers=["sex"])
    interface.declare("visits", identifiers=["patient"])
    found = connection.execute("select identifiers::text[], row_types from kanon.declarations")
    assert found.fetchall() == [(["patient"], None)]
    assert row_types_views(connection) == []


def test_nothing_of_a_declaration_keeps_the_table_from_being_dropped(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(_VISITS)
    interface.declare("visits", quasi_identifiers=["sex", "zip"])
    interface.declare("visits", sensitive=["ward"])
    interface.declare("visits", quasi_identifiers=["zip"])
    assert row_types_views(connection) == ["public_visits_row_types"]
    interface.undeclare("visits")
    assert row_types_views(connection) == []
    connection.execute("drop table visits")
