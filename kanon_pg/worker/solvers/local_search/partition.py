"""Classes as linked lists of row types, so that row types can change class in constant time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.models.class_counts import ClassCounts, ModelEvaluator, counts_for
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.scan import count_shared

NOBODY = -1
"""End of a list of members."""


class Members(NamedTuple):
    """Row types: their multiplicities and the people they share with others."""

    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    own: NDArray[np.int64]
    start: NDArray[np.int64]
    shared: NDArray[np.int64]
    stamps: NDArray[np.int64]
    last_stamp: NDArray[np.int64]


class Partition(NamedTuple):
    """Classes and who is in them; all arrays change in place.

    The first five arrays are per class (with room for new ones), the rest per row type; `used` holds
    the number of class numbers given out. A class without people is dissolved and never used again.
    """

    vector: NDArray[np.int64]
    cost: NDArray[np.float64]
    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    size: NDArray[np.int32]
    head: NDArray[np.int32]
    following: NDArray[np.int32]
    previous: NDArray[np.int32]
    class_of: NDArray[np.int32]
    item_cost: NDArray[np.float64]
    used: NDArray[np.int64]


def members_of(table: RowTypeTable, order: NDArray[np.intp]) -> Members:
    """Return what the kernels need to know of the row types, in some order."""
    lengths = np.diff(table.shared_start)[order]
    start = np.zeros(len(table) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    places = np.repeat(table.shared_start[:-1][order] - start[:-1], lengths) + np.arange(start[-1])
    return Members(
        table.rows[order], table.people[order], table.own[order], start, table.shared_people[places],
        np.zeros(table.shared_total + 1, dtype=np.int64), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


def partition_of(table: RowTypeTable, assigned: NDArray[np.int64], order: NDArray[np.intp]) -> Partition:
    """Return the classes of an assignment as linked lists of row types in some order.

    There is room for as many new classes as there are row types.
    """
    classes = classes_of(table, assigned)
    room = len(classes) + len(table)
    vector = np.zeros(room, dtype=np.int64)
    vector[: len(classes)] = classes.vectors
    rows, people = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    rows[: len(classes)], people[: len(classes)] = classes.rows, classes.people
    parts = Partition(
        vector, suppression_costs(vector, table.weights), rows, people,
        np.zeros(room, dtype=np.int32), np.full(room, NOBODY, dtype=np.int32),
        np.full(len(table), NOBODY, dtype=np.int32), np.full(len(table), NOBODY, dtype=np.int32),
        classes.class_of[order].astype(np.int32), suppression_costs(assigned[order], table.weights),
        np.array([len(classes)], dtype=np.int64),
    )  # fmt: skip
    _link(parts)
    return parts


@kernel
def _link(parts: Partition) -> None:
    for item in range(parts.class_of.size - 1, -1, -1):
        push(parts.head, parts.following, parts.previous, item, parts.class_of[item])
        parts.size[parts.class_of[item]] += 1


@inner_kernel
def push(
    head: NDArray[np.int32],
    following: NDArray[np.int32],
    previous: NDArray[np.int32],
    item: int,
    into: int,
) -> None:
    """Put an item that is in no list first into one of some doubly linked lists."""
    first = head[into]
    following[item] = first
    previous[item] = NOBODY
    if first != NOBODY:
        previous[first] = item
    head[into] = item


@inner_kernel
def remove(
    head: NDArray[np.int32],
    following: NDArray[np.int32],
    previous: NDArray[np.int32],
    item: int,
    source: int,
) -> None:
    """Take an item out of the list that it is in."""
    before, after = previous[item], following[item]
    if before == NOBODY:
        head[source] = after
    else:
        following[before] = after
    if after != NOBODY:
        previous[after] = before


@inner_kernel
def move(parts: Partition, members: Members, item: int, into: int) -> None:
    """Move a row type to another class; people are added and subtracted as if nobody were shared."""
    source = parts.class_of[item]
    remove(parts.head, parts.following, parts.previous, item, source)
    parts.size[source] -= 1
    parts.rows[source] -= members.rows[item]
    parts.people[source] -= members.people[item]
    push(parts.head, parts.following, parts.previous, item, into)
    parts.size[into] += 1
    parts.class_of[item] = into
    parts.item_cost[item] = parts.cost[into]
    parts.rows[into] += members.rows[item]
    parts.people[into] += members.people[item]


@inner_kernel
def recount_people(parts: Partition, members: Members, number: int) -> None:
    """Set the people of a class to the exact count of distinct people."""
    if members.shared.size > 0:
        parts.people[number] = people_of_list(
            parts.head[number], parts.following, members.own, members.start, members.shared, members.stamps,
            members.last_stamp,
        )  # fmt: skip


@inner_kernel
def people_of_list(
    head: int,
    following: NDArray[np.int32],
    own: NDArray[np.int64],
    start: NDArray[np.int64],
    shared: NDArray[np.int64],
    stamps: NDArray[np.int64],
    last_stamp: NDArray[np.int64],
) -> int:
    """Count the distinct people of the row types of a list."""
    last_stamp[0] += 1
    stamp = last_stamp[0]
    people = 0
    item = head
    while item != NOBODY:
        people += own[item]
        for place in range(start[item], start[item + 1]):
            person = shared[place]
            if stamps[person] != stamp:
                stamps[person] = stamp
                people += 1
        item = following[item]
    return people


@inner_kernel
def open_class(parts: Partition, vector: int, cost: float) -> int:
    """Give out the number of a new, empty class."""
    number = int(parts.used[0])
    parts.used[0] += 1
    parts.vector[number] = vector
    parts.cost[number] = cost
    return number


@kernel
def distinct_people(members: Members, items: NDArray[np.int32], length: int) -> int:
    """Count the distinct people of some row types."""
    people = 0
    for position in range(length):
        people += members.own[items[position]]
    if members.shared.size:
        members.last_stamp[0] += 1
        people += count_shared(
            items, length, members.start, members.shared, members.stamps, members.last_stamp[0]
        )
    return people


class MoveBuffers(NamedTuple):
    """Working arrays of moves: per class (`seen` to `touched`), per row type, and stamps.

    Row types of the move's group have the stamp in `item_seen`, those that join its class in `joins`;
    `together` and `left` list row types, `counts` has what is counted of the class; ``evaluated[0]`` adds up
    the row types of classes on which privacy models were evaluated; ``most[0]`` is how far
    `ModelEvaluator.work` may come before a move is given up.
    """

    seen: NDArray[np.int64]
    inside_items: NDArray[np.int32]
    inside_people: NDArray[np.int64]
    inside_rows: NDArray[np.int64]
    allowance: NDArray[np.int64]
    broken: NDArray[np.int64]
    touched: NDArray[np.int32]
    item_seen: NDArray[np.int64]
    taken: NDArray[np.int32]
    joins: NDArray[np.int64]
    together: NDArray[np.int32]
    left: NDArray[np.int32]
    counts: ClassCounts
    stamp: NDArray[np.int64]
    evaluated: NDArray[np.int64]
    most: NDArray[np.int64]


def scratch_for(parts: Partition, models: ModelEvaluator | None) -> MoveBuffers:
    """Return working arrays for a partition."""
    room, count = parts.vector.size, parts.class_of.size
    lists = count if models is not None else 0
    sizes = (0, 0) if models is None else (models.codes.shape[0], int(models.first[-1]))
    return MoveBuffers(
        np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64),
        np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int32),
        np.zeros(lists, dtype=np.int64), np.zeros(lists, dtype=np.int32), np.zeros(lists, dtype=np.int32),
        counts_for(*sizes), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip
