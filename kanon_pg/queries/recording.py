"""Sends a query to the ledger's worker, which records it and decides whether its answer may leave."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kanon_pg.core.interrupted import collect, interruptions, is_locked_out, running
from kanon_pg.core.unrecorded import UnrecordedQuery, has_room, note
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import KanonError, LedgerError, LedgerUnavailable, LimitExceeded
from kanon_pg.queries.check.catalog import CatalogSnapshot, Relation
from kanon_pg.queries.check.plan.aggregates import people_of_spreads
from kanon_pg.queries.check.verdict import EntitySet, RowPartition, SetComposition, Verdict
from kanon_pg.queries.check.write.table_snapshot import (
    content_description,
    has_tids,
    table_snapshot_sql,
    transaction_number,
)
from kanon_pg.queries.ledgers import LedgerContext, has_folder, ledger_context, mark_of
from kanon_pg.queries.load_catalog import load_relation
from kanon_pg.queries.outcome_cache import (
    outcome_cache,
    reads_clock,
    renewed_state,
    shown_state,
    table_files,
    version_of,
)
from kanon_pg.queries.parameters import parameter_values
from kanon_pg.queries.partitions import ComposingTable, ReadPartition
from kanon_pg.queries.protection_rules import ProtectionRules, fetch_rules
from kanon_pg.queries.request import Failure, QueryOutcome, QueryRecord, StateCheck
from kanon_pg.runner import ledger_parent
from kanon_pg.runner.ledger_parent import LedgerMark, LedgerRequest

_SECONDS_FOR_REFUSALS = 5.0
"""Time to record that no answer could be given."""

_ABORTED = frozenset({"time", "error", "fault"})
"""Failures of a query that did not run to its end."""

_STRICTNESS = ("off", "pairwise", "linear")


def record_query(
    db: Database,
    query_record: QueryRecord,
    verdict: Verdict,
    snapshot: CatalogSnapshot,
    outcome: QueryOutcome,
    *,
    folder: str | None = None,
    keep_marks: Callable[[Sequence[LedgerMark]], None] = lambda marks: None,
) -> bool:
    """Record a query and decide whether its answer may leave.

    Whatever stands behind the answer is read in the snapshot of the answer. When this returns True, the
    record is durable; when it raises, something may have been recorded that was not disclosed, which only
    refuses more.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role and the snapshot in which the answer was computed.
    verdict : Verdict
        Accepted; names the protected relations and the sets of people.
    outcome : QueryOutcome
        The answer, or the reason why there is none.
    folder : str, optional
        Folder of all ledgers; None in a server's backend, for the one in the data directory.
    keep_marks : callable
        Receives the marks of journals that the database should know before the answer leaves.

    Returns
    -------
    bool
        True: the answer may leave.

    Raises
    ------
    KanonError
        Nothing may leave.
    """
    rules = {oid: _rules_of(db, oid) for oid in verdict.protected}
    if not has_folder(folder) and not needs_ledger(verdict, rules):
        return outcome.answer is not None
    context = ledger_context(db, folder)
    query = _Recording(
        db,
        query_record,
        verdict,
        snapshot,
        rules,
        context,
        outcome,
        # what the database says is about the journals in its own data directory
        keep_marks if folder is None else None,
    )
    if outcome.failure in _ABORTED:
        return query.refuse(outcome.failure)
    try:
        with db.deadline(min(rule.seconds for rule in rules.values())), db.savepoint():
            return query.decide(outcome.failure, reads=True)
    except KanonError as error:
        # the error may depend on the data, so it must count like any other refusal
        query.refuse(outcome.failure or failure_of(error))
        raise


@contextmanager
def allowed_to_run(
    db: Database,
    query_record: QueryRecord,
    verdict: Verdict,
    snapshot: CatalogSnapshot,
    *,
    folder: str | None = None,
) -> Iterator[bool]:
    """Yield whether a query may run; until the block has ended it is written down as interrupted.

    It may not if it could not be written down should it not be recorded: then the ledger's process failed
    thousands of times since it decided last. Nor if its login interrupted so many queries that it is locked
    out. Such a query is recorded as one that was not run, for which the process moves all others into the
    journal, or fails again.

    Parameters
    ----------
    db, query_record, verdict, snapshot, folder
        As in `record_query`.
    """
    if not has_folder(folder):
        yield True
        return
    with ExitStack() as stack:
        is_allowed = False
        # an error here is such as on a standby server, where nothing can be recorded either
        with suppress(KanonError, OSError):
            with db.savepoint():
                rules = {oid: _rules_of(db, oid) for oid in verdict.protected}
                context = ledger_context(db, folder)
                recording = _Recording(
                    db, query_record, verdict, snapshot, rules, context, QueryOutcome(None), None
                )
                is_allowed = recording.is_allowed()
            for path in recording.folders().values() if is_allowed else ():
                stack.enter_context(running(path, recording.unrecorded("interrupted")))
        yield is_allowed


def needs_ledger(verdict: Verdict, rules: Mapping[int, ProtectionRules]) -> bool:
    """Return whether figures have to be compared with others: earlier ones, or others of the same query."""
    return any(
        rule.ledger != "off" or _has_parts(verdict, rules, rule.relation)
        for rule in (rules[oid] for oid in verdict.protected)
    )


def _has_parts(verdict: Verdict, rules: Mapping[int, ProtectionRules], root: int) -> bool:
    """Return whether a query has figures over several sets of people that nothing else compares."""
    own = [item for item in verdict.entity_sets if rules[item.relation].relation == root]
    return sum(item.kind in {"groups", "windows"} for item in own) > 1 or any(
        item.kind == "known" and item.filters for item in own
    )


def failure_of(error: KanonError) -> Failure:
    """Return what an error means for the record of a query that failed with it."""
    if isinstance(error, LimitExceeded):
        return "time"
    # whatever else fails, a process that runs out of memory or a full disk too, may fail because of the data
    if isinstance(error, LedgerUnavailable):
        return "fault"
    return "record" if isinstance(error, LedgerError) else "error"


def start_ledger() -> None:
    """Start the session's ledger worker, which loads its libraries while the query runs."""
    # if it cannot be started, the error is raised when it is needed
    with suppress(KanonError):
        ledger_parent.ledger_session.start()


