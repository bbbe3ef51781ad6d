"""Where classes are put together: the row types in hand and the classes that they form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.solvers.annealing.draw import share
from kanon_pg.worker.solvers.recoding.assignment import Items
from kanon_pg.worker.solvers.recoding.demands import Demands, is_allowed
from kanon_pg.worker.solvers.recoding.forest import Forest, join_levels, row_cost
from kanon_pg.worker.solvers.recoding.ruin import Taken

UNSEATED = -1
"""Seat of a row type that is in no new class yet."""

REFUSED = -2
"""Seat of a row type around which no class can be formed."""


class Buffers(NamedTuple):
    """Row types in hand and new classes.

    Per row type in hand: its new class (`assign`), the class outside that it joins instead (`outside`,
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


def bench_for(room: int, width: int) -> Buffers:
    """Return a bench for so many row types and columns."""
    return Buffers(
        np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int32),
        np.zeros((room, width), dtype=np.int16), np.zeros((room, width), dtype=np.int16),
        np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64),
        np.zeros(room), np.zeros(width), np.zeros(room, dtype=np.int32), np.zeros(width, dtype=np.int16),
    )  # fmt: skip


@inner_kernel
def is_new_class_allowed(buffers: Buffers, demands: Demands, taken: Taken, made: int) -> bool:
    """Return whether the row types with a seat in a new class may be one."""
    if demands.is_simple == 1:
        return bool(buffers.people[made] >= demands.k)
    count = 0
    for place in range(taken.length[0]):
        if buffers.assign[place] == made:
            buffers.scratch[count] = taken.item[place]
            count += 1
    return bool(buffers.people[made] >= demands.k and is_allowed(demands, buffers.scratch[:count]))


@inner_kernel
def _find_needs(buffers: Buffers, forest: Forest, items: Items, taken: Taken, member: int) -> None:
    """Note at which levels each unseated row type shows the same as another one."""
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
def _nearest(buffers: Buffers, forest: Forest, items: Items, taken: Taken, made: int) -> int:
    """Return the place of the unseated row type that makes a new class least dear, negative if none."""
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
def _seat_covered(buffers: Buffers, items: Items, taken: Taken, made: int) -> None:
    """Give a seat to every unseated row type that a new class covers."""
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
def grow_class(
    buffers: Buffers,
    forest: Forest,
    items: Items,
    demands: Demands,
    taken: Taken,
    made: int,
    first: int,
    random: NDArray[np.uint64],
    noise: float,
) -> int:
    """Form a class around one row type in hand; return the work, negative if none can be formed.

    The class takes the row type that makes it least dear and all that it then covers, until it is allowed.
    """
    member = taken.item[first]
    buffers.member[made] = member
    buffers.rows[made] = buffers.people[made] = 0
    for column in range(buffers.price.size):
        buffers.price[column] = 1.0 - noise * np.log(1.0 - share(random))
        buffers.level[made, column] = forest.lowest[column]
    _find_needs(buffers, forest, items, taken, member)
    work = taken.length[0]
    _seat_covered(buffers, items, taken, made)
    while buffers.people[made] < demands.k or (
        demands.is_simple == 0 and not is_new_class_allowed(buffers, demands, taken, made)
    ):
        place = _nearest(buffers, forest, items, taken, made)
        work += taken.length[0]
        if place < 0:
            for other in range(taken.length[0]):
                if buffers.assign[other] == made:
                    buffers.assign[other] = REFUSED
            return int(-work)
        for column in range(buffers.price.size):
            buffers.level[made, column] = max(buffers.level[made, column], buffers.needs[place, column])
        _seat_covered(buffers, items, taken, made)
    buffers.cost[made] = row_cost(forest, items.codes, buffers.level[made], member)
    return int(work)


@inner_kernel
def join_cheapest(buffers: Buffers, forest: Forest, items: Items, item: int, place: int, made: int) -> float:
    """Seat a row type in the new class whose cost rises least, and raise that class; return by how much."""
    best, lowest = -1, np.inf
    for number in range(made):
        join_levels(forest, items.codes, buffers.level[number], buffers.member[number], item, buffers.joined)
        cost = row_cost(forest, items.codes, buffers.joined, buffers.member[number])
        rise = cost * (buffers.rows[number] + items.rows[item]) - buffers.cost[number] * buffers.rows[number]
        if rise < lowest:
            best, lowest = number, rise
    join_levels(forest, items.codes, buffers.level[best], buffers.member[best], item, buffers.level[best])
    buffers.cost[best] = row_cost(forest, items.codes, buffers.level[best], buffers.member[best])
    buffers.rows[best] += items.rows[item]
    buffers.people[best] += items.people[item]
    buffers.assign[place] = best
    return lowest


@inner_kernel
def rise_of_joining(buffers: Buffers, forest: Forest, items: Items, item: int, made: int) -> float:
    """Return the least rise in cost with which a row type could join a new class."""
    lowest = np.inf
    for number in range(made):
        join_levels(forest, items.codes, buffers.level[number], buffers.member[number], item, buffers.joined)
        cost = row_cost(forest, items.codes, buffers.joined, buffers.member[number])
        rise = cost * (buffers.rows[number] + items.rows[item]) - buffers.cost[number] * buffers.rows[number]
        lowest = min(lowest, rise)
    return lowest
