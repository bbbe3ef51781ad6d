"""Prices that some class breaks, lowered by about as much as the class gains.

Where k is all that is demanded, the prices above the cost are drawn towards it until the gain is gone.

Under a limit of shares other classes of the group gain nearly as much as the one that gains most, and would
go on to gain if the prices of its rows alone were lowered. The dual of the linear program says whose prices
must fall. A class in which no value has more than m rows needs ``N(m) = max(k, l m)`` rows, a convex
function: for some slope s and base b, ``N(m) >= b + s m`` for all m. Choose any lift ``a >= 0`` of all rows
and limits ``b_v >= 0`` of values that add up to ``s a``, and let a row of value v be worth ``w_i = max(0,
price_i - cost + a - b_v)``. A class of n rows with at most m of each value gains ``sum (price_i - cost) <=
sum w_i + m s a - n a <= sum w_i - b a`` over its rows, so no class gains more than ``U = sum rows_i w_i - b
a``. If all prices fall by the same share of their worth, by U together, the same lift and limits show that
nothing is gained any more. The best lift and limits have ``U`` equal to the gain, but for classes that
would have rows in parts. The rows that fill a class up are worth something, too: their prices may fall
below 0.

Within a distance t a class of n rows has ``h_v <= q_v n + e_v`` rows of each value, the e_v together at most
``t n``. With limits ``b_v <= e`` it gains at most ``sum rows_i w_i - c n``, where
``c = a - sum q_v b_v - t e``, and at least k rows make that at most ``U = sum rows_i w_i - c k`` for lifts
with ``c >= 0``.

Of small classes rows are whole (see `verification.classes_within_distance`). Let a row that is beyond its
quota by x pay ``p x``, let the last of n rows that are chosen be above the cost by a, and let each value have
a limit ``b_v``, the dearest row of it that is not chosen, or what the last one pays and a together, if that
is more.
The rows before it are worth ``w_i = max(0, price_i - cost - b_v)``. Where these are worth the gain
together, prices that fall by a share of it leave no class of n rows that gains; where they are not, all
limits and a are lowered by the nth part of what lacks. Other sizes follow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.solvers.bounds.lagrangian import sort_by_price
from kanon_pg.worker.verification.class_demands import NO_CLASS, SHARE_UNIT, ClassDemands, PricedRows
from kanon_pg.worker.verification.classes_within_distance import (
    MOST_WHOLE,
    choose,
    list_units,
    multipliers,
    units_of,
)
from kanon_pg.worker.verification.demanded_classes import greatest_gain


@kernel
def lower_prices(
    begin: NDArray[np.int64],
    members: NDArray[np.int32],
    costs: NDArray[np.int64],
    k: int,
    rows: NDArray[np.int64],
    people: NDArray[np.int64],
    prices: NDArray[np.int64],
) -> None:
    """Lower the prices above the cost in groups whose worst class is cheaper than its rows' prices."""
    for group in range(begin.size - 1):
        listed = members[begin[group] : begin[group + 1]]
        cost = costs[group]
        excess, taken = 0, 0
        for item in listed:
            if prices[item] > cost:
                excess += rows[item] * (prices[item] - cost)
                taken += people[item]
        if excess == 0:
            continue
        spare = 0
        if taken < k:
            order = np.argsort(-prices[listed])
            for place in order:
                item = listed[place]
                if prices[item] <= cost and taken < k:
                    more = min(people[item], k - taken)
                    spare += more * (cost - prices[item])
                    taken += more
        if spare >= excess:
            continue
        share = np.float64(spare) / np.float64(excess)
        for item in listed:
            if prices[item] > cost:
                prices[item] = cost + np.int64(share * (prices[item] - cost))


_MOST_DRAWS = 50
"""Classes of one group whose prices are lowered one after the other."""


