"""The exact optimum of tiny tables by trying everything: the oracle of the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import PrivacyModels
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.models.evaluator import evaluator_of, violations
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable

_MOST_ASSIGNMENTS = 2_000_000
_NO_MODELS = PrivacyModels()


def brute_force(
    table: RowTypeTable, vectors: NDArray[np.int64], k: int, models: PrivacyModels = _NO_MODELS
) -> float:
    """Return the least weighted cost of an assignment whose classes have k people and satisfy models.

    All rows of a row type get the same vector. Where they may be divided among vectors the optimum can
    be lower; for that, call with one row type per row (equal cells, different positions).

    Parameters
    ----------
    table : RowTypeTable
        With at least k people; with sensitive columns if models are demanded.
    vectors : ndarray of int64, shape (p,)
        The fully suppressed one is among them.

    Returns
    -------
    float
        Infinite if no assignment satisfies everything.

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
    evaluator = evaluator_of(table, models) if models else None
    assigned = np.full(count, vectors[order[-1]], dtype=np.int64)
    max_cost_per_row = float(costs.max()) * table.total_rows
    best = np.inf

    def is_allowed() -> bool:
        classes = classes_of(table, assigned)
        if int(classes.people.min()) < k:
            return False
        return evaluator is None or not violations(evaluator, classes.class_of, len(classes)).any.any()

    if is_allowed():
        best = max_cost_per_row

    def extend(item: int, cost: float) -> None:
        nonlocal best
        if item == count:
            if is_allowed():
                best = cost
            return
        for place in order:
            dearer = cost + float(costs[place]) * int(table.rows[item])
            if dearer >= best:
                break
            assigned[item] = vectors[place]
            extend(item + 1, dearer)

    extend(0, 0.0)
    return float(best)
