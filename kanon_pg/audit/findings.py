"""What an audit found: the model that every interface, text and report shows.

Classes and their sizes are those of `kanon_pg.worker.audit`: rows that agree on some columns, counted in
people. Nothing here holds a cell value: columns, counts and shares only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kanon_pg.audit.risk_findings import ReleaseRisk, RiskFigures
from kanon_pg.core.termination import Termination

Kind = Literal["minimum", "minimal"]


@dataclass(frozen=True, slots=True)
class ViolatingSet:
    """A minimal set of columns that singles out fewer than k people: one row of ``kanon_audit``.

    Figures are None where the time did not suffice to count them.

    Parameters
    ----------
    columns : tuple of str
        In the table's order; none if the whole table has fewer than k people.
    size : int
        Number of columns.
    kind : {'minimum', 'minimal'}
        'minimum' if no violating set has fewer columns, proven; each set is minimal.
    smallest_class : int or None
        Fewest people who share a combination of values.
    people_at_risk : int or None
        People in classes of fewer than k people.
    rows_at_risk : int or None
        Rows in these classes.
    distinct_values : int or None
        Different combinations of values.
    distinction : float or None
        `distinct_values` / rows, in (0, 1] (Motwani and Xu 2007).
    separation : float or None
        Share of the pairs of rows that differ on the columns, in [0, 1] (same authors).
    termination : Termination
        How the search ended: 'optimal' if every set that was asked for is listed, with its figures.
    """

    columns: tuple[str, ...]
    size: int
    kind: Kind
    smallest_class: int | None
    people_at_risk: int | None
    rows_at_risk: int | None
    distinct_values: int | None
    distinction: float | None
    separation: float | None
    termination: Termination = Termination.EXHAUSTED


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """What one column contributes.

    Parameters
    ----------
    name : str
        The column.
    role : str or None
        Declared role: 'quasi_identifier', 'sensitive' or 'insensitive'; None without a declaration, or if it
        does not mention the column.
    distinct_values : int
        Different values, NULL being one.
    smallest_class : int
        Fewest people who share one of its values.
    people_at_risk : int
        People in classes of fewer than k people of this column alone.
    people_at_risk_without : int
        People in such classes of all other audited columns together: what is left if it were removed.
    violating_sets : int
        Listed sets that contain it.
    """

    name: str
    role: str | None
    distinct_values: int
    smallest_class: int
    people_at_risk: int
    people_at_risk_without: int
    violating_sets: int


@dataclass(frozen=True, slots=True)
class ClassSizes:
    """A bar of the histogram of class sizes.

    Parameters
    ----------
    smallest, largest : int
        The sizes that the bar stands for, in people.
    classes, people, rows : int
        Number of these classes, and the people (each class counted for itself) and rows in them.
    """

    smallest: int
    largest: int
    classes: int
    people: int
    rows: int


@dataclass(frozen=True, slots=True)
class Whole:
    """The classes of some columns together.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    classes : int
        Number of classes.
    classes_at_risk : int
        Those of fewer than k people.
    smallest_class : int
        Size of the smallest one.
    people_at_risk, rows_at_risk : int
        People and rows in classes of fewer than k people.
    sizes : tuple of ClassSizes
        By size, ascending; bars without a class are left out.
    """

    columns: tuple[str, ...]
    classes: int
    classes_at_risk: int
    smallest_class: int
    people_at_risk: int
    rows_at_risk: int
    sizes: tuple[ClassSizes, ...]


@dataclass(frozen=True, slots=True)
class AuditResult:
    """Everything that an audit found.

    Parameters
    ----------
    relation : str
        Qualified, quoted name of the table or view.
    k : int
        Fewest people per class.
    rows, people : int
        Rows, and different people (equal without an entity).
    entity : str or None
        Column that identifies a person; None: each row is a person.
    columns : tuple of str
        The audited columns, in the table's order.
    left_out : tuple of str
        Columns whose type cannot be compared; nothing is known about them.
    max_columns : int or None
        Most columns of a set that were asked for.
    sets : tuple of ViolatingSet
        Minimal violating sets, each proven; fewest columns first.
    complete_columns : int
        Every minimal violating set of at most so many columns is listed.
    is_complete : bool
        Whether every minimal violating set is listed.
    minimum : int or None
        Columns of the smallest violating sets if proven; None if there is none or it is not known.
    seconds : float
        How long the audit took.
    column_figures : tuple of ColumnFigures
        Per audited column; empty if details were not asked for or the time did not suffice.
    audited : Whole or None
        The classes of all audited columns together; None as above.
    quasi_identifiers : Whole or None
        The same for the declared quasi-identifiers (all audited columns without a declaration).
    risk : RiskFigures or None
        Risk by the quasi-identifiers; None as above.
    releases : tuple of ReleaseRisk
        Releases of the table that the caller may read, by name.
    release : str or None
        Its own name if it is a release itself and the caller may know of it.
    hides_people : bool
        Whether it is a release that does not tell which rows are the same person's: sets were found by
        counting rows, so that each listed one singles people out, but others may, too.
    declared : tuple of str
        The audited columns that are declared as quasi-identifiers; none without a declaration.
    termination : Termination
        How the search for sets ended: 'optimal' if every one that was asked for is listed.
    """

    relation: str
    k: int
    rows: int
    people: int
    entity: str | None
    columns: tuple[str, ...]
    left_out: tuple[str, ...]
    max_columns: int | None
    sets: tuple[ViolatingSet, ...]
    complete_columns: int
    is_complete: bool
    minimum: int | None
    seconds: float
    column_figures: tuple[ColumnFigures, ...] = ()
    audited: Whole | None = None
    quasi_identifiers: Whole | None = None
    risk: RiskFigures | None = None
    releases: tuple[ReleaseRisk, ...] = ()
    release: str | None = None
    hides_people: bool = False
    declared: tuple[str, ...] = ()
    termination: Termination = Termination.EXHAUSTED

    @property
    def is_anonymous(self) -> bool:
        """Whether it is proven that all audited columns together single out nobody."""
        return self.is_complete and not self.sets

    def open_question(self) -> str | None:
        """Return what the time limit or `max_columns` left open, in a sentence; None if nothing."""
        if self.is_complete:
            return None
        if self.hides_people:
            return (
                "The release does not tell whose rows it has: rows were counted, and sets that single people "
                "out may be missing."
            )
        cut = f" ({self.termination.words})" if self.termination.is_cut else ""
        if not self.complete_columns:
            return f"Not all minimal violating sets are known{cut}."
        most = _columns(self.complete_columns)
        return f"Every minimal violating set of at most {most} is listed; larger ones may be missing{cut}."


@dataclass(frozen=True, slots=True)
class IdentifyingSet:
    """A set of columns that tells rows apart as well as all columns do: one row of ``kanon_identify``.

    Parameters
    ----------
    columns : tuple of str
        In the table's order.
    size : int
        Number of columns.
    kind : {'minimum', 'minimal'}
        'minimum': no identifying set has fewer columns, proven; 'minimal': no column can be left out.
    at_least : int
        Proven: every identifying set has at least so many columns.
    optimal : bool
        Whether no identifying set has fewer columns, proven.
    distinct_rows : int
        Different rows of the table, by all columns, hence by these.
    distinction : float
        `distinct_rows` / rows, in (0, 1].
    method : str
        What found the set.
    termination : Termination
        How the search ended.
    """

    columns: tuple[str, ...]
    size: int
    kind: Kind
    at_least: int
    optimal: bool
    distinct_rows: int
    distinction: float
    method: str
    termination: Termination = Termination.EXHAUSTED


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A proposed role of a column, never applied: one row of ``kanon_suggest``.

    Parameters
    ----------
    column : str
        The column.
    role : {'identifier', 'quasi_identifier', 'sensitive', 'insensitive', 'entity', 'withheld'}
        What is proposed; 'entity' for a column that tells whose row it is, 'withheld' for one that a
        declaration should not mention.
    reasons : tuple of str
        Why, in sentences.
    distinct_values : int or None
        Different values; None if the type cannot be compared.
    distinct_ratio : float or None
        `distinct_values` / rows with a value.
    unique_values : int or None
        Values that one row has.
    missing : float
        Share of rows without a value, 0 to 1.
    restored_by : tuple of str
        Columns each of which tells this one's value: suppressing it alone hides nothing.
    """

    column: str
    role: str
    reasons: tuple[str, ...]
    distinct_values: int | None
    distinct_ratio: float | None
    unique_values: int | None
    missing: float
    restored_by: tuple[str, ...]


def _columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"
