"""Local recoding by simulated annealing: take a few classes apart, put them together better.

Neighbours are found in orders in which they are often alike. Each order refines the table step by step, from
one class of everything down to single values, one column and level at a time in a random sequence. Row types
that agree on a long prefix of the steps stand together; what one order separates another one keeps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock, Schedule
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.annealing.draw import random_state
from kanon_pg.worker.solvers.recoding.assignment import (
    MOST_RUINED,
    Ground,
    assignment_of,
    cost_of,
    items_of,
    taken_for,
)
from kanon_pg.worker.solvers.recoding.forest import Forest, marginal_costs
from kanon_pg.worker.solvers.recoding.recreate import anneal_classes, buffers_for
from kanon_pg.worker.solvers.recoding.task import RecodingTask

ORDERS = 24
"""How many orders are made."""

_BITS = 63
_LEAST_DROP = 0.02
"""What every step is worth at least, relative to the mean cost of a suppressed row."""


def random_orders(
    forest: Forest, table: RowTypeTable, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return random orders and the place of each row type in them, both of shape (`ORDERS`, n).

    Notes
    -----
    Steps that save much come early more often. O(n (m h + log n)) per order for height h.
    """
    random = np.random.default_rng(seed)
    marginal = marginal_costs(forest, table)
    digits = [_digits(forest, column) for column in range(table.width)]
    orders = np.empty((ORDERS, len(table)), dtype=np.int32)
    places = np.empty_like(orders)
    for number in range(ORDERS):
        orders[number] = _order(table, _steps(marginal, random), digits)
        places[number, orders[number]] = np.arange(len(table), dtype=np.int32)
        table.heartbeat()
    return orders, places


def _digits(forest: Forest, column: int) -> list[NDArray[np.int64]]:
    """Return per level below the top the number of each cell's node among the children of its parent."""
    height, values = int(forest.height[column]), int(forest.values[column])
    begin = int(forest.begin[column])
    nodes = forest.nodes[begin : begin + (height + 1) * values].reshape(height + 1, values)
    found = []
    for level in range(height):
        child, first = np.unique(nodes[level], return_index=True)
        parent = nodes[level + 1][first]
        order = np.lexsort((first, parent))
        begins = np.searchsorted(parent[order], parent[order])
        rank = np.empty(child.size, dtype=np.int64)
        rank[order] = np.arange(child.size) - begins
        found.append(rank[np.searchsorted(child, nodes[level])])
    return found


def _steps(marginal: list[NDArray[np.float64]], random: np.random.Generator) -> list[tuple[int, int]]:
    """Return columns and levels in the order in which they refine the table."""
    levels = [costs.size - 1 for costs in marginal]
    least = _LEAST_DROP * sum(float(costs[-1]) for costs in marginal) / len(marginal)
    steps = []
    while any(levels):
        drops = [
            (float(costs[level] - costs[level - 1]) + least) * random.exponential() if level else -1.0
            for costs, level in zip(marginal, levels, strict=True)
        ]
        column = int(np.argmax(drops))
        levels[column] -= 1
        steps.append((column, levels[column]))
    return steps


def _order(
    table: RowTypeTable, steps: list[tuple[int, int]], digits: list[list[NDArray[np.int64]]]
) -> NDArray[np.intp]:
    """Sort by the digits of all steps, as many of them at a time as fit into a number."""
    keys: list[NDArray[np.int64]] = []
    key, used = np.zeros(len(table), dtype=np.int64), 0
    for column, level in steps:
        digit = digits[column][level]
        width = int(digit.max()).bit_length()
        if used + width > _BITS:
            keys.append(key)
            key, used = np.zeros(len(table), dtype=np.int64), 0
        key = (key << width) | digit[table.codes[column]]
        used += width
    keys.append(key)
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


EFFORT = 120_000_000
"""Row types that may be looked at in all: some seconds."""

EFFORT_PER_ROW_TYPE = 6_000
"""How many times each row type may be looked at on average; the lower of the two limits holds."""

EFFORT_PER_SECOND = 15_000_000
"""Effort that takes about a second."""

_WORK_PER_CALL = 2_000_000
_HOTTEST = 0.1
"""First temperature, in usual costs times the square root of 2 k."""

_COLDEST = 0.02
"""Last temperature as a share of the first."""

_NOISE = 0.3
"""How far the losses of columns are distorted when a class is formed."""

_LEAST_ROOM = 24
_ROOM_PER_PERSON = 4
_MOST_ROOM = 1 << 14
"""Row types that one step may take out: so many times k between the two others."""


def improve_classes(
    task: RecodingTask,
    class_of: NDArray[np.int64],
    clock: Clock,
    *,
    seed: int,
    times: int = 1,
    effort: int | None = None,
    hottest: float = _HOTTEST,
) -> NDArray[np.int64]:
    """Lower the cost of classes whose members publish what all of them share.

    Each step takes some classes around a row type apart, forms new ones around random ones of its row types,
    and sends the others into the cheapest of these or of the classes nearby that cover them (ruin and
    recreate: Schrimpf, Schneider, Stamm-Wilbrandt and Dueck 2000); costlier results are kept with a
    probability that falls as the temperature does.

    Parameters
    ----------
    class_of : ndarray of int64, shape (n,)
        Allowed classes, numbered from 0 without gaps.
    clock : Clock
        Ends the search when time is over. The temperature falls with time if that passes faster than
        effort is used.
    times : int
        How many times the usual effort is allowed. Effort is counted instead of time, so that the same input
        gives the same result unless time runs out.
    effort : int, optional
        Row types that may be looked at, in place of the usual effort.
    hottest : float
        First temperature, in usual costs times the square root of 2 k: how far the search goes away from
        `class_of`.

    Returns
    -------
    ndarray of int64, shape (n,)
        Allowed classes of at most the same cost, numbered from 0 without gaps.
    """
    usual = times * min(EFFORT, EFFORT_PER_ROW_TYPE * len(task.table))
    schedule = Schedule(clock, "improve", usual if effort is None else effort)
    if class_of.max() == 0 == len(task.table) - 1 or clock.is_over():
        return class_of
    best = _anneal(task, class_of, seed, schedule, hottest)
    return np.unique(best, return_inverse=True)[1].astype(np.int64)


def _anneal(
    task: RecodingTask, class_of: NDArray[np.int64], seed: int, schedule: Schedule, hottest: float
) -> NDArray[np.int32]:
    """Return the cheapest classes that were met at the end of a call of the kernel."""
    forest, table, demands, k = task.forest, task.table, task.demands, int(task.demands.k)
    items = items_of(table, task.codes)
    assignment = assignment_of(forest, items, class_of)
    orders, places = random_orders(forest, table, seed)
    room = min(_MOST_ROOM, _LEAST_ROOM + _ROOM_PER_PERSON * k)
    buffers, taken = buffers_for(room, table.width), taken_for(len(table), room)
    most = max(3, min(MOST_RUINED, 12 // k))
    ground = Ground(forest, items, demands, orders, places, random_state(seed), most, _NOISE)
    hottest *= np.sqrt(2.0 * k) * float(table.weights.mean())
    cost = lowest = cost_of(assignment)
    best = assignment.class_of.copy()
    while not schedule.is_over():
        risen, work = anneal_classes(
            ground, assignment, buffers, taken, hottest * _COLDEST ** schedule.done(),
            schedule.at_most(_WORK_PER_CALL),
        )  # fmt: skip
        schedule.spend(work)
        cost += risen
        if cost < lowest - 1e-9:
            lowest, best = cost, assignment.class_of.copy()
    return best
