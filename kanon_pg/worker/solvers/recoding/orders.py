"""Orders of the row types in which neighbours are often alike.

Each order refines the table step by step, from one class of everything down to single values, one column
and level at a time in a random sequence. Row types that agree on a long prefix of the steps stand
together; what one order separates another one keeps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.recoding.forest import Forest
from kanon_pg.worker.solvers.recoding.lattice import marginal_costs

ORDERS = 24
"""How many orders are made."""

_BITS = 63
_LEAST_DROP = 0.02
"""What every step is worth at least, relative to the mean cost of a suppressed row."""


def random_orders(
    forest: Forest, table: RowTypeTable, seed: int, count: int = ORDERS
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return random orders and the place of each row type in them, both of shape (count, n).

    Parameters
    ----------
    forest : Forest
    table : RowTypeTable
    seed : int
    count : int

    Notes
    -----
    Steps that save much come early more often. O(n (m h + log n)) per order for height h.
    """
    random = np.random.default_rng(seed)
    marginal = marginal_costs(forest, table)
    digits = [_digits(forest, column) for column in range(table.width)]
    orders = np.empty((count, len(table)), dtype=np.int32)
    places = np.empty_like(orders)
    for number in range(count):
        orders[number] = _order(table, _steps(marginal, random), digits)
        places[number, orders[number]] = np.arange(len(table), dtype=np.int32)
        table.heartbeat()
    return orders, places


def _digits(forest: Forest, column: int) -> list[NDArray[np.int64]]:
    """Return per level below the top the number of each cell's node among the children of its parent."""
    height, values = int(forest.height[column]), int(forest.values[column])
    begin = int(forest.begin[column])
    nodes = forest.nodes[begin : begin + (height + 1) * values].reshape(height + 1, values)
    found = []
    for level in range(height):
        child, first = np.unique(nodes[level], return_index=True)
        parent = nodes[level + 1][first]
        order = np.lexsort((first, parent))
        begins = np.searchsorted(parent[order], parent[order])
        rank = np.empty(child.size, dtype=np.int64)
        rank[order] = np.arange(child.size) - begins
        found.append(rank[np.searchsorted(child, nodes[level])])
    return found


def _steps(marginal: list[NDArray[np.float64]], random: np.random.Generator) -> list[tuple[int, int]]:
    """Return columns and levels in the order in which they refine the table."""
    levels = [costs.size - 1 for costs in marginal]
    least = _LEAST_DROP * sum(float(costs[-1]) for costs in marginal) / len(marginal)
    steps = []
    while any(levels):
        drops = [
            (float(costs[level] - costs[level - 1]) + least) * random.exponential() if level else -1.0
            for costs, level in zip(marginal, levels, strict=True)
        ]
        column = int(np.argmax(drops))
        levels[column] -= 1
        steps.append((column, levels[column]))
    return steps


def _order(
    table: RowTypeTable, steps: list[tuple[int, int]], digits: list[list[NDArray[np.int64]]]
) -> NDArray[np.intp]:
    """Sort by the digits of all steps, as many of them at a time as fit into a number."""
    keys: list[NDArray[np.int64]] = []
    key, used = np.zeros(len(table), dtype=np.int64), 0
    for column, level in steps:
        digit = digits[column][level]
        width = int(digit.max()).bit_length()
        if used + width > _BITS:
            keys.append(key)
            key, used = np.zeros(len(table), dtype=np.int64), 0
        key = (key << width) | digit[table.codes[column]]
        used += width
    keys.append(key)
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
