"""The optimum for k = 2: rows in pairs and triples.

J. Blocki, R. Williams: "Resolving the Complexity of Some Data Privacy Problems" (2010), reduce 2-anonymity to
Simplex Matching; R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity" (2013), Theorem
2, carry this over to pattern vectors. Every class of at least two rows splits into pairs and triples that
cost no more.

Which pattern instances hold a triple is found by local search. E. Anshelevich, A. Karagiozova: "Terminal
Backup, 3D Matching, and Covering Cubic Graphs" (2011), solve Simplex Matching by augmentations that each are
a weighted matching. S. Dudycz, K. Paluch: "Optimal General Matchings" (2018), show it for all degree
constraints without long gaps: a solution is optimal unless one is better whose degrees have another parity at
no more than two vertices. Here the vertices with a choice are the pattern instances, which hold no row or at
least two: an instance with an odd number of rows is one with a triple and pairs, one with an even number has
pairs only. Which two instances should get or lose a triple is found by bounds on many of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import SolveRequest
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.patterns import PatternMask, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.pairs.costs import Numbers, SingleRows, paired_with_itself, single_rows
from kanon_pg.worker.solvers.pairs.forest import Forest
from kanon_pg.worker.solvers.pairs.matching import UNIT, cost_of, perfect_matching
from kanon_pg.worker.solvers.pairs.rematching import Rematching
from kanon_pg.worker.solvers.search import SearchResult, search_greedily

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

    Returns
    -------
    Grouping
        The best of those that effort and time let it see.

    Raises
    ------
    TimeOver
        The clock raises, and its time was over before there was one.

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


MOST_ROWS = 1600
"""Rows that may have to be paired with others: some seconds for a first matching, and 0.3 GiB."""

EFFORT = 50_000
"""Changes of matchings after which the search gives up."""

METHOD = "pairs and triples"
BOUND_METHOD = "weighted matchings for k = 2"


def search_by_pairs(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult | None:
    """Find a cheapest solution for k = 2, and prove that it is one.

    Returns
    -------
    SearchResult or None
        None if the request is of another kind (k > 2, an entity, a privacy model, a limit for the number
        of classes, the papers' rule for the rest) or there are too many rows. If effort or time were over,
        the greedy heuristic's solution where that is cheaper, with its bound.

    Notes
    -----
    Proven optimal by `best_grouping`, polynomial for weights of 1.
    """
    if not _is_suitable(table, request):
        return None
    if int((table.rows - paired_with_itself(table.rows)).sum()) > MOST_ROWS:
        return None
    known = search_greedily(table, mask, request, clock)
    try:
        rows = single_rows(table, mask, clock.raising())
        start = (0,) if rows.row_type.size % 2 == 1 else ()
        grouping = best_grouping(rows, start, EFFORT, clock.raising())
    except TimeOver:
        return known
    whole = (grouping.cost + rows.cheapest * int(rows.paired_rows.sum())) * rows.unit
    found = replace(known, solution=_solution(rows, grouping), method=METHOD)
    if grouping.is_optimal and not np.isfinite(mask.outside):
        return replace(found, lower_bound=whole, bound_method=BOUND_METHOD)
    costs = suppression_costs(known.solution.vector, table.weights) * known.solution.rows
    return found if whole < costs.sum() else known


def _is_suitable(table: RowTypeTable, request: SolveRequest) -> bool:
    has_limits = request.fewest_classes is not None or request.most_classes is not None
    is_plain = not (table.has_entity or request.models or has_limits or request.rest_may_be_small)
    return request.k == 2 and is_plain


def _solution(rows: SingleRows, grouping: Grouping) -> Solution:
    """Return the parts of the row types, one by one and those paired among themselves."""
    count = rows.row_type.size
    mate = grouping.mate
    vector = rows.vector[np.arange(count), np.minimum(mate, count - 1)]
    seated = mate >= count
    places = np.array(grouping.triples, dtype=np.int64)
    vector[seated] = rows.place_vector[places[(mate[seated] - count) // 3]]
    types = np.arange(rows.paired_rows.size)
    # A row and itself differ in nothing, so the diagonal holds the cheapest vector of all.
    return Solution.of_parts(
        np.concatenate([rows.row_type, types]),
        np.concatenate([vector, np.full(types.size, rows.vector[0, 0])]),
        np.concatenate([np.ones(count, dtype=np.int64), rows.paired_rows]),
    )