_NOTHING: Mapping[str, Any] = {
    "description": None,
    "table_snapshot": None,
    "sets": None,
    "partitions": [],
    "seen": None,
    "state": None,
}


def _rules_of(db: Database, oid: int) -> ProtectionRules:
    found = fetch_rules(db, oid)
    if found is None:
        raise LedgerError("A relation ceased to be protected while a query about it ran.")
    return found


@dataclass(frozen=True, slots=True)
class _Recording:
    """One query while it is recorded."""

    db: Database
    query_record: QueryRecord
    verdict: Verdict
    snapshot: CatalogSnapshot
    rules: Mapping[int, ProtectionRules]
    context: LedgerContext
    outcome: QueryOutcome
    keep_marks: Callable[[Sequence[LedgerMark]], None] | None

    def decide(self, failure: Failure | None, *, reads: bool) -> bool:
        """Return whether the answer may leave; without `reads` nothing is read of the relations."""
        # partitions and children share the ledger of the table that is protected
        roots = {rule.relation: rule for rule in self.rules.values()}
        ledgers = self._ledgers(list(roots))
        names = {oid: row["name"] for oid, row in ledgers.items()}
        states = ledger_parent.states(
            self.context.parent, self.context.epoch, list(names.values()), self.db.checkpoint
        )
        query = {
            "time": self.query_record.time,
            "analyst": self.query_record.login,
            "text": _encoded(self.query_record),
        }
        request = LedgerRequest({"parent": self.context.parent, "epoch": self.context.epoch, "query": query})
        request.fields["ledgers"] = [
            {
                "name": name,
                **_terms(roots[root]),
                "failure": failure,
                "left_out": self.outcome.left_out,
                "mark": None if self.keep_marks is None else mark_of(ledgers[root]),
                **(self._contents(request, root, name, state, failure) if reads else _NOTHING),
            }
            for (root, name), state in zip(names.items(), states, strict=True)
        ]
        decision = ledger_parent.decide(request, self.db.checkpoint)
        if self.keep_marks is not None:
            old = {row["name"] for row in ledgers.values() if row["is_old"]}
            self.keep_marks([mark for mark in decision.marks if mark.name in old])
        return decision.allowed

    def refuse(self, failure: Failure) -> bool:
        """Record that there is no answer; in a file of its own if the ledger's process fails again."""
        try:
            # a savepoint here, too: messages of the server at the level debug5 count them
            with self.db.deadline(_SECONDS_FOR_REFUSALS), self.db.savepoint():
                return self.decide(failure, reads=False)
        except KanonError as error:
            # what may be the query's doing counts, whatever else is broken
            reason = failure_of(error) if failure == "fault" else failure
            for folder in self.folders().values():
                # without room nothing can be written anywhere
                with suppress(OSError), self.db.deadline(_SECONDS_FOR_REFUSALS):
                    note(folder, self.unrecorded(reason), self.db.checkpoint)
            return False

    def is_allowed(self) -> bool:
        """Return whether the query may run; if not, it is recorded."""
        roots = {rule.relation: rule for rule in self.rules.values()}
        folders = self.folders()
        if not all(has_room(path) for path in folders.values()):
            self.refuse("fault")
            return False
        for path in folders.values():
            collect(path, self.db.checkpoint)
        if any(self._is_locked_out(roots[root], interruptions(path)) for root, path in folders.items()):
            self.refuse("budget")
            return False
        return True

    def folders(self) -> dict[int, Path]:
        """Return the folder of each relation's ledger."""
        roots = list({rule.relation for rule in self.rules.values()})
        return {root: Path(self.context.parent, row["name"]) for root, row in self._ledgers(roots).items()}

    def _is_locked_out(self, rules: ProtectionRules, times: Sequence[tuple[float, str]]) -> bool:
        own = [time for time, login in times if login == self.query_record.login]
        everybody = [time for time, _ in times]
        return any(
            most is not None
            and is_locked_out(
                found, self.query_record.time, most=most, period=rules.period, lockout=rules.lockout
            )
            for found, most in ((own, rules.refusals), (everybody, rules.all_refusals))
        )

    def unrecorded(self, reason: Failure) -> UnrecordedQuery:
        """Return the query as it is written down where it cannot be recorded."""
        asked = self.query_record
        return UnrecordedQuery(asked.time, asked.login, _encoded(asked), reason)

    def _ledgers(self, roots: list[int]) -> dict[int, Row]:
        found = {row["relation"]: row for row in self.db.rows(statement("fetch_ledgers"), roots)}
        if found.keys() != set(roots):
            raise LedgerError(
                "There is no ledger of queries about a protected relation.",
                hint="SELECT kanon_protect(...) begins one.",
            )
        return found

    def _contents(
        self,
        request: LedgerRequest,
        root: int,
        name: str,
        worker_state: Mapping[str, Any],
        failure: Failure | None,
    ) -> dict[str, Any]:
        """Return what the worker needs of a relation: its table snapshot and the sets behind the answer."""
        if self._mode(root) == "off" and not _has_parts(self.verdict, self.rules, root):
            return {**_NOTHING, "sets": [] if failure is None else None}
        relation = self._relation(root)
        check, worker_state = self._checked(relation, name, worker_state)
        seen, state, leaves = self._state(request, relation, worker_state, check)
        outcome_cache.remember(self.outcome, version_of(state))
        partitions: dict[str, dict[str, Any]] = {}
        # a query that is already refused reads as much as others, so that its cost does not show the reason
        sets = self._sets(request, root, worker_state, partitions if leaves is None else None)
        return {
            "description": content_description(relation),
            "table_snapshot": leaves,
            "sets": sets,
            "partitions": list(partitions.values()),
            "seen": seen,
            "state": state,
        }

    def _checked(
        self, relation: Relation, name: str, worker_state: Mapping[str, Any]
    ) -> tuple[StateCheck, Mapping[str, Any]]:
        """Return whether the table is in the state that the worker has, and what the worker has then."""
        check = self.outcome.checked
        if check is not None and check.before == worker_state["state"]:
            return check, worker_state
        return renewed_state(self.db, relation, self.context, name, worker_state)

    def _mode(self, root: int) -> str:
        return next(rule.ledger for rule in self.rules.values() if rule.relation == root)

    def _relation(self, root: int) -> Relation:
        named = next((relation for relation in self.snapshot.relations if relation.oid == root), None)
        return named if named is not None else load_relation(self.db, root, self.query_record.role)

    def _state(
        self,
        request: LedgerRequest,
        relation: Relation,
        worker_state: Mapping[str, Any],
        check: StateCheck,
    ) -> tuple[str, str, list[dict[str, Any]] | None]:
        """Return the state that the worker must have seen, the present one, and a snapshot if needed."""
        if check.before is not None and check.present is not None:
            return check.before, check.present, None
        horizon, files = self.context.horizon, table_files(self.db, relation)
        command = Statement(table_snapshot_sql(relation), ("text", "text"))
        leaves = self.db.read(command, str(worker_state["seed"]), transaction_number(horizon))
        total = 0
        for leaf in leaves:
            total ^= leaf["fingerprint"]
        rows = sum(leaf["rows"] for leaf in leaves)
        version = [rows, total, files, horizon] if has_tids(relation) else None
        state = shown_state(self.db, relation, self.context, version)
        packed = [
            {
                "oid": leaf["leaf"],
                "parts": request.attach(leaf["tids"] or b"", leaf["contents"], leaf["people"] or b""),
            }
            for leaf in leaves
        ]
        return state, state, packed

    def _sets(
        self,
        request: LedgerRequest,
        root: int,
        worker_state: Mapping[str, Any],
        partitions: dict[str, dict[str, Any]] | None,
    ) -> list[dict[str, Any]]:
        """Return the sets behind the answer.

        Parameters
        ----------
        partitions : dict or None
            Receives by their keys those that the worker lacks; None if it has nothing of the present state.
        """
        given = parameter_values(self.verdict, self.query_record.text, self.query_record.parameters)
        found = []
        for number, item in enumerate(self.verdict.entity_sets):
            if self.rules[item.relation].relation != root or self._is_covered(item):
                continue
            arguments = (*given, str(worker_state["seed"])) if item.seed is not None else given
            key = set_key(self.verdict, item, arguments, self.context.zone)
            packed: dict[str, Any] = {
                "kind": item.kind,
                "level": item.level,
                "narrowed": item.narrowed,
                "is_whole": item.is_whole,
                "spreads": list(item.spreads),
                "disjoint": item.disjoint,
                "by_content": item.seed is not None,
                "key": key,
                # partitions and children have some of their parent's rows
                "everybody": item.everybody and item.relation == root,
                "union": item.union,
            }
            is_sent = key is None or partitions is None or key not in worker_state["sets"]
            if is_sent and not (packed["everybody"] or item.union):
                packed |= self._rows(request, root, worker_state, number, arguments, partitions)
            found.append(packed)
        return found

    def _rows(
        self,
        request: LedgerRequest,
        root: int,
        worker_state: Mapping[str, Any],
        number: int,
        arguments: Sequence[str | None],
        partitions: dict[str, dict[str, Any]] | None,
    ) -> dict[str, Any]:
        """Return the rows of sets, or how these are composed."""
        item = self.verdict.entity_sets[number]
        if partitions is not None and number in self.outcome.composed and item.composition is not None:
            composed = self._composed(request, root, worker_state, item.composition, arguments, partitions)
            if composed is not None:
                return {"composed": composed}
        parts = self.outcome.sets.get(number)
        return {"parts": request.attach(*(parts or self._read(item, arguments)))}

    def _composed(
        self,
        request: LedgerRequest,
        root: int,
        worker_state: Mapping[str, Any],
        composition: SetComposition,
        arguments: Sequence[str | None],
        partitions: dict[str, dict[str, Any]],
    ) -> dict[str, Any] | None:
        """Return how sets are composed; None if a partition cannot be used."""
        name = self._ledgers([root])[root]["name"]
        known = {**worker_state, "sets": [*worker_state["sets"], *partitions]}
        table = ComposingTable.of(name, self.context.zone, known)
        if table is None:
            return None

        def send(read: ReadPartition, parts: Sequence[bytes], partition: RowPartition) -> None:
            partitions[read.key] = {
                "key": read.key,
                "parts": request.attach(*parts),
                "is_truth": partition.kind == "truth",
                "disjoint": True,
                "by_content": False,
                "statement": read.statement if table.may_store(partition) else None,
            }

        def load(read: ReadPartition) -> bool:
            wanted = {"state": worker_state["state"], "statement": read.statement, "key": read.key}
            parent, epoch = self.context.parent, self.context.epoch
            if not ledger_parent.load_partition(parent, epoch, name, wanted, self.db.checkpoint):
                return False
            # other sets of the query need not load it again
            worker_state["sets"].append(read.key)
            return True

        return table.composed(self.db, composition, arguments, send, load)

    def _read(self, item: EntitySet, arguments: Sequence[str | None]) -> Sequence[bytes]:
        (row,) = self.db.read(Statement(item.sql, ("text",) * len(arguments)), *arguments)
        # in the order in which the statement names them
        return list(row.values())

    def _is_covered(self, item: EntitySet) -> bool:
        if item.covered_by is None:
            return False
        cover, own = self.rules[item.covered_by], self.rules[item.relation]
        return (
            _STRICTNESS.index(cover.ledger) >= _STRICTNESS.index(own.ledger)
            and cover.k >= own.k
            and cover.one_sided >= own.one_sided
            and cover.rank >= own.rank
            and cover.margin >= own.margin
        )


