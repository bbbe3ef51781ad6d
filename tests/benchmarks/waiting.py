"""What waiting can save at most in a release over time, even for somebody who knows all batches beforehand.

Each row of batch b enters with one version v, b <= v <= b + 6, in a class of at least k rows that enter
with it, or still waits at the end and costs nothing. At version u at most `W_u` rows wait. Prices y of rows
and m_u >= 0 of waiting at version u prove the bound ``sum y - sum m_u W_u``, if no class C of rows that may
enter together with v has ``sum_C (y - what its rows paid for waiting) > |C| * (cost of the class per row)``,
and no row that may wait at the end has a price above what it pays for that: Lagrangian duality, with the
capacities of waiting relaxed. The prices are found by subgradient steps (as in
`kanon_pg.worker.solvers.bounds.lagrangian`), repaired until they are valid for each version, and checked by
`kanon_pg.worker.verification.certificate`, which shares nothing with the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from kanon_pg.core.packed import QuasiIdentifier
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.bounds import lagrangian
from kanon_pg.worker.solvers.bounds.lagrangian import Counts, Pool
from kanon_pg.worker.solvers.bounds.prices import Collected, collect_and_repair, raise_prices
from kanon_pg.worker.verification.certificate import PRICE_UNIT, certified_bound, formable_classes
from tests.benchmarks.columns import QI8
from tests.benchmarks.series import K, codes_of, patterns_of
from tests.benchmarks.settings import DATA, Settings, missing, table

_LONGEST_WAIT = 6
_BATCHES = 12
_SHARES = (0.03, 0.06)
_FIRST_WAITING_PRICE = 0.8
"""Cells that a version of waiting saves; where the search begins is of no matter to what is proven."""

_FIRST_STEPS, _MORE_STEPS, _ROUNDS = 80, 1.4, 8
_WAITING_SCALE = 0.8
"""Weight of a price of waiting in the length of a step, for each row so far; that of a row is 1."""

_MOMENTUM, _PATIENCE, _SHORTER = 0.25, 25, 0.65

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def waiting(settings: Settings) -> Iterator[Table]:
    """Adult in 12 random batches, k = 5: least cost if so many wait, proven."""
    file = DATA / "adult.csv.gz"
    if not file.exists():
        yield missing("adult")
        return
    codes = codes_of(file, QI8)
    codes = codes[np.random.default_rng(1).permutation(len(codes))][: 3_000 if settings.quick else None]
    in_one = int(np.bitwise_count(patterns_of(codes)).sum())
    at_once = _Horizon.of(codes, 0.0).cost_at_once()
    rows: list[list[object]] = [[0.0, in_one, at_once, at_once / in_one]]
    for share in _SHARES:
        horizon = _Horizon.of(codes, share)
        proven = _Search(horizon).run(2 if settings.quick else _ROUNDS)
        assert horizon.is_proof(proven)
        bound = horizon.worth(proven) / PRICE_UNIT
        rows.append([share, in_one, bound, bound / in_one])
    yield table(
        f"adult: {len(codes):,} rows, {_BATCHES} batches, k = {K}, waiting for {_LONGEST_WAIT} at most",
        ["waiting at most", "cells in one (greedy)", "proven for versions", "ratio"],
        rows,
    )


class _Prices(NamedTuple):
    """Price of each item, and of waiting at each version (of none at 0)."""

    rows: Floats
    waiting: Floats


@dataclass(frozen=True)
class _Horizon:
    """All batches: items are the row types of each; places are items with a version they may enter with.

    Parameters
    ----------
    batch, rows : ndarray of int64, shape (n,)
        Batch of each item, from 1, and its rows.
    cells : ndarray of int64, shape (n, m)
    members : tuple of ndarray of int64
        Items that may enter with each version; the first is of no version.
    tables : tuple of RowTypeTable
        These as tables, from version 1 on.
    so_far, capacity : ndarray of float64
        Rows of all batches until each version, and how many may wait at it.
    """

    batch: Ints
    rows: Ints
    cells: Ints
    members: tuple[Ints, ...]
    tables: tuple[RowTypeTable, ...]
    so_far: Floats
    capacity: Floats
    vectors: Ints

    @classmethod
    def of(cls, codes: Ints, share: float) -> _Horizon:
        """Divide rows into batches."""
        batches = np.array_split(np.arange(len(codes)), _BATCHES)
        numbers = np.concatenate([np.full(len(rows), b) for b, rows in enumerate(batches, 1)])
        items, rows = np.unique(np.column_stack([numbers, codes]), axis=0, return_counts=True)
        batch, cells = items[:, 0], items[:, 1:]
        members = tuple(
            np.flatnonzero((batch <= v) & (batch >= v - _LONGEST_WAIT)) for v in range(1, _BATCHES + 1)
        )
        so_far = np.array([(numbers <= u).sum() for u in range(_BATCHES + 1)], dtype=np.float64)
        return cls(
            batch=batch,
            rows=rows.astype(np.int64),
            cells=cells,
            members=(np.empty(0, np.int64), *members),
            tables=tuple(_table(cells[own], rows[own].astype(np.int64)) for own in members),
            so_far=so_far,
            capacity=np.floor(share * so_far),
            vectors=np.arange(1 << codes.shape[1], dtype=np.int64),
        )

    @property
    def versions(self) -> range:
        return range(1, _BATCHES + 1)

    def paid(self, prices: _Prices, version: int) -> Floats:
        """Return what the members of a version paid for waiting until then."""
        total = np.cumsum(prices.waiting)
        paid: Floats = total[version - 1] - total[self.batch[self.members[version]] - 1]
        return paid

    def highest(self, waiting: Floats) -> Floats:
        """Return the highest price of each item: what it pays to wait at the end, where that is allowed."""
        total = np.cumsum(waiting)
        may_stay = self.batch >= _BATCHES - _LONGEST_WAIT
        return np.where(may_stay, total[_BATCHES] - total[self.batch - 1], np.inf)

    def worth(self, prices: _Prices) -> float:
        """Return what prices prove if they are valid, in price units."""
        return float((prices.rows * self.rows).sum() - (prices.waiting * self.capacity).sum())

    def alone(self, batch: int) -> tuple[Ints, RowTypeTable, Ints]:
        """Return the items of a batch, their table, and valid prices of them if they enter at once."""
        own = np.flatnonzero(self.batch == batch)
        items = _table(self.cells[own], self.rows[own])
        return own, items, raise_prices(items, self.vectors, K, Clock(20), steps=400).prices

    def cost_at_once(self) -> float:
        """Return a proven bound where nobody waits."""
        bounds = []
        for batch in self.versions:
            _, items, prices = self.alone(batch)
            bound = certified_bound(items, self.vectors, K, prices)
            assert bound is not None
            bounds.append(bound)
        return sum(bounds)

    def is_proof(self, prices: _Prices) -> bool:
        """Check prices in whole numbers against every class that could enter with any version."""
        whole = all(bool((part == np.floor(part)).all()) for part in prices)
        if not whole or (prices.waiting < 0).any() or (prices.rows > self.highest(prices.waiting)).any():
            return False
        for version, own in zip(self.versions, self.tables, strict=True):
            left = prices.rows[self.members[version]] - self.paid(prices, version)
            # A price of 0 is harder to prove than a negative one.
            if certified_bound(own, self.vectors, K, np.maximum(left, 0).astype(np.int64)) is None:
                return False
        return True


def _table(cells: Ints, rows: Ints) -> RowTypeTable:
    width = cells.shape[1]
    return RowTypeTable(
        columns=tuple(QuasiIdentifier(f"c{number}", "categorical") for number in range(width)),
        cells=tuple(np.ascontiguousarray(cells.T)),
        rows=rows,
        people=rows,
        values=(None,) * width,
        shared_start=np.zeros(len(rows) + 1, np.int64),
        shared_people=np.empty(0, np.int64),
    )


class _Search:
    """Ascents over all versions at once, each followed by passes that make its prices valid."""

    def __init__(self, horizon: _Horizon) -> None:
        self._all = horizon
        self._collected = [Collected() for _ in horizon.versions]
        self._begin = np.cumsum([0, *(len(own) for own in horizon.members[1:])])
        self._item = np.concatenate(horizon.members[1:])
        self._stride = 1.0

    def run(self, rounds: int) -> _Prices:
        """Return the best valid prices."""
        prices = self._first()
        best = self._repaired(prices, margin=0.4)
        steps = float(_FIRST_STEPS)
        for number in range(rounds):
            prices = self._climbed(best if number == 0 else prices, int(steps))
            valid = self._repaired(prices, margin=max(0.05, 0.4 * 0.75 ** (number + 1)))
            best = max(best, valid, key=self._all.worth)
            steps, self._stride = steps * _MORE_STEPS, max(self._stride, 0.05)
        return best

    def _first(self) -> _Prices:
        """Return prices of batches that enter at once, each by itself."""
        rows = np.zeros(len(self._all.rows))
        for batch in self._all.versions:
            own, _, prices = self._all.alone(batch)
            rows[own] = prices
        waiting = np.full(_BATCHES + 1, _FIRST_WAITING_PRICE * PRICE_UNIT)
        waiting[0] = 0
        return _Prices(rows, waiting)

    def _repaired(self, prices: _Prices, *, margin: float) -> _Prices:
        """Lower prices until they are valid; collect the groups that nearly break them."""
        waiting = np.floor(prices.waiting)
        rows = np.floor(np.minimum(prices.rows, self._all.highest(waiting)))
        for version, own in zip(self._all.versions, self._all.tables, strict=True):
            members = self._all.members[version]
            paid = self._all.paid(_Prices(rows, waiting), version)
            left = np.maximum(rows[members] - paid, 0).astype(np.int64)
            area = collect_and_repair(
                own,
                formable_classes(own, self._all.vectors, K),
                left,
                margin,
                self._collected[version - 1],
                Clock(None),
            )
            lower = area.repaired < left
            rows[members[lower]] = area.repaired[lower] + paid[lower]
        return _Prices(rows, waiting)

    def _pool(self) -> Pool:
        """Return the groups of all versions, whose members are places."""
        pools = [collected.pool() for collected in self._collected]
        ends = np.cumsum([0, *(int(pool.begin[-1]) for pool in pools)])
        return Pool(
            np.concatenate([pool.cost for pool in pools]),
            np.concatenate(
                [np.zeros(1, np.int64), *(p.begin[1:] + e for p, e in zip(pools, ends, strict=False))]
            ),
            np.concatenate([p.member + np.int32(b) for p, b in zip(pools, self._begin, strict=False)]).astype(
                np.int32
            ),
        )

    def _climbed(self, prices: _Prices, steps: int) -> _Prices:
        horizon, pool = self._all, self._pool()
        front = lagrangian._Front(np.zeros(pool.cost.size, np.int64), np.zeros(pool.cost.size))
        own_rows = horizon.rows[self._item]
        counts = Counts(own_rows, own_rows, K)
        gradient, broken = np.empty(len(own_rows)), np.empty(pool.cost.size, np.int64)
        scale = _Prices(horizon.rows.astype(np.float64), np.maximum(_WAITING_SCALE * horizon.so_far, 1.0))
        direction = _Prices(np.zeros_like(prices.rows), np.zeros_like(prices.waiting))
        best, best_value, waited, risen = prices, -np.inf, 0, 0.0
        before = self._left(prices)
        for _ in range(steps):
            left = self._left(prices)
            risen += max(0.0, float((left - before).max()))
            before = left
            total, _broken = lagrangian._value_and_gradient(
                pool, front, counts, left, risen, gradient, broken
            )
            used = np.where(left > 0, own_rows - gradient, 0.0)
            value, slope = self._value_and_slope(prices, float((own_rows * left).sum()) - total, used)
            waited += 1
            if value > best_value:
                best, best_value, waited = prices, value, 0
            if waited >= _PATIENCE:
                self._stride, waited = self._stride * _SHORTER, 0
            direction = _Prices(
                slope.rows / scale.rows + _MOMENTUM * direction.rows,
                slope.waiting / scale.waiting + _MOMENTUM * direction.waiting,
            )
            squared = float((direction.rows**2 * scale.rows).sum())
            squared += float((direction.waiting**2 * scale.waiting).sum())
            step = self._stride * max(1.02 * best_value - value, 0.0) / squared
            prices = _Prices(
                np.maximum(prices.rows + step * direction.rows, 0.0),
                np.maximum(prices.waiting + step * direction.waiting, 0.0),
            )
        return best

    def _left(self, prices: _Prices) -> Floats:
        """Return what is left of the price of each place after what it paid for waiting."""
        paid = np.concatenate([self._all.paid(prices, version) for version in self._all.versions])
        return np.maximum(prices.rows[self._item] - paid, 0.0)

    def _value_and_slope(self, prices: _Prices, gains: float, used: Floats) -> tuple[float, _Prices]:
        """Return the dual value and its gradient, from how many rows of each place the gains are of."""
        horizon = self._all
        above = prices.rows - horizon.highest(prices.waiting)
        stay = np.where(above > 0, horizon.rows, 0)
        value = horizon.worth(prices) - gains - float((np.maximum(above, 0) * horizon.rows).sum())
        rows = horizon.rows - np.bincount(self._item, used, minlength=len(horizon.rows)) - stay
        waiting = -horizon.capacity.copy()
        version = np.repeat(list(horizon.versions), np.diff(self._begin))
        for u in horizon.versions:
            waits = (horizon.batch[self._item] <= u) & (version > u)
            waiting[u] += used[waits].sum() + stay[horizon.batch <= u].sum()
        return value, _Prices(rows, waiting)
