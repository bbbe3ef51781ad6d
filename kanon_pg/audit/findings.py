"""What an audit found, and what risk there is: the model that every interface, text and report shows.

Classes and their sizes are those of `kanon_pg.worker.audit`: rows that agree on some columns, counted in
people. Nothing here holds a cell value: columns, counts and shares only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kanon_pg.core.risk import AttackerRisk, HomogeneousClasses
from kanon_pg.core.termination import Termination

if TYPE_CHECKING:
    from kanon_pg.release.compare.composition import Composition

Kind = Literal["minimum", "minimal"]


@dataclass(frozen=True, slots=True)
class RiskFigures:
    """How likely people are reidentified in a table, a view or a release: one row of ``kanon_risk``.

    The attackers are those of El Emam and Dankar (2008) and El Emam et al. (2009); a person's risk is that
    of the class, 1 / its size.

    Parameters
    ----------
    relation : str
        Qualified name.
    columns : tuple of str
        What the attacker knows: the quasi-identifiers.
    rows : int
        Rows of the relation.
    people : int
        Different people.
    classes : int
        Number of classes.
    smallest_class : int
        Size of the smallest one.
    prosecutor_risk : float
        Greatest risk if the attacker knows that the person is in the relation, in (0, 1].
    prosecutor_average : float
        Mean over the people, of whom each has the greatest risk of their classes.
    journalist_risk : float
        Greatest risk if the attacker looks anybody up in a register of the population.
    journalist_average : float
        Mean over the people, of whom each has the greatest risk of their classes.
    journalist_basis : str
        What the population is known from: 'the table itself' (then the upper bound, equal to the
        prosecutor's), 'population table' or 'sampling fraction'.
    marketer_risk : float
        Expected share of correct guesses if everybody is linked.
    threshold : float
        Risk above which a record counts as being at risk.
    people_above : int
        People whose prosecutor risk exceeds the threshold.
    share_above : float
        Their share, 0 to 1.
    sample_uniques : int
        Classes of a single person.
    minimal_uniques : tuple of int
        Smallest combinations of values that only one person has (SUDA's special uniques), by their number
        of columns 1, 2, ...; counted as far as the time sufficed, at most 3.
    people_by_unique : tuple of int
        People whose smallest such combination has 1, 2, ... columns.
    homogeneous_people : int or None
        People in classes that disclose the value of a sensitive column, for the column with most of them;
        None without sensitive columns.
    homogeneous : tuple of HomogeneousClasses
        Per sensitive column.
    termination : Termination
        How the search for minimal uniques ended; all other figures are whole.
    """

    relation: str
    columns: tuple[str, ...]
    rows: int
    people: int
    classes: int
    smallest_class: int
    prosecutor_risk: float
    prosecutor_average: float
    journalist_risk: float
    journalist_average: float
    journalist_basis: str
    marketer_risk: float
    threshold: float
    people_above: int
    share_above: float
    sample_uniques: int
    minimal_uniques: tuple[int, ...]
    people_by_unique: tuple[int, ...]
    homogeneous_people: int | None
    homogeneous: tuple[HomogeneousClasses, ...]
    termination: Termination = Termination.EXHAUSTED


@dataclass(frozen=True, slots=True)
class ReleaseRisk:
    """A release of the audited table beside the table: what publishing changed.

    Parameters
    ----------
    release : str
        Name of the view in schema ``safe``.
    k : int
        What every class has at least.
    suppressed_cells : int
        Cells that were given up for it.
    suppressed_share : float
        Their share of all quasi-identifier cells, 0 to 1.
    before, after : RiskFigures
        The table by the release's quasi-identifiers, and the release.
    certainty_penalty, generalization_height, entropy_loss, marginal_divergence : float or None
        What it lost when it was published, see `kanon_pg.measures.Measures`.
    """

    release: str
    k: int
    suppressed_cells: int
    suppressed_share: float
    before: RiskFigures
    after: RiskFigures
    certainty_penalty: float | None = None
    generalization_height: float | None = None
    entropy_loss: float | None = None
    marginal_divergence: float | None = None


def risk_figures(
    relation: str,
    columns: Sequence[str],
    rows: int,
    threshold: float,
    answer: Mapping[str, Any],
) -> RiskFigures:
    """Return the figures of a relation.

    Parameters
    ----------
    relation : str
        Its name.
    columns : sequence of str
        What the attacker knows.
    rows : int
        Its rows.
    threshold : float
        Risk above which a record counts.
    answer : mapping
        Fields of `Risk` and `MinimalUniques` of `kanon_pg.core.risk`.
    """
    found, uniques = answer["risk"], answer["uniques"]
    prosecutor, journalist = AttackerRisk(**found["prosecutor"]), AttackerRisk(**found["journalist"])
    homogeneous = tuple(HomogeneousClasses(**one) for one in found["homogeneous"])
    return RiskFigures(
        relation=relation,
        columns=tuple(columns),
        rows=rows,
        people=found["people"],
        classes=found["classes"],
        smallest_class=round(1 / prosecutor.highest),
        prosecutor_risk=prosecutor.highest,
        prosecutor_average=prosecutor.average,
        journalist_risk=journalist.highest,
        journalist_average=journalist.average,
        journalist_basis=found["journalist_basis"],
        marketer_risk=found["marketer"],
        threshold=threshold,
        people_above=prosecutor.people_above,
        share_above=prosecutor.share_above,
        sample_uniques=found["sample_uniques"],
        minimal_uniques=tuple(uniques["sets_by_size"]),
        people_by_unique=tuple(uniques["people_by_size"]),
        homogeneous_people=max((one.people for one in homogeneous), default=None),
        homogeneous=homogeneous,
        termination=Termination(answer["termination"]),
    )


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
        How the search ended: 'optimal' if every requested set is listed, with its figures.
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
        Number of these classes, the people whose smallest class is one of them, and the rows in them. Over
        all bars everybody counts once.
    """

    smallest: int
    largest: int
    classes: int
    people: int
    rows: int


@dataclass(frozen=True, slots=True)
class CombinedClasses:
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
        Requested most columns of a set.
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
        Per audited column; empty if details were not requested or the time did not suffice.
    audited : CombinedClasses or None
        The classes of all audited columns together; None as above.
    quasi_identifiers : CombinedClasses or None
        The same for the declared quasi-identifiers (all audited columns without a declaration).
    risk : RiskFigures or None
        Risk by the quasi-identifiers; None as above.
    releases : tuple of ReleaseRisk
        Releases of the table that the caller may read, by name.
    together : tuple of Composition
        What these releases disclose together, see `kanon_pg.release.compare.composition`; empty if there is
        only one, or that could not be checked.
    unchecked : tuple of str
        What else was to be looked at and could not be, in sentences.
    release : str or None
        Its own name if it is a release itself and the caller may know of it.
    hides_people : bool
        Whether it is a release that does not tell which rows are the same person's: sets were found by
        counting rows, so that each listed one singles people out, but others may, too.
    declared : tuple of str
        The audited columns that are declared as quasi-identifiers, in a release also those that it publishes
        unchanged and are not sensitive; none without a declaration.
    sensitive : tuple of str
        Sensitive columns of a release that were not audited.
    termination : Termination
        How the search for sets ended: 'optimal' if every requested one is listed.
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
    audited: CombinedClasses | None = None
    quasi_identifiers: CombinedClasses | None = None
    risk: RiskFigures | None = None
    releases: tuple[ReleaseRisk, ...] = ()
    together: tuple[Composition, ...] = ()
    unchecked: tuple[str, ...] = ()
    release: str | None = None
    hides_people: bool = False
    declared: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    termination: Termination = Termination.EXHAUSTED

    @property
    def is_anonymous(self) -> bool:
        """Whether it is proven that all audited columns together single out nobody."""
        return self.is_complete and not self.sets

    @property
    def not_compared(self) -> tuple[str, ...]:
        """The releases of which nobody looked at what they disclose beside the others."""
        if len(self.releases) < 2:
            return ()
        compared = self.together[0].releases if self.together else ()
        return tuple(one.release for one in self.releases if one.release not in compared)

    @property
    def may_be_read_together(self) -> bool:
        """Whether it is known that who reads all releases finds nobody among fewer than k people."""
        if len(self.releases) < 2:
            return True
        return not self.not_compared and not (self.together[0].people_below or self.together[0].unseen_rows)

    def limitation(self) -> str | None:
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
        What is proposed; 'entity' for a column that identifies the person of a row, 'withheld' for one that a
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
        Columns each of which determines this one's value: suppressing it alone hides nothing.
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
