"""One decision at a time: catch up with what others recorded, check, record durably, then disclose.

Meanwhile the journals of all protected relations that the query touches are locked, in one fixed order, so
that no two sessions can overlook each other or deadlock.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pyroaring import BitMap

from kanon_pg.core.unrecorded import moved
from kanon_pg.errors import LedgerError, LedgerUnavailable
from kanon_pg.worker.ledger.answers import AnswerSets, Population
from kanon_pg.worker.ledger.disclosure import Decision, DisclosureHistory, Reason
from kanon_pg.worker.ledger.journal import Journal, JournalMark, JournalWriter
from kanon_pg.worker.ledger.rules import BudgetCounter, LedgerRules, PastQuery, QueryBudget

EntryOutcome = Literal["answered", "withheld"]

_ENTRY_HEAD_BYTES = 4


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A query that was answered or withheld.

    Parameters
    ----------
    time : float
        Seconds since 1970, by the server's clock.
    query : str
        The canonical query. Contains the analyst's constants, hence nothing of the data.
    reason : str
        Why it was withheld, or a part of it, for the owner; empty if all was answered.
    answer : AnswerSets or None
        What was disclosed; of a query that was withheld because of sensitive columns the people that its
        known columns choose, without levels; else None.
    """

    time: float
    analyst: str
    query: str
    outcome: EntryOutcome
    reason: str = ""
    answer: AnswerSets | None = None

    def to_bytes(self, is_stored: Callable[[bytes], bool] = lambda digest: False) -> bytes:
        """Return the record: length of a JSON head, the head, the sets (see `AnswerSets.to_bytes`)."""
        items: list[object] = [self.time, self.analyst, self.query, self.outcome, self.reason]
        if self.answer is not None:
            items.append(None if self.answer.known is None else len(self.answer.known))
            items.append(self.answer.spreads)
        head = json.dumps(items).encode()
        return (
            len(head).to_bytes(_ENTRY_HEAD_BYTES)
            + head
            + (self.answer.to_bytes(is_stored) if self.answer else b"")
        )

    @classmethod
    def from_bytes(
        cls, data: bytes, find: Callable[[bytes], BitMap | None] = lambda digest: None
    ) -> LedgerEntry:
        """Rebuild what `to_bytes` wrote (see `AnswerSets.from_bytes`).

        Raises
        ------
        LedgerError
            The bytes are no entry.
        """
        end = _ENTRY_HEAD_BYTES + int.from_bytes(data[:_ENTRY_HEAD_BYTES])
        try:
            time, analyst, query, outcome, reason, *more = json.loads(data[_ENTRY_HEAD_BYTES:end])
            known_levels, spreads = (*more, None, None)[:2]
        except ValueError as error:
            raise LedgerError("A record of the ledger cannot be read.") from error
        has_sets = outcome == "answered" or known_levels is not None
        if outcome not in {"answered", "withheld"} or has_sets != (len(data) > end):
            raise LedgerError("A record of the ledger contradicts itself.")
        answer = AnswerSets.from_bytes(data[end:], find, known_levels) if has_sets else None
        if answer is not None:
            # a version that said nothing of spreads may have disclosed them of every set
            of_all = range(len(answer.levels))
            answer = replace(answer, spreads=tuple(of_all if spreads is None else spreads))
        if outcome == "withheld" and answer is not None and answer.levels:
            raise LedgerError("A record of the ledger contradicts itself.")
        return cls(time, analyst, query, outcome, reason, answer)


BUDGET: Reason = "budget"
"""Reason of a query that was refused unchecked; it does not count as a refusal."""

SHARE: Reason = "share"
"""Reason of a query that would take more than a login's share of what the ledger can compare."""

SUPPRESSED = "suppressed"
"""Reason of an answer without some groups; it counts as a refusal, because it tells that they are small."""

