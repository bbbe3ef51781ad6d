"""Cancelling, timeouts and limits take effect within a second in every phase, and leave no trace."""

import os
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.errors import QueryCanceled

from tests.fixtures.calling import Caller, WatchedCaller, calling
from tests.fixtures.interfaces import Interface
from tests.fixtures.phases import GATED_TABLE, HOLDS, Watched, children, wait_until
from tests.fixtures.releases import everything

EFFECT_SECONDS = 4.0
"""The promise is one second. The rest is for a machine that runs other things at the same time, where
processes wait for their turn."""

LIMIT_SECONDS = 2.0
"""Long enough to reach every phase of a small table."""

SEARCH_SECONDS = 0.1
"""Much less than a phase takes that is held."""


@pytest.fixture(scope="module")
def prepared(lasting_interface: Interface) -> Interface:
    """An interface to a published release, with the solver's worker at hand."""
    lasting_interface.connection.execute(GATED_TABLE.encode())
    lasting_interface.declare("patients", quasi_identifiers=["age", "tag"], sensitive=["id"])
    lasting_interface.anonymize("patients", 4)
    return lasting_interface


@pytest.fixture
def watched(prepared: Interface) -> Iterator[Watched]:
    with psycopg.connect(prepared.dsn, autocommit=True, application_name="watcher") as watcher:
        prepared.connection.execute("set application_name = 'mine'")
        if not Watched(prepared, watcher).workers():
            prepared.anonymize("patients", 4)
        yield Watched(prepared, watcher)


def cancel(watched: Watched) -> None:
    watched.interrupted_at = time.monotonic()
    watched.watcher.execute("select pg_cancel_backend(%s)", [watched.pid])


def wait_patiently(_watched: Watched) -> None:
    """The limit itself interrupts."""


def check_that_nothing_happened(watched: Watched, before: Any) -> None:
    interface = watched.interface
    assert everything(interface.connection) == before
    assert interface.connection.execute("show application_name").fetchone() == ("mine",)
    if watched.stopped_worker is not None:
        stopped = watched.stopped_worker
        wait_until(lambda: stopped not in watched.workers(), "the end of the worker")
    interface.notices.clear()
    report = interface.anonymize("patients", 4)
    assert (report.rows, report.smallest_class >= 4) == (60, True)
    assert interface.connection.execute("show application_name").fetchone() == ("mine",)


_IN_THE_SERVER = pytest.mark.only_through("server")

HELD = [pytest.param(one, marks=_IN_THE_SERVER) if one == "recounting" else one for one in HOLDS]
"""All phases. The client's transaction sees one state of the table: it does not read it again to recount."""

RUNNING_A_STATEMENT = [
    pytest.param(phase, marks=_IN_THE_SERVER)
    if phase in ("solving", "recounting", "waiting for readers")
    else phase
    for phase in HOLDS
]
"""Phases in which a statement runs: the client's session is idle in the others, and PostgreSQL neither
cancels an idle session nor ends it after a time; see Ctrl-C, termination and time limits."""


@pytest.mark.parametrize("phase", RUNNING_A_STATEMENT)
def test_cancel(watched: Watched, phase: str) -> None:
    before = everything(watched.watcher)
    with watched.interrupting(phase, cancel), pytest.raises(QueryCanceled, match="due to user request"):
        watched.interface.anonymize("patients", 3)
    assert time.monotonic() - watched.interrupted_at < EFFECT_SECONDS
    check_that_nothing_happened(watched, before)


@pytest.mark.parametrize("phase", RUNNING_A_STATEMENT)
def test_statement_timeout(watched: Watched, phase: str) -> None:
    before = everything(watched.watcher)
    watched.interface.connection.execute(f"set statement_timeout = {int(LIMIT_SECONDS * 1000)}".encode())
    started = time.monotonic()
    try:
        with (
            watched.interrupting(phase, wait_patiently),
            pytest.raises(QueryCanceled, match="statement timeout"),
        ):
            watched.interface.anonymize("patients", 3)
        assert time.monotonic() - started < 2 * LIMIT_SECONDS + EFFECT_SECONDS
    finally:
        watched.interface.connection.execute("reset statement_timeout")
    check_that_nothing_happened(watched, before)


@pytest.mark.only_through("server")
def test_statement_timeout_that_the_server_forgot(watched: Watched) -> None:
    """PostgreSQL drops the signal where a lock_timeout passes in the same moment; here there is none."""
    before = everything(watched.watcher)
    connection = watched.interface.connection
    with watched.holding("waiting for readers"), pytest.raises(QueryCanceled, match="statement timeout"):
        connection.execute(
            "select kanon_anonymize('patients', 3)"
            " from (select set_config('statement_timeout', '700ms', false) offset 0) as without_a_signal"
        )
    connection.execute("reset statement_timeout")
    check_that_nothing_happened(watched, before)


@pytest.mark.parametrize("phase", HELD)
def test_no_phase_ends_with_the_time_limit(watched: Watched, phase: str) -> None:
    """It is for searching: waiting for the release's name, counting, writing and recounting do not count."""
    with watched.delaying(phase, 4 * SEARCH_SECONDS):
        report = watched.interface.anonymize("patients", 3, time_limit=SEARCH_SECONDS)
    assert (report.rows, report.smallest_class >= 3) == (60, True)


