"""Row types grouped by what they show at one level vector, and the lower bound that such groups prove.

The groups of one level vector are made from those of a more specific one. They get fewer on the way up, so a
walk through the lattice of level vectors costs far less than grouping all row types at every vector (LeFevre,
DeWitt and Ramakrishnan 2005, "Incognito", section 3.2: frequency sets roll up). The bound adds up what each
row type costs at least in a class of k people, whatever the others do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.recoding.forest import Forest


class NodeGroups(NamedTuple):
    """Per group: the key of what it shows, some member, the sum of its people and its rows."""

    key: NDArray[np.uint64]
    member: NDArray[np.int32]
    people: NDArray[np.int64]
    rows: NDArray[np.int64]


def finest_groups(
    forest: Forest, codes: NDArray[np.int32], table: RowTypeTable
) -> tuple[NodeGroups, NDArray[np.int32]]:
    """Return the groups at the lowest levels of all columns, and the group of each row type, shape (n,)."""
    key = np.zeros(len(table), dtype=np.uint64)
    for column in range(table.width):
        start = int(forest.begin[column] + forest.lowest[column] * forest.values[column])
        key += forest.keys[start + codes[:, column]]
    items = NodeGroups(key, np.arange(len(table), dtype=np.int32), table.people, table.rows)
    return _united(items, key)


@kernel
def _united(groups: NodeGroups, key: NDArray[np.uint64]) -> tuple[NodeGroups, NDArray[np.int32]]:
    """Unite the groups with equal keys; return them and which one each becomes part of."""
    count = key.size
    size = 16
    while size < 2 * count:
        size *= 2
    slots = np.full(size, -1, dtype=np.int32)
    mask = np.uint64(size - 1)
    into = np.empty(count, dtype=np.int32)
    new_key = np.empty(count, dtype=np.uint64)
    member = np.empty(count, dtype=np.int32)
    people = np.zeros(count, dtype=np.int64)
    rows = np.zeros(count, dtype=np.int64)
    made = 0
    for group in range(count):
        slot = (key[group] ^ (key[group] >> np.uint64(29))) & mask
        while slots[slot] >= 0 and new_key[slots[slot]] != key[group]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = made
            new_key[made] = key[group]
            member[made] = groups.member[group]
            made += 1
        number = slots[slot]
        into[group] = number
        people[number] += groups.people[group]
        rows[number] += groups.rows[group]
    return NodeGroups(new_key[:made], member[:made], people[:made], rows[:made]), into


@kernel
def raise_column(
    forest: Forest, codes: NDArray[np.int32], groups: NodeGroups, column: int, level: int
) -> tuple[NodeGroups, NDArray[np.int32]]:
    """Return the groups one level higher in a column, and which one each group becomes part of.

    Parameters
    ----------
    forest, codes
        The table.
    groups : NodeGroups
        At some level vector.
    level : int
        Its level there, below the top.
    """
    key = np.empty_like(groups.key)
    before = forest.begin[column] + level * forest.values[column]
    after = before + forest.values[column]
    for group in range(key.size):
        code = codes[groups.member[group], column]
        key[group] = groups.key[group] - forest.keys[before + code] + forest.keys[after + code]
    return _united(groups, key)


@kernel
def project(
    forest: Forest,
    codes: NDArray[np.int32],
    groups: NodeGroups,
    columns: NDArray[np.int64],
    level: NDArray[np.int16],
) -> tuple[NodeGroups, NDArray[np.int32]]:
    """Return the groups of what some columns alone show, and which one each group becomes part of.

    Parameters
    ----------
    forest, codes
        The table.
    groups : NodeGroups
        Groups that agree on these columns at these or lower levels.
    columns : ndarray of int64
    level : ndarray of int16, shape (m,)
        Of all columns.
    """
    key = np.zeros(groups.key.size, dtype=np.uint64)
    for column in columns:
        start = forest.begin[column] + level[column] * forest.values[column]
        for group in range(key.size):
            key[group] += forest.keys[start + codes[groups.member[group], column]]
    return _united(groups, key)


@kernel
def costs_of_groups(
    forest: Forest, codes: NDArray[np.int32], groups: NodeGroups, level: NDArray[np.int16]
) -> NDArray[np.float64]:
    """Return the cost of one row of each group at a level vector."""
    costs = np.zeros(groups.member.size, dtype=np.float64)
    for column in range(level.size):
        start = forest.begin[column] + level[column] * forest.values[column]
        for group in range(costs.size):
            costs[group] += forest.loss[start + codes[groups.member[group], column]]
    return costs


@kernel
def most_of_parts(
    into: NDArray[np.int32], numbers: NDArray[np.float64], is_constrained: NDArray[np.bool_], count: int
) -> NDArray[np.float64]:
    """Return per united group the greatest number of the parts that are constrained, -inf without one."""
    most = np.full(count, -np.inf)
    for group in range(into.size):
        if is_constrained[group] and numbers[group] > most[into[group]]:
            most[into[group]] = numbers[group]
    return most


BY_FIRST_STEPS = "first step that each row type of too few people has to take"


def cheapest_first_steps(
    forest: Forest, codes: NDArray[np.int32], table: RowTypeTable, k: int
) -> NDArray[np.float64]:
    """Return for each row type a cost per row that no solution can go below, in a moment.

    Parameters
    ----------
    codes : ndarray of int32, shape (n, m)

    Notes
    -----
    In each column by itself a cell has to rise to a node of k people. And a row type that is not alike k
    people at the lowest levels has to rise in some column at least so far that its node there has further
    values. The larger of the two costs bounds the cost of the row. O(n m h) for height h.
    """
    groups, into = finest_groups(forest, codes, table)
    alone, lowest = np.zeros(len(table)), np.zeros(len(table))
    step = np.full(len(table), np.inf)
    for column in range(table.width):
        begin, values = int(forest.begin[column]), int(forest.values[column])
        bottom, top = int(forest.lowest[column]), int(forest.height[column])
        whole = slice(begin, begin + (top + 1) * values)
        nodes, loss = forest.nodes[whole].reshape(-1, values), forest.loss[whole].reshape(-1, values)
        people = np.bincount(codes[:, column], weights=table.people, minlength=values)
        cheapest, wider = loss[top].copy(), np.full(values, np.inf)
        same = np.bincount(nodes[bottom])[nodes[bottom]]
        for level in range(top, bottom - 1, -1):
            node = nodes[level]
            is_enough = np.bincount(node, weights=people)[node] >= k
            cheapest[is_enough] = loss[level][is_enough]
            is_wider = np.bincount(node)[node] > same
            wider[is_wider] = loss[level][is_wider]
        code = codes[:, column]
        alone += cheapest[code]
        lowest += loss[bottom][code]
        step = np.minimum(step, (wider - loss[bottom])[code])
    is_rare = (groups.people[into] < k) & np.isfinite(step)
    found: NDArray[np.float64] = np.maximum(alone, np.where(is_rare, lowest + step, 0.0))
    return found


BY_REACH_OF_LEVELS = "cheapest levels within reach of each row type"

MOST_WORK = 60_000_000
"""Groups that are looked at at most, in all level vectors: some seconds."""

_WORK_PER_VECTOR = 1_000
_VECTORS_PER_REPORT = 64
_EQUAL = 1e-12


@dataclass
class _Walk:
    """A walk through the lattice of level vectors, each of which is met at most once."""

    forest: Forest
    codes: NDArray[np.int32]
    k: int
    clock: Clock
    visited: int = 0
    work: int = 0

    def reach(
        self, groups: NodeGroups, level: NDArray[np.int16], first: int, known: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return per group the least cost at or above a level vector, infinite where it is not below `known`.

        Only columns from `first` on are raised.
        """
        self._count(groups.rows.size)
        costs = costs_of_groups(self.forest, self.codes, groups, level)
        best = np.where(groups.people >= self.k, costs, np.inf)
        is_open = (groups.people < self.k) & (costs < known - _EQUAL)
        for column in range(first, level.size):
            if level[column] == self.forest.height[column]:
                continue
            if not is_open.any():
                break
            above, into = raise_column(self.forest, self.codes, groups, column, int(level[column]))
            level[column] += 1
            most = most_of_parts(into, np.minimum(known, best), is_open, above.rows.size)
            best = np.where(is_open, np.minimum(best, self.reach(above, level, column, most)[into]), best)
            level[column] -= 1
            is_open &= costs < best - _EQUAL
        return best

    def _count(self, groups: int) -> None:
        self.visited += 1
        self.work += groups + _WORK_PER_VECTOR
        if self.visited % _VECTORS_PER_REPORT == 0:
            self.clock.report("bound", None)
            if self.work > MOST_WORK or self.clock.is_over():
                raise TimeOver


