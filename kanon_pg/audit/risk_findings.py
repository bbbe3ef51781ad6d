"""What was found about risk: how likely people are found again, in a table and in its releases.

Like `kanon_pg.audit.findings` this holds no cell value: columns, counts and shares only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.core.risk import AttackerRisk
from kanon_pg.core.termination import Termination


@dataclass(frozen=True, slots=True)
class HomogeneousClasses:
    """Classes in which everybody has the same value of a sensitive column: finding the class tells it.

    Parameters
    ----------
    column : str
        The sensitive column.
    classes, people, rows : int
        Number of these classes, and the people (each class counted for itself) and rows in them.
    """

    column: str
    classes: int
    people: int
    rows: int


@dataclass(frozen=True, slots=True)
class RiskFigures:
    """How likely people are found again in a table, a view or a release: one row of ``kanon_risk``.

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
        Sum of the class sizes; exceeds the number of people if somebody is in several classes.
    classes : int
        Number of classes.
    smallest_class : int
        Size of the smallest one.
    prosecutor_risk : float
        Greatest risk if the attacker knows that the person is in the relation, in (0, 1].
    prosecutor_average : float
        Mean over the people.
    journalist_risk : float
        Greatest risk if the attacker looks anybody up in a register of the population.
    journalist_average : float
        Mean over the people.
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
        People in classes that tell the value of a sensitive column, for the column with most of them; None
        without sensitive columns.
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
        What it lost when it was published, see `kanon_pg.measure.measures.Measures`.
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
