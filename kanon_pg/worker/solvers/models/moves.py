"""Kernels of the local search under privacy models: open or enlarge one class where that lowers the cost.

A move looks at all row types that agree under one pattern vector. Those that pay more today (*gainers*) come
if what is left of their class still has k people and satisfies everything, or is empty. If the class then
lacks something, *donors* that pay no more today fill up; if that fails, gainers stay away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.kernels import ModelEvaluator, is_satisfied, people_of
from kanon_pg.worker.solvers.local_search.moves import TOLERANCE
from kanon_pg.worker.solvers.local_search.partition import (
    NOBODY,
    Members,
    Partition,
    move,
    open_class,
    recount_people,
)
from kanon_pg.worker.solvers.models.lack import Rest, add_to_rest, lack_after, rest_of, start_rest
from kanon_pg.worker.solvers.models.thinning import thin_out

_MOST_SINGLE = 200
_MOST_DONORS = 400


class Buffers(NamedTuple):
    """Working arrays: who joins (marked by `stamp`), lists of row types, counts of the class.

    `judged` counts the row types of all classes that were judged.
    """

    joins: NDArray[np.int64]
    stamp: NDArray[np.int64]
    taken: NDArray[np.int32]
    left: NDArray[np.int32]
    places: NDArray[np.int32]
    rest: Rest
    judged: NDArray[np.int64]


def bench_for(parts: Partition, evaluator: ModelEvaluator, k: int) -> Buffers:
    """Return working arrays for a partition."""
    count = parts.class_of.size
    return Buffers(
        np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(count, dtype=np.int32),
        np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32),
        rest_of(evaluator, np.empty(0, dtype=np.int32), k), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@kernel
def _is_class(evaluator: ModelEvaluator, items: NDArray[np.int32], k: int) -> bool:
    """Return whether some row types, at least one, may be a class."""
    return people_of(evaluator, items) >= k and is_satisfied(evaluator, items)


@kernel
def _stays(
    number: int, without: int, parts: Partition, evaluator: ModelEvaluator, buffers: Buffers, k: int
) -> bool:
    """Return whether a class may stay, or is empty, without those who join and one more row type."""
    count = 0
    item = parts.head[number]
    while item != NOBODY:
        if item != without and buffers.joins[item] != buffers.stamp[0]:
            buffers.left[count] = item
            count += 1
        item = parts.following[item]
    buffers.judged[0] += count
    return count == 0 or _is_class(evaluator, buffers.left[:count], k)


@kernel
def _take_from(
    number: int,
    inside: NDArray[np.int32],
    taken: int,
    parts: Partition,
    evaluator: ModelEvaluator,
    buffers: Buffers,
    k: int,
) -> int:
    """Take row types of one class, all if it may stay without them, else one by one; return the count."""
    stamp = buffers.stamp[0]
    buffers.joins[inside] = stamp
    if _stays(number, NOBODY, parts, evaluator, buffers, k):
        buffers.taken[taken : taken + inside.size] = inside
        return taken + inside.size
    buffers.joins[inside] = 0
    if parts.size[number] > _MOST_SINGLE:
        return taken
    for item in inside:
        if _stays(number, item, parts, evaluator, buffers, k):
            buffers.joins[item] = stamp
            buffers.taken[taken] = item
            taken += 1
    return taken


@kernel
def _take_gainers(
    items: NDArray[np.int32],
    target: int,
    cost: float,
    parts: Partition,
    evaluator: ModelEvaluator,
    buffers: Buffers,
    k: int,
) -> int:
    """List the row types that gain and may leave; `items` are sorted by class. Return how many there are."""
    taken, begin = 0, 0
    while begin < items.size:
        number = parts.class_of[items[begin]]
        end = begin + 1
        while end < items.size and parts.class_of[items[end]] == number:
            end += 1
        if number != target and parts.cost[number] > cost + TOLERANCE:
            taken = _take_from(number, items[begin:end], taken, parts, evaluator, buffers, k)
        begin = end
    return taken


@kernel
def _together(target: int, taken: int, parts: Partition, buffers: Buffers) -> NDArray[np.int32]:
    """Return the row types of a class (or of none) and those who join."""
    count = parts.size[target] if target != NOBODY else 0
    items = np.empty(count + taken, dtype=np.int32)
    items[:taken] = buffers.taken[:taken]
    item = parts.head[target] if target != NOBODY else NOBODY
    while item != NOBODY:
        items[taken] = item
        taken += 1
        item = parts.following[item]
    return items


@kernel
def _add_donors(
    items: NDArray[np.int32],
    target: int,
    taken: int,
    most: float,
    cost: float,
    k: int,
    parts: Partition,
    evaluator: ModelEvaluator,
    buffers: Buffers,
) -> tuple[int, float]:
    """Add row types that lessen what the class lacks; return how many come now, and what they lose."""
    loss = 0.0
    tried = 0
    for item in items:
        if buffers.rest.lack[0] <= 0.0 or tried == _MOST_DONORS:
            break
        number = parts.class_of[item]
        dearer = (cost - parts.cost[number]) * evaluator.rows[item]
        is_asked = number != target and buffers.joins[item] != buffers.stamp[0] and dearer >= -TOLERANCE
        if not is_asked or loss + dearer >= most or parts.size[number] > _MOST_SINGLE:
            continue
        if lack_after(evaluator, buffers.rest, item) >= buffers.rest.lack[0]:
            continue
        tried += 1
        if _stays(number, item, parts, evaluator, buffers, k):
            buffers.joins[item] = buffers.stamp[0]
            buffers.taken[taken] = item
            taken += 1
            loss += dearer
            add_to_rest(evaluator, buffers.rest, item)
    return taken, loss


@kernel
def _thin_out(taken: int, k: int, parts: Partition, evaluator: ModelEvaluator, buffers: Buffers) -> int:
    """Let gainers stay away until the others may be a class; return how many others there are."""
    count = thin_out(evaluator, buffers.taken[:taken], buffers.places[:taken], k)
    if count == 0:
        return 0
    for position in range(count, taken):
        buffers.joins[buffers.taken[position]] = 0
    for position in range(count, taken):
        # Only classes that somebody stays in after all can have become worse.
        if not _stays(parts.class_of[buffers.taken[position]], NOBODY, parts, evaluator, buffers, k):
            return 0
    return count


@kernel
def _gains(taken: int, cost: float, parts: Partition, evaluator: ModelEvaluator, buffers: Buffers) -> float:
    gains = 0.0
    for item in buffers.taken[:taken]:
        gains += (parts.cost[parts.class_of[item]] - cost) * evaluator.rows[item]
    return gains


@kernel
def try_class_with_models(
    items: NDArray[np.int32],
    vector: int,
    cost: float,
    k: int,
    parts: Partition,
    members: Members,
    evaluator: ModelEvaluator,
    buffers: Buffers,
) -> float:
    """Open or enlarge the class of some row types under a vector if that lowers the cost.

    Parameters
    ----------
    items : ndarray of int32
        Row types that agree under `vector`.
    vector, cost : int, float
        The vector, and the cost of one row under it.
    k : int
    parts, members : Partition, Members
        What is changed, and what is known; row types in the order of `evaluator`.
    evaluator : ModelEvaluator
    buffers : Buffers
        Working arrays.

    Returns
    -------
    float
        By how much the cost has become lower, >= 0. Every class still has k people and satisfies
        everything.
    """
    buffers.stamp[0] += 1
    items = items[np.argsort(parts.class_of[items], kind="mergesort")]
    target = NOBODY
    for item in items:
        if parts.vector[parts.class_of[item]] == vector:
            target = parts.class_of[item]
    taken = _take_gainers(items, target, cost, parts, evaluator, buffers, k)
    gains = _gains(taken, cost, parts, evaluator, buffers)
    if gains <= TOLERANCE:
        return 0.0
    together = _together(target, taken, parts, buffers)
    buffers.judged[0] += together.size
    if not _is_class(evaluator, together, k):
        alone = taken
        start_rest(evaluator, buffers.rest, together)
        taken, loss = _add_donors(items, target, taken, gains, cost, k, parts, evaluator, buffers)
        gains -= loss
        if not _is_class(evaluator, _together(target, taken, parts, buffers), k):
            for position in range(alone, taken):
                buffers.joins[buffers.taken[position]] = 0
            taken = 0 if target != NOBODY else _thin_out(alone, k, parts, evaluator, buffers)
            gains = _gains(taken, cost, parts, evaluator, buffers)
        if gains <= TOLERANCE:
            return 0.0
    if target == NOBODY:
        target = open_class(parts, vector, cost)
    for item in buffers.taken[:taken]:
        source = parts.class_of[item]
        move(parts, members, item, target)
        recount_people(parts, members, source)
    recount_people(parts, members, target)
    return gains