_CHECKPOINT_HEAD_BYTES = 8
_CHECKPOINT_FORMAT = 2
"""Those without a number took no old answer for a spread."""


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A query, who ran it, and when.

    Parameters
    ----------
    time : float
        Seconds since 1970, by the server's clock.
    """

    time: float
    analyst: str
    text: str


class SharedHistory:
    """A history, and how much of what it can compare the answers to each login take.

    Parameters
    ----------
    taken : Mapping of str to int
        Linearly independent sets by login.
    """

    def __init__(self, history: DisclosureHistory, taken: Mapping[str, int] | None = None) -> None:
        self.history = history
        self.taken = Counter(taken)

    def is_within_share(self, login: str, decision: Decision, population: Population) -> bool:
        """Whether a login leaves others enough of what can be compared."""
        share = self.history.rules.share
        if not decision.added or share == 1:
            return True
        capacity = self.history.capacity(population)
        is_free = self.history.forgets(capacity)
        return is_free or self.taken[login] + decision.added <= share * capacity

    def disclose(self, login: str, decision: Decision) -> None:
        """Remember an answer that was allowed (`DisclosureHistory.disclose`)."""
        before = self.history.rank
        self.history.disclose(decision)
        self._take(login, before)

    def replay(self, login: str, answer: AnswerSets, population: Population) -> None:
        """Remember an answer of another process (`DisclosureHistory.replay`)."""
        before = self.history.rank
        self.history.replay(answer, population)
        self._take(login, before)

    def _take(self, login: str, before: int) -> None:
        """Count the sets that an answer brought; those of everybody anew when the history forgot some."""
        added = self.history.rank - before
        if added < 0:
            self.taken.clear()
        elif added:
            self.taken[login] += added


class LedgerSession:
    """Journal and ledger of one protected relation, as one process sees them.

    Parameters
    ----------
    path : Path
        The relation's journal.
    key : bytes
        The relation's secret.
    per_analyst, overall : QueryBudget
        Limits for every analyst, and for all analysts together.
    anchor : JournalMark, optional
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
        rules: LedgerRules,
        key: bytes,
        *,
        per_analyst: QueryBudget | None = None,
        overall: QueryBudget | None = None,
        anchor: JournalMark | None = None,
        checkpoint: bytes | None = None,
    ) -> None:
        self.path = path
        budget = per_analyst or QueryBudget()
        self._per_analyst: defaultdict[str, BudgetCounter] = defaultdict(lambda: BudgetCounter(budget))
        self._overall = BudgetCounter(overall or QueryBudget())
        self._past_queries: list[tuple[str, PastQuery]] = []
        start = None
        if checkpoint is None:
            self._sums = SharedHistory(DisclosureHistory(rules, key))
            self._spreads = SharedHistory(DisclosureHistory(rules.of_spreads(), key))
        else:
            start, past_queries, (sums, spreads) = _opened(checkpoint)
            for analyst, past in past_queries:
                self._remember_query(analyst, past)
            self._sums = _restored(sums, rules, key)
            self._spreads = _restored(spreads, rules.of_spreads(), key)
        self.journal = Journal(path, start=start, anchor=anchor)

    @property
    def history(self) -> DisclosureHistory:
        """What sums, counts and percentiles disclosed."""
        return self._sums.history

    def to_bytes(self) -> bytes:
        """Return a checkpoint of everything read so far. It contains the secret."""
        mark = self.journal.mark
        past_queries = [
            (analyst, past.time, past.answered, past.reason) for analyst, past in self._past_queries
        ]
        bodies = [shared.history.to_bytes() for shared in (self._sums, self._spreads)]
        taken = [dict(shared.taken) for shared in (self._sums, self._spreads)]
        head = json.dumps(
            [
                _CHECKPOINT_FORMAT,
                mark.records,
                mark.length,
                mark.digest.hex(),
                past_queries,
                taken,
                len(bodies[0]),
            ]
        ).encode()
        return b"".join((len(head).to_bytes(_CHECKPOINT_HEAD_BYTES), head, *bodies))

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def catch_up(self, writer: JournalWriter, population: Population) -> None:
        """Read what other processes recorded, and record withheld queries whose own processes could not.

        Raises
        ------
        LedgerError
            The journal cannot be read, and is closed then; or what is left to record cannot be read.
        """
        self._read_new(writer, population)
        self._move_unrecorded(writer)

    def _read_new(self, writer: JournalWriter, population: Population) -> None:
        try:
            for payload in writer.new_records():
                entry = LedgerEntry.from_bytes(payload, self.history.find)
                self._count(entry)
                if entry.answer is not None:
                    self._replay(entry.analyst, entry.answer, population)  # of one withheld: its known people
        except BaseException:
            # a ledger that missed part of the history must not decide again
            self.close()
            raise

    def _move_unrecorded(self, writer: JournalWriter) -> None:
        """Record withheld queries whose own processes could not."""
        try:
            with moved(self.path.parent) as left:
                entries = [
                    LedgerEntry(query.time, query.login, query.query, "withheld", query.reason)
                    for query in left
                ]
                if entries:
                    writer.append(*(entry.to_bytes() for entry in entries))
                for entry in entries:
                    self._count(entry)
        except OSError as error:
            raise LedgerUnavailable(
                "What the ledger has not recorded yet cannot be read.", detail=error.strerror
            ) from error

    def _replay(self, login: str, answer: AnswerSets, population: Population) -> None:
        self._sums.replay(login, answer, population)
        if answer.spreads:
            self._spreads.replay(login, answer.of_spreads(), population)

    def check(self, query: LoggedQuery, part: RelationPart) -> tuple[Decision, Decision | None]:
        """Decide about an answer, and by itself about the sums of squares in it, if there are any."""
        answer, population = part.answer, part.population
        if not self._is_within_budget(query):
            return Decision(allowed=False, reason=BUDGET), None
        if answer is None:
            return Decision(allowed=False, reason=part.failure), None
        decision = self.history.check(answer, population, part.failure if part.failed else None)
        if not self._sums.is_within_share(query.analyst, decision, population):
            return Decision(allowed=False, reason=SHARE), None
        if not decision.allowed or not answer.spreads:
            return decision, None
        squares = self._check_spreads(query, answer, population)
        if squares.allowed:
            return decision, squares
        is_remembered = answer.known is not None and self.history.rules.mode != "off"
        return replace(squares, known=answer.without_figures() if is_remembered else None), None

    def _check_spreads(self, query: LoggedQuery, answer: AnswerSets, population: Population) -> Decision:
        squares = self._spreads.history.check(answer.of_spreads(), population)
        is_within = self._spreads.is_within_share(query.analyst, squares, population)
        return squares if is_within else Decision(allowed=False, reason=SHARE)

    def record(self, writer: JournalWriter, entry: LedgerEntry) -> None:
        """Write a query to the journal, durably, and count it; sets disclosed before are not stored again."""
        writer.append(entry.to_bytes(self.history.has))
        self._count(entry)

    def disclose(self, login: str, decision: Decision, squares: Decision | None) -> None:
        """Remember an answer that every relation allowed; arguments are what `check` returned."""
        self._sums.disclose(login, decision)
        if squares is not None:
            self._spreads.disclose(login, squares)

    def percent_used(self, population: Population) -> int | None:
        """Return how much of what can be compared is taken, in percent; None if old sets are forgotten."""
        capacity = self.history.capacity(population)
        if self.history.rules.mode == "off" or not capacity or self.history.forgets(capacity):
            return None
        return 100 * self.history.rank // capacity

    def _count(self, entry: LedgerEntry) -> None:
        if entry.reason != BUDGET:
            is_whole = entry.outcome == "answered" and entry.reason != SUPPRESSED
            past = PastQuery(entry.time, is_whole, entry.reason)
            self._remember_query(entry.analyst, past)

    def _remember_query(self, analyst: str, past: PastQuery) -> None:
        self._past_queries.append((analyst, past))
        self._per_analyst[analyst].add(past)
        self._overall.add(past)

    def _is_within_budget(self, query: LoggedQuery) -> bool:
        counters = (self._per_analyst[query.analyst], self._overall)
        return all(counter.status(query.time).within_budget for counter in counters)


