"""Simulated annealing over pattern instances: take a few classes apart, put them together better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.assignment import (
    Assignment,
    Standing,
    board_of,
    solution_of,
    standing_of,
)
from kanon_pg.worker.solvers.annealing.draw import random_state
from kanon_pg.worker.solvers.annealing.loop import anneal_steps
from kanon_pg.worker.solvers.annealing.repair import bench_for
from kanon_pg.worker.solvers.annealing.ruin import taken_for
from kanon_pg.worker.solvers.compatibility import Compatibility

EFFORT_PER_SECOND = 25_000_000
"""Effort that takes about a second."""

_WORK_PER_CALL = 2_000_000
HOTTEST = 0.6
"""Temperature, in usual costs, from which a solution may become any other."""

_COLDEST = 0.04
_LEAST_ROOM = 64
_ROOM_PER_PERSON = 8


def anneal(
    table: RowTypeTable,
    graph: Compatibility,
    solution: Solution,
    k: int,
    clock: Clock,
    *,
    effort: int,
    prices: NDArray[np.int64] | None = None,
    seed: int | None = None,
    rest_may_be_small: bool = False,
    hottest: float = HOTTEST,
) -> Solution:
    """Lower the weighted cost of a solution.

    Each step takes some classes around a row apart, opens the instances that gain most for the rows that
    are now free, and sends the others to the cheapest open ones (ruin and recreate: Schrimpf, Schneider,
    Stamm-Wilbrandt and Dueck 2000, "Record breaking optimization results using the ruin and recreate
    principle"); dearer results are kept with a probability that falls as the temperature does.

    Parameters
    ----------
    table : RowTypeTable
    graph : Compatibility
        The graph of this table and k; every class of `solution` is one of its instances, or a cheaper
        instance has the same members.
    solution : Solution
        Every class has at least k people.
    k : int
    clock : Clock
        Ends the search when time is over. The temperature falls with time if that passes faster than
        effort is used.
    effort : int
        Pairs of a row and an instance that may be looked at. The temperature falls as it is used up, so
        that the same input gives the same result unless time runs out.
    prices : ndarray of int64, shape (n,), optional
        Valid prices: instances are opened whose rows pay little in excess of them.
    seed : int, optional
        Seed of the random choices.
    rest_may_be_small : bool
        Whether the fully suppressed class may have fewer than k people.
    hottest : float
        First temperature in usual costs, > 0: how far the search goes away from `solution`.

    Returns
    -------
    Solution
        The best one met, never dearer than `solution`. Rows of a row type may be divided among vectors
        unless the table has an entity.
    """
    assignment, held_by = board_of(table, graph, solution, k, rest_may_be_small, prices)
    standing = standing_of(assignment, held_by)
    best = _search(assignment, standing, clock, effort, 0 if seed is None else seed, _unit(table), hottest)
    return solution_of(graph, assignment, best)


def _unit(table: RowTypeTable) -> float:
    """Return a usual difference of costs: the mean weight of a column."""
    return float(table.weights.mean())


def _search(
    assignment: Assignment,
    standing: Standing,
    clock: Clock,
    effort: int,
    seed: int,
    unit: float,
    hottest: float,
) -> NDArray[np.int32]:
    """Return the best assignment of items that was met at the end of a call of the kernel."""
    room = max(_LEAST_ROOM, _ROOM_PER_PERSON * int(assignment.limits[0]))
    taken, buffers, random = taken_for(assignment, room), bench_for(assignment, room), random_state(seed)
    cost = _cost(assignment, standing.held_by)
    lowest, best = cost, standing.held_by.copy()
    used, seconds = 0, clock.left()
    while used < effort and not clock.is_over():
        done = max(used / effort, 1.0 - (clock.left() or 0.0) / seconds) if seconds else used / effort
        clock.report("anneal", done)
        temperature = unit * hottest * (_COLDEST / hottest) ** done
        risen, work = anneal_steps(
            assignment,
            standing,
            taken,
            buffers,
            random,
            temperature,
            unit,
            min(_WORK_PER_CALL, effort - used),
        )
        used += work
        cost += risen
        if cost < lowest - 1e-9:
            lowest, best = cost, standing.held_by.copy()
    return best


def _cost(assignment: Assignment, held_by: NDArray[np.int32]) -> float:
    return float((assignment.cost[held_by] * assignment.rows).sum())
