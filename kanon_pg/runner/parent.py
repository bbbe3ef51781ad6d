"""Solve in a worker process while staying attentive to the caller: the side that asks.

Solvers are native code: they may not be stoppable, may hold the interpreter's lock for minutes, and when
memory runs out in one of their threads they abort. In a PostgreSQL backend that would mean an uncancellable
query, or the restart of the whole server. Here it is the end of a worker and one clean error.

This module imports the standard library alone, starts no thread and sets no signal handler.
"""

from __future__ import annotations

import json
import select
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from kanon_pg.core.packed import ITEM_BYTES, PackedRowTypes
from kanon_pg.core.request import SolveOutcome, SolveRequest
from kanon_pg.errors import KanonError, MemoryExceeded, SolverError, SolverUnavailable, by_sqlstate
from kanon_pg.runner import launch
from kanon_pg.runner.cache import compiled_mark
from kanon_pg.runner.limits import more_memory
from kanon_pg.runner.messages import Message, MessageError, attachment, receive, send

CHECKPOINT_MILLISECONDS = 50
"""Longest silence after which the caller's checkpoint is called again."""

Parsed = TypeVar("Parsed")

_EXIT_SECONDS = 2.0
_MAX_OUTCOME_BYTES = 1024 * 1024
_REPORT = "This is a defect of kanon_pg or of one of its libraries; please report it."


class _Session(threading.local):
    """The worker of this thread; a PostgreSQL backend has one thread."""

    worker: launch.Worker | None = None


_session = _Session()


def start_worker() -> None:
    """Start this session's worker if there is none, without waiting for it.

    It loads the solvers, some tenths of a second, while the caller does something else.

    Raises
    ------
    SolverUnavailable
        The worker cannot be started.
    """
    _current_worker()


def stop_worker() -> None:
    """End this session's worker if there is one; it is gone when this returns."""
    worker, _session.worker = _session.worker, None
    if worker is not None:
        worker.end()


def worker_pid() -> int | None:
    """Return the process id of this session's worker, None if there is none."""
    worker = _session.worker
    return worker.process.pid if worker is not None and worker.is_usable() else None


def solve_in_child(
    row_types: PackedRowTypes,
    request: SolveRequest,
    *,
    checkpoint: Callable[[], None],
    progress: Callable[[str, float | None], None],
    memory_bytes: int,
) -> SolveOutcome:
    """Solve in this session's worker, which is started if there is none and kept for the next call.

    Parameters
    ----------
    row_types : PackedRowTypes
        What to anonymize.
    request : SolveRequest
        How.
    checkpoint : callable
        Called at least ten times a second. What it raises ends the worker and is raised on.
    progress : callable
        Called with the phase and the share done in [0, 1] or None, as the solver reports them. What it
        raises ends the worker and is raised on.
    memory_bytes : int
        Memory that the solver may use, the row types included.

    Returns
    -------
    SolveOutcome
        What the solver answered.

    Raises
    ------
    MemoryExceeded
        The solver needed more, or the machine ran out of memory.
    SolverUnavailable
        The worker or its libraries cannot be started.
    SolverError
        The solver failed.
    KanonError
        Whatever the solver refused, as the same class.
    """
    parts = [json.dumps([row_types.header(), request.to_json()]).encode(), *row_types.buffers()]
    if sum(map(len, parts)) > memory_bytes:
        raise MemoryExceeded("The row types alone exceed the memory budget.", hint=more_memory(memory_bytes))
    job = _Job("solve", parts, memory_bytes, checkpoint, progress)
    return _done(job, lambda answer: _solved(answer, row_types, checkpoint))


def compile_solvers(
    kernels: str,
    *,
    checkpoint: Callable[[], None],
    progress: Callable[[str, float | None], None],
    memory_bytes: int,
) -> None:
    """Compile solvers for this user unless that was done before; takes up to a minute then.

    Parameters
    ----------
    kernels : str
        A name of `kanon_pg.core.request.KERNELS`.
    checkpoint, progress, memory_bytes
        As in `solve_in_child`.

    Raises
    ------
    KanonError
        As in `solve_in_child`.
    """
    if not solvers_are_compiled(kernels):
        _done(_Job("compile", [b""], memory_bytes, checkpoint, progress, kernels), _compiled)


def solvers_are_compiled(kernels: str) -> bool:
    """Whether `compile_solvers` would return at once."""
    return compiled_mark(_current_worker().code_folder, kernels).exists()


@dataclass(frozen=True, slots=True)
class _Job:
    kind: str
    parts: Sequence[bytes]
    memory_bytes: int
    checkpoint: Callable[[], None]
    progress: Callable[[str, float | None], None]
    kernels: str = ""


