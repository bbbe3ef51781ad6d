"""Kernels that find where the local search may open or enlarge a class.

For each pattern vector row types that agree are grouped, as far as their class may reach k people and
a row type gains from it. Most groups are then struck out on a few numbers, because no move can gain from
them; the others are tried (`kanon_pg.worker.solvers.local_search.moves`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.class_counts import ModelEvaluator
from kanon_pg.worker.solvers.greedy.scan import (
    GroupingBuffers,
    KeyFilter,
    filter_around,
    group_candidates,
    grouping_for,
    key_filter_for,
    list_groups,
    update_keys,
)
from kanon_pg.worker.solvers.local_search.moves import TOLERANCE, MoveTask, has_to_stop, try_class
from kanon_pg.worker.solvers.local_search.partition import (
    NOBODY,
    Members,
    MoveBuffers,
    Partition,
    scratch_for,
)

_KEYS_PER_WORK = 4
_WORK_PER_FOUND = 5
_WORK_PER_TRIED = 10
_WORK_PER_GROUP = 500
_WORK_PER_EVALUATED = 4
"""What steps cost, in row types that can be looked at in the same time: keys that are updated, row types
grouped, tried, groups tried, row types of classes on which privacy models are evaluated."""


class Sweep(NamedTuple):
    """Everything a sweep over the pattern vectors works on.

    Row types are ordered by falling cost at the start of the sweep. No class below the cost `reach` of a
    row type can hold it. The first ``state[1]`` items of `active` are those that a class of cost
    ``level[0]`` can hold, in order; `elsewhere` names another open class that a row type fits into, or
    `NOBODY`; `stuck` counts the row types of each class without one, at the start of the sweep;
    ``state[0]`` is the vector of `keys`, and ``state[2]`` how many groups agree under it, of which
    ``state[3]`` is the next one and ``state[4]`` says whether it was given up because its move took too
    long; they begin in ``grouping.members`` where `first` says.
    """

    parts: Partition
    members: Members
    scratch: MoveBuffers
    grouping: GroupingBuffers
    hashes: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    reach: NDArray[np.float64]
    key_filter: KeyFilter
    elsewhere: NDArray[np.int32]
    stuck: NDArray[np.int32]
    active: NDArray[np.int32]
    level: NDArray[np.float64]
    first: NDArray[np.int64]
    state: NDArray[np.int64]

    @property
    def is_between_vectors(self) -> bool:
        """Whether no group waits for its turn."""
        return bool(self.state[_GROUP] == self.state[_GROUPS])

    @property
    def was_given_up(self) -> bool:
        """Whether the move of the next group took too long."""
        return bool(self.state[_GIVEN_UP])

    def pass_over(self) -> None:
        """Leave out the group that was given up."""
        self.state[_GROUP] += 1


_GROUPS, _GROUP, _GIVEN_UP = 2, 3, 4
"""Places in `Sweep.state`."""


def sweep_of(
    parts: Partition,
    members: Members,
    hashes: NDArray[np.uint64],
    reach: NDArray[np.float64],
    models: ModelEvaluator | None,
) -> Sweep:
    """Return the working arrays of a sweep; nothing is known of places elsewhere yet."""
    count = members.rows.size
    return Sweep(
        parts, members, scratch_for(parts, models), grouping_for(count), hashes,
        hashes.sum(axis=0, dtype=np.uint64), reach, key_filter_for(count),
        np.full(count, NOBODY, dtype=np.int32), np.zeros(parts.vector.size, dtype=np.int32),
        np.zeros(count, dtype=np.int32), np.full(1, -1.0), np.zeros(count + 1, dtype=np.int64),
        np.zeros(5, dtype=np.int64),
    )  # fmt: skip


_MOST_STUCK = 1
"""Row types without another place for whose sake a class is not broken, see `_may_be_left`."""


@kernel
def _may_be_left(spare: int, people: int, stuck: int) -> bool:
    """Return whether a class can spare some people, or be broken as its row types have other places.

    A class that keeps several row types with no other place could still come as a whole. That is so rare
    that looking for it does not pay: on Adult it changed no result by more than 4 cells of 38,848.
    """
    return bool((spare >= people) | (stuck <= _MOST_STUCK))


@kernel
def _group_gains(
    found: int,
    group_of: NDArray[np.int32],
    candidates: NDArray[np.int32],
    cost: float,
    k: int,
    parts: Partition,
    members: Members,
    stuck: NDArray[np.int32],
    missing: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return what each group may gain, and subtract those who gain from how many people it is missing."""
    gain = np.zeros(missing.size, dtype=np.float64)
    item_cost, class_of, class_people = parts.item_cost, parts.class_of, parts.people
    rows, people = members.rows, members.people
    for position in range(found):
        item = candidates[position]
        more = item_cost[item] - cost
        if more > TOLERANCE:
            group, number = group_of[position], class_of[item]
            if _may_be_left(class_people[number] - k, people[item], stuck[number]):
                gain[group] += more * rows[item]
                missing[group] -= people[item]
    return gain


