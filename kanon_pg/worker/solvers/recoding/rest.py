"""Row types that no level vector gave a class: each joins one, or all of them merge with some."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.recoding.demands import Demands, is_allowed
from kanon_pg.worker.solvers.recoding.forest import Forest, join_levels, levels_of_classes, row_cost

_MOST_PAIRS = 100_000_000
"""Pairs of a row type and a class that are looked at: about a second."""


def assign_rest(
    forest: Forest,
    codes: NDArray[np.int32],
    table: RowTypeTable,
    demands: Demands,
    class_of: NDArray[np.int64],
    rest: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Return classes, numbered from 0, in which the rest has a place at little cost.

    Parameters
    ----------
    codes : ndarray of int32, shape (n, m)
    class_of : ndarray of int64, shape (n,)
        Allowed classes; what it says about the rest is ignored.
    rest : ndarray of int32
        Row types without a class.

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
    class_of = class_of.copy()
    class_of[rest] = -1
    seated = class_of >= 0
    class_of[seated] = np.unique(class_of[seated], return_inverse=True)[1]
    classes = int(class_of.max()) + 1
    if not rest.size:
        return class_of
    if classes > 0 and rest.size * classes <= _MOST_PAIRS:
        state = _state(forest, codes, table, class_of, classes)
        _join_one_by_one(forest, codes, demands, table.rows, class_of, rest, *state)
    if (class_of < 0).any():
        class_of[class_of < 0] = classes
        state = _state(forest, codes, table, class_of, classes + 1)
        if not _merge_until_allowed(forest, codes, demands, class_of, classes, *state):
            raise InfeasibleError(
                "No release of this table was found that satisfies what is demanded.",
                hint="Demand less of the sensitive columns, or choose a smaller k.",
            )
    return np.unique(class_of, return_inverse=True)[1].astype(np.int64)


def _state(
    forest: Forest, codes: NDArray[np.int32], table: RowTypeTable, class_of: NDArray[np.int64], classes: int
) -> tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.int64]]:
    """Return levels, a member and the rows of each class."""
    seated = np.flatnonzero(class_of >= 0)
    level = levels_of_classes(forest, codes[seated], class_of[seated])
    member = np.zeros(classes, dtype=np.int64)
    member[class_of[seated]] = seated
    rows = np.bincount(class_of[seated], weights=table.rows[seated], minlength=classes).astype(np.int64)
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
) -> None:
    joined = np.empty(level.shape[1], dtype=np.int16)
    for item in rest:
        best, lowest = -1, np.inf
        for number in range(member.size):
            join_levels(forest, codes, level[number], member[number], item, joined)
            after = row_cost(forest, codes, joined, member[number]) * (rows[number] + item_rows[item])
            rise = after - row_cost(forest, codes, level[number], member[number]) * rows[number]
            if rise < lowest:
                best, lowest = number, rise
        if demands.evaluator.codes.shape[0] > 0 and not is_allowed(demands, _members(class_of, best, item)):
            continue
        join_levels(forest, codes, level[best], member[best], item, level[best])
        rows[best] += item_rows[item]
        class_of[item] = best


@kernel
def _merge_until_allowed(
    forest: Forest,
    codes: NDArray[np.int32],
    demands: Demands,
    class_of: NDArray[np.int64],
    rest: int,
    level: NDArray[np.int16],
    member: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> bool:
    """Merge the class `rest` with the cheapest others until it is allowed; return whether it is."""
    joined = np.empty(level.shape[1], dtype=np.int16)
    while not is_allowed(demands, _members(class_of, rest, -1)):
        best, lowest = -1, np.inf
        for number in range(member.size):
            if number == rest or rows[number] == 0:
                continue
            join_levels(forest, codes, level[rest], member[rest], member[number], joined)
            joined = np.maximum(joined, level[number])
            after = row_cost(forest, codes, joined, member[rest]) * (rows[rest] + rows[number])
            rise = after - row_cost(forest, codes, level[number], member[number]) * rows[number]
            if rise < lowest:
                best, lowest = number, rise
        if best < 0:
            return False
        join_levels(forest, codes, level[rest], member[rest], member[best], joined)
        level[rest] = np.maximum(joined, level[best])
        rows[rest] += rows[best]
        rows[best] = 0
        for item in range(class_of.size):
            if class_of[item] == best:
                class_of[item] = rest
    return True