def _done(job: _Job, read: Callable[[Message], Parsed]) -> Parsed:
    """Have a job done and return what `read` makes of the answer; nothing is left behind on failure."""
    try:
        answer = _ask(job)
        if answer is None:  # it had been idle, and ended itself just when it was asked
            answer = _ask(job)
        if answer is None:
            raise SolverError("The solver's process ended without an answer.", hint=_REPORT)
        with answer:
            result = _error_in(answer) or read(answer)
    except MessageError as error:
        stop_worker()
        raise SolverError(
            "The solver's process gave an answer that cannot be understood.", detail=str(error), hint=_REPORT
        ) from error
    except BaseException:
        stop_worker()
        raise
    if answer.kind == "failed":
        stop_worker()
    if isinstance(result, KanonError):
        raise result
    return result


def _current_worker() -> launch.Worker:
    worker = _session.worker
    if worker is None or not worker.is_usable():
        stop_worker()
        worker = _session.worker = launch.start_process()
    return worker


def _ask(job: _Job) -> Message | None:
    """Return the worker's last word on the job; None if it retired before it began."""
    worker = _current_worker()
    with attachment(job.parts, tick=job.checkpoint) as attached:
        try:
            fields = {"memory_bytes": job.memory_bytes, "kernels": job.kernels}
            send(worker.channel, job.kind, fields, attached)
        except (BrokenPipeError, ConnectionResetError):
            _check_it_retired(worker, job.memory_bytes)
            return None
    poller = select.poll()
    poller.register(worker.channel, select.POLLIN)
    while True:
        arrived = poller.poll(CHECKPOINT_MILLISECONDS)
        job.checkpoint()
        if not arrived:
            continue
        message = receive(worker.channel)
        if message is None:
            _check_it_retired(worker, job.memory_bytes)
            return None
        if message.kind == "ready" and not message.sizes:
            worker.ready = True
        elif message.kind == "progress":
            with message:  # closes what such a message has no reason to carry
                job.progress(*_phase_and_share(message.fields))
        else:
            return message


def _phase_and_share(fields: dict[str, Any]) -> tuple[str, float | None]:
    phase, share = fields.get("phase"), fields.get("share")
    if not isinstance(phase, str) or not isinstance(share, float | int | None):
        raise MessageError("the progress has fields of wrong types")
    return phase, share


def _check_it_retired(worker: launch.Worker, memory_bytes: int) -> None:
    """Wait for the end of a worker that closed its channel; return if it meant to, else raise why."""
    try:
        status = worker.process.wait(_EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise MessageError("it closed the channel and went on") from None
    if status == 0:
        return
    if status in (-signal.SIGKILL, -signal.SIGABRT):
        raise MemoryExceeded(
            "The solver's process was ended, most likely because memory ran out.",
            detail=f"It received {signal.Signals(-status).name}.",
            hint=more_memory(memory_bytes),
        )
    if not worker.ready:
        raise SolverUnavailable(
            "The solver's process could not load this package.",
            detail=f"It ended with status {status}.",
            hint="See that the package and its dependencies are readable to the user that runs this process.",
        )
    cause = f"received {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    raise SolverError("The solver's process ended without an answer.", detail=f"It {cause}.", hint=_REPORT)


def _error_in(answer: Message) -> KanonError | None:
    if answer.kind in ("refused", "failed"):
        return _parsed(lambda: _error(**answer.fields))
    return None


def _solved(answer: Message, row_types: PackedRowTypes, checkpoint: Callable[[], None]) -> SolveOutcome:
    if answer.kind != "solved":
        raise MessageError("the message is of an unknown kind")
    expected = len(row_types) * ITEM_BYTES
    parts = answer.copy_parts(_MAX_OUTCOME_BYTES + 5 * expected, tick=checkpoint)
    if len(parts) < 2 or len(parts[1]) != expected:
        raise MessageError("the patterns do not match the row types")
    return _parsed(lambda: SolveOutcome.from_json(json.loads(parts[0]), parts[1:]))


def _compiled(answer: Message) -> None:
    if answer.kind != "compiled":
        raise MessageError("the message is of an unknown kind")


def _parsed(parse: Callable[[], Parsed]) -> Parsed:
    try:
        return parse()
    except (KeyError, TypeError, ValueError) as error:
        raise MessageError(f"the answer has wrong fields ({type(error).__name__})") from error


def _error(sqlstate: str, message: str, detail: str | None, hint: str | None) -> KanonError:
    return by_sqlstate(sqlstate)(message, detail=detail, hint=hint)
