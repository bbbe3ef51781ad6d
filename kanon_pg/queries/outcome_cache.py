"""Whether a table is as the ledger's worker has read it, and what queries came to in that state.

A query over one table that comes again while its table has not changed has the same outcome: nothing that is
allowed in it depends on anything but the rows, the parameters and the time zone. It is not run again then;
the ledger decides and records it like any other. What is read depends on whether any row of the table was
written, never on the rows that the query chooses, nor on whether its answer may leave: outcomes without an
answer are cached like others, and how many are cached is bounded by their number alone.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import Statement, statement
from kanon_pg.queries.check.catalog import Relation
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.check.write.table_snapshot import fingerprint_sql, has_tids
from kanon_pg.queries.ledgers import LedgerContext
from kanon_pg.queries.request import QueryOutcome, StateCheck
from kanon_pg.runner import ledger_parent

_MOST_TRANSACTIONS = 2**30
"""Since a table snapshot; ``xmin`` has 32 bits."""

_MOST_OUTCOMES = 32

_CLOCK_FUNCTIONS = ("current_", "localtime", "_timestamp", "now")


def reads_clock(sql: str) -> bool:
    """Return whether a statement of the checker may depend on the time."""
    lowered = sql.lower()
    return any(name in lowered for name in _CLOCK_FUNCTIONS)


def version_of(state: str) -> str | None:
    """Return the part of a state that is the same as long as the table has the same rows."""
    version = json.loads(state)["version"]
    return None if version is None else json.dumps(version)


def shown_state(
    db: Database, relation: Relation, context: LedgerContext, version: Sequence[Any] | None
) -> str:
    """Return a state as the ledger's worker keeps it.

    What the transaction itself did to the rows may be rolled back. Rows that it removed would be there
    again, without being the work of a later transaction: nothing is in such a state a second time.
    """
    if context.wrote_nothing:
        return json.dumps({"snapshot": context.snapshot, "version": version})
    wrote = version is not None and db.row(statement("wrote_rows"), relation.oid)["wrote"]
    return json.dumps({"snapshot": None, "version": None if wrote else version})


def table_files(db: Database, relation: Relation) -> str:
    """Return what a table is stored in and read as."""
    return str(db.row(statement("relation_files"), relation.oid)["files"])


def check_state(db: Database, relation: Relation, context: LedgerContext, before: str | None) -> StateCheck:
    """Compare a table with an earlier state, which reads all of it unless nothing at all was written.

    A view is never in an earlier state: its rows can follow the clock or a setting, without any write.
    """
    if before is None or not has_tids(relation):
        return StateCheck(before, None)
    earlier = json.loads(before)
    if context.wrote_nothing and earlier.get("snapshot") == context.snapshot:
        return StateCheck(before, before)
    version = earlier.get("version")
    if version is None or version != _version(db, relation, context, version[-1]):
        return StateCheck(before, None)
    return StateCheck(before, shown_state(db, relation, context, version))


def renewed_state(
    db: Database,
    relation: Relation,
    context: LedgerContext,
    ledger: str,
    worker_state: Mapping[str, Any],
) -> tuple[StateCheck, Mapping[str, Any]]:
    """Compare a table with the state that the worker has, or with a newer one that another session stored.

    Returns
    -------
    StateCheck, mapping
        And what the worker has now (`kanon_pg.runner.ledger_parent.states`).
    """
    check = check_state(db, relation, context, worker_state["state"])
    if check.present is not None or not has_tids(relation):
        return check, worker_state
    (found,) = ledger_parent.states(context.parent, context.epoch, [ledger], db.checkpoint, renew=True)
    if found["state"] != worker_state["state"]:
        check = check_state(db, relation, context, found["state"])
    return StateCheck(found["state"], check.present), found


def _version(db: Database, relation: Relation, context: LedgerContext, horizon: Any) -> list[Any] | None:
    # a table snapshot of an older version of this package has none; one that was taken after the present
    # snapshot does not look at the rows in which the two differ
    if not isinstance(horizon, int) or not 0 <= context.horizon - horizon < _MOST_TRANSACTIONS:
        return None
    text = fingerprint_sql(relation, horizon)
    if text is None:
        return None
    (row,) = db.read(Statement(text, ()))
    return [row["rows"], row["fingerprint"], table_files(db, relation), horizon]


@dataclass(frozen=True, slots=True)
class _CachedOutcome:
    """An outcome, and the state of the table in which it came."""

    version: str
    outcome: QueryOutcome
    rows: bytes | None


class OutcomeCache(threading.local):
    """The outcomes of the queries of this thread that came last."""

    def __init__(self) -> None:
        self._cached: dict[str, _CachedOutcome] = {}

    def find(self, key: str, version: str | None) -> QueryOutcome | None:
        """Return the outcome of a query in a state of its table, None if it is not cached."""
        cached = self._cached.pop(key, None)
        if cached is None:
            return None
        self._cached[key] = cached
        if version is None or cached.version != version:
            return None
        if cached.outcome.answer is None or cached.rows is None:
            return cached.outcome
        rows = tuple(tuple(row) for row in json.loads(zlib.decompress(cached.rows)))
        return replace(cached.outcome, answer=replace(cached.outcome.answer, rows=rows))

    def remember(self, outcome: QueryOutcome, version: str | None) -> None:
        """Remember an outcome that has a key; the oldest one is forgotten if there are too many."""
        if outcome.key is None or version is None:
            return
        cached = self._cached.pop(outcome.key, None)
        if cached is not None and cached.version == version:
            # the outcome was found here, or is the same again
            self._cached[outcome.key] = cached
            return
        bare, rows = replace(outcome, sets={}, checked=None, composed=frozenset()), None
        if outcome.answer is not None:
            rows = zlib.compress(json.dumps(outcome.answer.rows).encode(), 1)
            bare = replace(bare, answer=replace(outcome.answer, rows=()))
        self._cached[outcome.key] = _CachedOutcome(version, bare, rows)
        while len(self._cached) > _MOST_OUTCOMES:
            del self._cached[next(iter(self._cached))]


outcome_cache = OutcomeCache()


def outcome_key(
    verdict: Verdict, text: str, set_keys: Sequence[str | None], context: LedgerContext, ledger: str
) -> str | None:
    """Return what the outcome of a query depends on besides the rows of its table; None if that is more.

    Parameters
    ----------
    text : str
        What runs, with the limits that its rows are checked against.
    set_keys : sequence of (str or None)
        Of its sets (`kanon_pg.queries.recording.set_key`), which depend on parameters and time zone.
    ledger : str
        Name of the table's ledger.
    """
    if None in set_keys or reads_clock(verdict.canonical_sql or ""):
        return None
    outputs = [[output.name, output.type_name] for output in verdict.outputs]
    parts = [text, outputs, verdict.empty_refused, set_keys, context.parent, context.epoch, ledger]
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()
