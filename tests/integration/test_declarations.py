"""Declarations come and go without a trace; notices say what the owner should know, and what to do."""

from typing import Any

import psycopg
import pytest

from kanon_pg.errors import UnknownName, UnsuitableColumn
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


@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "insensitive"])
def test_who_a_person_is_cannot_be_published_too(
    both_interfaces: tuple[Interface, Interface], role: str
) -> None:
    connection = both_interfaces[0].connection
    connection.execute(_VISITS)
    for interface in both_interfaces:
        with pytest.raises(UnsuitableColumn) as raised:
            interface.declare("visits", **{role: ["ward", "patient"]}, entity="patient")
        assert raised.value.message == (
            'Column "patient" identifies people (entity), which is never published, and is also named in '
            f"{role}."
        )
        assert f"Leave it out of {role}" in (raised.value.hint or "")
        interface.declare("visits", identifiers=["patient"], quasi_identifiers=["sex"], entity="patient")
        interface.undeclare("visits")
    connection.execute("drop table visits")


_ROWS = "select i as a, i % 7 as b, i * 11 as cost from generate_series(1, 120) as i"


def test_a_declaration_that_names_a_renamed_column_is_what_is_wrong(
    both_interfaces: tuple[Interface, Interface],
) -> None:
    connection = both_interfaces[0].connection
    connection.execute(f"create table t as {_ROWS}".encode())
    both_interfaces[0].declare("t", quasi_identifiers=["a", "b"], sensitive=["cost"])
    connection.execute('alter table t rename column b to "B\'s"')
    for interface in both_interfaces:
        with pytest.raises(UnknownName) as raised:
            interface.anonymize("t", 5)
        assert raised.value.message == (
            'The declaration of "public"."t" names column "b", which was renamed or dropped since.'
        )
        assert 'SELECT kanon_declare(\'"public"."t"\', ...);' in (raised.value.hint or "")
    both_interfaces[0].declare("t", quasi_identifiers=["a", "B's"])
    both_interfaces[0].undeclare("t")
    connection.execute("drop table t")


def test_a_release_without_values_and_one_without_a_view_are_told(interface: Interface) -> None:
    interface.connection.execute(f"create table t as {_ROWS}".encode())
    interface.declare("t", quasi_identifiers=["a"], sensitive=["b", "cost"])
    interface.notices.clear()
    report = interface.anonymize("t", 5, method="greedy")
    assert report.suppressed_share == 1
    assert [text for text in interface.notices if "100% of the cells" in text and "kanon_curve" in text]
    (unique,) = [text for text in interface.notices if "a value of its own" in text]
    assert unique.startswith('Sensitive column "cost" ')
    interface.connection.execute("drop view safe.t")
    interface.connection.execute("delete from t where a > 100")
    interface.notices.clear()
    interface.refresh("t")
    (gone,) = [text for text in interface.notices if "was dropped" in text]
    assert "kanon_anonymize publishes it anew" in gone
    assert "SELECT kanon_drop('t');" in gone
    kept = "select rows, suppressed_cells, classes from kanon.releases where release = 't'"
    assert interface.connection.execute(kept).fetchone() == (100, 100, 1)
    interface.drop("t")


_BLAMES = {
    "patterns": "patterns lets only some columns be suppressed together",
    "k": "the quasi-identifiers have 70 combinations for 700 people, and k is",
    "t": "t = 0 is asked for in 1 sensitive column (choose a larger t)",
    "p": "p = 2 is asked for in 1 sensitive column (leave p out)",
    "classes": "no more classes than 1 are allowed",
    "method": "method full_domain suppresses whole columns",
}


