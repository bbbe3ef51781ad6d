"""Kernels that leave row types out of a group until it satisfies the privacy models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.kernels import (
    CLOSENESS,
    DISTINCT,
    FREQUENCY,
    ROWS,
    ModelEvaluator,
    count_rows,
    forget_counts,
    is_satisfied,
    people_of,
    violated_by_counts,
)

_MOST_ROUNDS = 64
_SHARE_OF_SURPLUS = 4


@kernel
def _surplus(
    evaluator: ModelEvaluator, column: int, violated: int, different: int, size: int
) -> tuple[int, int]:
    """Return the value that is most above what it may have, and how many rows of it to leave out."""
    begin = evaluator.first[column]
    is_close = violated == 1 << CLOSENESS
    value, highest = -1, -np.inf
    for place in range(different):
        one = evaluator.touched[place]
        excess = float(evaluator.counts[one])
        if is_close:
            excess -= evaluator.shares[ROWS, begin + one] * size
        # Ties are decided by the value, not by the order in which values were met.
        if excess > highest or (excess == highest and one < value):
            value, highest = one, excess
    if (violated >> FREQUENCY) & 1 == 1:
        missing = evaluator.counts[value] * evaluator.frequency - size
        return value, (missing + evaluator.frequency - 2) // (evaluator.frequency - 1)
    if not is_close:
        highest -= size / different
    return value, max(1, int(highest) // _SHARE_OF_SURPLUS)


@kernel
def _leave_out(
    evaluator: ModelEvaluator,
    column: int,
    value: int,
    rows: int,
    items: NDArray[np.int32],
    places: NDArray[np.int32],
) -> int:
    """Move row types with a value to the end until they have some rows; return how many others are left."""
    count = items.size
    for position in range(items.size - 1, -1, -1):
        if rows <= 0:
            break
        item = items[position]
        if evaluator.codes[column, item] == value:
            count -= 1
            items[position], items[count] = items[count], item
            places[position], places[count] = places[count], places[position]
            rows -= evaluator.rows[item]
    return count


@kernel
def thin_out(evaluator: ModelEvaluator, items: NDArray[np.int32], places: NDArray[np.int32], k: int) -> int:
    """Leave row types out, those with the most excessive value first, until the rest satisfies everything.

    Parameters
    ----------
    evaluator : ModelEvaluator
    items : ndarray of int32
        Row types of a group; those that stay come first afterwards.
    places : ndarray of int32
        Something of each row type that is put in the same order.
    k : int
        Fewest people that must stay.

    Returns
    -------
    int
        How many row types stay, 0 if the group cannot be thinned out this way.

    Notes
    -----
    Up to 64 rounds of O(items s). What is left out counts in rows; people are checked at the end.
    """
    count = items.size
    for _ in range(_MOST_ROUNDS):
        is_thinner = False
        for column in range(evaluator.codes.shape[0]):
            different, size = count_rows(evaluator, column, items[:count])
            violated = violated_by_counts(evaluator, ROWS, column, different, size, True)
            value, rows = 0, 0
            if violated > 1 << DISTINCT:
                value, rows = _surplus(evaluator, column, violated, different, size)
            forget_counts(evaluator, different)
            if violated & (1 << DISTINCT):
                return 0
            if violated:
                count = _leave_out(evaluator, column, value, rows, items[:count], places[:count])
                is_thinner = True
                if count == 0:
                    return 0
        if people_of(evaluator, items[:count]) < k:
            return 0
        if not is_thinner:
            return count if is_satisfied(evaluator, items[:count]) else 0
    return 0
