"""Kernels that find where the local search may open or enlarge a class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.compiled import kernel
from kanon_pg.solvers.moves import TOLERANCE, try_class
from kanon_pg.solvers.partition import Members, Partition
from kanon_pg.solvers.scan import (
    Grouping,
    counters_for,
    filter_bits,
    filter_marked,
    group_candidates,
    grouping_for,
    list_groups,
    update_keys,
)
from kanon_pg.solvers.scratch import Scratch, scratch_for


class Sweep(NamedTuple):
    """Everything a sweep over the pattern vectors works on.

    Row types are ordered by falling cost at the start of the sweep (`first_cost`). `elsewhere` names
    another open class that a row type fits into, or `NOBODY`; `state` holds the vector of `keys`.
    """

    parts: Partition
    members: Members
    scratch: Scratch
    grouping: Grouping
    hashes: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    first_cost: NDArray[np.float64]
    has_dearer: NDArray[np.uint16]
    counters: NDArray[np.uint16]
    elsewhere: NDArray[np.int32]
    state: NDArray[np.int64]


def sweep_of(parts: Partition, members: Members, hashes: NDArray[np.uint64]) -> Sweep:
    """Return the working arrays of a sweep; nothing is known of places elsewhere yet."""
    count = members.rows.size
    return Sweep(
        parts, members, scratch_for(parts), grouping_for(count), hashes, hashes.sum(axis=0, dtype=np.uint64),
        parts.item_cost.copy(), counters_for(count), counters_for(count),
        np.full(count, -1, dtype=np.int32), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@kernel
def _dear_prefix(costs: NDArray[np.float64], cost: float) -> int:
    """Return how many of the falling costs are higher than `cost`."""
    low, high = 0, costs.size
    while low < high:
        middle = (low + high) // 2
        if costs[middle] > cost + TOLERANCE:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _promising(sweep: Sweep, cost: float, k: int) -> int:
    """List the row types in classes that may reach k people and somebody would gain from."""
    keys, item_cost, has_dearer = sweep.keys, sweep.parts.item_cost, sweep.has_dearer
    bits = filter_bits(keys.size)
    shift = np.uint64(64 - bits)
    has_dearer[: 1 << bits] = 0
    dearer = 0
    for item in range(_dear_prefix(sweep.first_cost, cost)):
        if item_cost[item] > cost + TOLERANCE:
            has_dearer[np.int64(keys[item] >> shift)] = 1
            dearer += 1
    if dearer == 0:
        return 0
    return filter_marked(keys, sweep.members.people, k, has_dearer, sweep.counters, sweep.grouping.candidates)


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
        What is left of the work; row types looked at, those in promising classes counted tenfold.
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
        work -= sweep.keys.size + 10 * found
        turn += 1
        if found == 0:
            continue
        groups = group_candidates(sweep.keys, found, sweep.grouping)
        if sweep.parts.used[0] + groups > sweep.parts.vector.size:
            return vectors.size, work, gained
        first = list_groups(sweep.grouping, found, groups)
        for group in range(groups):
            items = sweep.grouping.members[first[group] : first[group + 1]]
            if items.size > 1:
                gained += try_class(
                    items, vector, cost, k, sweep.parts, sweep.members, sweep.scratch, sweep.elsewhere
                )
    return turn, work, gained
