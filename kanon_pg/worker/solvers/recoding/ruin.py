"""Taking some classes apart that are near each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.solvers.annealing.draw import below
from kanon_pg.worker.solvers.local_search.partition import NOBODY
from kanon_pg.worker.solvers.recoding.assignment import Assignment, Items
from kanon_pg.worker.solvers.recoding.demands import Demands

MOST_RUINED = 8
"""Most classes that one step takes apart."""

_LOOKS_PER_CLASS = 8


class Taken(NamedTuple):
    """Row types that are taken out of their classes, and these classes.

    `length` holds the number of row types, of classes taken apart, and whether the row types are only
    part of a class that stays. `is_taken` flags the classes.
    """

    item: NDArray[np.int32]
    number: NDArray[np.int32]
    is_taken: NDArray[np.bool_]
    length: NDArray[np.int64]


def taken_for(classes: int, room: int) -> Taken:
    """Return room for so many row types out of so many classes."""
    return Taken(
        np.zeros(room, dtype=np.int32), np.zeros(MOST_RUINED, dtype=np.int32),
        np.zeros(classes, dtype=np.bool_), np.zeros(3, dtype=np.int64),
    )  # fmt: skip


@inner_kernel
def _take_class(assignment: Assignment, taken: Taken, number: int) -> bool:
    """Take a whole class if there is room for its row types."""
    length = taken.length[0]
    item = assignment.head[number]
    while item != NOBODY:
        if length == taken.item.size:
            return False
        taken.item[length] = item
        length += 1
        item = assignment.following[item]
    taken.length[0] = length
    taken.number[taken.length[1]] = number
    taken.length[1] += 1
    taken.is_taken[number] = True
    return True


@inner_kernel
def _take_part(
    assignment: Assignment, items: Items, demands: Demands, taken: Taken, order: NDArray[np.int32], place: int
) -> None:
    """Take row types of one large class that stand together, as long as k people stay in it."""
    number = assignment.class_of[order[place]]
    left = assignment.people[number] - demands.k
    while place < order.size and taken.length[0] < taken.item.size // 2:
        item = order[place]
        place += 1
        if assignment.class_of[item] != number:
            continue
        left -= items.people[item]
        if left < 0:
            break
        taken.item[taken.length[0]] = item
        taken.length[0] += 1
    taken.length[2] = 1
    taken.is_taken[number] = True
    taken.number[0] = number
    taken.length[1] = 1


@inner_kernel
def ruin(
    assignment: Assignment,
    items: Items,
    demands: Demands,
    taken: Taken,
    orders: NDArray[np.int32],
    places: NDArray[np.int32],
    random: NDArray[np.uint64],
    most: int,
) -> float:
    """Choose classes around a random row type; return what they cost. Nothing is changed yet.

    Parameters
    ----------
    board, items, demands
        The classes.
    taken : Taken
        Is filled; the flags of an earlier call must be cleared, see `forget`.
    orders, places : ndarray of int32, shape (r, n)
        Orders of row types, and the place of each in them.
    random : ndarray of uint64
        State of the generator.
    most : int
        Most classes to choose, >= 1.
    """
    taken.length[:] = 0
    turn = below(random, orders.shape[0])
    order = orders[turn]
    middle = places[turn, below(random, order.size)]
    first = assignment.class_of[order[middle]]
    if not _take_class(assignment, taken, first):
        if demands.is_simple == 1:
            _take_part(assignment, items, demands, taken, order, middle)
        cost = 0.0
        for position in range(taken.length[0]):
            cost += assignment.cost[first] * items.rows[taken.item[position]]
        return cost
    wanted = 1 + below(random, most)
    looks = _LOOKS_PER_CLASS * wanted * max(1, int(demands.k) // 4)
    for look in range(2, looks):
        if taken.length[1] == wanted:
            break
        place = middle + (look >> 1) if look & 1 else middle - (look >> 1)
        if 0 <= place < order.size and not taken.is_taken[assignment.class_of[order[place]]]:
            _take_class(assignment, taken, assignment.class_of[order[place]])
    cost = 0.0
    for position in range(taken.length[1]):
        number = taken.number[position]
        cost += assignment.cost[number] * assignment.rows[number]
    return cost


@inner_kernel
def forget(taken: Taken) -> None:
    """Clear the flags of the classes that were taken."""
    for position in range(taken.length[1]):
        taken.is_taken[taken.number[position]] = False
