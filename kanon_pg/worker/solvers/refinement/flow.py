"""The best places of all rows when it is settled which instances are open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.assignment import problem_of
from kanon_pg.worker.solvers.exact.granularity import granularity
from kanon_pg.worker.solvers.exact.network import slices
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.row_assignment import assign_rows

Numbers = NDArray[np.int64]

MOST_ARCS = 4_000_000
"""Arcs up to which flows are computed: the library cannot be stopped before it has finished."""

_FINEST = 1 << 30
"""Costs that are no multiples of a known number are rounded to this share of the largest."""


def reassign(search: GraphSearch, solution: Solution) -> Solution:
    """Distribute all rows anew among the instances that a solution uses.

    Without an entity row types are divided wherever that pays.

    Parameters
    ----------
    solution : Solution
        Every class has at least k people.

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
    if search.table.has_entity:
        return solution
    _, held_by = problem_of(search, solution)
    better = _distributed(search, np.unique(held_by))
    return solution if better is None or search.cost(better) >= search.cost(solution) else better


def assign_to(search: GraphSearch, used: Numbers) -> Solution | None:
    """Distribute all rows among some instances, each of which gets at least k.

    Parameters
    ----------
    search : GraphSearch
        Of a table without an entity.
    used : ndarray of int64
        Instances, ascending.

    Returns
    -------
    Solution or None
        One of least cost. Where these instances cannot hold all rows the fully suppressed class helps
        out; None if that is not enough or there are more than `MOST_ARCS`.
    """
    found = None if search.rest_may_be_small else _distributed(search, used)
    return found or _distributed(search, np.union1d(used, [len(search.graph) - 1]))


def _distributed(search: GraphSearch, used: NDArray[np.integer]) -> Solution | None:
    """Return the cheapest solution whose classes are these instances, None if there is none."""
    table, graph = search.table, search.graph
    lengths = np.diff(graph.begin)[used]
    if lengths.sum() > MOST_ARCS:
        return None
    output = np.repeat(np.arange(used.size), lengths)
    row_type = graph.member[slices(graph.begin, used)]
    if np.unique(row_type).size < len(table):
        return None
    fewest = np.full(used.size, search.k, dtype=np.int64)
    if search.rest_may_be_small and used[-1] == len(graph) - 1:
        fewest[-1] = 0
    costs = proportional_costs(graph.cost[used])
    found = assign_rows(table.rows, np.column_stack([row_type, output, costs[output]]), fewest)
    if found is None:
        return None
    return Solution.of_parts(found.row_type, graph.vector[used[found.output]], found.rows)


def proportional_costs(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return costs as whole numbers, exactly in proportion wherever they are multiples of one number."""
    step = granularity(costs)
    if step == 0 or costs.max() / step > _FINEST:
        step = max(float(costs.max()), 1.0) / _FINEST
    whole: NDArray[np.int64] = np.rint(costs / step).astype(np.int64)
    return whole
