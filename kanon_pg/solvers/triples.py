"""Which pattern instances hold a triple: the local search that makes pairs and triples optimal.

E. Anshelevich, A. Karagiozova: "Terminal Backup, 3D Matching, and Covering Cubic Graphs" (2011), solve
Simplex Matching by augmentations that each are a weighted matching. S. Dudycz, K. Paluch: "Optimal General
Matchings" (2018), show it for all degree constraints without long gaps: a solution is optimal unless one is
better whose degrees have another parity at no more than two vertices. Here the vertices with a choice are
the pattern instances, which hold no row or at least two: an instance with an odd number of rows is one
with a triple and pairs, one with an even number has pairs only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.compiled import kernel
from kanon_pg.solvers.clock import Clock
from kanon_pg.solvers.matching import UNIT, cost_of, perfect_matching
from kanon_pg.solvers.matching_forest import Forest
from kanon_pg.solvers.pair_costs import Numbers, SingleRows
from kanon_pg.solvers.rematching import Rematching

SEATS = 3
"""Rows that an instance with a triple must have at least; each has a seat of its own in the matching."""


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

    Notes
    -----
    Each step tries to change for two instances whether they hold a triple: O(q^2) changes of a matching,
    O(n^2) each but for blossoms that fall apart, for q instances and n rows, without those that the prices
    of the matching exclude; then a matching in O(n^3). With whole costs of at most c there are at most n c
    steps, so it is polynomial for weights of 1.
    """
    triples, tried = start, 0
    while True:
        forest = _matched(rows, triples, clock)
        count = rows.row_type.size
        current = Grouping(triples, forest.mate[:count].copy(), cost_of(forest))
        changes = _changes(rows, triples, forest.price / UNIT)
        seats = Rematching(forest)
        for one, other in changes:
            if tried >= effort or clock.is_over():
                return current
            tried += 1
            clock.report("search", None)
            if seats.is_cheaper_with(_reseated(rows, triples, (one, other)), current.cost):
                triples = tuple(sorted(set(triples) ^ {one, other}))
                break
        else:
            return replace(current, is_optimal=True)


def _matched(rows: SingleRows, triples: tuple[int, ...], clock: Clock) -> Forest:
    """Pair rows, and place rows on the seats of each triple, at least cost; six seats stay idle."""
    count = rows.row_type.size
    size = count + SEATS * (len(triples) + 2)
    costs = np.full((size, size), _out_of_reach(rows), dtype=np.int64)
    costs[:count, :count] = 2 * rows.cost
    costs[count:, count:] = _out_of_reach(rows)
    idle = count + SEATS * len(triples)
    costs[idle:, idle:] = 0
    for turn, place in enumerate(triples):
        seat = slice(count + SEATS * turn, count + SEATS * (turn + 1))
        costs[rows.members(place), seat] = rows.place_cost[place]
        costs[seat, rows.members(place)] = rows.place_cost[place]
    return perfect_matching(costs, clock.beat)


def _out_of_reach(rows: SingleRows) -> int:
    """Return a cost that no matching pays if there is another one."""
    return 2 * rows.row_type.size * (int(rows.cost.max()) + 1)


def _reseated(
    rows: SingleRows, triples: tuple[int, ...], changed: tuple[int, int]
) -> list[tuple[int, Numbers]]:
    """Return seats and their new costs after two instances lost or got a triple."""
    count = rows.row_type.size
    first_idle = count + SEATS * len(triples)
    size = first_idle + 2 * SEATS
    idle = set(range(first_idle, size))
    result: list[tuple[int, Numbers]] = []
    for place in changed:
        costs = np.full(size, _out_of_reach(rows), dtype=np.int64)
        if place in triples:
            begin = count + SEATS * triples.index(place)
            seats = list(range(begin, begin + SEATS))
        else:
            seats = sorted(idle)[:SEATS]
            costs[rows.members(place)] = rows.place_cost[place]
        for seat in seats:
            if place in triples:
                costs = costs.copy()
                costs[sorted(idle)] = 0
                idle.add(seat)
            else:
                idle.remove(seat)
            result.append((seat, costs))
    return result


def _changes(
    rows: SingleRows, triples: tuple[int, ...], price: NDArray[np.float64]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of instances whose change may make the grouping cheaper, the most promising first.

    Nobody gains more by a change than the prices say (see `perfect_matching`): the rows of a new triple leave
    their partners, and the seats of one that goes fall away.
    """
    count = rows.row_type.size
    least = SEATS * rows.place_cost - _dearest_three(price[:count], rows.begin, rows.member)
    for turn, place in enumerate(triples):
        least[place] = -price[count + SEATS * turn : count + SEATS * (turn + 1)].sum()
    order = np.argsort(least, kind="stable")
    for first, one in enumerate(order):
        for other in order[first + 1 :]:
            if least[one] + least[other] >= 0:
                break
            yield int(one), int(other)


@kernel
def _dearest_three(
    price: NDArray[np.float64], begin: Numbers, member: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the sum of the three highest prices of each instance's rows."""
    total = np.empty(begin.size - 1, dtype=np.float64)
    for place in range(total.size):
        prices = price[member[begin[place] : begin[place + 1]]]
        prices.sort()
        total[place] = prices[-SEATS:].sum()
    return total
