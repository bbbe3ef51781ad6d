"""Nodes that stop at once, in each step of a call and at its commit: one whole release, old or new."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.db.statements import Statement
from kanon_pg.errors import KanonError
from tests.fixtures.citus import CitusNodes
from tests.fixtures.databases import Server
from tests.integration.citus.tables import classes, create_patients, on_each, settle

QUASI = ("zip", "age", "sex")
OLD, NEW = 12, 40

STEPS = {
    "anonymize": {
        "count_row_types": False,
        "distributed/create_shards": False,
        "distributed/fill_shards": True,
        "distributed/collect_small": False,
        "recount_storage": True,
        "create_safe_view": False,
        "store_release": True,
    },
    "refresh": {
        "distributed/read_all_shards": False,
        "distributed/fill_shards": True,
        "distributed/collect_small": False,
        "recount_storage": False,
        "create_safe_view": False,
        "record_refresh": True,
    },
}
"""Named statements, in their order, before each of which a worker stops; those that are tried in each run."""

STOPS = [
    pytest.param(call, step, marks=() if daily else pytest.mark.deep)
    for call, steps in STEPS.items()
    for step, daily in steps.items()
]

COMMITS = [
    pytest.param(
        call,
        waiting,
        lost,
        marks=() if call == "anonymize" or (waiting, lost) == ("coordinator", "worker") else pytest.mark.deep,
    )
    for call in STEPS
    for waiting in ("worker", "coordinator")
    for lost in ("worker", "coordinator")
]


@pytest.fixture
def dsn(citus: psycopg.Connection[Any], citus_dsn: str) -> str:
    """Yield the coordinator's, with a release of a table that changed since."""
    create_patients(citus)
    client.anonymize(citus, "patients", OLD)
    citus.execute("DELETE FROM patients WHERE zip = 'z3'")
    citus.close()
    return citus_dsn


def _publish(dsn: str, call: str) -> None:
    if call == "anonymize":
        client.anonymize(dsn, "patients", NEW)
    else:
        client.refresh(dsn, "patients")


def _shown(dsn: str) -> list[int]:
    with psycopg.connect(dsn, autocommit=True) as db:
        return sorted(classes(db, "safe.patients", QUASI))


def _storages(nodes: CitusNodes, database: str) -> list[int]:
    """Return how many storages each node has shards of."""
    query = (
        "SELECT count(DISTINCT regexp_replace(relname, '_[0-9]{6,}$', '')) FROM pg_class"
        " WHERE relnamespace = 'kanon_shards'::regnamespace AND relkind = 'r'"
    )
    return [found[0][0] for found in on_each(nodes, database, query)]


def _stopping(step: str, stop: Callable[[], None]) -> type[PsycopgDatabase]:
    left = [stop]

    class Stopping(PsycopgDatabase):
        """Stops a node before a named statement, once."""

        def _run(self, statement: Statement, arguments: tuple[Any, ...]) -> Any:
            if statement.name == step and left:
                left.pop()()
            return super()._run(statement, arguments)

        def read(self, command: Statement, *arguments: Any) -> Any:
            if command.name == step and left:
                left.pop()()
            return super().read(command, *arguments)

    return Stopping


@pytest.mark.parametrize(("call", "step"), STOPS)
def test_a_worker_that_stops_leaves_the_old_release(
    nodes: CitusNodes, citus_database: str, dsn: str, monkeypatch: pytest.MonkeyPatch, call: str, step: str
) -> None:
    old = _shown(dsn)
    worker = nodes.workers[list(STEPS[call]).index(step) % 2]
    stopped = []

    def stop() -> None:
        nodes.crash(worker)
        stopped.append(True)

    try:
        with monkeypatch.context() as patched:
            patched.setattr(client, "PsycopgDatabase", _stopping(step, stop))
            with pytest.raises((KanonError, psycopg.Error)):
                _publish(dsn, call)
    finally:
        nodes.restart(worker)
    assert stopped
    settle(nodes, citus_database)
    assert _shown(dsn) == old
    assert _storages(nodes, citus_database) == [1, 1, 1]
    _publish(dsn, call)
    assert _shown(dsn) != old


def _let_commits_wait(server: Server, database: str, *, wait: bool) -> None:
    """Let a node wait for a standby that never comes, once it has written that it prepared or committed."""
    with psycopg.connect(server.dsn(database), autocommit=True) as db:
        db.execute(
            "ALTER SYSTEM SET synchronous_standby_names TO 'nobody'" if wait else "ALTER SYSTEM RESET ALL"
        )
        db.execute("SELECT pg_reload_conf()")


def _wait_for_commit(server: Server, database: str) -> None:
    deadline = time.monotonic() + 30
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()"
        " AND backend_type = 'client backend'"
    )
    with psycopg.connect(server.dsn(database), autocommit=True) as db:
        while not db.execute(waiting).fetchall()[0][0]:
            assert time.monotonic() < deadline, "no commit waits"
            time.sleep(0.01)


@pytest.mark.parametrize(("call", "waiting", "lost"), COMMITS)
def test_a_node_that_is_lost_at_the_commit_leaves_one_whole_release(
    nodes: CitusNodes, citus_database: str, dsn: str, call: str, waiting: str, lost: str
) -> None:
    """A worker waits once it prepared, before anything is committed; a coordinator once it committed."""
    of = {"worker": nodes.workers[0], "coordinator": nodes.coordinator}
    old = _shown(dsn)

    def publish() -> None:
        with suppress(KanonError, psycopg.Error):
            _publish(dsn, call)

    publishing = threading.Thread(target=publish)
    _let_commits_wait(of[waiting], citus_database, wait=True)
    publishing.start()
    try:
        _wait_for_commit(of[waiting], citus_database)
        nodes.crash(of[lost])
        if lost != waiting:
            _let_commits_wait(of[waiting], citus_database, wait=False)
        publishing.join()
        with suppress(psycopg.Error):
            meanwhile = _shown(dsn)
            assert meanwhile == old
    finally:
        nodes.restart(of[lost])
        _let_commits_wait(of[waiting], citus_database, wait=False)
        publishing.join()
    settle(nodes, citus_database)
    found = _shown(dsn)
    if waiting == "worker":
        assert found == old
    else:
        assert found != old
        assert min(found) >= (NEW if call == "anonymize" else OLD)
        with psycopg.connect(dsn, autocommit=True) as db:
            assert db.execute("SELECT rows FROM kanon.releases").fetchall() == [(sum(found),)]
    assert _storages(nodes, citus_database) == [1, 1, 1]
