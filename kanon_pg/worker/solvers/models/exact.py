"""The least suppression under privacy models, proven by integer programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import SolveRequest
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import evaluator_of, violations
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.exact.search import Demands, search_exactly
from kanon_pg.worker.solvers.models.constraints import ModelConstraints
from kanon_pg.worker.solvers.models.feasible import adds_up, require_feasible
from kanon_pg.worker.solvers.models.search import search_greedily_with_models
from kanon_pg.worker.solvers.search import SearchResult

PEOPLE_DO_NOT_ADD_UP = (
    "People of several row types, or rows of nobody, make the privacy models not linear: "
    "the result is that of the heuristic."
)

_MOST_ROUNDS = 40
_SMOOTHING = 1e-3


def search_exactly_with_models(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    clock: Clock,
    start: SearchResult | None = None,
    prices: NDArray[np.int64] | None = None,
    *,
    nodes: int | None = None,
    gap: float = 0.0,
) -> SearchResult:
    """Find a solution of least cost under privacy models, or come as close as time allows.

    Parameters
    ----------
    table, mask, request, clock, start, prices, nodes, gap
        See `kanon_pg.worker.solvers.exact.search.search_exactly`. Prices that ignore the models stay valid.

    Raises
    ------
    InfeasibleError
        No release can satisfy the models, or none was found.

    Notes
    -----
    The program of Bredereck et al. (2014), section 4.3, over row types. For the entropy it is solved again
    with a cut for every class that has too little, until none has.
    """
    require_feasible(table, request.models)
    start = start or search_greedily_with_models(table, mask, request, clock)
    if not adds_up(table):
        return replace(start, notes=(*start.notes, PEOPLE_DO_NOT_ADD_UP))
    evaluator = evaluator_of(table, request.models)
    constraints = ModelConstraints(table, evaluator)

    def are_met(solution: Solution) -> bool:
        parts = solution.parts_of(table)
        classes = classes_of(parts, solution.vector)
        own = evaluator_of(parts, request.models) if solution.is_divided else evaluator
        found = violations(own, classes.class_of, len(classes))
        is_bad = found.any
        if request.rest_may_be_small:
            is_bad = is_bad & (classes.vectors != mask.full)
        for number in np.flatnonzero(found.entropy & is_bad):
            _add_cuts(constraints, solution, classes.class_of == number)
        return not is_bad.any()

    best = start
    for _ in range(_MOST_ROUNDS):
        known = len(constraints.cuts)
        best = search_exactly(
            table, mask, request, clock, best, prices,
            demands=Demands(constraints.rows_of, are_met), nodes=nodes, gap=gap,
        )  # fmt: skip
        if len(constraints.cuts) == known or clock.is_over():
            break
    return best


def _add_cuts(constraints: ModelConstraints, solution: Solution, inside: NDArray[np.bool_]) -> None:
    """Add the cuts of one class in every sensitive column that are not known yet."""
    evaluator = constraints.evaluator
    types = solution.row_type[inside]
    weights = [solution.rows[inside]]
    if constraints.table.has_entity:
        weights.append(constraints.table.people[types])
    for column in range(evaluator.codes.shape[0]):
        width = int(evaluator.first[column + 1] - evaluator.first[column])
        for weight in weights:
            counts = np.bincount(evaluator.codes[column][types], weights=weight, minlength=width)
            shares = (1 - _SMOOTHING) * counts / counts.sum() + _SMOOTHING / width
            is_known = any(
                number == column and np.allclose(other, shares, rtol=0, atol=1e-12)
                for number, other in constraints.cuts
            )
            if not is_known:
                constraints.cuts.append((column, shares))
