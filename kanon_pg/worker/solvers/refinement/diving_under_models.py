"""Solutions under privacy models from prices: classes that the prices favour, then rows distributed by flow.

As in `kanon_pg.worker.solvers.refinement.diving`, with classes that satisfy what is demanded of them. Where
one model of one column is demanded, a flow then distributes all rows anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.classes import ClassTable, classes_of
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.patterns import PatternMask, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.bounds.lagrangian import Pool, sort_by_price
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.greedy.rest import fill_rest
from kanon_pg.worker.solvers.heuristics import repair_and_improve
from kanon_pg.worker.solvers.refinement.diving import (
    CLOSE,
    MORE_SLACK,
    MOST_SLACK,
    NO_CAP,
    SLACK,
    Stage,
    adjust_prices,
)
from kanon_pg.worker.solvers.sensitive_flow import reassign_diversely, reassign_sensitively
from kanon_pg.worker.verification.certificate import (
    NO_MODELS,
    PRICE_UNIT,
    PricedGroups,
    formable_classes,
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

_TAKEN = (0.03, 0.25)
"""Least and largest share of the rows whose classes are taken apart to dive for them again."""

_MOST_TURNS = 30
_LEAST_GAIN = 3e-4
"""Turns of local search and flow, at most, and the share of the cost that one has to gain for another."""

_STEPS = 60
_STRIDE = 0.3
"""Steps of the subgradient method before each round, and the first one's length."""

_SHARE_OF_DIVE = 0.5
_FEWEST_STEPS = 15
"""Share of the time that is left which a dive should take: later rounds take fewer steps, at least these,
where the first one shows that it would take longer. A dive that time ends gives nothing."""

_SHARE = 0.3
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


def dive_under_models(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    clock: Clock,
    prices: Numbers,
) -> Solution | None:
    """Build a solution from prices that prove a lower bound under privacy models.

    Parameters
    ----------
    table : RowTypeTable
        Without an entity.
    mask : PatternMask
        Its vectors are all that are allowed.
    prices : ndarray of int64, shape (n,)
        Valid prices in units of 1 / `PRICE_UNIT`.

    Returns
    -------
    Solution or None
        None if there is nothing to settle, or time is over.

    Notes
    -----
    Classes of a model that is demanded by more than numbers and shares of values may violate it: these are
    suppressed fully and filled, see `repair_and_improve`.
    """
    nothing = np.empty(0, dtype=np.int64)
    held = Solution(nothing, nothing, nothing)
    return _dive_for_the_rest(table, mask, request, clock, prices, held, _SHARE)


def dive_again(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    clock: Clock,
    prices: Numbers,
    solution: Solution,
    seed: int,
) -> Solution | None:
    """Take some classes of a solution apart and dive for their rows, the others staying as they are.

    Parameters
    ----------
    table, mask, request, clock, prices
        As in `dive_under_models`.
    solution : Solution
        All its classes are allowed.
    seed : int
        Chooses the classes: the more a class costs beyond the prices of its rows, the likelier. With odd ones
        that chooses the first class alone; the others are those that show fewest other values.

    Returns
    -------
    Solution or None
        It may be costlier. None if there is nothing to settle, or time is over.

    Notes
    -----
    Shaw 1998, "Using constraint programming and local search methods to solve vehicle routing problems".
    """
    random = np.random.default_rng(seed)
    classes = classes_of(solution.parts_of(table), solution.vector)
    cost = suppression_costs(solution.vector, table.weights)
    excess = np.maximum(cost - prices[solution.row_type] / PRICE_UNIT, 0.0) * solution.rows
    of_class = np.bincount(classes.class_of, weights=excess, minlength=len(classes))
    size = np.bincount(classes.class_of, weights=solution.rows, minlength=len(classes))
    # Smallest keys first are a draw in proportion to what is lost per row (Efraimidis and Spirakis 2006).
    order = np.argsort(random.exponential(size=len(classes)) / np.maximum(of_class / size, CLOSE))
    if seed % 2:
        order = order[np.argsort(_apart(table, solution, classes, order[0])[order], kind="stable")]
    taken = order[: np.searchsorted(np.cumsum(size[order]), random.uniform(*_TAKEN) * table.total_rows) + 1]
    stays = ~np.isin(classes.class_of, taken)
    held = Solution(solution.row_type[stays], solution.vector[stays], solution.rows[stays])
    share = random.uniform(_SHARE / 2, 2 * _SHARE)
    return _dive_for_the_rest(table, mask, request, clock, prices, held, share)


def _apart(table: RowTypeTable, solution: Solution, classes: ClassTable, one: int) -> Numbers:
    """Return for each class how many columns it shows with another value than one of them."""
    part = np.empty(len(classes), dtype=np.int64)
    part[classes.class_of] = np.arange(classes.class_of.size)
    item = solution.row_type[part]
    apart = np.zeros(len(classes), dtype=np.int64)
    for column, cells in enumerate(table.cells):
        shown = (classes.vectors >> column) & 1 == 0
        apart += shown & shown[one] & (cells[item] != cells[item[one]])
    return apart


