"""A first solution with no more classes than are allowed."""

from __future__ import annotations

import numpy as np

from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution


def with_fewer_classes(table: RowTypeTable, solution: Solution, most: int) -> Solution:
    """Suppress all cells of those classes that save least, so that at most `most` classes remain.

    Parameters
    ----------
    table : RowTypeTable
    solution : Solution
    most : int
        >= 1.

    Notes
    -----
    Joined classes hold no fewer people than each of them, and every privacy model that holds in each holds in
    all of them together (for t-closeness and entropy by convexity). O(n log n).
    """
    full = (1 << table.width) - 1
    parts = solution.parts_of(table)
    classes = classes_of(parts, solution.vector)
    if len(classes) <= most:
        return solution
    saved = float(table.weights.sum()) - suppression_costs(solution.vector, table.weights)
    worth = np.bincount(classes.class_of, weights=saved * solution.rows, minlength=len(classes))
    is_kept = np.zeros(len(classes), dtype=np.bool_)
    is_kept[np.argsort(-worth, kind="stable")[: most - 1]] = True
    vector = np.where(is_kept[classes.class_of], solution.vector, full)
    return Solution.of_parts(solution.row_type, vector, solution.rows)
