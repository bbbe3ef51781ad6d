"""The part of the compatibility graph that good solutions use, as prices tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.assignment import board_of
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.exact.pruning import pair_excess
from kanon_pg.worker.verification.certificate import PRICE_UNIT


def thin(
    table: RowTypeTable,
    graph: Compatibility,
    solution: Solution,
    k: int,
    prices: NDArray[np.int64],
    most: float,
) -> Compatibility:
    """Leave out pairs whose cheapest class costs much more than the prices of its rows.

    The excesses of all classes of a solution add up to its distance from the bound that the prices prove,
    so in a good solution hardly any class has a large one.

    Parameters
    ----------
    table : RowTypeTable
    graph : Compatibility
    solution : Solution
        Its classes stay, or cheaper ones for their row types.
    k : int
    prices : ndarray of int64, shape (n,)
        Valid prices in units of 1 / `PRICE_UNIT`.
    most : float
        Largest excess of a class over the prices of its rows.

    Returns
    -------
    Compatibility
        With every row type in the fully suppressed instance.
    """
    excess = pair_excess(graph.begin, graph.member, graph.cost, prices / PRICE_UNIT, table.rows, k)
    kept = excess <= most
    kept[graph.begin[-2] :] = True
    lengths = np.diff(graph.begin)
    instance = np.repeat(np.arange(len(graph)), lengths)
    people = np.bincount(instance[kept], weights=table.people[graph.member[kept]], minlength=len(graph))
    kept &= (people >= k)[instance]
    kept[graph.begin[-2] :] = True
    kept |= _in_use(table, graph, solution, k, instance)
    lengths = np.bincount(instance[kept], minlength=len(graph))
    stays = lengths > 0
    begin = np.zeros(int(stays.sum()) + 1, dtype=np.int64)
    np.cumsum(lengths[stays], out=begin[1:])
    member = graph.member[kept]
    return Compatibility(
        graph.vector[stays],
        graph.cost[stays],
        np.add.reduceat(table.people[member], begin[:-1]),
        begin,
        member,
    )


def _in_use(
    table: RowTypeTable, graph: Compatibility, solution: Solution, k: int, instance: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which pairs a solution uses."""
    assignment, held_by = board_of(table, graph, solution, k, False)
    pairs = np.unique(held_by.astype(np.int64) * len(table) + assignment.type_of)
    place = np.searchsorted(instance * len(table) + graph.member, pairs)
    in_use = np.zeros(graph.edges, dtype=np.bool_)
    in_use[place] = True
    return in_use
