"""Kernels that find where the local search may open or enlarge a class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.greedy.scan import (
    Grouping,
    Marks,
    filter_bits,
    filter_marked,
    group_candidates,
    grouping_for,
    list_groups,
    marks_for,
    update_keys,
)
from kanon_pg.worker.solvers.local_search.moves import TOLERANCE, try_class
from kanon_pg.worker.solvers.local_search.partition import NOBODY, Members, Partition
from kanon_pg.worker.solvers.local_search.scratch import Scratch, scratch_for
from kanon_pg.worker.solvers.local_search.shortlist import may_leave, shortlist

_KEYS_PER_WORK = 4
_WORK_PER_FOUND = 5
_WORK_PER_TRIED = 10
_WORK_PER_GROUP = 500


class Sweep(NamedTuple):
    """Everything a sweep over the pattern vectors works on.

    Row types are ordered by falling cost at the start of the sweep. No class below the cost `reach` of a
    row type can hold it. The first ``state[1]`` items of `active` are those that a class of cost
    ``level[0]`` can hold, in order; `elsewhere` names another open class that a row type fits into, or
    `NOBODY`; `stuck` counts the row types of each class without one, at the start of the sweep;
    ``state[0]`` is the vector of `keys`.
    """

    parts: Partition
    members: Members
    scratch: Scratch
    grouping: Grouping
    hashes: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    reach: NDArray[np.float64]
    marks: Marks
    elsewhere: NDArray[np.int32]
    stuck: NDArray[np.int32]
    active: NDArray[np.int32]
    level: NDArray[np.float64]
    state: NDArray[np.int64]


def sweep_of(
    parts: Partition, members: Members, hashes: NDArray[np.uint64], reach: NDArray[np.float64]
) -> Sweep:
    """Return the working arrays of a sweep; nothing is known of places elsewhere yet."""
    count = members.rows.size
    return Sweep(
        parts, members, scratch_for(parts), grouping_for(count), hashes, hashes.sum(axis=0, dtype=np.uint64),
        reach, marks_for(count), np.full(count, NOBODY, dtype=np.int32),
        np.zeros(parts.vector.size, dtype=np.int32), np.zeros(count, dtype=np.int32), np.full(1, -1.0),
        np.zeros(2, dtype=np.int64),
    )  # fmt: skip


@kernel
def _rise_to(sweep: Sweep, cost: float) -> None:
    """List the row types that a class of this cost can hold."""
    if cost <= sweep.level[0] or sweep.state[1] == sweep.active.size:
        return
    count = 0
    for item in range(sweep.active.size):
        sweep.active[count] = item
        count += int(sweep.reach[item] <= cost + TOLERANCE)
    sweep.level[0], sweep.state[1] = cost, count


@kernel
def _gainers(sweep: Sweep, cost: float, k: int) -> int:
    """List the row types that pay more than `cost` and that their class may do without or be broken for."""
    item_cost, class_of, people = sweep.parts.item_cost, sweep.parts.class_of, sweep.members.people
    class_people, stuck, gainers = sweep.parts.people, sweep.stuck, sweep.grouping.candidates
    dearer = 0
    for item in sweep.active[: sweep.state[1]]:
        gainers[dearer] = item
        dearer += int(item_cost[item] > cost + TOLERANCE)
    found = 0
    for position in range(dearer):
        item = gainers[position]
        number = class_of[item]
        gainers[found] = item
        found += int(may_leave(class_people[number] - k, people[item], stuck[number]))
    return found


@kernel
def _promising(sweep: Sweep, cost: float, k: int) -> int:
    """List the row types in classes that may reach k people and somebody would gain from."""
    _rise_to(sweep, cost)
    found = _gainers(sweep, cost, k)
    if found == 0:
        return 0
    keys, marked, candidates = sweep.keys, sweep.marks.marked, sweep.grouping.candidates
    bits = filter_bits(found)
    shift = np.uint64(64 - bits)
    marked[: 1 << bits] = 0
    for item in candidates[:found]:
        marked[np.int64(keys[item] >> shift)] = 1
    active = sweep.active[: sweep.state[1]]
    return filter_marked(keys, sweep.members.people, k, sweep.marks, bits, active, candidates)


@kernel
def _try_groups(sweep: Sweep, found: int, groups: int, vector: int, cost: float, k: int) -> float:
    """Try to open or enlarge the class of each group of candidates; return the gain."""
    parts, members, scratch, elsewhere = sweep.parts, sweep.members, sweep.scratch, sweep.elsewhere
    first = list_groups(sweep.grouping, found, groups)
    gained = 0.0
    for group in range(groups):
        items = sweep.grouping.members[first[group] : first[group + 1]]
        if items.size > 1:
            gained += try_class(items, vector, cost, k, parts, members, scratch, elsewhere)
    return gained


@kernel
def sweep_range(
    sweep: Sweep, vectors: NDArray[np.int64], costs: NDArray[np.float64], begin: int, work: int, k: int
) -> tuple[int, int, float]:
    """Try to open or enlarge classes under the vectors from `begin` on, until the work is done.

    Returns
    -------
    turn : int
        Where to go on.
    work : int
        What is left of the work: row types looked at, where those that are grouped or tried count for as
        many as can be looked at in the same time.
    gained : float
        By how much the cost has become lower.
    """
    turn = begin
    gained = 0.0
    while turn < vectors.size and work > 0:
        vector, cost = vectors[turn], costs[turn]
        update_keys(sweep.keys, sweep.hashes, sweep.keys.size, sweep.state[0], vector)
        sweep.state[0] = vector
        found = _promising(sweep, cost, k)
        work -= sweep.keys.size // _KEYS_PER_WORK + sweep.state[1] + _WORK_PER_FOUND * found
        turn += 1
        if found == 0:
            continue
        groups = group_candidates(sweep.keys, found, sweep.grouping)
        if sweep.parts.used[0] + groups > sweep.parts.vector.size:
            return vectors.size, work, gained
        found, groups = shortlist(
            sweep.grouping, found, groups, vector, cost, k, sweep.parts, sweep.members, sweep.stuck
        )
        work -= _WORK_PER_TRIED * found + _WORK_PER_GROUP * groups
        gained += _try_groups(sweep, found, groups, vector, cost, k)
    return turn, work, gained
