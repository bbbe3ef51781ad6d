"""What annealing moves about: rows as items, the instances that hold them, and who fits where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.local_search.partition import NOBODY, people_of_list, push, remove
from kanon_pg.worker.verification.certificate import PRICE_UNIT

MOST_SINGLES = 256
"""Most rows of one row type that may go their own ways; the rest of them stay together."""


class Problem(NamedTuple):
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


class InstanceAssignment(NamedTuple):
    """Which instance holds each item: linked lists per instance, and the people in each.

    `people` is exact, or with shared people between moves at most what there are.
    """

    held_by: NDArray[np.int32]
    head: NDArray[np.int32]
    following: NDArray[np.int32]
    previous: NDArray[np.int32]
    people: NDArray[np.int64]


def problem_of(search: GraphSearch, solution: Solution) -> tuple[Problem, NDArray[np.int32]]:
    """Return the items of a solution, and the instance that holds each; costs never rise.

    Row types that share a class of the solution get the cheapest instance that all of them fit into.
    """
    table, graph, k = search.table, search.graph, search.k
    if table.has_entity:
        pieces = np.ones(solution.rows.size, dtype=np.int64)
    else:
        pieces = np.minimum(solution.rows, max(2 * k, MOST_SINGLES))
    type_of = np.repeat(solution.row_type, pieces)
    rows = np.ones(type_of.size, dtype=np.int64)
    rows[np.cumsum(pieces) - pieces] += solution.rows - pieces
    first = np.searchsorted(type_of, np.arange(len(table) + 1)).astype(np.int64)
    problem = Problem(
        graph.cost, graph.begin, graph.member, *graph.instances_of, first, type_of.astype(np.int32), rows,
        table.people if table.has_entity else rows, table.own if table.has_entity else rows,
        table.shared_start, table.shared_people, np.zeros(table.shared_total + 1, dtype=np.int64),
        np.zeros(1, dtype=np.int64), np.array([k, 1 if search.rest_may_be_small else k], dtype=np.int64),
        np.zeros(0) if search.prices is None else search.prices / PRICE_UNIT,
    )  # fmt: skip
    return problem, np.repeat(_instances_for(table, problem, solution), pieces)


def _instances_for(table: RowTypeTable, problem: Problem, solution: Solution) -> NDArray[np.int32]:
    """Return for each part of a solution the cheapest instance that its whole class fits into."""
    classes = classes_of(solution.parts_of(table), solution.vector)
    order = np.argsort(classes.class_of, kind="stable")
    begin = np.searchsorted(classes.class_of[order], np.arange(len(classes) + 1))
    place = _cheapest_common(begin.astype(np.int64), solution.row_type[order], problem)
    return place[classes.class_of]


def assignment_of(problem: Problem, held_by: NDArray[np.int32]) -> InstanceAssignment:
    """Return the linked lists of an assignment of items to instances."""
    instances, items = problem.cost.size, held_by.size
    assignment = InstanceAssignment(
        np.full(items, NOBODY, dtype=np.int32), np.full(instances, NOBODY, dtype=np.int32),
        np.full(items, NOBODY, dtype=np.int32), np.full(items, NOBODY, dtype=np.int32),
        np.zeros(instances, dtype=np.int64),
    )  # fmt: skip
    _assign_all(problem, assignment, held_by)
    return assignment


def solution_of(graph: Compatibility, problem: Problem, held_by: NDArray[np.int32]) -> Solution:
    """Return the solution in which each item is held by an instance."""
    return Solution.of_parts(problem.type_of.astype(np.int64), graph.vector[held_by], problem.rows)


@kernel
def _fits(problem: Problem, row_type: int, number: int) -> bool:
    """Return whether a row type has an instance, by bisection."""
    low, high = problem.start[row_type], problem.start[row_type + 1]
    while low < high:
        middle = (low + high) // 2
        if problem.instance[middle] < number:
            low = middle + 1
        else:
            high = middle
    return bool(low < problem.start[row_type + 1] and problem.instance[low] == number)


@kernel
def _cheapest_common(
    begin: NDArray[np.int64], row_type: NDArray[np.int64], problem: Problem
) -> NDArray[np.int32]:
    """Return for each class the cheapest instance that all of its row types have."""
    place = np.full(begin.size - 1, NOBODY, dtype=np.int32)
    for number in range(place.size):
        anyone = row_type[begin[number]]
        position = problem.start[anyone]
        while place[number] == NOBODY:
            candidate = problem.instance[position]
            position += 1
            for member in range(begin[number] + 1, begin[number + 1]):
                if not _fits(problem, row_type[member], candidate):
                    break
            else:
                place[number] = candidate
    return place


@kernel
def _assign_all(problem: Problem, assignment: InstanceAssignment, held_by: NDArray[np.int32]) -> None:
    for item in range(held_by.size - 1, -1, -1):
        assign(problem, assignment, item, held_by[item])
    for number in range(problem.cost.size):
        count_again(problem, assignment, number)


@inner_kernel
def assign(problem: Problem, assignment: InstanceAssignment, item: int, into: int) -> None:
    """Give an item that nobody holds to an instance."""
    push(assignment.head, assignment.following, assignment.previous, item, into)
    assignment.held_by[item] = into
    assignment.people[into] += problem.people[item]


@inner_kernel
def unassign(problem: Problem, assignment: InstanceAssignment, item: int) -> None:
    """Take an item out of the instance that holds it; `held_by` still names that instance."""
    source = assignment.held_by[item]
    remove(assignment.head, assignment.following, assignment.previous, item, source)
    assignment.people[source] -= problem.people[item]


@kernel
def count_again(problem: Problem, assignment: InstanceAssignment, number: int) -> None:
    """Set the people of an instance to the exact count of distinct people."""
    if problem.shared.size > 0:
        assignment.people[number] = people_of_list(
            assignment.head[number], assignment.following, problem.own, problem.shared_start, problem.shared,
            problem.stamps, problem.last_stamp,
        )  # fmt: skip


@kernel
def limit_of(problem: Problem, number: int) -> int:
    """Return how many people an open instance needs."""
    return int(problem.limits[1] if number == problem.cost.size - 1 else problem.limits[0])
