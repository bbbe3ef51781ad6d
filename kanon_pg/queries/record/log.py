"""The log of a record: events that follow each other in a chain of digests, and budgets counted from them.

An entry is a query: an event when it was asked, one when it was answered or withheld, one if a curator had it
forgotten. Events are never changed. An entry that has only been asked is interrupted, or still runs.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Literal

from kanon_pg.errors import LedgerError

SCHEMA = """
CREATE TABLE log (number INTEGER PRIMARY KEY, entry INTEGER NOT NULL, kind TEXT NOT NULL, time REAL NOT NULL,
    login TEXT NOT NULL, text TEXT NOT NULL, cost INTEGER NOT NULL, details TEXT NOT NULL, sets BLOB NOT NULL,
    last_set INTEGER NOT NULL, seal BLOB NOT NULL, digest BLOB NOT NULL);
CREATE INDEX log_logins ON log (login, time) WHERE kind = 'asked';
CREATE INDEX log_entries ON log (entry);
"""

INTERRUPTED_COST = 1
"""Refusals that a query costs which was not recorded: how long it runs may depend on its data."""

BUDGET = "budget"
"""Reason of a query that was refused unchecked; it counts neither as a query nor as a refusal."""

_COLUMNS = "number, entry, kind, time, login, text, cost, details, sets, last_set, seal"
_TAIL = 256
"""Events that are checked whenever a record is opened."""

_ENDED = "e.kind IN ('answered', 'withheld')"
BEGIN_ANEW = "begin a new record: answers of the old one are then no longer compared with new ones."
_OTHER_COPY = f"Put the file back that the server wrote last, or {BEGIN_ANEW}"


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a record was written: the number of events, and the digest of the last, which covers all.

    Kept elsewhere, it shows later that the file is not an older one.
    """

    events: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class QueryBudget:
    """Limits for one login within `period` seconds; None is no limit."""

    queries: int | None = None
    """Most queries, answered or withheld."""
    refusals: int | None = None
    """Refusals after which nothing is answered for `lockout` seconds from the last of them."""
    period: float = 86_400.0
    lockout: float = 3_600.0


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """What is left of a budget: queries, and when a lockout ends; None without a limit or a lockout."""

    queries_left: int | None
    locked_until: float | None

    @property
    def allows(self) -> bool:
        """Whether another query may run."""
        return self.queries_left != 0 and self.locked_until is None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A query."""

    entry: int
    time: float
    login: str
    query: str
    outcome: Literal["interrupted", "answered", "withheld"] = "interrupted"
    """'interrupted' also while it runs."""
    reason: str = ""
    """Why it, or a part of it, was withheld."""
    cost: int = INTERRUPTED_COST
    """Refusals that it counts."""
    sets: int = 0
    """Sets that it disclosed."""
    blocked_by: Mapping[int, int] = field(default_factory=dict)
    """Entries whose answers its figures conflicted with, and how many figures each."""
    forgotten: tuple[float, str, str] | None = None
    """When, by whom and why it was forgotten."""


@dataclass(frozen=True, slots=True)
class Event:
    """What is appended to the log; `entry` is None for a new one."""

    entry: int | None
    kind: Literal["asked", "answered", "withheld", "forgotten"]
    time: float
    login: str
    text: str
    cost: int = 0
    details: Mapping[str, object] = field(default_factory=dict)
    sets: bytes = b""
    last_set: int = 0
    seal: bytes = b""


def append(db: sqlite3.Connection, event: Event) -> int:
    """Append an event within the caller's transaction; return its number."""
    mark = last_mark(db)
    number = mark.events + 1
    row = (
        *(number, event.entry or number, event.kind, float(event.time), event.login, event.text, event.cost),
        *(json.dumps(event.details, sort_keys=True), event.sets, event.last_set, event.seal),
    )
    db.execute(f"INSERT INTO log VALUES ({'?, ' * len(row)}?)", (*row, _digest(mark.digest, row)))
    return number


def last_mark(db: sqlite3.Connection) -> Mark:
    """Return the mark of the last event."""
    last = db.execute("SELECT number, digest FROM log ORDER BY number DESC LIMIT 1").fetchone()
    return Mark(*last) if last else Mark(0, bytes(32))


