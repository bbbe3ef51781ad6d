"""Changes of who is where: a class is formed or a row waits, and what this breaks is dissolved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.solvers.annealing.draw import below, share
from kanon_pg.worker.solvers.waiting.worlds import (
    OUT,
    STAYS,
    Worlds,
    candidate,
    candidates,
    cheapest,
    cost_at,
    cost_later,
    put,
)

_FEWEST_FITTING, _MOST_FITTING = 0.6, 60.0
"""An instance is tried as a class if so many times k rows fit it, of the present and a mean future."""

_OUT_OF_PRESENT, _OUT_OF_FUTURE = 0.15, 0.05
"""Share of the tries to let the row wait, or stay on."""

_SMALL_LOSS, _GREAT_LOSS = 0.5, 1.5
"""What a row may lose by joining a class that lacks rows, at first and at last, in usual costs."""

_SPARING = 0.3
"""Share of the rows that gain by a class but stay where theirs would break."""

_NO_CHANCE = 1e18
"""Cost of what cannot be."""


@inner_kernel
def _put_on_record(worlds: Worlds, world: int, row: int, place: int, moves: int) -> float:
    """Move a row in one world, and return how the cost changes; `moves` were made before."""
    old = worlds.held[world, row]
    worlds.record[moves, 0], worlds.record[moves, 1], worlds.record[moves, 2] = world, row, old
    put(worlds, world, row, place)
    return cost_at(worlds, world, row, place) - cost_at(worlds, world, row, old)


@inner_kernel
def move(worlds: Worlds, world: int, row: int, place: int, moves: int) -> tuple[float, int]:
    """Move a row; one that waits from now on enters every future, and one that no longer does leaves them.

    Returns
    -------
    change : float
        Of the cost.
    moves : int
        Number of moves on record.
    """
    old = worlds.held[world, row]
    change = _put_on_record(worlds, world, row, place, moves)
    moves += 1
    if world == 0 and (old == OUT) != (place == OUT):
        for future in range(1, worlds.held.shape[0]):
            to = cheapest(worlds, future, row) if place == OUT else OUT
            change += _put_on_record(worlds, future, row, to, moves)
            moves += 1
    return change, moves


@inner_kernel
def undo(worlds: Worlds, moves: int) -> None:
    """Take the moves on record back, the last one first."""
    for number in range(moves - 1, -1, -1):
        put(worlds, worlds.record[number, 0], worlds.record[number, 1], worlds.record[number, 2])


@inner_kernel
def _is_full(worlds: Worlds, moves: int) -> bool:
    """Return whether a change has become too large; what is left is room for the moves of one more row."""
    return bool(moves > worlds.record.shape[0] // 2)


@inner_kernel
def _dissolve_broken(worlds: Worlds, change: float, moves: int) -> tuple[float, int]:
    """Send the rows of classes that became too small to the cheapest others, or let them wait."""
    seen = 0
    while seen < moves:
        world, place = worlds.record[seen, 0], worlds.record[seen, 2]
        seen += 1
        if place < 0 or not 0 < worlds.rows[world, place] < worlds.k:
            continue
        span = candidates(worlds, world, place)
        for number in range(span[1] + span[3]):
            other = candidate(worlds, span, number)
            if worlds.held[world, other] != place:
                continue
            to = cheapest(worlds, world, other)
            if world == 0 and worlds.due[other]:
                if to == OUT:
                    return _NO_CHANCE, moves
            elif world == 0 and to >= 0 and worlds.cost[to] > worlds.price[0] + cost_later(worlds, other):
                to = OUT
            more, moves = move(worlds, world, other, to, moves)
            change += more
            if _is_full(worlds, moves):
                return _NO_CHANCE, moves
    return change, moves


@inner_kernel
def _cost_now(worlds: Worlds, world: int, row: int) -> float:
    """Return what a row costs where it is, in costs of its world; of one that waits, with the futures."""
    cost = cost_at(worlds, world, row, worlds.held[world, row])
    if world > 0:
        return cost / worlds.weight
    return cost + worlds.later[row] if worlds.held[0, row] == OUT else cost


@inner_kernel
def _gain(worlds: Worlds, world: int, row: int, place: int) -> float:
    """Return what a row saves by an instance, in costs of its world; minus `_NO_CHANCE` if it cannot."""
    old = worlds.held[world, row]
    if old == place or (world > 0 and old == OUT):
        return -_NO_CHANCE
    return float(_cost_now(worlds, world, row) - worlds.cost[place])


@inner_kernel
def _is_hopeless(
    worlds: Worlds, world: int, row: int, place: int, span: tuple[int, int, int, int], most: float
) -> bool:
    """Return whether forming a class costs more than `most`, even if no other class breaks."""
    lacking, change, few, more = worlds.k - worlds.rows[world, place], 0.0, 0, 0
    for number in range(span[1] + span[3]):
        other = candidate(worlds, span, number)
        gain = _gain(worlds, world, other, place)
        if gain > 0 or (other == row and gain > -_NO_CHANCE):
            lacking -= 1
            change -= gain
        elif gain >= -_SMALL_LOSS:
            few += 1
        elif gain >= -_GREAT_LOSS:
            more += 1
    return bool(lacking > few + more or change + _SMALL_LOSS * max(0, lacking - few) - _SMALL_LOSS > most)


@inner_kernel
def _form(
    worlds: Worlds, world: int, row: int, place: int, most: float, random: NDArray[np.uint64]
) -> tuple[float, int]:
    """Form a class of the row and of rows that cost more elsewhere, or a little less if it needs them."""
    span = candidates(worlds, world, place)
    count = span[1] + span[3]
    if count < worlds.k or _is_hopeless(worlds, world, row, place, span, most):
        return _NO_CHANCE, 0
    change, moves = move(worlds, world, row, place, 0)
    offset = below(random, count)
    for turn in range(3):
        least = 0.0 if turn == 0 else -_SMALL_LOSS if turn == 1 else -_GREAT_LOSS
        for step in range(count):
            if turn > 0 and worlds.rows[world, place] >= worlds.k:
                break
            other = candidate(worlds, span, (step + offset) % count)
            gain = _gain(worlds, world, other, place)
            if gain < least or (turn == 0 and gain == 0):
                continue
            old = worlds.held[world, other]
            breaks = old >= 0 and worlds.rows[world, old] <= worlds.k
            if turn == 0 and breaks and share(random) < _SPARING:
                continue
            more, moves = move(worlds, world, other, place, moves)
            change += more
            if _is_full(worlds, moves):
                return _NO_CHANCE, moves
    if worlds.rows[world, place] < worlds.k:
        return _NO_CHANCE, moves
    return _dissolve_broken(worlds, change, moves)


@inner_kernel
def _cheaper(worlds: Worlds, row: int, cost: float) -> int:
    """Return how many instances of a row cost no more than `cost`."""
    low, high = worlds.start[row], worlds.start[row + 1]
    while low < high:
        middle = (low + high) // 2
        if worlds.cost[worlds.instance[middle]] <= cost:
            low = middle + 1
        else:
            high = middle
    return int(low - worlds.start[row])


@inner_kernel
def _take_out(worlds: Worlds, world: int, row: int, most: float) -> tuple[float, int]:
    """Let a row wait, or stay on in a future."""
    if worlds.held[world, row] < 0 or (world == 0 and worlds.due[row]):
        return _NO_CHANCE, 0
    without = worlds.price[0] + cost_later(worlds, row) if world == 0 else worlds.staying[row]
    if without - _cost_now(worlds, world, row) - _SMALL_LOSS > most:
        return _NO_CHANCE, 0
    change, moves = move(worlds, world, row, OUT if world == 0 else STAYS, 0)
    return _dissolve_broken(worlds, change, moves)


@inner_kernel
def try_another_place(
    worlds: Worlds, world: int, row: int, most: float, random: NDArray[np.uint64]
) -> tuple[float, int]:
    """Let a row wait, or form a class for it that costs at most a usual cost more than it costs now.

    Parameters
    ----------
    most : float
        By how much the cost may rise, in costs of this world.

    Returns
    -------
    change : float
        Of the cost, in costs of the present; huge if the change cannot be.
    moves : int
        Number of moves on record.
    """
    if world > 0 and worlds.held[world, row] == OUT:
        return _NO_CHANCE, 0
    if share(random) < (_OUT_OF_PRESENT if world == 0 else _OUT_OF_FUTURE):
        return _take_out(worlds, world, row, most)
    count = _cheaper(worlds, row, _cost_now(worlds, world, row) + 1.0)
    if count == 0:
        return _NO_CHANCE, 0
    place = worlds.instance[worlds.start[row] + below(random, count)]
    fits = worlds.fits[place]
    is_promising = _FEWEST_FITTING * worlds.k <= fits <= _MOST_FITTING * worlds.k
    if not is_promising or place == worlds.held[world, row]:
        return _NO_CHANCE, 0
    return _form(worlds, world, row, place, most, random)


@inner_kernel
def try_place(worlds: Worlds, row: int, place: int) -> tuple[float, int]:
    """Move a row of the pool in the present; returns what `try_another_place` does."""
    change, moves = move(worlds, 0, row, place, 0)
    return _dissolve_broken(worlds, change, moves)
