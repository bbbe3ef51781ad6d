"""Have the ledgers of queries kept in a worker process: the caller's side.

The worker reads and writes the ledger's files and compares sets of people with array libraries that a
PostgreSQL backend must not load. This module imports no third-party library.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kanon_pg.errors import LedgerError, LedgerUnavailable
from kanon_pg.runner import launch
from kanon_pg.runner.limits import default_memory_budget, more_free_memory
from kanon_pg.runner.messages import Message
from kanon_pg.runner.session import Caller, Job, Session, WorkerKind, parsed

Found = TypeVar("Found")

_MAX_ANSWER_BYTES = 1024 * 1024 * 1024
_MEMORY_SECONDS = 1.0


def _start() -> launch.Worker:
    return launch.start_ledger()


_ANSWERS = {
    "create": "created",
    "state": "state",
    "partition": "partition",
    "decide": "decided",
    "verify": "verified",
    "log": "log",
}

ledger_session = Session(
    _start, WorkerKind("ledger", LedgerError, LedgerUnavailable, _ANSWERS, more_free_memory)
)


@dataclass(slots=True)
class LedgerRequest:
    """A request to the worker, with bulk data beside it.

    Parameters
    ----------
    fields : mapping
        JSON values.
    parts : list of bytes
        Bulk data, referred to in `fields` by what `attach` returned.
    """

    fields: dict[str, Any]
    parts: list[bytes] = field(default_factory=list)

    def attach(self, *data: bytes) -> list[int]:
        """Add bulk data; return its numbers."""
        start = len(self.parts)
        self.parts.extend(data)
        return list(range(start, start + len(data)))


def create_ledger(parent: str, names: Sequence[str], checkpoint: Callable[[], None]) -> str:
    """Have the files of a new ledger made; return its name.

    Parameters
    ----------
    parent : str
        Folder of the ledgers of this database.
    names : sequence of str
        Those of ledgers that the database knows; others that were never used are removed.
    checkpoint : callable
        As in `kanon_pg.runner.session.Caller`.

    Raises
    ------
    KanonError
        They cannot be made.
    """
    request = LedgerRequest({"parent": parent, "names": list(names)})
    return _ask_worker("create", request, checkpoint, lambda answer: str(answer.fields["name"]))


def states(
    parent: str,
    epoch: str,
    names: Sequence[str],
    checkpoint: Callable[[], None],
    *,
    renew: bool = False,
) -> list[Mapping[str, Any]]:
    """Return for some ledgers the ``seed`` of hashes, and what the worker has cached.

    That is the ``state`` of the relation, or None, and, in that state, ``sets``: keys of statements whose
    sets need not be sent again, and ``stored``: statements of partitions that can be loaded.

    Parameters
    ----------
    parent : str
        Folder of the ledgers of this database.
    epoch : str
        As in `kanon_pg.queries.ledgers.LedgerContext`.
    names : sequence of str
        The ledgers'.
    checkpoint : callable
        As in `kanon_pg.runner.session.Caller`.
    renew : bool
        Whether the relations are not in the states that the worker has, so that it should take newer ones
        that other sessions stored.

    Raises
    ------
    KanonError
        A ledger cannot be used.
    """
    request = LedgerRequest({"parent": parent, "epoch": epoch, "names": list(names), "renew": renew})
    return _ask_worker("state", request, checkpoint, _long_answer(checkpoint))


def load_partition(
    parent: str,
    epoch: str,
    name: str,
    partition: Mapping[str, str],
    checkpoint: Callable[[], None],
) -> bool:
    """Have the worker load a partition that another session stored; return whether it has it now.

    Parameters
    ----------
    parent, epoch, checkpoint
        As for `states`.
    name : str
        The ledger's.
    partition : mapping
        ``state``, as `states` returned it; ``statement``, one of those stored in it; ``key``.

    Raises
    ------
    KanonError
        The ledger cannot be used.
    """
    request = LedgerRequest({"parent": parent, "epoch": epoch, "name": name, **partition})
    return _ask_worker("partition", request, checkpoint, lambda answer: answer.fields["loaded"] is True)


@dataclass(frozen=True, slots=True)
class LedgerMark:
    """How far a ledger's journal was written: what has to stand in the file from then on.

    Parameters
    ----------
    name : str
        The ledger's.
    records, length : int
        Entries and bytes.
    digest : str
        Chain digest of everything up to there, in hexadecimal.
    """

    name: str
    records: int
    length: int
    digest: str


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """Whether an answer may leave, and the journals after it was recorded."""

    allowed: bool
    marks: tuple[LedgerMark, ...]


def decide(request: LedgerRequest, checkpoint: Callable[[], None]) -> RecordedDecision:
    """Have a query decided and recorded.

    Raises
    ------
    KanonError
        Nothing may leave; whether something was recorded is not known.
    """

    def read(answer: Message) -> RecordedDecision:
        marks = tuple(LedgerMark(name, *mark) for name, mark in answer.fields["marks"].items())
        return RecordedDecision(answer.fields["allowed"] is True, marks)

    return _ask_worker("decide", request, checkpoint, read)


def read_log(parent: str, names: Sequence[str], checkpoint: Callable[[], None]) -> list[list[Any]]:
    """Return the recorded queries: name of the ledger, time, analyst, query, verdict, reason.

    Raises
    ------
    KanonError
        A ledger cannot be read.
    """
    request = LedgerRequest({"parent": parent, "names": list(names)})
    return _ask_worker("log", request, checkpoint, _long_answer(checkpoint))


def verify(
    parent: str, ledgers: Sequence[Mapping[str, Any]], checkpoint: Callable[[], None]
) -> list[Mapping[str, Any]]:
    """Have whole ledgers read; return what was found for each.

    That is the ``error``, or None, the ``description`` of its rows, or None, and ``percent_used``: how much
    of what answers can be compared by is taken, None if that is not known.

    Parameters
    ----------
    ledgers : sequence of mapping
        ``name`` and ``mark``: what the database says of the journal, or None.

    Raises
    ------
    KanonError
        The worker failed.
    """
    request = LedgerRequest({"parent": parent, "ledgers": list(ledgers)})
    return _ask_worker("verify", request, checkpoint, _long_answer(checkpoint))


def _long_answer(checkpoint: Callable[[], None]) -> Callable[[Message], list[Any]]:
    """Return what reads an answer that has no room in a message's fields: a list, in the only part."""

    def read(answer: Message) -> list[Any]:
        (text,) = answer.copy_parts(_MAX_ANSWER_BYTES, tick=checkpoint)
        return list(json.loads(text))

    return read


class _Memory:
    """What a job may use: what was available at most a second ago, because a query asks several times."""

    def __init__(self) -> None:
        self._read_at, self._bytes = -math.inf, 0

    def bytes(self) -> int:
        now = time.monotonic()
        if now - self._read_at > _MEMORY_SECONDS:
            self._read_at, self._bytes = now, default_memory_budget()
        return self._bytes


_memory = _Memory()


def _ask_worker(
    kind: str, request: LedgerRequest, checkpoint: Callable[[], None], read: Callable[[Message], Found]
) -> Found:
    job = Job(
        kind, [json.dumps(request.fields).encode(), *request.parts], Caller(_memory.bytes(), checkpoint)
    )
    return ledger_session.done(job, lambda answer: parsed(lambda: read(answer)))
