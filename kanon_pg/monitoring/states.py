"""The views ``kanon.health`` and ``kanon.history``, as curators read them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError


@dataclass(frozen=True, slots=True)
class HealthState:
    """A row of ``kanon.health``, which says what its columns are; `age` is in seconds."""

    kind: str
    object: str
    k: int
    age: float
    changes_since: int | None
    rows: int | None
    missing_rows: int | None
    guard: str | None
    pending_people: int | None
    longest_wait: int | None
    withheld_rows: int | None
    retained_rows: int | None
    ledger: str | None
    epsilon_left: float | None
    share_left: float | None
    advice: str | None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A row of ``kanon.history``; the time is that of UTC."""

    happened_at: str
    operation: str
    object: str
    role: str
    login: str
    details: dict[str, Any]


def health(db: Database) -> list[HealthState]:
    """Return how each release and each table that answers queries is."""
    return [HealthState(**row) for row in db.rows(statement("list_health"))]


def history(db: Database, most: int | None = None) -> list[HistoryEntry]:
    """Return the last entries of the history, the latest last; all of them without `most`."""
    if most is not None and most < 1:
        raise InputError("The number of entries must be at least 1.", hint="Leave it out for all of them.")
    rows = db.rows(statement("list_history"), most)
    return [HistoryEntry(**{**row, "details": json.loads(row["details"])}) for row in rows]