def cheapest_levels_within_reach(
    forest: Forest,
    codes: NDArray[np.int32],
    table: RowTypeTable,
    k: int,
    known: NDArray[np.float64],
    clock: Clock,
) -> NDArray[np.float64] | None:
    """Return for each row type a cost per row that no solution can go below, None if it would take too long.

    Parameters
    ----------
    codes : ndarray of int32, shape (n, m)
    known : ndarray of float64, shape (n,)
        Cost of a row of each row type in some solution; only what is cheaper is looked for.

    Returns
    -------
    ndarray of float64, shape (n,)
        At most `known`.

    Notes
    -----
    A class that publishes a row type at some levels holds only row types that agree on them, so its level
    vector is one at which the group of that row type has k people. The cheapest of these bounds the cost.
    It holds for solutions that divide row types, too. Worst case O(p n) for p level vectors; a branch ends
    where all groups are large enough or costlier than what is known.
    """
    groups, into = finest_groups(forest, codes, table)
    most = most_of_parts(into, known, np.ones(into.size, dtype=np.bool_), groups.rows.size)
    walk = _Walk(forest, codes, k, clock)
    try:
        reach = walk.reach(groups, forest.lowest.astype(np.int16), 0, most)
    except TimeOver:
        return None
    cheapest: NDArray[np.float64] = np.minimum(np.minimum(reach, most)[into], known)
    return cheapest
