"""How likely people are found again, through either interface; changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.audit.asking import Asking, asking
from kanon_pg.audit.released import risk_in_people
from kanon_pg.audit.request import RiskCall
from kanon_pg.audit.risk_findings import RiskFigures, risk_figures
from kanon_pg.audit.subject import (
    AuditColumn,
    AuditSubject,
    Known,
    linking_columns,
    look_up,
    sensitive_columns,
)
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.risk import DEEPEST
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.errors import UnsuitableColumn
from kanon_pg.release.counting import Counted


def risk(db: Database, call: RiskCall) -> tuple[RiskFigures, ...]:
    """Return the risk of a relation and, unless columns are given, of its releases.

    Parameters
    ----------
    db : Database
        Acts with the rights of the caller. No statement writes.
    call : RiskCall
        What is asked.

    Returns
    -------
    tuple of RiskFigures
        The relation first, then its releases that the caller may read, by name.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    call.check()
    known = look_up(db, call.relation)
    subject = linking_columns(db, known, call.columns)
    sensitive = sensitive_columns(db, known, call.sensitive, subject)
    population = None if call.population is None else _population(db, call.population, subject)
    releases = releases_of(db, known) if call.columns is None else ()
    is_plain = call.columns is None and call.sensitive is None and population is None
    if known.hides_people and not is_plain:
        tell_rows_are_counted(db, known)
    with asking(db, call.time_limit) as worker:
        if known.hides_people and is_plain:
            return (risk_in_people(worker, call, known),)
        figures = [relation_risk(worker, call, subject, sensitive, population)]
        figures += [release_risk(worker, call, release) for release in releases]
    return tuple(figures)


def releases_of(db: Database, known: Known) -> Sequence[Row]:
    """Return the releases of a relation that the caller may know of and read."""
    if not known.knows_releases or known.is_release:
        return ()
    return db.rows(statement("audit_releases"), known.relation.oid)


def tell_rows_are_counted(db: Database, known: Known) -> None:
    """Say that a release does not tell whose rows it has, and that rows are counted."""
    db.notice(
        f"Release {known.relation.identifier} does not tell whose rows it has: by other columns than its "
        "quasi-identifiers rows are counted, not people."
    )


def release_risk(worker: Asking, call: RiskCall, release: Row) -> RiskFigures:
    """Return the risk of a release by its own quasi-identifiers.

    Parameters
    ----------
    worker : Asking
        Has the time.
    call : RiskCall
        Threshold and sampling fraction.
    release : mapping
        One of `releases_of`.
    """
    known = look_up(worker.db, release["view"])
    if known.hides_people:
        return risk_in_people(worker, call, known)
    subject = linking_columns(worker.db, known, None)
    return relation_risk(worker, call, subject, sensitive_columns(worker.db, known, None, subject))


def relation_risk(
    worker: Asking,
    call: RiskCall,
    subject: AuditSubject,
    sensitive: tuple[AuditColumn, ...],
    population: AuditSubject | None = None,
    counted: Counted | None = None,
) -> RiskFigures:
    """Return the risk of a relation by some columns.

    Parameters
    ----------
    worker : Asking
        Has the time.
    call : RiskCall
        Threshold and sampling fraction.
    subject : AuditSubject
        What the attacker knows.
    sensitive : tuple of AuditColumn
        None of them known to the attacker.
    population : AuditSubject, optional
        A register by the same columns.
    counted : Counted, optional
        The row types of exactly these columns, if they are there already.
    """
    counted = counted or worker.count(subject, sensitive)
    register: tuple[PackedRowTypes, ...] = ()
    if population is not None:
        register = (worker.count(population).row_types,)
    answer = worker.ask(
        "risk",
        counted.row_types,
        *register,
        threshold=call.threshold,
        sampling_fraction=call.sampling_fraction,
        uniques_seconds=call.uniques_seconds,
    )
    relation = str(subject.known.relation.identifier)
    complete, every = answer["uniques"]["complete_columns"], min(DEEPEST, len(subject.names))
    if complete < every and call.uniques_seconds is None:
        most = "1 column" if complete == 1 else f"{complete} columns"
        worker.db.notice(
            f"In {relation} the time sufficed for the combinations of at most {most} that only one person "
            f"has, not for those of {every}."
        )
    return risk_figures(relation, subject.names, counted.rows, call.threshold, answer)


def _population(db: Database, relation: str, subject: AuditSubject) -> AuditSubject:
    """Return the register by the same columns.

    Raises
    ------
    UnsuitableColumn
        A column of the register has another type, so that its values cannot be compared.
    """
    known = look_up(db, relation)
    register = linking_columns(db, known, subject.names, in_order=True)
    for ours, theirs in zip(subject.columns, register.columns, strict=True):
        if str(ours.identity("r")) != str(theirs.identity("r")):
            raise UnsuitableColumn(
                f"Column {ours.output} has type {ours.facts.type} in {subject.known.relation.identifier}, "
                f"but {theirs.facts.type} in {known.relation.identifier}.",
                hint="Cast it in a view of the population.",
            )
    return register
