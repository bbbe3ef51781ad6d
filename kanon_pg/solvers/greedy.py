"""The greedy heuristic of Bredereck, Nichterlein and Niedermeier (2013), Algorithm 1, on row types.

References
----------
R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity", Algorithms 6 (2013),
678-701, Algorithm 1 and Theorem 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.compiled import kernel
from kanon_pg.core.row_types import RowTypeTable
from kanon_pg.solvers.clock import Clock
from kanon_pg.solvers.scan import count_shared, filter_candidates, group_candidates, update_keys

UNASSIGNED = -1
_WORK_PER_STEP = 20_000_000


class Scan:
    """Working arrays of a scan over pattern vectors.

    Parameters
    ----------
    table : RowTypeTable
    """

    def __init__(self, table: RowTypeTable) -> None:
        count = len(table)
        self.table = table
        self.hashes = table.hashes.copy()
        self.keys = self.hashes.sum(axis=0, dtype=np.uint64)
        self.people = table.people.copy()
        self.index = np.arange(count, dtype=np.int32)
        self.alive = np.ones(count, dtype=np.bool_)
        self.counters = np.zeros(1 << 22 if count > 1 << 21 else max(1 << 10, 4 * count), dtype=np.uint16)
        self.candidates = np.empty(count, dtype=np.int32)
        self.group_of = np.empty(count, dtype=np.int32)
        table_size = 1 << max(4, (2 * count - 1).bit_length())
        self.table_keys = np.empty(table_size, dtype=np.uint64)
        self.table_groups = np.empty(table_size, dtype=np.int32)
        self.stamps = np.zeros(table.shared_total + 1, dtype=np.int64)
        # Places in the arrays in use, living row types among them, vector of `keys`, last stamp.
        self.state = np.array([count, count, 0, 0], dtype=np.int64)


@kernel
def _exact_sizes(
    candidates: NDArray[np.int32],
    found: int,
    group_of: NDArray[np.int32],
    sizes: NDArray[np.int64],
    k: int,
    index: NDArray[np.int32],
    start: NDArray[np.int64],
    shared: NDArray[np.int64],
    stamps: NDArray[np.int64],
    stamp: int,
) -> int:
    """Replace sums of people by counts of distinct people where a group could be too small."""
    groups = sizes.size
    first = np.zeros(groups + 1, dtype=np.int64)
    surplus = np.zeros(groups, dtype=np.int64)
    for position in range(found):
        item = index[candidates[position]]
        first[group_of[position] + 1] += 1
        surplus[group_of[position]] += start[item + 1] - start[item]
    for group in range(groups):
        first[group + 1] += first[group]
    members = np.empty(found, dtype=np.int32)
    place = first[:-1].copy()
    for position in range(found):
        group = group_of[position]
        members[place[group]] = index[candidates[position]]
        place[group] += 1
    for group in range(groups):
        own = sizes[group] - surplus[group]
        if own < k <= sizes[group]:
            stamp += 1
            inside = members[first[group] : first[group + 1]]
            sizes[group] = own + count_shared(inside, inside.size, start, shared, stamps, stamp)
    return stamp


@kernel
def _compact(
    hashes: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    people: NDArray[np.int64],
    index: NDArray[np.int32],
    alive: NDArray[np.bool_],
    length: int,
) -> int:
    """Close the gaps of dead items; return the new length."""
    for column in range(hashes.shape[0]):
        place = 0
        for item in range(length):
            if alive[item]:
                hashes[column, place] = hashes[column, item]
                place += 1
    place = 0
    for item in range(length):
        if alive[item]:
            keys[place] = keys[item]
            people[place] = people[item]
            index[place] = index[item]
            place += 1
    alive[:place] = True
    return place


@kernel
def _assign_range(
    vectors: NDArray[np.int64],
    order: NDArray[np.int64],
    begin: int,
    work: int,
    k: int,
    hashes: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    people: NDArray[np.int64],
    index: NDArray[np.int32],
    alive: NDArray[np.bool_],
    counters: NDArray[np.uint16],
    candidates: NDArray[np.int32],
    group_of: NDArray[np.int32],
    table_keys: NDArray[np.uint64],
    table_groups: NDArray[np.int32],
    start: NDArray[np.int64],
    shared: NDArray[np.int64],
    stamps: NDArray[np.int64],
    state: NDArray[np.int64],
    assigned: NDArray[np.int64],
) -> int:
    """Apply the vectors ``order[begin:]`` until the work is done; return where to go on."""
    length, living, current, stamp = state[0], state[1], state[2], state[3]
    turn = begin
    while turn < order.size and living > 0 and work > 0:
        vector = vectors[order[turn]]
        turn += 1
        work -= length
        update_keys(keys, hashes, length, current, vector)
        current = vector
        found = filter_candidates(keys, people, alive, length, k, counters, candidates)
        if found == 0:
            continue
        groups = group_candidates(keys, candidates, found, table_keys, table_groups, group_of)
        sizes = np.zeros(groups, dtype=np.int64)
        for position in range(found):
            sizes[group_of[position]] += people[candidates[position]]
        if shared.size:
            stamp = _exact_sizes(
                candidates, found, group_of, sizes, k, index, start, shared, stamps, stamp
            )
        for position in range(found):
            if sizes[group_of[position]] >= k:
                item = candidates[position]
                assigned[index[item]] = vector
                alive[item] = False
                living -= 1
        if 8 * living < 7 * length:
            length = _compact(hashes, keys, people, index, alive, length)
    if living == 0:
        turn = order.size
    state[0], state[1], state[2], state[3] = length, living, current, stamp
    return turn


def greedy(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    order: NDArray[np.int64],
    k: int,
    clock: Clock,
) -> NDArray[np.int64]:
    """Give every row type the first vector under which enough unassigned people agree.

    Parameters
    ----------
    table : RowTypeTable
    vectors : ndarray of int64, shape (p,)
        Pattern vectors; the fully suppressed one is among them.
    order : ndarray of int64, shape (p,)
        Positions of the vectors in the order of their turn, cheapest first.
    k : int
        Fewest distinct people per class.
    clock : Clock
        Reports progress and says when time is over.

    Returns
    -------
    ndarray of int64, shape (n,)
        Vector of each row type. Those that found no class are fully suppressed, however few they
        are; so are all that had no turn before time was over.

    Notes
    -----
    Factor-m approximation, asymptotically tight (Theorem 4); O(p n m) time, O(n m) memory. Classes
    depend on the content of the row types and the order of the vectors alone.
    """
    scan = Scan(table)
    assigned = np.full(len(table), UNASSIGNED, dtype=np.int64)
    turn = 0
    while turn < order.size:
        clock.report("greedy", turn / order.size)
        if clock.is_over():
            break
        turn = _assign_range(
            vectors, order, turn, _WORK_PER_STEP, k, scan.hashes, scan.keys, scan.people, scan.index,
            scan.alive, scan.counters, scan.candidates, scan.group_of, scan.table_keys, scan.table_groups,
            table.shared_start, table.shared_people, scan.stamps, scan.state, assigned,
        )  # fmt: skip
    assigned[assigned == UNASSIGNED] = (1 << table.width) - 1
    return assigned
