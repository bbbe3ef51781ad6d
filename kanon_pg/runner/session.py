"""One worker per thread, given one job at a time by a caller that keeps checking for cancels.

What a job is, and what its answer means, the caller says (`parent`). This module imports no third-party
library, starts no thread and sets no signal handler.
"""

from __future__ import annotations

import select
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kanon_pg.errors import (
    DEFECT,
    KanonError,
    MemoryExceeded,
    SolverError,
    SolverUnavailable,
    by_sqlstate,
)
from kanon_pg.runner.launch import LaunchError, Worker
from kanon_pg.runner.messages import (
    Attachment,
    Message,
    MessageError,
    SharingError,
    attachment,
    receive,
    send,
)

CHECKPOINT_MILLISECONDS = 50
"""Longest silence after which the caller's checkpoint is called again."""

if TYPE_CHECKING:
    from kanon_pg.db.protocol import Database

Parsed = TypeVar("Parsed")

_ANSWERS = {
    "solve": "solved",
    "audit": "audited",
    "group": "grouped",
    "certify": "certified",
    "compile": "compiled",
}
"""What an answer is called, by what its request is called."""

_EXIT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Caller:
    """Who waits for a worker, and how much memory the worker may use."""

    memory_bytes: int
    """Memory that the worker may use, the bulk data included."""
    checkpoint: Callable[[], None]
    """Called at least ten times a second. What it raises ends the worker and is raised on."""
    progress: Callable[[str, float | None], None] = lambda phase, share: None
    """Called with the phase and the share done in [0, 1] or None, as the worker reports them. What it raises
    ends the worker and is raised on."""

    @classmethod
    def of(cls, db: Database, memory_bytes: int) -> Self:
        """Return the caller that a database connection serves."""
        return cls(memory_bytes, db.checkpoint, db.progress)


