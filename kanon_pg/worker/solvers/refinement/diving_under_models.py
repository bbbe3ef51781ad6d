"""Solutions under privacy models from prices: classes that the prices favour, then rows distributed by flow.

As in `kanon_pg.worker.solvers.refinement.diving`, with classes that satisfy what is demanded of them. A flow
then distributes all rows anew: with at most m rows of each sensitive value and at least l m rows, a class
satisfies frequency l-diversity whatever else joins it, so that limits of values and of classes are capacities
and demands of a network.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.solving import PrivacyModels, SolveRequest
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.models.evaluator import sensitive_codes
from kanon_pg.worker.patterns import PatternMask, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.bounds.lagrangian import Counts, Pace, Pool, Usage, climb, sort_by_price
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.exact.granularity import whole_costs
from kanon_pg.worker.solvers.greedy.rest import fill_rest
from kanon_pg.worker.solvers.heuristics import satisfy_models
from kanon_pg.worker.solvers.p_sensitive_flow import MOST_ARCS, compatible_pairs, reassign_sensitively
from kanon_pg.worker.solvers.row_assignment import is_solved
from kanon_pg.worker.verification.certificate import (
    NO_MODELS,
    PRICE_UNIT,
    Priced,
    PricedGroups,
    list_members,
    unit_costs,
    unit_weights,
    visit_broken_groups,
)
from kanon_pg.worker.verification.demanded_classes import (
    NO_CLASS,
    SHARE_UNIT,
    ClassDemands,
    PricedRows,
    class_demands,
    greatest_gain,
)

Numbers = NDArray[np.int64]

_MARGIN = 0.1
"""Instances are searched in which a class gains at prices higher by this share."""

_MOST_MEMBERS = 6_000_000
"""Most members of all instances together."""

_TAKEN = (0.03, 0.25)
"""Least and largest share of the rows whose classes are taken apart to dive for them again.

One run on Adult (7 columns, occupation sensitive, k = 5, t = 0.3) from 58,771 cells, six dives in turn: with
shares of 0.03 to 0.1 two saved 54 and 415 cells in 2.7 and 3.2 processor s, with 0.1 to 0.2 683 and 240 in
3.0 each, with 0.2 to 0.4 534 and none in 4.9 and 5.4.
"""

_MOST_TURNS = 30
_LEAST_GAIN = 3e-4
"""Turns of local search and flow, at most, and the share of the cost that one has to gain for another."""

_PACE = Pace(reach=1.005, patience=20)

_STEPS = 60
_STRIDE = 0.3
"""Steps of the subgradient method after each round, and the first one's length."""

_SHARE = 0.3
"""Share of the rows that are left which get a place in each round."""

_SLACK = 0.05
_MORE_SLACK = 2.0
_MOST_SLACK = 3.0
"""By how much rows may cost more than their prices, in usual costs: grows when no class costs so little."""

_CLOSE = 1e-3
"""Share of a usual cost by which a price may be below its cap for its rows to count as settled."""

_MOST_LARGER = 40
_PATIENCE = 8
_RAREST = (8, 6, 4)
"""Under a distance: rows beyond k that classes are tried with, sizes without a better class after which that
ends, and by how many eighths of a row a row may exceed the quota of its value."""

