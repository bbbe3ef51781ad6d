"""The view that monitoring polls: what it shows, with whose rights, and what it must not run."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from tests.fixtures.databases import role
from tests.fixtures.interfaces import Interface


@pytest.fixture
def table(interface: Interface) -> Interface:
    interface.connection.execute(
        "create table people as select i / 2 as person, i % 9 as age, i % 4 as ward"
        " from generate_series(1, 90) as i"
    )
    return interface


def violations(connection: psycopg.Connection[Any]) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute("select * from kanon.violations order by kind, relation").fetchall()


def test_nothing_is_declared(interface: Interface) -> None:
    assert violations(interface.connection) == []


def test_a_table_that_was_dropped_is_left_out(table: Interface) -> None:
    table.declare("people", quasi_identifiers=["age"])
    table.declare("people", quasi_identifiers=["age", "person"])
    assert [row["relation"] for row in violations(table.connection)] == ["people"]
    table.connection.execute("drop table people cascade")
    assert violations(table.connection) == []


def test_a_declared_table_is_judged_by_two_until_there_is_a_release(table: Interface) -> None:
    table.declare("people", quasi_identifiers=["age", "ward"])
    assert violations(table.connection) == []  # 36 combinations, at least two rows each
    table.anonymize("people", 5)
    (found,) = violations(table.connection)
    assert (found["kind"], found["relation"], found["k"], found["k_from"]) == (
        "table",
        "people",
        5,
        "release",
    )
    assert found["rows_at_risk"] == found["people_at_risk"] == 90
    assert (found["smallest_class"], found["classes_at_risk"], found["problem"]) == (2, 36, None)


def test_people_are_counted_in_tables_and_releases(table: Interface) -> None:
    table.declare("people", quasi_identifiers=["ward"], identifiers=["person"], entity="person")
    table.anonymize("people", 3)
    assert violations(table.connection) == []
    storage = table.connection.execute("select storage::text from kanon.releases").fetchone()
    assert storage is not None
    # A defect that publishes everything of one person as a class of many rows must be seen.
    table.connection.execute("update kanon.release set k = 1000")
    found = {row["kind"]: row for row in violations(table.connection)}
    smallest = table.connection.execute(
        f"select min(n) from (select count(distinct kanon_person) as n from {storage[0]} group by ward,"
        " kanon_pattern) as c".encode()
    ).fetchone()
    assert smallest is not None
    assert found["release"]["relation"] == "safe.people"
    assert found["release"]["smallest_class"] == found["table"]["smallest_class"] == smallest[0]
    assert (
        found["release"]["people_at_risk"] == found["table"]["people_at_risk"] == 46
    )  # not one for each ward


@pytest.mark.parametrize(
    "people", ["i % 7", "nullif(i % 7, 3)", "case when i % 9 = 0 then i % 2 end", "null::int"]
)
def test_who_is_in_several_small_classes_counts_once(table: Interface, people: str) -> None:
    table.connection.execute(
        f"""
        create table stays as
            select {people} as person, nullif(i * i % 11, 5) as age, i * 7 % 6 as ward
            from generate_series(1, 60) as i
        """.encode()
    )
    table.declare("stays", quasi_identifiers=["age", "ward"], identifiers=["person"], entity="person")
    classes: dict[tuple[Any, ...], list[int | None]] = {}
    for person, *key in table.connection.execute("select person, age, ward from stays").fetchall():
        classes.setdefault(tuple(key), []).append(person)
    small = [who for who in classes.values() if len({*who} - {None}) < 2]
    (found,) = violations(table.connection)
    assert (found["classes_at_risk"], found["rows_at_risk"]) == (len(small), sum(map(len, small)))
    assert found["people_at_risk"] == max(1, len({one for who in small for one in who} - {None}))
    assert found["smallest_class"] == 1


def test_what_cannot_be_counted_is_shown_with_a_reason(table: Interface) -> None:
    table.declare("people", quasi_identifiers=["age"])
    table.connection.execute("alter table people rename column age to years")
    (found,) = violations(table.connection)
    assert found["problem"] == "It was dropped or changed since."


@pytest.fixture
def curator(table: Interface) -> Iterator[str]:
    with role(table.dsn, "curator", "IN ROLE kanon_curator") as name:
        yield name


def test_tables_are_counted_with_the_rights_of_who_polls(table: Interface, curator: str) -> None:
    table.declare("people", quasi_identifiers=["person"])
    table.anonymize("people", 5)
    with psycopg.connect(make_conninfo(table.dsn, user=curator), autocommit=True) as connection:
        (found,) = violations(connection)
        assert (found["kind"], found["problem"]) == ("table", "The caller may not read it.")
        table.connection.execute(f"grant select on people to {curator}".encode())
        (found,) = violations(connection)
        assert (found["classes_at_risk"], found["problem"]) == (46, None)


def test_polling_runs_no_code_of_others(table: Interface, curator: str) -> None:
    table.connection.execute(
        f"""
        create table traces (who name);
        grant insert, select on traces to public;
        create function trap() returns integer language plpgsql as
            'begin insert into traces values (current_user); return 1; end';
        alter function trap() owner to {curator};
        create view tempting as select age, trap() as trapped from people;
        alter view tempting owner to {curator};
        grant select on people to {curator};
        insert into kanon.declaration (relation, quasi_identifiers, declared_by)
            values ('tempting', '{{age,trapped}}', 'somebody');
        """.encode()
    )
    (found,) = violations(table.connection)
    assert found["problem"].startswith("No reader may read it")
    assert table.connection.execute("select count(*) from traces").fetchone() == (0,)


def test_nothing_is_written_by_polling(table: Interface) -> None:
    table.declare("people", quasi_identifiers=["person"])
    table.connection.execute("set default_transaction_read_only = on")
    assert len(violations(table.connection)) == 1
