"""The present and possible futures of a release over time: who may enter, with whom, and who waits.

The rows that may enter now, the *pool*, are looked at in several worlds. World 0 is the present, where each
of them enters a class or waits. Every other world is a future, with a batch that might come: who waits in the
present enters a class there, or stays on; who enters now is absent. Classes are pattern instances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.waiting import FUTURES
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.compatibility import Compatibility, compatibility_of

OUT = -1
"""In place of an instance: a row that waits in the present, or that is absent from a future."""

STAYS = -2
"""In place of an instance: a row that stays on in a future."""

_WEIGHT = 0.8
"""Weight of what rows lose in the futures, on average, against what they lose now.

On Adult (12 batches, k = 5, 3 % waiting) 0.6 and 1 lost more cells.
"""

_ENOUGH = 1.6
"""Rows that must come with a version for a class to be as likely as not, as a multiple of k."""

_STAYING = 1.0
"""What it costs to stay on, in usual costs, besides what is probably lost a version later."""

_FIRST_PRICE = 2.0
"""What waiting costs at first, in usual costs, besides what is lost later; it then finds its level."""

_PLACES_PER_ROW = 4
"""Places of the record of one change, for each row: a change of half as many moves is given up."""


class Worlds(NamedTuple):
    """Rows, the classes that they fit, and where they are in each world.

    Costs are in usual costs: the mean weight of a column.

    Parameters
    ----------
    k : int
        Fewest rows of a class.
    pool : int
        The first rows, so many, may enter now.
    arrival : ndarray of int64, shape (w + 1,)
        First row of the batch of each future, from world 1 on; that of world 0 is the pool.
    cost : ndarray of float64, shape (q,)
        Cost of a row in each instance, ascending.
    begin, member : ndarray of int64, shape (q + 1,), and int32
        Rows that fit each instance, ascending.
    start, instance : ndarray of int64, shape (n + 1,), and int32
        Instances that each row fits, cheapest first.
    fits : ndarray of float64, shape (q,)
        Rows of the present and of a mean future that fit each instance.
    weight : float
        What a cost in one future counts in the present.
    staying : ndarray of float64, shape (n,)
        Cost of staying on in a future.
    due : ndarray of bool, shape (pool,)
        Rows that have waited so long that they enter now.
    most : int
        Rows that may wait.
    held : ndarray of int32, shape (w, n)
        Where each row is: an instance, `OUT` or `STAYS`.
    rows : ndarray of int32, shape (w, q)
        Rows in each instance.
    later : ndarray of float64, shape (pool,)
        What each row costs in all futures together.
    waiting : ndarray of int64, shape (1,)
        Rows that wait.
    price : ndarray of float64, shape (1,)
        What waiting costs besides `later`.
    record : ndarray of int64, shape (r, 3)
        World, row and former place of each move of the change that is made just now.
    """

    k: int
    pool: int
    arrival: NDArray[np.int64]
    cost: NDArray[np.float64]
    begin: NDArray[np.int64]
    member: NDArray[np.int32]
    start: NDArray[np.int64]
    instance: NDArray[np.int32]
    fits: NDArray[np.float64]
    weight: float
    staying: NDArray[np.float64]
    due: NDArray[np.bool_]
    most: int
    held: NDArray[np.int32]
    rows: NDArray[np.int32]
    later: NDArray[np.float64]
    waiting: NDArray[np.int64]
    price: NDArray[np.float64]
    record: NDArray[np.int64]


def draw_worlds(
    table: RowTypeTable,
    waited: NDArray[np.int64],
    vectors: NDArray[np.int64],
    k: int,
    clock: Clock,
    *,
    longest: int,
    most: int,
    seed: int | None,
) -> tuple[NDArray[np.int64], Worlds] | None:
    """Draw futures with as many rows as came just now.

    Parameters
    ----------
    table, waited, vectors, clock, longest, most, seed
        See `kanon_pg.worker.solvers.waiting.choice.choose_waiting`.

    Returns
    -------
    row_type : ndarray of int64, shape (n,)
        Row type of each row.
    worlds : Worlds
        In which nobody has a place. None if nobody may wait, or a future has fewer than k rows.

    Raises
    ------
    MemoryExceeded
        More pairs of a row and an instance are possible than memory holds.
    """
    pool, known = _single_rows(table, waited, waited >= 0), _single_rows(table, waited, waited < 0)
    size = min(int(table.rows[waited == 0].sum()), known.size)
    most = min(most, pool.size - k)
    if size < k or most < 1:
        return None
    draw = np.random.default_rng(seed or 0)
    row_type = np.concatenate([pool, *(draw.choice(known, size, replace=False) for _ in range(FUTURES))])
    rows = table.divide(row_type, np.ones(row_type.size, dtype=np.int64))
    arrival = np.array([0, *(pool.size + size * np.arange(FUTURES + 1))])
    graph = compatibility_of(rows, vectors, k, clock)
    return row_type, _worlds_of(rows, graph, k, arrival, waited[pool] >= longest, most)


def _single_rows(
    table: RowTypeTable, waited: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the row type of each row of some types, in an order that depends on their values alone."""
    types = np.flatnonzero(chosen)
    by_content = types[np.lexsort((waited[types], table.hashes[:, types].sum(axis=0, dtype=np.uint64)))]
    return np.repeat(by_content, table.rows[by_content])


