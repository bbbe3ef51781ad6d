"""The worker of a real PostgreSQL backend: cancel, timeout, termination, aborts, the end of the session."""

import os
import sysconfig
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

import kanon_pg
from tests.unit.runner.stub_caller import STUB_FOLDER, wait_for_end

PATH = [str(Path(kanon_pg.__file__).resolve().parents[1]), sysconfig.get_path("purelib"), STUB_FOLDER]

FUNCTION = """
create function public.run_stub(path text[], behaviour text, request jsonb = '{}') returns text[]
language plpython3u as $$
import json, sys
sys.path[:0] = [folder for folder in path if folder not in sys.path]
from kanon_pg.core.solving import SolveRequest
from kanon_pg.runner import launch, parent
from kanon_pg.runner.session import Caller
from stub_caller import small_table
launch.SOLVER = "stub_solver"
launch.SOLVER_LIBRARIES = ("numpy", "numba", "llvmlite", "stub_solver")
outcome = parent.solve_in_worker(
    small_table(),
    SolveRequest(k=5, method=behaviour, **json.loads(request)),
    Caller(
        2**30,
        checkpoint=lambda: plpy.execute("select 1"),
        progress=lambda phase, share: plpy.notice(f"{phase} {parent.solver_session.pid()}"),
    ),
)
imported = [name for name in ("numpy", "numba", "llvmlite") if name in sys.modules]
return [str(parent.solver_session.pid()), *outcome.notes, *imported]
$$
"""


class Backend:
    """A session whose backend has a worker with the stub solver."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection
        self.worker: int | None = None
        self.when_it_hangs: Callable[[], object] = lambda: None
        connection.add_notice_handler(self._on_notice)

    def run(self, behaviour: str, request: str = "{}") -> list[str]:
        query = "select public.run_stub(%s, %s, %s)"
        return self.connection.execute(query, (PATH, behaviour, request)).fetchone()[0]

    def _on_notice(self, notice: psycopg.errors.Diagnostic) -> None:
        phase, pid = notice.message_primary.split()
        assert phase == "hang"
        self.worker = int(pid)
        self.when_it_hangs()


@pytest.fixture
def backend(empty_connection):
    empty_connection.execute("create extension plpython3u")
    empty_connection.execute(FUNCTION)
    return Backend(empty_connection)


@pytest.fixture
def bystander(empty_dsn, backend):
    """Another session; it ends if the server has to restart."""
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        yield connection


def is_alive(connection: psycopg.Connection) -> bool:
    return connection.execute("select 1").fetchone() == (1,)


def test_one_worker_serves_the_session(backend):
    first, *facts = backend.run("say_pid")
    assert facts == [first, str(backend.connection.info.backend_pid)], (
        "and the backend imports no array library"
    )
    assert backend.run("say_pid")[0] == first


def test_cancel(backend, bystander):
    backend.when_it_hangs = backend.connection.cancel
    with pytest.raises(psycopg.errors.QueryCanceled):
        backend.run("hang")
    assert wait_for_end(backend.worker)
    assert backend.run("say_pid")[0] != str(backend.worker)
    assert is_alive(bystander)


def test_statement_timeout(backend):
    backend.run("say_pid")
    backend.connection.execute("set statement_timeout = '200ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        backend.run("hang")
    backend.connection.execute("reset statement_timeout")
    assert wait_for_end(backend.worker)
    backend.run("say_pid")


def test_terminated_while_solving(backend, bystander):
    pid = backend.connection.info.backend_pid
    backend.when_it_hangs = lambda: bystander.execute("select pg_terminate_backend(%s)", (pid,))
    with pytest.raises(psycopg.errors.AdminShutdown):
        backend.run("hang")
    assert wait_for_end(backend.worker)
    assert is_alive(bystander)


@pytest.mark.parametrize("name", ["SIGABRT", "SIGKILL", "SIGSEGV"])
def test_a_solver_that_crashes_harms_no_session(backend, bystander, name):
    with pytest.raises(psycopg.errors.ExternalRoutineException, match=name):
        backend.run("signalled", f'{{"patterns": ["{name}"]}}')
    assert is_alive(bystander)
    backend.run("say_pid")


def test_the_end_of_the_session_is_the_end_of_the_worker(backend):
    worker = int(backend.run("say_pid")[0])
    backend.connection.close()
    assert wait_for_end(worker)


def test_a_caught_cancel_leaves_no_worker(backend):
    """PL/pgSQL may catch the cancel; what it caught must be over all the same."""
    backend.when_it_hangs = backend.connection.cancel
    backend.connection.execute(
        "create function public.stubborn(path text[]) returns text language plpgsql as $$ begin "
        "perform public.run_stub(path, 'hang'); return 'finished'; "
        "exception when query_canceled then return 'caught'; end $$"
    )
    assert backend.connection.execute("select public.stubborn(%s)", (PATH,)).fetchone() == ("caught",)
    with pytest.raises(ProcessLookupError):
        os.kill(backend.worker, 0)
