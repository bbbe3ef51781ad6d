"""Methods under privacy models: from a table and a mask to a solution and what is proven about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import SolveRequest
from kanon_pg.worker.classes import classes_of, weighted_cost
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import evaluator_of, violations
from kanon_pg.worker.models.kernels import ModelEvaluator
from kanon_pg.worker.patterns import PatternMask, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.greedy.order import cheapest_first
from kanon_pg.worker.solvers.models.bounds import BOUND_METHOD, cheapest_reach_with_models
from kanon_pg.worker.solvers.models.feasible import require_feasible
from kanon_pg.worker.solvers.models.flow import reassign_sensitively
from kanon_pg.worker.solvers.models.greedy import greedy_with_models
from kanon_pg.worker.solvers.models.improvement import improve_with_models
from kanon_pg.worker.solvers.models.order import by_content
from kanon_pg.worker.solvers.models.rest import fill_rest_with_models
from kanon_pg.worker.solvers.search import SearchResult


def search_greedily_with_models(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult:
    """Run the greedy heuristic twice, fill the fully suppressed class, improve, and prove a lower bound.

    Groups that violate a model are left alone the first time and thinned out the second time; the cheaper
    result is improved. If p-sensitivity of one column is all that is demanded, rows are then distributed
    among the classes by flow, which may divide row types. With the paper's rule for the rest
    (`SolveRequest.rest_may_be_small`) the run with thinning alone counts, and the fully suppressed class
    may violate everything.

    Parameters
    ----------
    table : RowTypeTable
        With at least k people.
    mask : PatternMask
    request : SolveRequest
        Demands at least one privacy model.
    clock : Clock

    Raises
    ------
    InputError
        See `kanon_pg.worker.models.evaluator.require_usable`.
    InfeasibleError
        No release can satisfy the models, or none was found.
    """
    require_feasible(table, request.models)
    sorted_table, order = by_content(table)
    evaluator = evaluator_of(sorted_table, request.models)
    vectors = cheapest_first(mask, table.cardinalities, request.seed)
    started = greedy_with_models(sorted_table, vectors, request.k, evaluator, clock)
    if request.rest_may_be_small:
        return SearchResult(Solution.undivided(table, _in_place(started, order)), "greedy")
    started = fill_rest_with_models(sorted_table, started, request.k, evaluator, clock)
    if not clock.is_over():
        other = greedy_with_models(sorted_table, vectors, request.k, evaluator, clock, is_thinned=False)
        other = fill_rest_with_models(sorted_table, other, request.k, evaluator, clock)
        if weighted_cost(sorted_table, other) < weighted_cost(sorted_table, started):
            started = other
    found = _improved(sorted_table, mask, request, evaluator, clock, started, order, "greedy")
    return _redistributed(sorted_table, request, found, order, clock)


def satisfy_models(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    clock: Clock,
    assigned: NDArray[np.int64],
    method: str,
) -> SearchResult:
    """Make any assignment satisfy the privacy models, improve it, and prove a lower bound.

    Classes that violate something are suppressed fully; then as in `search_greedily_with_models`.

    Parameters
    ----------
    table, mask, request, clock
        As there.
    assigned : ndarray of int64, shape (n,)
        What a method found that knows no privacy model.
    method : str
        What found it, in words.
    """
    require_feasible(table, request.models)
    sorted_table, order = by_content(table)
    evaluator = evaluator_of(sorted_table, request.models)
    started = assigned[order]
    classes = classes_of(sorted_table, started)
    bad = violations(evaluator, classes.class_of, len(classes)).any | (classes.people < request.k)
    started = np.where(bad[classes.class_of], mask.full, started)
    started = fill_rest_with_models(sorted_table, started, request.k, evaluator, clock)
    return _improved(sorted_table, mask, request, evaluator, clock, started, order, method)


def _improved(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    evaluator: ModelEvaluator,
    clock: Clock,
    started: NDArray[np.int64],
    order: NDArray[np.intp],
    method: str,
) -> SearchResult:
    reach = cheapest_reach_with_models(table, mask.vectors, request.k, evaluator, clock)
    improved = improve_with_models(table, mask.vectors, started, reach, request.k, evaluator, clock)
    is_better = weighted_cost(table, improved) < weighted_cost(table, started)
    return SearchResult(
        Solution(np.arange(order.size), _in_place(improved, order), _in_place(table.rows, order)),
        f"{method}, improved" if is_better else method,
        float((np.minimum(reach, mask.outside) * table.rows).sum()),
        BOUND_METHOD,
    )


def _redistributed(
    table: RowTypeTable, request: SolveRequest, found: SearchResult, order: NDArray[np.intp], clock: Clock
) -> SearchResult:
    """Distribute rows among the classes by flow if p-sensitivity of one column is all that is demanded."""
    models = request.models
    is_alone = not replace(models, p=None) and len(table.sensitive_columns) == 1
    if models.p is None or not is_alone or table.has_entity or clock.is_over():
        return found
    before = Solution.undivided(table, found.solution.vector[order])
    after = reassign_sensitively(table, before, request.k, models.p, clock)
    if after is None or _cost(table, after) >= _cost(table, before):
        return found
    solution = Solution.of_parts(order[after.row_type], after.vector, after.rows)
    return replace(found, solution=solution, method=f"{found.method}, minimum-cost flow")


def _cost(table: RowTypeTable, solution: Solution) -> float:
    return float((suppression_costs(solution.vector, table.weights) * solution.rows).sum())


def _in_place(numbers: NDArray[np.int64], order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return numbers of row types in their order before `by_content`."""
    before = np.empty_like(numbers)
    before[order] = numbers
    return before