@kernel
def lower_prices_under(
    demands: ClassDemands,
    begin: NDArray[np.int64],
    members: NDArray[np.int32],
    costs: NDArray[np.int64],
    k: int,
    priced: PricedRows,
) -> None:
    """Lower the prices above the cost in the worst class of each group until no class gains."""
    prices = priced.prices
    for group in range(begin.size - 1):
        listed = members[begin[group] : begin[group + 1]].copy()
        cost = costs[group]
        for draw in range(_MOST_DRAWS + 1):
            sort_by_price(listed, prices)
            if prices[listed[0]] <= cost:
                break
            gain = greatest_gain(demands, priced, listed, cost, k)
            if gain <= 0:
                break
            if draw < _MOST_DRAWS and _lower_by_worth(demands, priced, listed, cost, k, gain):
                continue
            excess = 0.0
            for place in range(listed.size):
                excess += demands.taken[place] * max(0, prices[listed[place]] - cost)
            # Where that takes too many classes, no price stays above the cost.
            left = (excess - gain) / excess if draw < _MOST_DRAWS else 0.0
            for place in range(listed.size):
                item = listed[place]
                if prices[item] > cost and (demands.taken[place] > 0 or draw == _MOST_DRAWS):
                    prices[item] = cost + np.int64(left * (prices[item] - cost))


_MOST_STEPS = 60
"""Limits of rows, or lifts, that are tried for one group."""

_GOLDEN = 0.6180339887498949
_MOST_LIFTS = 40
"""Lifts that are tried by golden section search (Kiefer 1953, "Sequential minimax search for a maximum").

A limit of effort: twice raises the bound of Adult (l = 3) by 0.0003 %, of CMC (l = 2, t = 0.3) by nothing.
"""

_FORBIDDEN = 1e20
"""What a lift counts as too low by, so that the search finds one that is allowed."""

_LOSS = 3.0
"""Prices are lowered by worth where they fall by at most so many times the gain together.

On CMC with t = 0.3 half lowers the bound by 0.04 %, twice changes nothing; with l = 2 neither does.
"""


@kernel
def _lower_by_worth(
    demands: ClassDemands,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
    gain: np.int64,
) -> bool:
    """Lower the prices of members, listed costliest first, by worth; return whether they fell."""
    if demands.has_entity:
        return False
    worth, best = np.empty(members.size), np.empty(0)
    least = np.inf
    for number in range(2 * demands.codes.shape[0]):
        is_limited = demands.share > 1 if number % 2 == 0 else demands.beyond >= 0
        if not is_limited:
            continue
        excess = _least_excess(demands, number, priced, members, cost, k, gain, worth)
        if excess < least:
            least, best = excess, worth.copy()
    if not 0.0 < least <= _LOSS * gain + members.size:
        return False
    total = 0.0
    for place in range(members.size):
        total += best[place] * priced.rows[members[place]]
    share = least / total
    for place in range(members.size):
        if best[place] > 0.0:
            item = members[place]
            priced.prices[item] -= np.int64(np.ceil(share * best[place]))
    return True


@kernel
def _least_excess(
    demands: ClassDemands,
    number: int,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
    gain: np.int64,
    worth: NDArray[np.float64],
) -> float:
    """Return the least that prices fall by together, and what each row is worth then.

    What they fall by is convex in the lift. It is least for the one at which the last row of the worst class
    is worth nothing, unless there are no further rows.
    """
    last, rows = 0, 0.0
    column, held = number // 2, demands.held
    held[:] = 0
    for place in range(members.size):
        if demands.taken[place] > 0.0:
            last = place
            rows += demands.taken[place]
            held[demands.codes[column, members[place]]] += np.int64(demands.taken[place])
    # Where distances are limited, the size of the class takes the place of the most rows of a value.
    limit = max(np.int64(1), held.max() if number % 2 == 0 else np.int64(rows + 0.5))
    if number % 2 == 1 and limit <= MOST_WHOLE:
        return _excess_of_whole_rows(demands, column, priced, members, cost, limit, worth)
    lift = np.float64(max(np.int64(0), cost - priced.prices[members[last]]))
    excess = _excess_at(demands, number, priced, members, cost, k, lift, limit, worth)
    enough = gain + np.float64(members.size)
    if excess <= enough:
        return excess
    low, high = 0.0, np.float64(cost + demands.share * priced.prices[members[0]])
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    of_left = _excess_at(demands, number, priced, members, cost, k, left, limit, worth)
    of_right = _excess_at(demands, number, priced, members, cost, k, right, limit, worth)
    for _ in range(_MOST_LIFTS):
        if of_left <= of_right:
            high, right, of_right = right, left, of_left
            left = high - _GOLDEN * (high - low)
            of_left = _excess_at(demands, number, priced, members, cost, k, left, limit, worth)
        else:
            low, left, of_left = left, right, of_right
            right = low + _GOLDEN * (high - low)
            of_right = _excess_at(demands, number, priced, members, cost, k, right, limit, worth)
        if min(of_left, of_right) <= enough:
            break
    if min(of_left, of_right) < excess:
        lift = left if of_left <= of_right else right
    return _excess_at(demands, number, priced, members, cost, k, lift, limit, worth)


