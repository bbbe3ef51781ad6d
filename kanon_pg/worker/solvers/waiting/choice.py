"""Chooses who of a batch waits, by simulated annealing over the present and drawn futures.

Anonymizing each batch of a growing table by itself costs more than all at once. Rows that wait meet others,
but whom, nobody knows. So the rows that may enter are looked at together with futures, whose batches are
drawn from the rows so far. Annealing lowers the cost of the present and the mean cost of the futures
together, while a price of waiting moves until as many wait as may (a sample average approximation: Kleywegt,
Shapiro and Homem-de-Mello 2002, "The sample average approximation method for stochastic discrete
optimization").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock, Schedule
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.annealing.draw import below, random_state, share
from kanon_pg.worker.solvers.waiting.changes import move, try_another_place, try_place, undo
from kanon_pg.worker.solvers.waiting.worlds import (
    OUT,
    Worlds,
    candidates,
    cheapest,
    cost_later,
    draw_worlds,
    put,
)

_STEPS_PER_ROW, _FEWEST_STEPS = 100, 20_000
_LEAST_STEPS_PER_ROW = 8
"""Steps without which nothing is chosen.

On Adult (12 batches, k = 5, 3 % waiting) 10 for each row chose better than to let the costliest classes wait,
and 3 worse.
"""

_STEPS_PER_CALL = 2_000
_FIRST_HEAT, _LAST_HEAT = 0.1, 0.02
"""Temperature at first and at last, in usual costs.

