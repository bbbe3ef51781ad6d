"""Local recoding by the greedy heuristic: level vectors in the order of what they cost.

After Algorithm 1 of R. Bredereck, A. Nichterlein, R. Niedermeier, "Pattern-Guided k-Anonymity" (2013), with
level vectors in place of pattern vectors. Row types that no level vector gave a class join one, or all of
them merge with some.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.heuristic import compact
from kanon_pg.worker.solvers.greedy.scan import (
    GroupingBuffers,
    Living,
    counters_for,
    filter_living,
    group_candidates,
    grouping_for,
    list_groups,
)
from kanon_pg.worker.solvers.recoding.demands import Demands, is_allowed
from kanon_pg.worker.solvers.recoding.forest import (
    MOST_VECTORS,
    Forest,
    cheapest_levels_first,
    join_levels,
    keys_at,
    levels_of_classes,
    move_keys,
    number_of_vectors,
    row_cost,
)

UNASSIGNED = -1
"""Class of a row type that has none yet."""


class LevelScan(NamedTuple):
    """Row types that wait for a class, and working arrays.

    `living` has no hashes: keys are those of `forest` at `level`, kept up to date from the `codes`, shape
    (m, n), of the living row types. `state` holds the places of `living` in use, the row types that wait, and
    the number of classes made.
    """

    living: Living
    codes: NDArray[np.int32]
    grouping: GroupingBuffers
    counters: NDArray[np.uint16]
    class_of: NDArray[np.int64]
    level: NDArray[np.int16]
    state: NDArray[np.int64]


def scan_for(forest: Forest, table: RowTypeTable) -> LevelScan:
    """Return a scan of a table all of whose row types wait, at the lowest levels."""
    count = len(table)
    codes = table.codes.copy()
    living = Living(
        np.empty((0, 0), dtype=np.uint64), keys_at(forest, codes, forest.lowest), table.people.copy(),
        np.arange(count, dtype=np.int32), np.ones(count, dtype=np.bool_),
    )  # fmt: skip
    return LevelScan(
        living, codes, grouping_for(count), counters_for(count), np.full(count, UNASSIGNED, dtype=np.int64),
        forest.lowest.astype(np.int16), np.array([count, count, 0], dtype=np.int64),
    )  # fmt: skip


@kernel
def _assign_groups(scan: LevelScan, demands: Demands, found: int, groups: int) -> None:
    """Make classes of the groups of candidates that may be some."""
    living, grouping, people = scan.living, scan.grouping, np.zeros(groups, dtype=np.int64)
    for position in range(found):
        people[grouping.group_of[position]] += living.people[grouping.candidates[position]]
    first = list_groups(grouping, found, groups)
    for group in range(groups):
        if people[group] < demands.k:
            continue
        places = grouping.members[first[group] : first[group + 1]]
        items = living.numbers[places]
        if demands.is_simple == 0 and not is_allowed(demands, items):
            continue
        for position in range(items.size):
            scan.class_of[items[position]] = scan.state[2]
            living.alive[places[position]] = False
        scan.state[1] -= items.size
        scan.state[2] += 1


@kernel
def _close_gaps(scan: LevelScan) -> None:
    """Drop the row types that have a class from the living."""
    for column in range(scan.codes.shape[0]):
        place = 0
        for item in range(scan.state[0]):
            if scan.living.alive[item]:
                scan.codes[column, place] = scan.codes[column, item]
                place += 1
    scan.state[0] = compact(scan.living, scan.state[0])


_WORK_PER_VALUE = 3
"""Row types that can be looked at while privacy models look at one value."""


@kernel
def scan_levels(
    scan: LevelScan, forest: Forest, demands: Demands, levels: NDArray[np.int16], turn: int, work: int
) -> int:
    """Form classes under level vectors from `turn` on until nobody waits or some work is done.

    Parameters
    ----------
    scan : LevelScan
        Is changed.
    forest, demands
        The table.
    levels : ndarray of int16, shape (p, m)
        Level vectors in their order.
    turn : int
        The first vector.
    work : int
        Row types to look at; what privacy models look at (`ModelEvaluator.work`) counts for more.

    Returns
    -------
    int
        The vector whose turn is next.
    """
    while turn < levels.shape[0] and scan.state[1] > 0 and work > 0:
        work -= scan.state[0]
        before = demands.evaluator.work[0]
        move_keys(forest, scan.codes, scan.living.keys, scan.state[0], scan.level, levels[turn])
        turn += 1
        found = filter_living(
            scan.living, scan.state[0], int(demands.k), scan.counters, scan.grouping.candidates
        )
        if found == 0:
            continue
        groups = group_candidates(scan.living.keys, found, scan.grouping)
        _assign_groups(scan, demands, found, groups)
        work -= _WORK_PER_VALUE * (demands.evaluator.work[0] - before)
        if 8 * scan.state[1] < 7 * scan.state[0]:
            _close_gaps(scan)
    return turn


MOST_PAIRS = 4_000_000_000
"""Most level vectors times row types for which all level vectors are tried."""

_WORK_PER_STEP = 5_000_000

_WORK_WHEN_LATE = 60_000_000
"""Under privacy models, row types that may be looked at once time is over: about 0.1 s."""


def is_lattice_small(forest: Forest, table: RowTypeTable) -> bool:
    """Return whether all level vectors can be tried."""
    vectors = number_of_vectors(forest)
    return vectors <= MOST_VECTORS and vectors * len(table) <= MOST_PAIRS


def greedy_classes(
    forest: Forest, table: RowTypeTable, demands: Demands, clock: Clock
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Form classes of row types that are alike, under one level vector after another.

    Parameters
    ----------
    forest : Forest
        See `is_lattice_small`.
    clock : Clock
        Progress is reported to it. Its end is ignored, since this is the first solution; but under privacy
        models only some more work is done once it has passed.

    Returns
    -------
    class_of : ndarray of int64, shape (n,)
        Class of each row type, -1 if it has none. All classes are allowed.
    rest : ndarray of int32
        Row types without a class.

    Notes
    -----
    O(p n m) for p level vectors at worst; row types with a class are not looked at again. What is counted
    per level vector, and what is grouped, is as in `kanon_pg.worker.solvers.greedy.scan`.
    """
    levels = cheapest_levels_first(forest, table)
    scan = scan_for(forest, table)
    turn, late = 0, 0
    while turn < levels.shape[0] and scan.state[1] > 0 and late < _WORK_WHEN_LATE:
        clock.report("greedy", turn / levels.shape[0])
        if demands.has_models and clock.is_over():
            late += _WORK_PER_STEP
        turn = scan_levels(scan, forest, demands, levels, turn, _WORK_PER_STEP)
    return scan.class_of, np.flatnonzero(scan.class_of == UNASSIGNED).astype(np.int32)


