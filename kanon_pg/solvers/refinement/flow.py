"""The best places of all rows when it is settled which instances are open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.patterns import suppression_costs
from kanon_pg.core.row_types import RowTypeTable
from kanon_pg.core.solution import Solution
from kanon_pg.solvers.annealing.board import board_of
from kanon_pg.solvers.compatibility import Compatibility
from kanon_pg.solvers.exact.granularity import granularity
from kanon_pg.solvers.row_assignment.flow import assign_rows

_FINEST = 1 << 30
"""Costs that are no multiples of a known number are rounded to this share of the largest."""


def reassign(
    table: RowTypeTable, graph: Compatibility, solution: Solution, k: int, *, rest_may_be_small: bool = False
) -> Solution:
    """Distribute all rows anew among the instances that a solution uses.

    Parameters
    ----------
    table : RowTypeTable
        Without an entity: its row types are divided wherever that pays.
    graph : Compatibility
        The graph of this table and k.
    solution : Solution
        Every class has at least k people.
    k : int
    rest_may_be_small : bool
        Whether the fully suppressed class may have fewer than k people.

    Returns
    -------
    Solution
        One of least cost among those whose classes are instances used by `solution`, which all keep k
        rows; `solution` itself where nothing is gained, or with an entity.

    Notes
    -----
    Row Assignment of Bredereck, Nichterlein, Niedermeier and Philip (2014), Lemma 1: a flow of minimum
    cost from row types to instances that demand at least k rows each. Polynomial time, see `assign_rows`.
    """
    if table.has_entity:
        return solution
    _, held_by = board_of(table, graph, solution, k, rest_may_be_small)
    used = np.unique(held_by)
    lengths = np.diff(graph.begin)[used]
    output = np.repeat(np.arange(used.size), lengths)
    row_type = np.concatenate([graph.members(number) for number in used])
    fewest = np.full(used.size, k, dtype=np.int64)
    if rest_may_be_small and used[-1] == len(graph) - 1:
        fewest[-1] = 0
    costs = whole_costs(graph.cost[used])
    pairs = list(zip(row_type.tolist(), output.tolist(), costs[output].tolist(), strict=True))
    found = assign_rows(table.rows, pairs, fewest)
    if found is None:
        return solution
    better = Solution.of_parts(found.row_type, graph.vector[used[found.output]], found.rows)
    return better if cost_of(table, better) < cost_of(table, solution) else solution


def cost_of(table: RowTypeTable, solution: Solution) -> float:
    """Return the weighted cost of a solution."""
    return float((suppression_costs(solution.vector, table.weights) * solution.rows).sum())


def whole_costs(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return costs as whole numbers, exactly in proportion wherever they are multiples of one number."""
    step = granularity(costs)
    if step == 0 or costs.max() / step > _FINEST:
        step = max(float(costs.max()), 1.0) / _FINEST
    whole: NDArray[np.int64] = np.rint(costs / step).astype(np.int64)
    return whole
