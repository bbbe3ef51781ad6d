"""k people for every m quasi-identifiers: what an intruder sees who knows no more than m of them.

A *combination* of a set S of columns is what a row shows there, suppressed cells included. Every combination
of every m columns is to be shared by at least k people; those of fewer columns then are, too. With all
columns it would be a class, so a solution of the ordinary problem is one of this, and usually costs more.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.classes import people_per_class
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.bounded_mask import mask_of_all
from kanon_pg.worker.solvers.heuristics import search_greedily

BY_HITTING_SETS = "hitting sets of rare combinations"

_MOST_MASKS = 1 << 14
_MOST_SETS = 1 << 10
"""Sets of columns that a bound looks at: all but one of 30 columns have 2 to the power of 30."""

_WORD = 64
_ALL = (1 << _WORD) - 1

Columns = tuple[int, ...]


def search_by_subsets(table: RowTypeTable, request: SolveRequest, clock: Clock) -> SearchResult:
    """Suppress rare combinations until there are none, put back what nobody needs, and prove a bound.

    The ordinary greedy heuristic is where the search starts a second time; the cheaper result is returned.

    Notes
    -----
    Each round sorts the row types once for each set of m columns: O(C(w, m) n log n) for w columns and n row
    types. Every round suppresses cells, so rounds end.
    """
    size = request.subsets or table.width
    sets = list(combinations(range(table.width), size))
    bound = _bound(table, request.k, size, clock.part(0.2))
    mask = mask_of_all(table, request.k, clock)
    ordinary = search_greedily(table, mask, request, clock.part(0.3)).solution
    known = [] if ordinary.is_divided else [_Shown(table, sets, request.k, ordinary.main_vectors()[0])]
    rare = _Shown(table, sets, request.k, np.zeros(len(table), dtype=np.int64))
    if rare.suppress(clock.part(0.5) if known else clock.without_end()):
        known.append(rare)
    for one in known:
        one.put_back(clock)
    found = [Solution.undivided(table, one.vectors()) for one in known]
    best = min(found, key=lambda one: one.cost(table.weights))
    return SearchResult(best, f"greedy, by {size} columns", lower_bound=bound, bound_method=BY_HITTING_SETS)


class _Shown:
    """What row types show, and what of it fewer than k people share."""

    def __init__(
        self, table: RowTypeTable, sets: Sequence[Columns], k: int, vectors: NDArray[np.int64]
    ) -> None:
        self._table, self._sets, self._k = table, [list(columns) for columns in sets], k
        self._hidden = (vectors >> np.arange(table.width)[:, None]) & 1 == 1
        self._weights = table.weights[:, None]
        self._with_column = [
            [number for number, columns in enumerate(sets) if column in columns]
            for column in range(table.width)
        ]

    def vectors(self) -> NDArray[np.int64]:
        """Return the pattern vector of each row type."""
        vectors: NDArray[np.int64] = (self._hidden * (1 << np.arange(self._table.width))[:, None]).sum(axis=0)
        return vectors

    def suppress(self, clock: Clock) -> bool:
        """Suppress cells until k people share each combination; whether there was time for it."""
        members = np.zeros((self._table.width, len(self._sets)), dtype=np.float32)
        for column, numbers in enumerate(self._with_column):
            members[column, numbers] = 1
        found = self._rare(self._sets)
        while found.any():
            if clock.is_over():
                return False
            clock.heartbeat()
            score = np.where(self._hidden, 0.0, members @ found.astype(np.float32))
            score /= self._weights
            best = score.argmax(axis=0)
            rows = np.flatnonzero(score.max(axis=0) > 0)
            before = self._hidden.copy()
            if rows.size:
                self._hidden[best[rows], rows] = True
            else:
                self._bring_others(int(found.any(axis=1).argmax()))
            changed = (before != self._hidden).any(axis=1)
            stale = [number for number, columns in enumerate(self._sets) if changed[columns].any()]
            found[stale] = self._rare([self._sets[number] for number in stale])
        return True

    def _rare(self, sets: Sequence[list[int]]) -> NDArray[np.bool_]:
        """Return for each set of columns which row types show a combination of fewer than k people."""
        rare = np.empty((len(sets), len(self._table)), dtype=np.bool_)
        hashes = np.where(self._hidden, np.uint64(0), self._table.hashes)
        for number, columns in enumerate(sets):
            rare[number] = _people(self._table, hashes[columns].sum(axis=0)) < self._k
            self._table.heartbeat()
        return rare

    def _bring_others(self, number: int) -> None:
        """Suppress a set of columns in so many rows that k people show none of it, where that costs least."""
        columns = self._sets[number]
        table, start = self._table, self._table.shared_start
        cost = (~self._hidden[columns] * self._weights[columns]).sum(axis=0) * table.rows
        own, shared, taken = 0, set[int](), []
        for row_type in np.argsort(cost / np.maximum(table.people, 1e-9), kind="stable"):
            taken.append(row_type)
            own += int(table.own[row_type])
            shared.update(table.shared_people[start[row_type] : start[row_type + 1]].tolist())
            if own + len(shared) >= self._k:
                break
        self._hidden[np.ix_(columns, taken)] = True

    def put_back(self, clock: Clock) -> None:
        """Show suppressed cells again where k people share all that comes and goes by it.

        Not where somebody occurs in several row types, as numbers of people do not add up there, or where
        rows are nobody's, as combinations of nobody may have rows.
        """
        if self._table.has_shared_people or not self._table.people.all():
            return
        while self._put_back_once(clock):
            clock.heartbeat()

    def _put_back_once(self, clock: Clock) -> bool:
        table, k = self._table, self._k
        hashes = np.where(self._hidden, np.uint64(0), table.hashes)
        keys: list[list[int]] = []
        people: list[Counter[int]] = []
        for columns in self._sets:
            key = hashes[columns].sum(axis=0)
            keys.append(key.tolist())
            numbers, first = number_values(key.view(np.int64))
            counts = np.bincount(numbers, weights=table.people).astype(np.int64)
            people.append(Counter(dict(zip(key[first].tolist(), counts.tolist(), strict=True))))
        row_types, columns_of = np.nonzero(self._hidden.T)
        gain = table.weights[columns_of] * table.rows[row_types]
        is_better = False
        for place in np.argsort(-gain, kind="stable"):
            if clock.is_over():
                return False
            row_type, column = int(row_types[place]), int(columns_of[place])
            here, more = int(table.people[row_type]), int(table.hashes[column, row_type])
            moves = []
            for number in self._with_column[column]:
                old = keys[number][row_type]
                new = (old + more) & _ALL
                left = people[number][old] - here
                if 0 < left < k or people[number][new] + here < k:
                    break
                moves.append((number, old, new))
            else:
                for number, old, new in moves:
                    people[number][old] -= here
                    people[number][new] += here
                    keys[number][row_type] = new
                self._hidden[column, row_type] = False
                is_better = True
        return is_better


def _people(table: RowTypeTable, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return for each row type the people of all that have its key."""
    numbers, first = number_values(keys.view(np.int64))
    return people_per_class(table, numbers, first.size)[numbers]