@kernel
def _group_losses(
    found: int,
    group_of: NDArray[np.int32],
    candidates: NDArray[np.int32],
    length: NDArray[np.int32],
    vector: int,
    cost: float,
    k: int,
    parts: Partition,
    members: Members,
    gain: NDArray[np.float64],
    missing: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the least that one more person costs each group that needs people, and how many may come."""
    available = np.zeros(length.size, dtype=np.int64)
    least = np.full(length.size, np.inf)
    item_cost, class_of, class_vector = parts.item_cost, parts.class_of, parts.vector
    class_people, class_size, people = parts.people, parts.size, members.people
    for position in range(found):
        group = group_of[position]
        if gain[group] <= TOLERANCE or missing[group] <= 0:
            continue
        item = candidates[position]
        loss = cost - item_cost[item]
        if loss < -TOLERANCE:
            continue
        number = class_of[item]
        if class_vector[number] == vector:
            least[group], available[group] = 0.0, k
        elif class_people[number] - k >= people[item] or class_size[number] <= length[group]:
            least[group] = min(least[group], max(loss, 0.0))
            available[group] += people[item]
    return least, available


@kernel
def _keep_groups(
    grouping: GroupingBuffers,
    found: int,
    gain: NDArray[np.float64],
    missing: NDArray[np.int64],
    least: NDArray[np.float64],
    available: NDArray[np.int64],
) -> tuple[int, int]:
    """Keep the groups whose gain may exceed the losses; return how many candidates and groups remain."""
    candidates, group_of = grouping.candidates, grouping.group_of
    number = np.full(gain.size, -1, dtype=np.int32)
    kept_groups = 0
    for group in range(gain.size):
        enough = missing[group] <= available[group] and missing[group] * least[group] < gain[group]
        if gain[group] > TOLERANCE and (missing[group] <= 0 or enough):
            number[group] = kept_groups
            kept_groups += 1
    kept = 0
    for position in range(found):
        candidates[kept], group_of[kept] = candidates[position], number[group_of[position]]
        kept += int(group_of[kept] >= 0)
    return kept, kept_groups


@kernel
def _shortlist(
    grouping: GroupingBuffers,
    found: int,
    groups: int,
    vector: int,
    cost: float,
    k: int,
    parts: Partition,
    members: Members,
    stuck: NDArray[np.int32],
) -> tuple[int, int]:
    """Keep the groups whose gains may exceed what it costs to fill up to k people.

    A row type gains if its class costs more and may do without it or be broken for it. If those who gain
    are fewer than k people, each of the others costs at least what the cheapest one of them loses; where
    the group has a class under the vector already, that is nothing.

    Parameters
    ----------
    grouping : GroupingBuffers
        Changed in place: only kept candidates and groups remain, in their order.
    vector, cost : int, float
        The vector under which the groups agree, and the cost of one row under it.
    stuck : ndarray of int32
        How many row types of each class fit into no other open class.

    Returns
    -------
    found, groups : int
        Kept candidates and groups.
    """
    candidates, group_of = grouping.candidates, grouping.group_of
    length = np.zeros(groups, dtype=np.int32)
    for position in range(found):
        length[group_of[position]] += 1
    missing = np.full(groups, k, dtype=np.int64)
    gain = _group_gains(found, group_of, candidates, cost, k, parts, members, stuck, missing)
    least, available = _group_losses(
        found, group_of, candidates, length, vector, cost, k, parts, members, gain, missing
    )
    return _keep_groups(grouping, found, gain, missing, least, available)


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
    costlier = 0
    for item in sweep.active[: sweep.state[1]]:
        gainers[costlier] = item
        costlier += int(item_cost[item] > cost + TOLERANCE)
    found = 0
    for position in range(costlier):
        item = gainers[position]
        number = class_of[item]
        gainers[found] = item
        found += int(_may_be_left(class_people[number] - k, people[item], stuck[number]))
    return found


@kernel
def _promising(sweep: Sweep, cost: float, k: int) -> int:
    """List the row types in classes that may reach k people and some row type would gain from."""
    _rise_to(sweep, cost)
    found = _gainers(sweep, cost, k)
    if found == 0:
        return 0
    candidates, active = sweep.grouping.candidates, sweep.active[: sweep.state[1]]
    return filter_around(
        sweep.keys, sweep.members.people, k, sweep.key_filter, candidates[:found], active, candidates
    )


@kernel
def _try_groups(
    sweep: Sweep, vector: int, cost: float, k: int, models: ModelEvaluator | None, patience: int
) -> float:
    """Try to open or enlarge the class of each group of candidates; return the gain.

    Under privacy models it ends early after some work of theirs, and where a single move takes more.
    """
    scratch, first, state = sweep.scratch, sweep.first, sweep.state
    task = MoveTask(k, sweep.parts, sweep.members, scratch, sweep.elsewhere)
    gained = 0.0
    end = np.int64(0)
    state[_GIVEN_UP] = 0
    if models is not None:
        end = models.work[0] + patience
    while state[_GROUP] < state[_GROUPS]:
        items = sweep.grouping.members[first[state[_GROUP]] : first[state[_GROUP] + 1]]
        if items.size > 1:
            before = scratch.evaluated[0]
            if models is not None:
                if models.work[0] >= end:
                    return gained
                scratch.most[0] = models.work[0] + patience
            gained += try_class(task, models, items, vector, cost)
            if has_to_stop(models, scratch):
                scratch.evaluated[0] = before  # it counts when the move is tried again
                state[_GIVEN_UP] = 1
                return gained
        state[_GROUP] += 1
    return gained


@kernel
def sweep_range(
    sweep: Sweep,
    vectors: NDArray[np.int64],
    costs: NDArray[np.float64],
    begin: int,
    work: int,
    k: int,
    models: ModelEvaluator | None,
    patience: int,
) -> tuple[int, int, float]:
    """Try to open or enlarge classes under the vectors from `begin` on, until the work is done.

    Parameters
    ----------
    work : int
        Row types that may be looked at; a vector is finished all the same.
    patience : int
        Work of the privacy models (`ModelEvaluator.work`) after which it ends, also between two groups of a
        vector. A move that takes more by itself is given up, see `Sweep.was_given_up`: it can be tried again
        with more patience.

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
    state = sweep.state
    turn = begin
    gained = 0.0
    while turn < vectors.size and (work > 0 or state[_GROUP] < state[_GROUPS]):
        vector, cost = vectors[turn], costs[turn]
        if state[_GROUP] == state[_GROUPS]:
            update_keys(sweep.keys, sweep.hashes, sweep.keys.size, state[0], vector)
            state[0] = vector
            found = _promising(sweep, cost, k)
            work -= sweep.keys.size // _KEYS_PER_WORK + state[1] + _WORK_PER_FOUND * found
            if found == 0:
                turn += 1
                continue
            groups = group_candidates(sweep.keys, found, sweep.grouping)
            if sweep.parts.used[0] + groups > sweep.parts.vector.size:
                return vectors.size, work, gained
            found, groups = _shortlist(
                sweep.grouping, found, groups, vector, cost, k, sweep.parts, sweep.members, sweep.stuck
            )
            work -= _WORK_PER_TRIED * found + _WORK_PER_GROUP * groups
            sweep.first[: groups + 1] = list_groups(sweep.grouping, found, groups)
            state[_GROUPS], state[_GROUP] = groups, 0
        before = sweep.scratch.evaluated[0]
        gained += _try_groups(sweep, vector, cost, k, models, patience)
        work -= _WORK_PER_EVALUATED * (sweep.scratch.evaluated[0] - before)
        if state[_GROUP] < state[_GROUPS]:
            return turn, work, gained
        turn += 1
    return turn, work, gained
