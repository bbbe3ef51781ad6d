"""Measures a relation through either interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kanon_pg.db.protocol import Database
from kanon_pg.errors import InputError
from kanon_pg.measure.classes import ClassCounts, SensitiveFigures, count_classes, measure_sensitive
from kanon_pg.measure.measures import Measures
from kanon_pg.measure.subject import Subject, resolve_subject

_ROWS_WORTH_STORING = 4
"""Rows per class from which storing the classes is cheaper than counting them twice (measured, 1M rows)."""


def measure(
    db: Database,
    relation: str | None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> Measures:
    """Measure any table or view, with the caller's own rights, without changing anything.

    Parameters
    ----------
    db : Database
        An open database; for one consistent figure its statements share a snapshot (a STABLE function, or
        a REPEATABLE READ transaction).
    relation : str
        Table or view as SQL writes it.
    quasi_identifiers, sensitive : sequence of str, optional
        Column names; see `kanon_pg.measure.subject.resolve_subject` for the defaults. An empty list of
        sensitive columns means none.

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
    return measure_subject(db, resolve_subject(db, relation, quasi_identifiers, sensitive))


def measure_subject(db: Database, subject: Subject) -> Measures:
    """Measure a relation whose columns' roles are known and checked.

    Parameters
    ----------
    db : Database
        An open database whose role may read the relation.
    subject : Subject
        What to measure.

    Raises
    ------
    InputError
        If the relation has no rows.
    """
    db.progress("counting classes")
    counts = count_classes(db, subject)
    if counts is None:
        raise InputError(
            f"Relation {subject.relation.identifier} has no rows.",
            detail="Without an equivalence class no measure is defined.",
            hint="Load data first, or check row-level security policies.",
        )
    many_classes = counts.classes * _ROWS_WORTH_STORING > counts.rows
    figures = []
    for number, column in enumerate(subject.sensitive):
        db.progress("measuring sensitive columns", number / len(subject.sensitive))
        figures.append(measure_sensitive(db, subject, column, many_classes=many_classes))
    return replace(combine(counts, figures), **subject.losses)


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
