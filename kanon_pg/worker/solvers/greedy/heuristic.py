"""The greedy heuristic of Bredereck, Nichterlein and Niedermeier (2013), Algorithm 1, on row types.

What it leaves has the strict rule: the fully suppressed class has no people at all, or at least k.

References
----------
R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity", Algorithms 6 (2013),
678-701, Algorithm 1 and Theorem 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.classes import ClassTable, classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.patterns import suppression_costs
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


def fill_rest(table: RowTypeTable, assigned: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Move row types into a fully suppressed class of fewer than k people until it has k.

    Row types leave a class only if it keeps at least k people, or all of them leave. Cheapest first:
    single row types of classes with people to spare, or one whole class, whichever costs less.

    Parameters
    ----------
    table : RowTypeTable
        With at least k people in all.
    assigned : ndarray of int64, shape (n,)
        Every class but the fully suppressed one has at least k people.

    Returns
    -------
    ndarray of int64, shape (n,)
        An assignment in which every class has at least k people.

    Notes
    -----
    A heuristic: the cheapest way is a knapsack problem. O(n log n) per round; with an entity the people
    who join are counted exactly after each round, otherwise there is one round.
    """
    assigned = assigned.copy()
    full = (1 << table.width) - 1
    while (missing := _missing(table, assigned == full, k)) > 0:
        classes = classes_of(table, assigned)
        assigned[_cheapest_moves(table, assigned, classes, k, missing)] = full
    return assigned


def _missing(table: RowTypeTable, rest: NDArray[np.bool_], k: int) -> int:
    """Return how many people a class of some row types lacks, 0 if it is empty."""
    if not rest.any():
        return 0
    shared = table.shared_people[np.repeat(rest, np.diff(table.shared_start))]
    return k - int(table.own[rest].sum()) - np.unique(shared).size


def _cheapest_moves(
    table: RowTypeTable, assigned: NDArray[np.int64], classes: ClassTable, k: int, missing: int
) -> NDArray[np.intp]:
    """Return the row types to move: at least one, enough of them if that is certain."""
    full = (1 << table.width) - 1
    everything = float(table.weights.sum())
    dearer = (everything - suppression_costs(assigned, table.weights)) * table.rows
    class_cost = np.bincount(classes.class_of, weights=dearer, minlength=len(classes))
    class_gain = np.bincount(classes.class_of, weights=table.own, minlength=len(classes))
    class_cost[classes.vectors == full] = np.inf
    enough = np.flatnonzero((class_gain >= missing) & np.isfinite(class_cost))
    single = _spare_row_types(table, classes, dearer, k, missing, assigned != full)
    best = enough[np.argmin(class_cost[enough])] if enough.size else -1
    if single.size and (best < 0 or dearer[single].sum() <= class_cost[best]):
        return single
    if best < 0:
        best = int(np.argmin(class_cost / np.maximum(class_gain, 1.0)))
    return np.flatnonzero(classes.class_of == best)


def _spare_row_types(
    table: RowTypeTable,
    classes: ClassTable,
    dearer: NDArray[np.float64],
    k: int,
    missing: int,
    movable: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Choose row types that their classes can spare; empty if they do not suffice."""
    spare = classes.people - k
    candidates = np.flatnonzero(movable & (table.own > 0) & (table.people <= spare[classes.class_of]))
    gain = np.minimum(table.own[candidates], missing)
    # The last tie is broken by content, not by position.
    content = table.hashes[:, candidates].sum(axis=0, dtype=np.uint64)
    order = np.lexsort((content, dearer[candidates], dearer[candidates] / gain))
    chosen: list[int] = []
    for item in candidates[order]:
        if missing <= 0:
            break
        if table.people[item] <= spare[classes.class_of[item]]:
            spare[classes.class_of[item]] -= table.people[item]
            missing -= int(table.own[item])
            chosen.append(int(item))
    if missing > 0:
        return np.empty(0, dtype=np.intp)
    return _without_superfluous(np.array(chosen, dtype=np.intp), table.own, dearer, -missing)


def _without_superfluous(
    chosen: NDArray[np.intp], own: NDArray[np.int64], dearer: NDArray[np.float64], surplus: int
) -> NDArray[np.intp]:
    """Drop the dearest row types that are not needed after all."""
    keep = np.ones(chosen.size, dtype=np.bool_)
    for place in np.argsort(-dearer[chosen], kind="stable"):
        if own[chosen[place]] <= surplus:
            surplus -= int(own[chosen[place]])
            keep[place] = False
    return chosen[keep]
