"""The greedy heuristic of Bredereck, Nichterlein and Niedermeier (2013), Algorithm 1, on row types.

References
----------
R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity", Algorithms 6 (2013),
678-701, Algorithm 1 and Theorem 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.scan import (
    Grouping,
    Living,
    count_shared,
    counters_for,
    filter_living,
    group_candidates,
    grouping_for,
    list_groups,
    update_keys,
)

UNASSIGNED = -1
"""Vector of row types that have not found a class yet."""

_WORK_PER_STEP = 20_000_000


class Shared(NamedTuple):
    """People that occur in more than one row type: incidence, stamps of who was counted, last stamp."""

    start: NDArray[np.int64]
    people: NDArray[np.int64]
    stamps: NDArray[np.int64]
    last: NDArray[np.int64]


class Scan(NamedTuple):
    """Everything a scan over the pattern vectors works on.

    `state` holds the places of `living` in use, the living items among them, and the vector that the
    keys stand for.
    """

    living: Living
    grouping: Grouping
    counters: NDArray[np.uint16]
    shared: Shared
    state: NDArray[np.int64]


def scan_of(table: RowTypeTable) -> Scan:
    """Return working arrays in which all row types are to be assigned."""
    count = len(table)
    living = Living(
        table.hashes.copy(),
        table.hashes.sum(axis=0, dtype=np.uint64),
        table.people.copy(),
        np.arange(count, dtype=np.int32),
        np.ones(count, dtype=np.bool_),
    )
    stamps = np.zeros(table.shared_total + 1, dtype=np.int64)
    shared = Shared(table.shared_start, table.shared_people, stamps, np.zeros(1, dtype=np.int64))
    state = np.array([count, count, 0], dtype=np.int64)
    return Scan(living, grouping_for(count), counters_for(count), shared, state)


@kernel
def group_sizes(scan: Scan, found: int, groups: int, k: int) -> NDArray[np.int64]:
    """Count the people of each group of candidates; exactly where that decides whether there are k."""
    living, grouping, shared = scan.living, scan.grouping, scan.shared
    sizes = np.zeros(groups, dtype=np.int64)
    for position in range(found):
        sizes[grouping.group_of[position]] += living.people[grouping.candidates[position]]
    if shared.people.size == 0:
        return sizes
    first = list_groups(grouping, found, groups)
    for group in range(groups):
        if sizes[group] < k:
            continue
        items = living.numbers[grouping.members[first[group] : first[group + 1]]]
        entries = 0
        for item in items:
            entries += shared.start[item + 1] - shared.start[item]
        own = sizes[group] - entries
        if own < k:
            shared.last[0] += 1
            sizes[group] = own + count_shared(
                items, items.size, shared.start, shared.people, shared.stamps, shared.last[0]
            )
    return sizes


@kernel
def compact(living: Living, length: int) -> int:
    """Close the gaps that assigned items left; return the new length."""
    hashes, alive = living.hashes, living.alive
    for column in range(hashes.shape[0]):
        place = 0
        for item in range(length):
            if alive[item]:
                hashes[column, place] = hashes[column, item]
                place += 1
    place = 0
    for item in range(length):
        if alive[item]:
            living.keys[place] = living.keys[item]
            living.people[place] = living.people[item]
            living.numbers[place] = living.numbers[item]
            place += 1
    alive[:place] = True
    return place


@kernel
def _assign_range(
    scan: Scan, vectors: NDArray[np.int64], begin: int, work: int, k: int, assigned: NDArray[np.int64]
) -> int:
    """Apply the vectors from `begin` on until they end or the work is done; return where to go on."""
    living, grouping = scan.living, scan.grouping
    length, left, current = scan.state[0], scan.state[1], scan.state[2]
    turn = begin
    while turn < vectors.size and left > 0 and work > 0:
        vector = vectors[turn]
        turn += 1
        work -= length
        update_keys(living.keys, living.hashes, length, current, vector)
        current = vector
        found = filter_living(living, length, k, scan.counters, grouping.candidates)
        if found == 0:
            continue
        groups = group_candidates(living.keys, found, grouping)
        sizes = group_sizes(scan, found, groups, k)
        for position in range(found):
            if sizes[grouping.group_of[position]] >= k:
                item = grouping.candidates[position]
                assigned[living.numbers[item]] = vector
                living.alive[item] = False
                left -= 1
        if 8 * left < 7 * length:
            length = compact(living, length)
    scan.state[0], scan.state[1], scan.state[2] = length, left, current
    return turn if left > 0 else vectors.size


def greedy(table: RowTypeTable, vectors: NDArray[np.int64], k: int, clock: Clock) -> NDArray[np.int64]:
    """Give every row type the first vector under which enough unassigned people agree.

    Parameters
    ----------
    table : RowTypeTable
    vectors : ndarray of int64, shape (p,)
        Pattern vectors in the order of their turn, cheapest first.
    k : int
        Fewest distinct people per class.
    clock : Clock
        Progress is reported to it; its end is ignored, since this is the first solution.

    Returns
    -------
    ndarray of int64, shape (n,)
        Vector of each row type. Those that found no class are fully suppressed, however few they
        are.

    Notes
    -----
    Factor-m approximation, asymptotically tight (Theorem 4); O(p n m) time, O(n m) memory. Classes
    depend on the content of the row types and the order of the vectors alone.
    """
    scan = scan_of(table)
    assigned = np.full(len(table), UNASSIGNED, dtype=np.int64)
    turn = 0
    while turn < vectors.size:
        clock.report("greedy", turn / vectors.size)
        turn = _assign_range(scan, vectors, turn, _WORK_PER_STEP, k, assigned)
    assigned[assigned == UNASSIGNED] = (1 << table.width) - 1
    return assigned