_NO_CAP = 4
"""Cap of a price, in costs of a fully suppressed row, as long as no open instance has room for the row."""


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
    suppressed fully and filled, see `satisfy_models`.
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
        Chooses the classes: the more a class costs beyond the prices of its rows, the likelier.

    Returns
    -------
    Solution or None
        It may be dearer. None if there is nothing to settle, or time is over.

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
    order = np.argsort(random.exponential(size=len(classes)) / np.maximum(of_class / size, _CLOSE))
    taken = order[: np.searchsorted(np.cumsum(size[order]), random.uniform(*_TAKEN) * table.total_rows) + 1]
    stays = ~np.isin(classes.class_of, taken)
    held = Solution(solution.row_type[stays], solution.vector[stays], solution.rows[stays])
    share = random.uniform(_SHARE / 2, 2 * _SHARE)
    return _dive_for_the_rest(table, mask, request, clock, prices, held, share)


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
    instances = _instances(table, mask, request.k, clock, prices, demands)
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

    def visit(of: int, cost_of_row: int, groups: PricedGroups) -> bool:
        nonlocal room
        begin, members = list_members(groups)
        vector.append(np.full(groups.groups, of, dtype=np.int64))
        cost.append(np.full(groups.groups, cost_of_row, dtype=np.float64))
        length.append(np.diff(begin))
        member.append(members)
        room -= members.size
        return room < 0

    costs = unit_costs(mask.vectors, unit_weights(table.columns))
    priced = Priced(list(table.cells), table.rows, table.people, higher)
    visit_broken_groups(priced, mask.vectors, costs, k, visit, clock.heartbeat, demands)
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
    left, price = table.rows.copy() if left is None else left, prices.astype(np.float64)
    no_cap = _NO_CAP * sum(unit_weights(table.columns))
    cap = np.full(len(table), no_cap, dtype=np.int64)
    is_open = np.zeros(pool.cost.size, dtype=np.bool_)
    held = np.zeros((pool.cost.size, *demands.codes.shape[:1], demands.held.size), dtype=np.int64)
    size = np.zeros(pool.cost.size, dtype=np.int64)
    row_type, instance, rows = np.empty((3, table.total_rows), dtype=np.int64)
    places = _Places(row_type, instance, rows, np.zeros(1, dtype=np.int64), held, size)
    slack = _SLACK
    while slack <= _MOST_SLACK and left.any():
        if clock.is_over():
            return None
        clock.report("dive", 1.0 - float(left.sum()) / table.total_rows)
        people = np.where(left > 0, table.people, 0) if table.has_entity else left
        usage = _adjust(pool, is_open, PricedRows(left, people, cap), price, demands, k, clock)
        order = np.flatnonzero(usage > 0.0)
        if not order.size:
            break
        order = order[np.lexsort((-pool.cost[order], -np.rint(10 * usage[order])))]
        quota = max(int(share * left.sum()), 5 * k)
        priced = PricedRows(left, people, price.astype(np.int64))
        before = places.used[0]
        _settle(pool, order, is_open, priced, demands, places, k, quota, slack * unit)
        if places.used[0] == before:
            slack *= _MORE_SLACK
        cap[:] = no_cap
        opened = np.flatnonzero(is_open)
        opened = opened[np.argsort(pool.cost[opened], kind="stable")]
        _join(pool, opened, priced, cap, demands, places, _CLOSE * unit)
    done = places.used[0]
    return places.row_type[:done], places.instance[:done], places.rows[:done]


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
    cap: Numbers,
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


def _adjust(
    pool: Pool,
    is_open: NDArray[np.bool_],
    capped: PricedRows,
    price: NDArray[np.float64],
    demands: ClassDemands,
    k: int,
    clock: Clock,
) -> NDArray[np.float64]:
    """Adjust the prices of rows without a place, up to their caps; return how much each instance is used."""
    left, people, cap = capped
    types = np.flatnonzero(left)
    position = np.full(left.size, -1, dtype=np.int32)
    position[types] = np.arange(types.size)
    begin, member, instance = _what_is_left(pool, is_open, left, position, k)
    share = np.zeros(pool.cost.size)
    if not instance.size:
        return share
    rest = Pool(pool.cost[instance], begin, member)
    usage = Usage.of(rest)
    highest = cap[types].astype(np.float64)
    reached = climb(
        rest, Counts(left[types], people[types], k), np.minimum(price[types], highest), highest, np.inf,
        _STEPS, _STRIDE, clock, pace=_PACE, usage=usage, demands=demands.ordered(types.astype(np.int32)),
    )  # fmt: skip
    price[types] = reached.prices
    share[instance] = usage.share
    return share


@kernel
def _what_is_left(
    pool: Pool, is_open: NDArray[np.bool_], left: Numbers, position: NDArray[np.int32], k: int
) -> tuple[Numbers, NDArray[np.int32], Numbers]:
    """Return the closed instances that can still be filled, over the row types that have rows left."""
    begin = np.zeros(pool.begin.size, dtype=np.int64)
    member = np.empty(pool.member.size, dtype=np.int32)
    instance = np.empty(pool.cost.size, dtype=np.int64)
    count, room = 0, 0
    for number in range(pool.cost.size):
        if is_open[number]:
            continue
        rows = np.int64(0)
        for place in range(pool.begin[number], pool.begin[number + 1]):
            rows += left[pool.member[place]]
        if rows < k:
            continue
        for place in range(pool.begin[number], pool.begin[number + 1]):
            if left[pool.member[place]] > 0:
                member[room] = position[pool.member[place]]
                room += 1
        instance[count] = number
        count += 1
        begin[count] = room
    return begin[: count + 1].copy(), member[:room].copy(), instance[:count].copy()


