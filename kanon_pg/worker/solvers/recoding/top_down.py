"""Top-down specialization: one class of everything, split along the hierarchies while the parts are allowed.

After K. LeFevre, D. J. DeWitt, R. Ramakrishnan: "Mondrian Multidimensional K-Anonymity", ICDE 2006, with the
children of a node in place of the halves of a range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.recoding.demands import Demands, is_allowed
from kanon_pg.worker.solvers.recoding.forest import Forest, join_levels
from kanon_pg.worker.solvers.recoding.task import RecodingTask

_WORK_PER_STEP = 2_000_000

_WORK_PER_VALUE = 2
"""Cells that can be looked at while privacy models look at one value (`ModelEvaluator.work`)."""

_WORK_WHEN_LATE = 40_000_000
"""Under privacy models, what may be looked at once time is over: about 0.1 s."""


class Stack(NamedTuple):
    """Regions to be split: ranges of `items`, and the finished region of each row type.

    `state` holds the height of the stack and the number of finished regions. Working arrays: `part` per
    node of a column, `people` per part, `order` a copy of the items of a region.
    """

    items: NDArray[np.int32]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    class_of: NDArray[np.int64]
    state: NDArray[np.int64]
    part: NDArray[np.int32]
    people: NDArray[np.int64]
    order: NDArray[np.int32]


@kernel
def _levels(forest: Forest, codes: NDArray[np.int32], items: NDArray[np.int32]) -> NDArray[np.int16]:
    """Return the lowest levels that the items of a region share."""
    level = np.empty(codes.shape[1], dtype=np.int16)
    for column in range(level.size):
        level[column] = forest.lowest[column]
    for item in items:
        join_levels(forest, codes, level, items[0], item, level)
    return level


@kernel
def _gain(
    forest: Forest,
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    items: NDArray[np.int32],
    column: int,
    level: int,
) -> float:
    """Return what a region would save in one column if all its parts stood by themselves."""
    start = forest.begin[column] + level * forest.values[column]
    gain = 0.0
    for item in items:
        code = codes[item, column]
        gain += rows[item] * (forest.loss[start + code] - forest.loss[start - forest.values[column] + code])
    return gain


@kernel
def _number_children(
    stack: Stack, forest: Forest, codes: NDArray[np.int32], items: NDArray[np.int32], start: int, column: int
) -> int:
    """Number the children of a region's node and order the items by child; return how many there are.

    `Stack.people` holds how many items each has.
    """
    children = 0
    for item in items:
        stack.part[forest.nodes[start + codes[item, column]]] = -1
    for item in items:
        node = forest.nodes[start + codes[item, column]]
        if stack.part[node] < 0:
            stack.part[node] = children
            stack.people[children] = 0
            children += 1
        stack.people[stack.part[node]] += 1
    place = np.zeros(children + 1, dtype=np.int64)
    for child in range(children):
        place[child + 1] = place[child] + stack.people[child]
    for item in items:
        child = stack.part[forest.nodes[start + codes[item, column]]]
        stack.order[place[child]] = item
        place[child] += 1
    items[:] = stack.order[: items.size]
    return children


@kernel
def _split(
    stack: Stack,
    forest: Forest,
    codes: NDArray[np.int32],
    demands: Demands,
    items: NDArray[np.int32],
    column: int,
    level: int,
) -> NDArray[np.int64]:
    """Split a region by the children of its node; return where the parts begin and the last one ends.

    Children that may not be classes by themselves are pooled, with the smallest other ones if need be. One
    part alone means that there is no split.
    """
    start = forest.begin[column] + (level - 1) * forest.values[column]
    children = _number_children(stack, forest, codes, items, start, column)
    begin = np.zeros(children + 1, dtype=np.int64)
    for child in range(children):
        begin[child + 1] = begin[child] + stack.people[child]
    size = np.empty(children, dtype=np.int64)
    for child in range(children):
        inside = items[begin[child] : begin[child + 1]]
        size[child] = 0
        for item in inside:
            size[child] += demands.people[item]
        if size[child] < demands.k or (demands.is_simple == 0 and not is_allowed(demands, inside)):
            size[child] = -1
    turn = np.argsort(size, kind="mergesort")
    pooled = 0
    while pooled < children and size[turn[pooled]] < 0:
        pooled += 1
    while True:
        length = 0
        for place in range(pooled):
            child = turn[place]
            count = begin[child + 1] - begin[child]
            stack.order[length : length + count] = items[begin[child] : begin[child + 1]]
            length += count
        if length == 0 or pooled == children or is_allowed(demands, stack.order[:length]):
            break
        pooled += 1
    parts = np.zeros(children - pooled + 2, dtype=np.int64)
    parts[1] = length
    for place in range(pooled, children):
        child = turn[place]
        count = begin[child + 1] - begin[child]
        stack.order[length : length + count] = items[begin[child] : begin[child + 1]]
        length += count
        parts[place - pooled + 2] = length
    items[:] = stack.order[: items.size]
    return parts[1:] if parts[1] == 0 else parts


@kernel
def _split_regions(
    stack: Stack,
    forest: Forest,
    codes: NDArray[np.int32],
    demands: Demands,
    rows: NDArray[np.int64],
    work: int,
) -> None:
    """Split regions until none is left to split or the work is done."""
    width = codes.shape[1]
    while stack.state[0] > 0 and work > 0:
        top = stack.state[0] - 1
        start, end = stack.begin[top], stack.end[top]
        items = stack.items[start:end]
        before = demands.evaluator.work[0]
        level = _levels(forest, codes, items)
        gains = np.full(width, -1.0)
        for column in range(width):
            if level[column] > forest.lowest[column]:
                gains[column] = _gain(forest, codes, rows, items, column, level[column])
        work -= 2 * items.size * width
        stack.state[0] -= 1
        is_split = False
        for column in np.argsort(-gains, kind="mergesort"):
            if gains[column] < 0.0 or is_split:
                break
            parts = _split(stack, forest, codes, demands, items, column, level[column])
            work -= 4 * items.size
            is_split = parts.size > 2
            if is_split:
                for part in range(parts.size - 1):
                    stack.begin[stack.state[0]] = start + parts[part]
                    stack.end[stack.state[0]] = start + parts[part + 1]
                    stack.state[0] += 1
        if not is_split:
            stack.class_of[items] = stack.state[1]
            stack.state[1] += 1
        work -= _WORK_PER_VALUE * (demands.evaluator.work[0] - before)


def top_down_classes(task: RecodingTask, clock: Clock) -> NDArray[np.int64]:
    """Split the table along the hierarchies as long as every part is allowed.

    Parameters
    ----------
    clock : Clock
        Progress is reported to it. Its end is ignored, since this is the first solution; but under privacy
        models only some more work is done once it has passed: regions that are left become classes.

    Returns
    -------
    ndarray of int64, shape (n,)
        Classes, numbered from 0; all are allowed if the whole table is.

    Notes
    -----
    The column that saves most is tried first. O(n m) per level of splits.
    """
    forest, table, demands, count = task.forest, task.table, task.demands, len(task.table)
    begin, end = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    end[0] = count
    most = max(count, int(forest.values.max())) + 1
    stack = Stack(
        np.arange(count, dtype=np.int32), begin, end, np.zeros(count, dtype=np.int64),
        np.array([1, 0], dtype=np.int64), np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.int64),
        np.zeros(count, dtype=np.int32),
    )  # fmt: skip
    late = 0
    while stack.state[0] > 0 and late < _WORK_WHEN_LATE:
        clock.report("mondrian", None)
        if demands.has_models and clock.is_over():
            late += _WORK_PER_STEP
        _split_regions(stack, forest, task.codes, demands, table.rows, _WORK_PER_STEP)
    for place in range(int(stack.state[0])):
        stack.class_of[stack.items[stack.begin[place] : stack.end[place]]] = stack.state[1] + place
    return stack.class_of
