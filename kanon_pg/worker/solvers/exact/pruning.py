"""Strikes out what no better solution can use, by prices that prove a lower bound."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.exact.granularity import granularity
from kanon_pg.worker.solvers.exact.network import Network
from kanon_pg.worker.verification.certificate import PRICE_UNIT

Numbers = NDArray[np.int64]

_ROUNDING = 1e-6

_EQUAL = 1e-9
"""Costs that differ by less than this share are equal: they are sums of rounded weights."""


def prune(network: Network, table: RowTypeTable, prices: Numbers, k: int, cost: float) -> Network:
    """Leave out pairs of a row type and an instance that every solution cheaper than `cost` avoids.

    A solution costs the sum of all prices and, for every class, what its rows cost in excess of their
    prices. No class has a negative excess, so one with an excess as large as the whole gap cannot be part of
    a better solution.

    Parameters
    ----------
    network : Network
        One row type per node.
    prices : ndarray of int64, shape (n,)
        Valid prices in units of 1 / `PRICE_UNIT`.
    cost : float
        Cost of a known solution.

    Notes
    -----
    O(e log e) time for e pairs.
    """
    price = prices / PRICE_UNIT
    gap = _next_below(cost, granularity(network.cost)) - float((price * table.rows).sum())
    most = gap + _ROUNDING * max(1.0, abs(cost))
    excess = pair_excess(network.begin, network.member, network.cost, price, table.rows, k)
    excess[network.begin[-2] :] = -np.inf
    fewer = network.with_pairs(excess <= most)
    people = np.bincount(fewer.instance, weights=table.people[fewer.member], minlength=fewer.cost.size)
    people[-1] = k
    return fewer.with_instances(people >= k)


def _next_below(cost: float, step: float) -> float:
    """Return the largest multiple of `step` below a cost, which may be none itself; the cost for step 0.

    Known solutions may use instances that the network left out, at costs that it cannot have.
    """
    if step == 0.0:
        return cost
    ratio = cost / step
    return (math.ceil(ratio - _EQUAL * max(1.0, ratio)) - 1) * step


@kernel
def pair_excess(
    begin: Numbers,
    member: NDArray[np.integer],
    cost: NDArray[np.float64],
    price: NDArray[np.float64],
    rows: Numbers,
    k: int,
) -> NDArray[np.float64]:
    """Return for each pair the least excess of a class of at least k rows that has one of these rows."""
    excess = np.empty(member.size, dtype=np.float64)
    for instance in range(begin.size - 1):
        first, last = begin[instance], begin[instance + 1]
        own = cost[instance] - price[member[first:last]]
        held, least, max_cost_per_row = np.int64(0), 0.0, -np.inf
        order = np.argsort(own)
        for place in order:
            count = rows[member[first + place]]
            if own[place] <= 0.0:
                held += count
                least += own[place] * count
                continue
            if held >= k:
                break
            taken = min(count, k - held)
            held += taken
            least += own[place] * taken
            max_cost_per_row = own[place]
        for place in range(last - first):
            # One row of this type joins; if the class was filled up to k, the dearest of those leaves.
            joined = own[place] - max_cost_per_row if max_cost_per_row > 0.0 else own[place]
            excess[first + place] = least + max(0.0, joined)
    return excess