def _bound(table: RowTypeTable, k: int, most: int, clock: Clock) -> float:
    """Return what every solution costs at least.

    Let a row show all of a set S' of at most m columns. All who share its combination of some m columns that
    contain S' show its values on S', and so have them. If fewer than k people have these values in the table,
    that is refused: the row suppresses a column of each S' whose values are so rare. So it costs no less than
    the cheapest set of columns that hits all these, and all rows together no less than the sum of that. This
    is true of some of these sets as well, if there are too many, or no time for all.

    Sets of columns are tried in the order of their costs. Where that ends early, for the rows that none has
    hit, the cost of the last one is less than theirs, or equal to it.
    """
    sizes = (most, *range(1, most))  # the largest are rare most often
    every = (one for size in sizes for one in combinations(range(table.width), size))
    sets = list(islice(every, _MOST_SETS))
    words = -(-len(sets) // _WORD)
    rare = np.zeros((words, len(table)), dtype=np.uint64)
    holding = np.zeros((table.width, words), dtype=np.uint64)
    for number, columns in enumerate(sets):
        if clock.is_over():
            break
        word, bit = number // _WORD, np.uint64(1 << number % _WORD)
        is_rare = _people(table, table.hashes[list(columns)].sum(axis=0, dtype=np.uint64)) < k
        rare[word, is_rare] |= bit
        holding[list(columns), word] |= bit
        table.heartbeat()
    families, family_of = np.unique(rare, axis=1, return_inverse=True)
    cost = np.zeros(families.shape[1])
    left = np.arange(families.shape[1])  # families are what is left
    for tried, (one, chosen) in enumerate(_by_cost(table.weights.tolist())):
        cost[left] = one
        hit = np.bitwise_or.reduce(holding[list(chosen)], axis=0) if chosen else np.zeros(words, np.uint64)
        missed = (families & ~hit[:, None]).any(axis=0)
        if not missed.all():
            families, left = families[:, missed], left[missed]
        if not left.size or tried == _MOST_MASKS or clock.is_over():
            break
    return float((cost[family_of.ravel()] * table.rows).sum())


def _by_cost(weights: Sequence[float]) -> Iterator[tuple[float, Columns]]:
    """Yield all sets of columns with their costs, the cheapest first."""
    order = sorted(range(len(weights)), key=weights.__getitem__)
    waiting: list[tuple[float, Columns]] = [(0.0, ())]
    while waiting:
        cost, places = heapq.heappop(waiting)
        yield cost, tuple(order[place] for place in places)
        # Each set is reached from one that costs no more: the next place is added, or replaces the last.
        after = places[-1] + 1 if places else 0
        if after < len(order):
            for kept in (places, places[:-1])[: 2 if places else 1]:
                longer = (*kept, after)
                heapq.heappush(waiting, (sum(weights[order[place]] for place in longer), longer))