@kernel
def _whole_rows(
    demands: ClassDemands,
    priced: PricedRows,
    members: NDArray[np.int32],
    cost: np.int64,
    k: int,
    taken: Numbers,
) -> np.int64:
    """Choose whole rows of members, listed dearest first, that are near enough to the whole table.

    Classes of several sizes are filled with the dearest rows that still fit, in some of them only with rows
    whose values are not too rare. Returns what the best one gains, `NO_CLASS` if none was found; its rows are
    in `taken`.
    """
    best, best_size, best_share, waited = NO_CLASS, 0, 0, 0
    together = priced.rows[members].sum()
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
) -> None:
    """Open instances and give them rows until a quota of rows has a place."""
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
        before = _cost(table, solution)
        parts = solution.parts_of(table)
        found = satisfy_models(parts, mask, request, clock, solution.vector, "prices").solution
        solution = Solution.of_parts(solution.row_type[found.row_type], found.vector, found.rows)
        better = None if clock.is_over() else _distributed(table, solution, request, clock)
        solution = solution if better is None else better
        if clock.is_over() or before - _cost(table, solution) <= _LEAST_GAIN * before:
            break
    return solution


def _cost(table: RowTypeTable, solution: Solution) -> float:
    return float((suppression_costs(solution.vector, table.weights) * solution.rows).sum())


def _distributed(
    table: RowTypeTable, solution: Solution, request: SolveRequest, clock: Clock
) -> Solution | None:
    """Distribute all rows among the classes at least cost, each of which stays allowed.

    Returns None if models demand more than values or shares of one column, or the network would be too large.
    """
    models = request.models
    if models == PrivacyModels(p=models.p) and len(table.sensitive_columns) == 1:
        return reassign_sensitively(table, solution, request.k, models.p or 1, clock)
    is_alone = models == PrivacyModels(l=models.l) and models.l is not None
    if not is_alone or len(table.sensitive_columns) != 1 or table.has_entity:
        return None
    row_type, output, vectors = compatible_pairs(table, solution, clock)
    if row_type.size > MOST_ARCS:
        return None
    share = models.l or 1
    limit = _limits(table, solution, row_type, output, vectors, request.k, share)
    fewest = np.maximum(request.k, limit * share)
    if not limit.all():
        return None
    cost, _ = whole_costs(suppression_costs(vectors, table.weights))
    rows = _flow(table, row_type, output, cost, limit, fewest)
    return None if rows is None else Solution.of_parts(row_type, vectors[output], rows)


def _limits(
    table: RowTypeTable,
    solution: Solution,
    row_type: Numbers,
    output: Numbers,
    vectors: Numbers,
    k: int,
    share: int,
) -> Numbers:
    """Return for each class how many rows of one value the largest part of it has that is allowed, 0 if none.

    With so many rows of each value at most, it has enough rows.
    """
    codes = sensitive_codes(table, 0).astype(np.int64)
    pairs = np.unique(vectors[output] * len(table) + row_type, return_index=True)
    place = pairs[1][np.searchsorted(pairs[0], solution.vector * len(table) + solution.row_type)]
    held = np.zeros((vectors.size, int(codes.max()) + 1), dtype=np.int64)
    np.add.at(held, (output[place], codes[solution.row_type]), solution.rows)
    limit = np.zeros(vectors.size, dtype=np.int64)
    for number, of_class in enumerate(held):
        most = int(of_class.sum()) // share
        while most and np.minimum(of_class, most).sum() < share * most:
            most -= 1
        limit[number] = most if np.minimum(of_class, most).sum() >= k else 0
    return limit


def _flow(
    table: RowTypeTable, row_type: Numbers, output: Numbers, cost: Numbers, limit: Numbers, fewest: Numbers
) -> Numbers | None:
    """Return the rows on each pair of the cheapest flow, None if there is none."""
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 - needed by few searches

    codes = sensitive_codes(table, 0).astype(np.int64)
    width = int(codes.max()) + 1
    gates, gate = np.unique(output * width + codes[row_type], return_inverse=True)
    types, outputs = len(table), cost.size
    first_gate = types + outputs
    sink = first_gate + gates.size
    left = table.total_rows - int(fewest.sum())
    if left < 0:
        return None
    network = min_cost_flow.SimpleMinCostFlow()
    add = network.add_arcs_with_capacity_and_unit_cost
    arcs = add(row_type, first_gate + gate, table.rows[row_type], cost[output])
    add(
        first_gate + np.arange(gates.size),
        types + gates // width,
        limit[gates // width],
        np.zeros_like(gates),
    )
    add(
        types + np.arange(outputs),
        np.full(outputs, sink),
        np.full(outputs, left),
        np.zeros(outputs, np.int64),
    )
    supply = np.concatenate([table.rows, -fewest, np.zeros(gates.size, np.int64), [-left]]).astype(np.int64)
    network.set_nodes_supplies(np.arange(sink + 1), supply)
    return np.asarray(network.flows(arcs), dtype=np.int64) if is_solved(network) else None
