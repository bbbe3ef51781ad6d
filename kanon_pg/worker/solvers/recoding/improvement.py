"""Local recoding by simulated annealing: take a few classes apart, put them together better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.annealing.draw import random_state
from kanon_pg.worker.solvers.recoding.assignment import board_of, cost_of, items_of
from kanon_pg.worker.solvers.recoding.buffers import bench_for
from kanon_pg.worker.solvers.recoding.demands import Demands
from kanon_pg.worker.solvers.recoding.forest import Forest
from kanon_pg.worker.solvers.recoding.orders import random_orders
from kanon_pg.worker.solvers.recoding.recreate import anneal_classes
from kanon_pg.worker.solvers.recoding.ruin import MOST_RUINED, taken_for

EFFORT = 120_000_000
"""Row types that may be looked at in all: some seconds."""

EFFORT_PER_ROW_TYPE = 6_000
"""How many times each row type may be looked at on average; the lower of the two limits holds."""

_WORK_PER_CALL = 2_000_000
_HOTTEST = 0.1
_COLDEST = 0.02
_NOISE = 0.3
_LEAST_ROOM = 24
_ROOM_PER_PERSON = 4
_MOST_ROOM = 1 << 14


def improve_classes(
    forest: Forest,
    codes: NDArray[np.int32],
    table: RowTypeTable,
    demands: Demands,
    class_of: NDArray[np.int64],
    clock: Clock,
    *,
    seed: int,
    times: int = 1,
) -> NDArray[np.int64]:
    """Lower the cost of classes whose members publish what all of them share.

    Each step takes some classes around a row type apart, forms new ones around random row types in hand,
    and sends the others into the cheapest of these or of the classes nearby that cover them (ruin and
    recreate: Schrimpf, Schneider, Stamm-Wilbrandt and Dueck 2000); dearer results are kept with a
    probability that falls as the temperature does.

    Parameters
    ----------
    forest : Forest
    codes : ndarray of int32, shape (n, m)
    table : RowTypeTable
    demands : Demands
    class_of : ndarray of int64, shape (n,)
        Allowed classes, numbered from 0 without gaps.
    clock : Clock
        Ends the search when time is over. The temperature falls with time if that passes faster than
        effort is used.
    seed : int
        Seed of the random choices.
    times : int
        How many times the usual effort is allowed. Effort is counted instead of time, so that the same input
        gives the same result unless time runs out.

    Returns
    -------
    ndarray of int64, shape (n,)
        Allowed classes of at most the same cost, numbered from 0 without gaps.
    """
    effort = times * min(EFFORT, EFFORT_PER_ROW_TYPE * len(table))
    if class_of.max() == 0 == len(table) - 1 or clock.is_over():
        return class_of
    k = int(demands.k)
    orders, places = random_orders(forest, table, seed)
    items = items_of(table, codes)
    assignment = board_of(forest, items, class_of)
    room = min(_MOST_ROOM, _LEAST_ROOM + _ROOM_PER_PERSON * k)
    buffers, taken = bench_for(room, table.width), taken_for(len(table), room)
    random, most = random_state(seed), max(3, min(MOST_RUINED, 12 // k))
    hottest = _HOTTEST * np.sqrt(2.0 * k) * float(table.weights.mean())
    cost = lowest = cost_of(assignment)
    best = assignment.class_of.copy()
    used, seconds = 0, clock.left()
    while used < effort and not clock.is_over():
        done = max(used / effort, 1.0 - (clock.left() or 0.0) / seconds) if seconds else used / effort
        clock.report("improve", done)
        risen, work = anneal_classes(
            assignment, buffers, taken, forest, items, demands, orders, places, random,
            hottest * _COLDEST**done, most, _NOISE, min(_WORK_PER_CALL, effort - used),
        )  # fmt: skip
        used += work
        cost += risen
        if cost < lowest - 1e-9:
            lowest, best = cost, assignment.class_of.copy()
    return np.unique(best, return_inverse=True)[1].astype(np.int64)
