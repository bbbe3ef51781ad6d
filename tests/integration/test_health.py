"""The view that monitoring asks: what is the matter with releases and protected tables, and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from kanon_pg import client
from kanon_pg.admin.install.installer import install
from kanon_pg.monitoring.open_metrics import open_metrics
from tests.fixtures.databases import role
from tests.fixtures.interfaces import Interface
from tests.fixtures.linked_tables import declare_clinic, fill_clinic


@pytest.fixture
def people(interface: Interface) -> Interface:
    interface.connection.execute(
        """
        create table people (id integer primary key, age integer, ward integer);
        insert into people select i, i % 4, i % 3 from generate_series(1, 60) as i;
        select kanon_declare('people', '{id}', '{age}', '{ward}');
        """
    )
    return interface


def health(connection: psycopg.Connection[Any]) -> dict[str, dict[str, Any]]:
    """Return what the view says of each object, after the statistics that it counts changes by are there."""
    connection.execute("select pg_stat_clear_snapshot()")
    with connection.cursor(row_factory=dict_row) as cursor:
        return {row["object"]: row for row in cursor.execute("select * from kanon.health").fetchall()}


def advice(connection: psycopg.Connection[Any], of: str = "safe.people") -> str:
    return health(connection)[of]["advice"] or ""


def test_nothing_needs_doing_after_publishing_and_refreshing(people: Interface) -> None:
    people.anonymize("people", 5)
    for _ in range(2):
        found = health(people.connection)["safe.people"]
        assert (found["rows"], found["missing_rows"], found["guard"]) == (60, 0, "holds")
        assert (found["changes_since"], found["advice"]) == (0, None)
        people.refresh("people")


def test_changes_count_from_the_last_refresh_on(people: Interface) -> None:
    people.anonymize("people", 5)
    people.connection.execute("insert into people select i, 1, 1 from generate_series(61, 70) as i")
    found = health(people.connection)["safe.people"]
    assert (found["changes_since"], found["rows"], found["missing_rows"]) == (10, 60, 10)
    assert "kanon_refresh('people')" in found["advice"]
    people.refresh("people")
    found = health(people.connection)["safe.people"]
    assert (found["changes_since"], found["rows"], found["advice"]) == (0, 70, None)


def test_rows_that_a_refresh_withholds_are_counted(people: Interface) -> None:
    people.anonymize("people", 5)
    people.connection.execute("update people set age = 9 where id = 1")
    people.refresh("people")
    found = health(people.connection)["safe.people"]
    assert (found["rows"], found["missing_rows"], found["guard"]) == (59, 1, "holds")
    assert "anew with kanon_anonymize" in found["advice"]


def test_rows_that_a_plain_refresh_withholds_are_counted(people: Interface) -> None:
    people.anonymize("people", 5)
    people.connection.execute("update people set age = 9 where id = 1")
    (storage,) = people.connection.execute("select storage::text from kanon.releases").fetchone() or ()
    people.connection.execute(f"refresh materialized view {storage}".encode())
    found = health(people.connection)["safe.people"]
    assert (found["rows"], found["missing_rows"]) == (59, 1)


def test_a_class_that_is_too_small_is_told(people: Interface) -> None:
    people.anonymize("people", 5)
    people.connection.execute("update kanon.release set k = 1000")
    found = health(people.connection)["safe.people"]
    assert found["guard"] == "violated"
    assert "kanon_drop('people')" in found["advice"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("drop view safe.people", "Its view was dropped"),
        ("drop table people cascade", "Its table is gone"),
        ("refresh materialized view {storage} with no data", "It cannot be counted"),
    ],
)
def test_what_is_missing_is_told(people: Interface, command: str, says: str) -> None:
    people.anonymize("people", 5, release="people")
    people.anonymize("people", 5, release='other "one"')
    (storage,) = (
        people.connection.execute(
            "select storage::text from kanon.releases where release = 'people'"
        ).fetchone()
        or ()
    )
    people.connection.execute(command.format(storage=storage).encode())
    assert advice(people.connection).startswith(says)
    # what is wrong with one hides nothing of the other
    assert 'safe."other ""one"""' in health(people.connection)


def test_a_release_over_time_shows_who_waits(people: Interface) -> None:
    people.anonymize("people", 5, over_time={})
    people.connection.execute("insert into people values (61, 1, 1)")
    people.refresh("people")
    found = health(people.connection)["safe.people"]
    assert (found["pending_people"], found["missing_rows"], found["advice"]) == (1, 1, None)


@pytest.fixture
def curator(people: Interface) -> Iterator[psycopg.Connection[Any]]:
    with (
        role(people.dsn, "curator", "IN ROLE kanon_curator") as name,
        psycopg.connect(make_conninfo(people.dsn, user=name), autocommit=True) as connection,
    ):
        yield connection


def test_a_curator_sees_counts_of_tables_that_only_others_may_read(
    people: Interface, curator: psycopg.Connection[Any]
) -> None:
    people.anonymize("people", 5)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        curator.execute("select from people")
    assert health(curator)["safe.people"]["missing_rows"] == 0


