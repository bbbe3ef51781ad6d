"""Runs canonical SQL once, and checks the people behind every row before any of them is looked at.

What a query reads depends on its text, not on how many rows match (`full_scans`), and stays out of the
server's statistics (`without_statistics`). The sets of people that the ledger needs are read in the same
scan unless they are composed (`kanon_pg.queries.partitions`), and a query that comes again while its table
has not changed is not run (`outcome_of`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DatabaseError, KanonError, LimitExceeded
from kanon_pg.queries.check.catalog import Relation
from kanon_pg.queries.check.verdict import CombinedSql, Verdict
from kanon_pg.queries.ledgers import LedgerContext, has_partitions, ledger_context
from kanon_pg.queries.load_catalog import LoadedCatalog
from kanon_pg.queries.outcome_cache import outcome_cache, outcome_key, renewed_state, version_of
from kanon_pg.queries.partitions import ComposingTable
from kanon_pg.queries.recording import set_key
from kanon_pg.queries.request import AnswerTable, QueryOutcome
from kanon_pg.runner import ledger_parent

_BACKED = "kanon_backed"
_SET = "kanon_set"
_LEFT_OUT = "kanon_left_out"


def run_query(
    db: Database, verdict: Verdict, values: Sequence[str | None], max_rows: int, *, with_sets: bool = False
) -> QueryOutcome:
    """Run the canonical SQL of an accepted query.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role, cannot write, and has the snapshot of the check.
    values : sequence of (str or None)
        Of the parameters, in the order of `verdict.parameters`.
    max_rows : int
        Rows above which there is no answer.
    with_sets : bool
        Whether the sets that `verdict.combined_sql` names are read in the same scan.

    Returns
    -------
    QueryOutcome
        No answer if there are too many rows, or one has too few people behind it.

    Raises
    ------
    LimitExceeded
        If it takes too long.
    DatabaseError
        If the server gave up; its text must not be shown.
    """
    combined_sql = verdict.combined_sql if with_sets else None
    text = (
        _checked_sql(verdict, max_rows + 1)
        if combined_sql is None
        else _combined_text(verdict, combined_sql, max_rows + 1)
    )
    if values:
        db.row(statement("plan_anew"))
    rows = db.read(Statement(text, ("text",) * len(verdict.parameters)), *values)
    sets: dict[int, list[bytes]] = {}
    if combined_sql is not None:
        rows, sets = _split_rows(rows, verdict)
    if len(rows) > max_rows:
        return QueryOutcome(None, "rows", sets=sets)
    if not all(row[_BACKED] for row in rows) or (not rows and verdict.empty_refused):
        return QueryOutcome(None, "size", sets=sets)
    shown = [f"c{number}" for number in range(1, len(verdict.outputs) + 1)]
    return QueryOutcome(
        AnswerTable(
            names=tuple(output.name for output in verdict.outputs),
            types=tuple(output.type_name for output in verdict.outputs),
            rows=tuple(tuple(row[name] for name in shown) for row in rows),
        ),
        # of an answer without rows nobody can tell whether there was nothing or too little
        left_out=verdict.left_out is not None and (not rows or any(row[_LEFT_OUT] for row in rows)),
        sets=sets,
    )


def _checked_sql(verdict: Verdict, limit: int) -> str:
    """Return the canonical SQL with its outputs as text, and one condition over all hidden columns."""
    return (
        f"{_checked_columns(verdict)} FROM ({verdict.canonical_sql}) AS q {_columns(verdict)} LIMIT {limit}"
    )


def _combined_text(verdict: Verdict, combined_sql: CombinedSql, limit: int) -> str:
    """Return the same, followed by a row for each set, which has a number and is not checked."""
    counts = {number: verdict.entity_sets[number].parts for number in combined_sql.sets}
    names = _parts(max(counts.values()))
    checked = ", ".join(
        [
            _checked_columns(verdict),
            f"{_null('int4')} AS {_SET}",
            *(f"{_null('bytea')} AS {name}" for name in names),
        ]
    )
    branches = [f"({checked} FROM ({combined_sql.body}) AS q {_columns(verdict)} LIMIT {limit})"]
    answer = [_null("text")] * len(verdict.outputs) + [_null("bool")] * 2
    for number, sql in combined_sql.sets.items():
        # a row of its own, because a row has a gigabyte at most
        parts = [*answer, str(number), "s.*", *[_null("bytea")] * (len(names) - counts[number])]
        branches.append(f"SELECT {', '.join(parts)} FROM ({sql}) AS s")
    return f"WITH {combined_sql.tables} {' UNION ALL '.join(branches)}"


def _split_rows(rows: Sequence[Row], verdict: Verdict) -> tuple[list[Row], dict[int, list[bytes]]]:
    """Return the rows of the answer, and the sets."""
    sets = {
        row[_SET]: [row[name] for name in _parts(verdict.entity_sets[row[_SET]].parts)]
        for row in rows
        if row[_SET] is not None
    }
    return [row for row in rows if row[_SET] is None], sets


def _parts(count: int) -> list[str]:
    return [f"kanon_part_{number}" for number in range(1, count + 1)]


def _null(type_name: str) -> str:
    return f"CAST(NULL AS pg_catalog.{type_name})"


def _columns(verdict: Verdict) -> str:
    shown = [f"c{number}" for number in range(1, len(verdict.outputs) + 1)]
    return f"({', '.join([*shown, *(f'h{number}' for number in range(1, len(verdict.hidden) + 1))])})"


def _checked_columns(verdict: Verdict) -> str:
    shown = [Identifier.of(f"c{number}") for number in range(1, len(verdict.outputs) + 1)]
    hidden = [Identifier.of(f"h{number}") for number in range(1, len(verdict.hidden) + 1)]
    checked = [
        f"coalesce(q.{name} OPERATOR(pg_catalog.>=) {item.minimum}, false)"
        for name, item in zip(hidden, verdict.hidden, strict=True)
    ]
    texts = [f"CAST(q.{name} AS pg_catalog.text) AS {name}" for name in shown]
    texts.append(f"{' AND '.join(checked) or 'true'} AS {_BACKED}")
    left_out = (
        "false" if verdict.left_out is None else f"q.{hidden[verdict.left_out]} OPERATOR(pg_catalog.>) 0"
    )
    texts.append(f"{left_out} AS {_LEFT_OUT}")
    return f"SELECT {', '.join(texts)}"


@contextmanager
def full_scans(db: Database) -> Iterator[None]:
    """Force full scans of relations inside the block, whatever the settings of the session.

    An index reads as many blocks as rows match, and what does not fit into ``work_mem`` goes to files. Both
    numbers are shown by ``EXPLAIN (ANALYZE, BUFFERS)`` around a call that catches the refusal, exactly and as
    often as one likes.
    """
    before = db.row(statement("pin_planner"))
    yield
    # an exception takes the settings back with everything else
    db.row(statement("unpin_planner"), before["names"], before["was"])


_COUNTING = "track_counts"

_LEAST_SECONDS = 5.0
"""That a query may take, for a worker that starts to be waited for before it runs."""


@contextmanager
def without_statistics(db: Database) -> Iterator[None]:
    """Keep what is read inside the block out of the statistics, which every role can see at once.

    How many rows an index found tells how many there are, whether the answer is withheld or not. Servers
    before PostgreSQL 15 cannot let the reading role do this; they count.
    """
    try:
        with db.savepoint():
            before = db.row(statement("set_locally"), _COUNTING, "off")["before"]
    except DatabaseError:
        yield
        return
    yield
    # an exception takes the setting back with everything else
    db.row(statement("set_locally"), _COUNTING, before)


def outcome_of(
    db: Database,
    verdict: Verdict,
    values: Sequence[str | None],
    max_rows: int,
    loaded: LoadedCatalog,
    *,
    folder: str | None,
) -> QueryOutcome:
    """Return what a query comes to: it is run, unless its outcome in the table's present state is cached.

    Sets that will be compared, and that the ledger's worker has not cached, are read in the same scan. That
    decides how often a relation is read, never what is compared: a set that was not read with the answer,
    and turns out to be needed, is read by itself.

    Parameters
    ----------
    folder : str or None
        As in `kanon_pg.queries.ledgers.ledger_context`.

    Raises
    ------
    LimitExceeded, DatabaseError
        As `run_query`.
    """
    needed = _needed_sets(verdict, loaded)
    if not needed:
        return run_query(db, verdict, values, max_rows, with_sets=False)
    context = ledger_context(db, folder)
    ledgers = db.rows(statement("fetch_ledgers"), list(set(needed.values())))
    names = {row["relation"]: row["name"] for row in ledgers}
    table = _only_table(verdict, loaded)
    ledger = None if table is None else names.get(table.oid)
    if not ledger_parent.ledger_session.is_ready() and not _may_wait(loaded, context, ledger):
        # one that is only starting has cached nothing
        return run_query(db, verdict, values, max_rows, with_sets=True)
    keys = {
        number: (root, set_key(verdict, verdict.entity_sets[number], values, context.zone))
        for number, root in needed.items()
    }
    sources = _SetSources(verdict, values, loaded, context, ledger, keys)
    states = _worker_states(db, names, context)
    composed, with_sets = sources.of(states)
    key, checked = None, None
    if table is not None and ledger is not None:
        text = _checked_sql(verdict, max_rows + 1)
        key = outcome_key(verdict, text, [key for _, key in keys.values()], context, ledger)
        if not with_sets:
            before = states[table.oid]
            checked, present = renewed_state(db, table, context, ledger, before)
            if present is not before:
                composed, with_sets = sources.of({**states, table.oid: present})
            if checked.present is None:
                # what the worker has cached is of another state
                with_sets = True
    if checked is not None and checked.present is not None and key is not None and not with_sets:
        found = outcome_cache.find(key, version_of(checked.present))
        if found is not None:
            return replace(found, checked=checked, composed=composed)
    outcome = run_query(db, verdict, values, max_rows, with_sets=with_sets)
    if with_sets:
        composed -= set(needed)  # they were read because of others
    return replace(outcome, key=key, checked=checked, composed=composed)


def _needed_sets(verdict: Verdict, loaded: LoadedCatalog) -> dict[int, int]:
    """Return which sets ledgers will compare: the relation that has the ledger, by position of the set."""
    combinable = () if verdict.combined_sql is None else verdict.combined_sql.sets
    rules = {number: loaded.rules[verdict.entity_sets[number].relation] for number in combinable}
    return {number: rule.relation for number, rule in rules.items() if rule.ledger != "off"}


def _may_wait(loaded: LoadedCatalog, context: LedgerContext, ledger: str | None) -> bool:
    """Return whether it is of use to wait for a worker that starts, and may take the time."""
    return (
        _least_seconds(loaded) >= _LEAST_SECONDS
        and ledger is not None
        and has_partitions(context.parent, ledger)
    )


def _least_seconds(loaded: LoadedCatalog) -> float:
    return min(rule.seconds for rule in loaded.rules.values())


@dataclass(frozen=True, slots=True)
class _SetSources:
    """Where the sets of a query come from: the worker, its partitions, or the scan of the answer.

    Parameters
    ----------
    ledger : str or None
        Name of the ledger of the only table that the query reads.
    keys : Mapping of int to (int, str or None)
        Relation and key of each set that will be compared, by its position in `Verdict.entity_sets`.
    """

    verdict: Verdict
    values: Sequence[str | None]
    loaded: LoadedCatalog
    context: LedgerContext
    ledger: str | None
    keys: Mapping[int, tuple[int, str | None]]

    def of(self, states: Mapping[int, Mapping[str, Any]]) -> tuple[frozenset[int], bool]:
        """Return which sets are composed, and whether others are read with the answer.

        Parameters
        ----------
        states : Mapping of int to Mapping
            By relation what the worker has (`kanon_pg.runner.ledger_parent.states`).
        """
        composed = self._composed(states)
        return composed, any(
            root not in states or (key not in states[root]["sets"] and number not in composed)
            for number, (root, key) in self.keys.items()
        )

    def _composed(self, states: Mapping[int, Mapping[str, Any]]) -> frozenset[int]:
        if self.ledger is None:
            return frozenset()
        (only,) = self.verdict.relations
        state = states.get(only)
        table = None if state is None else ComposingTable.of(self.ledger, self.context.zone, state)
        if table is None:
            return frozenset()
        lacking = {}
        for number, item in enumerate(self.verdict.entity_sets):
            key = set_key(self.verdict, item, self.values, self.context.zone)
            is_derived = item.everybody or item.union
            if (
                key is not None
                and key not in table.cached
                and item.composition is not None
                and not is_derived
            ):
                lacking[number] = item.composition
        return table.composable(lacking, _least_seconds(self.loaded))


def _only_table(verdict: Verdict, loaded: LoadedCatalog) -> Relation | None:
    """Return the one relation that a query reads, if it has a ledger of its own."""
    if len(verdict.relations) > 1 or verdict.protected != verdict.relations:
        return None
    (oid,) = verdict.relations
    if loaded.rules[oid].relation != oid:
        return None
    return next((relation for relation in loaded.snapshot.relations if relation.oid == oid), None)


def _worker_states(
    db: Database, names: Mapping[int, str], context: LedgerContext
) -> Mapping[int, Mapping[str, Any]]:
    """Return by relation the state that the ledger's worker has; nothing if it cannot be asked."""
    try:
        found = ledger_parent.states(context.parent, context.epoch, list(names.values()), db.checkpoint)
    except LimitExceeded:
        raise
    except KanonError:
        # what is wrong with the ledger is found, and recorded, when the answer is
        return {}
    return dict(zip(names, found, strict=True))
