"""The compatibility graph that is searched: around a solution, thinned by prices to what good ones use."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import MemoryExceeded
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.assignment import problem_of
from kanon_pg.worker.solvers.compatibility import MOST_EDGES, Compatibility, compatibility_of
from kanon_pg.worker.solvers.exact.network import pair_excess
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.verification.certificate import PRICE_UNIT

_SLACKS = (3.0, 1.5, 0.75, 0.0)
"""How much costlier than its price an instance may be for a row type, in usual costs; tried in this order."""

_DENSE = 4
"""All pairs are listed only if vectors times row types are fewer than this many times the limit."""


def graph_around(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    solution: Solution,
    k: int,
    clock: Clock,
    *,
    prices: NDArray[np.int64] | None = None,
    most_edges: int = MOST_EDGES,
) -> Compatibility:
    """Build the graph with all pairs, or if they are too many with those that matter most.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors, the fully suppressed one among them.
    solution : Solution
        Its classes are instances of the graph, or cheaper ones with the same members are.
    prices : ndarray of int64, shape (n,), optional
        Valid prices in units of 1 / `PRICE_UNIT`; without them nothing costlier than in the solution stays.

    Raises
    ------
    MemoryExceeded
        Not even what costs no more than in the solution fits.
    """
    current = np.zeros(len(table))
    np.maximum.at(current, solution.row_type, suppression_costs(solution.vector, table.weights))
    unit = float(table.weights.mean())
    limits: list[NDArray[np.float64] | None] = (
        [None] if vectors.size * len(table) < _DENSE * most_edges else []
    )
    if prices is not None:
        limits += [np.maximum(current, prices / PRICE_UNIT + slack * unit) for slack in _SLACKS]
    for max_cost_per_row in limits:
        with suppress(MemoryExceeded):
            return compatibility_of(
                table, vectors, k, clock, max_cost_per_row=max_cost_per_row, most_edges=most_edges
            )
    return compatibility_of(table, vectors, k, clock, max_cost_per_row=current, most_edges=most_edges)


def thin(search: GraphSearch, solution: Solution, most: float) -> Compatibility:
    """Leave out pairs whose cheapest class costs much more than the prices of its rows.

    The excesses of all classes of a solution add up to its distance from the bound that the prices prove,
    so in a good solution hardly any class has a large one.

    Parameters
    ----------
    search : GraphSearch
        With prices.
    solution : Solution
        Its classes stay, or cheaper ones for their row types.
    most : float
        Largest excess of a class over the prices of its rows.

    Returns
    -------
    Compatibility
        With every row type in the fully suppressed instance.
    """
    table, graph, k = search.table, search.graph, search.k
    excess = pair_excess(graph.begin, graph.member, graph.cost, search.row_prices, table.rows, k)
    kept = excess <= most
    kept[graph.begin[-2] :] = True
    instance = _instance_of_pairs(graph)
    people = np.bincount(instance[kept], weights=table.people[graph.member[kept]], minlength=len(graph))
    kept &= (people >= k)[instance]
    kept[graph.begin[-2] :] = True
    kept[pairs_in_use(search, solution)] = True
    return part_of(table, graph, kept)


def part_of(table: RowTypeTable, graph: Compatibility, kept: NDArray[np.bool_]) -> Compatibility:
    """Return the graph of some pairs, and of the instances that they leave.

    Parameters
    ----------
    kept : ndarray of bool, shape (e,)
        With every pair of the fully suppressed instance.
    """
    before = np.concatenate([[0], np.cumsum(kept)])
    lengths = np.diff(before[graph.begin])
    stays = lengths > 0
    begin = np.zeros(int(stays.sum()) + 1, dtype=np.int64)
    np.cumsum(lengths[stays], out=begin[1:])
    member = graph.member[kept]
    return replace(
        graph,
        vector=graph.vector[stays],
        cost=graph.cost[stays],
        people=np.add.reduceat(table.people[member], begin[:-1]),
        begin=begin,
        member=member,
    )


def pairs_in_use(search: GraphSearch, solution: Solution) -> NDArray[np.int64]:
    """Return the places of the pairs that a solution uses, or cheaper ones for its classes, ascending."""
    problem, held_by = problem_of(search, solution)
    graph, count = search.graph, len(search.table)
    used = np.unique(held_by.astype(np.int64) * count + problem.type_of)
    return np.searchsorted(_instance_of_pairs(graph) * count + graph.member, used)


def _instance_of_pairs(graph: Compatibility) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(graph)), np.diff(graph.begin))
