"""What annealing moves about: rows as items, the instances that hold them, and who fits where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.local_search.partition import NOBODY
from kanon_pg.worker.verification.certificate import PRICE_UNIT

MOST_SINGLES = 256
"""Most rows of one row type that may go their own ways; the rest of them stay together."""


class Assignment(NamedTuple):
    """What does not change: the compatibility graph, and the items.

    An *item* is a row, a bundle of equal rows, or (with an entity) a whole row type. `begin` and
    `member` list the row types of each instance, `start` and `instance` the instances of each row type,
    cheapest first. The items of row type `t` are those from ``first[t]`` to
    ``first[t + 1]``. `price` is empty if none are known.
    """

    cost: NDArray[np.float64]
    begin: NDArray[np.int64]
    member: NDArray[np.int32]
    start: NDArray[np.int64]
    instance: NDArray[np.int32]
    first: NDArray[np.int64]
    type_of: NDArray[np.int32]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    own: NDArray[np.int64]
    shared_start: NDArray[np.int64]
    shared: NDArray[np.int64]
    stamps: NDArray[np.int64]
    last_stamp: NDArray[np.int64]
    limits: NDArray[np.int64]
    price: NDArray[np.float64]


class Standing(NamedTuple):
    """Which instance holds each item: linked lists per instance, and the people in each.

    `people` is exact, or with shared people between moves at most what there are.
    """

    held_by: NDArray[np.int32]
    head: NDArray[np.int32]
    following: NDArray[np.int32]
    previous: NDArray[np.int32]
    people: NDArray[np.int64]


def assignment_of(
    table: RowTypeTable,
    graph: Compatibility,
    solution: Solution,
    k: int,
    rest_may_be_small: bool,
    prices: NDArray[np.int64] | None = None,
) -> tuple[Assignment, NDArray[np.int32]]:
    """Return the items of a solution, and the instance that holds each; costs never rise.

    Row types that share a class of the solution get the cheapest instance that all of them fit into.

    Parameters
    ----------
    graph : Compatibility
        Built for this table and k.
    rest_may_be_small : bool
        Whether the fully suppressed class may have fewer than k people.
    prices : ndarray of int64, shape (n,), optional
        Valid prices in units of 1 / `PRICE_UNIT`.
    """
    if table.has_entity:
        pieces = np.ones(solution.rows.size, dtype=np.int64)
    else:
        pieces = np.minimum(solution.rows, max(2 * k, MOST_SINGLES))
    type_of = np.repeat(solution.row_type, pieces)
    rows = np.ones(type_of.size, dtype=np.int64)
    rows[np.cumsum(pieces) - pieces] += solution.rows - pieces
    first = np.searchsorted(type_of, np.arange(len(table) + 1)).astype(np.int64)
    assignment = Assignment(
        graph.cost, graph.begin, graph.member, *graph.instances_of, first, type_of.astype(np.int32), rows,
        table.people if table.has_entity else rows, table.own if table.has_entity else rows,
        table.shared_start, table.shared_people, np.zeros(table.shared_total + 1, dtype=np.int64),
        np.zeros(1, dtype=np.int64), np.array([k, 1 if rest_may_be_small else k], dtype=np.int64),
        np.zeros(0) if prices is None else prices / PRICE_UNIT,
    )  # fmt: skip
    return assignment, np.repeat(_instances_for(table, assignment, solution), pieces)


def _instances_for(table: RowTypeTable, assignment: Assignment, solution: Solution) -> NDArray[np.int32]:
    """Return for each part of a solution the cheapest instance that its whole class fits into."""
    classes = classes_of(solution.parts_of(table), solution.vector)
    order = np.argsort(classes.class_of, kind="stable")
    begin = np.searchsorted(classes.class_of[order], np.arange(len(classes) + 1))
    place = _cheapest_common(begin.astype(np.int64), solution.row_type[order], assignment)
    return place[classes.class_of]


def standing_of(assignment: Assignment, held_by: NDArray[np.int32]) -> Standing:
    """Return the linked lists of an assignment of items to instances."""
    instances, items = assignment.cost.size, held_by.size
    standing = Standing(
        np.full(items, NOBODY, dtype=np.int32), np.full(instances, NOBODY, dtype=np.int32),
        np.full(items, NOBODY, dtype=np.int32), np.full(items, NOBODY, dtype=np.int32),
        np.zeros(instances, dtype=np.int64),
    )  # fmt: skip
    _assign_all(assignment, standing, held_by)
    return standing


def solution_of(graph: Compatibility, assignment: Assignment, held_by: NDArray[np.int32]) -> Solution:
    """Return the solution in which each item is held by an instance."""
    return Solution.of_parts(assignment.type_of.astype(np.int64), graph.vector[held_by], assignment.rows)


@kernel
def _fits(assignment: Assignment, row_type: int, number: int) -> bool:
    """Return whether a row type has an instance, by bisection."""
    low, high = assignment.start[row_type], assignment.start[row_type + 1]
    while low < high:
        middle = (low + high) // 2
        if assignment.instance[middle] < number:
            low = middle + 1
        else:
            high = middle
    return bool(low < assignment.start[row_type + 1] and assignment.instance[low] == number)


@kernel
def _cheapest_common(
    begin: NDArray[np.int64], row_type: NDArray[np.int64], assignment: Assignment
) -> NDArray[np.int32]:
    """Return for each class the cheapest instance that all of its row types have."""
    place = np.full(begin.size - 1, NOBODY, dtype=np.int32)
    for number in range(place.size):
        anyone = row_type[begin[number]]
        position = assignment.start[anyone]
        while place[number] == NOBODY:
            candidate = assignment.instance[position]
            position += 1
            for member in range(begin[number] + 1, begin[number + 1]):
                if not _fits(assignment, row_type[member], candidate):
                    break
            else:
                place[number] = candidate
    return place


@kernel
def _assign_all(assignment: Assignment, standing: Standing, held_by: NDArray[np.int32]) -> None:
    for item in range(held_by.size - 1, -1, -1):
        assign(assignment, standing, item, held_by[item])
    for number in range(assignment.cost.size):
        count_again(assignment, standing, number)


@kernel
def assign(assignment: Assignment, standing: Standing, item: int, into: int) -> None:
    """Give an item that nobody holds to an instance."""
    first = standing.head[into]
    standing.following[item] = first
    standing.previous[item] = NOBODY
    if first != NOBODY:
        standing.previous[first] = item
    standing.head[into] = item
    standing.held_by[item] = into
    standing.people[into] += assignment.people[item]


@kernel
def unassign(assignment: Assignment, standing: Standing, item: int) -> None:
    """Take an item out of the instance that holds it; `held_by` still names that instance."""
    source = standing.held_by[item]
    before, after = standing.previous[item], standing.following[item]
    if before == NOBODY:
        standing.head[source] = after
    else:
        standing.following[before] = after
    if after != NOBODY:
        standing.previous[after] = before
    standing.people[source] -= assignment.people[item]


@kernel
def count_again(assignment: Assignment, standing: Standing, number: int) -> None:
    """Set the people of an instance to the exact count of distinct people."""
    if assignment.shared.size == 0:
        return
    assignment.last_stamp[0] += 1
    people = 0
    item = standing.head[number]
    while item != NOBODY:
        people += assignment.own[item]
        for place in range(assignment.shared_start[item], assignment.shared_start[item + 1]):
            person = assignment.shared[place]
            if assignment.stamps[person] != assignment.last_stamp[0]:
                assignment.stamps[person] = assignment.last_stamp[0]
                people += 1
        item = standing.following[item]
    standing.people[number] = people


@kernel
def limit_of(assignment: Assignment, number: int) -> int:
    """Return how many people an open instance needs."""
    return int(assignment.limits[1] if number == assignment.cost.size - 1 else assignment.limits[0])
