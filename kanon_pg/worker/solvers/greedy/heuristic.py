"""The greedy heuristic of Bredereck, Nichterlein and Niedermeier (2013), Algorithm 1, on row types.

A level vector says for each column at which level of its hierarchy cells are published; a pattern vector is
one for hierarchies of height 1. Level vectors have their turn one after the other, cheapest first.

References
----------
R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity", Algorithms 6 (2013),
678-701, Algorithm 1 and Theorem 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.class_counts import ModelEvaluator, count_own, leave, people_of
from kanon_pg.worker.models.evaluator import evaluator_of, is_class, surplus
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.scan import (
    GroupingBuffers,
    Living,
    counters_for,
    filter_living,
    group_candidates,
    grouping_for,
    list_groups,
)
from kanon_pg.worker.solvers.recoding.demands import Demands
from kanon_pg.worker.solvers.recoding.forest import (
    Forest,
    keys_at,
    levels_of_bits,
    move_keys,
    suppression_forest,
)

UNASSIGNED = -1
"""Class of a row type that has none."""

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


class LevelScan(NamedTuple):
    """Row types that wait for a class, and working arrays.

    Keys are those of a forest at `level`, kept up to date from the `codes`, shape (m, n), of the living row
    types. `first` says where each group of the current level vector begins in ``grouping.members``, `people`
    how many it has, those in several of its row types counted several times. `turn` has the level vector of
    each class. `state` holds the places of `living` in use, the row types that wait, and the number of
    classes made; then where the groups of the current level vector are left when a step ends: how many there
    are, the next one, how many of its row types stay, and after how many rounds of thinning out.
    """

    living: Living
    codes: NDArray[np.int32]
    grouping: GroupingBuffers
    counters: NDArray[np.uint16]
    class_of: NDArray[np.int64]
    turn: NDArray[np.int64]
    level: NDArray[np.int16]
    first: NDArray[np.int64]
    people: NDArray[np.int64]
    state: NDArray[np.int64]


_LENGTH, _WAITING, _CLASSES, _GROUPS, _GROUP, _STAYING, _ROUND = range(7)
"""Places in `LevelScan.state`."""


def scan_for(forest: Forest, table: RowTypeTable) -> LevelScan:
    """Return a scan of a table all of whose row types wait, at the lowest levels."""
    count = len(table)
    codes = table.codes.copy()
    living = Living(
        keys_at(forest, codes, forest.lowest), table.people.copy(), np.arange(count, dtype=np.int32),
        np.ones(count, dtype=np.bool_),
    )  # fmt: skip
    return LevelScan(
        living, codes, grouping_for(count), counters_for(count), np.full(count, UNASSIGNED, dtype=np.int64),
        np.zeros(count, dtype=np.int64), forest.lowest.astype(np.int16), np.zeros(count + 1, dtype=np.int64),
        np.zeros(count, dtype=np.int64), np.array([count, count, 0, 0, 0, 0, 0], dtype=np.int64),
    )  # fmt: skip


@kernel
def _close_gaps(scan: LevelScan) -> None:
    """Drop the row types that have a class from the living."""
    living, length = scan.living, scan.state[_LENGTH]
    for column in range(scan.codes.shape[0]):
        place = 0
        for item in range(length):
            if living.alive[item]:
                scan.codes[column, place] = scan.codes[column, item]
                place += 1
    place = 0
    for item in range(length):
        if living.alive[item]:
            living.keys[place] = living.keys[item]
            living.people[place] = living.people[item]
            living.numbers[place] = living.numbers[item]
            place += 1
    living.alive[:place] = True
    scan.state[_LENGTH] = place


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
def _list_groups(scan: LevelScan, found: int, groups: int) -> None:
    """List the groups of candidates, and count their people."""
    scan.people[:groups] = 0
    for position in range(found):
        scan.people[scan.grouping.group_of[position]] += scan.living.people[
            scan.grouping.candidates[position]
        ]
    scan.first[: groups + 1] = list_groups(scan.grouping, found, groups)
    scan.state[_GROUPS], scan.state[_GROUP], scan.state[_ROUND] = groups, 0, 0


@kernel
def _staying(
    scan: LevelScan,
    demands: Demands,
    items: NDArray[np.int32],
    places: NDArray[np.int32],
    is_thinned: bool,
    end: int,
) -> int:
    """Return how many row types of the next group may be a class, negative if the models' work ends first.

    Those that stay come first in `items` and `places`.
    """
    models, k, state = demands.evaluator, int(demands.k), scan.state
    if demands.is_simple == 1:
        return items.size
    models.work[0] += items.size
    if state[_ROUND] == 0:
        if is_class(models, items, k):
            return items.size
        state[_STAYING] = items.size
    if not is_thinned or models.codes.shape[0] == 0:
        return 0
    while True:
        count = state[_STAYING]
        staying = thin_once(models, items, places, k, count)
        state[_ROUND] += 1
        if staying in (0, count):
            return staying
        if state[_ROUND] == MOST_ROUNDS:
            return 0
        state[_STAYING] = staying
        if models.work[0] >= end:  # after one round: evaluating the group alone may take all of the work
            return -1


@kernel
def _form_classes(scan: LevelScan, demands: Demands, turn: int, work: int, is_thinned: bool) -> None:
    """Make classes of the listed groups that may be some, until the models have done some work."""
    living, state, models = scan.living, scan.state, demands.evaluator
    end = models.work[0] + work
    while state[_GROUP] < state[_GROUPS] and models.work[0] < end:
        group = state[_GROUP]
        if scan.people[group] >= demands.k:
            places = scan.grouping.members[scan.first[group] : scan.first[group + 1]]
            items = living.numbers[places]
            count = _staying(scan, demands, items, places, is_thinned, end)
            if count < 0:
                continue
            for position in range(count):
                scan.class_of[items[position]] = state[_CLASSES]
                living.alive[places[position]] = False
            if count > 0:
                scan.turn[state[_CLASSES]] = turn
                state[_CLASSES] += 1
                state[_WAITING] -= count
        state[_GROUP] += 1
        state[_ROUND] = 0


@kernel
def scan_levels(
    scan: LevelScan,
    forest: Forest,
    demands: Demands,
    levels: NDArray[np.int16],
    turn: int,
    work: int,
    is_thinned: bool,
) -> int:
    """Form classes under level vectors from `turn` on until nobody waits or some work is done.

    Parameters
    ----------
    scan : LevelScan
        Is changed.
    levels : ndarray of int16, shape (p, m)
        Level vectors in their order.
    work : int
        Row types to look at; what privacy models look at (`ModelEvaluator.work`) counts for more.
    is_thinned : bool
        Whether groups that violate a model may leave row types out.

    Returns
    -------
    int
        The vector whose turn is next.
    """
    living, state = scan.living, scan.state
    while turn < levels.shape[0] and state[_WAITING] > 0 and work > 0:
        if state[_GROUP] == state[_GROUPS]:
            work -= state[_LENGTH]
            move_keys(forest, scan.codes, living.keys, state[_LENGTH], scan.level, levels[turn])
            found = filter_living(
                living, state[_LENGTH], int(demands.k), scan.counters, scan.grouping.candidates
            )
            if found == 0:
                turn += 1
                continue
            _list_groups(scan, found, group_candidates(living.keys, found, scan.grouping))
        before = demands.evaluator.work[0]
        _form_classes(scan, demands, turn, max(1, work // _WORK_PER_VALUE), is_thinned)
        work -= _WORK_PER_VALUE * (demands.evaluator.work[0] - before)
        if state[_GROUP] == state[_GROUPS]:
            turn += 1
            if 8 * state[_WAITING] < 7 * state[_LENGTH]:
                _close_gaps(scan)
    return turn


class GreedyClasses(NamedTuple):
    """The class of each row type, `UNASSIGNED` if it has none, and the level vector of each class."""

    class_of: NDArray[np.int64]
    turn: NDArray[np.int64]


def greedy_classes(
    forest: Forest,
    table: RowTypeTable,
    levels: NDArray[np.int16],
    demands: Demands,
    clock: Clock,
    *,
    is_thinned: bool = False,
) -> GreedyClasses:
    """Form classes of row types that are alike, under one level vector after another.

    Under privacy models a group becomes a class only if it satisfies them. One that does not may be thinned
    out: values that are too frequent give row types away, which wait for a later vector.

    Parameters
    ----------
    levels : ndarray of int16, shape (p, m)
        Level vectors in the order of their turn, cheapest first.
    clock : Clock
        Progress is reported to it. Its end is ignored, since this is the first solution; but once it has
        passed, groups that violate a privacy model are no longer thinned out, and after some more work all
        row types without a class stay so: under models the search can take many times as long as without.

    Notes
    -----
    O(p n m) time at worst, O(n m) memory; with s sensitive columns O(p n (m + s)) time, with thinning O(d)
    more per row type left out, for d values. Row types with a class are not looked at again. Classes depend
    on the content of the row types and the order of the vectors alone.
    """
    scan = scan_for(forest, table)
    turn, late = 0, 0
    while turn < levels.shape[0] and scan.state[_WAITING] > 0 and late < _WORK_WHEN_LATE:
        clock.report("greedy", turn / levels.shape[0])
        if demands.has_models and clock.is_over():
            is_thinned = False
            late += _WORK_PER_STEP
        turn = scan_levels(scan, forest, demands, levels, turn, _WORK_PER_STEP, is_thinned)
    return GreedyClasses(scan.class_of, scan.turn[: scan.state[_CLASSES]])


def greedy(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    clock: Clock,
    models: ModelEvaluator | None = None,
    *,
    is_thinned: bool = True,
) -> NDArray[np.int64]:
    """Give every row type the first pattern vector under which enough unassigned people agree.

    Parameters
    ----------
    k : int
        Fewest distinct people per class.

    Returns
    -------
    ndarray of int64, shape (n,)
        Vector of each row type. Those that found no class are fully suppressed, however few they
        are and whatever they violate.

    Notes
    -----
    Factor-m approximation, asymptotically tight (Theorem 4), which does not hold under privacy models.
    """
    is_simple = models is None and not table.has_shared_people
    evaluator = evaluator_of(table, PrivacyModels()) if models is None else models
    demands = Demands(np.int64(k), np.int64(is_simple), table.people, evaluator)
    levels = levels_of_bits(vectors, table.width)
    found = greedy_classes(suppression_forest(table), table, levels, demands, clock, is_thinned=is_thinned)
    vector_of = np.append(vectors[found.turn], (1 << table.width) - 1)
    return vector_of[found.class_of]
