"""The steps of annealing: a few neighbouring classes are taken apart, their items get new places.

Where prices are known, the classes whose rows pay least in excess of them are opened first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import mix
from kanon_pg.worker.solvers.annealing.assignment import InstanceAssignment, Problem, limit_of, unassign
from kanon_pg.worker.solvers.annealing.draw import below, share
from kanon_pg.worker.solvers.local_search.partition import NOBODY

_TRIES = 16
"""Draws of an item that pays more than it has to; after these the last one is taken."""

_ROUNDS = 4
"""Most rounds in which neighbours of what was taken out are taken out, too."""

_CLASSES = 2
"""Most classes that are taken apart around one instance in each of these rounds."""

_TINY = 1e-9


class TakenItems(NamedTuple):
    """Items that were taken out and where they came from (`length` of them), and a flag for each item."""

    item: NDArray[np.int32]
    source: NDArray[np.int32]
    length: NDArray[np.int64]
    flag: NDArray[np.bool_]


def taken_for(problem: Problem, most: int) -> TakenItems:
    """Return room for some items."""
    flag = np.zeros(problem.type_of.size, dtype=np.bool_)
    room = np.empty(most, dtype=np.int32)
    return TakenItems(room, room.copy(), np.zeros(1, dtype=np.int64), flag)


@kernel
def cheaper_edges(problem: Problem, row_type: int, cost: float) -> int:
    """Return how many instances of a row type cost less than `cost`."""
    low, high = problem.start[row_type], problem.start[row_type + 1]
    while low < high:
        middle = (low + high) // 2
        if problem.cost[problem.instance[middle]] < cost:
            low = middle + 1
        else:
            high = middle
    return int(low - problem.start[row_type])


@kernel
def _take(problem: Problem, assignment: InstanceAssignment, taken: TakenItems, item: int) -> None:
    place = taken.length[0]
    taken.item[place] = item
    taken.source[place] = assignment.held_by[item]
    taken.length[0] += 1
    taken.flag[item] = True
    unassign(problem, assignment, item)


@kernel
def take_class(problem: Problem, assignment: InstanceAssignment, taken: TakenItems, number: int) -> bool:
    """Take all items of a class; do nothing and return False if there is no room for them."""
    room = taken.item.size - taken.length[0]
    item = assignment.head[number]
    while item != NOBODY and room > 0:
        item = assignment.following[item]
        room -= 1
    if item != NOBODY:
        return False
    while assignment.head[number] != NOBODY:
        _take(problem, assignment, taken, assignment.head[number])
    assignment.people[number] = 0
    return True


@kernel
def take_spare(problem: Problem, assignment: InstanceAssignment, taken: TakenItems, item: int) -> bool:
    """Take one item if its class stays large enough without it."""
    number = assignment.held_by[item]
    spare = assignment.people[number] - limit_of(problem, number)
    if spare < problem.people[item] or taken.length[0] == taken.item.size:
        return False
    _take(problem, assignment, taken, item)
    return True


@kernel
def _draw_improvable(problem: Problem, assignment: InstanceAssignment, random: NDArray[np.uint64]) -> int:
    """Draw an item that pays more than its cheapest instance."""
    item = 0
    for _ in range(_TRIES):
        item = below(random, problem.type_of.size)
        cheapest = problem.cost[problem.instance[problem.start[problem.type_of[item]]]]
        if cheapest < problem.cost[assignment.held_by[item]] - _TINY:
            break
    return item


@kernel
def _ruin_around(
    problem: Problem,
    assignment: InstanceAssignment,
    taken: TakenItems,
    random: NDArray[np.uint64],
    target: int,
    classes: int,
    margin: float,
) -> None:
    """Take items that could join a closed instance, and the classes of some of them."""
    begin, length = problem.begin[target], problem.begin[target + 1] - problem.begin[target]
    offset = below(random, length)
    for step in range(min(length, 4 * problem.limits[0] + 8)):
        row_type = problem.member[begin + (offset + step) % length]
        items = problem.first[row_type + 1] - problem.first[row_type]
        item = problem.first[row_type] + (below(random, items) if items > 1 else 0)
        if taken.flag[item]:
            continue
        number = assignment.held_by[item]
        if number == target or problem.cost[number] < problem.cost[target] - margin:
            continue
        if not take_spare(problem, assignment, taken, item) and classes > 0:
            classes -= int(take_class(problem, assignment, taken, number))


@kernel
def _ruin_neighbours(
    problem: Problem,
    assignment: InstanceAssignment,
    taken: TakenItems,
    random: NDArray[np.uint64],
    row_type: int,
    classes: int,
    highest: float,
) -> None:
    """Take some of the classes that a row type could join."""
    begin, length = problem.start[row_type], problem.start[row_type + 1] - problem.start[row_type]
    offset = below(random, length)
    for step in range(length):
        number = problem.instance[begin + (offset + step) % length]
        if assignment.head[number] != NOBODY and problem.cost[number] <= highest:
            classes -= int(take_class(problem, assignment, taken, number))
            if classes <= 0:
                break


@kernel
def ruin(
    problem: Problem,
    assignment: InstanceAssignment,
    taken: TakenItems,
    random: NDArray[np.uint64],
    unit: float,
) -> None:
    """Take a few items out that might be better off together."""
    taken.length[0] = 0
    item = _draw_improvable(problem, assignment, random)
    number = assignment.held_by[item]
    if below(random, 4) == 0 or not take_spare(problem, assignment, taken, item):
        take_class(problem, assignment, taken, number)
    for _ in range(1 + below(random, _ROUNDS)):
        if taken.length[0] > 0:
            item = taken.item[below(random, taken.length[0])]
        _ruin_more(problem, assignment, taken, random, item, unit)


@kernel
def _ruin_more(
    problem: Problem,
    assignment: InstanceAssignment,
    taken: TakenItems,
    random: NDArray[np.uint64],
    item: int,
    unit: float,
) -> None:
    """Take what could join a cheaper instance with an item, or another class that it could join."""
    row_type, cost = problem.type_of[item], problem.cost[assignment.held_by[item]]
    cheaper = cheaper_edges(problem, row_type, cost + _TINY)
    if cheaper == 0 or below(random, 4) == 0:
        _ruin_neighbours(problem, assignment, taken, random, row_type, 1, cost + 2 * unit)
        return
    target = problem.instance[problem.start[row_type] + below(random, cheaper)]
    if assignment.head[target] != NOBODY:
        take_class(problem, assignment, taken, target)
    _ruin_around(problem, assignment, taken, random, target, _CLASSES, unit)


_MOST_PAIRS = 1 << 20
"""Pairs of an item and an instance that one repair may list; instances after these are not opened."""

_TABLE = 1 << 16
"""Slots of the hash table that finds instances for the same items."""

_CLOSE = 0.02
"""Excess per person below which instances count as nearly alike."""

_WAYS = 12
"""One repair in so many goes by gain, one by gain per person, all others by excess over prices if known."""


class RepairBuffers(NamedTuple):
    """Working arrays of a repair.

    Per item taken: the open class it would go to (`fallback`) and what it pays there (`worth`), its turn,
    whether it is free, and a random mark. Per instance: a stamp, and people, marks and number of the
    items that could join (later its slot). Per pair of item and closed instance: both. Per slot, which is
    an instance that the items could fill: the instance, and where its items begin. `table` finds slots.
    """

    fallback: NDArray[np.int32]
    worth: NDArray[np.float64]
    order: NDArray[np.int64]
    free: NDArray[np.bool_]
    mark: NDArray[np.int64]
    people: NDArray[np.int64]
    sign: NDArray[np.uint64]
    pairs: NDArray[np.int32]
    marks: NDArray[np.uint64]
    table: NDArray[np.int64]
    pair_item: NDArray[np.int32]
    pair_instance: NDArray[np.int32]
    slot_instance: NDArray[np.int32]
    slot_begin: NDArray[np.int64]
    slot_item: NDArray[np.int32]
    last_stamp: NDArray[np.int64]


def buffers_for(problem: Problem, most: int) -> RepairBuffers:
    """Return working arrays for repairs of up to `most` items."""
    instances = problem.cost.size
    return RepairBuffers(
        np.empty(most, dtype=np.int32), np.empty(most, dtype=np.float64), np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.bool_), np.zeros(instances, dtype=np.int64),
        np.empty(instances, dtype=np.int64), np.empty(instances, dtype=np.uint64),
        np.empty(instances, dtype=np.int32), mix(np.arange(1, most + 1, dtype=np.uint64)),
        np.zeros(_TABLE, dtype=np.int64), np.empty(_MOST_PAIRS, dtype=np.int32),
        np.empty(_MOST_PAIRS, dtype=np.int32), np.empty(_MOST_PAIRS, dtype=np.int32),
        np.empty(_MOST_PAIRS + 1, dtype=np.int64),
        np.empty(_MOST_PAIRS, dtype=np.int32), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@kernel
def _find_fallbacks(
    problem: Problem, assignment: InstanceAssignment, taken: TakenItems, buffers: RepairBuffers, unit: float
) -> int:
    """Find the cheapest open class for each item; return how many instances were looked at."""
    looked = 0
    for place in range(taken.length[0]):
        row_type = problem.type_of[taken.item[place]]
        buffers.fallback[place] = NOBODY
        buffers.worth[place] = problem.cost[problem.cost.size - 1] + unit
        for position in range(problem.start[row_type], problem.start[row_type + 1]):
            number = problem.instance[position]
            looked += 1
            if assignment.head[number] != NOBODY:
                buffers.fallback[place] = number
                buffers.worth[place] = problem.cost[number]
                break
    return looked


@kernel
def _list_pairs(
    problem: Problem, assignment: InstanceAssignment, taken: TakenItems, buffers: RepairBuffers, margin: float
) -> int:
    """List the closed instances that each item could join, costliest items first."""
    count = taken.length[0]
    buffers.order[:count] = np.argsort(-buffers.worth[:count], kind="mergesort")
    buffers.last_stamp[0] += 1
    stamp = buffers.last_stamp[0]
    pairs = 0
    for turn in range(count):
        place = buffers.order[turn]
        buffers.free[place] = True
        item = taken.item[place]
        highest = buffers.worth[place] + margin
        for position in range(problem.start[problem.type_of[item]], problem.start[problem.type_of[item] + 1]):
            number = problem.instance[position]
            if problem.cost[number] > highest or pairs == buffers.pair_item.size:
                break
            if assignment.head[number] != NOBODY:
                continue
            if buffers.mark[number] != stamp:
                buffers.mark[number] = stamp
                buffers.people[number] = 0
                buffers.sign[number] = 0
                buffers.pairs[number] = 0
            buffers.people[number] += problem.people[item]
            buffers.sign[number] += buffers.marks[place]
            buffers.pairs[number] += 1
            buffers.pair_item[pairs] = place
            buffers.pair_instance[pairs] = number
            pairs += 1
    return pairs


@kernel
def _slot_of(problem: Problem, buffers: RepairBuffers, number: int, slots: int) -> int:
    """Return the slot of the instances that the same items could join, or `slots` if there is none."""
    sign = buffers.sign[number]
    place = np.int64(sign >> np.uint64(48))
    while buffers.table[place] >> 32 == buffers.last_stamp[0]:
        slot = buffers.table[place] & 0xFFFFFFFF
        if buffers.sign[buffers.slot_instance[slot]] == sign:
            return int(slot)
        place = (place + 1) % buffers.table.size
    buffers.table[place] = (buffers.last_stamp[0] << 32) | slots
    return slots


@kernel
def _list_slots(problem: Problem, buffers: RepairBuffers, pairs: int) -> int:
    """List the instances that the items can fill, of those with the same items the cheapest."""
    slots, room = 0, 0
    for pair in range(pairs):
        number = buffers.pair_instance[pair]
        if buffers.pairs[number] <= 0:
            continue
        if buffers.people[number] >= limit_of(problem, number) and slots < buffers.table.size // 2:
            slot = _slot_of(problem, buffers, number, slots)
            if slot == slots:
                buffers.slot_instance[slots] = number
                buffers.slot_begin[slots] = room
                room += buffers.pairs[number]
                slots += 1
            elif problem.cost[number] < problem.cost[buffers.slot_instance[slot]]:
                buffers.slot_instance[slot] = number
        buffers.pairs[number] = 0
    for slot in range(slots):
        buffers.pairs[buffers.slot_instance[slot]] = -1 - slot
    buffers.slot_begin[slots] = room
    for pair in range(pairs):
        slot = -1 - buffers.pairs[buffers.pair_instance[pair]]
        if slot >= 0:
            buffers.slot_item[buffers.slot_begin[slot]] = buffers.pair_item[pair]
            buffers.slot_begin[slot] += 1
    for slot in range(slots, 0, -1):
        buffers.slot_begin[slot] = buffers.slot_begin[slot - 1]
    buffers.slot_begin[0] = 0
    return slots


@kernel
def _value(
    problem: Problem, taken: TakenItems, buffers: RepairBuffers, slot: int
) -> tuple[float, int, float]:
    """Return what opening an instance gains, its people, and what they pay in excess of their prices.

    Nothing is gained if the people would be too few.
    """
    number = buffers.slot_instance[slot]
    cost, limit = problem.cost[number], limit_of(problem, number)
    value, people, excess = 0.0, 0, 0.0
    for position in range(buffers.slot_begin[slot], buffers.slot_begin[slot + 1]):
        place = buffers.slot_item[position]
        if not buffers.free[place]:
            continue
        gain = buffers.worth[place] - cost
        if gain <= _TINY and people >= limit:
            break
        item = taken.item[place]
        value += gain * problem.rows[item]
        people += problem.people[item]
        if problem.price.size > 0:
            excess += (cost - problem.price[problem.type_of[item]]) * problem.rows[item]
    return (value, people, excess) if people >= limit else (-np.inf, 1, 0.0)


@kernel
def _open(problem: Problem, taken: TakenItems, buffers: RepairBuffers, slot: int) -> None:
    """Send the items of a slot to its instance."""
    number = buffers.slot_instance[slot]
    cost, limit = problem.cost[number], limit_of(problem, number)
    people = 0
    for position in range(buffers.slot_begin[slot], buffers.slot_begin[slot + 1]):
        place = buffers.slot_item[position]
        if not buffers.free[place]:
            continue
        if buffers.worth[place] - cost <= _TINY and people >= limit:
            break
        people += problem.people[taken.item[place]]
        buffers.free[place] = False
        buffers.fallback[place] = number
        buffers.worth[place] = cost


@kernel
def _score(value: float, people: int, excess: float, way: int) -> float:
    """Return how good it is to open an instance: by gain, gain per person, or little excess per person."""
    if way == 0:
        return value
    return value / people if way == 1 else people / (_CLOSE * people + max(excess, 0.0))


@kernel
def repair(
    problem: Problem,
    assignment: InstanceAssignment,
    taken: TakenItems,
    buffers: RepairBuffers,
    random: NDArray[np.uint64],
    unit: float,
) -> int:
    """Decide where the items go, see `buffers.fallback`; return how many pairs were looked at.

    It names an instance for each, or `NOBODY`.
    """
    work = _find_fallbacks(problem, assignment, taken, buffers, unit)
    margin = unit * below(random, 3) + _TINY
    pairs = _list_pairs(problem, assignment, taken, buffers, margin)
    slots = _list_slots(problem, buffers, pairs)
    way = below(random, 2) if problem.price.size == 0 else below(random, _WAYS)
    while slots > 0:
        best, highest = NOBODY, 0.0
        for slot in range(slots):
            value, people, excess = _value(problem, taken, buffers, slot)
            if value <= _TINY:
                continue
            score = _score(value, people, excess, way) * (1.0 - 0.2 * share(random))
            if score > highest:
                best, highest = slot, score
        work += buffers.slot_begin[slots]
        if best == NOBODY:
            break
        _open(problem, taken, buffers, best)
    return work + pairs