@dataclass(frozen=True, slots=True)
class Job:
    """One request to a worker."""

    kind: str
    """The request."""
    parts: Sequence[bytes] | Attachment
    """Bulk data, at least one part; or where it was put before."""
    caller: Caller
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Further short JSON values."""


class Session(threading.local):
    """The worker of one kind of this thread; a PostgreSQL backend has one thread.

    Errors call it by its name; `more_memory` returns the hint for a job that needed more than so many bytes.
    """

    worker: Worker | None = None

    def __init__(self, start: Callable[..., Worker], name: str, more_memory: Callable[[int], str]) -> None:
        self._start = start
        self._name = name
        self._more_memory = more_memory

    def start(self, **chosen: str) -> Worker:
        """Return the worker, which is started if there is none, without waiting for it.

        It loads its libraries, some tenths of a second, while the caller does something else.

        Parameters
        ----------
        **chosen
            Given to what starts a worker.

        Raises
        ------
        KanonError
            The worker cannot be started.
        """
        worker = self.worker
        if worker is None or not worker.is_usable():
            self.stop()
            try:
                worker = self.worker = self._start(**chosen)
            except LaunchError as error:
                raise SolverUnavailable(error.message, detail=error.detail, hint=error.hint) from error
        return worker

    @contextmanager
    def attached(self, parts: Sequence[bytes], tick: Callable[[], None]) -> Iterator[Attachment]:
        """Copy parts to where the worker reads them; see `kanon_pg.runner.messages.attachment`.

        Raises
        ------
        MemoryExceeded
            The system has no memory for them.
        KanonError
            The system opens no more files.
        """
        try:
            with attachment(parts, tick=tick) as made:
                del parts  # nor does this frame keep what was copied
                yield made
        except SharingError as error:
            raise SolverError(
                f"No memory could be shared with the {self._name}'s process.", detail=error.strerror
            ) from error

    def stop(self) -> None:
        """End the worker if there is one; it is gone when this returns."""
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.end()

    def pid(self) -> int | None:
        """Return the process id of the worker, None if there is none."""
        worker = self.worker
        return worker.process.pid if worker is not None and worker.is_usable() else None

    def done(self, job: Job, read: Callable[[Message], Parsed]) -> Parsed:
        """Have a job done and return what `read` makes of the answer; nothing is left behind on failure.

        Raises
        ------
        MemoryExceeded
            The worker needed more memory, or the machine ran out of it.
        KanonError
            The worker failed or cannot be started; what it refused, as the same class.
        """
        try:
            answer = self._ask(job)
            if answer is None:  # it had been idle, and ended itself just before this request
                answer = self._ask(job)
            if answer is None:
                raise SolverError(f"The {self._name}'s process ended without an answer.", hint=DEFECT)
            with answer:
                result = _error_in(answer) or self._result(job, answer, read)
        except MessageError as error:
            self.stop()
            raise SolverError(
                f"The {self._name}'s process gave an answer that cannot be understood.",
                detail=str(error),
                hint=DEFECT,
            ) from error
        except BaseException:
            self.stop()
            raise
        if answer.kind == "failed":
            self.stop()
        if isinstance(result, KanonError):
            raise result
        return result

    def _result(self, job: Job, answer: Message, read: Callable[[Message], Parsed]) -> Parsed:
        if answer.kind != _ANSWERS[job.kind]:
            raise MessageError("the message is of an unknown kind")
        return read(answer)

    def _parts(self, job: Job) -> AbstractContextManager[Attachment]:
        if isinstance(job.parts, Attachment):
            return nullcontext(job.parts)
        return self.attached(job.parts, job.caller.checkpoint)

    def _ask(self, job: Job) -> Message | None:
        """Return the worker's last word on the job; None if it retired before it began."""
        worker = self.start()
        with self._parts(job) as attached:
            try:
                send(
                    worker.channel,
                    job.kind,
                    {"memory_bytes": job.caller.memory_bytes, **job.fields},
                    attached,
                )
            except (BrokenPipeError, ConnectionResetError):
                self._require_clean_exit(worker, job.caller.memory_bytes)
                return None
        poller = select.poll()
        poller.register(worker.channel, select.POLLIN)
        while True:
            arrived = poller.poll(CHECKPOINT_MILLISECONDS)
            job.caller.checkpoint()
            if not arrived:
                continue
            message = receive(worker.channel)
            if message is None:
                self._require_clean_exit(worker, job.caller.memory_bytes)
                return None
            if message.kind == "ready" and not message.sizes:
                worker.ready = True
            elif message.kind == "progress":
                with message:  # closes what such a message has no reason to carry
                    job.caller.progress(*_phase_and_share(message.fields))
            else:
                return message

    def _require_clean_exit(self, worker: Worker, memory_bytes: int) -> None:
        """Wait for the end of a worker that closed its channel; return if it meant to, else raise why."""
        name = self._name
        try:
            status = worker.process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            raise MessageError("it closed the channel and went on") from None
        if status == 0:
            return
        if status in (-signal.SIGKILL, -signal.SIGABRT):
            raise MemoryExceeded(
                f"The {name}'s process was ended, most likely because memory ran out.",
                detail=f"It received {signal.Signals(-status).name}.",
                hint=self._more_memory(memory_bytes),
            )
        if not worker.ready:
            raise SolverUnavailable(
                f"The {name}'s process could not load this package.",
                detail=f"It ended with status {status}.",
                hint="See that the package and its dependencies are readable to the user that runs "
                "this process.",
            )
        cause = f"received {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        raise SolverError(
            f"The {name}'s process ended without an answer.", detail=f"It {cause}.", hint=DEFECT
        )


def parsed(parse: Callable[[], Parsed]) -> Parsed:
    """Return what `parse` makes of an answer; what wrong fields make it raise is a MessageError.

    Raises
    ------
    MessageError
        It raised what wrong fields of a message make it raise.
    """
    try:
        return parse()
    except (KeyError, TypeError, ValueError) as error:
        raise MessageError(f"the answer has wrong fields ({type(error).__name__})") from error


def _phase_and_share(fields: dict[str, Any]) -> tuple[str, float | None]:
    phase, share = fields.get("phase"), fields.get("share")
    if not isinstance(phase, str) or not isinstance(share, float | int | None):
        raise MessageError("the progress has fields of wrong types")
    return phase, share


def _error_in(answer: Message) -> KanonError | None:
    if answer.kind in ("refused", "failed"):
        return parsed(lambda: _error(**answer.fields))
    return None


def _error(sqlstate: str, message: str, detail: str | None, hint: str | None) -> KanonError:
    return by_sqlstate(sqlstate)(message, detail=detail, hint=hint)
