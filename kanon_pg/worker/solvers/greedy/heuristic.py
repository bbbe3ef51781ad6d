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
from kanon_pg.worker.models.class_counts import ModelEvaluator, count_own, leave, people_of
from kanon_pg.worker.models.evaluator import is_class, surplus
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.scan import (
    GroupingBuffers,
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
_WORK_PER_VALUE = 3
"""Progress is reported, and the clock looked at, after so many row types looked at; what privacy models look
at (`ModelEvaluator.work`) counts for more. A step takes some hundredths of a second, and changes no result.
"""

_WORK_WHEN_LATE = 60_000_000
"""The same once time is over, in all: about 0.1 s, enough for most vectors of tables of some ten thousand row
types."""

MOST_ROUNDS = 64
"""Rounds after which a group is given up."""


class Shared(NamedTuple):
    """People that occur in more than one row type: incidence, stamps of who was counted, last stamp."""

    start: NDArray[np.int64]
    people: NDArray[np.int64]
    stamps: NDArray[np.int64]
    last: NDArray[np.int64]


class PatternScan(NamedTuple):
    """Everything a scan over the pattern vectors works on.

    `state` holds the places of `living` in use, the living items among them, the vector that the keys stand
    for, and, under privacy models, where the groups of this vector are left when a step ends: how many there
    are, the next one, how many of its row types stay, and after how many rounds of thinning out. `first` says
    where each group begins in ``grouping.members``, `people` how many it has.
    """

    living: Living
    grouping: GroupingBuffers
    counters: NDArray[np.uint16]
    shared: Shared
    first: NDArray[np.int64]
    people: NDArray[np.int64]
    state: NDArray[np.int64]


_LENGTH, _LEFT, _CURRENT, _GROUPS, _GROUP, _STAYING, _ROUND = range(7)
"""Places in `PatternScan.state`."""


def scan_of(table: RowTypeTable, *, has_models: bool) -> PatternScan:
    """Return working arrays in which all row types are to be assigned."""
    count = len(table)
    groups = count if has_models else 0
    living = Living(
        table.hashes.copy(),
        table.hashes.sum(axis=0, dtype=np.uint64),
        table.people.copy(),
        np.arange(count, dtype=np.int32),
        np.ones(count, dtype=np.bool_),
    )
    stamps = np.zeros(table.shared_total + 1, dtype=np.int64)
    shared = Shared(table.shared_start, table.shared_people, stamps, np.zeros(1, dtype=np.int64))
    state = np.array([count, count, 0, 0, 0, 0, 0], dtype=np.int64)
    return PatternScan(
        living, grouping_for(count), counters_for(count), shared, np.zeros(groups + 1, dtype=np.int64),
        np.zeros(groups, dtype=np.int64), state,
    )  # fmt: skip


@kernel
def group_sizes(scan: PatternScan, found: int, groups: int, k: int) -> NDArray[np.int64]:
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
def _leave_out(
    models: ModelEvaluator,
    column: int,
    value: int,
    rows: int,
    items: NDArray[np.int32],
    places: NDArray[np.int32],
) -> int:
    """Move row types with a value to the end until they have some rows; return how many others are left."""
    count = items.size
    models.work[0] += count
    for position in range(items.size - 1, -1, -1):
        if rows <= 0:
            break
        item = items[position]
        if models.first[column] + models.codes[column, item] == value:
            count -= 1
            items[position], items[count] = items[count], item
            places[position], places[count] = places[count], places[position]
            rows -= models.rows[item]
            leave(models, models.counts, item)
    return count


@kernel
def thin_once(
    models: ModelEvaluator, items: NDArray[np.int32], places: NDArray[np.int32], k: int, count: int
) -> int:
    """Leave row types out, those with the most excessive value, of the first `count` of a group.

    Parameters
    ----------
    items : ndarray of int32
        Row types of a group; those that stay come first afterwards.
    places : ndarray of int32
        Something of each row type that is put in the same order.
    k : int
        Fewest people that must stay.

    Returns
    -------
    int
        How many stay: as many as there were if they satisfy everything, 0 if the group is given up.

    Notes
    -----
    O(items s). What is left out counts in rows; people are checked at the end.
    """
    staying = count
    count_own(models, models.counts, items[:count])
    for column in range(models.codes.shape[0]):
        is_violated, value, rows = surplus(models, models.counts, column)
        if not is_violated:
            continue
        if rows == 0:
            return 0
        staying = _leave_out(models, column, value, rows, items[:staying], places[:staying])
        if staying == 0:
            return 0
    if people_of(models, items[:staying]) < k:
        return 0
    return staying if staying < count or is_class(models, items[:count], k) else 0


@kernel
def _assign_alike(
    scan: PatternScan, found: int, groups: int, vector: int, k: int, assigned: NDArray[np.int64]
) -> int:
    """Make classes of the groups that have k people; return how many row types are assigned."""
    living, grouping = scan.living, scan.grouping
    sizes = group_sizes(scan, found, groups, k)
    done = 0
    for position in range(found):
        if sizes[grouping.group_of[position]] >= k:
            item = grouping.candidates[position]
            assigned[living.numbers[item]] = vector
            living.alive[item] = False
            done += 1
    return done


@kernel
def _list_groups(scan: PatternScan, found: int, groups: int, k: int) -> None:
    """List the groups of candidates that are to be looked at under privacy models."""
    scan.people[:groups] = group_sizes(scan, found, groups, k)
    scan.first[: groups + 1] = list_groups(scan.grouping, found, groups)
    scan.state[_GROUPS], scan.state[_GROUP], scan.state[_ROUND] = groups, 0, 0


@kernel
def _assign_listed(
    scan: PatternScan,
    vector: int,
    work: int,
    k: int,
    models: ModelEvaluator,
    is_thinned: bool,
    assigned: NDArray[np.int64],
) -> int:
    """Make classes of the listed groups that satisfy everything, until the models have done some work.

    Returns how many row types are assigned.
    """
    living, state = scan.living, scan.state
    end = models.work[0] + work
    done = 0
    while state[_GROUP] < state[_GROUPS] and models.work[0] < end:
        group = state[_GROUP]
        if scan.people[group] < k:
            state[_GROUP] += 1
            continue
        places = scan.grouping.members[scan.first[group] : scan.first[group + 1]]
        items = living.numbers[places]
        models.work[0] += items.size
        count = items.size
        is_settled = state[_ROUND] == 0 and is_class(models, items, k)
        if not is_settled:
            count = state[_STAYING] if state[_ROUND] > 0 else items.size
            while is_thinned and not is_settled:
                staying = thin_once(models, items, places, k, count)
                state[_ROUND] += 1
                is_settled = staying in (0, count) or state[_ROUND] == MOST_ROUNDS
                count = staying if staying in (0, count) or not is_settled else 0
                if models.work[0] >= end:
                    break  # after one round at least: evaluating the group alone may take all of the work
            if not is_thinned:
                count, is_settled = 0, True
        if not is_settled:
            state[_STAYING] = count
            continue
        for position in range(count):
            assigned[items[position]] = vector
            living.alive[places[position]] = False
        done += count
        state[_GROUP] += 1
        state[_ROUND] = 0
    return done


@kernel
def _assign_range(
    scan: PatternScan,
    vectors: NDArray[np.int64],
    begin: int,
    work: int,
    k: int,
    models: ModelEvaluator | None,
    is_thinned: bool,
    assigned: NDArray[np.int64],
) -> int:
    """Apply the vectors from `begin` on until they end or the work is done; return where to go on."""
    living, grouping, state = scan.living, scan.grouping, scan.state
    turn = begin
    while turn < vectors.size and state[_LEFT] > 0 and work > 0:
        vector = vectors[turn]
        if state[_GROUP] == state[_GROUPS]:
            work -= state[_LENGTH]
            update_keys(living.keys, living.hashes, state[_LENGTH], state[_CURRENT], vector)
            state[_CURRENT] = vector
            found = filter_living(living, state[_LENGTH], k, scan.counters, grouping.candidates)
            if found == 0:
                turn += 1
                continue
            groups = group_candidates(living.keys, found, grouping)
            if models is None:
                state[_LEFT] -= _assign_alike(scan, found, groups, vector, k, assigned)
            else:
                _list_groups(scan, found, groups, k)
        if models is not None:
            before = models.work[0]
            most = max(1, work // _WORK_PER_VALUE)
            state[_LEFT] -= _assign_listed(scan, vector, most, k, models, is_thinned, assigned)
            work -= _WORK_PER_VALUE * (models.work[0] - before)
        if state[_GROUP] == state[_GROUPS]:
            turn += 1
            if 8 * state[_LEFT] < 7 * state[_LENGTH]:
                state[_LENGTH] = compact(living, state[_LENGTH])
    return turn if state[_LEFT] > 0 else vectors.size


def greedy(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    clock: Clock,
    models: ModelEvaluator | None = None,
    *,
    is_thinned: bool = True,
) -> NDArray[np.int64]:
    """Give every row type the first vector under which enough unassigned people agree.

    Under privacy models a group becomes a class only if it satisfies them. One that does not may be thinned
    out: values that are too frequent give row types away, which wait for a later vector.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
        Pattern vectors in the order of their turn, cheapest first.
    k : int
        Fewest distinct people per class.
    clock : Clock
        Progress is reported to it. Its end is ignored, since this is the first solution; but once it has
        passed, groups that violate a privacy model are no longer thinned out, and after some more work all
        row types without a class stay so: under models the search can take many times as long as without.
    models : ModelEvaluator, optional
        Privacy models.
    is_thinned : bool
        Whether groups that violate a model may leave row types out.

    Returns
    -------
    ndarray of int64, shape (n,)
        Vector of each row type. Those that found no class are fully suppressed, however few they
        are and whatever they violate.

    Notes
    -----
    Factor-m approximation, asymptotically tight (Theorem 4), which does not hold under privacy models.
    O(p n m) time, O(n m) memory; with s sensitive columns O(p n (m + s)) time, with thinning O(d) more per
    row type left out, for d values. Classes depend on the content of the row types and the order of the
    vectors alone.
    """
    scan = scan_of(table, has_models=models is not None)
    assigned = np.full(len(table), UNASSIGNED, dtype=np.int64)
    turn, late = 0, 0
    while turn < vectors.size and late < _WORK_WHEN_LATE:
        clock.report("greedy", turn / vectors.size)
        if models is not None and clock.is_over():
            is_thinned = False
            late += _WORK_PER_STEP
        turn = _assign_range(scan, vectors, turn, _WORK_PER_STEP, k, models, is_thinned, assigned)
    assigned[assigned == UNASSIGNED] = (1 << table.width) - 1
    return assigned
