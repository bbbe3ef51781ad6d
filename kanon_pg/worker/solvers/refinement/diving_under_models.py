"""Solutions under privacy models from prices: classes that the prices favour, one after the other.

As in `kanon_pg.worker.solvers.refinement.diving`, with classes that satisfy what is demanded of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.generalization import LevelFields
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.bounds.lagrangian import Pool, sort_by_price
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.greedy.rest import fill_rest
from kanon_pg.worker.solvers.refinement.diving import (
    CLOSE,
    MORE_SLACK,
    MOST_SLACK,
    NO_CAP,
    SLACK,
    Stage,
    adjust_prices,
)
from kanon_pg.worker.verification.certificate import (
    NO_MODELS,
    PRICE_UNIT,
    FormableClasses,
    PricedGroups,
    list_members,
    unit_weights,
)
from kanon_pg.worker.verification.class_demands import (
    NO_CLASS,
    SHARE_UNIT,
    ClassDemands,
    PricedRows,
    class_demands,
)
from kanon_pg.worker.verification.demanded_classes import greatest_gain

Numbers = NDArray[np.int64]

_MARGIN = 0.1
"""Instances are searched in which a class gains at prices higher by this share."""

_MOST_MEMBERS = 6_000_000
"""Most members of all instances together."""

_STEPS = 60
_STRIDE = 0.3
"""Steps of the subgradient method before each round, and the first one's length."""

_SHARE_OF_DIVE = 0.5
_FEWEST_STEPS = 15
"""Share of the time that is left which a dive should take: later rounds take fewer steps, at least these,
where the first one shows that it would take longer. A dive that time ends gives nothing."""

SHARE = 0.3
"""Share of the rows that are left which get a place in each round."""

_MOST_LARGER = 40
_PATIENCE = 16
_RAREST = (8, 6, 4)
"""Under a distance: rows beyond k that classes are tried with, sizes without a better class after which that
ends, and by how many eighths of a row a row may exceed the quota of its value."""


_WORK_PER_STEP = 10_000_000
"""Members of instances, each as often as a class of it is tried, after which the clock is looked at."""


class _Instances(NamedTuple):
    """Pattern instances in which classes may be formed, and the vector of each."""

    pool: Pool
    vector: Numbers


@dataclass(frozen=True)
class DiveTask:
    """What dives under privacy models work on."""

    table: RowTypeTable
    """Without an entity."""
    classes: FormableClasses
    """The classes that a release may have, with what the models demand of them."""
    fields: LevelFields
    """Where the level of each column stands in a pattern vector."""
    prices: Numbers
    """Shape (n,). Valid prices in units of 1 / `PRICE_UNIT`."""
    clock: Clock
    """Ends a dive, which then gives nothing."""

    @cached_property
    def instances(self) -> _Instances:
        """The instances in which a class costs little more than its prices.

        Raises
        ------
        TimeOver
        """
        higher = (self.prices + np.abs(self.prices) * _MARGIN).astype(np.int64)
        vector, cost, length, member = [], [], [], []
        room = _MOST_MEMBERS

        def visit(groups: PricedGroups, costs: Numbers, levels: list[int]) -> bool:
            nonlocal room
            begin, members = list_members(groups)
            vector.append(np.full(groups.groups, self.fields.pattern_of(levels), dtype=np.int64))
            cost.append(costs.astype(np.float64))
            length.append(np.diff(begin))
            member.append(members)
            room -= members.size
            return room < 0

        rows = PricedRows(self.table.rows, self.table.people, higher)
        self.classes.visit_broken(rows, visit, self.clock.raising().heartbeat)
        if not vector:
            none = np.empty(0, dtype=np.int64)
            return _Instances(Pool(np.empty(0), np.zeros(1, dtype=np.int64), none.astype(np.int32)), none)
        begin = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate(length))])
        return _Instances(Pool(np.concatenate(cost), begin, np.concatenate(member)), np.concatenate(vector))


