"""The storage of a release keeps its name, and a refresh leaves figures of what readers see."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tests.fixtures.generalizing_solver import generalizing
from tests.fixtures.interfaces import Interface

REFRESH = b"refresh materialized view kanon.people_storage"
WAITING = "select from pg_stat_activity where wait_event_type = 'Lock' and query ~* '^refresh mat'"


@pytest.fixture
def people(interface: Interface) -> Interface:
    """Return an interface to 60 rows of 50 people of three ages."""
    interface.connection.execute(
        "create table people as select i as id, i % 50 as who, i % 3 as age, i % 2 as sex, i % 7 as ill"
        " from generate_series(1, 60) as i"
    )
    interface.declare("people", quasi_identifiers=["age", "sex"], sensitive=["ill"], entity="who")
    return interface


def row(interface: Interface, query: str) -> tuple[Any, ...]:
    found = interface.connection.execute(query.encode()).fetchone()
    assert found is not None
    return found


def test_a_script_refreshes_by_the_same_name_after_each_publication(people: Interface) -> None:
    views = "select count(*) from pg_class where relkind = 'm' and relname ~ 'people'"
    for ages in (3, 4):
        people.connection.execute(f"update people set age = id % {ages}".encode())
        with generalizing(people.connection):
            people.anonymize("people", 2, method="greedy")
        assert row(people, "select storage::text from kanon.releases") == ("kanon.people_storage",)
        (before,) = row(people, "select count(*) from safe.people")
        people.connection.execute("insert into people values (99, 99, 0, 0, 0), (100, 100, 0, 0, 0)")
        people.connection.execute(REFRESH)
        assert row(people, "select count(*) from safe.people") == (before + 2,)
        people.connection.execute("delete from people where id >= 99")
    assert row(people, views) == (1,)
    people.drop("people")
    assert row(people, views) == (0,)


def test_a_refresh_by_name_that_waits_for_a_publication_refreshes_what_was_published(
    people: Interface,
) -> None:
    with generalizing(people.connection):
        people.anonymize("people", 2, method="greedy")
        with (
            psycopg.connect(people.dsn, autocommit=True) as script,
            psycopg.connect(people.dsn, autocommit=True) as reader,
            ThreadPoolExecutor(1) as thread,
        ):
            with people.connection.transaction():
                people.connection.execute("select kanon_anonymize('people', 3, method => 'greedy')")
                waiting = thread.submit(script.execute, REFRESH)
                while not reader.execute(WAITING.encode()).fetchall():
                    assert not waiting.done()
                assert reader.execute("select k from kanon.releases").fetchone() == (2,)
            waiting.result(timeout=60)
            assert reader.execute("select count(*) from safe.people").fetchone() == (60,)
            assert reader.execute("select k from kanon.releases").fetchone() == (3,)


def test_a_release_of_an_earlier_version_gets_the_name_when_it_is_published_next(people: Interface) -> None:
    with generalizing(people.connection):
        people.anonymize("people", 2, method="greedy")
        people.connection.execute("alter materialized view kanon.people_storage rename to people_v1")
        people.refresh("people")
        people.anonymize("people", 2, method="greedy")
    assert row(people, "select storage::text from kanon.releases") == ("kanon.people_storage",)
    assert row(people, "select to_regclass('kanon.people_v1')") == (None,)
    people.connection.execute(REFRESH)


def test_a_storage_without_a_record_is_in_nobodys_way(people: Interface) -> None:
    people.connection.execute("create materialized view kanon.people_storage as select 1 as x")
    people.connection.execute("alter materialized view kanon.people_storage owner to kanon_owner")
    with generalizing(people.connection):
        people.anonymize("people", 2, method="greedy")
    people.connection.execute(REFRESH)


SEEN = "select count(*) as n from safe.people group by age, sex, kanon_suppressed"
FIGURES = "select rows, people, classes, suppressed_cells, refreshed_at is null from kanon.releases"


@pytest.mark.parametrize("ages", [None, [["0", "low"], ["1", "low"], ["2", "high"]]])
def test_a_refresh_counts_what_readers_see(people: Interface, ages: Any) -> None:
    hierarchies = None
    if ages is not None:
        people.connection.execute("select kanon_hierarchy_define('ages', %s::jsonb)", [json.dumps(ages)])
        hierarchies = {"age": "ages"}
    with generalizing(people.connection):
        people.anonymize("people", 4, hierarchies=hierarchies, method="greedy", seed=3)
        assert row(people, FIGURES)[-1]
        people.connection.execute("delete from people where age = 0 and id > 9")
        people.connection.execute(
            "insert into people select 200 + i, 200 + i, 9, 1, 1 from generate_series(1, 9) as i"
        )
        people.refresh("people")
        rows, counted, classes, cells, is_untouched = row(people, FIGURES)
        assert not is_untouched
        assert (rows,) == row(people, "select count(*) from safe.people")
        assert (classes,) == row(people, f"select count(*) from ({SEEN}) as class")
        assert (cells,) == row(people, "select sum(cardinality(kanon_suppressed)) from safe.people")
        assert (counted,) == row(people, "select count(distinct kanon_person) from kanon.people_storage")
        people.connection.execute("delete from people where age = 9")
        people.anonymize("people", 4, method="greedy")
        assert row(people, FIGURES)[-1]


def test_a_refresh_that_leaves_nothing_says_so(people: Interface) -> None:
    with generalizing(people.connection):
        people.anonymize("people", 4, method="greedy")
    people.connection.execute("delete from people where id > 3")
    people.refresh("people")
    assert row(people, FIGURES)[:4] == (0, 0, 0, 0)
