"""Declarations come and go without a trace, and owners hear of roles that are probably not what they mean."""

from __future__ import annotations

import psycopg
import pytest

from kanon_pg.errors import InputError
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


def test_a_declaration_of_nothing_is_refused_and_leaves_the_one_before(interface: Interface) -> None:
    interface.connection.execute(_VISITS)
    interface.declare("visits", quasi_identifiers=["sex"])
    with pytest.raises(InputError, match=r'No column of "public"\."visits" is given a role'):
        interface.declare("visits")
    found = interface.connection.execute(
        "select quasi_identifiers::text[], row_types::text from kanon.declarations"
    )
    assert found.fetchall() == [(["sex"], "kanon.public_visits_row_types")]


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


def test_an_identifier_that_repeats_may_be_the_entity(interface: Interface) -> None:
    interface.connection.execute(_VISITS)
    interface.declare("visits", identifiers=["id", "patient"], quasi_identifiers=["sex", "zip"])
    (said,) = interface.notices
    assert 'Column "patient" is declared as an identifier and repeats' in said
    assert "entity => 'patient'" in said
    interface.notices.clear()
    interface.anonymize("visits", 5)
    assert said in interface.notices


def test_several_identifiers_that_repeat_are_named_together(interface: Interface) -> None:
    interface.connection.execute(_VISITS)
    interface.connection.execute("alter table visits add column note json, add column badge text")
    interface.connection.execute("update visits set badge = 'b' || id % 9 where id > 20")
    interface.declare("visits", identifiers=["note", "patient", "badge", "id"], quasi_identifiers=["sex"])
    (said,) = interface.notices
    assert 'Columns "patient", "badge" are declared as identifiers and repeat.' in said


def test_nothing_is_said_about_identifiers_that_do_not_repeat_or_if_people_are_counted(
    interface: Interface,
) -> None:
    interface.connection.execute(_VISITS)
    interface.declare("visits", identifiers=["id"], quasi_identifiers=["sex", "zip"])
    interface.declare("visits", identifiers=["id"], quasi_identifiers=["sex", "zip"], entity="patient")
    interface.anonymize("visits", 5)
    assert not [said for said in interface.notices if "declared" in said]


def test_who_publishes_without_a_declaration_hears_how_to_get_one(interface: Interface) -> None:
    interface.connection.execute(_VISITS)
    interface.anonymize("visits", 2)
    (said,) = [one for one in interface.notices if "not declared" in one]
    assert "kanon_suggest(" in said
    assert "kanon_declare(" in said
    interface.notices.clear()
    interface.anonymize("visits", 2, quasi_identifiers=["sex"])
    assert not [one for one in interface.notices if "not declared" in one]
