"""Solve what is asked until nobody asks any more: the worker process.

The worker never outlives its parent, never outgrows its memory budget, and never sends a traceback or a
value, only what `kanon_pg.errors` can carry.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import kanon_pg
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.request import SolveOutcome, SolveRequest
from kanon_pg.errors import KanonError, MemoryExceeded, SolverError, SolverUnavailable
from kanon_pg.runner.cache import compiled_mark
from kanon_pg.runner.limits import limited_memory, more_memory
from kanon_pg.runner.messages import Message, attachment, receive, send

PROGRESS_SECONDS = 0.1
"""Shortest time between two messages about the same phase."""

Progress = Callable[[str, float | None], None]
Solve = Callable[[PackedRowTypes, SolveRequest, Progress], SolveOutcome]

_PR_SET_PDEATHSIG = 1


def main(
    *,
    channel: int,
    parent: int,
    solver: str,
    warm_up: str,
    idle_seconds: float,
    temporary_folder: str | None,
) -> None:
    """Serve the parent until it closes its end of the channel or has been silent for too long.

    Parameters
    ----------
    channel : int
        Descriptor of this end of the pair.
    parent : int
        Process id of the parent.
    solver : str
        Module whose function ``solve`` is called.
    warm_up : str
        Module whose function ``warm_up`` compiles the solvers.
    idle_seconds : float
        How long to wait for a job.
    temporary_folder : str or None
        Folder to remove at the end.
    """
    _settle()
    try:
        with socket.socket(fileno=channel) as connection:
            send(connection, "ready", {})
            with suppress(Exception):  # it is tried again for the job, whose answer can tell
                _load(solver)
            fit = True
            while fit and (job := _next_job(connection, idle_seconds)) is not None:
                fit = _serve(job, connection, warm_up if job.kind == "compile" else solver, parent)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone, and nobody else is interested
    finally:
        if temporary_folder is not None:
            shutil.rmtree(temporary_folder, ignore_errors=True)


def _settle() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold the data
    with suppress(OSError):  # some sandboxes have no such file
        Path("/proc/self/oom_score_adj").write_text("1000")


@contextmanager
def _dies_with(parent: int) -> Iterator[None]:
    """End this process within the block as soon as the parent ends, whatever native code is doing.

    Between jobs the closed channel tells the same, and leaves time to remove the temporary folder.

    The signal is not SIGKILL: where PostgreSQL's postmaster is process 1 (in containers), it inherits the
    orphaned worker and takes any end but status 0 or 1 for the crash of a backend, upon which it restarts
    all sessions. C's ``_exit``, taken as the handler, is called with the number of the signal: SIGHUP is 1.
    """
    libc = ctypes.CDLL(None)
    libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
    libc.signal.restype = ctypes.c_void_p
    libc.signal(signal.SIGHUP, ctypes.cast(libc._exit, ctypes.c_void_p))
    libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGHUP))
    if os.getppid() != parent:
        os._exit(1)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(0))


def _load(solver: str) -> Solve:
    solve: Solve = importlib.import_module(solver).solve
    return solve


def _next_job(connection: socket.socket, idle_seconds: float) -> Message | None:
    poller = select.poll()
    poller.register(connection, select.POLLIN)
    return receive(connection) if poller.poll(idle_seconds * 1000) else None


def _serve(job: Message, connection: socket.socket, module: str, parent: int) -> bool:
    """Do one job; return whether this process is fit for another one."""
    try:
        with job, _dies_with(parent):
            if job.kind == "compile":
                _compile(module, job.fields["kernels"])
                outcome = None
            else:
                outcome = _solve(job, module, _Reporter(connection))
        _send_outcome(connection, outcome)
        return True
    except (BrokenPipeError, ConnectionResetError):
        return False
    except KanonError as error:
        # What is installed may change; what this process has loaded does not.
        fit = not isinstance(error, SolverUnavailable)
        _send_error(connection, "refused" if fit else "failed", error)
        return fit
    except Exception as error:
        # Half-made modules or caches may be left behind, above all where memory ran out.
        _send_error(connection, "failed", _harmless(error, job.fields["memory_bytes"]))
        return False


def _solve(job: Message, solver: str, progress: Progress) -> SolveOutcome:
    try:
        solve = _load(solver)
    except ImportError as error:
        raise SolverUnavailable(
            "The solvers cannot be loaded.",
            detail=f"Importing {error.name or 'a library'} failed.",
            hint="Install kanon_pg's dependencies for the same Python version, readable to this user.",
        ) from error
    with limited_memory(job.fields["memory_bytes"]):
        text, *buffers = job.map_parts()
        header, request = json.loads(bytes(text))
        row_types = PackedRowTypes.from_buffers(header, buffers)
        return solve(row_types, SolveRequest.from_json(request), progress)


def _compile(warm_up: str, kernels: str) -> None:
    importlib.import_module(warm_up).warm_up(kernels)
    compiled_mark(Path(os.environ["NUMBA_CACHE_DIR"]), kernels).touch(mode=0o600)


def _send_outcome(connection: socket.socket, outcome: SolveOutcome | None) -> None:
    if outcome is None:
        send(connection, "compiled", {})
        return
    text = json.dumps(outcome.to_json()).encode()
    with attachment([text, *outcome.buffers()]) as attached:
        send(connection, "solved", {}, attached)


class _Reporter:
    """Sends the progress on, but not more often than anyone can read it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._phase: str | None = None
        self._next = 0.0

    def __call__(self, phase: str, share: float | None = None) -> None:
        now = time.monotonic()
        if phase != self._phase or now >= self._next:
            self._phase, self._next = phase, now + PROGRESS_SECONDS
            send(self._connection, "progress", {"phase": phase, "share": share})


def _send_error(connection: socket.socket, kind: str, error: KanonError) -> None:
    fields = {
        "sqlstate": error.sqlstate,
        "message": error.message,
        "detail": error.detail,
        "hint": error.hint,
    }
    send(connection, kind, fields)


def _harmless(error: Exception, memory_bytes: int) -> KanonError:
    """Return an error that says what happened without the text of `error`, which could quote a value."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return MemoryExceeded("The solver needs more memory than its budget.", hint=more_memory(memory_bytes))
    return SolverError(
        f"The solver failed with an internal error ({type(error).__name__}).",
        detail=_place(error),
        hint="This is a defect of kanon_pg or of one of its libraries; please report it.",
    )


def _place(error: Exception) -> str | None:
    """Return the innermost line of this package that the error passed."""
    package = Path(kanon_pg.__file__).parent
    places = [
        f"{Path(frame.f_code.co_filename).relative_to(package)}, line {line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if Path(frame.f_code.co_filename).is_relative_to(package)
    ]
    return places[-1] if places else None
