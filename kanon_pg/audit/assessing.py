"""How likely people are reidentified, through either interface; changes nothing.

A release of a table in which a person may have several rows does not say whose rows they are. A function of
the owner role counts its classes in people and says no more than how many there are of each size.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanon_pg.audit.columns import (
    AuditColumn,
    AuditSession,
    AuditSubject,
    audit_session,
    linking_columns,
    look_up,
    quasi_identifiers,
    sensitive_columns,
)
from kanon_pg.audit.findings import RiskFigures, risk_figures
from kanon_pg.audit.request import RiskRequest
from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.risk import DEEPEST, HomogeneousClasses
from kanon_pg.core.termination import Termination
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import UnsuitableColumn
from kanon_pg.relations.counting import Counted
from kanon_pg.relations.subject import Subject, no_rows


def risk(db: Database, call: RiskRequest) -> tuple[RiskFigures, ...]:
    """Return the risk of a relation and, unless columns are given, of its releases by name."""
    call.check()
    known = look_up(db, call.relation)
    subject = linking_columns(db, known, call.columns)
    sensitive = sensitive_columns(db, known, call.sensitive, subject)
    population = None if call.population is None else _population(db, call.population, subject)
    releases = releases_of(db, known) if call.columns is None else ()
    is_plain = call.columns is None and call.sensitive is None and population is None
    if known.hides_people and not is_plain:
        db.notice(
            f"Release {known.relation.identifier} does not tell whose rows it has: by other columns than its "
            "quasi-identifiers rows are counted, not people."
        )
    with audit_session(db, call.time_limit) as worker:
        if known.hides_people and is_plain:
            return (risk_in_people(worker, call, known),)
        figures = [relation_risk(worker, call, subject, sensitive, population)]
        figures += [release_risk(worker, call, release) for release in releases]
    return tuple(figures)


def releases_of(db: Database, known: Subject) -> Sequence[Row]:
    """Return the releases of a relation that the caller may know of and read."""
    if not known.knows_releases or known.is_release:
        return ()
    return db.rows(statement("audit_releases"), known.relation.oid)


def release_risk(worker: AuditSession, call: RiskRequest, release: Row) -> RiskFigures:
    """Return the risk of a release, one of `releases_of`, by its own quasi-identifiers."""
    known = look_up(worker.db, release["view"])
    if known.hides_people:
        return risk_in_people(worker, call, known)
    subject = linking_columns(worker.db, known, None)
    return relation_risk(worker, call, subject, sensitive_columns(worker.db, known, None, subject))


def relation_risk(
    worker: AuditSession,
    call: RiskRequest,
    subject: AuditSubject,
    sensitive: tuple[AuditColumn, ...],
    population: AuditSubject | None = None,
    counted: Counted | None = None,
) -> RiskFigures:
    """Return the risk of a relation by some columns.

    Parameters
    ----------
    subject : AuditSubject
        What the attacker knows.
    counted : Counted, optional
        The row types of exactly these columns, if they are there already.
    """
    counted = counted or worker.count(subject, sensitive)
    register = () if population is None else (worker.count(population).row_types,)
    answer = worker.run(
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
    """Return the register by the same columns; refuse one whose types differ."""
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


@dataclass(frozen=True, slots=True)
class ClassesOfSize:
    """The classes of a release that have a number of people: a row of ``audit_class_sizes``."""

    people: int
    """Different people in each of them, >= 1."""
    classes: int
    rows: int
    homogeneous: Sequence[int]
    homogeneous_rows: Sequence[int]
    """`homogeneous`, `homogeneous_rows`: per sensitive column of the release: those in which everybody has
    the same value, and rows in these."""
    different_people: int
    """Different people whose smallest class is one of these: over all sizes, everybody counts once."""
    homogeneous_people: Sequence[int]
    """Per sensitive column, different people whose smallest class in which everybody has the same value is
    one of these."""


def class_sizes(db: Database, known: Subject) -> tuple[ClassesOfSize, ...]:
    """Return the classes of a release by their size in people, ascending."""
    sizes = tuple(ClassesOfSize(**row) for row in db.rows(statement("audit_class_sizes"), known.release))
    if not sizes:
        raise no_rows(known.relation)
    return sizes


def risk_in_people(worker: AuditSession, call: RiskRequest, known: Subject) -> RiskFigures:
    """Return the risk of a release that hides people, by its own quasi-identifiers."""
    worker.db.progress("counting")
    sizes = class_sizes(worker.db, known)
    answer = worker.run(
        "risk",
        _one_row_type_per_class(sizes),
        threshold=call.threshold,
        sampling_fraction=call.sampling_fraction,
        uniques_seconds=0.0,
        people_by_size=[(one.people, one.different_people) for one in sizes],
    )
    columns = [column.name for column in quasi_identifiers(known)]
    counted = risk_figures(
        str(known.relation.identifier), columns, sum(one.rows for one in sizes), call.threshold, answer
    )
    homogeneous = _homogeneous(known, sizes)
    # Where no class is of one person, no part of the columns has such a class (Lemma 1 of Yuan).
    none = () if counted.sample_uniques else (0,) * min(DEEPEST, len(columns))
    return replace(
        counted,
        minimal_uniques=none,
        people_by_unique=none,
        homogeneous=homogeneous,
        homogeneous_people=max((one.people for one in homogeneous), default=None),
        termination=Termination.EXHAUSTED if counted.sample_uniques else Termination.OPTIMAL,
    )


def _one_row_type_per_class(sizes: Sequence[ClassesOfSize]) -> PackedRowTypes:
    people = b"".join(struct.pack(">q", one.people) * one.classes for one in sizes)
    count = len(people) // 8
    numbers = struct.pack(f">{count}q", *range(count))
    return PackedRowTypes((QuasiIdentifier("class"),), numbers, people, people, (numbers,), (None,))


def _homogeneous(known: Subject, sizes: Sequence[ClassesOfSize]) -> tuple[HomogeneousClasses, ...]:
    sensitive = () if known.roles is None else known.roles.sensitive
    columns = []
    for place, column in enumerate(sensitive):
        classes = sum(one.homogeneous[place] for one in sizes)
        people = sum(one.homogeneous_people[place] for one in sizes)
        rows = sum(one.homogeneous_rows[place] for one in sizes)
        columns.append(HomogeneousClasses(column, classes, max(people, min(1, classes)), rows))
    return tuple(columns)
