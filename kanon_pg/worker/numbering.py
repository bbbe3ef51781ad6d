"""Numbering of 64-bit values from 0 in ascending order, by hashing instead of sorting all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel


def number_values(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct values from 0 in ascending order; return also where each occurs first.

    Notes
    -----
    O(n + d log d) for d distinct values; what ``numpy.unique`` gives, several times as fast.
    """
    # Columns of larger arrays would have the kernel compiled once more, and it takes one byte order.
    values = np.ascontiguousarray(values, dtype=np.int64)
    numbers, first = _by_occurrence(values)
    order = np.argsort(values[first], kind="stable")
    rank = np.empty(first.size, dtype=np.int64)
    rank[order] = np.arange(first.size)
    return rank[numbers], first[order]


@kernel
def _slot(
    value: np.int64, table: NDArray[np.int32], values: NDArray[np.int64], first: NDArray[np.int64]
) -> int:
    """Return the slot of a value: the one that holds it, or the empty one where it belongs."""
    mask = np.uint64(table.size - 1)
    mixed = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
    slot = (mixed ^ (mixed >> np.uint64(32))) & mask
    while table[slot] >= 0 and values[first[table[slot]]] != value:
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@kernel
def _by_occurrence(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the values in the order of their first occurrence."""
    numbers = np.empty(values.size, dtype=np.int64)
    first = np.empty(values.size, dtype=np.int64)
    table = np.full(1024, -1, dtype=np.int32)
    distinct = 0
    for place in range(values.size):
        slot = _slot(values[place], table, values, first)
        if table[slot] < 0:
            table[slot] = distinct
            first[distinct] = place
            numbers[place] = distinct
            distinct += 1
            if 2 * distinct > table.size:
                table = np.full(4 * table.size, -1, dtype=np.int32)
                for number in range(distinct):
                    table[_slot(values[first[number]], table, values, first)] = number
        else:
            numbers[place] = table[slot]
    return numbers, first[:distinct].copy()
