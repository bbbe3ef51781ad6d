"""Putting row types together again: new classes among them, and classes outside that cover them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.solvers.annealing.draw import below, share
from kanon_pg.worker.solvers.local_search.partition import NOBODY
from kanon_pg.worker.solvers.recoding.assignment import (
    ClassAssignment,
    Ground,
    Items,
    TakenTypes,
    assign,
    covers,
    forget,
    ruin,
    unassign,
)
from kanon_pg.worker.solvers.recoding.demands import Demands, is_allowed
from kanon_pg.worker.solvers.recoding.forest import Forest, join_levels, row_cost

UNPLACED = -1
"""New class of a row type that has none yet."""

UNPLACEABLE = -2
"""New class of a row type around which none can be formed."""


class RecreateBuffers(NamedTuple):
    """Row types taken out of their classes, and new classes.

    Per row type taken out: its new class (`assign`), the class outside that it joins instead (`outside`,
    negative if none) and the levels that it needs with the first one of the class being formed (`needs`).
    Per new class: levels, first row type, rows, people and cost of a row. `price` distorts the losses of
    the columns at random, `scratch` and `joined` are working arrays.
    """

    assign: NDArray[np.int32]
    outside: NDArray[np.int32]
    needs: NDArray[np.int16]
    level: NDArray[np.int16]
    member: NDArray[np.int32]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    cost: NDArray[np.float64]
    price: NDArray[np.float64]
    scratch: NDArray[np.int32]
    joined: NDArray[np.int16]


def buffers_for(room: int, width: int) -> RecreateBuffers:
    """Return buffers for so many row types and columns."""
    return RecreateBuffers(
        np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int32),
        np.zeros((room, width), dtype=np.int16), np.zeros((room, width), dtype=np.int16),
        np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64),
        np.zeros(room), np.zeros(width), np.zeros(room, dtype=np.int32), np.zeros(width, dtype=np.int16),
    )  # fmt: skip


@inner_kernel
def is_new_class_allowed(buffers: RecreateBuffers, demands: Demands, taken: TakenTypes, made: int) -> bool:
    """Return whether the row types placed in a new class may be one."""
    if demands.is_simple == 1:
        return bool(buffers.people[made] >= demands.k)
    count = 0
    for place in range(taken.length[0]):
        if buffers.assign[place] == made:
            buffers.scratch[count] = taken.item[place]
            count += 1
    return bool(buffers.people[made] >= demands.k and is_allowed(demands, buffers.scratch[:count]))


@inner_kernel
def _find_needs(
    buffers: RecreateBuffers, forest: Forest, items: Items, taken: TakenTypes, member: int
) -> None:
    """Note at which levels each unplaced row type shows the same as another one."""
    nodes, begin, values, lowest = forest.nodes, forest.begin, forest.values, forest.lowest
    codes, assign, needs, in_hand = items.codes, buffers.assign, buffers.needs, taken.item
    width = begin.size
    for place in range(taken.length[0]):
        if assign[place] >= 0:
            continue
        item = in_hand[place]
        for column in range(width):
            level = lowest[column]
            at = begin[column] + level * values[column]
            first, second = codes[member, column], codes[item, column]
            while nodes[at + first] != nodes[at + second]:
                at += values[column]
                level += 1
            needs[place, column] = level


@inner_kernel
def _nearest(buffers: RecreateBuffers, forest: Forest, items: Items, taken: TakenTypes, made: int) -> int:
    """Return the position of the unplaced row type that makes a new class least costly, negative if none."""
    loss, begin, values = forest.loss, forest.begin, forest.values
    assign, needs, level, price, codes = (
        buffers.assign,
        buffers.needs,
        buffers.level,
        buffers.price,
        items.codes,
    )
    member, width = buffers.member[made], begin.size
    best, lowest = -1, np.inf
    for place in range(taken.length[0]):
        if assign[place] >= 0:
            continue
        cost = 0.0
        for column in range(width):
            height = max(level[made, column], needs[place, column])
            cost += price[column] * loss[begin[column] + height * values[column] + codes[member, column]]
        if cost < lowest:
            best, lowest = place, cost
    return best


@inner_kernel
def _place_covered(buffers: RecreateBuffers, items: Items, taken: TakenTypes, made: int) -> None:
    """Place every unplaced row type that a new class covers in it."""
    assign, needs, level, in_hand = buffers.assign, buffers.needs, buffers.level, taken.item
    item_rows, item_people = items.rows, items.people
    rows, people = np.int64(0), np.int64(0)
    width = level.shape[1]
    for place in range(taken.length[0]):
        if assign[place] >= 0:
            continue
        is_covered = True
        for column in range(width):
            if needs[place, column] > level[made, column]:
                is_covered = False
                break
        if is_covered:
            assign[place] = made
            rows += item_rows[in_hand[place]]
            people += item_people[in_hand[place]]
    buffers.rows[made] += rows
    buffers.people[made] += people


@inner_kernel
def grow_class(ground: Ground, buffers: RecreateBuffers, taken: TakenTypes, made: int, first: int) -> int:
    """Form a class around one of the row types taken out; return the work, negative if none can be formed.

    The class takes the row type that makes it least costly and all that it then covers, until it is allowed.
    """
    forest, items, demands = ground.forest, ground.items, ground.demands
    member = taken.item[first]
    buffers.member[made] = member
    buffers.rows[made] = buffers.people[made] = 0
    for column in range(buffers.price.size):
        buffers.price[column] = 1.0 - ground.noise * np.log(1.0 - share(ground.random))
        buffers.level[made, column] = forest.lowest[column]
    _find_needs(buffers, forest, items, taken, member)
    work = taken.length[0]
    _place_covered(buffers, items, taken, made)
    while buffers.people[made] < demands.k or (
        demands.is_simple == 0 and not is_new_class_allowed(buffers, demands, taken, made)
    ):
        place = _nearest(buffers, forest, items, taken, made)
        work += taken.length[0]
        if place < 0:
            for other in range(taken.length[0]):
                if buffers.assign[other] == made:
                    buffers.assign[other] = UNPLACEABLE
            return int(-work)
        for column in range(buffers.price.size):
            buffers.level[made, column] = max(buffers.level[made, column], buffers.needs[place, column])
        _place_covered(buffers, items, taken, made)
    buffers.cost[made] = row_cost(forest, items.codes, buffers.level[made], member)
    return int(work)


@inner_kernel
def least_rise(
    buffers: RecreateBuffers, forest: Forest, items: Items, item: int, made: int
) -> tuple[int, float]:
    """Return the new class whose cost rises least if a row type joins it, negative if none, and the rise."""
    best, lowest = -1, np.inf
    for number in range(made):
        join_levels(forest, items.codes, buffers.level[number], buffers.member[number], item, buffers.joined)
        cost = row_cost(forest, items.codes, buffers.joined, buffers.member[number])
        rise = cost * (buffers.rows[number] + items.rows[item]) - buffers.cost[number] * buffers.rows[number]
        if rise < lowest:
            best, lowest = number, rise
    return best, lowest


@inner_kernel
def join_cheapest(
    buffers: RecreateBuffers, forest: Forest, items: Items, item: int, place: int, made: int
) -> float:
    """Place a row type in the new class whose cost rises least, and raise that class; return by how much."""
    best, lowest = least_rise(buffers, forest, items, item, made)
    join_levels(forest, items.codes, buffers.level[best], buffers.member[best], item, buffers.level[best])
    buffers.cost[best] = row_cost(forest, items.codes, buffers.level[best], buffers.member[best])
    buffers.rows[best] += items.rows[item]
    buffers.people[best] += items.people[item]
    buffers.assign[place] = best
    return lowest


_LOOKS = 16
"""Row types around one at whose classes it looks in an order."""

_ORDERS = 2
"""Orders in which it looks."""

_STOPS = 16
"""One in so many times no further class is formed although there are people for one."""

_WORK_PER_STEP = 64
_TINY = 1e-12


@inner_kernel
def _cheapest_outside(ground: Ground, assignment: ClassAssignment, taken: TakenTypes, item: int) -> int:
    """Return the cheapest class nearby, not taken apart, that covers a row type; negative if none."""
    orders = ground.orders
    best = UNPLACED
    for _ in range(_ORDERS):
        turn = below(ground.random, orders.shape[0])
        order, middle = orders[turn], ground.places[turn, item]
        for place in range(max(0, middle - _LOOKS), min(order.size, middle + _LOOKS + 1)):
            number = assignment.class_of[order[place]]
            if taken.is_taken[number] or number == best:
                continue
            if (best < 0 or assignment.cost[number] < assignment.cost[best]) and covers(
                assignment, ground.forest, ground.items, number, item
            ):
                best = number
    return int(best)


@inner_kernel
def _form_classes(ground: Ground, buffers: RecreateBuffers, taken: TakenTypes) -> tuple[int, int]:
    """Form classes around random row types while enough people are left; return their number and the work.

    Now and then it stops early: fewer classes can be better.
    """
    items, demands, random = ground.items, ground.demands, ground.random
    left, free = np.int64(0), taken.length[0]
    for place in range(taken.length[0]):
        buffers.assign[place] = UNPLACED
        left += items.people[taken.item[place]]
    made, work = 0, 0
    while left >= demands.k and free > 0 and below(random, _STOPS) > 0:
        skipped = below(random, free)
        first = 0
        while buffers.assign[first] != UNPLACED or skipped > 0:
            if buffers.assign[first] == UNPLACED:
                skipped -= 1
            first += 1
        done = grow_class(ground, buffers, taken, made, first)
        if done < 0:
            # Not even all that is left may be a class.
            return made, work - done
        work += done
        left -= buffers.people[made]
        made += 1
        free = 0
        for place in range(taken.length[0]):
            free += buffers.assign[place] == UNPLACED
    return made, work


@inner_kernel
def _place_others(
    ground: Ground, assignment: ClassAssignment, buffers: RecreateBuffers, taken: TakenTypes, made: int
) -> float:
    """Place the other row types in new classes or outside; return the cost of all, infinite if impossible."""
    forest, items = ground.forest, ground.items
    cost = 0.0
    for place in range(taken.length[0]):
        buffers.outside[place] = UNPLACED
        if buffers.assign[place] >= 0:
            continue
        item = taken.item[place]
        _, rise = least_rise(buffers, forest, items, item, made)
        if ground.demands.evaluator.codes.shape[0] == 0:
            number = _cheapest_outside(ground, assignment, taken, item)
            if number >= 0 and assignment.cost[number] * items.rows[item] < rise:
                buffers.outside[place] = number
                cost += assignment.cost[number] * items.rows[item]
                continue
        if made == 0:
            return np.inf
        join_cheapest(buffers, forest, items, item, place, made)
    for number in range(made):
        cost += buffers.cost[number] * buffers.rows[number]
    return cost


@inner_kernel
def _apply(
    assignment: ClassAssignment, buffers: RecreateBuffers, items: Items, taken: TakenTypes, made: int
) -> None:
    """Replace the classes taken apart by the new ones."""
    for place in range(taken.length[0]):
        unassign(assignment, items, taken.item[place])
    for position in range(taken.length[1]):
        number = taken.number[position]
        if assignment.head[number] == NOBODY:
            assignment.free[assignment.state[0]] = number
            assignment.state[0] += 1
    for made_now in range(made):
        assignment.state[0] -= 1
        number = assignment.free[assignment.state[0]]
        assignment.member[number] = buffers.member[made_now]
        assignment.cost[number] = buffers.cost[made_now]
        for column in range(assignment.level.shape[1]):
            assignment.level[number, column] = buffers.level[made_now, column]
        # The number is read again below, when all places are known.
        buffers.scratch[made_now] = number
    for place in range(taken.length[0]):
        into = (
            buffers.scratch[buffers.assign[place]] if buffers.outside[place] < 0 else buffers.outside[place]
        )
        assign(assignment, items, taken.item[place], into)


@inner_kernel
def _are_allowed(buffers: RecreateBuffers, demands: Demands, taken: TakenTypes, made: int) -> bool:
    if demands.is_simple == 1:
        return True
    allowed = True
    for number in range(made):
        allowed = allowed and is_new_class_allowed(buffers, demands, taken, number)
    return allowed


@inner_kernel
def anneal_classes(
    ground: Ground,
    assignment: ClassAssignment,
    buffers: RecreateBuffers,
    taken: TakenTypes,
    temperature: float,
    work: int,
) -> tuple[float, int]:
    """Change classes until some work is done; return the rise of the cost, and the work.

    Parameters
    ----------
    temperature : float
        A change that raises the cost by r is kept with probability ``exp(-r / temperature)``.
    """
    risen, done = 0.0, 0
    while done < work:
        before = ruin(ground, assignment, taken)
        made, effort = _form_classes(ground, buffers, taken)
        after = _place_others(ground, assignment, buffers, taken, made)
        done += effort + 4 * taken.length[0] + _WORK_PER_STEP
        is_kept = after - before <= -temperature * np.log(1.0 - share(ground.random)) + _TINY
        if is_kept and _are_allowed(buffers, ground.demands, taken, made):
            _apply(assignment, buffers, ground.items, taken, made)
            risen += after - before
        forget(taken)
    return risen, done
