"""A release over time while others read and write, and when the server dies."""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from hypothesis import settings

from kanon_pg.admin.cluster import Cluster
from kanon_pg.admin.install.installer import install
from tests.fixtures.databases import open_folder
from tests.fixtures.interfaces import Interface, SqlInterface
from tests.fixtures.versions import Version, fewest_people, version_of

K = 3

_TABLE = (
    "create table visits (id integer primary key, age integer, sex text, secret integer);"
    "insert into visits select i, i % 5, i % 2, i from generate_series(1, 300) as i;"
)
_START = (
    "select kanon_declare('visits', quasi_identifiers => '{age,sex}', sensitive => '{secret}');"
    """select kanon_anonymize('visits', 3, method => 'greedy', options => '{"over_time": {}}')"""
)


def change(connection: psycopg.Connection[Any], chance: random.Random, number: int) -> None:
    """Let somebody come, go or change."""
    what = chance.choice(("come", "come", "go", "change", "back"))
    if what == "come":
        connection.execute("insert into visits values (%s, %s, '1', %s)", (number, number % 5, number))
        return
    person = chance.randrange(1, 300)
    if what == "go":
        connection.execute("delete from visits where id = %s", (person,))
    elif what == "change":
        connection.execute("update visits set age = (age + 1) %% 5 where id = %s", (person,))
    else:
        connection.execute(
            "insert into visits values (%s, %s, '0', %s) on conflict do nothing", (person, person % 5, person)
        )


@pytest.mark.slow
def test_versions_are_whole_while_others_read_and_write(interface: Interface) -> None:
    interface.connection.execute(_TABLE.encode())
    interface.connection.execute(_START.encode())
    done, seen, failures = Event(), list[Version](), list[Exception]()

    def reading() -> None:
        try:
            with psycopg.connect(interface.dsn, autocommit=True) as connection:
                reader = SqlInterface(interface.dsn, connection)
                while not done.is_set():
                    found = version_of(reader, "visits")
                    if not seen or found != seen[-1]:
                        seen.append(found)
        except Exception as error:
            failures.append(error)

    def writing() -> None:
        chance = random.Random(7)
        try:
            with psycopg.connect(interface.dsn, autocommit=True) as connection:
                for number in range(1000, 100_000):
                    if done.is_set():
                        return
                    change(connection, chance, number)
        except Exception as error:
            failures.append(error)

    threads = [Thread(target=reading), Thread(target=writing)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(6):
            interface.refresh("visits")
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert len(seen) > 1
    assert all(seen), "a version was read before it was whole"
    assert fewest_people(seen) >= K


def test_two_calls_publish_one_version_after_the_other(interface: Interface) -> None:
    interface.connection.execute(_TABLE.encode())
    interface.connection.execute(_START.encode())
    with (
        psycopg.connect(interface.dsn) as other,
        psycopg.connect(interface.dsn, autocommit=True) as watcher,
    ):
        other.execute("select kanon_refresh('visits')")
        waiting = Thread(target=lambda: _refresh(interface))
        waiting.start()
        while waiting.is_alive() and not _queued(watcher):
            time.sleep(0.01)
        other.commit()
        waiting.join()
    assert interface.connection.execute("select version from kanon.releases").fetchone() in ((2,), (3,))
    interface.refresh("visits")


def _refresh(interface: Interface) -> None:
    with suppress(Exception):  # the client's interface sees one state, and may find that it is not the newest
        interface.refresh("visits")


def _queued(connection: psycopg.Connection[Any]) -> bool:
    query = (
        "select count(*) > 0 from pg_stat_activity"
        " where application_name = 'kanon: queued' and wait_event_type = 'Lock'"
    )
    found = connection.execute(query.encode()).fetchone()
    assert found is not None
    return bool(found[0])


@pytest.fixture
def mortal() -> Iterator[Cluster]:
    """Start a server that keeps what it committed when it is killed."""
    with open_folder() as home:
        cluster = Cluster("mortal", home=home, settings={"synchronous_commit": "off", "fsync": "off"})
        cluster.up()
        try:
            yield cluster
        finally:
            cluster.down(delete=True)


@pytest.mark.slow
def test_killed_at_any_moment_the_old_version_or_the_new_one_is_whole(mortal: Cluster) -> None:
    """What readers saw is what the members say, before and after the server comes back."""
    chance = random.Random(11)
    rounds = 30 if settings.get_current_profile_name() == "deep" else 4
    dsn = mortal.dsn()
    install(dsn)
    versions: list[Version] = []
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(_TABLE.encode())
        db.execute(_START.encode())
    for number in range(rounds):
        with psycopg.connect(dsn, autocommit=True) as db:
            versions.append(_checked(db, dsn))
            for one in range(20):
                change(db, chance, 1000 + 20 * number + one)
        _kill_during_refresh(dsn, chance.uniform(0.0, 1.0))
        mortal.up()
    with psycopg.connect(dsn, autocommit=True) as db:
        versions.append(_checked(db, dsn))
        db.execute("select kanon_refresh('visits')")
        versions.append(_checked(db, dsn))
    assert fewest_people(versions) >= K


def _checked(db: psycopg.Connection[Any], dsn: str) -> Version:
    found = version_of(SqlInterface(dsn, db), "visits")
    query = (
        "select r.rows, (select count(*) from kanon.visits_v1_members as m"
        " join kanon.visits_v1_cohorts as c using (cohort) where c.is_shown)"
        " from kanon.releases as r"
    )
    assert db.execute(query.encode()).fetchone() == (len(found), len(found))
    scratch = "select count(*) from pg_class where relname like 'visits\\_next%'"
    assert db.execute(scratch.encode()).fetchone() == (0,)
    return found


def _kill_during_refresh(dsn: str, after: float) -> None:
    """Kill the process that refreshes, whereupon the whole server starts anew."""
    with psycopg.connect(dsn, autocommit=True) as db:
        pid = db.info.backend_pid

        def refresh() -> None:
            with suppress(psycopg.Error):
                db.execute("select kanon_refresh('visits')")

        refreshing = Thread(target=refresh)
        refreshing.start()
        time.sleep(after)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        refreshing.join()
    for _ in range(300):
        with suppress(psycopg.OperationalError), psycopg.connect(dsn):
            return
        time.sleep(0.1)
