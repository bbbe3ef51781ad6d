"""Row types that the greedy heuristic gave no class join one whose cost rises little, or merge with some."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.recoding.assignment import Items, items_of
from kanon_pg.worker.solvers.recoding.demands import Demands, is_allowed
from kanon_pg.worker.solvers.recoding.forest import (
    MOST_VECTORS,
    Forest,
    join_levels,
    levels_of_classes,
    number_of_vectors,
    row_cost,
)
from kanon_pg.worker.solvers.recoding.task import RecodingTask

MOST_PAIRS = 4_000_000_000
"""Most level vectors times row types for which all level vectors are tried."""

_WORK_PER_STEP = 5_000_000
_WORK_PER_VALUE = 3
"""Row types that can be looked at while privacy models look at one value."""


def is_lattice_small(forest: Forest, table: RowTypeTable) -> bool:
    """Return whether all level vectors can be tried."""
    vectors = number_of_vectors(forest)
    return vectors <= MOST_VECTORS and vectors * len(table) <= MOST_PAIRS


_MOST_PAIRS = 100_000_000
"""Pairs of a row type and a class that are looked at: about a second."""


class _Classes(NamedTuple):
    """The class of each row type, negative if it has none, and levels, a member and rows of each class."""

    class_of: NDArray[np.int64]
    level: NDArray[np.int16]
    member: NDArray[np.int64]
    rows: NDArray[np.int64]


def assign_rest(
    task: RecodingTask,
    class_of: NDArray[np.int64],
    rest: NDArray[np.int32],
    clock: Clock | None = None,
) -> NDArray[np.int64]:
    """Return classes, numbered from 0, in which the rest has a place at little cost.

    Parameters
    ----------
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
    clock, demands = Clock() if clock is None else clock, task.demands
    items = items_of(task.table, task.codes)
    class_of = class_of.copy()
    class_of[rest] = -1
    assigned = class_of >= 0
    class_of[assigned] = np.unique(class_of[assigned], return_inverse=True)[1]
    classes = int(class_of.max()) + 1
    if not rest.size:
        return class_of
    if classes > 0 and rest.size * classes <= _MOST_PAIRS:
        joined, done = _classes(task, class_of, classes), 0
        while done < rest.size and not (demands.has_models and clock.is_over()):
            clock.report("greedy", None)
            done = _join_one_by_one(task.forest, items, demands, joined, rest, done, _WORK_PER_STEP)
    if (class_of < 0).any():
        class_of[class_of < 0] = classes
        if not _is_merged(task, _classes(task, class_of, classes + 1), classes, clock):
            raise InfeasibleError(
                "No release of this table was found that satisfies what is demanded.",
                hint="Demand less of the sensitive columns, or choose a smaller k.",
            )
    return np.unique(class_of, return_inverse=True)[1].astype(np.int64)


def _classes(task: RecodingTask, class_of: NDArray[np.int64], classes: int) -> _Classes:
    """Return what is known of so many classes; `class_of` itself is part of it."""
    assigned = np.flatnonzero(class_of >= 0)
    level = levels_of_classes(task.forest, task.codes[assigned], class_of[assigned])
    member = np.zeros(classes, dtype=np.int64)
    member[class_of[assigned]] = assigned
    rows = np.bincount(class_of[assigned], weights=task.table.rows[assigned], minlength=classes)
    return _Classes(class_of, level, member, rows.astype(np.int64))


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
    items: Items,
    demands: Demands,
    classes: _Classes,
    rest: NDArray[np.int32],
    place: int,
    work: int,
) -> int:
    """Let row types of the rest, from one on, join classes until some work is done; return where to go on."""
    class_of, level, member, rows = classes
    codes, item_rows = items.codes, items.rows
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


def _is_merged(task: RecodingTask, joined: _Classes, rest: int, clock: Clock) -> bool:
    """Merge the class `rest` with the cheapest others until it is allowed; return whether it is."""
    at_once = 1
    while True:
        clock.report("greedy", None)
        if task.demands.has_models and clock.is_over():
            at_once *= 2
        found = _merge(task.forest, task.codes, task.demands, joined, rest, at_once, _WORK_PER_STEP)
        if found != _UNFINISHED:
            return bool(found == _ALLOWED)


@kernel
def _merge(
    forest: Forest,
    codes: NDArray[np.int32],
    demands: Demands,
    classes: _Classes,
    rest: int,
    at_once: int,
    work: int,
) -> int:
    """Merge a class with the cheapest others, some at once, until it is allowed or some work is done."""
    class_of, level, member, rows = classes
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
