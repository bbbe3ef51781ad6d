"""Measures a relation through either interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanon_pg.db.catalog import ColumnFacts, require_equality
from kanon_pg.db.operation import Operation
from kanon_pg.db.protocol import Database
from kanon_pg.errors import InputError
from kanon_pg.measure.classes import (
    ClassCounts,
    Measured,
    SensitiveFigures,
    count_classes,
    measure_sensitive,
)
from kanon_pg.measure.measures import Measures
from kanon_pg.relations.arguments import AnyRelation, QuasiIdentifiers, Sensitive
from kanon_pg.relations.subject import (
    Subject,
    no_quasi_identifier,
    no_rows,
    notice_unknown_roles,
    require_usable,
    resolve,
)

_ROWS_WORTH_STORING = 4
"""Rows per class from which storing the classes is cheaper than counting them twice (measured, 1M rows)."""


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """The arguments of ``kanon_measure``; an empty list of sensitive columns means none."""

    relation: AnyRelation
    quasi_identifiers: QuasiIdentifiers = None
    sensitive: Sensitive = None


MEASURE = Operation(MeasureRequest)


def measure(db: Database, request: MeasureRequest) -> Measures:
    """Measure any table or view, with the caller's own rights, without changing anything.

    Parameters
    ----------
    db : Database
        For one consistent figure its statements share a snapshot (a STABLE function, or a REPEATABLE READ
        transaction).

    Raises
    ------
    InputError
        If the relation is NULL or empty, a column has two roles, or no quasi-identifier is left.
    UnknownName
        If the relation or a column does not exist.
    NotPermitted
        If the caller may not read the columns.
    UnsuitableColumn
        If a column's type has no equality.
    """
    return figures_of(db, resolve_measured(db, request))


def resolve_measured(db: Database, request: MeasureRequest) -> Measured:
    """Find out what to measure and check that it can be measured.

    What the call does not name are the known roles; otherwise every column is a quasi-identifier except
    single-column keys. A column named in the call leaves the other role's default.

    Raises
    ------
    InputError, UnknownName, NotPermitted, UnsuitableColumn
        As `measure`.
    """
    subject = resolve(db, request.relation)
    given = None if request.quasi_identifiers is None else subject.columns(request.quasi_identifiers)
    if request.sensitive is not None:
        sensitive = subject.columns(request.sensitive)
    else:
        known = () if subject.roles is None else subject.columns(subject.roles.sensitive)
        sensitive = tuple(column for column in known if column not in (given or ()))
    for column in given or ():
        if column in sensitive:
            raise InputError(
                f"Column {column.identifier} is named both as quasi-identifier and as sensitive.",
                hint="Name each column once.",
            )
    usual = subject.quasi_identifiers()
    if given is None:
        notice_unknown_roles(db, subject)
        given = tuple(column for column in usual if column not in sensitive)
    _require_measurable(db, subject, given, sensitive)
    return Measured(subject, given, sensitive, subject.losses if given == usual else {})


def _require_measurable(
    db: Database, subject: Subject, quasi: tuple[ColumnFacts, ...], sensitive: tuple[ColumnFacts, ...]
) -> None:
    if not quasi:
        raise no_quasi_identifier(subject.relation)
    own = () if subject.suppressed is None else (subject.suppressed,)
    require_usable(db, subject, quasi, also_read=(*sensitive, *own))
    require_equality(db, subject.relation, sensitive, "be measured")


def figures_of(db: Database, measured: Measured) -> Measures:
    """Measure what was resolved before.

    Raises
    ------
    InputError
        If the relation has no rows.
    """
    db.progress("counting classes")
    counts = count_classes(db, measured)
    if counts is None:
        raise no_rows(measured.subject.relation, "Without an equivalence class no measure is defined.")
    many_classes = counts.classes * _ROWS_WORTH_STORING > counts.rows
    figures = []
    for number, column in enumerate(measured.sensitive):
        db.progress("measuring sensitive columns", number / len(measured.sensitive))
        figures.append(measure_sensitive(db, measured, column, many_classes=many_classes))
    return replace(combine(counts, figures), **measured.losses)


def combine(counts: ClassCounts, figures: Sequence[SensitiveFigures]) -> Measures:
    """Put the counts of all classes and the worst sensitive column together.

    Parameters
    ----------
    counts : ClassCounts
        At least one class.
    figures : sequence of SensitiveFigures
        One per sensitive column.
    """
    average = counts.memberships / counts.classes
    ordered = [f.t_ordered for f in figures if f.t_ordered is not None]
    distinct_l = min((f.distinct_l for f in figures), default=None)
    return Measures(
        rows=counts.rows,
        people=counts.people,
        classes=counts.classes,
        k=counts.smallest,
        average_class=average,
        largest_class=counts.largest,
        distinct_l=distinct_l,
        entropy_l=min((f.entropy_l for f in figures), default=None),
        frequency_l=min((f.frequency_l for f in figures), default=None),
        p=distinct_l,
        t_equal=max((f.t_equal for f in figures), default=None),
        t_ordered=max(ordered, default=None),
        delta_disclosure=max((f.delta_disclosure for f in figures), default=None),
        beta_likeness=max((f.beta_likeness for f in figures), default=None),
        prosecutor_risk=1 / counts.smallest,
        journalist_risk=1 / counts.smallest,
        marketer_risk=counts.classes / counts.memberships,
        discernibility=counts.discernibility,
        average_class_ratio=average / counts.smallest,
        usefulness=counts.diversity / counts.classes,
    )