@pytest.mark.parametrize(
    ("demands", "blamed"),
    [
        ({"k": 700}, {"k"}),
        ({"k": 2, "patterns": [["a", "b"]]}, {"patterns"}),
        ({"k": 11, "patterns": [["a", "b"]]}, {"patterns", "k"}),
        ({"k": 2, "t": 0}, {"t"}),
        ({"k": 2, "p": 2, "patterns": [["a", "b"]]}, {"p", "patterns"}),
        ({"k": 2, "most_classes": 1}, {"classes"}),
        (
            {"k": 400, "method": "full_domain", "hierarchies": {"a": {"builder": "intervals", "cuts": [5]}}},
            {"k", "method"},
        ),
    ],
)
def test_what_is_blamed_for_lost_values_was_asked_for(
    both_interfaces: tuple[Interface, Interface], demands: dict[str, Any], blamed: set[str]
) -> None:
    connection = both_interfaces[0].connection
    connection.execute(
        "create table t as select i % 10 as a, i % 7 as b, i % 3 as s from generate_series(1, 700) as i"
    )
    for interface in both_interfaces:
        interface.notices.clear()
        interface.anonymize("t", quasi_identifiers=["a", "b"], sensitive=["s"], **demands)
        (notice,) = [text for text in interface.notices if "100% of the cells" in text]
        assert {reason for reason, text in _BLAMES.items() if text in notice} == blamed
        assert ("What may be the reason" in notice) == (len(blamed) > 1)
    connection.execute("drop view safe.t")
    both_interfaces[0].drop("t")
    connection.execute("drop table t")


@pytest.mark.parametrize("options", [{}, {"remember": 2}, {"over_time": {"waiting": 0}}])
@pytest.mark.parametrize("emptied_by", ["truncate t", "delete from t"])
def test_a_table_that_was_emptied_is_told(
    both_interfaces: tuple[Interface, Interface], emptied_by: str, options: dict[str, Any]
) -> None:
    connection = both_interfaces[0].connection
    said = '"public"."t" is empty, so "safe"."t" shows no rows. If a load has failed, load the data and call '
    fill = "insert into t select i, i % 3, i % 4 from generate_series(1, 60) as i"
    connection.execute("create table t (id integer primary key, a integer, b integer)")
    for interface in both_interfaces:
        connection.execute(fill.encode())
        interface.anonymize("t", 5, quasi_identifiers=["a"], sensitive=["b"], **options)
        told = []
        for change in (emptied_by, fill):
            connection.execute(change.encode())
            interface.notices.clear()
            interface.refresh("t")
            shown = connection.execute("select count(*) from safe.t").fetchone()
            told.append((shown, [text for text in interface.notices if "is empty" in text]))
        assert told == [((0,), [f"{said}kanon_refresh again."]), ((60,), [])]
        interface.drop("t")
        connection.execute("truncate t")
    connection.execute("drop table t")


@pytest.mark.parametrize("options", [{}, {"over_time": {"waiting": 0}}])
def test_a_declaration_that_contradicts_a_release_is_told(
    both_interfaces: tuple[Interface, Interface], options: dict[str, Any]
) -> None:
    connection = both_interfaces[0].connection
    connection.execute(
        "create table t (id integer primary key, who integer, a integer, b integer);"
        "insert into t select i, i / 2, i % 3, i % 4 from generate_series(1, 60) as i"
    )
    for interface in both_interfaces:
        interface.declare("t", quasi_identifiers=["a"], sensitive=["b"])
        interface.anonymize("t", 5, **options)
        told = []
        for roles in (
            {"quasi_identifiers": ["a", "b"]},
            {"identifiers": ["b"], "quasi_identifiers": ["a"]},
            {"quasi_identifiers": ["a"], "entity": "who"},
            {"quasi_identifiers": ["who"], "entity": "a"},
        ):
            interface.declare("t", **roles)
            interface.notices.clear()
            interface.refresh("t")
            told.append([text.partition(":")[0] for text in interface.notices if "still" in text])
        connection.execute("alter table t rename a to c")
        interface.notices.clear()
        interface.refresh("t")
        assert not [text for text in interface.notices if "still" in text]
        connection.execute("alter table t rename c to a")
        assert told == [
            [],
            ['Release "t" still shows "b", by now declared to identify people'],
            ['Release "t" still counts rows instead of people by "who"'],
            [
                'Release "t" still shows "a", by now declared to identify people, and counts rows instead of '
                'people by "a"'
            ],
        ]
        interface.undeclare("t")
        interface.drop("t")
    connection.execute("drop table t")
