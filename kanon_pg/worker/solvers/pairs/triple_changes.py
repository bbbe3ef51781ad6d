"""Which two pattern instances should get or lose a triple, found by bounds on many of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.solvers.pairs.costs import Numbers, SingleRows
from kanon_pg.worker.solvers.pairs.rematching import Rematching

SEATS = 3
"""Rows that an instance with a triple must have at least; each has a seat of its own in the matching."""


class Budget:
    """Changes that may still be tried.

    Parameters
    ----------
    effort : int
        How many.
    clock : Clock
        Reports progress, and ends the search when time is over.
    """

    def __init__(self, effort: int, clock: Clock) -> None:
        self._left = effort
        self._clock = clock
        self.is_spent = False

    def spend(self) -> bool:
        """Take one change; return whether there was one left."""
        self.is_spent = self.is_spent or self._left <= 0 or self._clock.is_over()
        self._left -= 1
        self._clock.report("search", None)
        return not self.is_spent


@dataclass(frozen=True)
class Gains:
    """What prices say about changes of single instances.

    Parameters
    ----------
    least : ndarray of float64, shape (q,)
        A change of two instances raises the cost by at least the sum of theirs.
    max_cost_per_row : ndarray of int64, shape (q,)
        Row with the highest price of each instance.
    """

    least: NDArray[np.float64]
    max_cost_per_row: Numbers


def out_of_reach(rows: SingleRows) -> int:
    """Return a cost that no matching pays if there is another one."""
    return 2 * rows.row_type.size * (int(rows.cost.max()) + 1)


def gains_of(rows: SingleRows, triples: tuple[int, ...], price: NDArray[np.float64]) -> Gains:
    """Return what the prices of a matching say (see `perfect_matching`).

    The rows of a new triple leave their partners, and the seats of one that goes fall away; what is left
    costs at least the prices of those who are left.
    """
    count = rows.row_type.size
    total, max_cost_per_row = _dearest_three(price[:count], rows.begin, rows.member)
    least = SEATS * rows.place_cost - total
    for turn, place in enumerate(triples):
        least[place] = -price[count + SEATS * turn : count + SEATS * (turn + 1)].sum()
    return Gains(least, max_cost_per_row)


def _dearest_three(
    price: NDArray[np.float64], begin: Numbers, member: NDArray[np.int32]
) -> tuple[NDArray[np.float64], Numbers]:
    """Return the sum of the three highest prices of each instance's rows, and the dearest row."""
    total = np.zeros(begin.size - 1, dtype=np.float64)
    if not total.size:
        return total, np.zeros(0, dtype=np.int64)
    left = price[member]
    places = []
    for _ in range(SEATS):
        highest = np.maximum.reduceat(left, begin[:-1])
        total += highest
        reached = np.flatnonzero(left == np.repeat(highest, np.diff(begin)))
        first = reached[np.searchsorted(reached, begin[:-1])]
        left[first] = -np.inf
        places.append(first)
    return total, member[places[0]].astype(np.int64)


def better_change(
    rows: SingleRows,
    triples: tuple[int, ...],
    gains: Gains,
    matching: Rematching,
    cost: int,
    budget: Budget,
) -> tuple[int, int] | None:
    """Return two instances whose change makes the grouping cheaper, None if there are none or budget ends.

    Instances that could get a triple are tried in groups first: seats that may be taken by the rows of any of
    them cost no more than those of a single one. Groups that are not in vain are halved.
    """
    for one, group in _candidates(triples, gains):
        waiting = [group]
        while waiting:
            others = waiting.pop()
            if not budget.spend():
                return None
            if not matching.is_cheaper_with(_reseated(rows, triples, (np.array([one]), others)), cost):
                continue
            if others.size == 1:
                return one, int(others[0])
            middle = others.size // 2
            waiting += [others[middle:], others[:middle]]
    return None


def _candidates(triples: tuple[int, ...], gains: Gains) -> Iterator[tuple[int, Numbers]]:
    """Yield instances with groups of others that prices do not rule out, the most promising first."""
    order = np.argsort(gains.least, kind="stable")
    ascending = gains.least[order]
    for first, one in enumerate(order):
        others = order[first + 1 : int(np.searchsorted(ascending, -ascending[first]))]
        if not others.size:
            return
        has_triple = np.isin(others, triples)
        for other in others[has_triple]:
            yield int(one), np.array([other])
        added = others[~has_triple]
        if added.size:
            yield int(one), added[np.lexsort((added, gains.max_cost_per_row[added]))]


def _reseated(
    rows: SingleRows, triples: tuple[int, ...], changed: tuple[Numbers, Numbers]
) -> list[tuple[int, Numbers]]:
    """Return seats and their new costs after two instances, each one of a group, lost or got a triple."""
    count = rows.row_type.size
    first_idle = count + SEATS * len(triples)
    size = first_idle + 2 * SEATS
    idle = list(range(first_idle, size))
    result: list[tuple[int, Numbers]] = []
    for places in changed:
        if int(places[0]) in triples:
            begin = count + SEATS * triples.index(int(places[0]))
            for assign in range(begin, begin + SEATS):
                costs = np.full(size, out_of_reach(rows), dtype=np.int64)
                costs[idle] = 0
                idle.append(assign)
                result.append((assign, costs))
        else:
            costs = _group_costs(rows, places, size)
            result += [(idle.pop(0), costs) for _ in range(SEATS)]
    return result


def _group_costs(rows: SingleRows, places: Numbers, size: int) -> Numbers:
    costs = np.full(size, out_of_reach(rows), dtype=np.int64)
    # Instances are numbered by cost: the cheapest is written last.
    for place in np.sort(places)[::-1]:
        costs[rows.members(int(place))] = rows.place_cost[place]
    return costs
