"""Which pattern instances hold a triple: the local search that makes pairs and triples optimal.

E. Anshelevich, A. Karagiozova: "Terminal Backup, 3D Matching, and Covering Cubic Graphs" (2011), solve
Simplex Matching by augmentations that each are a weighted matching. S. Dudycz, K. Paluch: "Optimal General
Matchings" (2018), show it for all degree constraints without long gaps: a solution is optimal unless one is
better whose degrees have another parity at no more than two vertices. Here the vertices with a choice are
the pattern instances, which hold no row or at least two: an instance with an odd number of rows is one
with a triple and pairs, one with an even number has pairs only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.solvers.pairs.costs import Numbers, SingleRows
from kanon_pg.worker.solvers.pairs.forest import Forest
from kanon_pg.worker.solvers.pairs.matching import UNIT, cost_of, perfect_matching
from kanon_pg.worker.solvers.pairs.rematching import Rematching
from kanon_pg.worker.solvers.pairs.triple_changes import SEATS, Budget, better_change, gains_of, out_of_reach


@dataclass(frozen=True)
class Grouping:
    """Pairs and triples of rows.

    Parameters
    ----------
    triples : tuple of int
        Pattern instances that hold a triple, in the order of their seats.
    mate : ndarray of int64, shape (n,)
        Partner of each row: a row, or a seat, numbered from n on.
    cost : int
        Whole cost of all rows.
    is_optimal : bool
        Whether no other grouping is cheaper.
    """

    triples: tuple[int, ...]
    mate: Numbers
    cost: int
    is_optimal: bool = False


def best_grouping(rows: SingleRows, start: tuple[int, ...], effort: int, clock: Clock) -> Grouping:
    """Group rows into pairs and triples at least cost.

    Parameters
    ----------
    rows : SingleRows
        At least two.
    start : tuple of int
        Pattern instances that hold a triple at first; as many as there are rows, modulo 2.
    effort : int
        Most changes to be tried.
    clock : Clock

    Returns
    -------
    Grouping
        The best of those that effort and time let it see.

    Raises
    ------
    TimeOver
        The clock is firm, and its time was over before there was one.

    Notes
    -----
    A step is a matching in O(n^3), and at most O(q^2) changes of it for q instances and n rows, O(n^2) each
    but for blossoms that fall apart; prices and groups of instances leave out nearly all of them. With whole
    costs of at most c there are at most n c steps, so it is polynomial for weights of 1.
    """
    triples, budget = start, Budget(effort, clock)
    current: Grouping | None = None
    try:
        while True:
            forest = _matched(rows, triples, clock)
            count = rows.row_type.size
            current = Grouping(triples, forest.mate[:count].copy(), cost_of(forest))
            gains = gains_of(rows, triples, forest.price / UNIT)
            changed = better_change(rows, triples, gains, Rematching(forest), current.cost, budget)
            if changed is None:
                return replace(current, is_optimal=not budget.is_spent)
            triples = tuple(sorted(set(triples) ^ set(changed)))
    except TimeOver:
        if current is None:
            raise
        return current


def _matched(rows: SingleRows, triples: tuple[int, ...], clock: Clock) -> Forest:
    """Pair rows, and place rows on the seats of each triple, at least cost; six seats stay idle."""
    count = rows.row_type.size
    size = count + SEATS * (len(triples) + 2)
    costs = np.full((size, size), out_of_reach(rows), dtype=np.int64)
    costs[:count, :count] = 2 * rows.cost
    costs[count:, count:] = out_of_reach(rows)
    idle = count + SEATS * len(triples)
    costs[idle:, idle:] = 0
    for turn, place in enumerate(triples):
        assign = slice(count + SEATS * turn, count + SEATS * (turn + 1))
        costs[rows.members(place), assign] = rows.place_cost[place]
        costs[assign, rows.members(place)] = rows.place_cost[place]
    return perfect_matching(costs, clock.heartbeat)
