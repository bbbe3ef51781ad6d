"""Kernels that move row types between classes that are open anyway."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.greedy.scan import update_keys
from kanon_pg.worker.solvers.local_search.moves import TOLERANCE
from kanon_pg.worker.solvers.local_search.partition import NOBODY, Members, Partition, move, recount_people
from kanon_pg.worker.solvers.local_search.sweep import Sweep


class OpenClasses(NamedTuple):
    """The open classes by vector: those of ``vectors[i]`` are ``classes[first[i]:first[i + 1]]``."""

    vectors: NDArray[np.int64]
    first: NDArray[np.int64]
    classes: NDArray[np.int32]


def open_classes(parts: Partition) -> OpenClasses:
    """List the open classes by vector, cheapest vectors first."""
    numbers = np.flatnonzero(parts.size > 0)
    order = np.lexsort((numbers, parts.vector[numbers], parts.cost[numbers]))
    numbers = numbers[order]
    vectors = parts.vector[numbers]
    begins = np.flatnonzero(np.concatenate([[True], vectors[1:] != vectors[:-1]]))
    first = np.concatenate([begins, [numbers.size]]).astype(np.int64)
    return OpenClasses(vectors[begins], first, numbers.astype(np.int32))


@kernel
def _enter_classes(sweep: Sweep, classes: NDArray[np.int32]) -> np.uint64:
    """Fill the hash table with the keys of some classes; return the mask of its places."""
    table_keys, table_groups = sweep.grouping.table_keys, sweep.grouping.table_groups
    keys, head = sweep.keys, sweep.parts.head
    size = 16
    while size < 2 * classes.size:
        size *= 2
    mask = np.uint64(size - 1)
    table_groups[:size] = NOBODY
    for number in classes:
        key = keys[head[number]]
        place = np.int64(key & mask)
        while table_groups[place] != NOBODY:
            place = np.int64((np.uint64(place) + np.uint64(1)) & mask)
        table_keys[place] = key
        table_groups[place] = number
    return mask


@kernel
def find_elsewhere(
    sweep: Sweep, offered: OpenClasses, begin: int, work: int, waiting: NDArray[np.int32], count: int
) -> tuple[int, int, int]:
    """Find for each waiting row type the cheapest open class, other than its own, that it fits into.

    Returns
    -------
    turn : int
        Where to go on.
    count : int
        How many row types wait on; they come first in `waiting`.
    work : int
        What is left of the work; row types looked at.
    """
    table_keys, table_groups = sweep.grouping.table_keys, sweep.grouping.table_groups
    keys, class_of, elsewhere = sweep.keys, sweep.parts.class_of, sweep.elsewhere
    parts_cost = sweep.parts.cost
    turn = begin
    while turn < offered.vectors.size and work > 0 and count > 0:
        update_keys(keys, sweep.hashes, keys.size, sweep.state[0], offered.vectors[turn])
        sweep.state[0] = offered.vectors[turn]
        mask = _enter_classes(sweep, offered.classes[offered.first[turn] : offered.first[turn + 1]])
        cost = parts_cost[offered.classes[offered.first[turn]]]
        kept = 0
        for position in range(count):
            item = waiting[position]
            if sweep.reach[item] > cost + TOLERANCE:
                waiting[kept] = item
                kept += 1
                continue
            place = np.int64(keys[item] & mask)
            while table_groups[place] != NOBODY and table_keys[place] != keys[item]:
                place = np.int64((np.uint64(place) + np.uint64(1)) & mask)
            number = table_groups[place]
            if number != NOBODY and number != class_of[item]:
                elsewhere[item] = number
            else:
                waiting[kept] = item
                kept += 1
        work -= keys.size + count
        count = kept
        turn += 1
    return (turn if count > 0 else offered.vectors.size), count, work


@kernel
def count_stuck(sweep: Sweep) -> None:
    """Count the row types of each class that fit into no other open class."""
    for item in range(sweep.elsewhere.size):
        if sweep.elsewhere[item] == NOBODY:
            sweep.stuck[sweep.parts.class_of[item]] += 1


@kernel
def _dissolving_cost(number: int, parts: Partition, members: Members, elsewhere: NDArray[np.int32]) -> float:
    """Return by how much the cost rises if all row types of a class go elsewhere."""
    cost = 0.0
    item = parts.head[number]
    while item != NOBODY:
        other = elsewhere[item]
        if other in (NOBODY, number) or parts.size[other] == 0:
            return np.inf
        cost += members.rows[item] * (parts.cost[other] - parts.cost[number])
        item = parts.following[item]
    return cost


@kernel
def relocate(k: int, parts: Partition, members: Members, elsewhere: NDArray[np.int32]) -> float:
    """Move row types to cheaper open classes, whole classes or what a class can spare; return the gain."""
    gained = 0.0
    for number in range(parts.used[0]):
        if parts.size[number] == 0:
            continue
        dissolves = _dissolving_cost(number, parts, members, elsewhere) < -TOLERANCE
        item = parts.head[number]
        while item != NOBODY:
            after = parts.following[item]
            other = elsewhere[item]
            if other not in (NOBODY, number) and parts.size[other] > 0:
                gain = members.rows[item] * (parts.cost[number] - parts.cost[other])
                spare = parts.people[number] - k >= members.people[item]
                if dissolves or (gain > TOLERANCE and spare):
                    move(parts, members, item, other)
                    recount_people(parts, members, other)
                    recount_people(parts, members, number)
                    gained += gain
            item = after
    return gained