def check(db: sqlite3.Connection, marks: Iterable[Mark], *, reads_all: bool = False) -> None:
    """Demand that the log contains some marks, and that its events (the last ones, or all) are a chain."""
    last = last_mark(db).events
    for mark in marks:
        if mark.events > last:
            raise LedgerError(
                "The record of answers is older than what was written to it.",
                detail=f"It has {last} events of {mark.events}.",
                hint=f"An older copy was put back, or its end is lost. {_OTHER_COPY}",
            )
        stored = db.execute("SELECT digest FROM log WHERE number = ?", (mark.events,)).fetchone()
        if mark.events and (stored is None or stored[0] != mark.digest):
            raise LedgerError(
                "The record of answers is not the one that was written here.",
                detail=f"Event {mark.events} is another one.",
                hint=f"An older copy was put back and written to. {_OTHER_COPY}",
            )
    first = 1 if reads_all else max(1, last - _TAIL)
    before = db.execute("SELECT digest FROM log WHERE number = ?", (first - 1,)).fetchone()
    digest = before[0] if before else bytes(32)
    number = first - 1
    for number, (*row, stored) in enumerate(
        db.execute(f"SELECT {_COLUMNS}, digest FROM log WHERE number >= ? ORDER BY number", (first,)), first
    ):
        digest = _digest(digest, row)
        if row[0] != number or digest != stored:
            raise damaged(f"Event {number} differs from what was written.")


def _digest(before: bytes, row: Iterable[object]) -> bytes:
    """Return the digest of an event's columns and of all events before it."""
    values = [value.hex() if isinstance(value, bytes) else value for value in row]
    return blake2b(before + json.dumps(values).encode(), digest_size=32).digest()


def damaged(detail: str) -> LedgerError:
    """Return the error of a file that cannot be trusted."""
    return LedgerError(
        "The record of answers is damaged.",
        detail=detail,
        hint=f"Put a copy back that is not older than the last answer, or {BEGIN_ANEW}",
    )


def last_set(db: sqlite3.Connection) -> int:
    """Return the number of the last set that the log knows, 0 without any."""
    last = db.execute("SELECT last_set FROM log ORDER BY number DESC LIMIT 1").fetchone()
    return int(last[0]) if last else 0


def disclosed(db: sqlite3.Connection) -> Iterator[tuple[int, bytes]]:
    """Yield the entries that are not forgotten, and the numbers of the sets that each disclosed."""
    yield from db.execute(
        """SELECT entry, sets FROM log l WHERE length(sets) > 0 AND NOT EXISTS
           (SELECT 1 FROM log f WHERE f.entry = l.entry AND f.kind = 'forgotten')"""
    )


def spent(db: sqlite3.Connection) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield the login and the loss of every query that noise was asked for; forgetting gives none back."""
    for login, details in db.execute(
        "SELECT login, details FROM log WHERE kind = 'asked' AND details <> '{}' ORDER BY number"
    ):
        if "noise" in (noted := json.loads(details)):
            yield login, tuple(map(float, noted["noise"]))


def entries(db: sqlite3.Connection) -> list[LogEntry]:
    """Return all queries, oldest first."""
    queries = {}
    for entry, kind, time, login, text, cost, details, sets in db.execute(
        "SELECT entry, kind, time, login, text, cost, details, length(sets) / 4 FROM log ORDER BY number"
    ):
        if kind == "asked":
            queries[entry] = LogEntry(entry, time, login, text)
        elif kind == "forgotten":
            queries[entry] = replace(queries[entry], forgotten=(time, login, text))
        else:
            blocked = {int(by): figures for by, figures in json.loads(details).get("blocked_by", {}).items()}
            queries[entry] = replace(
                queries[entry], outcome=kind, reason=text, cost=cost, sets=sets, blocked_by=blocked
            )
    return list(queries.values())


def budget_status(db: sqlite3.Connection, login: str, budget: QueryBudget, now: float) -> BudgetStatus:
    """Return what is left of a login's budget; its queries that run count as interrupted until they end."""
    rows = db.execute(
        f"""SELECT a.time, coalesce(e.cost, ?) FROM log a LEFT JOIN log e ON e.entry = a.number AND {_ENDED}
            WHERE a.kind = 'asked' AND a.login = ? AND a.time > ? AND coalesce(e.text, '') <> ?
            ORDER BY a.time""",
        (INTERRUPTED_COST, login, now - budget.period - max(0.0, budget.lockout), BUDGET),
    ).fetchall()
    left = None
    if budget.queries is not None:
        left = max(0, budget.queries - sum(time > now - budget.period for time, _ in rows))
    if budget.refusals is None:
        return BudgetStatus(left, None)
    spent, first, end = 0, 0, None
    refusals = [(time, cost) for time, cost in rows if cost]
    for time, cost in refusals:
        spent += cost
        while time - refusals[first][0] >= budget.period:
            spent -= refusals[first][1]
            first += 1
        if spent >= budget.refusals:
            end = time + budget.lockout
    return BudgetStatus(left, end if end is not None and end > now else None)
