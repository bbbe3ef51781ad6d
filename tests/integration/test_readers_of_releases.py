"""Readers do not wait for what a publication does beside swapping its view, and no notice loses a release."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from kanon_pg.errors import DatabaseError, KanonError
from tests.fixtures.interfaces import Interface

pytestmark = pytest.mark.slow

WARDS = """
create table plain (id integer primary key, zip text, ward text);
insert into plain (id, zip, ward) select i, 'z' || i % 4, 'w' || i % 2 from generate_series(1, 400) as i
"""


@pytest.fixture
def clinic(interface: Interface) -> Interface:
    """Yield an interface to a table with a release by zip, and one by ward that remembers."""
    interface.connection.execute(WARDS.encode())
    publish(interface, "by_zip", "zip", remember=3)
    publish(interface, "by_ward", "ward", remember=3)
    interface.notices.clear()
    return interface


def publish(interface: Interface, release: str, column: str, **options: Any) -> None:
    interface.anonymize("plain", 5, quasi_identifiers=[column], method="greedy", release=release, **options)


@contextmanager
def held(interface: Interface, storage: str) -> Iterator[psycopg.Connection[Any]]:
    """Refresh a storage without an end, so that whoever compares releases waits; yields who does it."""
    with psycopg.connect(interface.dsn) as holder:
        holder.execute(f"refresh materialized view kanon.{storage}".encode())
        yield holder
        holder.rollback()


def waiting(holder: psycopg.Connection[Any], storage: str, publishing: Future[None]) -> int:
    """Wait until a session waits for a storage; returns which."""
    for _ in range(1_200):
        found = holder.execute(
            "select pid from pg_locks where not granted and relation = %s::regclass", [f"kanon.{storage}"]
        ).fetchone()
        if found is not None:
            return int(found[0])
        if publishing.done():
            publishing.result()
        time.sleep(0.05)
    raise AssertionError("the call never compared the releases")


def locks_on(holder: psycopg.Connection[Any], process: int, *relations: str) -> set[str]:
    """Return the locks of a session on relations that keep readers away."""
    rows = holder.execute(
        "select relation::regclass::text from pg_locks where granted and pid = %s"
        " and mode = 'AccessExclusiveLock' and relation = any (%s::regclass[]::oid[])",
        [process, list(relations)],
    ).fetchall()
    return {row[0] for row in rows}


OTHER: dict[str, dict[str, Any]] = {
    "ordinary": {"remember": 3},
    "over time": {"over_time": {}, "remember": 3},
}


@pytest.mark.parametrize("kind", OTHER)
def test_readers_do_not_wait_while_releases_are_compared(clinic: Interface, kind: str) -> None:
    with ThreadPoolExecutor(1) as thread, held(clinic, "by_zip_storage") as holder:
        publishing = thread.submit(publish, clinic, "by_ward", "ward", **OTHER[kind])
        process = waiting(holder, "by_zip_storage", publishing)
        # The version is remembered by now, and waits for its comparison with the others.
        assert not locks_on(holder, process, "safe.by_ward", "kanon.by_ward_storage")
        with psycopg.connect(clinic.dsn, options="-c lock_timeout=1s") as reader:
            assert reader.execute("select count(*) from safe.by_ward").fetchone() == (400,)
        holder.rollback()
        publishing.result()
    assert any("nobody among fewer than 5" in notice for notice in clinic.notices)


def test_the_next_version_is_remembered_before_readers_wait_for_it(clinic: Interface) -> None:
    publish(clinic, "series", "zip", over_time={}, remember=3)
    with ThreadPoolExecutor(1) as thread, psycopg.connect(clinic.dsn) as holder:
        holder.execute("lock table kanon.remembered in exclusive mode")
        publishing = thread.submit(clinic.refresh, "series")
        process = waiting(holder, "remembered", publishing)
        assert not locks_on(holder, process, "safe.series", "kanon.series_storage")
        holder.rollback()
        publishing.result()


def test_a_comparison_gives_its_locks_back(clinic: Interface) -> None:
    """Two calls that compare each other's release, and then swap their own, would wait for each other."""
    with ThreadPoolExecutor(1) as thread, psycopg.connect(clinic.dsn) as reader:
        reader.execute("select from safe.by_ward")
        publishing = thread.submit(publish, clinic, "by_ward", "ward", remember=3)
        for _ in range(1_200):
            phase = clinic_phase(reader)
            if phase is not None:
                break
            time.sleep(0.05)
        assert phase is not None
        assert not reader.execute(
            "select from pg_locks where pid = %s and relation = 'kanon.by_zip_storage'::regclass", [phase]
        ).fetchall()
        reader.rollback()
        publishing.result()


def clinic_phase(reader: psycopg.Connection[Any]) -> int | None:
    """Return the process that waits for readers, if one does."""
    reader.execute("select pg_stat_clear_snapshot()")
    found = reader.execute(
        "select pid from pg_stat_activity where application_name = 'kanon: waiting for readers'"
        " and datname = current_database()"
    ).fetchone()
    return None if found is None else int(found[0])


def test_what_prevents_the_comparison_does_not_prevent_the_release(clinic: Interface) -> None:
    clinic.connection.execute("set lock_timeout = '200ms'")
    before = published_at(clinic)
    with held(clinic, "by_zip_storage"):
        publish(clinic, "by_ward", "ward", remember=3)
    assert published_at(clinic) > before
    (notice,) = [one for one in clinic.notices if "together" in one]
    assert "What they disclose together is not known: Another session changes a release" in notice


def published_at(interface: Interface) -> Any:
    (when,) = interface.connection.execute(
        "select published_at from kanon.releases where release = 'by_ward'"
    ).fetchone() or (None,)
    return when


def test_a_call_that_is_cancelled_during_the_comparison_ends(clinic: Interface) -> None:
    before = published_at(clinic)
    with ThreadPoolExecutor(1) as thread, held(clinic, "by_zip_storage") as holder:
        publishing = thread.submit(publish, clinic, "by_ward", "ward", remember=3)
        process = waiting(holder, "by_zip_storage", publishing)
        holder.execute("select pg_cancel_backend(%s)", [process])
        with pytest.raises((KanonError, psycopg.errors.QueryCanceled)) as ended:
            publishing.result()
    if isinstance(ended.value, DatabaseError):
        assert ended.value.server_state == "57014"
    assert published_at(clinic) == before
    assert clinic.connection.execute("select count(*) from kanon.remembered").fetchone() == (2,)
