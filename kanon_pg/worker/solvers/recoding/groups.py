"""Row types grouped by what they show at one level vector.

The groups of one level vector are made from those of a more specific one. They get fewer on the way up, so a
walk through the lattice of level vectors costs far less than grouping all row types at every vector (LeFevre,
DeWitt and Ramakrishnan 2005, "Incognito", section 3.2: frequency sets roll up).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    """Return the groups one level higher in a column, below the top, and which one each becomes part of."""
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
    """Return the groups of what some columns alone show, and which one each group becomes part of."""
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
