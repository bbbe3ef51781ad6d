"""Prices of rows that prove a lower bound, for tables and pattern masks of any size.

Only the few groups of row types whose classes are about as dear as their rows' prices matter. They are
found by passes over all classes (`kanon_pg.worker.solvers.bounds.pool`), between which a subgradient ascent
works on those that are known so far (`kanon_pg.worker.solvers.bounds.lagrangian`). Each pass ends with valid
prices.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.bounds.lagrangian import Counts, climb
from kanon_pg.worker.solvers.bounds.pool import Area, Collected, Demand, collect_and_repair
from kanon_pg.worker.solvers.bounds.reach import cheapest_reach
from kanon_pg.worker.verification.certificate import PRICE_UNIT, price_cap, unit_costs, unit_weights

STEPS = 3_000
"""Steps of the ascent that usually come within some hundredths of a percent of the best bound."""

_FIRST_STEPS = 60
_MORE_STEPS = 1.5
_FIRST_MARGIN = 0.4
_SMALLER_MARGIN = 0.75
_LEAST_MARGIN = 0.05
_LEAST_STRIDE = 0.02
"""After groups have been added the ascent begins with steps of at least this factor."""


@dataclass(frozen=True)
class Prices:
    """Prices of rows and what they prove.

    Parameters
    ----------
    prices : ndarray of int64, shape (n,)
        Price of each row of a row type in units of 1 / `PRICE_UNIT`, for `core.certificate`.
    bound : float
        The sum of all prices: no solution costs less. `certified_bound` also rounds it up.
    complete : bool
        Whether the search ended by itself, neither by time nor by effort.
    pass_seconds : float
        How long the longest pass over all classes took; whoever checks the prices needs as long again.
    """

    prices: NDArray[np.int64]
    bound: float
    complete: bool
    pass_seconds: float = 0.0


def raise_prices(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    clock: Clock,
    *,
    start: NDArray[np.int64] | None = None,
    target: float = np.inf,
    steps: int = STEPS,
    rest_may_be_small: bool = False,
    outside: float = np.inf,
) -> Prices:
    """Search for prices that prove a high lower bound.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors, the fully suppressed one among them.
    clock : Clock
        Ends the search early; the prices are valid whenever it ends.
    start : ndarray of int64, shape (n,), optional
        Valid prices to begin with, for example those for a smaller k. Without them those of
        `cheapest_reach`.
    target : float
        Cost of a known solution: the ascent aims at it.
    steps : int
        Most steps of the ascent.
    rest_may_be_small : bool
        The rule of the paper for the fully suppressed class.
    outside : float
        Vectors that are allowed but not listed cost at least this.

    Returns
    -------
    Prices
        They prove at least what `start` proves. Let `core.certificate.certified_bound` confirm them.

    Notes
    -----
    The bound tends to the value of the linear relaxation with strong linking constraints. The same input
    gives the same prices unless time ends the search.
    """
    if not _fits(table, k):
        return Prices(np.zeros(len(table), dtype=np.int64), 0.0, False)
    cap = price_cap(table.columns, rest_may_be_small, outside)
    demand = _demand(table, vectors, k, rest_may_be_small)
    if start is None:
        start = _first_prices(table, cheapest_reach(table, vectors, k, clock))
    passes = _Passes(table, demand, clock)
    counts = Counts(table.rows, table.people, k)
    margin = _FIRST_MARGIN
    prices = np.minimum(start, cap)
    best, stride, length, complete = prices, 1.0, _FIRST_STEPS, False
    try:
        area = passes.area(prices, margin)
        best = prices = _better(table, best, area.repaired)
        while steps > 0 and not clock.is_over():
            highest = np.minimum(area.highest, cap).astype(np.float64)
            reached = climb(
                passes.collected.pool(), counts, prices.astype(np.float64), highest,
                target * PRICE_UNIT, min(length, steps), stride, clock.without(passes.seconds),
            )  # fmt: skip
            steps -= length
            length = int(length * _MORE_STEPS)
            margin = max(_LEAST_MARGIN, margin * _SMALLER_MARGIN)
            prices = reached.prices.astype(np.int64)
            area = passes.area(prices, margin)
            best = _better(table, best, area.repaired)
            if reached.is_done:
                complete = True
                break
            stride = max(reached.stride, _LEAST_STRIDE)
    except TimeOver:
        pass  # the prices of the last whole pass are valid
    return Prices(best, _worth(table, best) / PRICE_UNIT, complete, passes.seconds)


class _Passes:
    """Passes over all classes, what they collect, and how long the longest took."""

    def __init__(self, table: RowTypeTable, demand: Demand, clock: Clock) -> None:
        self._table, self._demand, self._clock = table, demand, clock.raising()
        self.collected = Collected()
        self.seconds = 0.0

    def area(self, prices: NDArray[np.int64], margin: float) -> Area:
        """Make one pass.

        Raises
        ------
        TimeOver
            It could not be finished.
        """
        before = time.monotonic()
        area = collect_and_repair(self._table, self._demand, prices, margin, self.collected, self._clock)
        self.seconds = max(self.seconds, time.monotonic() - before)
        return area


def _first_prices(table: RowTypeTable, reach: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the costs that no row can go below as prices, less what rounding took from weights."""
    rounded = sum(Fraction(column.weight) * PRICE_UNIT % 1 > 0 for column in table.columns)
    prices: NDArray[np.int64] = np.maximum((reach * PRICE_UNIT).astype(np.int64) - rounded, 0)
    return prices


def _fits(table: RowTypeTable, k: int) -> bool:
    """Whether sums of prices stay far within 64 bits: no price needs to exceed k times the full cost."""
    return 4 * k * sum(unit_weights(table.columns)) * table.total_rows < 1 << 62


def _demand(table: RowTypeTable, vectors: NDArray[np.int64], k: int, rest_may_be_small: bool) -> Demand:
    if rest_may_be_small:
        vectors = vectors[vectors != (1 << table.width) - 1]
    return Demand(vectors, unit_costs(vectors, unit_weights(table.columns)), k)


def _better(table: RowTypeTable, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    return other if _worth(table, other) > _worth(table, one) else one


def _worth(table: RowTypeTable, prices: NDArray[np.int64]) -> int:
    return int((prices * table.rows).sum())
