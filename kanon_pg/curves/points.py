"""The points of a suppression curve, and what the solutions of some k prove about the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_pg.core.request import SolveOutcome
from kanon_pg.core.termination import Termination
from kanon_pg.errors import SolverError

_ROUNDING = 1e-12
"""Costs that differ by less are equal: sums of weights are rounded."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One row of SQL type ``kanon.curve_point``.

    Parameters
    ----------
    k : int
        Fewest people per class.
    suppressed_cells : int
        Suppressed cells of the best solution found.
    suppressed_share : float
        Their share of all quasi-identifier cells, 0 to 1.
    weighted_cost : float
        Suppressed cells times the weights of their columns; never decreases with k.
    lower_bound : float or None
        What every solution costs at least, proven; never decreases with k. None if nothing is proven.
    gap : float or None
        (weighted_cost - lower_bound) / weighted_cost, 0 to 1.
    optimal : bool
        Whether no solution is cheaper, proven.
    classes : int
        Equivalence classes of the solution.
    average_class : float
        Mean people per class.
    method : str
        What found the solution, and for which k if for a larger one.
    elapsed : float
        Seconds spent on this k alone.
    termination : Termination
        How the search for this k ended.
    """

    k: int
    suppressed_cells: int
    suppressed_share: float
    weighted_cost: float
    lower_bound: float | None
    gap: float | None
    optimal: bool
    classes: int
    average_class: float
    method: str
    elapsed: float
    termination: Termination


@dataclass(frozen=True, slots=True)
class Curve:
    """A suppression curve and the table it is about.

    Parameters
    ----------
    relation : str
        Qualified name of the table or view.
    rows, people, row_types : int
        Rows, distinct people and distinct quasi-identifier tuples.
    quasi_identifiers : tuple of str
        The columns in which cells may be suppressed.
    row_weight : float
        Cost of a row all of whose cells are suppressed.
    points : tuple of CurvePoint
        By k, ascending.
    """

    relation: str
    rows: int
    people: int
    row_types: int
    quasi_identifiers: tuple[str, ...]
    row_weight: float
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class Solved:
    """What a solver found for one k.

    Parameters
    ----------
    outcome : SolveOutcome
        The solution and its bound.
    seconds : float
        How long it took.
    """

    outcome: SolveOutcome
    seconds: float


def points_of(ks: Sequence[int], solved: Mapping[int, Solved], cells: int) -> tuple[CurvePoint, ...]:
    """Put a curve together from the solutions for some of its k.

    Parameters
    ----------
    ks : sequence of int
        The values of k, ascending.
    solved : mapping of int to Solved
        What was solved, at least for the largest k; for the others memory did not suffice.
    cells : int
        Quasi-identifier cells of the table.

    Returns
    -------
    tuple of CurvePoint
        One per k. Costs and bounds never decrease with k.

    Raises
    ------
    SolverError
        If what was proven for one k contradicts what was found for a larger one.

    Notes
    -----
    A class of at least k people has at least k' people for every k' <= k. So every solution for k is one for
    k', and what bounds all solutions for k' from below bounds those for k. A point takes the cheapest
    solution of its own and the larger k, and the greatest bound of its own and the smaller k.
    """
    sources = _cheapest(ks, solved)
    bound: float | None = None
    points = []
    for k in ks:
        own = solved[k].outcome.lower_bound if k in solved else None
        bound = own if bound is None else bound if own is None else max(bound, own)
        points.append(_point(k, sources[k], solved, bound, cells))
    return tuple(points)


def _cheapest(ks: Sequence[int], solved: Mapping[int, Solved]) -> dict[int, int]:
    """Return for each k the k whose solution is the cheapest among those that serve, its own if equal."""
    sources: dict[int, int] = {}
    best = ks[-1]
    for k in reversed(ks):
        if k in solved and solved[k].outcome.weighted_cost <= solved[best].outcome.weighted_cost:
            best = k
        sources[k] = best
    return sources


def _point(k: int, source: int, solved: Mapping[int, Solved], bound: float | None, cells: int) -> CurvePoint:
    found = solved[source].outcome
    cost = found.weighted_cost
    if bound is not None and bound > cost and not math.isclose(bound, cost, rel_tol=_ROUNDING):
        raise SolverError(
            f"The solution for k = {source} costs less than what was proven for k = {k} or a smaller one.",
            hint="This is a defect: please report it.",
        )
    proven = None if bound is None else min(bound, cost)
    optimal = proven is not None and math.isclose(proven, cost, rel_tol=_ROUNDING)
    own = solved[k].outcome.termination if k in solved else Termination.MEMORY
    return CurvePoint(
        k=k,
        suppressed_cells=found.suppressed_cells,
        suppressed_share=found.suppressed_cells / cells,
        weighted_cost=cost,
        lower_bound=proven,
        gap=None if proven is None else (cost - proven) / cost if cost else 0.0,
        optimal=optimal,
        classes=found.classes,
        average_class=found.average_class,
        method=found.method if source == k else f"{found.method}, for k = {source}",
        elapsed=solved[k].seconds if k in solved else 0.0,
        termination=Termination.OPTIMAL if optimal else own,
    )