def _dive_for_the_rest(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    clock: Clock,
    prices: Numbers,
    held: Solution,
    share: float,
) -> Solution | None:
    """Dive for the rows that have no place yet, and refine what comes of it and of those that have one."""
    demands = class_demands(table, request.models)
    if demands is None:
        return None
    try:
        instances = _instances(table, mask, request.k, clock.raising(), prices, demands)
    except TimeOver:
        return None
    left = table.rows - _rows_of(table, held.row_type, held.rows)
    placed = _settle_all(table, instances, demands, request.k, clock, prices, share, left.copy())
    if placed is None:
        return None
    row_type, instance, rows = placed
    types = np.concatenate([held.row_type, row_type, np.arange(len(table))])
    vector = np.concatenate([held.vector, instances.vector[instance], np.full(len(table), mask.full)])
    rest = left - _rows_of(table, row_type, rows)
    solution = Solution.of_parts(types, vector, np.concatenate([held.rows, rows, rest]))
    return refine_under_models(table, mask, request, clock, solution)


def _rows_of(table: RowTypeTable, row_type: Numbers, rows: Numbers) -> Numbers:
    """Return how many rows of each row type some parts have."""
    return np.bincount(row_type, weights=rows, minlength=len(table)).astype(np.int64)


def dive_for_people(
    table: RowTypeTable, graph: Compatibility, k: int, clock: Clock, *, prices: Numbers, seed: int = 0
) -> Solution | None:
    """Build a solution from prices where people have several rows, so that row types stay in one piece.

    Parameters
    ----------
    graph : Compatibility
        The graph of this table and k; best the part that `thin` returns.
    prices : ndarray of int64, shape (n,)
        Valid prices in units of 1 / `PRICE_UNIT`.
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
    demands = class_demands(table, NO_MODELS)
    if demands is None:
        return None
    share = np.random.default_rng(seed).uniform(_SHARE / 2, 2 * _SHARE) if seed else _SHARE
    instances = _Instances(Pool(np.floor(graph.cost * PRICE_UNIT), graph.begin, graph.member), graph.vector)
    placed = _settle_all(table, instances, demands, k, clock, prices, share)
    if placed is None:
        return None
    row_type, instance, _ = placed
    vector = np.full(len(table), (1 << table.width) - 1)
    vector[row_type] = graph.vector[instance]
    return Solution.undivided(table, fill_rest(table, vector, k))


def _instances(
    table: RowTypeTable,
    mask: PatternMask,
    k: int,
    clock: Clock,
    prices: Numbers,
    demands: ClassDemands,
) -> _Instances:
    """Return the instances in which a class costs little more than its prices."""
    higher = (prices + np.abs(prices) * _MARGIN).astype(np.int64)
    vector, cost, length, member = [], [], [], []
    room = _MOST_MEMBERS

    def visit(groups: PricedGroups, costs: Numbers, levels: list[int]) -> bool:
        nonlocal room
        begin, members = list_members(groups)
        of = sum(level << column for column, level in enumerate(levels))
        vector.append(np.full(groups.groups, of, dtype=np.int64))
        cost.append(costs.astype(np.float64))
        length.append(np.diff(begin))
        member.append(members)
        room -= members.size
        return room < 0

    classes = formable_classes(table, mask.vectors, k, demands)
    classes.visit_broken(PricedRows(table.rows, table.people, higher), visit, clock.heartbeat)
    if not vector:
        nothing = np.empty(0, dtype=np.int64)
        return _Instances(Pool(np.empty(0), np.zeros(1, dtype=np.int64), nothing.astype(np.int32)), nothing)
    begin = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate(length))])
    return _Instances(Pool(np.concatenate(cost), begin, np.concatenate(member)), np.concatenate(vector))


def _settle_all(
    table: RowTypeTable,
    instances: _Instances,
    demands: ClassDemands,
    k: int,
    clock: Clock,
    prices: Numbers,
    share: float = _SHARE,
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


def refine_under_models(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock, solution: Solution
) -> Solution:
    """Let local search and flow take turns until neither gains, or time is over.

    Parameters
    ----------
    solution : Solution
        Any one of this table; classes that violate something are suppressed fully.
    """
    for _ in range(_MOST_TURNS):
        before = solution.cost(table.weights)
        parts = solution.parts_of(table)
        found = repair_and_improve(parts, mask, request, clock, solution.vector, "prices").solution
        solution = Solution.of_parts(solution.row_type[found.row_type], found.vector, found.rows)
        better = None if clock.is_over() else _distributed(table, solution, request, clock)
        solution = solution if better is None else better
        if clock.is_over() or before - solution.cost(table.weights) <= _LEAST_GAIN * before:
            break
    return solution


def _distributed(
    table: RowTypeTable, solution: Solution, request: SolveRequest, clock: Clock
) -> Solution | None:
    """Distribute all rows among the classes at least cost, each of which stays allowed.

    Returns None if models demand more than values or shares of one column, or the network would be too large.
    """
    models = request.models
    if len(table.sensitive_columns) != 1:
        return None
    if models == PrivacyModels(p=models.p):
        return reassign_sensitively(table, solution, request.k, models.p or 1, clock)
    if models == PrivacyModels(l=models.l) and not table.has_entity:
        return reassign_diversely(table, solution, request.k, models.l or 1, clock)
    return None