def test_nothing_is_written_by_polling(people: Interface, curator: psycopg.Connection[Any]) -> None:
    people.anonymize("people", 5)
    people.connection.execute("""select kanon_protect('people', 3, '{"beside_releases": "allow"}')""")
    curator.execute("set default_transaction_read_only = on")
    assert {*health(curator)} == {"safe.people", "public.people"}


@pytest.fixture
def protected(people: Interface) -> Interface:
    noise = {"epsilon": 2, "delta": 1e-6, "rows_per_person": 1, "groups_per_person": 4}
    people.connection.execute("select kanon_protect('people', 3, %s)", [json.dumps({"noise": noise})])
    return people


@pytest.mark.only_through("server")
def test_the_account_of_noise_is_shown(protected: Interface) -> None:
    connection = protected.connection
    found = health(connection)["public.people"]
    assert (found["k"], found["ledger"], found["share_left"]) == (3, "usable", 1.0)
    connection.execute("select * from kanon_query('select count(*) from people')")
    less = health(connection)["public.people"]
    assert less["share_left"] < 1
    assert less["epsilon_left"] < found["epsilon_left"]


@pytest.mark.only_through("server")
def test_a_record_of_answers_that_is_lost_is_told_with_what_to_do(protected: Interface) -> None:
    connection = protected.connection
    connection.execute("create table more (id integer primary key, age integer)")
    connection.execute("insert into more select i, 1 from generate_series(1, 9) as i")
    connection.execute("select kanon_declare('more', '{id}', '{age}')")
    connection.execute("select kanon_protect('more', 3)")
    connection.execute("update kanon.record set name = repeat('0', 32) where space = 'people'::regclass")
    found = health(connection)
    assert found["public.people"]["ledger"] != "usable"
    assert "restart_record" in found["public.people"]["advice"]
    assert (found["public.more"]["ledger"], found["public.more"]["advice"]) == ("usable", None)


def test_it_is_there_where_the_server_has_no_functions(empty_dsn: str) -> None:
    install(empty_dsn, plpython=False)
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create table people as select i % 4 as age from generate_series(1, 40) as i")
        client.anonymize(connection, "people", 5)
        (found,) = client.health(connection)
        assert (found.object, found.guard, found.missing_rows, found.advice) == (
            "safe.people",
            "holds",
            0,
            None,
        )
        assert [one.operation for one in client.history(connection)] == ["anonymize"]


def test_each_linked_table_has_a_row_that_says_what_it_waits_for(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    interface.anonymize("patients", 3, tables=["admissions", "lab_results"], time_limit=1.0)
    found = health(connection)
    assert [found[f"safe.{name}"]["guard"] for name in ("patients", "admissions", "lab_results")] == [
        "holds"
    ] * 3
    (storage,) = connection.execute("select storage::text from kanon.releases").fetchone() or ()
    connection.execute(f"refresh materialized view {storage}".encode())
    found = health(connection)
    assert (found["safe.admissions"]["guard"], found["safe.admissions"]["rows"]) == ("waits", 0)
    assert "kanon_refresh('patients')" in advice(connection, "safe.lab_results")
    told = open_metrics(client.health(connection))
    assert 'kanon_release_guard_holds{release="safe.admissions"} 1.0' in told
    assert 'kanon_release_needs_attention{release="safe.admissions"} 1.0' in told
    interface.refresh("patients")
    connection.execute("refresh materialized view kanon.admissions_storage with no data")
    found = health(connection)
    for name in ("admissions", "lab_results"):
        assert found[f"safe.{name}"]["guard"] == "not filled"
        assert "kanon_refresh('patients')" in advice(connection, f"safe.{name}")
    assert 'kanon_release_guard_holds{release="safe.admissions"} 0.0' in open_metrics(
        client.health(connection)
    )
    connection.execute("truncate lab_results")
    for name in ("patients", "admissions", "lab_results"):
        connection.execute(f"refresh materialized view kanon.{name}_storage".encode())
    assert advice(connection, "safe.lab_results") == ""  # there is nothing that it waits for
    interface.refresh("patients")
    assert [found[f"safe.{name}"]["missing_rows"] for name in ("admissions", "lab_results")] == [None, None]
    assert health(connection)["safe.lab_results"]["guard"] == "holds"
    connection.execute("drop view safe.lab_results")
    assert advice(connection, "safe.lab_results").startswith("Its view was dropped")
    assert advice(connection, "safe.admissions") == ""


def test_people_whose_rows_can_be_followed_are_not_missing(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(
        "create table visits (visit integer primary key, person integer, sex text);"
        "insert into visits select i, i % 60, (array['F', 'M'])[1 + i % 2] from generate_series(1, 240) as i"
    )
    interface.declare("visits", quasi_identifiers=["sex"], entity="person")
    interface.anonymize("visits", 3, pseudonyms=["person"], time_limit=1.0)
    found = health(connection)["safe.visits"]
    assert (found["rows"], found["missing_rows"], found["advice"]) == (60, 0, None)
    connection.execute("delete from visits where person < 2")
    assert health(connection)["safe.visits"]["missing_rows"] == -2