@kernel
def _excess_of_whole_rows(
    demands: ClassDemands,
    column: int,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    size: np.int64,
    worth: NDArray[np.float64],
) -> float:
    """Return by how much prices fall together so that no class of some size with whole rows gains.

    The module says what rows are worth; infinite if that is less than the gain.
    """
    units = units_of(members.size, demands.held.size)
    list_units(demands, column, size, priced, members, units)
    low, high, gain = multipliers(demands, size, priced, members, cost, units, np.int64(0), NO_CLASS)
    if gain <= 0:
        return 0.0
    allowed = demands.beyond * size
    of_low, _, _ = choose(demands, size, priced, members, cost, units, low, 0.0)
    of_high, _, _ = choose(demands, size, priced, members, cost, units, high, 0.0)
    price = low if of_low + low * allowed < of_high + high * allowed else high
    demands.taken[: members.size] = 0.0
    _, _, last = choose(demands, size, priced, members, cost, units, price, 1.0)
    codes, held = demands.codes[column], demands.held
    held[:] = 0
    for place in range(members.size):
        held[codes[members[place]]] += np.int64(demands.taken[place])
    base = np.empty(held.size)
    for value in range(held.size):
        quota = demands.quotas[column, value] * size
        part = min(SHARE_UNIT, max(0, held[value] * SHARE_UNIT - quota))
        if held[value] == 0:
            part = min(SHARE_UNIT, max(0, SHARE_UNIT - quota))
        base[value] = (price * part + last) / SHARE_UNIT + cost
    for place in range(members.size):
        item = members[place]
        if demands.taken[place] < priced.rows[item]:
            base[codes[item]] = max(base[codes[item]], np.float64(priced.prices[item]))
    together = 0.0
    for place in range(members.size):
        item = members[place]
        together += max(0.0, priced.prices[item] - base[codes[item]]) * priced.rows[item]
    # If what rows are worth is less than the gain, the worst one, and with it all limits, are lowered.
    lower_by = max(0.0, (gain - together) / size)
    excess = 0.0
    for place in range(members.size):
        item = members[place]
        worth[place] = max(0.0, priced.prices[item] - base[codes[item]] + lower_by)
        excess += worth[place] * priced.rows[item]
    return min(excess, np.float64(gain) + 1.0) if lower_by == 0.0 else excess