def _worlds_of(
    table: RowTypeTable,
    graph: Compatibility,
    k: int,
    arrival: NDArray[np.int64],
    due: NDArray[np.bool_],
    most: int,
) -> Worlds:
    n, count, pool = len(table), arrival.size - 1, due.size
    start, instance = graph.instances_of
    cost = graph.cost / table.weights.mean()
    own, others = _pool_and_others(graph, pool)
    return Worlds(
        k=k,
        pool=pool,
        arrival=arrival,
        cost=cost,
        begin=graph.begin,
        member=graph.member,
        start=start,
        instance=instance,
        fits=own + others / (count - 1),
        weight=_WEIGHT / (count - 1),
        staying=_STAYING + _lost_later(cost, start, instance, (own + others) / count, 1 / count, _ENOUGH * k),
        due=due,
        most=most,
        held=np.full((count, n), OUT, dtype=np.int32),
        rows=np.zeros((count, cost.size), dtype=np.int32),
        later=np.zeros(pool),
        waiting=np.array([pool]),
        price=np.array([_FIRST_PRICE]),
        record=np.empty((_PLACES_PER_ROW * n, 3), dtype=np.int64),
    )


def _pool_and_others(graph: Compatibility, pool: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the pool, and the other ones, that fit each instance."""
    own = np.add.reduceat(graph.member < pool, graph.begin[:-1], dtype=np.int64)
    return own, np.diff(graph.begin) - own


@kernel
def _lost_later(
    cost: NDArray[np.float64],
    start: NDArray[np.int64],
    instance: NDArray[np.int32],
    come: NDArray[np.float64],
    itself: float,
    enough: float,
) -> NDArray[np.float64]:
    """Return what each row will probably lose a version later, by how many come that fit it.

    Parameters
    ----------
    come : ndarray of float64, shape (q,)
        Rows of a version that fit each instance.
    itself : float
        How often a row counts there itself.
    enough : float
        Rows with which a class is as likely as not.

    Notes
    -----
    Of the instances of about the same cost the one for which most come, `n` rows, becomes a class with
    probability ``1 / (1 + (enough / n) ** 2)``. A row for which none does is fully suppressed.
    """
    lost = np.zeros(start.size - 1)
    for row in range(lost.size):
        rest, position = 1.0, start[row]
        while position < start[row + 1] - 1:
            level, most = np.round(cost[instance[position]]), 0.0
            while position < start[row + 1] - 1 and np.round(cost[instance[position]]) == level:
                most = max(most, come[instance[position]] - itself)
                position += 1
            likely = most * most / (most * most + enough * enough)
            lost[row] += rest * likely * level
            rest *= 1.0 - likely
        lost[row] += rest * cost[-1]
    return lost


@inner_kernel
def cost_at(worlds: Worlds, world: int, row: int, place: int) -> float:
    """Return what a row costs at a place, in costs of the present; of one that waits, without the futures."""
    if world == 0:
        return float(worlds.cost[place]) if place >= 0 else float(worlds.price[0])
    if place >= 0:
        return float(worlds.weight * worlds.cost[place])
    return float(worlds.weight * worlds.staying[row]) if place == STAYS else 0.0


@inner_kernel
def put(worlds: Worlds, world: int, row: int, place: int) -> None:
    """Give a row another place in one world."""
    old = worlds.held[world, row]
    if old >= 0:
        worlds.rows[world, old] -= 1
    if place >= 0:
        worlds.rows[world, place] += 1
    if world == 0:
        worlds.waiting[0] += (place == OUT) - (old == OUT)
    elif row < worlds.pool:
        worlds.later[row] += cost_at(worlds, world, row, place) - cost_at(worlds, world, row, old)
    worlds.held[world, row] = place


@inner_kernel
def cheapest(worlds: Worlds, world: int, row: int) -> int:
    """Return the cheapest class that a row fits; if none costs less, `STAYS`, or in the present `OUT`."""
    for position in range(worlds.start[row], worlds.start[row + 1]):
        place = worlds.instance[position]
        if world > 0 and worlds.cost[place] >= worlds.staying[row]:
            break
        if worlds.rows[world, place] >= worlds.k:
            return int(place)
    return STAYS if world > 0 else OUT


@inner_kernel
def cost_later(worlds: Worlds, row: int) -> float:
    """Return what a row would cost in the futures if it waited, without changing any class."""
    cost = 0.0
    for future in range(1, worlds.held.shape[0]):
        cost += cost_at(worlds, future, row, cheapest(worlds, future, row))
    return float(cost)


@inner_kernel
def _first_from(numbers: NDArray[np.int32], low: int, high: int, least: int) -> int:
    """Return the first place from `low` on whose number is at least `least`, by bisection."""
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@inner_kernel
def candidates(worlds: Worlds, world: int, place: int) -> tuple[int, int, int, int]:
    """Return where the rows of a world stand that fit an instance: of the pool, and of its own batch.

    Returns
    -------
    begin, count : int
        Place of the first of the pool among the members, and their number.
    begin, count : int
        Of the batch; none in the present.
    """
    begin, end = worlds.begin[place], worlds.begin[place + 1]
    after = _first_from(worlds.member, begin, end, worlds.pool)
    if world == 0:
        return begin, after - begin, after, 0
    first = _first_from(worlds.member, after, end, worlds.arrival[world])
    last = _first_from(worlds.member, first, end, worlds.arrival[world + 1])
    return begin, after - begin, first, last - first


@inner_kernel
def candidate(worlds: Worlds, span: tuple[int, int, int, int], number: int) -> int:
    """Return one of the rows that `candidates` found, from 0."""
    begin, own, first, _ = span
    if number < own:
        return int(worlds.member[begin + number])
    return int(worlds.member[first + number - own])
