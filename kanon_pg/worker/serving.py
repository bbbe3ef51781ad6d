"""The loop of every worker process: one job after the other until the channel is closed.

A worker never outlives its parent, never outgrows its memory budget, and never sends a traceback or a
value, only what `kanon_pg.errors` can carry.
"""

from __future__ import annotations

import errno
import resource
import select
import signal
import socket
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import kanon_pg
from kanon_pg.errors import DEFECT, KanonError, MemoryExceeded, SolverError, SolverUnavailable
from kanon_pg.runner.limits import more_memory
from kanon_pg.runner.messages import Message, attachment, receive, send
from kanon_pg.worker.child_processes import ending_with


@dataclass(frozen=True, slots=True)
class Reply:
    """What a job came to."""

    kind: str
    """What the message is."""
    parts: Sequence[bytes | memoryview] = ()
    """Bulk data."""


Work: TypeAlias = Callable[[Message, socket.socket], Reply]
"""Does a job; what it raises of this package's errors is sent to the parent as it is."""


def serve(
    work: Work, prepare: Callable[[], object], connection: socket.socket, parent: int, idle_seconds: float
) -> None:
    """Prepare, then do jobs until the parent closes its end of the channel or is silent for too long."""
    with suppress(BrokenPipeError, ConnectionResetError):  # the parent has ended, nobody else reads answers
        send(connection, "ready", {})
        with suppress(Exception):  # it is tried again for the job, whose answer can report it
            prepare()
        fit = True
        while fit and (job := _next_job(connection, idle_seconds)) is not None:
            fit = _serve(work, job, connection, parent)


def ignore_signals() -> None:
    """Make this process ignore what is meant for its parent, and the first to go when memory is short."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores; it ends what this process forks
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold the data
    with suppress(OSError):  # some sandboxes have no such file
        Path("/proc/self/oom_score_adj").write_text("1000")


def _next_job(connection: socket.socket, idle_seconds: float) -> Message | None:
    poller = select.poll()
    poller.register(connection, select.POLLIN)
    return receive(connection) if poller.poll(idle_seconds * 1000) else None


def _serve(work: Work, job: Message, connection: socket.socket, parent: int) -> bool:
    """Do one job; return whether this process is fit for another one."""
    try:
        with job, ending_with(parent):  # between jobs the closed channel ends it
            reply = work(job, connection)
        _send_reply(connection, reply)
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
        _send_error(connection, "failed", _without_its_text(error, job.fields["memory_bytes"]))
        return False


def _send_reply(connection: socket.socket, reply: Reply) -> None:
    if not reply.parts:
        send(connection, reply.kind, {})
        return
    with attachment(reply.parts) as attached:
        send(connection, reply.kind, {}, attached)


def _send_error(connection: socket.socket, kind: str, error: KanonError) -> None:
    fields = {
        "sqlstate": error.sqlstate,
        "message": error.message,
        "detail": error.detail,
        "hint": error.hint,
    }
    send(connection, kind, fields)


def _without_its_text(error: Exception, memory_bytes: int) -> KanonError:
    """Return an error that says what happened without the text of `error`, which could quote a value."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return MemoryExceeded("The solver needs more memory than its budget.", hint=more_memory(memory_bytes))
    return SolverError(
        f"The solver failed with an internal error ({type(error).__name__}).",
        detail=_place(error),
        hint=DEFECT,
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
