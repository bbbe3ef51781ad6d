"""Kernels that take a few neighbouring classes apart, so that they can be put together anew."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.compiled import kernel
from kanon_pg.solvers.annealing.board import Board, Standing, lift, limit_of
from kanon_pg.solvers.annealing.draw import below
from kanon_pg.solvers.local_search.partition import NOBODY

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


def taken_for(board: Board, most: int) -> Taken:
    """Return room for some items."""
    flag = np.zeros(board.type_of.size, dtype=np.bool_)
    room = np.empty(most, dtype=np.int32)
    return Taken(room, room.copy(), np.zeros(1, dtype=np.int64), flag)


@kernel
def cheaper_edges(board: Board, row_type: int, cost: float) -> int:
    """Return how many instances of a row type cost less than `cost`."""
    low, high = board.start[row_type], board.start[row_type + 1]
    while low < high:
        middle = (low + high) // 2
        if board.cost[board.instance[middle]] < cost:
            low = middle + 1
        else:
            high = middle
    return int(low - board.start[row_type])


@kernel
def _take(board: Board, standing: Standing, taken: Taken, item: int) -> None:
    place = taken.length[0]
    taken.item[place] = item
    taken.source[place] = standing.held_by[item]
    taken.length[0] += 1
    taken.flag[item] = True
    lift(board, standing, item)


@kernel
def take_class(board: Board, standing: Standing, taken: Taken, number: int) -> bool:
    """Take all items of a class; do nothing and return False if there is no room for them."""
    room = taken.item.size - taken.length[0]
    item = standing.head[number]
    while item != NOBODY and room > 0:
        item = standing.following[item]
        room -= 1
    if item != NOBODY:
        return False
    while standing.head[number] != NOBODY:
        _take(board, standing, taken, standing.head[number])
    standing.people[number] = 0
    return True


@kernel
def take_spare(board: Board, standing: Standing, taken: Taken, item: int) -> bool:
    """Take one item if its class stays large enough without it."""
    number = standing.held_by[item]
    spare = standing.people[number] - limit_of(board, number)
    if spare < board.people[item] or taken.length[0] == taken.item.size:
        return False
    _take(board, standing, taken, item)
    return True


@kernel
def _someone_to_gain(board: Board, standing: Standing, random: NDArray[np.uint64]) -> int:
    """Draw an item that pays more than its cheapest instance."""
    item = 0
    for _ in range(_TRIES):
        item = below(random, board.type_of.size)
        cheapest = board.cost[board.instance[board.start[board.type_of[item]]]]
        if cheapest < board.cost[standing.held_by[item]] - _TINY:
            break
    return item


@kernel
def _ruin_around(
    board: Board,
    standing: Standing,
    taken: Taken,
    random: NDArray[np.uint64],
    target: int,
    classes: int,
    margin: float,
) -> None:
    """Take items that could join a closed instance, and the classes of some of them."""
    begin, length = board.begin[target], board.begin[target + 1] - board.begin[target]
    offset = below(random, length)
    for step in range(min(length, 4 * board.limits[0] + 8)):
        row_type = board.member[begin + (offset + step) % length]
        items = board.first[row_type + 1] - board.first[row_type]
        item = board.first[row_type] + (below(random, items) if items > 1 else 0)
        if taken.flag[item]:
            continue
        number = standing.held_by[item]
        if number == target or board.cost[number] < board.cost[target] - margin:
            continue
        if not take_spare(board, standing, taken, item) and classes > 0:
            classes -= int(take_class(board, standing, taken, number))


@kernel
def _ruin_neighbours(
    board: Board,
    standing: Standing,
    taken: Taken,
    random: NDArray[np.uint64],
    row_type: int,
    classes: int,
    highest: float,
) -> None:
    """Take some of the classes that a row type could join."""
    begin, length = board.start[row_type], board.start[row_type + 1] - board.start[row_type]
    offset = below(random, length)
    for step in range(length):
        number = board.instance[begin + (offset + step) % length]
        if standing.head[number] != NOBODY and board.cost[number] <= highest:
            classes -= int(take_class(board, standing, taken, number))
            if classes <= 0:
                break


@kernel
def ruin(board: Board, standing: Standing, taken: Taken, random: NDArray[np.uint64], unit: float) -> None:
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
    item = _someone_to_gain(board, standing, random)
    number = standing.held_by[item]
    if below(random, 4) == 0 or not take_spare(board, standing, taken, item):
        take_class(board, standing, taken, number)
    for _ in range(1 + below(random, _ROUNDS)):
        if taken.length[0] > 0:
            item = taken.item[below(random, taken.length[0])]
        _ruin_more(board, standing, taken, random, item, unit)


@kernel
def _ruin_more(
    board: Board, standing: Standing, taken: Taken, random: NDArray[np.uint64], item: int, unit: float
) -> None:
    """Take what could join a cheaper instance with an item, or another class that it could join."""
    row_type, cost = board.type_of[item], board.cost[standing.held_by[item]]
    cheaper = cheaper_edges(board, row_type, cost + _TINY)
    if cheaper == 0 or below(random, 4) == 0:
        _ruin_neighbours(board, standing, taken, random, row_type, 1, cost + 2 * unit)
        return
    target = board.instance[board.start[row_type] + below(random, cheaper)]
    if standing.head[target] != NOBODY:
        take_class(board, standing, taken, target)
    _ruin_around(board, standing, taken, random, target, _CLASSES, unit)
