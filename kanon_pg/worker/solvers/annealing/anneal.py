"""Simulated annealing over pattern instances: take a few classes apart, put them together better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock, Schedule
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.assignment import (
    InstanceAssignment,
    Problem,
    assign,
    assignment_of,
    count_again,
    limit_of,
    problem_of,
    solution_of,
    unassign,
)
from kanon_pg.worker.solvers.annealing.draw import random_state, share
from kanon_pg.worker.solvers.annealing.steps import (
    RepairBuffers,
    TakenItems,
    buffers_for,
    repair,
    ruin,
    taken_for,
)
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.local_search.partition import NOBODY

_WORK_PER_STEP = 50
_TINY = 1e-9


@kernel
def _rise(problem: Problem, taken: TakenItems, buffers: RepairBuffers) -> float:
    """Return by how much the cost rises in the new places, infinite if an item has none."""
    rise = 0.0
    for place in range(taken.length[0]):
        if buffers.fallback[place] == NOBODY:
            return np.inf
        rise += problem.rows[taken.item[place]] * (buffers.worth[place] - problem.cost[taken.source[place]])
    return rise


@kernel
def _assign_taken(
    problem: Problem, assignment: InstanceAssignment, taken: TakenItems, places: NDArray[np.int32]
) -> None:
    for place in range(taken.length[0]):
        item = taken.item[place]
        taken.flag[item] = False
        assign(problem, assignment, item, places[place])


@kernel
def _are_large_enough(
    problem: Problem, assignment: InstanceAssignment, places: NDArray[np.int32], count: int
) -> bool:
    """Count the distinct people of some classes anew; return whether all of them have enough."""
    enough = True
    for place in range(count):
        number = places[place]
        count_again(problem, assignment, number)
        enough &= assignment.head[number] == NOBODY or assignment.people[number] >= limit_of(problem, number)
    return enough


@kernel
def _undo(
    problem: Problem, assignment: InstanceAssignment, taken: TakenItems, buffers: RepairBuffers
) -> None:
    for place in range(taken.length[0]):
        unassign(problem, assignment, taken.item[place])
    _assign_taken(problem, assignment, taken, taken.source)


@kernel
def anneal_steps(
    problem: Problem,
    assignment: InstanceAssignment,
    taken: TakenItems,
    buffers: RepairBuffers,
    random: NDArray[np.uint64],
    temperature: float,
    unit: float,
    work: int,
) -> tuple[float, int]:
    """Change classes until some work is done.

    Parameters
    ----------
    problem, assignment, taken, buffers
        What is known, what is changed, and working arrays.
    random : ndarray of uint64
        State of the generator.
    temperature : float
        A change that raises the cost by r is kept with probability ``exp(-r / temperature)``.
    unit : float
        A usual difference of costs.
    work : int
        Pairs of an item and an instance to look at.

    Returns
    -------
    risen : float
        By how much the cost has risen.
    done : int
        Work that was done.
    """
    risen, done = 0.0, 0
    shares_people = problem.shared.size > 0
    while done < work:
        ruin(problem, assignment, taken, random, unit)
        done += repair(problem, assignment, taken, buffers, random, unit) + _WORK_PER_STEP
        rise = _rise(problem, taken, buffers)
        if rise > -temperature * np.log(1.0 - share(random)) + _TINY:
            _assign_taken(problem, assignment, taken, taken.source)
            continue
        _assign_taken(problem, assignment, taken, buffers.fallback)
        if shares_people:
            count = taken.length[0]
            enough = _are_large_enough(problem, assignment, taken.source, count)
            enough &= _are_large_enough(problem, assignment, buffers.fallback, count)
            if not enough:
                _undo(problem, assignment, taken, buffers)
                _are_large_enough(problem, assignment, taken.source, count)
                _are_large_enough(problem, assignment, buffers.fallback, count)
                continue
        risen += rise
    return risen, done


EFFORT_PER_SECOND = 25_000_000
"""Effort that takes about a second."""

_WORK_PER_CALL = 2_000_000
HOTTEST = 0.6
"""Temperature, in usual costs, from which a solution may become any other."""

_COLDEST = 0.04
"""Temperature, in usual costs, at which the search ends."""

_LEAST_ROOM = 64
_ROOM_PER_PERSON = 8
"""Items that one step may take out: at least `_LEAST_ROOM`, and so many times k."""


def anneal(
    search: GraphSearch,
    solution: Solution,
    clock: Clock,
    *,
    effort: int,
    seed: int | None = None,
    hottest: float = HOTTEST,
) -> Solution:
    """Lower the weighted cost of a solution.

    Each step takes some classes around a row apart, opens the instances that gain most for the rows that
    are now free, and sends the others to the cheapest open ones (ruin and recreate: Schrimpf, Schneider,
    Stamm-Wilbrandt and Dueck 2000, "Record breaking optimization results using the ruin and recreate
    principle"); costlier results are kept with a probability that falls as the temperature does.

    Parameters
    ----------
    search : GraphSearch
        With prices instances are opened whose rows pay little in excess of them.
    solution : Solution
        Every class has at least k people and is an instance of the graph, or a cheaper one has the same
        members.
    clock : Clock
        Ends the search when time is over. The temperature falls with time if that passes faster than
        effort is used.
    effort : int
        Pairs of a row and an instance that may be looked at. The temperature falls as it is used up, so
        that the same input gives the same result unless time runs out.
    hottest : float
        First temperature in usual costs, > 0: how far the search goes away from `solution`.

    Returns
    -------
    Solution
        The best one met, never costlier than `solution`. Rows of a row type may be divided among vectors
        unless the table has an entity.
    """
    problem, held_by = problem_of(search, solution)
    assignment = assignment_of(problem, held_by)
    best = _search(problem, assignment, clock, effort, 0 if seed is None else seed, search.usual, hottest)
    return solution_of(search.graph, problem, best)


def _search(
    problem: Problem,
    assignment: InstanceAssignment,
    clock: Clock,
    effort: int,
    seed: int,
    unit: float,
    hottest: float,
) -> NDArray[np.int32]:
    """Return the best assignment of items that was met at the end of a call of the kernel."""
    room = max(_LEAST_ROOM, _ROOM_PER_PERSON * int(problem.limits[0]))
    taken, buffers, random = taken_for(problem, room), buffers_for(problem, room), random_state(seed)
    cost = _cost(problem, assignment.held_by)
    lowest, best = cost, assignment.held_by.copy()
    schedule = Schedule(clock, "anneal", effort)
    while not schedule.is_over():
        temperature = unit * hottest * (_COLDEST / hottest) ** schedule.done()
        risen, work = anneal_steps(
            problem,
            assignment,
            taken,
            buffers,
            random,
            temperature,
            unit,
            schedule.at_most(_WORK_PER_CALL),
        )
        schedule.spend(work)
        cost += risen
        if cost < lowest - 1e-9:
            lowest, best = cost, assignment.held_by.copy()
    return best


def _cost(problem: Problem, held_by: NDArray[np.int32]) -> float:
    return float((problem.cost[held_by] * problem.rows).sum())