def _encoded(query_record: QueryRecord) -> str:
    """Return a query as the ledger stores it."""
    return json.dumps([query_record.text, query_record.parameters, query_record.role])


def set_key(verdict: Verdict, item: EntitySet, arguments: Sequence[str | None], zone: str) -> str | None:
    """Return what the sets of a statement depend on besides the relation's state; None if that is more."""
    if len(verdict.relations) > 1 or reads_clock(item.sql):
        return None
    written = json.dumps([item.sql, arguments, zone]).encode()
    return blake2b(written, digest_size=16).hexdigest()


def _terms(rules: ProtectionRules) -> dict[str, Any]:
    return {
        "rules": {
            "k": rules.k,
            "spread_k": people_of_spreads(rules.k),
            "mode": rules.ledger,
            "one_sided": rules.one_sided,
            "rank": rules.rank,
            "margin": rules.margin,
            "share": rules.share,
            "suppresses": rules.mode == "suppress",
        },
        "per_analyst": {
            **_budget(rules, rules.queries, rules.refusals),
            "near_refusals": rules.near_refusals,
        },
        "overall": _budget(rules, rules.all_queries, rules.all_refusals),
    }


def _budget(rules: ProtectionRules, queries: int | None, refusals: int | None) -> dict[str, Any]:
    return {
        "queries": queries,
        "refusals": refusals,
        "period": rules.period,
        "lockout": rules.lockout,
    }