@dataclass(frozen=True, slots=True)
class RelationPart:
    """The part of a query that concerns one protected relation.

    Parameters
    ----------
    population : Population
        In the snapshot of the answer.
    answer : AnswerSets or None
        The people behind the answer; None if they were not read.
    failure : Reason
        Why there is no answer.
    failed : bool
        Whether there is none although the people were read.
    left_out : bool
        Whether groups were left out of the answer because of sensitive columns.
    """

    session: LedgerSession
    population: Population
    answer: AnswerSets | None
    failure: Reason = "size"
    failed: bool = False
    left_out: bool = False


def decide(query: LoggedQuery, parts: Sequence[RelationPart]) -> Decision:
    """Decide about one query, and record it in the journal of every relation it touches.

    The answer may leave the process only after this returned that it is allowed; by then every record is
    durable. If the process dies in between, something is recorded that was not disclosed, which only refuses
    more.

    Parameters
    ----------
    parts : sequence of RelationPart
        One per protected relation, no relation twice.

    Returns
    -------
    Decision
        Allowed if every relation allows it; else with the first reason, which only curators may read.

    Raises
    ------
    LedgerError
        A journal cannot be read or written: answer nothing.
    """
    ordered = sorted(parts, key=lambda part: part.session.path)
    if len({part.session.path for part in ordered}) < len(ordered):
        raise LedgerError("A protected relation stands twice in one decision.")
    with ExitStack() as stack:
        writers = [stack.enter_context(part.session.journal.exclusive()) for part in ordered]
        for part, writer in zip(ordered, writers, strict=True):
            part.session.catch_up(writer, part.population)
        decisions = [part.session.check(query, part) for part in ordered]
        refused = next((decision for decision, _ in decisions if not decision.allowed), None)
        for part, writer, (decision, _) in zip(ordered, writers, decisions, strict=True):
            part.session.record(writer, _entry(query, part, decision, refused))
        for part, (decision, squares) in zip(ordered, decisions, strict=True):
            if refused is None:
                part.session.disclose(query.analyst, decision, squares)
            elif decision.known is not None:
                part.session.history.replay(decision.known, part.population)
        if refused is not None:
            return refused
    return Decision(allowed=True)