_MOST_PAIRS = 100_000_000
"""Pairs of a row type and a class that are looked at: about a second."""


def assign_rest(
    forest: Forest,
    codes: NDArray[np.int32],
    table: RowTypeTable,
    demands: Demands,
    class_of: NDArray[np.int64],
    rest: NDArray[np.int32],
    clock: Clock | None = None,
) -> NDArray[np.int64]:
    """Return classes, numbered from 0, in which the rest has a place at little cost.

    Parameters
    ----------
    codes : ndarray of int32, shape (n, m)
    class_of : ndarray of int64, shape (n,)
        Allowed classes; what it says about the rest is ignored.
    rest : ndarray of int32
        Row types without a class.
    clock : Clock, optional
        Reports progress. Under privacy models, once it is over, no row type joins a class by itself, and each
        time twice as many classes are merged with those left as before.

    Raises
    ------
    InfeasibleError
        Not even one class of all rows is allowed.

    Notes
    -----
    Each row type joins the class whose cost rises least, if that stays allowed. Those left form one class,
    which is merged with the class that costs least until it is allowed. O(r c m) for r row types and c
    classes; O(n) per merger and, under privacy models, per row type.
    """
    clock = Clock() if clock is None else clock
    class_of = class_of.copy()
    class_of[rest] = -1
    assigned = class_of >= 0
    class_of[assigned] = np.unique(class_of[assigned], return_inverse=True)[1]
    classes = int(class_of.max()) + 1
    if not rest.size:
        return class_of
    if classes > 0 and rest.size * classes <= _MOST_PAIRS:
        state = _state(forest, codes, table, class_of, classes)
        done = 0
        while done < rest.size and not (demands.has_models and clock.is_over()):
            clock.report("greedy", None)
            done = _join_one_by_one(
                forest, codes, demands, table.rows, class_of, rest, *state, done, _WORK_PER_STEP
            )
    if (class_of < 0).any():
        class_of[class_of < 0] = classes
        state = _state(forest, codes, table, class_of, classes + 1)
        if not _is_merged(forest, codes, demands, class_of, classes, state, clock):
            raise InfeasibleError(
                "No release of this table was found that satisfies what is demanded.",
                hint="Demand less of the sensitive columns, or choose a smaller k.",
            )
    return np.unique(class_of, return_inverse=True)[1].astype(np.int64)


def _state(
    forest: Forest, codes: NDArray[np.int32], table: RowTypeTable, class_of: NDArray[np.int64], classes: int
) -> tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.int64]]:
    """Return levels, a member and the rows of each class."""
    assigned = np.flatnonzero(class_of >= 0)
    level = levels_of_classes(forest, codes[assigned], class_of[assigned])
    member = np.zeros(classes, dtype=np.int64)
    member[class_of[assigned]] = assigned
    rows = np.bincount(class_of[assigned], weights=table.rows[assigned], minlength=classes).astype(np.int64)
    return level, member, rows