def dive_under_models(task: DiveTask, held: Solution | None = None, share: float = SHARE) -> Solution | None:
    """Build a solution from prices that prove a lower bound under privacy models.

    Parameters
    ----------
    held : Solution, optional
        Rows that stay where they are; the others get places.
    share : float
        Share of the rows that are left which get a place in each round.

    Returns
    -------
    Solution or None
        Rows without a place are fully suppressed, whatever such a class violates. So may other classes
        where more is demanded than numbers and shares of values. None if there is nothing to settle, or time
        is over.
    """
    if task.classes.demands is None:
        return None
    try:
        instances = task.instances
    except TimeOver:
        return None
    table, nothing = task.table, np.empty(0, dtype=np.int64)
    held = Solution(nothing, nothing, nothing) if held is None else held
    left = table.rows - _rows_of(table, held.row_type, held.rows)
    placed = _settle_all(
        table, instances, task.classes.demands, task.classes.k, task.clock, task.prices, share, left.copy()
    )
    if placed is None:
        return None
    row_type, instance, rows = placed
    types = np.concatenate([held.row_type, row_type, np.arange(len(table))])
    top = np.full(len(table), task.fields.top)
    vector = np.concatenate([held.vector, instances.vector[instance], top])
    rest = left - _rows_of(table, row_type, rows)
    return Solution.of_parts(types, vector, np.concatenate([held.rows, rows, rest]))


def _rows_of(table: RowTypeTable, row_type: Numbers, rows: Numbers) -> Numbers:
    """Return how many rows of each row type some parts have."""
    return np.bincount(row_type, weights=rows, minlength=len(table)).astype(np.int64)


def dive_for_people(search: GraphSearch, clock: Clock, *, seed: int = 0) -> Solution | None:
    """Build a solution from prices where people have several rows, so that row types stay in one piece.

    Parameters
    ----------
    search : GraphSearch
        With prices; best in the graph that `thin` returns.
    seed : int
        With others than 0 rounds settle a share of the rows that is drawn at random.

    Returns
    -------
    Solution or None
        None if there is nothing to settle, or time is over.

    Notes
    -----
    Row types without a place are suppressed fully, and others with them until these are k people.
    """
    table, graph, k, prices = search.table, search.graph, search.k, search.prices
    demands = class_demands(table, NO_MODELS)
    if demands is None or prices is None:
        return None
    share = np.random.default_rng(seed).uniform(SHARE / 2, 2 * SHARE) if seed else SHARE
    instances = _Instances(Pool(np.floor(graph.cost * PRICE_UNIT), graph.begin, graph.member), graph.vector)
    placed = _settle_all(table, instances, demands, k, clock, prices, share)
    if placed is None:
        return None
    row_type, instance, _ = placed
    vector = np.full(len(table), (1 << table.width) - 1)
    vector[row_type] = graph.vector[instance]
    return Solution.undivided(table, fill_rest(table, vector, k))


def _settle_all(
    table: RowTypeTable,
    instances: _Instances,
    demands: ClassDemands,
    k: int,
    clock: Clock,
    prices: Numbers,
    share: float = SHARE,
    left: Numbers | None = None,
) -> tuple[Numbers, Numbers, Numbers] | None:
    """Return row type, instance and number of the rows that got a place, None if none did."""
    pool = instances.pool
    unit = float(np.mean(unit_weights(table.columns)))
    no_cap = NO_CAP * sum(unit_weights(table.columns))
    stage = Stage(
        table.rows.copy() if left is None else left, prices.astype(np.float64), np.full(len(table), no_cap),
        np.zeros(pool.cost.size, dtype=np.bool_),
    )  # fmt: skip
    left = stage.left
    held = np.zeros((pool.cost.size, *demands.codes.shape[:1], demands.held.size), dtype=np.int64)
    size = np.zeros(pool.cost.size, dtype=np.int64)
    row_type, instance, rows = np.empty((3, table.total_rows), dtype=np.int64)
    places = _Places(row_type, instance, rows, np.zeros(1, dtype=np.int64), held, size)
    slack, steps, began = SLACK, _STEPS, clock.left()
    while slack <= MOST_SLACK and left.any():
        if clock.is_over():
            return None
        clock.report("dive", 1.0 - float(left.sum()) / table.total_rows)
        people = np.where(left > 0, table.people, 0) if table.has_entity else left
        usage = adjust_prices(pool, stage, people, k, steps, _STRIDE, clock, demands)
        if not places.used[0]:
            steps = _affordable_steps(clock, began, share)
        order = np.flatnonzero(usage)
        if not order.size:
            break
        order = order[np.lexsort((-pool.cost[order], -np.rint(10 * usage[order])))]
        quota = max(int(share * left.sum()), 5 * k)
        priced = PricedRows(left, people, stage.price.astype(np.int64))
        before = places.used[0]
        for part in _parts(order, pool, demands):
            if quota <= 0:
                break
            if clock.is_over():
                return None
            clock.heartbeat()
            quota -= _settle(pool, part, stage.is_open, priced, demands, places, k, quota, slack * unit)
        if places.used[0] == before:
            slack *= MORE_SLACK
        stage.cap[:] = no_cap
        opened = np.flatnonzero(stage.is_open)
        opened = opened[np.argsort(pool.cost[opened], kind="stable")]
        for part in _parts(opened, pool, demands):
            if clock.is_over():
                return None
            clock.heartbeat()
            _join(pool, part, priced, stage.cap, demands, places, CLOSE * unit)
    done = places.used[0]
    return places.row_type[:done], places.instance[:done], places.rows[:done]


