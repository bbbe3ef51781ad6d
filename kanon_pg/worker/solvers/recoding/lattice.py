"""Level vectors of all columns together, in the order of what they cost."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.recoding.forest import Forest

MOST_VECTORS = 1 << 16
"""Most level vectors that are listed."""


def number_of_vectors(forest: Forest) -> int:
    """Return how many level vectors there are."""
    return math.prod((forest.height - forest.lowest + 1).tolist())


def marginal_costs(forest: Forest, table: RowTypeTable) -> list[NDArray[np.float64]]:
    """Return per column and level what all rows of the table cost there, each of shape (height + 1,)."""
    found = []
    for column in range(table.width):
        rows = np.bincount(table.codes[column], weights=table.rows, minlength=int(forest.values[column]))
        begin, count = int(forest.begin[column]), int(forest.values[column])
        end = begin + (int(forest.height[column]) + 1) * count
        found.append(forest.loss[begin:end].reshape(-1, count) @ rows)
    return found


def cheapest_levels_first(forest: Forest, table: RowTypeTable) -> NDArray[np.int16]:
    """Return all allowed level vectors by their cost for the whole table, shape (p, m).

    Parameters
    ----------
    forest : Forest
        With at most `MOST_VECTORS` level vectors.
    table : RowTypeTable

    Notes
    -----
    Of two vectors one of which generalizes the other, the more specific comes first.
    """
    marginal = marginal_costs(forest, table)
    ranges = [
        np.arange(low, high + 1)
        for low, high in zip(forest.lowest.tolist(), forest.height.tolist(), strict=True)
    ]
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=1)
    costs = sum(marginal[column][grid[:, column]] for column in range(table.width))
    order = np.lexsort((*grid.T[::-1], grid.sum(axis=1), np.round(np.asarray(costs), 6)))
    levels: NDArray[np.int16] = grid[order].astype(np.int16)
    return levels
