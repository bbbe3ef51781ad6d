"""The best places of all rows when it is settled which instances are open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.assignment import problem_of
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.exact.granularity import granularity
from kanon_pg.worker.solvers.exact.network import slices
from kanon_pg.worker.solvers.row_assignment import assign_rows

Numbers = NDArray[np.int64]

MOST_ARCS = 4_000_000
"""Arcs up to which flows are computed: the library cannot be stopped before it has finished."""

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
    rest_may_be_small : bool
        Whether the fully suppressed class may have fewer than k people.

    Returns
    -------
    Solution
        One of least cost among those whose classes are instances used by `solution`, which all keep k
        rows; `solution` itself where nothing is gained, with an entity, or with more than `MOST_ARCS`.

    Notes
    -----
    Row Assignment of Bredereck, Nichterlein, Niedermeier and Philip (2014), Lemma 1: a flow of minimum
    cost from row types to instances that demand at least k rows each. Polynomial time, see `assign_rows`.
    """
    if table.has_entity:
        return solution
    _, held_by = problem_of(table, graph, solution, k, rest_may_be_small)
    better = _distributed(table, graph, np.unique(held_by), k, rest_may_be_small)
    return (
        solution
        if better is None or cost_of(table, graph, better) >= cost_of(table, graph, solution)
        else better
    )


def assign_to(
    table: RowTypeTable, graph: Compatibility, used: Numbers, k: int, *, rest_may_be_small: bool = False
) -> Solution | None:
    """Distribute all rows among some instances, each of which gets at least k.

    Parameters
    ----------
    table : RowTypeTable
        Without an entity.
    graph : Compatibility
        The graph of this table and k.
    used : ndarray of int64
        Instances, ascending.
    rest_may_be_small : bool
        Whether the fully suppressed class may have fewer than k people.

    Returns
    -------
    Solution or None
        One of least cost. Where these instances cannot hold all rows the fully suppressed class helps
        out; None if that is not enough or there are more than `MOST_ARCS`.
    """
    sink = len(graph) - 1
    found = None
    if not rest_may_be_small:
        found = _distributed(table, graph, used, k, False)
    return found or _distributed(table, graph, np.union1d(used, [sink]), k, rest_may_be_small)


def _distributed(
    table: RowTypeTable, graph: Compatibility, used: NDArray[np.integer], k: int, rest_may_be_small: bool
) -> Solution | None:
    """Return the cheapest solution whose classes are these instances, None if there is none."""
    lengths = np.diff(graph.begin)[used]
    if lengths.sum() > MOST_ARCS:
        return None
    output = np.repeat(np.arange(used.size), lengths)
    row_type = graph.member[slices(graph.begin, used)]
    if np.unique(row_type).size < len(table):
        return None
    fewest = np.full(used.size, k, dtype=np.int64)
    if rest_may_be_small and used[-1] == len(graph) - 1:
        fewest[-1] = 0
    costs = proportional_costs(graph.cost[used])
    found = assign_rows(table.rows, np.column_stack([row_type, output, costs[output]]), fewest)
    if found is None:
        return None
    return Solution.of_parts(found.row_type, graph.vector[used[found.output]], found.rows)


def cost_of(table: RowTypeTable, graph: Compatibility, solution: Solution) -> float:
    """Return the weighted cost of a solution."""
    return float((graph.row_costs(table, solution.vector) * solution.rows).sum())


def proportional_costs(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return costs as whole numbers, exactly in proportion wherever they are multiples of one number."""
    step = granularity(costs)
    if step == 0 or costs.max() / step > _FINEST:
        step = max(float(costs.max()), 1.0) / _FINEST
    whole: NDArray[np.int64] = np.rint(costs / step).astype(np.int64)
    return whole