Higher ones lose what is good about the beginning, where the classes wait that gain most by it; the more so
the larger k is.
"""

_PRESENT, _WHO_WAITS = 0.4, 0.3
"""Share of the steps that change the present, and share of the others that are about rows that may wait."""

_STRIDE, _STRIDES = 0.01, 10_000
"""How far the price of waiting moves, in usual costs, and how many times it does if time does not run out."""

_STRICT = 0.5
"""Share of the search after which no more may wait than may, where the price alone did not see to that."""


def choose_waiting(
    table: RowTypeTable,
    waited: NDArray[np.int64],
    vectors: NDArray[np.int64],
    k: int,
    clock: Clock,
    *,
    longest: int,
    most: int,
    seed: int | None = None,
) -> NDArray[np.int64] | None:
    """Choose who waits for the next version.

    Parameters
    ----------
    table : RowTypeTable
        Row types of the rows that may enter, and of earlier ones; every row is a person.
    waited : ndarray of int64, shape (n,)
        For how many versions the rows of each type have waited, 0 for those that came just now; negative for
        earlier rows.
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors, the fully suppressed one among them.
    clock : Clock
        Ends the search when time is over. Without an end equal input gives an equal choice.
    longest : int
        Versions for which a row may wait at most, >= 1.
    most : int
        Rows that may wait, >= 0.
    seed : int, optional
        Seed of the futures and of the random choices.

    Returns
    -------
    ndarray of int64, shape (n,), or None
        Rows of each type that wait: `most` at most, none that has waited for `longest` versions; all others
        can be divided into classes of k rows. None if nothing is chosen: fewer than k rows came or are known
        from before, so that no future can be drawn; nobody may wait, because k rows must enter; there was no
        time; or too many wait.

    Raises
    ------
    MemoryExceeded
        More pairs of a row and a pattern instance are possible than memory holds.

    Notes
    -----
    A heuristic: how much less another choice would lose is not known. It takes `_STEPS_PER_ROW` steps for
    each row of the pool and of the futures, of which about 600,000 take a second.
    """
    drawn = draw_worlds(table, waited, vectors, k, clock, longest=longest, most=most, seed=seed)
    if drawn is None:
        return None
    row_type, worlds = drawn
    if not search(worlds, clock, seed or 0):
        return None
    waits = worlds.held[0, : worlds.pool] == OUT
    return np.bincount(row_type[: worlds.pool][waits], minlength=len(table))


def search(worlds: Worlds, clock: Clock, seed: int) -> bool:
    """Find a place for every row in every world.

    Returns
    -------
    bool
        Whether there was time enough, and no more rows wait than may.
    """
    for world in range(worlds.held.shape[0]):
        _fill(worlds, world)
    _let_classes_wait(worlds)
    steps = _anneal(worlds, clock, seed)
    _let_enter(worlds)
    _use_room(worlds)
    return steps >= _LEAST_STEPS_PER_ROW * worlds.held.shape[1] and int(worlds.waiting[0]) <= worlds.most


def _anneal(worlds: Worlds, clock: Clock, seed: int) -> int:
    """Try changes at random, and take the dearer ones ever less often, while the price finds its level.

    Returns
    -------
    int
        Steps.
    """
    random = random_state(seed)
    effort = max(_FEWEST_STEPS, _STEPS_PER_ROW * worlds.held.shape[1])
    schedule = Schedule(clock, "choose who waits", effort)
    steps = 0
    while not schedule.is_over():
        after = steps + schedule.at_most(_STEPS_PER_CALL)
        _take_steps(worlds, random, schedule.done(), steps, after, effort // _STRIDES)
        schedule.spend(after - steps)
        steps = after
    return steps


@kernel
def _take_steps(
    worlds: Worlds, random: NDArray[np.uint64], done: float, first: int, after: int, steps_per_stride: int
) -> None:
    """Take the steps from `first` on, before `after`."""
    count = worlds.held.shape[0]
    heat = _FIRST_HEAT * (_LAST_HEAT / _FIRST_HEAT) ** done
    for step in range(first, after):
        if step % steps_per_stride == 0:
            upward = 1.0 if worlds.waiting[0] >= worlds.most else -1.0
            worlds.price[0] = max(0.0, worlds.price[0] + _STRIDE * (1.0 - 0.8 * done) * upward)
        world = 0 if share(random) < _PRESENT else 1 + below(random, count - 1)
        arrival = worlds.arrival[world]
        row = arrival + below(random, worlds.arrival[world + 1] - arrival)
        if world > 0 and share(random) < _WHO_WAITS:
            row = below(random, worlds.pool)
        rise = -heat * np.log(1.0 - share(random))
        waited = worlds.waiting[0]
        change, moves = try_another_place(worlds, world, row, rise, random)
        too_many = done > _STRICT and worlds.waiting[0] > max(worlds.most, waited)
        if too_many or change > rise * (worlds.weight if world > 0 else 1.0):
            undo(worlds, moves)


@kernel
def _fill(worlds: Worlds, world: int) -> None:
    """Give the rows of a world places: the cheapest classes of k rows first, as long as there are any."""
    everybody = worlds.cost.size - 1
    for place in range(everybody):
        begin, own, batch, coming = candidates(worlds, world, place)
        first, after = (begin, begin + own) if world == 0 else (batch, batch + coming)
        free = 0
        for number in range(first, after):
            free += worlds.held[world, worlds.member[number]] == OUT
        if free < worlds.k:
            continue
        for number in range(first, after):
            row = worlds.member[number]
            if worlds.held[world, row] == OUT:
                put(worlds, world, row, place)
    for row in range(worlds.arrival[world], worlds.arrival[world + 1]):
        if worlds.held[world, row] == OUT:
            place = cheapest(worlds, world, row)
            put(worlds, world, row, place if place >= 0 else everybody)
    _complete_last_class(worlds, world)


@inner_kernel
def _complete_last_class(worlds: Worlds, world: int) -> None:
    """Let the rows of the dearest classes join those that fit no class, as long as these are fewer than k."""
    everybody = worlds.cost.size - 1
    place = everybody - 1
    while 0 < worlds.rows[world, everybody] < worlds.k:
        for row in range(worlds.arrival[world], worlds.arrival[world + 1]):
            if worlds.held[world, row] == place:
                put(worlds, world, row, everybody)
        place -= 1


@kernel
def _let_classes_wait(worlds: Worlds) -> None:
    """Let the classes of the present wait whose rows gain most by it, as far as there is room."""
    rise = np.zeros(worlds.cost.size)
    for row in range(worlds.pool):
        place = worlds.held[0, row]
        rise[place] += np.inf if worlds.due[row] else cost_later(worlds, row) - worlds.cost[place]
    by_class = np.argsort(worlds.held[0, : worlds.pool])
    class_of = worlds.held[0, by_class]
    rise /= np.maximum(1, worlds.rows[0])
    for place in np.argsort(rise):
        count = worlds.rows[0, place]
        if rise[place] >= 0.0:
            break
        if worlds.waiting[0] + count <= worlds.most:
            first = np.searchsorted(class_of, place)
            for number in range(first, first + count):
                move(worlds, 0, by_class[number], OUT, 0)


@kernel
def _let_enter(worlds: Worlds) -> None:
    """Let those enter who gain nothing by waiting."""
    for row in range(worlds.pool):
        place = cheapest(worlds, 0, row) if worlds.held[0, row] == OUT else OUT
        if place >= 0 and worlds.cost[place] <= worlds.later[row]:
            change, moves = try_place(worlds, row, place)
            if change + worlds.price[0] > 0.0:  # others counted on it
                undo(worlds, moves)


@kernel
def _use_room(worlds: Worlds) -> None:
    """Let those wait who gain most by it, where the price left too few waiting."""
    rise = np.full(worlds.pool, np.inf)
    for row in range(worlds.pool):
        if worlds.held[0, row] >= 0 and not worlds.due[row]:
            rise[row] = cost_later(worlds, row) - worlds.cost[worlds.held[0, row]]
    for row in np.argsort(rise):
        if rise[row] >= 0.0 or worlds.waiting[0] >= worlds.most:
            break
        if worlds.held[0, row] == OUT:
            continue
        waiting = worlds.waiting[0]
        change, moves = try_place(worlds, row, OUT)
        change -= worlds.price[0] * (worlds.waiting[0] - waiting)
        if change >= 0.0 or worlds.waiting[0] > worlds.most:
            undo(worlds, moves)
