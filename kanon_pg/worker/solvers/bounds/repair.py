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
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.solvers.bounds.lagrangian import sort_by_price
from kanon_pg.worker.verification.class_demands import ClassDemands, PricedRows
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
"""Lifts that are tried by golden section search (Kiefer 1953, "Sequential minimax search for a maximum"):
a limit of effort."""

_LOSS = 3.0
"""Prices are lowered by worth where they fall by at most so many times the gain together."""


class _Limited(NamedTuple):
    """A group of which no class has more than a share of any value of one column, and what it costs."""

    members: NDArray[np.int32]
    """Row types, costliest first."""
    codes: NDArray[np.int32]
    """Shape (n,). Value of each row type."""
    rows: NDArray[np.int64]
    prices: NDArray[np.int64]
    """Shape (n,)."""
    held: NDArray[np.int64]
    """Working array: rows per value."""
    share: int
    """A class has at least so many times as many rows as of any value."""
    cost: np.int64
    """Cost of a row in the unit of the prices."""
    k: int


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
    if demands.has_entity or demands.share <= 1:
        return False
    worth, best = np.empty(members.size), np.empty(0)
    least = np.inf
    for column in range(demands.codes.shape[0]):
        group = _Limited(
            members, demands.codes[column], priced.rows, priced.prices, demands.held, demands.share, cost, k
        )
        excess = _least_excess(group, demands.taken, gain, worth)
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
            # Rounded up: what is left of a price may be too low by a unit, not too high.
            priced.prices[item] -= np.int64(np.ceil(share * best[place]))
    return True


@kernel
def _least_excess(
    group: _Limited, taken: NDArray[np.float64], gain: np.int64, worth: NDArray[np.float64]
) -> float:
    """Return the least that prices fall by together, and what each row is worth then.

    What they fall by is convex in the lift. It is least for the one at which the last row of the worst class
    is worth nothing, unless there are no further rows.
    """
    members, held = group.members, group.held
    last = 0
    held[:] = 0
    for place in range(members.size):
        if taken[place] > 0.0:
            last = place
            held[group.codes[members[place]]] += np.int64(taken[place])
    limit = max(np.int64(1), held.max())
    lift = np.float64(max(np.int64(0), group.cost - group.prices[members[last]]))
    excess = _excess_at(group, lift, limit, worth)
    # No prices can fall by less than the gain; whole units add one for each member.
    enough = gain + np.float64(members.size)
    if excess <= enough:
        return excess
    low, high = 0.0, np.float64(group.cost + group.share * group.prices[members[0]])
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    of_left, of_right = _excess_at(group, left, limit, worth), _excess_at(group, right, limit, worth)
    for _ in range(_MOST_LIFTS):
        if of_left <= of_right:
            high, right, of_right = right, left, of_left
            left = high - _GOLDEN * (high - low)
            of_left = _excess_at(group, left, limit, worth)
        else:
            low, left, of_left = left, right, of_right
            right = low + _GOLDEN * (high - low)
            of_right = _excess_at(group, right, limit, worth)
        if min(of_left, of_right) <= enough:
            break
    if min(of_left, of_right) < excess:
        lift = left if of_left <= of_right else right
    return _excess_at(group, lift, limit, worth)


@inner_kernel
def _needed(group: _Limited, limit: np.int64) -> np.int64:
    """Return how many rows a class has at least that has so many of a value."""
    return max(np.int64(group.k), group.share * limit)


@kernel
def _excess_at(group: _Limited, lift: float, limit: np.int64, worth: NDArray[np.float64]) -> float:
    """Return by how much prices fall together for one lift and the best limits, infinite if none is found.

    Limits add up to the slope of `_needed` times the lift, where it is between those below and above some
    number of rows of a value: there the bound of the module is least. `limit` is where that is looked for.
    """
    codes, level = group.codes, group.cost - lift
    here, below = np.zeros(group.held.size), np.zeros(group.held.size)
    deducted = group.k * lift
    if lift > 0:
        found = False
        for _ in range(_MOST_STEPS):
            least = _needed(group, limit) - (_needed(group, limit - 1) if limit > 1 else group.k)
            most = _needed(group, limit + 1) - _needed(group, limit)
            together = _limits_at(group, level, limit, here)
            if together > most * lift:
                limit += 1
                continue
            more = _limits_at(group, level, limit - 1, below)
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
            deducted = (_needed(group, limit) - slope * limit) * lift
            break
        if not found:
            return np.inf
    excess = -deducted
    for place in range(group.members.size):
        item = group.members[place]
        worth[place] = max(0.0, group.prices[item] - level - here[codes[item]])
        excess += worth[place] * group.rows[item]
    return excess


@kernel
def _limits_at(group: _Limited, level: float, limit: np.int64, limits: NDArray[np.float64]) -> float:
    """Find by how much the first row of each value beyond a limit is above a level; return the sum."""
    held = group.held
    held[:] = 0
    limits[:] = 0.0
    together = 0.0
    for item in group.members:
        above = group.prices[item] - level
        if above <= 0:
            break
        value = group.codes[item]
        if held[value] <= limit < held[value] + group.rows[item]:
            limits[value] = above
            together += above
        held[value] += group.rows[item]
    return together
