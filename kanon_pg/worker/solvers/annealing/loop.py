"""The kernel of annealing: take classes apart, put them together, keep the change or undo it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.annealing.assignment import (
    Assignment,
    Standing,
    assign,
    count_again,
    limit_of,
    unassign,
)
from kanon_pg.worker.solvers.annealing.draw import share
from kanon_pg.worker.solvers.annealing.repair import Buffers, repair
from kanon_pg.worker.solvers.annealing.ruin import Taken, ruin
from kanon_pg.worker.solvers.local_search.partition import NOBODY

_WORK_PER_STEP = 50
_TINY = 1e-9


@kernel
def _rise(assignment: Assignment, taken: Taken, buffers: Buffers) -> float:
    """Return by how much the cost rises in the new places, infinite if somebody has none."""
    rise = 0.0
    for place in range(taken.length[0]):
        if buffers.fallback[place] == NOBODY:
            return np.inf
        rise += assignment.rows[taken.item[place]] * (
            buffers.worth[place] - assignment.cost[taken.source[place]]
        )
    return rise


@kernel
def _seat_taken(assignment: Assignment, standing: Standing, taken: Taken, places: NDArray[np.int32]) -> None:
    for place in range(taken.length[0]):
        item = taken.item[place]
        taken.flag[item] = False
        assign(assignment, standing, item, places[place])


@kernel
def _are_large_enough(
    assignment: Assignment, standing: Standing, places: NDArray[np.int32], count: int
) -> bool:
    """Count the distinct people of some classes anew; return whether all of them have enough."""
    enough = True
    for place in range(count):
        number = places[place]
        count_again(assignment, standing, number)
        enough &= standing.head[number] == NOBODY or standing.people[number] >= limit_of(assignment, number)
    return enough


@kernel
def _undo(assignment: Assignment, standing: Standing, taken: Taken, buffers: Buffers) -> None:
    for place in range(taken.length[0]):
        unassign(assignment, standing, taken.item[place])
    _seat_taken(assignment, standing, taken, taken.source)


@kernel
def anneal_steps(
    assignment: Assignment,
    standing: Standing,
    taken: Taken,
    buffers: Buffers,
    random: NDArray[np.uint64],
    temperature: float,
    unit: float,
    work: int,
) -> tuple[float, int]:
    """Change classes until some work is done.

    Parameters
    ----------
    board, standing, taken, bench
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
    shares_people = assignment.shared.size > 0
    while done < work:
        ruin(assignment, standing, taken, random, unit)
        done += repair(assignment, standing, taken, buffers, random, unit) + _WORK_PER_STEP
        rise = _rise(assignment, taken, buffers)
        if rise > -temperature * np.log(1.0 - share(random)) + _TINY:
            _seat_taken(assignment, standing, taken, taken.source)
            continue
        _seat_taken(assignment, standing, taken, buffers.fallback)
        if shares_people:
            count = taken.length[0]
            enough = _are_large_enough(assignment, standing, taken.source, count)
            enough &= _are_large_enough(assignment, standing, buffers.fallback, count)
            if not enough:
                _undo(assignment, standing, taken, buffers)
                _are_large_enough(assignment, standing, taken.source, count)
                _are_large_enough(assignment, standing, buffers.fallback, count)
                continue
        risen += rise
    return risen, done
