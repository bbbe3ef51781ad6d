"""Kernels of the local search under privacy models: open or enlarge one class where that lowers the cost.

A move looks at all row types that agree under one pattern vector. Those that pay more today (*gainers*) come
if what is left of their class still has k people and satisfies everything, or is empty. If the class then
lacks something, *donors* that pay no more today fill up; if that fails, gainers stay away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.compiled import kernel
from kanon_pg.core.privacy_kernels import Judge, is_satisfied, people_of
from kanon_pg.solvers.local_search.moves import TOLERANCE
from kanon_pg.solvers.local_search.partition import (
    NOBODY,
    Members,
    Partition,
    move,
    open_class,
    recount_people,
)
from kanon_pg.solvers.models.lack import Rest, add_to_rest, lack_after, rest_of, start_rest
from kanon_pg.solvers.models.thinning import thin_out

_MOST_SINGLE = 200
_MOST_DONORS = 400


class Bench(NamedTuple):
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


def bench_for(parts: Partition, judge: Judge, k: int) -> Bench:
    """Return working arrays for a partition."""
    count = parts.class_of.size
    return Bench(
        np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(count, dtype=np.int32),
        np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32),
        rest_of(judge, np.empty(0, dtype=np.int32), k), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@kernel
def _is_class(judge: Judge, items: NDArray[np.int32], k: int) -> bool:
    """Return whether some row types, at least one, may be a class."""
    return people_of(judge, items) >= k and is_satisfied(judge, items)


@kernel
def _stays(number: int, without: int, parts: Partition, judge: Judge, bench: Bench, k: int) -> bool:
    """Return whether a class may stay, or is empty, without those who join and one more row type."""
    count = 0
    item = parts.head[number]
    while item != NOBODY:
        if item != without and bench.joins[item] != bench.stamp[0]:
            bench.left[count] = item
            count += 1
        item = parts.following[item]
    bench.judged[0] += count
    return count == 0 or _is_class(judge, bench.left[:count], k)


@kernel
def _take_from(
    number: int, inside: NDArray[np.int32], taken: int, parts: Partition, judge: Judge, bench: Bench, k: int
) -> int:
    """Take row types of one class, all if it may stay without them, else one by one; return the count."""
    stamp = bench.stamp[0]
    bench.joins[inside] = stamp
    if _stays(number, NOBODY, parts, judge, bench, k):
        bench.taken[taken : taken + inside.size] = inside
        return taken + inside.size
    bench.joins[inside] = 0
    if parts.size[number] > _MOST_SINGLE:
        return taken
    for item in inside:
        if _stays(number, item, parts, judge, bench, k):
            bench.joins[item] = stamp
            bench.taken[taken] = item
            taken += 1
    return taken


@kernel
def _take_gainers(
    items: NDArray[np.int32], target: int, cost: float, parts: Partition, judge: Judge, bench: Bench, k: int
) -> int:
    """List the row types that gain and may leave; `items` are sorted by class. Return how many there are."""
    taken, begin = 0, 0
    while begin < items.size:
        number = parts.class_of[items[begin]]
        end = begin + 1
        while end < items.size and parts.class_of[items[end]] == number:
            end += 1
        if number != target and parts.cost[number] > cost + TOLERANCE:
            taken = _take_from(number, items[begin:end], taken, parts, judge, bench, k)
        begin = end
    return taken


@kernel
def _together(target: int, taken: int, parts: Partition, bench: Bench) -> NDArray[np.int32]:
    """Return the row types of a class (or of none) and those who join."""
    count = parts.size[target] if target != NOBODY else 0
    items = np.empty(count + taken, dtype=np.int32)
    items[:taken] = bench.taken[:taken]
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
    judge: Judge,
    bench: Bench,
) -> tuple[int, float]:
    """Add row types that lessen what the class lacks; return how many come now, and what they lose."""
    loss = 0.0
    tried = 0
    for item in items:
        if bench.rest.lack[0] <= 0.0 or tried == _MOST_DONORS:
            break
        number = parts.class_of[item]
        dearer = (cost - parts.cost[number]) * judge.rows[item]
        is_asked = number != target and bench.joins[item] != bench.stamp[0] and dearer >= -TOLERANCE
        if not is_asked or loss + dearer >= most or parts.size[number] > _MOST_SINGLE:
            continue
        if lack_after(judge, bench.rest, item) >= bench.rest.lack[0]:
            continue
        tried += 1
        if _stays(number, item, parts, judge, bench, k):
            bench.joins[item] = bench.stamp[0]
            bench.taken[taken] = item
            taken += 1
            loss += dearer
            add_to_rest(judge, bench.rest, item)
    return taken, loss


@kernel
def _thin_out(taken: int, k: int, parts: Partition, judge: Judge, bench: Bench) -> int:
    """Let gainers stay away until the others may be a class; return how many others there are."""
    count = thin_out(judge, bench.taken[:taken], bench.places[:taken], k)
    if count == 0:
        return 0
    for position in range(count, taken):
        bench.joins[bench.taken[position]] = 0
    for position in range(count, taken):
        # Only classes that somebody stays in after all can have become worse.
        if not _stays(parts.class_of[bench.taken[position]], NOBODY, parts, judge, bench, k):
            return 0
    return count


@kernel
def _gains(taken: int, cost: float, parts: Partition, judge: Judge, bench: Bench) -> float:
    gains = 0.0
    for item in bench.taken[:taken]:
        gains += (parts.cost[parts.class_of[item]] - cost) * judge.rows[item]
    return gains


@kernel
def try_class_with_models(
    items: NDArray[np.int32],
    vector: int,
    cost: float,
    k: int,
    parts: Partition,
    members: Members,
    judge: Judge,
    bench: Bench,
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
        What is changed, and what is known; row types in the order of `judge`.
    judge : Judge
    bench : Bench
        Working arrays.

    Returns
    -------
    float
        By how much the cost has become lower, >= 0. Every class still has k people and satisfies
        everything.
    """
    bench.stamp[0] += 1
    items = items[np.argsort(parts.class_of[items], kind="mergesort")]
    target = NOBODY
    for item in items:
        if parts.vector[parts.class_of[item]] == vector:
            target = parts.class_of[item]
    taken = _take_gainers(items, target, cost, parts, judge, bench, k)
    gains = _gains(taken, cost, parts, judge, bench)
    if gains <= TOLERANCE:
        return 0.0
    together = _together(target, taken, parts, bench)
    bench.judged[0] += together.size
    if not _is_class(judge, together, k):
        alone = taken
        start_rest(judge, bench.rest, together)
        taken, loss = _add_donors(items, target, taken, gains, cost, k, parts, judge, bench)
        gains -= loss
        if not _is_class(judge, _together(target, taken, parts, bench), k):
            for position in range(alone, taken):
                bench.joins[bench.taken[position]] = 0
            taken = 0 if target != NOBODY else _thin_out(alone, k, parts, judge, bench)
            gains = _gains(taken, cost, parts, judge, bench)
        if gains <= TOLERANCE:
            return 0.0
    if target == NOBODY:
        target = open_class(parts, vector, cost)
    for item in bench.taken[:taken]:
        source = parts.class_of[item]
        move(parts, members, item, target)
        recount_people(parts, members, source)
    recount_people(parts, members, target)
    return gains
