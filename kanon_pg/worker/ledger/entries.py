"""One record of the journal: who asked what, when, and the people behind what was told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.answers import Answer

Verdict = Literal["answered", "withheld"]

_HEAD_BYTES = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """A question that was answered or withheld.

    Parameters
    ----------
    time : float
        Seconds since 1970, by the server's clock.
    asker : str
        Role that asked.
    question : str
        The canonical question. Contains the asker's constants, hence nothing of the data.
    verdict : {'answered', 'withheld'}
        What happened.
    reason : str
        Why it was withheld, for the owner; empty if answered.
    answer : Answer or None
        What was told; None if nothing was.
    """

    time: float
    asker: str
    question: str
    verdict: Verdict
    reason: str = ""
    answer: Answer | None = None

    def to_bytes(self, is_known: Callable[[bytes], bool] = lambda digest: False) -> bytes:
        """Return the record: a JSON head with its length before it, then the sets (see `Answer.to_bytes`)."""
        head = json.dumps([self.time, self.asker, self.question, self.verdict, self.reason]).encode()
        return (
            len(head).to_bytes(_HEAD_BYTES) + head + (self.answer.to_bytes(is_known) if self.answer else b"")
        )

    @classmethod
    def from_bytes(cls, data: bytes, find: Callable[[bytes], BitMap | None] = lambda digest: None) -> Entry:
        """Rebuild what `to_bytes` wrote (see `Answer.from_bytes`).

        Raises
        ------
        LedgerError
            The bytes are no entry.
        """
        end = _HEAD_BYTES + int.from_bytes(data[:_HEAD_BYTES])
        try:
            time, asker, question, verdict, reason = json.loads(data[_HEAD_BYTES:end])
        except ValueError as error:
            raise LedgerError("A record of the ledger cannot be read.") from error
        if verdict not in {"answered", "withheld"} or (verdict == "answered") != (len(data) > end):
            raise LedgerError("A record of the ledger contradicts itself.")
        answer = Answer.from_bytes(data[end:], find) if verdict == "answered" else None
        return cls(time, asker, question, verdict, reason, answer)
