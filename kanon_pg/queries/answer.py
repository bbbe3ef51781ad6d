"""The two operations on questions: check one, ask one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError, KanonError, LimitExceeded
from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.checker import check
from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.ledgers import has_folder
from kanon_pg.queries.load_catalog import Loaded, load, with_records
from kanon_pg.queries.parameters import values
from kanon_pg.queries.protection_rules import ProtectionRules
from kanon_pg.queries.record import prepare, record
from kanon_pg.queries.request import AnswerTable, Asked, Question, Told, refused, withheld
from kanon_pg.queries.run import run, uncounted, whole_reads, worth_gathering

_SECONDS, _ROWS = 30.0, 10_000
"""Limits of questions that read public relations only."""

_KEPT_VERDICTS = 32


def check_query(db: Database, text: str, role: str, *, search_path: tuple[str, ...] = ("public",)) -> Verdict:
    """Check a question without running it; reads the catalog only.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role.
    text : str
        One SELECT.
    role : str
        Whose rights count.
    search_path : tuple of str
        The asker's.

    Returns
    -------
    Verdict
        Accepted, or refused with findings.
    """
    loaded = with_records(db, load(db, text, search_path, role), None)
    return verdict_on(text, loaded.snapshot, loaded.rules)


def ask(
    db: Database,
    question: Question,
    role: str,
    login: str,
    *,
    held: Collection[int],
    folder: str | None = None,
) -> AnswerTable:
    """Answer a question about public and protected relations.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role; one snapshot.
    question : Question
        What is asked.
    role : str
        Whose rights count.
    login : str
        Whose budgets count.
    held : collection of int
        OIDs of the relations that cannot be exchanged meanwhile, because they are locked; no others are read.
    folder : str, optional
        Folder of the records of questions; None in a server's backend, which has its own.

    Returns
    -------
    AnswerTable
        The answer, after it was recorded.

    Raises
    ------
    QuestionRefused
        With all findings; the data had no say in it.
    InputError
        The rules want a record, and there is no folder for it.
    AnswerWithheld
        For every other reason.
    """
    loaded = with_records(db, load(db, question.text, question.search_path, role), folder)
    verdict = verdict_on(question.text, loaded.snapshot, loaded.rules)
    if not verdict.accepted:
        raise refused(verdict.findings)
    try:
        given = values(verdict, question.text, question.parameters)
    except Refusal as refusal:
        raise refused((refusal.finding,)) from None
    if any(loaded.rules[oid].ledger != "off" for oid in verdict.protected) and not has_folder(folder):
        raise InputError(
            "The rules of a table want every question recorded, and this process has no folder for records.",
            hint="Ask through the functions in the server, or give ledger_folder, the same at every call.",
        )
    if not set(verdict.relations) <= set(held):
        raise withheld()
    asked = Asked(question.text, question.parameters, login, role, db.row(statement("now"))["seconds"])
    if verdict.protected:
        prepare()
    with uncounted(db), whole_reads(db):
        told = _told(db, verdict, loaded, given, folder)
        may_leave = not verdict.protected or _recorded(db, asked, verdict, loaded, told, folder)
    if told.answer is None or not may_leave:
        raise withheld()
    return told.answer


def _recorded(
    db: Database,
    asked: Asked,
    verdict: Verdict,
    loaded: Loaded,
    told: Told,
    folder: str | None,
) -> bool:
    try:
        with db.savepoint():
            return record(db, asked, verdict, loaded.snapshot, told, folder=folder)
    except KanonError:
        return False


def _told(
    db: Database, verdict: Verdict, loaded: Loaded, given: tuple[str | None, ...], folder: str | None
) -> Told:
    rules = [loaded.rules[oid] for oid in verdict.protected]
    seconds = min((rule.seconds for rule in rules), default=_SECONDS)
    most_rows = min((rule.rows for rule in rules), default=_ROWS)
    try:
        with db.deadline(seconds), db.savepoint():
            gathers = worth_gathering(db, verdict, given, loaded.rules, folder=folder)
            return run(db, verdict, given, most_rows, gathers=gathers)
    except LimitExceeded:
        return Told(None, "time")
    except KanonError:
        return Told(None, "error")


def verdict_on(text: str, snapshot: CatalogSnapshot, rules: Mapping[int, ProtectionRules]) -> Verdict:
    """Check a question under the strictest choices of the relations that it reads; asks no database.

    Parameters
    ----------
    text : str
        One SELECT.
    snapshot : CatalogSnapshot
        What the asker may name.
    rules : Mapping of int to ProtectionRules
        By the OID of a relation in the snapshot, as in `kanon_pg.queries.load_catalog.Loaded`.

    Returns
    -------
    Verdict
        Accepted, or refused with findings.
    """
    verdict = _checked(text, snapshot, _options(rules))
    if not verdict.accepted:
        return verdict
    return _checked(text, snapshot, _options({oid: rules[oid] for oid in verdict.protected}))


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
        # a question to two tables, one of each kind, is refused under the stricter rule
        dominance=None if simulatable else min(shares, default=None),
        simulatable=simulatable,
    )
