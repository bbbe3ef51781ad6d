"""The exact optimum of tiny tables by trying everything: the oracle of the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.classes import classes_of
from kanon_pg.core.patterns import suppression_costs
from kanon_pg.core.row_types import RowTypeTable

_MOST_ASSIGNMENTS = 2_000_000


def brute_force(table: RowTypeTable, vectors: NDArray[np.int64], k: int) -> float:
    """Return the least weighted cost of an assignment whose classes all have at least k people.

    All rows of a row type get the same vector. Where they may be divided among vectors the optimum can
    be lower; for that, call with one row type per row (equal cells, different positions).

    Parameters
    ----------
    table : RowTypeTable
        With at least k people.
    vectors : ndarray of int64, shape (p,)
        The fully suppressed one is among them.
    k : int

    Raises
    ------
    ValueError
        There are more than two million assignments.

    Notes
    -----
    O(p^n) without what is cut off because it costs too much already.
    """
    count = len(table)
    if vectors.size**count > _MOST_ASSIGNMENTS:
        raise ValueError(f"{vectors.size}**{count} assignments are too many to try.")
    costs = suppression_costs(vectors, table.weights)
    order = np.argsort(costs, kind="stable")
    best = float(table.weights.sum()) * table.total_rows
    assigned = np.zeros(count, dtype=np.int64)

    def extend(item: int, cost: float) -> None:
        nonlocal best
        if item == count:
            if int(classes_of(table, assigned).people.min()) >= k:
                best = cost
            return
        for place in order:
            dearer = cost + float(costs[place]) * int(table.rows[item])
            if dearer >= best:
                break
            assigned[item] = vectors[place]
            extend(item + 1, dearer)

    extend(0, 0.0)
    return best
