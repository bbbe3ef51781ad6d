"""Methods under privacy models: from a table and a mask to a solution and what is proven about it.

Under p-sensitivity a minimum-cost flow distributes the rows among the classes that were found.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import SolveRequest
from kanon_pg.errors import SolverError
from kanon_pg.worker.classes import classes_of, weighted_cost
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import evaluator_of, sensitive_codes, violations
from kanon_pg.worker.models.kernels import ModelEvaluator
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.patterns import PatternMask, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable, mix
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.exact.granularity import whole_costs
from kanon_pg.worker.solvers.greedy.order import cheapest_first
from kanon_pg.worker.solvers.models.bounds import BOUND_METHOD, cheapest_reach_with_models
from kanon_pg.worker.solvers.models.feasible import require_feasible
from kanon_pg.worker.solvers.models.greedy import greedy_with_models
from kanon_pg.worker.solvers.models.improvement import improve_with_models
from kanon_pg.worker.solvers.models.order import by_content
from kanon_pg.worker.solvers.models.rest import fill_rest_with_models
from kanon_pg.worker.solvers.search import SearchResult

MOST_ARCS = 3_000_000
"""Most arcs of a network: about 0.5 GiB."""

Numbers = NDArray[np.int64]


def reassign_sensitively(
    table: RowTypeTable, solution: Solution, k: int, p: int, clock: Clock
) -> Solution | None:
    """Distribute all rows among the classes of a solution at least cost, p values in each.

    Parameters
    ----------
    table : RowTypeTable
        Without an entity, with one sensitive column.
    solution : Solution
        Names the classes: patterns with the values they keep. All of them stay in use.
    k, p : int
        Fewest rows and fewest different sensitive values of each class.
    clock : Clock
        Reports progress.

    Returns
    -------
    Solution or None
        The cheapest that uses exactly these classes, up to the rounding of `whole_costs`; None if there
        is none, or the network would have more than `MOST_ARCS` arcs.

    Raises
    ------
    SolverError
        The library fails.

    Notes
    -----
    Bredereck, Nichterlein, Niedermeier and Philip (2014), Lemma 3: beside its direct arcs each class gets
    p units through one node per value, each of which lets one row through. The lower bound of p there is a
    demand of its own here. Polynomial, in this library O(v^2 e log(v c)) for v nodes, e arcs and costs up
    to c.
    """
    row_type, output, vectors = _compatible(table, solution, clock)
    if row_type.size * 2 > MOST_ARCS:
        return None
    cost, _ = whole_costs(suppression_costs(vectors, table.weights))
    rows = _flow(table, row_type, output, cost, max(k - p, 0), p)
    return None if rows is None else Solution.of_parts(row_type, vectors[output], rows)


def _compatible(table: RowTypeTable, solution: Solution, clock: Clock) -> tuple[Numbers, Numbers, Numbers]:
    """Return the pairs of a row type and a class that it fits into, and the vector of each class."""
    row_type, output, of_class = [], [], []
    count = 0
    for vector in np.unique(solution.vector):
        clock.heartbeat()
        keys = np.zeros(len(table), dtype=np.uint64)
        for column in range(table.width):
            if (int(vector) >> column) & 1 == 0:
                keys += table.hashes[column]
        numbers, _ = number_values(mix(keys).view(np.int64))
        used = np.unique(numbers[solution.row_type[solution.vector == vector]])
        place = np.searchsorted(used, numbers)
        place[place == used.size] = 0
        fits = np.flatnonzero(used[place] == numbers)
        row_type.append(fits)
        output.append(count + place[fits])
        of_class.append(np.full(used.size, vector))
        count += used.size
    return np.concatenate(row_type), np.concatenate(output), np.concatenate(of_class)


def _flow(
    table: RowTypeTable, row_type: Numbers, output: Numbers, cost: Numbers, direct: int, p: int
) -> Numbers | None:
    """Return the rows on each pair of the cheapest flow, None if there is none."""
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 - needed by few searches

    codes = sensitive_codes(table, 0).astype(np.int64)
    gates, gate = np.unique(output * (int(codes.max()) + 1) + codes[row_type], return_inverse=True)
    types, outputs = len(table), cost.size
    first_gate = types + 2 * outputs
    sink = first_gate + gates.size
    left = table.total_rows - outputs * (direct + p)
    if left < 0:
        return None
    network = min_cost_flow.SimpleMinCostFlow()
    capacity = table.rows[row_type]
    add = network.add_arcs_with_capacity_and_unit_cost
    plain = add(row_type, types + output, capacity, cost[output])
    gated = add(row_type, first_gate + gate, np.ones_like(capacity), cost[output])
    ones, nothing = np.ones_like(gates), np.zeros_like(gates)
    add(first_gate + np.arange(gates.size), types + outputs + gates // (int(codes.max()) + 1), ones, nothing)
    free = np.zeros(outputs, dtype=np.int64)
    add(types + np.arange(outputs), np.full(outputs, sink), np.full(outputs, left), free)
    supply = np.concatenate(
        [table.rows, np.full(outputs, -direct), np.full(outputs, -p), np.zeros(gates.size), [-left]]
    ).astype(np.int64)
    network.set_nodes_supplies(np.arange(sink + 1), supply)
    status = network.solve()
    if status == network.INFEASIBLE:
        return None
    if status != network.OPTIMAL:
        raise SolverError("The library for flows failed.", detail=f"status {status.name}")
    return np.asarray(network.flows(plain) + network.flows(gated), dtype=np.int64)


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
    request : SolveRequest
        Demands at least one privacy model.

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