@pytest.fixture(scope="module")
def caller(prepared: Interface) -> Iterator[Caller]:
    """A process with an interface of its own: a signal to the tests' process ended it where it came late."""
    with calling(prepared) as caller:
        yield caller


@pytest.fixture
def watched_caller(prepared: Interface, caller: Caller) -> Iterator[WatchedCaller]:
    with psycopg.connect(prepared.dsn, autocommit=True, application_name="watcher") as watcher:
        watched = WatchedCaller(prepared, watcher, caller=caller)
        if not watched.workers():
            assert caller.anonymize(4)["raised"] is None
        yield watched


def press_control_c(watched: Watched) -> None:
    assert isinstance(watched, WatchedCaller)
    watched.interrupted_at = time.monotonic()
    watched.calling.press_control_c()


@pytest.mark.parametrize(
    "phase",
    # through the server's functions, that is cancelling
    [
        pytest.param("solving", marks=pytest.mark.only_through("client")) if phase == "solving" else phase
        for phase in HELD
    ],
)
def test_control_c(watched_caller: WatchedCaller, phase: str) -> None:
    """It reaches the server's functions as a request to cancel, which psycopg sends."""
    watched, caller = watched_caller, watched_caller.calling
    before = everything(watched.watcher)
    with watched.interrupting(phase, press_control_c):
        assert caller.anonymize(3) == {"raised": "KeyboardInterrupt", "application_name": "mine"}
        # before the block ends, which gives way to a call that is held
        assert time.monotonic() - watched.interrupted_at < EFFECT_SECONDS
    assert everything(watched.watcher) == before
    if watched.stopped_worker is not None:
        stopped = watched.stopped_worker
        wait_until(lambda: stopped not in watched.workers(), "the end of the worker")
    again = caller.anonymize(4)
    assert (again["raised"], again["rows"], again["application_name"]) == (None, 60, "mine")
    assert again["smallest_class"] >= 4


def test_termination_while_solving_ends_the_call_and_the_worker(watched: Watched) -> None:
    with psycopg.connect(watched.interface.dsn, autocommit=True) as connection:
        other = Watched(type(watched.interface)(watched.interface.dsn, connection), watched.watcher)  # type: ignore[call-arg]
        before = everything(watched.watcher)
        other.interface.anonymize("patients", 4, release="another")
        other.interface.drop("another")
        before = everything(watched.watcher)

        def terminate(stopped: Watched) -> None:
            stopped.interrupted_at = time.monotonic()
            stopped.watcher.execute("select pg_terminate_backend(%s)", [stopped.pid])

        with (
            other.interrupting("solving", terminate),
            pytest.raises(Exception, match=r"terminat|closed|was lost|57P01"),
        ):
            other.interface.anonymize("patients", 3)
        assert time.monotonic() - other.interrupted_at < EFFECT_SECONDS
        stopped = other.stopped_worker
        assert stopped is not None
        wait_until(lambda: stopped not in children(other.pid) | children(os.getpid()), "the worker's end")
        assert everything(watched.watcher) == before


@pytest.mark.parametrize("phase", HELD)
def test_any_session_sees_the_phase(watched: Watched, phase: str) -> None:
    """Also one that has no rights."""
    seen: list[Any] = []

    def look(stopped: Watched) -> None:
        stopped.watcher.execute("set role pg_database_owner")
        stopped.watcher.execute("set role pg_signal_backend")
        seen.append(stopped.shown())
        stopped.watcher.execute("reset role")
        stopped.watcher.execute("select pg_terminate_backend(%s)", [stopped.pid])

    with psycopg.connect(watched.interface.dsn, autocommit=True) as connection:
        interface = type(watched.interface)(watched.interface.dsn, connection)  # type: ignore[call-arg]
        interface.anonymize("patients", 4)
        with (
            Watched(interface, watched.watcher).interrupting(phase, look),
            pytest.raises(Exception, match=r".+"),
        ):
            interface.anonymize("patients", 3)
    assert len(seen) == 1
    assert seen[0].startswith(f"kanon: {phase}")


def test_the_memory_budget_refuses_before_anything_is_built(watched: Watched) -> None:
    from kanon_pg.errors import MemoryExceeded

    interface = watched.interface
    interface.connection.execute(
        "create table many as select i as a, i as b from generate_series(1, 30000) as i"
    )
    before = everything(watched.watcher)
    interface.connection.execute("set kanon.memory_budget = '1MB'")
    with pytest.raises(MemoryExceeded, match="memory budget") as raised:
        interface.anonymize("many", 2)
    assert raised.value.hint is not None
    assert "kanon.memory_budget" in raised.value.hint
    assert everything(watched.watcher) == before
    interface.connection.execute("reset kanon.memory_budget")
    assert interface.anonymize("many", 2).rows == 30000
    interface.drop("many")
    interface.connection.execute("drop table many")
