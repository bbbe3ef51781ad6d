"""Kernels that take a few neighbouring classes apart, so that they can be put together anew."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.annealing.assignment import Assignment, Standing, limit_of, unassign
from kanon_pg.worker.solvers.annealing.draw import below
from kanon_pg.worker.solvers.local_search.partition import NOBODY

_TRIES = 16
_TINY = 1e-9
_ROUNDS = 4
_CLASSES = 2


class Taken(NamedTuple):
    """Items that were taken out and where they came from (`length` of them), and a flag for each item."""

    item: NDArray[np.int32]
    source: NDArray[np.int32]
    length: NDArray[np.int64]
    flag: NDArray[np.bool_]


def taken_for(assignment: Assignment, most: int) -> Taken:
    """Return room for some items."""
    flag = np.zeros(assignment.type_of.size, dtype=np.bool_)
    room = np.empty(most, dtype=np.int32)
    return Taken(room, room.copy(), np.zeros(1, dtype=np.int64), flag)


@kernel
def cheaper_edges(assignment: Assignment, row_type: int, cost: float) -> int:
    """Return how many instances of a row type cost less than `cost`."""
    low, high = assignment.start[row_type], assignment.start[row_type + 1]
    while low < high:
        middle = (low + high) // 2
        if assignment.cost[assignment.instance[middle]] < cost:
            low = middle + 1
        else:
            high = middle
    return int(low - assignment.start[row_type])


@kernel
def _take(assignment: Assignment, standing: Standing, taken: Taken, item: int) -> None:
    place = taken.length[0]
    taken.item[place] = item
    taken.source[place] = standing.held_by[item]
    taken.length[0] += 1
    taken.flag[item] = True
    unassign(assignment, standing, item)


@kernel
def take_class(assignment: Assignment, standing: Standing, taken: Taken, number: int) -> bool:
    """Take all items of a class; do nothing and return False if there is no room for them."""
    room = taken.item.size - taken.length[0]
    item = standing.head[number]
    while item != NOBODY and room > 0:
        item = standing.following[item]
        room -= 1
    if item != NOBODY:
        return False
    while standing.head[number] != NOBODY:
        _take(assignment, standing, taken, standing.head[number])
    standing.people[number] = 0
    return True


@kernel
def take_spare(assignment: Assignment, standing: Standing, taken: Taken, item: int) -> bool:
    """Take one item if its class stays large enough without it."""
    number = standing.held_by[item]
    spare = standing.people[number] - limit_of(assignment, number)
    if spare < assignment.people[item] or taken.length[0] == taken.item.size:
        return False
    _take(assignment, standing, taken, item)
    return True


@kernel
def _someone_to_gain(assignment: Assignment, standing: Standing, random: NDArray[np.uint64]) -> int:
    """Draw an item that pays more than its cheapest instance."""
    item = 0
    for _ in range(_TRIES):
        item = below(random, assignment.type_of.size)
        cheapest = assignment.cost[assignment.instance[assignment.start[assignment.type_of[item]]]]
        if cheapest < assignment.cost[standing.held_by[item]] - _TINY:
            break
    return item


@kernel
def _ruin_around(
    assignment: Assignment,
    standing: Standing,
    taken: Taken,
    random: NDArray[np.uint64],
    target: int,
    classes: int,
    margin: float,
) -> None:
    """Take items that could join a closed instance, and the classes of some of them."""
    begin, length = assignment.begin[target], assignment.begin[target + 1] - assignment.begin[target]
    offset = below(random, length)
    for step in range(min(length, 4 * assignment.limits[0] + 8)):
        row_type = assignment.member[begin + (offset + step) % length]
        items = assignment.first[row_type + 1] - assignment.first[row_type]
        item = assignment.first[row_type] + (below(random, items) if items > 1 else 0)
        if taken.flag[item]:
            continue
        number = standing.held_by[item]
        if number == target or assignment.cost[number] < assignment.cost[target] - margin:
            continue
        if not take_spare(assignment, standing, taken, item) and classes > 0:
            classes -= int(take_class(assignment, standing, taken, number))


@kernel
def _ruin_neighbours(
    assignment: Assignment,
    standing: Standing,
    taken: Taken,
    random: NDArray[np.uint64],
    row_type: int,
    classes: int,
    highest: float,
) -> None:
    """Take some of the classes that a row type could join."""
    begin, length = assignment.start[row_type], assignment.start[row_type + 1] - assignment.start[row_type]
    offset = below(random, length)
    for step in range(length):
        number = assignment.instance[begin + (offset + step) % length]
        if standing.head[number] != NOBODY and assignment.cost[number] <= highest:
            classes -= int(take_class(assignment, standing, taken, number))
            if classes <= 0:
                break


@kernel
def ruin(
    assignment: Assignment, standing: Standing, taken: Taken, random: NDArray[np.uint64], unit: float
) -> None:
    """Take a few items out that might be better off together.

    Parameters
    ----------
    board, standing, taken
        What is known, what is changed, and where to list the items.
    random : ndarray of uint64
        State of the generator.
    unit : float
        A usual difference of costs.
    """
    taken.length[0] = 0
    item = _someone_to_gain(assignment, standing, random)
    number = standing.held_by[item]
    if below(random, 4) == 0 or not take_spare(assignment, standing, taken, item):
        take_class(assignment, standing, taken, number)
    for _ in range(1 + below(random, _ROUNDS)):
        if taken.length[0] > 0:
            item = taken.item[below(random, taken.length[0])]
        _ruin_more(assignment, standing, taken, random, item, unit)


@kernel
def _ruin_more(
    assignment: Assignment,
    standing: Standing,
    taken: Taken,
    random: NDArray[np.uint64],
    item: int,
    unit: float,
) -> None:
    """Take what could join a cheaper instance with an item, or another class that it could join."""
    row_type, cost = assignment.type_of[item], assignment.cost[standing.held_by[item]]
    cheaper = cheaper_edges(assignment, row_type, cost + _TINY)
    if cheaper == 0 or below(random, 4) == 0:
        _ruin_neighbours(assignment, standing, taken, random, row_type, 1, cost + 2 * unit)
        return
    target = assignment.instance[assignment.start[row_type] + below(random, cheaper)]
    if standing.head[target] != NOBODY:
        take_class(assignment, standing, taken, target)
    _ruin_around(assignment, standing, taken, random, target, _CLASSES, unit)
