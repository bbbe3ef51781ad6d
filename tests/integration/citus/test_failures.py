"""Lost connections and writers during a call: the old release or the new one, never half, no small class."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from random import Random
from typing import Any

import psycopg
import pytest

from tests.fixtures.citus import CitusNodes
from tests.integration.citus.tables import classes, create_patients, settle

QUASI = ("zip", "age", "sex")


def _while(work: Callable[[], None], disturb: Callable[[], None]) -> None:
    """Run something while something else is done again and again."""
    done = threading.Event()

    def again() -> None:
        while not done.is_set():
            disturb()

    thread = threading.Thread(target=again)
    thread.start()
    try:
        work()
    finally:
        done.set()
        thread.join()


def test_writers_during_a_call_make_no_small_class(citus, citus_dsn):
    create_patients(citus)
    numbers = count(10_000)
    with psycopg.connect(citus_dsn, autocommit=True) as writer:

        def write() -> None:
            number = next(numbers)
            writer.execute("INSERT INTO patients VALUES (%s, 'rare', %s, 'x', 'd')", [number, number % 100])
            writer.execute("DELETE FROM patients WHERE id = %s", [number - 9_990])

        for call in ("kanon_anonymize('patients', 12)", "kanon_refresh('patients')") * 2:

            def publish(call: str = call) -> None:
                citus.execute(f"SELECT {call}")

            _while(publish, write)
            sizes = classes(citus, "safe.patients", QUASI)
            assert sizes
            assert min(sizes) >= 12


@pytest.mark.parametrize("call", ["anonymize", "refresh"])
@pytest.mark.parametrize("seed", range(3))
def test_a_connection_that_is_lost_leaves_the_old_release_or_the_new_one(
    citus: psycopg.Connection[Any], nodes: CitusNodes, citus_database: str, seed: int, call: str
) -> None:
    create_patients(citus)
    citus.execute("SELECT kanon_anonymize('patients', 12)")
    citus.execute("DELETE FROM patients WHERE zip = 'z3'")
    old = sorted(classes(citus, "safe.patients", QUASI))
    worker = nodes.workers[seed % len(nodes.workers)]
    random = Random(seed)
    with psycopg.connect(worker.dsn(citus_database), autocommit=True) as killer:

        def kill() -> None:
            time.sleep(random.uniform(0, 1.2))
            killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename ~ '^kanon_(owner|base)'"
                " AND datname = current_database()"
            )

        published = []

        def publish() -> None:
            with suppress(psycopg.Error):
                citus.execute(
                    "SELECT kanon_anonymize('patients', 40)"
                    if call == "anonymize"
                    else "SELECT kanon_refresh('patients')"
                )
                published.append(True)

        _while(publish, kill)
    # Where a connection is lost at the commit, Citus commits on that node when it recovers, each minute.
    settle(nodes, citus_database)
    # A session keeps connections to workers, of which some are dead now. It ends where one is lost in the
    # moment in which Citus opens a savepoint there (FATAL: unexpected state SUBBEGIN).
    with psycopg.connect(nodes.coordinator.dsn(citus_database), autocommit=True) as reader:
        sizes = sorted(classes(reader, "safe.patients", QUASI))
        stored = reader.execute("SELECT FROM citus_tables WHERE table_name::text ~ 'kanon_shards'").fetchall()
    if published:
        assert min(sizes) >= (40 if call == "anonymize" else 12)
        assert sum(sizes) < sum(old)
    else:
        assert sizes == old
    assert len(stored) == 1
