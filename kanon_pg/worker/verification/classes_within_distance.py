"""The costliest class that is no further than t from the whole table, by the equal distance.

Let a value have the share q of the whole table. The distance of a class of n rows is the share of its
rows beyond q n of their value, so these are at most t n. Where rows may be taken in parts, the greedy
choice of n rows is the best: the quotas of values and the room beyond them are a polymatroid (Edmonds
1970, "Submodular functions, matroids, and certain polyhedra"). They are linear in n, so the greatest gain
is concave in n, and bisection finds the best n. Shares are rounded up, which allows more classes.

Of small classes rows are whole. The rows of a value go beyond ``q n`` one after the other: the first
``floor(q n)`` not at all, the next one by what is left of it, all further ones wholly. With a price for
that, the class that gains most has the n rows that gain most, the price paid, and for the best price no
class gains more than these and the price of ``t n``: the linear program over whole rows. That is no
longer concave in n, so each n is looked at for which parts of rows gain anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.verification.class_demands import (
    NO_CLASS,
    SHARE_UNIT,
    ClassDemands,
    PricedRows,
    empty_values,
)

_ANY_GAIN = np.int64(1 << 61)
"""The gain where sums could leave 64 bits, so that nothing is claimed."""

_TOO_MANY = np.int64(NO_CLASS - 1)
"""The gain of more rows than there are."""


@kernel
def gain_within_distance(
    demands: ClassDemands,
    column: int,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
) -> np.int64:
    """Return the greatest gain of rows, whole ones in small classes, that are near enough to the table."""
    together, most = np.int64(0), cost
    for item in members:
        together += priced.rows[item]
        most = max(most, abs(priced.prices[item]))
    if np.float64(most) * np.float64(together) * SHARE_UNIT >= 2.0**61:
        demands.taken[: members.size] = priced.rows[members]
        return _ANY_GAIN
    low, high = np.int64(k), together
    while low < high:
        middle = (low + high) // 2
        above = _gain_of_size(demands, column, middle + 1, priced, members, cost)
        if above == _TOO_MANY or above <= _gain_of_size(demands, column, middle, priced, members, cost):
            high = middle
        else:
            low = middle + 1
    if low > high:
        return NO_CLASS
    gain = _gain_of_size(demands, column, low, priced, members, cost)
    if gain == _TOO_MANY:
        return NO_CLASS
    if gain > 0 and low <= MOST_WHOLE and np.float64(most) * MOST_WHOLE * SHARE_UNIT < 2.0**60:
        return _gain_of_whole_rows(demands, column, low, priced, members, cost, k)
    return np.int64(-(-gain // SHARE_UNIT))


MOST_WHOLE = np.int64(64)
"""Classes of at most so many rows are held to whole rows; in larger ones parts of rows say nearly as much."""

_STEEPEST = np.int64(1 << 30)
"""Most that a row beyond its quota is priced at."""


@kernel
def _gain_of_whole_rows(
    demands: ClassDemands,
    column: int,
    start: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
) -> np.int64:
    """Return the greatest gain where small classes have whole rows; parts of rows gain most at `start`."""
    units = units_of(members.size, demands.held.size)
    best, best_size, beyond, price = NO_CLASS, start, NO_CLASS, np.int64(0)
    for step in (1, -1):
        size = start if step > 0 else start - 1
        while size >= k:
            parts = _gain_of_size(demands, column, size, priced, members, cost)
            if parts == _TOO_MANY:
                break
            parts = np.int64(-(-parts // SHARE_UNIT))
            if parts <= best or parts <= 0 or size > MOST_WHOLE:
                # Gains of parts are concave in the size: further ones gain no more.
                if parts > max(best, beyond):
                    beyond = parts
                    if parts > 0:
                        best_size = size
                break
            list_units(demands, column, size, priced, members, units)
            _, price, gain = multipliers(demands, size, priced, members, cost, units, price, best)
            gain = min(parts, gain)
            if gain > best:
                best = gain
                best_size = size if gain > beyond else best_size
            size += step
    if best_size > MOST_WHOLE or best == NO_CLASS:
        _gain_of_size(demands, column, best_size, priced, members, cost)
    else:
        list_units(demands, column, best_size, priced, members, units)
        _take_mixed(demands, best_size, priced, members, cost, units)
    return max(best, beyond)


class Units(NamedTuple):
    """Rows of a class of some size, one by one, by how far they go beyond the quota of their value.

    Parameters
    ----------
    free, near, far : ndarray of int64, shape (2, m)
        Members, and how many rows of each are within the quota, or wholly beyond it. Each value has one row
        `near`, partly beyond: there it is by how much, in the unit of shares.
    length : ndarray of int64, shape (3,)
        How many of each there are.
    order : ndarray of int64
        Working array: order of `near`.
    """

    free: NDArray[np.int64]
    near: NDArray[np.int64]
    far: NDArray[np.int64]
    length: NDArray[np.int64]
    order: NDArray[np.int64]


@kernel
def units_of(members: int, values: int) -> Units:
    """Return room for the units of a class."""
    least = min(members, values)
    return Units(
        np.empty((2, members), dtype=np.int64), np.empty((2, least), dtype=np.int64),
        np.empty((2, members), dtype=np.int64), np.zeros(3, dtype=np.int64), np.empty(least, dtype=np.int64),
    )  # fmt: skip


@kernel
def list_units(
    demands: ClassDemands,
    column: int,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    units: Units,
) -> None:
    """List the rows that a class of some size may have of members, listed dearest first."""
    held, codes, quotas = demands.held, demands.codes[column], demands.quotas[column]
    empty_values(held, codes, members)
    free, near, far, closed, left = 0, 0, 0, 0, size
    for place in range(members.size):
        if closed == held.size and left == 0:
            break
        item = members[place]
        code, rows = codes[item], priced.rows[item]
        quota = quotas[code] * size
        within = min(rows, max(np.int64(0), quota // SHARE_UNIT - held[code]))
        if within > 0:
            units.free[0, free], units.free[1, free] = place, within
            free += 1
            rows -= within
        held[code] += within
        if rows > 0 and held[code] == quota // SHARE_UNIT:
            units.near[0, near], units.near[1, near] = place, SHARE_UNIT - quota % SHARE_UNIT
            near += 1
            closed += 1
            rows -= 1
            held[code] += 1
        more = min(rows, left)
        if more > 0:
            units.far[0, far], units.far[1, far] = place, more
            far += 1
            left -= more
        held[code] += rows
    units.length[0], units.length[1], units.length[2] = free, near, far


@kernel
def multipliers(
    demands: ClassDemands,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    units: Units,
    start: np.int64,
    least: np.int64,
) -> tuple[np.int64, np.int64, np.int64]:
    """Return the prices of a row beyond its quota between which the limit is met, and the greatest gain.

    Parameters
    ----------
    start : int
        The first price that is tried.
    least : int
        Gains up to this one need not be told apart.

    Notes
    -----
    The gain for a price, ``price * limit`` more than the sum of the rows that are worth most, is convex in
    it; where two of its tangents meet is the next one that is tried (Kelley 1960, "The cutting-plane method
    for solving convex programs"). It is an upper bound whatever the price.
    """
    allowed = demands.beyond * size
    if _least_beyond(units, size) > allowed:
        return start, start, NO_CLASS
    low, high, step = np.int64(-1), _STEEPEST + 1, max(np.int64(1), start // 8)
    low_worth, low_beyond, high_worth, high_beyond = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    gain, middle = np.int64(1 << 62), start
    while high - low > 1:
        worth, beyond, _ = choose(demands, size, priced, members, cost, units, middle, 0.0)
        gain = min(gain, (worth + middle * allowed) // SHARE_UNIT)
        if gain <= least:
            return middle, middle, gain
        if beyond > allowed:
            low, low_worth, low_beyond = middle, worth, beyond
        else:
            high, high_worth, high_beyond = middle, worth, beyond
        if low < 0:
            middle = max(np.int64(0), high - step)
            step *= 4
        elif high > _STEEPEST:
            if low == _STEEPEST:
                return low, low, gain
            step = max(step, (priced.prices[members[0]] - cost) // 8)
            middle = min(_STEEPEST, low + step)
            step *= 4
        else:
            # Tangents: what the rows gain without the price, less what they are beyond, times the price.
            rise = (low_worth + low * low_beyond) - (high_worth + high * high_beyond)
            middle = min(high - 1, max(low + 1, rise // (low_beyond - high_beyond)))
    return max(low, np.int64(0)), high, gain


@kernel
def _least_beyond(units: Units, size: np.int64) -> np.int64:
    """Return the least by which so many rows are beyond the quotas of their values together."""
    free, near, _ = units.length
    left, beyond = size - units.free[1, :free].sum(), np.int64(0)
    for part in np.sort(units.near[1, :near]):
        if left <= 0:
            break
        beyond += part
        left -= 1
    return np.int64(beyond + max(np.int64(0), left) * SHARE_UNIT)


@kernel
def choose(
    demands: ClassDemands,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    units: Units,
    price: np.int64,
    weight: float,
) -> tuple[np.int64, np.int64, np.int64]:
    """Choose the rows that gain most where rows beyond their quotas have a price; add them to `taken`.

    Returns what they gain less that price, by how much they are beyond their quotas, and what the last one
    gains. There are enough.
    """
    free, near, far = units.length
    worth, beyond, left, last = np.int64(0), np.int64(0), size, np.int64(0)
    for number in range(near):
        place, part = units.near[0, number], units.near[1, number]
        here = SHARE_UNIT * (priced.prices[members[place]] - cost) - price * part
        spot = number
        while spot > 0 and _near_worth(priced, members, cost, units, price, spot - 1) < here:
            units.order[spot] = units.order[spot - 1]
            spot -= 1
        units.order[spot] = number
    of_free, of_near, of_far = 0, 0, 0
    while left > 0:
        a, b, c = NO_CLASS, NO_CLASS, NO_CLASS
        if of_free < free:
            a = SHARE_UNIT * (priced.prices[members[units.free[0, of_free]]] - cost)
        if of_near < near:
            b = _near_worth(priced, members, cost, units, price, of_near)
        if of_far < far:
            c = SHARE_UNIT * (priced.prices[members[units.far[0, of_far]]] - cost - price)
        if a >= b and a >= c:
            place, more, last, part = (
                units.free[0, of_free],
                min(left, units.free[1, of_free]),
                a,
                np.int64(0),
            )
            of_free += 1
        elif b >= c:
            number = units.order[of_near]
            place, more, last, part = units.near[0, number], np.int64(1), b, units.near[1, number]
            of_near += 1
        else:
            place, more, last, part = (
                units.far[0, of_far],
                min(left, units.far[1, of_far]),
                c,
                np.int64(SHARE_UNIT),
            )
            of_far += 1
        worth += more * last
        beyond += more * part
        left -= more
        if weight > 0.0:
            demands.taken[place] += weight * more
    return worth, beyond, last


@inner_kernel
def _near_worth(
    priced: PricedRows, members: NDArray[np.int32], cost: np.int64, units: Units, price: np.int64, spot: int
) -> np.int64:
    """Return what a row partly beyond the quota of its value gains, in the order of `near`."""
    number = units.order[spot]
    gain = priced.prices[members[units.near[0, number]]] - cost
    return np.int64(SHARE_UNIT * gain - price * units.near[1, number])


@kernel
def _take_mixed(
    demands: ClassDemands,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    units: Units,
) -> None:
    """Take the rows of the class that gains most, in parts where that is what meets the limit."""
    low, high, _ = multipliers(demands, size, priced, members, cost, units, np.int64(0), NO_CLASS)
    allowed = np.float64(demands.beyond * size)
    demands.taken[: members.size] = 0.0
    _, more, _ = choose(demands, size, priced, members, cost, units, low, 0.0)
    _, less, _ = choose(demands, size, priced, members, cost, units, high, 0.0)
    share = 1.0 if more == less else min(1.0, max(0.0, (allowed - less) / (more - less)))
    choose(demands, size, priced, members, cost, units, low, share)
    choose(demands, size, priced, members, cost, units, high, 1.0 - share)


@kernel
def _gain_of_size(
    demands: ClassDemands,
    column: int,
    size: np.int64,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
) -> np.int64:
    """Return `SHARE_UNIT` times the greatest gain of so many rows, `_TOO_MANY` if there are too few."""
    held, taken, codes, quotas = demands.held, demands.taken, demands.codes[column], demands.quotas[column]
    empty_values(held, codes, members)
    left, others, gain = size * SHARE_UNIT, size * demands.beyond, np.int64(0)
    taken[: members.size] = 0.0
    for place in range(members.size):
        item = members[place]
        whole, code = priced.rows[item] * SHARE_UNIT, codes[item]
        more = min(whole, quotas[code] * size - held[code], left)
        held[code] += more
        further = min(whole - more, others, left - more)
        others -= further
        left -= more + further
        gain += (more + further) * (priced.prices[item] - cost)
        taken[place] = (more + further) / SHARE_UNIT
        if left == 0:
            return np.int64(gain)
    return _TOO_MANY