@kernel
def _excess_at(
    demands: ClassDemands,
    number: int,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
    lift: float,
    limit: np.int64,
    worth: NDArray[np.float64],
) -> float:
    """Return by how much prices fall together for one lift; what each row is worth then is in `worth`."""
    if number % 2 == 0:
        return _excess_with_shares(demands, number // 2, priced, members, cost, k, lift, limit, worth)
    return _excess_within_distance(demands, number // 2, priced, members, cost, k, lift, limit, worth)


@kernel
def _excess_within_distance(
    demands: ClassDemands,
    column: int,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
    lift: float,
    size: np.int64,
    worth: NDArray[np.float64],
) -> float:
    """Return by how much prices fall together with the limits of a class of some size, see the module.

    Lifts below what they have to be count as costlier the more they lack.
    """
    codes, quotas, level = demands.codes[column], demands.quotas[column], cost - lift
    limits, held = np.zeros(demands.held.size), np.zeros(demands.held.size)
    beyond, highest = 0.0, 0.0
    for item in members:
        above = priced.prices[item] - level
        if above <= 0.0:
            break
        value, rows = codes[item], np.float64(priced.rows[item])
        quota = np.float64(quotas[value]) * size / SHARE_UNIT
        if held[value] <= quota < held[value] + rows:
            limits[value] = above
        beyond += max(0.0, held[value] + rows - max(held[value], quota))
        held[value] += rows
        if highest == 0.0 and beyond > np.float64(demands.beyond) * size / SHARE_UNIT:
            highest = above
    spare = lift - np.float64(demands.beyond) * highest / SHARE_UNIT
    for value in range(limits.size):
        limits[value] = min(limits[value], highest)
        spare -= np.float64(quotas[value]) * limits[value] / SHARE_UNIT
    if spare < 0.0:
        return float(-spare * _FORBIDDEN)
    excess = -k * spare
    for place in range(members.size):
        item = members[place]
        worth[place] = max(0.0, priced.prices[item] - level - limits[codes[item]])
        excess += worth[place] * priced.rows[item]
    return excess


@inner_kernel
def _needed(demands: ClassDemands, k: int, limit: np.int64) -> np.int64:
    """Return how many rows a class has at least that has so many of a value."""
    return max(np.int64(k), demands.share * limit)


@kernel
def _excess_with_shares(
    demands: ClassDemands,
    column: int,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
    lift: float,
    limit: np.int64,
    worth: NDArray[np.float64],
) -> float:
    """Return by how much prices fall together for one lift and the best limits, infinite if none is found."""
    codes, prices, rows = demands.codes[column], priced.prices, priced.rows
    level = cost - lift
    here, below = np.zeros(demands.held.size), np.zeros(demands.held.size)
    deducted = k * lift
    if lift > 0:
        found = False
        for _ in range(_MOST_STEPS):
            least = _needed(demands, k, limit) - (_needed(demands, k, limit - 1) if limit > 1 else k)
            most = _needed(demands, k, limit + 1) - _needed(demands, k, limit)
            together = _limits_at(demands, codes, priced, members, level, limit, here)
            if together > most * lift:
                limit += 1
                continue
            more = _limits_at(demands, codes, priced, members, level, limit - 1, below)
            if more < least * lift:
                if limit == 1:
                    break
                limit -= 1
                continue
            found = True
            slope = max(np.float64(least), together / lift)
            mixed = 0.0 if more <= together else (slope * lift - together) / (more - together)
            for value in range(here.size):
                here[value] += min(1.0, max(0.0, mixed)) * (below[value] - here[value])
            deducted = (_needed(demands, k, limit) - slope * limit) * lift
            break
        if not found:
            return np.inf
    excess = -deducted
    for place in range(members.size):
        item = members[place]
        worth[place] = max(0.0, prices[item] - level - here[codes[item]])
        excess += worth[place] * rows[item]
    return excess


@kernel
def _limits_at(
    demands: ClassDemands,
    codes: NDArray[np.int32],
    priced: PricedRows,
    members: NDArray[np.int32],
    level: float,
    limit: np.int64,
    limits: NDArray[np.float64],
) -> float:
    """Find by how much the first row of each value beyond a limit is above a level; return the sum."""
    held = demands.held
    held[:] = 0
    limits[:] = 0.0
    together = 0.0
    for item in members:
        above = priced.prices[item] - level
        if above <= 0:
            break
        value = codes[item]
        if held[value] <= limit < held[value] + priced.rows[item]:
            limits[value] = above
            together += above
        held[value] += priced.rows[item]
    return together
