"""The cheapest partition of few row types into allowed classes, by dynamic programming over their sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.recoding.demands import Demands, is_allowed
from kanon_pg.worker.solvers.recoding.forest import Forest, join_levels, row_cost

MOST_ITEMS = 14
"""Row types of tables for which all partitions are tried: some hundredths of a second."""


@kernel
def _class_costs(
    forest: Forest, codes: NDArray[np.int32], rows: NDArray[np.int64], demands: Demands
) -> NDArray[np.float64]:
    """Return the cost of every set of row types as a class, infinite if it may not be one."""
    count, width = codes.shape
    costs = np.full(1 << count, np.inf)
    items = np.empty(count, dtype=np.int32)
    level = np.empty(width, dtype=np.int16)
    for chosen in range(1, 1 << count):
        length = 0
        total = np.int64(0)
        for item in range(count):
            if (chosen >> item) & 1:
                items[length] = item
                length += 1
                total += rows[item]
        if not is_allowed(demands, items[:length]):
            continue
        for column in range(width):
            level[column] = forest.lowest[column]
        for place in range(length):
            join_levels(forest, codes, level, items[0], items[place], level)
        costs[chosen] = total * row_cost(forest, codes, level, items[0])
    return costs


@kernel
def _best_classes(costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the least cost of a partition of every set, and the class of its first member there."""
    best = np.full(costs.size, np.inf)
    best[0] = 0.0
    chosen = np.zeros(costs.size, dtype=np.int64)
    for whole in range(1, costs.size):
        first = whole & -whole
        others = whole ^ first
        part = others
        while True:
            cost = costs[part | first] + best[others ^ part]
            if cost < best[whole]:
                best[whole] = cost
                chosen[whole] = part | first
            if part == 0:
                break
            part = (part - 1) & others
    return best, chosen


def cheapest_partition(
    forest: Forest, codes: NDArray[np.int32], rows: NDArray[np.int64], demands: Demands
) -> tuple[NDArray[np.int64], float]:
    """Return the classes, numbered from 0, of a cheapest partition of all row types, and its cost.

    Parameters
    ----------
    forest : Forest
    codes : ndarray of int32, shape (n, m)
        With n at most `MOST_ITEMS`.
    rows : ndarray of int64, shape (n,)
    demands : Demands

    Returns
    -------
    class_of : ndarray of int64, shape (n,)
    cost : float
        Infinite if there is no partition into allowed classes.

    Notes
    -----
    O(3^n + 2^n n m h) for hierarchies of height h.
    """
    best, chosen = _best_classes(_class_costs(forest, codes, rows, demands))
    class_of = np.zeros(rows.size, dtype=np.int64)
    left, number = (1 << rows.size) - 1, 0
    while left and np.isfinite(best[-1]):
        members = int(chosen[left])
        class_of[[item for item in range(rows.size) if members >> item & 1]] = number
        left ^= members
        number += 1
    return class_of, float(best[-1])
