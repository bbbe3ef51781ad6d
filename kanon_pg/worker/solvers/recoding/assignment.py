"""Classes as linked lists of row types, and taking some that are near each other apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.annealing.draw import below
from kanon_pg.worker.solvers.local_search.partition import NOBODY, push, remove
from kanon_pg.worker.solvers.recoding.demands import Demands
from kanon_pg.worker.solvers.recoding.forest import Forest, levels_of_classes, row_cost


class Items(NamedTuple):
    """Row types: codes, rows, people (sums of them count who is in several row types twice)."""

    codes: NDArray[np.int32]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]


class Ground(NamedTuple):
    """What a search of classes goes by.

    Row types stand near others that are alike in `orders`, shape (r, n), at `places` there. `random` is the
    state of the generator; one step takes apart at most so many classes, and losses of columns are distorted
    by so much `noise` while classes are formed.
    """

    forest: Forest
    items: Items
    demands: Demands
    orders: NDArray[np.int32]
    places: NDArray[np.int32]
    random: NDArray[np.uint64]
    most: int
    noise: float


class ClassAssignment(NamedTuple):
    """Who is in which class; all arrays change in place.

    The first six arrays are per class: levels, some member, cost of a row, rows, people, first member.
    `free` lists unused numbers of classes, ``state[0]`` says how many.
    """

    level: NDArray[np.int16]
    member: NDArray[np.int32]
    cost: NDArray[np.float64]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    head: NDArray[np.int32]
    following: NDArray[np.int32]
    previous: NDArray[np.int32]
    class_of: NDArray[np.int32]
    free: NDArray[np.int32]
    state: NDArray[np.int64]


def assignment_of(forest: Forest, items: Items, class_of: NDArray[np.int64]) -> ClassAssignment:
    """Return the assignment of some classes, numbered from 0 without gaps."""
    count, width = items.codes.shape
    classes = int(class_of.max()) + 1
    level = np.zeros((count, width), dtype=np.int16)
    level[:classes] = levels_of_classes(forest, items.codes, class_of)
    assignment = ClassAssignment(
        level, np.zeros(count, dtype=np.int32), np.zeros(count), np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64), np.full(count, NOBODY, dtype=np.int32),
        np.full(count, NOBODY, dtype=np.int32), np.full(count, NOBODY, dtype=np.int32),
        np.empty(count, dtype=np.int32), np.arange(count - 1, -1, -1, dtype=np.int32),
        np.array([count - classes], dtype=np.int64),
    )  # fmt: skip
    _fill(assignment, forest, items, class_of)
    return assignment


@inner_kernel
def _fill(assignment: ClassAssignment, forest: Forest, items: Items, class_of: NDArray[np.int64]) -> None:
    for item in range(class_of.size):
        assign(assignment, items, item, class_of[item])
        assignment.member[class_of[item]] = item
    for number in range(assignment.cost.size - assignment.state[0]):
        assignment.cost[number] = row_cost(
            forest, items.codes, assignment.level[number], assignment.member[number]
        )


@inner_kernel
def assign(assignment: ClassAssignment, items: Items, item: int, number: int) -> None:
    """Put a row type into a class, whose levels must fit already."""
    push(assignment.head, assignment.following, assignment.previous, item, number)
    assignment.class_of[item] = number
    assignment.rows[number] += items.rows[item]
    assignment.people[number] += items.people[item]


@inner_kernel
def unassign(assignment: ClassAssignment, items: Items, item: int) -> None:
    """Take a row type out of its class, whose levels stay as they are."""
    number = assignment.class_of[item]
    remove(assignment.head, assignment.following, assignment.previous, item, number)
    if assignment.member[number] == item:
        assignment.member[number] = assignment.head[number]
    assignment.rows[number] -= items.rows[item]
    assignment.people[number] -= items.people[item]


@inner_kernel
def covers(assignment: ClassAssignment, forest: Forest, items: Items, number: int, item: int) -> bool:
    """Return whether a row type shares all nodes that a class publishes."""
    member = assignment.member[number]
    for column in range(assignment.level.shape[1]):
        place = forest.begin[column] + assignment.level[number, column] * forest.values[column]
        if (
            forest.nodes[place + items.codes[member, column]]
            != forest.nodes[place + items.codes[item, column]]
        ):
            return False
    return True


def items_of(table: RowTypeTable, codes: NDArray[np.int32]) -> Items:
    """Return the row types of a table as kernels see them."""
    return Items(codes, table.rows, table.people)


def cost_of(assignment: ClassAssignment) -> float:
    """Return the cost of all rows."""
    return float((assignment.cost * assignment.rows).sum())


MOST_RUINED = 8
"""Most classes that one step takes apart."""

_LOOKS_PER_CLASS = 8


class TakenTypes(NamedTuple):
    """Row types that are taken out of their classes, and these classes.

    `length` holds the number of row types, of classes taken apart, and whether the row types are only
    part of a class that stays. `is_taken` flags the classes.
    """

    item: NDArray[np.int32]
    number: NDArray[np.int32]
    is_taken: NDArray[np.bool_]
    length: NDArray[np.int64]


def taken_for(classes: int, room: int) -> TakenTypes:
    """Return room for so many row types out of so many classes."""
    return TakenTypes(
        np.zeros(room, dtype=np.int32), np.zeros(MOST_RUINED, dtype=np.int32),
        np.zeros(classes, dtype=np.bool_), np.zeros(3, dtype=np.int64),
    )  # fmt: skip


@inner_kernel
def _take_class(assignment: ClassAssignment, taken: TakenTypes, number: int) -> bool:
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
    ground: Ground, assignment: ClassAssignment, taken: TakenTypes, order: NDArray[np.int32], place: int
) -> None:
    """Take row types of one large class that stand together, as long as k people stay in it."""
    items, demands = ground.items, ground.demands
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
def ruin(ground: Ground, assignment: ClassAssignment, taken: TakenTypes) -> float:
    """Choose classes around a random row type; return what they cost. Nothing is changed yet.

    Parameters
    ----------
    taken : TakenTypes
        Is filled; the flags of an earlier call must be cleared, see `forget`.
    """
    items, demands, orders, random = ground.items, ground.demands, ground.orders, ground.random
    taken.length[:] = 0
    turn = below(random, orders.shape[0])
    order = orders[turn]
    middle = ground.places[turn, below(random, order.size)]
    first = assignment.class_of[order[middle]]
    if not _take_class(assignment, taken, first):
        if demands.is_simple == 1:
            _take_part(ground, assignment, taken, order, middle)
        cost = 0.0
        for position in range(taken.length[0]):
            cost += assignment.cost[first] * items.rows[taken.item[position]]
        return cost
    wanted = 1 + below(random, ground.most)
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
def forget(taken: TakenTypes) -> None:
    """Clear the flags of the classes that were taken."""
    for position in range(taken.length[1]):
        taken.is_taken[taken.number[position]] = False
