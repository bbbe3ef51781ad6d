"""Kernels that strike out, on a few numbers, the groups that no move of the local search can gain from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.greedy.scan import Grouping
from kanon_pg.worker.solvers.local_search.moves import TOLERANCE
from kanon_pg.worker.solvers.local_search.partition import Members, Partition

_MOST_STUCK = 1


@kernel
def may_leave(spare: int, people: int, stuck: int) -> bool:
    """Return whether a class can spare some people, or be broken as hardly anybody has no other place.

    A class that keeps several row types with no other place could still come as a whole. That is so rare
    that looking for it does not pay: on Adult it changed no result by more than 4 cells of 38,848.
    """
    return bool((spare >= people) | (stuck <= _MOST_STUCK))


@kernel
def _gains(
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
            if may_leave(class_people[number] - k, people[item], stuck[number]):
                gain[group] += more * rows[item]
                missing[group] -= people[item]
    return gain


@kernel
def _losses(
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
    """Return the least that one more person costs each group that needs somebody, and how many may come."""
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
def _keep(
    grouping: Grouping,
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
def shortlist(
    grouping: Grouping,
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
    grouping : Grouping
        Changed in place: only kept candidates and groups remain, in their order.
    found, groups : int
        Candidates and groups.
    vector, cost : int, float
        The vector under which the groups agree, and the cost of one row under it.
    k : int
    parts, members
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
    gain = _gains(found, group_of, candidates, cost, k, parts, members, stuck, missing)
    least, available = _losses(
        found, group_of, candidates, length, vector, cost, k, parts, members, gain, missing
    )
    return _keep(grouping, found, gain, missing, least, available)
