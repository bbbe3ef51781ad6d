"""One record of the journal: who asked what, when, and the people behind what was told.

One decision at a time: catch up with what others recorded, check, record durably, then tell.

All of it happens within one turn on the journal of every protected relation that the question touches, taken
in one fixed order, so that no two sessions can overlook each other or wait for each other in a circle.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.answers import Answer, Population
from kanon_pg.worker.ledger.disclosure import Decision, Ledger, Reason
from kanon_pg.worker.ledger.journal import Journal, Mark, Turn
from kanon_pg.worker.ledger.rules import Budget, Outcome, Rules, standing

Verdict = Literal["answered", "withheld"]

_ENTRY_HEAD_BYTES = 4


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
            len(head).to_bytes(_ENTRY_HEAD_BYTES)
            + head
            + (self.answer.to_bytes(is_known) if self.answer else b"")
        )

    @classmethod
    def from_bytes(cls, data: bytes, find: Callable[[bytes], BitMap | None] = lambda digest: None) -> Entry:
        """Rebuild what `to_bytes` wrote (see `Answer.from_bytes`).

        Raises
        ------
        LedgerError
            The bytes are no entry.
        """
        end = _ENTRY_HEAD_BYTES + int.from_bytes(data[:_ENTRY_HEAD_BYTES])
        try:
            time, asker, question, verdict, reason = json.loads(data[_ENTRY_HEAD_BYTES:end])
        except ValueError as error:
            raise LedgerError("A record of the ledger cannot be read.") from error
        if verdict not in {"answered", "withheld"} or (verdict == "answered") != (len(data) > end):
            raise LedgerError("A record of the ledger contradicts itself.")
        answer = Answer.from_bytes(data[end:], find) if verdict == "answered" else None
        return cls(time, asker, question, verdict, reason, answer)


BUDGET: Reason = "budget"
"""Reason of a question that was not even checked; it does not count as a refusal."""

_CHECKPOINT_HEAD_BYTES = 8


@dataclass(frozen=True, slots=True)
class Question:
    """Who asks what, when.

    Parameters
    ----------
    time : float
        Seconds since 1970, by the server's clock.
    asker : str
        Role that asks.
    text : str
        The canonical question.
    """

    time: float
    asker: str
    text: str


class Keeper:
    """Journal and ledger of one protected relation, as one process sees them.

    Parameters
    ----------
    path : Path
        The relation's journal.
    rules : Rules
        What is asked of the ledger.
    key : bytes
        The relation's secret.
    per_asker, overall : Budget
        Limits for every asker, and for all askers together.
    anchor : Mark, optional
        As in `Journal`.
    checkpoint : bytes, optional
        What `to_bytes` returned earlier under the same rules; the journal is read from there.

    Raises
    ------
    LedgerError
        Journal or checkpoint cannot be used. A checkpoint can be left out: everything is in the journal.
    """

    def __init__(
        self,
        path: Path,
        rules: Rules,
        key: bytes,
        *,
        per_asker: Budget | None = None,
        overall: Budget | None = None,
        anchor: Mark | None = None,
        checkpoint: bytes | None = None,
    ) -> None:
        self.path = path
        self._per_asker = per_asker or Budget()
        self._overall = overall or Budget()
        self._outcomes: list[tuple[str, Outcome]] = []
        start = None
        self.ledger = Ledger(rules, key)
        if checkpoint is not None:
            start, self._outcomes, body = _opened(checkpoint)
            self.ledger = Ledger.from_bytes(body, rules, key)
        self.journal = Journal(path, start=start, anchor=anchor)

    def to_bytes(self) -> bytes:
        """Return a checkpoint of everything read so far. It contains the secret."""
        mark = self.journal.mark
        outcomes = [(asker, outcome.time, outcome.answered) for asker, outcome in self._outcomes]
        head = json.dumps([mark.records, mark.length, mark.digest.hex(), outcomes]).encode()
        return len(head).to_bytes(_CHECKPOINT_HEAD_BYTES) + head + self.ledger.to_bytes()

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def _catch_up(self, turn: Turn, population: Population) -> None:
        try:
            for payload in turn.news():
                entry = Entry.from_bytes(payload, self.ledger.find)
                self._count(entry)
                if entry.answer is not None:
                    self.ledger.replay(entry.answer, population)
        except BaseException:
            # a ledger that missed part of the history must not decide again
            self.close()
            raise

    def _count(self, entry: Entry) -> None:
        if entry.reason != BUDGET:
            self._outcomes.append((entry.asker, Outcome(entry.time, entry.verdict == "answered")))

    def _may_ask(self, question: Question) -> bool:
        by_asker = defaultdict(list)
        for asker, outcome in self._outcomes:
            by_asker[asker].append(outcome)
        everybody = [outcome for _, outcome in self._outcomes]
        return (
            standing(by_asker[question.asker], self._per_asker, question.time).may_ask
            and standing(everybody, self._overall, question.time).may_ask
        )


@dataclass(frozen=True, slots=True)
class Part:
    """What a question says about one protected relation.

    Parameters
    ----------
    keeper : Keeper
        The relation's keeper.
    population : Population
        Who is in it, in the snapshot of the answer.
    answer : Answer or None
        The people behind the answer; None if there is none.
    failure : Reason
        Why there is none.
    """

    keeper: Keeper
    population: Population
    answer: Answer | None
    failure: Reason = "size"


def decide(
    question: Question, parts: Sequence[Part], checkpoint: Callable[[], None] = lambda: None
) -> Decision:
    """Decide about one question, and record it in the journal of every relation it touches.

    The answer may leave the process only after this returned that it is allowed; by then every record is
    durable. If the process dies in between, something is recorded that was not told, which only refuses more.

    Parameters
    ----------
    question : Question
        Who asks what.
    parts : sequence of Part
        One per protected relation, no relation twice.
    checkpoint : callable
        Called while waiting for other sessions; what it raises ends the waiting.

    Returns
    -------
    Decision
        Allowed if every relation allows it; else with the first reason, for the record only.

    Raises
    ------
    LedgerError
        A journal cannot be read or written: answer nothing.
    """
    ordered = sorted(parts, key=lambda part: part.keeper.path)
    if len({part.keeper.path for part in ordered}) < len(ordered):
        raise LedgerError("A protected relation stands twice in one decision.")
    with ExitStack() as stack:
        turns = [stack.enter_context(part.keeper.journal.turn(checkpoint)) for part in ordered]
        for part, turn in zip(ordered, turns, strict=True):
            part.keeper._catch_up(turn, part.population)
        decisions = [_decision(question, part) for part in ordered]
        refused = next((decision for decision in decisions if not decision.allowed), None)
        for part, turn in zip(ordered, turns, strict=True):
            entry = _entry(question, part, refused)
            # sets that were told before need not be stored again
            turn.append(entry.to_bytes(part.keeper.ledger.has))
            part.keeper._count(entry)
        if refused is not None:
            return refused
        for part, decision in zip(ordered, decisions, strict=True):
            part.keeper.ledger.tell(decision)
    return Decision(allowed=True)


def _decision(question: Question, part: Part) -> Decision:
    if not part.keeper._may_ask(question):
        return Decision(allowed=False, reason=BUDGET)
    if part.answer is None:
        return Decision(allowed=False, reason=part.failure)
    return part.keeper.ledger.check(part.answer, part.population)


def _entry(question: Question, part: Part, refused: Decision | None) -> Entry:
    if refused is None:
        return Entry(question.time, question.asker, question.text, "answered", "", part.answer)
    return Entry(question.time, question.asker, question.text, "withheld", refused.reason or "")


def _opened(checkpoint: bytes) -> tuple[Mark, list[tuple[str, Outcome]], bytes]:
    end = _CHECKPOINT_HEAD_BYTES + int.from_bytes(checkpoint[:_CHECKPOINT_HEAD_BYTES])
    try:
        records, length, digest, outcomes = json.loads(checkpoint[_CHECKPOINT_HEAD_BYTES:end])
        mark = Mark(int(records), int(length), bytes.fromhex(digest))
        return (
            mark,
            [(asker, Outcome(time, answered)) for asker, time, answered in outcomes],
            checkpoint[end:],
        )
    except (ValueError, TypeError) as error:
        raise LedgerError("The ledger's checkpoint cannot be read.") from error
