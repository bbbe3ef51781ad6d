"""Kernels of the local search: open or enlarge one class where that lowers the cost.

A move looks at all row types that agree under one pattern vector. Those that pay more elsewhere
(*gainers*) come if their class can spare them, if it comes as a whole, or if it can be broken because
its other row types fit into open classes elsewhere. If they are too few for a new class, *donors* that
pay less today fill up: people whom their class can spare, or one whole class. The move is made only if
the gains exceed the losses.

Under privacy models a class can spare a row type if it satisfies everything without it, and no class is
broken. Donors come if they lessen what the class lacks (see `kanon_pg.worker.models.evaluator.lack`); if even
they do not suffice, gainers stay away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.models.class_counts import ModelEvaluator, count_own, join, leave
from kanon_pg.worker.models.evaluator import is_class, lack
from kanon_pg.worker.solvers.greedy.heuristic import MOST_ROUNDS, thin_once
from kanon_pg.worker.solvers.local_search.partition import (
    NOBODY,
    Members,
    MoveBuffers,
    Partition,
    distinct_people,
    move,
    open_class,
    recount_people,
)

TOLERANCE = 1e-9
"""Costs closer than this are equal: moves must gain more, or rounding could make them cycle."""

_ALL = np.int64(1) << 60
_EACH = np.int64(-1)
_LOOKED_AT = np.int64(-2)
"""Allowances of a class: all its row types may leave; each is evaluated by itself; what is left was."""

_MOST_BROKEN = 64
_MOST_EVALUATED = 200
_MOST_REFUSED = 400
"""Row types of classes that are broken, and of those whose row types are evaluated one by one, at most;
donors that their classes cannot spare after which a move is given up."""

_LEAST_LACK = 1e-6
"""What a class lacks at least that does not satisfy everything; people of several row types can hide it."""


class MoveTask(NamedTuple):
    """What moves change and go by."""

    k: int
    """Fewest people per class."""
    parts: Partition
    members: Members
    scratch: MoveBuffers
    elsewhere: NDArray[np.int32]
    """Shape (n,). Another open class that each row type fits into, or `NOBODY`."""


class Offer(NamedTuple):
    """A class that may be opened or enlarged."""

    items: NDArray[np.int32]
    """Row types that agree under its vector, costliest first."""
    touched: int
    """How many classes hold them; these stand in `MoveBuffers.touched`."""
    target: int
    """The one of them that has the vector already, or `NOBODY`."""
    cost: float
    """Cost of one row."""


@inner_kernel
def _tally(task: MoveTask, items: NDArray[np.int32]) -> int:
    """Add up per class what the items hold of it; return how many classes there are."""
    parts, members, scratch = task.parts, task.members, task.scratch
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


@inner_kernel
def _class_under(task: MoveTask, vector: int, touched: int) -> int:
    """Return the class under a vector among those touched, `NOBODY` if there is none."""
    parts, scratch = task.parts, task.scratch
    target = NOBODY
    for position in range(touched):
        if parts.vector[scratch.touched[position]] == vector:
            target = scratch.touched[position]
    return target


@inner_kernel
def _breaking_cost(task: MoveTask, number: int) -> float:
    """Return what it costs to move the row types outside the items to other open classes."""
    parts, members, scratch = task.parts, task.members, task.scratch
    stamp = scratch.stamp[0]
    cost = 0.0
    item = parts.head[number]
    while item != NOBODY:
        if scratch.item_seen[item] != stamp:
            other = task.elsewhere[item]
            if other == NOBODY or parts.size[other] == 0 or scratch.seen[other] == stamp:
                return np.inf
            cost += members.rows[item] * (parts.cost[other] - parts.cost[number])
        item = parts.following[item]
    return cost


@inner_kernel
def _admit_gainers(task: MoveTask, models: ModelEvaluator | None, offer: Offer) -> float:
    """Decide how many people each costlier class may lose; return what breaking classes costs."""
    parts, scratch = task.parts, task.scratch
    losses = 0.0
    for position in range(offer.touched):
        number = scratch.touched[position]
        gain = parts.cost[number] - offer.cost
        if number == offer.target or gain <= TOLERANCE:
            continue
        if scratch.inside_items[number] == parts.size[number]:
            scratch.allowance[number] = _ALL
            continue
        spare = parts.people[number] - task.k
        scratch.allowance[number] = spare
        if models is not None:
            can_spare_all = _stays(task, models, number, scratch.item_seen, NOBODY)
            scratch.allowance[number] = _ALL if can_spare_all else _EACH
            continue
        if spare >= scratch.inside_people[number] or parts.size[number] > _MOST_BROKEN:
            continue
        breaking = _breaking_cost(task, number)
        by_spare = gain * scratch.inside_rows[number] * max(spare, 0) / max(scratch.inside_people[number], 1)
        if gain * scratch.inside_rows[number] - breaking > by_spare:
            scratch.allowance[number] = _ALL
            scratch.broken[number] = 1
            losses += breaking
    return losses


@inner_kernel
def has_to_stop(models: ModelEvaluator | None, scratch: MoveBuffers) -> bool:
    """Return whether a move has taken too long and may not be carried out."""
    if models is None:
        return False
    return bool(models.work[0] > scratch.most[0])


@inner_kernel
def _stays(
    task: MoveTask, models: ModelEvaluator, number: int, stamps: NDArray[np.int64], without: int
) -> bool:
    """Return whether a class satisfies everything, or is empty, without the stamped and one more row type."""
    parts, scratch = task.parts, task.scratch
    count = 0
    item = parts.head[number]
    while item != NOBODY:
        if item != without and stamps[item] != scratch.stamp[0]:
            scratch.left[count] = item
            count += 1
        item = parts.following[item]
    scratch.evaluated[0] += count
    return count == 0 or is_class(models, scratch.left[:count], task.k)


@inner_kernel
def _may_leave(task: MoveTask, models: ModelEvaluator | None, item: int, number: int) -> bool:
    """Return whether a gainer may leave its class; if so, later questions are answered without it."""
    parts, members, scratch = task.parts, task.members, task.scratch
    if models is None:
        if members.people[item] > scratch.allowance[number]:
            return False
        scratch.allowance[number] -= members.people[item]
        return True
    if scratch.allowance[number] == _EACH:
        is_small = parts.size[number] <= _MOST_EVALUATED
        if not is_small or not _stays(task, models, number, scratch.joins, item):
            return False
    scratch.joins[item] = scratch.stamp[0]
    return True


@inner_kernel
def _take_gainers(task: MoveTask, models: ModelEvaluator | None, offer: Offer) -> tuple[int, float]:
    """List the gainers that may come; return how many and what they gain."""
    parts, members, scratch = task.parts, task.members, task.scratch
    taken = 0
    gains = 0.0
    for item in offer.items:
        number = parts.class_of[item]
        gain = parts.cost[number] - offer.cost
        is_costlier = number != offer.target and gain > TOLERANCE
        if has_to_stop(models, scratch):
            break
        if is_costlier and _may_leave(task, models, item, number):
            scratch.taken[taken] = item
            taken += 1
            gains += gain * members.rows[item]
    return taken, gains


@inner_kernel
def list_members(number: int, parts: Partition, listed: NDArray[np.int32], length: int) -> int:
    """Append the row types of a class to a list of some length; return the new length."""
    item = parts.head[number]
    while item != NOBODY:
        listed[length] = item
        length += 1
        item = parts.following[item]
    return length


@inner_kernel
def _missing(task: MoveTask, models: ModelEvaluator | None, target: int, taken: int) -> float:
    """Return what the class of the target and those taken lacks, 0 if it satisfies everything."""
    k, scratch = task.k, task.scratch
    if models is None:
        missing = k - distinct_people(task.members, scratch.taken, taken) if target == NOBODY else 0
        return float(max(missing, 0))
    count = 0
    for joining in scratch.taken[:taken]:
        scratch.together[count] = joining
        count += 1
    if target != NOBODY:
        count = list_members(target, task.parts, scratch.together, count)
    together = scratch.together[:count]
    scratch.evaluated[0] += count
    if count > 0 and is_class(models, together, k):
        return 0.0
    count_own(models, scratch.counts, together)
    return max(_LEAST_LACK, lack(models, scratch.counts, k))


@inner_kernel
def _cheapest_absorption(task: MoveTask, offer: Offer) -> tuple[int, float]:
    """Return the class that loses least if it comes as a whole, and its loss."""
    parts, scratch, cost = task.parts, task.scratch, offer.cost
    best, least = NOBODY, np.inf
    for position in range(offer.touched):
        number = scratch.touched[position]
        is_whole = scratch.inside_items[number] == parts.size[number] and number != offer.target
        if is_whole and parts.cost[number] <= cost + TOLERANCE:
            loss = (cost - parts.cost[number]) * parts.rows[number]
            if loss < least:
                best, least = number, loss
    return best, least


@inner_kernel
def _lessened(task: MoveTask, models: ModelEvaluator | None, item: int, number: int, missing: float) -> float:
    """Return by how much a donor lessens what is missing; below 0 if its class cannot spare it then."""
    k, parts, members, scratch = task.k, task.parts, task.members, task.scratch
    if models is None:
        if scratch.allowance[number] == 0:
            # Marks the class as looked at: what may still leave it is one less than this.
            scratch.allowance[number] = parts.people[number] - k + 1
        if members.people[item] >= scratch.allowance[number]:
            return 0.0
        scratch.allowance[number] -= members.people[item]
        return float(members.people[item])
    if parts.size[number] > _MOST_EVALUATED or scratch.joins[item] == scratch.stamp[0]:
        return 0.0
    join(models, scratch.counts, item)
    less = lack(models, scratch.counts, k)
    if less >= missing:
        leave(models, scratch.counts, item)
        return 0.0
    if not _stays(task, models, number, scratch.joins, item):
        leave(models, scratch.counts, item)
        return -1.0
    scratch.joins[item] = scratch.stamp[0]
    return missing - less


@inner_kernel
def _take_donors(
    task: MoveTask, models: ModelEvaluator | None, offer: Offer, taken: int, missing: float, most: float
) -> tuple[int, float]:
    """Add row types that cheaper classes can spare; return the new length of the list and their loss.

    The loss is infinite if there are not enough of them or they lose more than `most`.
    """
    parts, members, scratch = task.parts, task.members, task.scratch
    losses, gainers, refused = 0.0, taken, 0
    for item in offer.items:
        if missing <= 0.0 or refused == _MOST_REFUSED or has_to_stop(models, scratch):
            break
        number = parts.class_of[item]
        loss = (offer.cost - parts.cost[number]) * members.rows[item]
        is_cheaper = loss >= -TOLERANCE and number != offer.target
        if not is_cheaper or members.people[item] == 0 or losses + loss >= most:
            continue
        lessened = _lessened(task, models, item, number, missing)
        if lessened > 0.0:
            scratch.taken[taken] = item
            taken += 1
            losses += loss
            missing -= lessened
        refused += int(lessened < 0.0)
    if missing <= 0.0:
        return taken, losses
    if models is not None:
        for item in scratch.taken[gainers:taken]:
            scratch.joins[item] = 0
    return taken, np.inf


@inner_kernel
def _fill_up(
    task: MoveTask, models: ModelEvaluator | None, offer: Offer, taken: int, missing: float, gains: float
) -> tuple[int, float]:
    """Add donors in the cheapest way; return the new length of the list and the loss."""
    whole, least = _cheapest_absorption(task, offer)
    # A whole class that has enough people may still lack something else.
    most = min(gains, least) if models is None else gains
    donors, losses = _take_donors(task, models, offer, taken, missing, most)
    if losses < np.inf or least >= gains:
        return donors, losses
    return list_members(whole, task.parts, task.scratch.taken, taken), least


@inner_kernel
def _thin_out(task: MoveTask, models: ModelEvaluator, gainers: int) -> int:
    """Leave gainers out until the rest satisfies everything; return how many stay, 0 if none can."""
    scratch, k = task.scratch, task.k
    count = gainers
    for _ in range(MOST_ROUNDS):
        staying = thin_once(models, scratch.taken[:gainers], scratch.together[:gainers], k, count)
        if staying in (0, count):
            return int(staying)
        if has_to_stop(models, scratch):
            return 0
        count = staying
    return 0


@inner_kernel
def _stay_away(
    task: MoveTask, models: ModelEvaluator | None, cost: float, gainers: int, taken: int
) -> tuple[int, float]:
    """Let donors and gainers stay away until the other gainers satisfy everything.

    Returns
    -------
    int, float
        How many others there are, and what they gain.
    """
    parts, members, scratch = task.parts, task.members, task.scratch
    if models is None:
        return 0, 0.0
    count = _thin_out(task, models, gainers)
    for item in scratch.taken[count:taken]:
        scratch.joins[item] = 0
    if count == 0:
        return 0, 0.0
    for item in scratch.taken[count:gainers]:
        # Only classes in which a row type stays after all can have become worse.
        number = parts.class_of[item]
        if scratch.allowance[number] == _LOOKED_AT:
            scratch.evaluated[0] += scratch.inside_items[number]
            continue
        before = scratch.evaluated[0]
        is_satisfied = _stays(task, models, number, scratch.joins, NOBODY)
        if not is_satisfied or has_to_stop(models, scratch):
            return 0, 0.0
        # The answer is the same for all row types of the class, and so is what counts as evaluated.
        scratch.allowance[number] = _LOOKED_AT
        scratch.inside_items[number] = scratch.evaluated[0] - before
    gains = 0.0
    for item in scratch.taken[:count]:
        gains += (parts.cost[parts.class_of[item]] - cost) * members.rows[item]
    return count, gains


@inner_kernel
def _satisfy(
    task: MoveTask, models: ModelEvaluator | None, offer: Offer, taken: int, gains: float
) -> tuple[int, float]:
    """Add donors, or leave gainers out, until the class satisfies everything.

    Returns
    -------
    int, float
        The new length of the list, and what the move gains; nothing if the class cannot be satisfied.
    """
    missing = _missing(task, models, offer.target, taken)
    if missing <= 0.0:
        return taken, gains
    filled, losses = _fill_up(task, models, offer, taken, missing, gains)
    gains -= losses
    if gains > TOLERANCE and _missing(task, models, offer.target, filled) <= 0.0:
        return filled, gains
    if offer.target != NOBODY:
        return 0, 0.0
    return _stay_away(task, models, offer.cost, taken, filled)


@inner_kernel
def _carry_out(task: MoveTask, touched: int, taken: int, target: int) -> None:
    """Move everything that was decided, and count people anew."""
    parts, members, scratch = task.parts, task.members, task.scratch
    for position in range(taken):
        move(parts, members, scratch.taken[position], target)
    for position in range(touched):
        number = scratch.touched[position]
        if scratch.broken[number] == 1:
            while parts.head[number] != NOBODY:
                item = parts.head[number]
                other = task.elsewhere[item]
                move(parts, members, item, other)
                recount_people(parts, members, other)
        recount_people(parts, members, number)
    recount_people(parts, members, target)


@inner_kernel
def try_class(
    task: MoveTask, models: ModelEvaluator | None, items: NDArray[np.int32], vector: int, cost: float
) -> float:
    """Open or enlarge the class of some row types under a vector if that lowers the cost.

    Parameters
    ----------
    items : ndarray of int32
        Row types that agree under `vector`, costliest first.

    Returns
    -------
    float
        By how much the cost has become lower, >= 0. Every class still has k people and satisfies the models.
        Nothing has changed if the move was given up, see `has_to_stop`.
    """
    touched = _tally(task, items)
    offer = Offer(items, touched, _class_under(task, vector, touched), cost)
    losses = _admit_gainers(task, models, offer)
    taken, gains = _take_gainers(task, models, offer)
    gains -= losses
    if gains <= TOLERANCE:
        return 0.0
    taken, gains = _satisfy(task, models, offer, taken, gains)
    if gains <= TOLERANCE or has_to_stop(models, task.scratch):
        return 0.0
    target = open_class(task.parts, vector, cost) if offer.target == NOBODY else offer.target
    _carry_out(task, touched, taken, target)
    return gains
