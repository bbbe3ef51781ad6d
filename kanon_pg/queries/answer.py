"""Answers or checks one query: the sequence of all steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, KanonError
from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.checker import check
from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.ledgers import has_folder
from kanon_pg.queries.load_catalog import LoadedCatalog, load_catalog, query_reader, require_ledgers
from kanon_pg.queries.parameters import parameter_values, with_constants
from kanon_pg.queries.protection_rules import ProtectionRules
from kanon_pg.queries.recording import allowed_to_run, failure_of, needs_ledger, record_query, start_ledger
from kanon_pg.queries.request import AnswerTable, QueryOutcome, QueryRecord, QueryRequest, refused, withheld
from kanon_pg.queries.run import full_scans, outcome_of, without_statistics
from kanon_pg.runner.ledger_parent import LedgerMark

_SECONDS, _ROWS = 30.0, 10_000
"""Limits of queries that read public relations only."""

_KEPT_VERDICTS = 32


def check_query(db: Database, text: str, role: str, *, search_path: tuple[str, ...] = ("public",)) -> Verdict:
    """Check a query without running it; reads the catalog only.

    Parameters
    ----------
    search_path : tuple of str
        The analyst's.
    """
    loaded = require_ledgers(db, load_catalog(db, text, search_path, role), None)
    return verdict_on(text, loaded.snapshot, loaded.rules)


def answer_query(
    db: Database,
    query: QueryRequest,
    role: str,
    login: str,
    *,
    locked: Collection[int],
    folder: str | None = None,
    keep_marks: Callable[[Sequence[LedgerMark]], None] = lambda marks: None,
) -> AnswerTable:
    """Answer a query about public and protected relations.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role; one snapshot.
    locked : collection of int
        OIDs of the relations that cannot be exchanged meanwhile, because they are locked; no others are read.
    folder : str, optional
        Folder of the ledgers of queries; None in a server's backend, which has its own.
    keep_marks : callable
        As in `kanon_pg.queries.recording.record_query`.

    Raises
    ------
    QueryRefused
        With all findings; they do not depend on the data.
    InputError
        The rules want a ledger, and there is no folder for it.
    AnswerWithheld
        For every other reason.
    """
    loaded = require_ledgers(db, load_catalog(db, query.text, query.search_path, role), folder)
    verdict = verdict_on(query.text, loaded.snapshot, loaded.rules, query.parameters)
    if not verdict.accepted:
        raise refused(verdict.findings)
    try:
        given = parameter_values(verdict, query.text, query.parameters)
    except Refusal as refusal:
        raise refused((refusal.finding,)) from None
    if needs_ledger(verdict, loaded.rules) and not has_folder(folder):
        raise InputError(
            "The rules of a table want the query recorded, and this process has no folder for ledgers.",
            hint="Ask through the functions in the server, or give ledger_folder, the same at every call.",
        )
    if not set(verdict.relations) <= set(locked):
        raise withheld()
    query_record = QueryRecord(query.text, query.parameters, login, role, db.row(statement("now"))["seconds"])
    try:
        reader = query_reader(db, verdict.relations)
    except Refusal as refusal:
        raise refused((refusal.finding,)) from None
    with db.reading_as(reader):
        if not verdict.protected:
            with without_statistics(db), full_scans(db):
                outcome = _outcome(db, verdict, loaded, given, folder)
        else:
            outcome = _recorded_outcome(db, query_record, verdict, loaded, given, folder, keep_marks)
    if outcome.answer is None:
        raise withheld()
    return outcome.answer


def _recorded_outcome(
    db: Database,
    query_record: QueryRecord,
    verdict: Verdict,
    loaded: LoadedCatalog,
    given: tuple[str | None, ...],
    folder: str | None,
    keep_marks: Callable[[Sequence[LedgerMark]], None],
) -> QueryOutcome:
    """Return what a query about people comes to, without an answer that may not leave."""
    start_ledger()
    with (
        allowed_to_run(db, query_record, verdict, loaded.snapshot, folder=folder) as may_run,
        without_statistics(db),
        full_scans(db),
    ):
        # an error that passes leaves the query written down as interrupted
        if not may_run:
            return QueryOutcome(None)
        outcome = _outcome(db, verdict, loaded, given, folder)
        may_leave = _is_recorded(db, query_record, verdict, loaded, outcome, folder, keep_marks)
    return outcome if may_leave else QueryOutcome(None)


def _is_recorded(
    db: Database,
    query_record: QueryRecord,
    verdict: Verdict,
    loaded: LoadedCatalog,
    outcome: QueryOutcome,
    folder: str | None,
    keep_marks: Callable[[Sequence[LedgerMark]], None],
) -> bool:
    try:
        with db.savepoint():
            return record_query(
                db, query_record, verdict, loaded.snapshot, outcome, folder=folder, keep_marks=keep_marks
            )
    except KanonError:
        return False


def _outcome(
    db: Database, verdict: Verdict, loaded: LoadedCatalog, given: tuple[str | None, ...], folder: str | None
) -> QueryOutcome:
    rules = [loaded.rules[oid] for oid in verdict.protected]
    seconds = min((rule.seconds for rule in rules), default=_SECONDS)
    max_rows = min((rule.rows for rule in rules), default=_ROWS)
    try:
        with db.deadline(seconds), db.savepoint():
            return outcome_of(db, verdict, given, max_rows, loaded, folder=folder)
    except KanonError as error:
        return QueryOutcome(None, failure_of(error))


def verdict_on(
    text: str,
    snapshot: CatalogSnapshot,
    rules: Mapping[int, ProtectionRules],
    values: Sequence[str | None] | None = None,
) -> Verdict:
    """Check a query under the strictest choices of the relations that it reads; asks no database.

    Parameters
    ----------
    rules : Mapping of int to ProtectionRules
        By the OID of a relation in the snapshot, as in `kanon_pg.queries.load_catalog.LoadedCatalog`.
    values : sequence of (str or None), optional
        Of the parameters, for those that stand in the place of constants.
    """

    def check_with(written: str) -> Verdict:
        verdict = _checked(written, snapshot, _options(rules))
        if not verdict.accepted:
            return verdict
        return _checked(written, snapshot, _options({oid: rules[oid] for oid in verdict.protected}))

    return with_constants(text, values, check_with)


@lru_cache(maxsize=_KEPT_VERDICTS)
def _checked(text: str, snapshot: CatalogSnapshot, options: Options) -> Verdict:
    # pure: the same text, catalog and options have the same verdict
    return check(text, snapshot, options)


def _options(rules: Mapping[int, ProtectionRules]) -> Options:
    shares = [rule.dominance for rule in rules.values() if rule.dominance is not None]
    simulatable = any(rule.simulatable for rule in rules.values())
    return Options(
        mode="suppress" if rules and all(rule.mode == "suppress" for rule in rules.values()) else "reject",
        strict=any(rule.strict for rule in rules.values()),
        # a query to two tables, one of each kind, is refused under the stricter rule
        dominance=None if simulatable else min(shares, default=None),
        simulatable=simulatable,
    )
