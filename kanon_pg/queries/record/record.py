"""The record of what was disclosed about one space of people: one file of SQLite, which no ROLLBACK reaches.

A function inside PostgreSQL runs in its caller's transaction, which may be rolled back after its answer was
read. So what is answered is first written to this file, durably: a log of queries (`log`), the sets that
were disclosed (`sets`), and what was answered last to each query.

    asked = record.ask(login, text, now, budget)          # written down as interrupted, before it runs
    with record.begin(asked.entry, now) as entry:         # others wait
        blocked = entry.conflicting(figures, k)
        entry.record(shown, k)
        entry.answered(key=key, payload=rows)             # or entry.withheld(reason)
    keep(record.mark())                                   # elsewhere: an older copy is noticed by it
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from kanon_pg.errors import InputError
from kanon_pg.queries.record import log as record_log
from kanon_pg.queries.record import sets as recorded_sets
from kanon_pg.queries.record.file import RecordFile, create_file, sqlite_errors
from kanon_pg.queries.record.log import BudgetStatus, Event, LogEntry, Mark, QueryBudget, damaged
from kanon_pg.queries.record.sets import RecordedSets, packed_numbers, unpacked_numbers
from kanon_pg.queries.record.sketches import FigureSet, Shape

_ANSWERS = """
CREATE TABLE answers (key BLOB PRIMARY KEY, entry INTEGER NOT NULL, time REAL NOT NULL,
    payload BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query that was written down; it may run if `budget` allows it, and if it is affordable."""

    entry: int
    budget: BudgetStatus
    is_affordable: bool = True


@dataclass(frozen=True, slots=True)
class Spending:
    """What a query takes from the account of the people."""

    loss: tuple[float, ...]
    """As `kanon_pg.queries.noise.mechanism.Loss`; then epsilon and delta of the account."""
    allows: Callable[[Sequence[tuple[str, tuple[float, ...]]]], bool]
    """Receives what was spent before, with the login of each; returns whether this can be spent, too."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What was answered, and when."""

    entry: int
    time: float
    payload: bytes


class Record:
    """An open record, for one thread of one process; see `open` and `create`.

    Every method raises LedgerUnavailable if the file cannot be read or written now, and LedgerError if it
    must not be trusted.
    """

    def __init__(self, file: RecordFile) -> None:
        self._file, self._db = file, file.db

    @classmethod
    def create(cls, path: Path, k: int) -> None:
        """Make an empty record, durably, readable by its owner alone; its sets can be compared by `k`."""
        shape = Shape.for_k(k)
        seed = secrets.randbits(63)
        create_file(
            path,
            f"{record_log.SCHEMA} {recorded_sets.SCHEMA} {_ANSWERS}"
            f"INSERT INTO shape VALUES ({seed}, {shape.buckets}, {shape.k}, 0, 0);",
        )

    @classmethod
    def open(
        cls,
        path: Path,
        marks: Iterable[Mark] = (),
        *,
        checkpoint: Callable[[], None] = lambda: None,
        seconds: float = 30.0,
    ) -> Record:
        """Open a record that must contain some marks; what this costs does not depend on its size.

        Parameters
        ----------
        checkpoint : callable
            Called every few milliseconds while another session writes; what it raises ends the waiting.
        seconds : float
            After which waiting ends with an error.
        """
        record = cls(RecordFile(path, checkpoint, seconds))
        try:
            with sqlite_errors():
                record._check(marks)
        except BaseException:
            record.close()
            raise
        return record

    def _check(self, marks: Iterable[Mark]) -> None:
        self._file.prepare()
        with self._file.snapshot():
            self._file.require_all_pages()
            record_log.check(self._db, marks)
            self._sets = RecordedSets(self._db)
            if self._sets.last() != record_log.last_set(self._db):
                raise damaged("It has other sets than its log says.")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @property
    def k(self) -> int:
        """Largest k that sets can be compared by."""
        return self._sets.shape.k

    @property
    def buckets(self) -> int:
        """How many buckets its sketches have."""
        return self._sets.shape.buckets

    @property
    def seed(self) -> int:
        """Seed of all hashes in its sketches, a secret of 63 bits."""
        with sqlite_errors():
            return int(self._db.execute("SELECT seed FROM shape").fetchone()[0])

    def mark(self) -> Mark:
        """Return how far the record is written, to be kept elsewhere."""
        with sqlite_errors():
            return record_log.last_mark(self._db)

    def ask(
        self,
        login: str,
        query: str,
        now: float,
        budget: QueryBudget | None = None,
        spending: Spending | None = None,
    ) -> Asked:
        """Write a query down as interrupted, durably, before it runs; as withheld if no budget is left.

        Parameters
        ----------
        now : float
            Seconds since 1970, by the server's clock.
        spending : Spending, optional
            What a noisy answer costs. It is spent now, whatever becomes of the query.
        """
        with self._transaction():
            status = record_log.budget_status(self._db, login, budget or QueryBudget(), now)
            is_affordable = spending is None or spending.allows(list(record_log.spent(self._db)))
            may_run = status.allows and is_affordable
            details = {"noise": spending.loss} if spending is not None and may_run else {}
            entry = self._append(Event(None, "asked", now, login, query, details=details))
            if not may_run:
                self._append(Event(entry, "withheld", now, login, record_log.BUDGET))
        return Asked(entry, status, is_affordable)

    def spent(self) -> list[tuple[str, tuple[float, ...]]]:
        """Return the login and the loss of every query that was answered with noise, or failed."""
        with sqlite_errors():
            return list(record_log.spent(self._db))

    @contextmanager
    def begin(self, entry: int, now: float) -> Iterator[Entry]:
        """Compare and record the figures of an entry that `ask` returned, while other sessions wait.

        The block must call `Entry.answered` or `Entry.withheld`. When it has ended, what it did is durable;
        if it raises, the query remains interrupted.
        """
        with self._transaction():
            logins = self._db.execute("SELECT login FROM log WHERE entry = ?", (entry,)).fetchall()
            if len(logins) != 1:
                raise InputError("A query is recorded once, after it was written down.")
            self._sets.begin()
            recording = Entry(self, self._sets, Event(entry, "withheld", now, logins[0][0], ""))
            yield recording
            if not recording.is_ended:
                raise InputError("What became of a query must be recorded.")

    def stored(self, key: bytes) -> StoredAnswer | None:
        """Return what was answered last under a key, if its entry is not forgotten."""
        with sqlite_errors():
            row = self._db.execute(
                """SELECT l.details, a.entry, a.time, a.payload FROM answers a
                   LEFT JOIN log l ON l.entry = a.entry AND l.kind = 'answered' WHERE a.key = ?""",
                (key,),
            ).fetchone()
        if row is None:
            return None
        answer = StoredAnswer(*row[1:])
        if json.loads(row[0] or "{}").get("answer") != _digest(key, answer.payload):
            raise damaged("A stored answer differs from what was written.")
        return answer

    def log(self) -> list[LogEntry]:
        """Return all queries, oldest first."""
        with sqlite_errors():
            return record_log.entries(self._db)

    def forget(self, entry: int, by: str, now: float, reason: str) -> int:
        """Compare new answers no more with one; return how many of its sets are no longer compared.

        Whoever has read it can subtract it from what is answered then. Sets that another answer also
        disclosed remain, and so does all that the log says.
        """
        with self._transaction():
            own, others = set[int](), dict[int, int]()
            for owner, numbers in record_log.disclosed(self._db):
                if owner == entry:
                    own.update(unpacked_numbers(numbers))
                else:
                    others.update(dict.fromkeys(unpacked_numbers(numbers), owner))
            if not own:
                raise InputError("This entry of the log disclosed nothing, or is forgotten already.")
            self._sets.give({number: others[number] for number in own & others.keys()})
            self._sets.forget(own - others.keys())
            self._db.execute("DELETE FROM answers WHERE entry = ?", (entry,))
            self._append(Event(entry, "forgotten", now, by, reason))
        return len(own - others.keys())

    def raise_k(self, k: int) -> None:
        """Make sets comparable by a larger k; reads all of them, which takes minutes for a million."""
        try:
            with self._transaction():
                self._sets.rebuild(k)
        except BaseException:
            self._sets = RecordedSets(self._db)
            raise

    def verify(self, marks: Iterable[Mark] = ()) -> None:
        """Read everything: pages, the log's chain, all sets and their keys, and stored answers."""
        with sqlite_errors(), self._file.snapshot():
            (pages,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
            if pages != "ok":
                raise damaged(str(pages))
            record_log.check(self._db, marks, reads_all=True)
            first = 1
            for last, seal in self._db.execute("SELECT last_set, seal FROM log ORDER BY number"):
                if self._sets.seal(first, last) != seal:
                    raise damaged("A set differs from what was written.")
                first = last + 1
            numbers = {one for _, own in record_log.disclosed(self._db) for one in unpacked_numbers(own)}
            if not self._sets.are_findable(numbers):
                raise damaged("A set has lost its keys.")
            for (key,) in self._db.execute("SELECT key FROM answers"):
                self.stored(key)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write alone, durably, or not at all."""
        with self._file.transaction():
            # another session may have raised it
            if self._sets.shape.k != self._db.execute("SELECT k FROM shape").fetchone()[0]:
                self._sets = RecordedSets(self._db)
            yield

    def _append(self, event: Event) -> int:
        return record_log.append(self._db, replace(event, last_set=self._sets.last()))


class Entry:
    """A query while it is recorded; see `Record.begin`."""

    def __init__(self, record: Record, sets: RecordedSets, event: Event) -> None:
        self._record, self._sets, self._event = record, sets, event
        self._disclosed, self._blocked = set[int](), Counter[int]()
        self._first = sets.last() + 1
        self.is_ended = False

    def conflicting(self, figures: Sequence[FigureSet], k: int) -> frozenset[int]:
        """Return the positions of figures that conflict with recorded ones, by the larger k of both."""
        self._require(k)
        owners = self._sets.conflicts(figures, k)
        for own in owners:
            self._blocked.update(own)
        return frozenset(place for place, own in enumerate(owners) if own)

    def record(self, figures: Sequence[FigureSet], k: int) -> None:
        """Record figures that are shown; later ones are compared with them by at least `k`."""
        self._require(k)
        self._disclosed.update(self._sets.add(figures, k, self._event.entry or 0))

    def answered(
        self, reason: str = "", cost: int = 0, *, key: bytes | None = None, payload: bytes = b""
    ) -> None:
        """End the query as answered.

        Parameters
        ----------
        reason : str
            Why rows were left out; empty if none were.
        key : bytes, optional
            Under which `payload` is stored for whoever asks the same again.
        """
        details: dict[str, object] = {}
        if key is not None:
            details["answer"] = _digest(key, payload)
            self._record._db.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)",
                (key, self._event.entry, self._event.time, payload),
            )
        self._end("answered", reason, cost, details)

    def withheld(self, reason: str, cost: int = 1) -> None:
        """End the query as withheld."""
        self._end("withheld", reason, cost, {})

    def _end(
        self, kind: Literal["answered", "withheld"], reason: str, cost: int, details: dict[str, object]
    ) -> None:
        self._require(2)
        self.is_ended = True
        seal = self._sets.seal(self._first, self._sets.last())
        details["blocked_by"] = self._blocked
        sets = packed_numbers(self._disclosed)
        event = replace(self._event, kind=kind, text=reason, cost=cost, details=details, sets=sets, seal=seal)
        self._record._append(event)

    def _require(self, k: int) -> None:
        if self.is_ended:
            raise InputError("A query is recorded once.")
        if not 2 <= k <= self._sets.shape.k:
            most = self._sets.shape.k
            raise InputError(f"This record compares sets by a k of 2 to {most}.", hint="Raise its k.")


def _digest(key: bytes, payload: bytes) -> str:
    return blake2b(len(key).to_bytes(8) + key + payload, digest_size=16).hexdigest()
