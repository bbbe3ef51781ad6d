"""A lower bound under privacy models: no row can do better than in the best class of the whole table.

Every class of a solution agrees under some vector, so it lies within a group of the whole table that agrees
under this vector. A group in which no class can exist at all, whatever is left out, is of no use to its
row types.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.kernels import ModelEvaluator, count_rows, forget_counts
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.order import few_changes
from kanon_pg.worker.solvers.greedy.scan import (
    Grouping,
    group_candidates,
    grouping_for,
    list_groups,
    update_keys,
)

BOUND_METHOD = "cheapest pattern within reach of each row type, under the privacy models"

EFFORT = 40_000_000
"""Row types that may be looked at."""

_STEP = 8


@kernel
def _largest_frequent(evaluator: ModelEvaluator, different: int, size: int) -> int:
    """Return the most rows of a subset in which no value has more than its share.

    With at most c rows per value the subset is largest; more rows per value only pay if enough other
    values follow, so the largest c that is allowed is the best (a search by bisection finds it).
    """
    low, high = 0, size
    best = 0
    while low < high:
        middle = (low + high + 1) // 2
        kept = 0
        for place in range(different):
            kept += min(evaluator.counts[evaluator.touched[place]], middle)
        if kept >= evaluator.frequency * middle:
            low, best = middle, kept
        else:
            high = middle - 1
    return best


@kernel
def may_hold_class(evaluator: ModelEvaluator, items: NDArray[np.int32], people: int, k: int) -> bool:
    """Return whether some subset of row types may be a class: a necessary condition.

    Parameters
    ----------
    evaluator : ModelEvaluator
    items : ndarray of int32
        Row types that agree under a vector.
    people : int
        At least as many as the distinct people of `items`.
    k : int

    Notes
    -----
    Enough people and different values (also l for the frequency and the entropy, which cannot exceed the
    logarithm of their number); for the frequency without an entity also enough rows when values give
    away what is above their share. Closeness is not looked at: a subset may be closer than the group.
    """
    if people < k:
        return False
    values = max(
        int(evaluator.distinct), int(evaluator.frequency), int(np.ceil(np.exp(evaluator.entropy) - 1e-6))
    )
    for column in range(evaluator.codes.shape[0]):
        different, size = count_rows(evaluator, column, items)
        is_enough = different >= values
        if is_enough and evaluator.frequency > 0 and evaluator.has_entity == 0:
            is_enough = _largest_frequent(evaluator, different, size) >= k
        forget_counts(evaluator, different)
        if not is_enough:
            return False
    return True


@kernel
def _settle(
    keys: NDArray[np.uint64],
    people: NDArray[np.int64],
    cost: float,
    k: int,
    evaluator: ModelEvaluator,
    grouping: Grouping,
    reached: NDArray[np.float64],
) -> int:
    """Note the cost for row types that wait and whose group may hold a class; return how many wait on."""
    grouping.candidates[: keys.size] = np.arange(keys.size)
    groups = group_candidates(keys, keys.size, grouping)
    first = list_groups(grouping, keys.size, groups)
    waiting = 0
    for group in range(groups):
        items = grouping.members[first[group] : first[group + 1]]
        total, unsettled = 0, 0
        for item in items:
            total += people[item]
            unsettled += int(reached[item] == np.inf)
        if unsettled == 0:
            continue
        if may_hold_class(evaluator, items, total, k):
            for item in items:
                reached[item] = min(reached[item], cost)
        else:
            waiting += unsettled
    return waiting


def cheapest_reach_with_models(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    evaluator: ModelEvaluator,
    clock: Clock,
    effort: int = EFFORT,
) -> NDArray[np.float64]:
    """Return for each row type a cost per row that no solution can go below.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors, the fully suppressed one among them.
    evaluator : ModelEvaluator
        The privacy models.
    effort : int
        Row types that may be looked at. Where effort or time end, the cost of the first vector that was
        not looked at is a bound for all row types that still wait.

    Returns
    -------
    ndarray of float64, shape (n,)

    Notes
    -----
    O(p n s). Holds whether or not the rows of a row type may be divided.
    """
    vectors = few_changes(vectors, suppression_costs(vectors, table.weights))
    costs = suppression_costs(vectors, table.weights)
    count = len(table)
    keys = table.hashes.sum(axis=0, dtype=np.uint64)
    grouping = grouping_for(count)
    reached = np.full(count, np.inf)
    current, turn, waiting = 0, 0, count
    while turn < vectors.size and waiting and effort > 0 and not clock.is_over():
        if turn % _STEP == 0:
            clock.report("bound", turn / vectors.size)
        update_keys(keys, table.hashes, count, current, vectors[turn])
        current = int(vectors[turn])
        waiting = _settle(keys, table.people, float(costs[turn]), k, evaluator, grouping, reached)
        effort -= count
        turn += 1
    last = costs[min(turn, vectors.size - 1)]
    return np.where(np.isinf(reached), last, reached)
