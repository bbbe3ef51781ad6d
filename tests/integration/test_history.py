"""What was done to tables and releases stays known, and by whom; nobody rewrites it, and it has no values."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kanon_pg.errors import KanonError
from tests.fixtures.databases import role
from tests.fixtures.interfaces import Interface, interface_of


@pytest.fixture
def people(interface: Interface) -> Interface:
    interface.connection.execute(
        """
        create table people (id integer primary key, age integer, ward text);
        insert into people select i, i % 4, 'secret ward ' || i % 3 from generate_series(1, 60) as i;
        create table visits (person integer not null references people, day integer);
        """
    )
    return interface


@pytest.fixture
def curator(people: Interface) -> Iterator[str]:
    with role(people.dsn, "curator", "IN ROLE kanon_curator, kanon_owner") as name:
        people.connection.execute(f"alter table people owner to {name}".encode())
        people.connection.execute(f"alter table visits owner to {name}".encode())
        yield name


def history(connection: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    return connection.execute(
        "select operation, object, role, login, details from kanon.history order by happened_at"
    ).fetchall()


def done(connection: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in history(connection)]


def test_everything_that_is_done_is_written_down(people: Interface) -> None:
    roles = {"identifiers": ["id"], "quasi_identifiers": ["age"], "sensitive": ["ward"]}
    people.declare("people", **roles)
    people.link("visits", "people")
    people.unlink("visits")
    people.anonymize("people", 5, release="of people", remember=2)
    people.refresh("of people")
    people.connection.execute("delete from people where id = 7")
    people.erase("of people", "7")
    people.drop("of people")
    people.protect("people", 3)
    people.connection.execute("select kanon_unprotect('people')")
    people.connection.execute("""select kanon_hierarchy_define('a "list"', '[["1"]]')""")
    people.connection.execute("""select kanon_hierarchy_drop('a "list"')""")
    people.undeclare("people")
    assert history(people.connection)[1][-1] == {"parent": "public.people", "columns": ["person"]}
    release, table, list_ = 'safe."of people"', "public.people", '"a ""list"""'
    assert done(people.connection) == [
        ("declare", table),
        ("link", "public.visits"),
        ("unlink", "public.visits"),
        *((operation, release) for operation in ("anonymize", "refresh", "erase", "drop")),
        ("protect", table),
        ("unprotect", table),
        ("hierarchy_store", list_),
        ("hierarchy_drop", list_),
        ("undeclare", table),
    ]


def test_a_release_that_was_dropped_is_known_with_table_and_k(people: Interface) -> None:
    people.anonymize("people", 5, quasi_identifiers=["age"])
    people.drop("people")
    details = history(people.connection)[-1][-1]
    assert (details["table"], details["k"], details["people"]) == ("public.people", 5, 60)


def test_what_fails_is_not_in_it(people: Interface) -> None:
    with pytest.raises(KanonError):
        people.anonymize("people", 1000, quasi_identifiers=["age"])
    with pytest.raises(KanonError):
        people.refresh("nothing")
    assert history(people.connection) == []


def test_it_is_known_whose_rights_counted_and_who_had_logged_in(people: Interface, curator: str) -> None:
    with interface_of(curator, people) as own:
        own.anonymize("people", 5, quasi_identifiers=["age"])
        own.refresh("people")
        own.drop("people")
    assert {row[2:4] for row in history(people.connection)} == {(curator, curator)}


@pytest.mark.only_through("server")
def test_a_role_that_was_taken_is_told_apart_from_the_login(people: Interface, curator: str) -> None:
    people.connection.execute(f"set role {curator}".encode())
    people.connection.execute("select kanon_anonymize('people', 5, '{age}')")
    people.connection.execute("select kanon_drop('people')")
    people.connection.execute("reset role")
    superuser = people.connection.info.user
    assert [row[2:4] for row in history(people.connection)] == [(curator, superuser)] * 2


@pytest.mark.only_through("server")
def test_nobody_is_named_who_called_inner_functions(people: Interface, curator: str) -> None:
    people.anonymize("people", 5, quasi_identifiers=["age"])
    with psycopg.connect(make_conninfo(people.dsn, user=curator), autocommit=True) as connection:
        for call in ("kanon.refresh('people')", "kanon.drop('people')"):
            with pytest.raises(psycopg.errors.DatabaseError, match="inner function"):
                connection.execute(f"select {call}".encode())
    assert [row[0] for row in history(people.connection)] == ["anonymize"]


@pytest.mark.parametrize(
    "command",
    [
        "update kanon.event set role = 'somebody'",
        "delete from kanon.event",
        "truncate kanon.event",
        "insert into kanon.event values (now(), 'drop', 'x', '{}', 'somebody', 'somebody')",
        "insert into kanon.event (operation, object, details, role, login) values ('a', 'b', '{}', 'c', 'd')",
    ],
)
def test_nobody_rewrites_it(people: Interface, curator: str, command: str) -> None:
    people.anonymize("people", 5, quasi_identifiers=["age"])
    with psycopg.connect(make_conninfo(people.dsn, user=curator), autocommit=True) as connection:
        for acting in ("kanon_curator", "kanon_owner"):
            connection.execute(f"set role {acting}".encode())
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(command.encode())


def test_no_value_of_a_table_is_in_it(people: Interface) -> None:
    people.declare("people", identifiers=["id"], quasi_identifiers=["ward"], sensitive=["age"])
    builder = {"ward": {"builder": "priority", "order": ["secret ward 1"]}}
    people.anonymize("people", 5, hierarchies=builder, remember=1)
    people.connection.execute("delete from people where id = 13")
    people.erase("people", "13")
    people.connection.execute("""select kanon_hierarchy_define('wards', '[["secret ward 2"]]')""")
    kept = repeat_as_text(people.connection)
    assert "secret" not in kept
    assert "13" not in kept


def repeat_as_text(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute(
        "select string_agg(e.operation || e.object || (e.details - 'base_changes')::text, ' ')"
        " from kanon.event as e"
    ).fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.only_through("server")
def test_giving_up_what_answers_are_compared_with_is_written_down(people: Interface) -> None:
    connection = people.connection
    people.declare("people", identifiers=["id"], quasi_identifiers=["age"])
    people.protect("people", 3)
    connection.execute("select * from kanon_query('select count(*) from people')")
    (entry,) = connection.execute("select entry from kanon.query_log").fetchone() or ()
    connection.execute("select kanon.forget_answer('people', %s)", [entry])
    connection.execute("select kanon.restart_record('people')")
    assert done(connection)[-2:] == [
        ("forget_answer", "public.people"),
        ("restart_record", "public.people"),
    ]