def _entry(
    query: LoggedQuery, part: RelationPart, decision: Decision, refused: Decision | None
) -> LedgerEntry:
    if refused is None:
        reason = SUPPRESSED if part.left_out else ""
        return LedgerEntry(query.time, query.analyst, query.text, "answered", reason, part.answer)
    return LedgerEntry(
        query.time, query.analyst, query.text, "withheld", refused.reason or "", decision.known
    )


_Saved = tuple[bytes, dict[str, int]]


def _opened(checkpoint: bytes) -> tuple[JournalMark, list[tuple[str, PastQuery]], tuple[_Saved, _Saved]]:
    """Return the journal's mark, past queries, and both histories with what each login takes of them."""
    end = _CHECKPOINT_HEAD_BYTES + int.from_bytes(checkpoint[:_CHECKPOINT_HEAD_BYTES])
    try:
        form, records, length, digest, past_queries, taken, first = json.loads(
            checkpoint[_CHECKPOINT_HEAD_BYTES:end]
        )
        if form != _CHECKPOINT_FORMAT:
            raise ValueError("another format")
        of_sums, of_spreads = ({str(login): int(number) for login, number in one.items()} for one in taken)
        mark = JournalMark(int(records), int(length), bytes.fromhex(digest))
        past = [
            (analyst, PastQuery(time, answered, reason)) for analyst, time, answered, reason in past_queries
        ]
        middle = end + int(first)
        return mark, past, ((checkpoint[end:middle], of_sums), (checkpoint[middle:], of_spreads))
    except (ValueError, TypeError, AttributeError) as error:
        raise LedgerError("The ledger's checkpoint cannot be read.") from error


def _restored(saved: _Saved, rules: LedgerRules, key: bytes) -> SharedHistory:
    body, taken = saved
    return SharedHistory(DisclosureHistory.from_bytes(body, rules, key), taken)
