"""Classes as linked lists of row types, with what each publishes and costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.local_search.partition import NOBODY
from kanon_pg.worker.solvers.recoding.forest import Forest, levels_of_classes, row_cost


class Items(NamedTuple):
    """Row types: codes, rows, people (sums of them count who is in several row types twice)."""

    codes: NDArray[np.int32]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]


class Assignment(NamedTuple):
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


def board_of(forest: Forest, items: Items, class_of: NDArray[np.int64]) -> Assignment:
    """Return the board of some classes, numbered from 0 without gaps."""
    count, width = items.codes.shape
    classes = int(class_of.max()) + 1
    level = np.zeros((count, width), dtype=np.int16)
    level[:classes] = levels_of_classes(forest, items.codes, class_of)
    assignment = Assignment(
        level, np.zeros(count, dtype=np.int32), np.zeros(count), np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64), np.full(count, NOBODY, dtype=np.int32),
        np.full(count, NOBODY, dtype=np.int32), np.full(count, NOBODY, dtype=np.int32),
        np.empty(count, dtype=np.int32), np.arange(count - 1, -1, -1, dtype=np.int32),
        np.array([count - classes], dtype=np.int64),
    )  # fmt: skip
    _fill(assignment, forest, items, class_of)
    return assignment


@inner_kernel
def _fill(assignment: Assignment, forest: Forest, items: Items, class_of: NDArray[np.int64]) -> None:
    for item in range(class_of.size):
        assign(assignment, items, item, class_of[item])
        assignment.member[class_of[item]] = item
    for number in range(assignment.cost.size - assignment.state[0]):
        assignment.cost[number] = row_cost(
            forest, items.codes, assignment.level[number], assignment.member[number]
        )


@inner_kernel
def assign(assignment: Assignment, items: Items, item: int, number: int) -> None:
    """Put a row type into a class, whose levels must fit already."""
    first = assignment.head[number]
    assignment.following[item] = first
    assignment.previous[item] = NOBODY
    if first != NOBODY:
        assignment.previous[first] = item
    assignment.head[number] = item
    assignment.class_of[item] = number
    assignment.rows[number] += items.rows[item]
    assignment.people[number] += items.people[item]


@inner_kernel
def unassign(assignment: Assignment, items: Items, item: int) -> None:
    """Take a row type out of its class, whose levels stay as they are."""
    number = assignment.class_of[item]
    before, after = assignment.previous[item], assignment.following[item]
    if before == NOBODY:
        assignment.head[number] = after
    else:
        assignment.following[before] = after
    if after != NOBODY:
        assignment.previous[after] = before
    if assignment.member[number] == item:
        assignment.member[number] = assignment.head[number]
    assignment.rows[number] -= items.rows[item]
    assignment.people[number] -= items.people[item]


@inner_kernel
def covers(assignment: Assignment, forest: Forest, items: Items, number: int, item: int) -> bool:
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


def cost_of(assignment: Assignment) -> float:
    """Return the cost of all rows."""
    return float((assignment.cost * assignment.rows).sum())
