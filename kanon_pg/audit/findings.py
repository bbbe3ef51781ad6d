"""The findings of an audit, and risks: the model that every interface, text and report shows.

Classes and their sizes are those of `kanon_pg.worker.audit`: rows that agree on some columns, counted in
people. Nothing here holds a cell value: columns, counts and shares only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kanon_pg.core.risk import AttackerRisk, HomogeneousClasses
from kanon_pg.core.shown import Shown, rows_of
from kanon_pg.core.termination import Termination

if TYPE_CHECKING:
    from kanon_pg.release.compare.composition import Composition

Kind = Literal["minimum", "minimal"]


@dataclass(frozen=True, slots=True)
class RiskFigures(Shown):
    """How likely people are reidentified in a table, a view or a release: one row of ``kanon_risk``.

    The attackers are those of El Emam and Dankar (2008) and El Emam et al. (2009); a person's risk is that
    of the class, 1 / its size.
    """

    relation: str
    columns: tuple[str, ...]
    rows: int
    people: int
    classes: int
    smallest_class: int
    prosecutor_risk: float
    """Greatest risk if the attacker knows that the person is in the relation, in (0, 1]."""
    prosecutor_average: float
    """Mean over the people, of whom each has the greatest risk of their classes."""
    journalist_risk: float
    """Greatest risk if the attacker looks anybody up in a register of the population."""
    journalist_average: float
    journalist_basis: str
    """What the population is known from: 'the table itself' (then the upper bound, equal to the
    prosecutor's), 'population table' or 'sampling fraction'."""
    marketer_risk: float
    """Expected share of correct guesses if everybody is linked."""
    threshold: float
    people_above: int
    share_above: float
    sample_uniques: int
    minimal_uniques: tuple[int, ...]
    """Smallest combinations of values that only one person has (SUDA's special uniques), by their number of
    columns 1, 2, ...; counted as far as the time sufficed, at most 3."""
    people_by_unique: tuple[int, ...]
    """People whose smallest such combination has 1, 2, ... columns."""
    homogeneous_people: int | None
    """People in classes that disclose the value of a sensitive column, for the column with most of them; None
    without sensitive columns."""
    homogeneous: tuple[HomogeneousClasses, ...]
    termination: Termination = Termination.EXHAUSTED


@dataclass(frozen=True, slots=True)
class ReleaseRisk:
    """A release of the audited table beside the table: what publishing changed."""

    release: str
    k: int
    suppressed_cells: int
    suppressed_share: float
    before: RiskFigures
    after: RiskFigures
    """`before`, `after`: the table by the release's quasi-identifiers, and the release."""
    certainty_penalty: float | None = None
    generalization_height: float | None = None
    entropy_loss: float | None = None
    marginal_divergence: float | None = None
    """`certainty_penalty`, `generalization_height`, `entropy_loss`, `marginal_divergence`: what it lost when
    it was published, see `kanon_pg.measures.Measures`."""


def risk_figures(
    relation: str, columns: Sequence[str], rows: int, threshold: float, answer: Mapping[str, Any]
) -> RiskFigures:
    """Return the figures of a relation from the worker's answer, `Risk` and `MinimalUniques`."""
    risk, uniques = answer["risk"], answer["uniques"]
    prosecutor, journalist = AttackerRisk(**risk["prosecutor"]), AttackerRisk(**risk["journalist"])
    homogeneous = tuple(HomogeneousClasses(**one) for one in risk["homogeneous"])
    return RiskFigures(
        relation=relation,
        columns=tuple(columns),
        rows=rows,
        people=risk["people"],
        classes=risk["classes"],
        smallest_class=round(1 / prosecutor.highest),
        prosecutor_risk=prosecutor.highest,
        prosecutor_average=prosecutor.average,
        journalist_risk=journalist.highest,
        journalist_average=journalist.average,
        journalist_basis=risk["journalist_basis"],
        marketer_risk=risk["marketer"],
        threshold=threshold,
        people_above=prosecutor.people_above,
        share_above=prosecutor.share_above,
        sample_uniques=risk["sample_uniques"],
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
    """

    columns: tuple[str, ...]
    """In the table's order; none if the whole table has fewer than k people."""
    size: int
    kind: Kind
    """'minimum' if no violating set has fewer columns, proven; each set is minimal."""
    smallest_class: int | None
    people_at_risk: int | None
    rows_at_risk: int | None
    distinct_values: int | None
    distinction: float | None
    """`distinct_values` / rows, in (0, 1] (Motwani and Xu 2007)."""
    separation: float | None
    termination: Termination = Termination.EXHAUSTED
    """How the search ended: 'optimal' if every requested set is listed, with its figures."""


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """Contribution of one column to the risk."""

    name: str
    role: str | None
    distinct_values: int
    smallest_class: int
    people_at_risk: int
    """People in classes of fewer than k people of this column alone."""
    people_at_risk_without: int
    """People in such classes of all other audited columns together: what is left if it were removed."""
    violating_sets: int


@dataclass(frozen=True, slots=True)
class ClassSizes:
    """A bar of the histogram of class sizes."""

    smallest: int
    largest: int
    """`smallest`, `largest`: the sizes that the bar stands for, in people."""
    classes: int
    people: int
    rows: int
    """`classes`, `people`, `rows`: number of these classes, the people whose smallest class is one of them,
    and the rows in them. Over all bars everybody counts once."""


@dataclass(frozen=True, slots=True)
class CombinedClasses:
    """The classes of some columns together; bars without a class are left out."""

    columns: tuple[str, ...]
    classes: int
    classes_at_risk: int
    smallest_class: int
    people_at_risk: int
    rows_at_risk: int
    sizes: tuple[ClassSizes, ...]


@dataclass(frozen=True, slots=True)
class AuditResult(Shown):
    """Everything that an audit found."""

    relation: str
    k: int
    rows: int
    people: int
    entity: str | None
    """Column that identifies a person; None: each row is a person."""
    columns: tuple[str, ...]
    left_out: tuple[str, ...]
    max_columns: int | None
    sets: tuple[ViolatingSet, ...]
    complete_columns: int
    is_complete: bool
    minimum: int | None
    seconds: float
    column_figures: tuple[ColumnFigures, ...] = ()
    """Per audited column; empty if details were not requested or the time did not suffice."""
    audited: CombinedClasses | None = None
    quasi_identifiers: CombinedClasses | None = None
    """The classes by the declared quasi-identifiers (all audited columns without a declaration)."""
    risk: RiskFigures | None = None
    releases: tuple[ReleaseRisk, ...] = ()
    together: tuple[Composition, ...] = ()
    """What these releases disclose together, see `kanon_pg.release.compare.composition`; empty if there is
    only one, or that could not be checked."""
    unchecked: tuple[str, ...] = ()
    """What else was to be looked at and could not be, in sentences."""
    release: str | None = None
    """Its own name if it is a release itself and the caller may know of it."""
    hides_people: bool = False
    """Whether it is a release that does not tell which rows are the same person's: sets were found by
    counting rows, so that each listed one singles people out, but others may, too."""
    declared: tuple[str, ...] = ()
    """The audited columns that are declared as quasi-identifiers, in a release also those that it publishes
    unchanged and are not sensitive; none without a declaration."""
    sensitive: tuple[str, ...] = ()
    termination: Termination = Termination.EXHAUSTED

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return the sets of columns."""
        return rows_of(self.sets, ViolatingSet)

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
        """Return in a sentence how the time or `max_columns` limited the audit; None if they did not."""
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
    """A set of columns that tells rows apart as well as all columns do: one row of ``kanon_identify``."""

    columns: tuple[str, ...]
    size: int
    kind: Kind
    """'minimum': no identifying set has fewer columns, proven; 'minimal': no column can be left out."""
    at_least: int
    optimal: bool
    distinct_rows: int
    distinction: float
    """`distinct_rows` / rows, in (0, 1]."""
    method: str
    termination: Termination = Termination.EXHAUSTED


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A proposed role of a column, never applied: one row of ``kanon_suggest``."""

    column: str
    role: str
    """One of 'identifier', 'quasi_identifier', 'sensitive', 'insensitive', 'entity', 'withheld'. What is
    proposed; 'entity' for a column that identifies the person of a row, 'withheld' for one that a declaration
    should not mention."""
    reasons: tuple[str, ...]
    distinct_values: int | None
    distinct_ratio: float | None
    """`distinct_values` / rows with a value."""
    unique_values: int | None
    missing: float
    restored_by: tuple[str, ...]
    """Columns each of which determines this one's value: suppressing it alone hides nothing."""
    hierarchy: Mapping[str, Any] | None = None
    """Specification of a hierarchy that would generalize it as a quasi-identifier: a builder and its keys."""


def _columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"
