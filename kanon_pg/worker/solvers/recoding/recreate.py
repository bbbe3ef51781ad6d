"""Putting row types together again: new classes among them, and classes outside that cover them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.solvers.annealing.draw import below, share
from kanon_pg.worker.solvers.local_search.partition import NOBODY
from kanon_pg.worker.solvers.recoding.assignment import Assignment, Items, assign, covers, unassign
from kanon_pg.worker.solvers.recoding.buffers import (
    UNSEATED,
    Buffers,
    grow_class,
    is_new_class_allowed,
    join_cheapest,
    rise_of_joining,
)
from kanon_pg.worker.solvers.recoding.demands import Demands
from kanon_pg.worker.solvers.recoding.forest import Forest
from kanon_pg.worker.solvers.recoding.ruin import Taken, forget, ruin

_LOOKS = 16
"""Row types around one at whose classes it looks in an order."""

_ORDERS = 2
"""Orders in which it looks."""

_STOPS = 16
"""One in so many times no further class is formed although there are people for one."""

_WORK_PER_STEP = 64
_TINY = 1e-12


@inner_kernel
def _cheapest_outside(
    assignment: Assignment,
    forest: Forest,
    items: Items,
    taken: Taken,
    orders: NDArray[np.int32],
    places: NDArray[np.int32],
    random: NDArray[np.uint64],
    item: int,
) -> int:
    """Return the cheapest class nearby, not taken apart, that covers a row type; negative if none."""
    best = UNSEATED
    for _ in range(_ORDERS):
        turn = below(random, orders.shape[0])
        order, middle = orders[turn], places[turn, item]
        for place in range(max(0, middle - _LOOKS), min(order.size, middle + _LOOKS + 1)):
            number = assignment.class_of[order[place]]
            if taken.is_taken[number] or number == best:
                continue
            if (best < 0 or assignment.cost[number] < assignment.cost[best]) and covers(
                assignment, forest, items, number, item
            ):
                best = number
    return int(best)


@inner_kernel
def _form_classes(
    buffers: Buffers,
    forest: Forest,
    items: Items,
    demands: Demands,
    taken: Taken,
    random: NDArray[np.uint64],
    noise: float,
) -> tuple[int, int]:
    """Form classes around random row types while enough people are left; return their number and the work.

    Now and then it stops early: fewer classes can be better.
    """
    left, free = np.int64(0), taken.length[0]
    for place in range(taken.length[0]):
        buffers.assign[place] = UNSEATED
        left += items.people[taken.item[place]]
    made, work = 0, 0
    while left >= demands.k and free > 0 and below(random, _STOPS) > 0:
        skipped = below(random, free)
        first = 0
        while buffers.assign[first] != UNSEATED or skipped > 0:
            if buffers.assign[first] == UNSEATED:
                skipped -= 1
            first += 1
        done = grow_class(buffers, forest, items, demands, taken, made, first, random, noise)
        if done < 0:
            # Not even all that is left may be a class.
            return made, work - done
        work += done
        left -= buffers.people[made]
        made += 1
        free = 0
        for place in range(taken.length[0]):
            free += buffers.assign[place] == UNSEATED
    return made, work


@inner_kernel
def _seat_others(
    assignment: Assignment,
    buffers: Buffers,
    forest: Forest,
    items: Items,
    demands: Demands,
    taken: Taken,
    orders: NDArray[np.int32],
    places: NDArray[np.int32],
    random: NDArray[np.uint64],
    made: int,
) -> float:
    """Seat whoever has no seat in a new class or outside; return the cost of all, infinite if impossible."""
    cost = 0.0
    for place in range(taken.length[0]):
        buffers.outside[place] = UNSEATED
        if buffers.assign[place] >= 0:
            continue
        item = taken.item[place]
        rise = rise_of_joining(buffers, forest, items, item, made)
        if demands.evaluator.codes.shape[0] == 0:
            number = _cheapest_outside(assignment, forest, items, taken, orders, places, random, item)
            if number >= 0 and assignment.cost[number] * items.rows[item] < rise:
                buffers.outside[place] = number
                cost += assignment.cost[number] * items.rows[item]
                continue
        if made == 0:
            return np.inf
        join_cheapest(buffers, forest, items, item, place, made)
    for number in range(made):
        cost += buffers.cost[number] * buffers.rows[number]
    return cost


@inner_kernel
def _apply(assignment: Assignment, buffers: Buffers, items: Items, taken: Taken, made: int) -> None:
    """Replace the classes taken apart by the new ones."""
    for place in range(taken.length[0]):
        unassign(assignment, items, taken.item[place])
    for position in range(taken.length[1]):
        number = taken.number[position]
        if assignment.head[number] == NOBODY:
            assignment.free[assignment.state[0]] = number
            assignment.state[0] += 1
    for made_now in range(made):
        assignment.state[0] -= 1
        number = assignment.free[assignment.state[0]]
        assignment.member[number] = buffers.member[made_now]
        assignment.cost[number] = buffers.cost[made_now]
        for column in range(assignment.level.shape[1]):
            assignment.level[number, column] = buffers.level[made_now, column]
        # The number is read again below, when all seats are known.
        buffers.scratch[made_now] = number
    for place in range(taken.length[0]):
        into = (
            buffers.scratch[buffers.assign[place]] if buffers.outside[place] < 0 else buffers.outside[place]
        )
        assign(assignment, items, taken.item[place], into)


@inner_kernel
def _are_allowed(buffers: Buffers, demands: Demands, taken: Taken, made: int) -> bool:
    if demands.is_simple == 1:
        return True
    allowed = True
    for number in range(made):
        allowed = allowed and is_new_class_allowed(buffers, demands, taken, number)
    return allowed


@inner_kernel
def anneal_classes(
    assignment: Assignment,
    buffers: Buffers,
    taken: Taken,
    forest: Forest,
    items: Items,
    demands: Demands,
    orders: NDArray[np.int32],
    places: NDArray[np.int32],
    random: NDArray[np.uint64],
    temperature: float,
    most: int,
    noise: float,
    work: int,
) -> tuple[float, int]:
    """Change classes until some work is done.

    Parameters
    ----------
    board, bench, taken
        What is changed, and working arrays.
    forest, items, demands
        What is known.
    orders, places : ndarray of int32, shape (r, n)
        Orders of row types, and the place of each in them.
    random : ndarray of uint64
        State of the generator.
    temperature : float
        A change that raises the cost by r is kept with probability ``exp(-r / temperature)``.
    most : int
        Most classes that a step takes apart.
    noise : float
        How much columns are distorted at random while classes are formed.
    work : int
        Row types to look at.

    Returns
    -------
    risen : float
        By how much the cost has risen.
    done : int
        Work that was done.
    """
    risen, done = 0.0, 0
    while done < work:
        before = ruin(assignment, items, demands, taken, orders, places, random, most)
        made, effort = _form_classes(buffers, forest, items, demands, taken, random, noise)
        after = _seat_others(assignment, buffers, forest, items, demands, taken, orders, places, random, made)
        done += effort + 4 * taken.length[0] + _WORK_PER_STEP
        is_kept = after - before <= -temperature * np.log(1.0 - share(random)) + _TINY
        if is_kept and _are_allowed(buffers, demands, taken, made):
            _apply(assignment, buffers, items, taken, made)
            risen += after - before
        forget(taken)
    return risen, done