def _parts(order: Numbers, pool: Pool, demands: ClassDemands) -> Iterator[Numbers]:
    """Yield some instances in their order, as many at a time as take some hundredths of a second."""
    tries = (1 + _MOST_LARGER) * len(_RAREST) if demands.beyond >= 0 else 1
    work = np.cumsum(tries * (np.diff(pool.begin)[order] + demands.held.size))
    ends = np.flatnonzero(np.diff(work // _WORK_PER_STEP)) + 1
    yield from np.split(order, ends)


def _affordable_steps(clock: Clock, began: float | None, share: float) -> int:
    """Return how many steps rounds after the first may take, so that the dive ends in its part of the time.

    Parameters
    ----------
    began : float, optional
        Seconds that were left when the first round began.
    share : float
        Share of the rows that are left which get a place in each round: a round takes as much less time.
    """
    left = clock.left()
    if began is None or left is None:
        return _STEPS
    first = began - left
    expected, allowed = first * (1.0 / share - 1.0), _SHARE_OF_DIVE * began - first
    return _STEPS if expected <= allowed else max(_FEWEST_STEPS, int(_STEPS * allowed / expected))


class _Places(NamedTuple):
    """Which rows got a place where, and how many of each value, and of all, are in each instance."""

    row_type: Numbers
    instance: Numbers
    rows: Numbers
    used: Numbers
    held: Numbers
    size: Numbers


@inner_kernel
def _put(places: _Places, demands: ClassDemands, item: int, number: int, rows: int) -> None:
    """Note that some rows of a row type get a place in an instance."""
    place = places.used[0]
    places.row_type[place], places.instance[place], places.rows[place] = item, number, rows
    places.used[0] += 1
    places.size[number] += rows
    for column in range(demands.codes.shape[0]):
        places.held[number, column, demands.codes[column, item]] += rows


@inner_kernel
def _room(places: _Places, demands: ClassDemands, item: int, number: int, rows: int) -> int:
    """Return how many of some rows of a row type an instance can take, no value too frequent."""
    room = rows
    if demands.share > 1:
        for column in range(demands.codes.shape[0]):
            spare = (
                places.size[number] - demands.share * places.held[number, column, demands.codes[column, item]]
            )
            room = min(room, spare // (demands.share - 1))
    if demands.beyond >= 0 and demands.codes.shape[0] == 1:
        room = min(room, _room_within_distance(places, demands, item, number, room))
    return max(0, room)


@inner_kernel
def _room_within_distance(places: _Places, demands: ClassDemands, item: int, number: int, rows: int) -> int:
    """Return how many of some rows of a row type an instance can take and stay near enough to the table."""
    held, own = places.held[number, 0], demands.codes[0, item]
    room = 0
    while room < rows:
        size, further = places.size[number] + room + 1, np.int64(0)
        for value in range(held.size):
            joined = held[value] + (room + 1 if value == own else 0)
            further += max(np.int64(0), joined * SHARE_UNIT - (demands.quotas[0, value] - 1) * size)
        if further > (demands.beyond - 1) * size:
            break
        room += 1
    return room


@kernel
def _join(
    pool: Pool,
    opened: Numbers,
    priced: PricedRows,
    cap: NDArray[np.float64],
    demands: ClassDemands,
    places: _Places,
    close: float,
) -> None:
    """Give rows that are worth it a place in open instances, cheapest first; note where there is room."""
    left, price = priced.rows, priced.prices
    for number in opened:
        members = pool.member[pool.begin[number] : pool.begin[number + 1]].copy()
        cost = np.int64(pool.cost[number])
        sort_by_price(members, price)
        has_joined = True
        while has_joined:
            has_joined = False
            for item in members:
                if price[item] < cost - close:
                    break
                rows = _room(places, demands, item, number, left[item]) if left[item] > 0 else 0
                if rows > 0:
                    _put(places, demands, item, number, rows)
                    left[item] -= rows
                    has_joined = True
        for item in members:
            if left[item] > 0 and _room(places, demands, item, number, 1) > 0:
                cap[item] = min(cap[item], cost)


@kernel
def _whole_rows(
    demands: ClassDemands,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
    taken: Numbers,
) -> np.int64:
    """Choose whole rows of members, listed costliest first, that are near enough to the whole table.

    Classes of several sizes are filled with the costliest rows that still fit, in some of them only with rows
    whose values are not too rare. Returns what the best one gains, `NO_CLASS` if none was found; its rows are
    in `taken`.
    """
    best, best_size, best_share, waited = NO_CLASS, 0, 0, 0
    together = int(priced.rows[members].sum())
    for size in range(k, min(together, k + _MOST_LARGER) + 1):
        for eighths in _RAREST:
            gain = _whole_rows_of(demands, priced, members, cost, size, eighths * SHARE_UNIT // 8, taken)
            if gain > best:
                best, best_size, best_share, waited = gain, size, eighths, 0
        waited += int(best > NO_CLASS)
        if waited > _PATIENCE:
            break
    if best > NO_CLASS:
        _whole_rows_of(demands, priced, members, cost, best_size, best_share * SHARE_UNIT // 8, taken)
    return best


@kernel
def _whole_rows_of(
    demands: ClassDemands,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    size: int,
    rarest: int,
    taken: Numbers,
) -> np.int64:
    """Fill a class of some size; no row may be further beyond the quota of its value than `rarest`."""
    held, quotas = demands.held, demands.quotas[0]
    held[:] = 0
    taken[:] = 0
    left, further, gain = np.int64(size), np.int64(0), np.int64(0)
    for place in range(members.size):
        item = members[place]
        value = demands.codes[0, item]
        quota = (quotas[value] - 1) * size
        for _ in range(priced.rows[item]):
            beyond = max(np.int64(0), (held[value] + 1) * SHARE_UNIT - quota)
            more = beyond - max(np.int64(0), held[value] * SHARE_UNIT - quota)
            if more > rarest or further + more > (demands.beyond - 1) * size:
                break
            held[value] += 1
            taken[place] += 1
            further += more
            gain += priced.prices[item] - cost
            left -= 1
            if left == 0:
                return np.int64(gain)
    return NO_CLASS


@kernel
def _settle(
    pool: Pool,
    order: Numbers,
    is_open: NDArray[np.bool_],
    priced: PricedRows,
    demands: ClassDemands,
    places: _Places,
    k: int,
    quota: int,
    slack: float,
) -> int:
    """Open instances and give them rows until a quota of rows has a place; return how many have."""
    left, price = priced.rows, priced.prices
    done = np.int64(0)
    for number in order:
        if done >= quota:
            break
        every = pool.member[pool.begin[number] : pool.begin[number + 1]]
        members = every[left[every] > 0]
        if members.size == 0:
            continue
        sort_by_price(members, price)
        gain = greatest_gain(demands, priced, members, np.int64(pool.cost[number]), k)
        taken = demands.taken[: members.size].astype(np.int64)
        if demands.beyond >= 0 and demands.codes.shape[0] == 1 and not demands.has_entity:
            gain = _whole_rows(demands, priced, members, np.int64(pool.cost[number]), k, taken)
            if gain <= NO_CLASS or -gain > slack * taken.sum():
                continue
        if demands.has_entity:
            taken = np.where(demands.taken[: members.size] > 0.0, left[members], 0)
        if gain <= NO_CLASS or -gain > slack * taken.sum():
            continue
        for place in range(members.size):
            if taken[place] > 0:
                _put(places, demands, members[place], number, taken[place])
                left[members[place]] -= taken[place]
        done += taken.sum()
        is_open[number] = True
    return int(done)
