"""The search for a class that costs less than the prices of its rows, over all pattern vectors at once.

Pattern vectors are leaves of a binary tree that decides one column after the other: suppressed or kept.
Keeping a column splits groups of row types, so a group that breaks nothing at the cost of the cheapest leaf
below a node contains no group that breaks anything below this node, and is left out there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.numbering import number_values


class Priced(NamedTuple):
    """Row types with prices: cells per column, rows, people, price per row."""

    cells: list[NDArray[np.int64]]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    prices: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BrokenClass:
    """A group of row types in which some class costs less than the prices of its rows.

    Parameters
    ----------
    vector : int
        Bit mask of suppressed columns.
    row_type : int
        Position of a row type of the group; the others agree with it on the kept columns.
    """

    vector: int
    row_type: int


class Groups(NamedTuple):
    """Some row types in groups, dearest first: positions, group of each, number of groups."""

    items: NDArray[np.int32]
    group: NDArray[np.int32]
    groups: int


def first_broken_class(
    priced: Priced,
    vectors: NDArray[np.int64],
    costs: NDArray[np.int64],
    k: int,
    heartbeat: Callable[[], None],
) -> BrokenClass | None:
    """Return a class that costs less than the prices of its rows, None if there is none.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
    costs : ndarray of int64, shape (p,)
        Cost of one row per vector, in the unit of the prices.
    """
    found: list[BrokenClass] = []

    def stop(vector: int, _: int, groups: Groups) -> bool:
        found.append(BrokenClass(vector, int(groups.items[0])))
        return True

    visit_broken_groups(priced, vectors, costs, k, stop, heartbeat)
    return found[0] if found else None


def visit_broken_groups(
    priced: Priced,
    vectors: NDArray[np.int64],
    costs: NDArray[np.int64],
    k: int,
    visit: Callable[[int, int, Groups], bool],
    heartbeat: Callable[[], None],
) -> None:
    """Call `visit` with each vector that has broken groups, its cost, and these groups.

    Parameters
    ----------
    vectors, costs : ndarray of int64, shape (p,)
    visit : callable
        Returns whether to stop.
    heartbeat : callable
        Called at every node of the tree.
    """
    numbered = [number_values(cells) for cells in priced.cells]
    distinct = np.array([first.size for _, first in numbered])
    order = np.argsort(-distinct, kind="stable")
    # Row types are numbered by price, so that groups list them in the order in which memory holds them.
    max_cost_per_row = np.argsort(-priced.prices, kind="stable").astype(np.int32)
    codes = [numbered[column][0].astype(np.int32)[max_cost_per_row] for column in order]
    counts = _Counts(
        priced.rows[max_cost_per_row], priced.people[max_cost_per_row], priced.prices[max_cost_per_row]
    )
    paths = np.zeros(vectors.size, dtype=np.int64)
    for column in order:
        paths = (paths << 1) | ((vectors >> column) & 1)
    _, chosen = np.unique(paths, return_index=True)

    def visit_by_position(vector: int, cost: int, groups: Groups) -> bool:
        return visit(vector, cost, Groups(max_cost_per_row[groups.items], groups.group, groups.groups))

    tree = _Tree(
        counts, codes, [int(distinct[column]) for column in order],
        paths[chosen], vectors[chosen], costs[chosen], k, visit_by_position, heartbeat,
    )  # fmt: skip
    items = np.arange(max_cost_per_row.size, dtype=np.int32)
    if chosen.size:
        _descend(tree, 0, chosen.size, 0, Groups(items, np.zeros(items.size, dtype=np.int32), 1))


class _Counts(NamedTuple):
    """Rows, people and price per row of row types, dearest first."""

    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    prices: NDArray[np.int64]


class _Tree(NamedTuple):
    """The tree of vectors; paths are ascending, bit by bit from the first decided column."""

    counts: _Counts
    codes: list[NDArray[np.int32]]
    distinct: list[int]
    paths: NDArray[np.int64]
    vectors: NDArray[np.int64]
    costs: NDArray[np.int64]
    k: int
    visit: Callable[[int, int, Groups], bool]
    heartbeat: Callable[[], None]


def _descend(tree: _Tree, begin: int, end: int, depth: int, groups: Groups) -> bool:
    """Search below a node whose leaves are the vectors from `begin` to `end`; return whether to stop."""
    tree.heartbeat()
    cheapest = int(tree.costs[begin:end].min())
    left = Groups(*_still_broken(groups, tree.counts, tree.k, cheapest))
    if not left.groups:
        return False
    width = len(tree.codes)
    if depth == width:
        return tree.visit(int(tree.vectors[begin]), cheapest, left)
    bit = np.int64(1) << (width - 1 - depth)
    middle = begin + int(np.searchsorted(tree.paths[begin:end] & bit, bit))
    if begin < middle:
        split = Groups(left.items, *_split(left, tree.codes[depth], tree.distinct[depth]))
        if _descend(tree, begin, middle, depth + 1, split):
            return True
    return middle < end and _descend(tree, middle, end, depth + 1, left)


@kernel
def _split(groups: Groups, codes: NDArray[np.int32], distinct: int) -> tuple[NDArray[np.int32], int]:
    """Number the pairs of group and code from 0 in order of occurrence; return how many there are."""
    size = 16
    while size < 2 * groups.items.size:
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    pairs = np.empty(groups.items.size, dtype=np.int64)
    numbers = np.empty(groups.items.size, dtype=np.int32)
    mask = np.uint64(size - 1)
    count = 0
    for position in range(groups.items.size):
        pair = np.int64(groups.group[position]) * distinct + codes[groups.items[position]]
        mixed = np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(32))) & mask
        while table[slot] >= 0 and pairs[table[slot]] != pair:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = count
            pairs[count] = pair
            count += 1
        numbers[position] = table[slot]
    return numbers, count


@kernel
def _still_broken(
    groups: Groups, counts: _Counts, k: int, cost: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Keep the groups in which a class of this cost per row is cheaper than the prices of its rows."""
    rows, people, prices = counts
    gain = np.zeros(groups.groups, dtype=np.int64)
    taken = np.zeros(groups.groups, dtype=np.int64)
    for position in range(groups.items.size):
        item, group = groups.items[position], groups.group[position]
        if prices[item] > cost:
            gain[group] += rows[item] * (prices[item] - cost)
            taken[group] += people[item]
        elif taken[group] < k:
            more = min(people[item], k - taken[group])
            gain[group] -= more * (cost - prices[item])
            taken[group] += more
    number = np.full(groups.groups, -1, dtype=np.int32)
    count = 0
    for group in range(groups.groups):
        if taken[group] >= k and gain[group] > 0:
            number[group] = count
            count += 1
    items = np.empty(groups.items.size, dtype=np.int32)
    group_of = np.empty(groups.items.size, dtype=np.int32)
    length = 0
    for position in range(groups.items.size):
        # Written first and counted afterwards: a branch here would be mispredicted half of the time.
        items[length] = groups.items[position]
        group_of[length] = number[groups.group[position]]
        length += int(group_of[length] >= 0)
    return items[:length].copy(), group_of[:length].copy(), count