@kernel
def _members(class_of: NDArray[np.int64], number: int, more: int) -> NDArray[np.int32]:
    """Return the row types of a class and, if not negative, one more."""
    count = 1 if more >= 0 else 0
    for item in range(class_of.size):
        count += class_of[item] == number
    items = np.empty(count, dtype=np.int32)
    place = 0
    for item in range(class_of.size):
        if class_of[item] == number or item == more:
            items[place] = item
            place += 1
    return items


@kernel
def _join_one_by_one(
    forest: Forest,
    codes: NDArray[np.int32],
    demands: Demands,
    item_rows: NDArray[np.int64],
    class_of: NDArray[np.int64],
    rest: NDArray[np.int32],
    level: NDArray[np.int16],
    member: NDArray[np.int64],
    rows: NDArray[np.int64],
    place: int,
    work: int,
) -> int:
    """Let row types of the rest, from one on, join classes until some work is done; return where to go on."""
    joined = np.empty(level.shape[1], dtype=np.int16)
    has_models = demands.evaluator.codes.shape[0] > 0
    while place < rest.size and work > 0:
        item = rest[place]
        place += 1
        before = demands.evaluator.work[0]
        work -= member.size + has_models * class_of.size
        best, lowest = -1, np.inf
        for number in range(member.size):
            join_levels(forest, codes, level[number], member[number], item, joined)
            after = row_cost(forest, codes, joined, member[number]) * (rows[number] + item_rows[item])
            rise = after - row_cost(forest, codes, level[number], member[number]) * rows[number]
            if rise < lowest:
                best, lowest = number, rise
        if has_models and not is_allowed(demands, _members(class_of, best, item)):
            work -= _WORK_PER_VALUE * (demands.evaluator.work[0] - before)
            continue
        work -= _WORK_PER_VALUE * (demands.evaluator.work[0] - before)
        join_levels(forest, codes, level[best], member[best], item, level[best])
        rows[best] += item_rows[item]
        class_of[item] = best
    return place


_ALLOWED, _UNFINISHED, _FORBIDDEN = 1, 0, -1
"""What merging comes to: a class that is allowed, nothing yet, one class of all rows that is not."""


def _is_merged(
    forest: Forest,
    codes: NDArray[np.int32],
    demands: Demands,
    class_of: NDArray[np.int64],
    rest: int,
    state: tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.int64]],
    clock: Clock,
) -> bool:
    """Merge the class `rest` with the cheapest others until it is allowed; return whether it is."""
    at_once = 1
    while True:
        clock.report("greedy", None)
        if demands.has_models and clock.is_over():
            at_once *= 2
        found = _merge(forest, codes, demands, class_of, rest, *state, at_once, _WORK_PER_STEP)
        if found != _UNFINISHED:
            return bool(found == _ALLOWED)


@kernel
def _merge(
    forest: Forest,
    codes: NDArray[np.int32],
    demands: Demands,
    class_of: NDArray[np.int64],
    rest: int,
    level: NDArray[np.int16],
    member: NDArray[np.int64],
    rows: NDArray[np.int64],
    at_once: int,
    work: int,
) -> int:
    """Merge a class with the cheapest others, some at once, until it is allowed or some work is done."""
    joined = np.empty(level.shape[1], dtype=np.int16)
    rise = np.empty(member.size)
    is_best = np.empty(member.size, dtype=np.bool_)
    while True:
        before = demands.evaluator.work[0]
        if is_allowed(demands, _members(class_of, rest, -1)):
            return _ALLOWED
        if work <= 0:
            return _UNFINISHED
        work -= member.size + 2 * class_of.size + _WORK_PER_VALUE * (demands.evaluator.work[0] - before)
        rise[:] = np.inf
        for number in range(member.size):
            if number == rest or rows[number] == 0:
                continue
            join_levels(forest, codes, level[rest], member[rest], member[number], joined)
            joined = np.maximum(joined, level[number])
            after = row_cost(forest, codes, joined, member[rest]) * (rows[rest] + rows[number])
            rise[number] = after - row_cost(forest, codes, level[number], member[number]) * rows[number]
        is_best[:] = False
        for turn in range(at_once):
            best = np.argmin(rise)
            if rise[best] == np.inf:
                if turn == 0:
                    return _FORBIDDEN
                break
            rise[best], is_best[best] = np.inf, True
            join_levels(forest, codes, level[rest], member[rest], member[best], joined)
            level[rest] = np.maximum(joined, level[best])
            rows[rest] += rows[best]
            rows[best] = 0
        for item in range(class_of.size):
            if class_of[item] != rest and is_best[class_of[item]]:
                class_of[item] = rest
