"""Kernels of the local search: open or enlarge one class where that lowers the cost.

A move looks at all row types that agree under one pattern vector. Those that pay more elsewhere
(*gainers*) come if their class can spare them, if it comes as a whole, or if it can be broken because
its other row types fit into open classes elsewhere. If they are too few for a new class, *donors* that
pay less today fill up: people whom their class can spare, or one whole class. The move is made only if
the gains exceed the losses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.local_search.partition import (
    NOBODY,
    Members,
    Partition,
    distinct_people,
    move,
    open_class,
    recount_people,
)
from kanon_pg.worker.solvers.local_search.scratch import Scratch

TOLERANCE = 1e-9
"""Costs closer than this are equal: moves must gain more, or rounding could make them cycle."""

_ALL = np.int64(1) << 60
_MOST_BROKEN = 64


@kernel
def _tally(items: NDArray[np.int32], parts: Partition, members: Members, scratch: Scratch) -> int:
    """Add up per class what the items hold of it; return how many classes there are."""
    scratch.stamp[0] += 1
    stamp = scratch.stamp[0]
    touched = 0
    for item in items:
        number = parts.class_of[item]
        if scratch.seen[number] != stamp:
            scratch.seen[number] = stamp
            scratch.inside_items[number] = 0
            scratch.inside_people[number] = 0
            scratch.inside_rows[number] = 0
            scratch.allowance[number] = 0
            scratch.broken[number] = 0
            scratch.touched[touched] = number
            touched += 1
        scratch.inside_items[number] += 1
        scratch.inside_people[number] += members.people[item]
        scratch.inside_rows[number] += members.rows[item]
        scratch.item_seen[item] = stamp
    return touched


@kernel
def _breaking_cost(
    number: int, parts: Partition, members: Members, scratch: Scratch, elsewhere: NDArray[np.int32]
) -> float:
    """Return what it costs to move the row types outside the items to other open classes."""
    stamp = scratch.stamp[0]
    cost = 0.0
    item = parts.head[number]
    while item != NOBODY:
        if scratch.item_seen[item] != stamp:
            other = elsewhere[item]
            if other == NOBODY or parts.size[other] == 0 or scratch.seen[other] == stamp:
                return np.inf
            cost += members.rows[item] * (parts.cost[other] - parts.cost[number])
        item = parts.following[item]
    return cost


@kernel
def _admit_gainers(
    touched: int,
    target: int,
    cost: float,
    k: int,
    parts: Partition,
    members: Members,
    scratch: Scratch,
    elsewhere: NDArray[np.int32],
) -> float:
    """Decide how many people each dearer class may lose; return what breaking classes costs."""
    losses = 0.0
    for position in range(touched):
        number = scratch.touched[position]
        gain = parts.cost[number] - cost
        if number == target or gain <= TOLERANCE:
            continue
        if scratch.inside_items[number] == parts.size[number]:
            scratch.allowance[number] = _ALL
            continue
        spare = parts.people[number] - k
        scratch.allowance[number] = spare
        if spare >= scratch.inside_people[number] or parts.size[number] > _MOST_BROKEN:
            continue
        breaking = _breaking_cost(number, parts, members, scratch, elsewhere)
        by_spare = gain * scratch.inside_rows[number] * max(spare, 0) / max(scratch.inside_people[number], 1)
        if gain * scratch.inside_rows[number] - breaking > by_spare:
            scratch.allowance[number] = _ALL
            scratch.broken[number] = 1
            losses += breaking
    return losses


@kernel
def _take_gainers(
    items: NDArray[np.int32], target: int, cost: float, parts: Partition, members: Members, scratch: Scratch
) -> tuple[int, float]:
    """List the gainers that may come; return how many and what they gain."""
    taken = 0
    gains = 0.0
    for item in items:
        number = parts.class_of[item]
        gain = parts.cost[number] - cost
        if number != target and gain > TOLERANCE and members.people[item] <= scratch.allowance[number]:
            scratch.allowance[number] -= members.people[item]
            scratch.taken[taken] = item
            taken += 1
            gains += gain * members.rows[item]
    return taken, gains


@kernel
def _cheapest_absorption(touched: int, cost: float, parts: Partition, scratch: Scratch) -> tuple[int, float]:
    """Return the class that loses least if it comes as a whole, and its loss."""
    best, least = NOBODY, np.inf
    for position in range(touched):
        number = scratch.touched[position]
        if parts.cost[number] <= cost + TOLERANCE and scratch.inside_items[number] == parts.size[number]:
            loss = (cost - parts.cost[number]) * parts.rows[number]
            if loss < least:
                best, least = number, loss
    return best, least


@kernel
def _take_donors(
    items: NDArray[np.int32],
    taken: int,
    missing: int,
    most: float,
    cost: float,
    k: int,
    parts: Partition,
    members: Members,
    scratch: Scratch,
) -> tuple[int, float]:
    """Add people whom cheaper classes can spare; return the new length of the list and their loss.

    The loss is infinite if there are not enough of them or they lose more than `most`.
    """
    losses = 0.0
    for item in items:
        if missing <= 0:
            break
        number = parts.class_of[item]
        loss = (cost - parts.cost[number]) * members.rows[item]
        if loss < -TOLERANCE or members.people[item] == 0 or losses + loss >= most:
            continue
        if scratch.allowance[number] == 0:
            # Marks the class as looked at: what may still leave it is one less than this.
            scratch.allowance[number] = parts.people[number] - k + 1
        if members.people[item] < scratch.allowance[number]:
            scratch.allowance[number] -= members.people[item]
            scratch.taken[taken] = item
            taken += 1
            losses += loss
            missing -= members.people[item]
    return taken, (losses if missing <= 0 else np.inf)


@kernel
def _fill_up(
    items: NDArray[np.int32],
    touched: int,
    taken: int,
    missing: int,
    gains: float,
    cost: float,
    k: int,
    parts: Partition,
    members: Members,
    scratch: Scratch,
) -> tuple[int, float]:
    """Add donors in the cheapest way; return the new length of the list and the loss."""
    whole, least = _cheapest_absorption(touched, cost, parts, scratch)
    donors, losses = _take_donors(items, taken, missing, min(gains, least), cost, k, parts, members, scratch)
    if losses < np.inf or least >= gains:
        return donors, losses
    item = parts.head[whole]
    while item != NOBODY:
        scratch.taken[taken] = item
        taken += 1
        item = parts.following[item]
    return taken, least


@kernel
def _carry_out(
    taken: int,
    touched: int,
    target: int,
    parts: Partition,
    members: Members,
    scratch: Scratch,
    elsewhere: NDArray[np.int32],
) -> None:
    """Move everything that was decided, and count people anew."""
    for position in range(taken):
        move(parts, members, scratch.taken[position], target)
    for position in range(touched):
        number = scratch.touched[position]
        if scratch.broken[number] == 1:
            while parts.head[number] != NOBODY:
                item = parts.head[number]
                other = elsewhere[item]
                move(parts, members, item, other)
                recount_people(parts, members, other)
        recount_people(parts, members, number)
    recount_people(parts, members, target)


@kernel
def try_class(
    items: NDArray[np.int32],
    vector: int,
    cost: float,
    k: int,
    parts: Partition,
    members: Members,
    scratch: Scratch,
    elsewhere: NDArray[np.int32],
) -> float:
    """Open or enlarge the class of some row types under a vector if that lowers the cost.

    Parameters
    ----------
    items : ndarray of int32
        Row types that agree under `vector`, dearest first.
    vector, cost : int, float
        The vector, and the cost of one row under it.
    k : int
    parts, members, scratch
        What is changed, what is known, and working arrays.
    elsewhere : ndarray of int32, shape (n,)
        Another open class that each row type fits into, or `NOBODY`.

    Returns
    -------
    float
        By how much the cost has become lower, >= 0.
    """
    touched = _tally(items, parts, members, scratch)
    target = NOBODY
    for position in range(touched):
        if parts.vector[scratch.touched[position]] == vector:
            target = scratch.touched[position]
    losses = _admit_gainers(touched, target, cost, k, parts, members, scratch, elsewhere)
    taken, gains = _take_gainers(items, target, cost, parts, members, scratch)
    gains -= losses
    if gains <= TOLERANCE:
        return 0.0
    if target == NOBODY:
        people = distinct_people(members, scratch.taken, taken)
        if people < k:
            taken, filling = _fill_up(
                items, touched, taken, k - people, gains, cost, k, parts, members, scratch
            )
            gains -= filling
            if gains <= TOLERANCE or distinct_people(members, scratch.taken, taken) < k:
                return 0.0
        target = open_class(parts, vector, cost)
    _carry_out(taken, touched, target, parts, members, scratch, elsewhere)
    return gains
