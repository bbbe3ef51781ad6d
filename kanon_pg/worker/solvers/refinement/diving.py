"""A solution from prices: settle the classes that they favour, adjust the prices to what is left, repeat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.bounds.lagrangian import Counts, Pace, Pool, Usage, climb
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.refinement.flow import assign_to
from kanon_pg.worker.verification.class_demands import ClassDemands


class Stage(NamedTuple):
    """Where a dive stands."""

    left: NDArray[np.int64]
    """Shape (n,). Rows of each row type that have no place yet."""
    price: NDArray[np.float64]
    """Shape (n,). Price of each of them."""
    cap: NDArray[np.float64]
    """Shape (n,). Cost of the cheapest open instance that they could join."""
    is_open: NDArray[np.bool_]
    """Shape (q,). Which instances are open."""


@kernel
def _what_is_left(
    pool: Pool, stage: Stage, position: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the closed instances that can still be filled, over the row types that have rows left.

    Parameters
    ----------
    pool : Pool
        All instances.
    position : ndarray of int32, shape (n,)
        New number of each row type.

    Returns
    -------
    begin, member, instance : ndarray
        Members of these instances in compressed rows, and their numbers in the graph.
    """
    begin = np.zeros(pool.begin.size, dtype=np.int64)
    member = np.empty(pool.member.size, dtype=np.int32)
    instance = np.empty(pool.cost.size, dtype=np.int64)
    count, room = 0, 0
    for number in range(pool.cost.size):
        if stage.is_open[number]:
            continue
        rows = 0
        for place in range(pool.begin[number], pool.begin[number + 1]):
            rows += stage.left[pool.member[place]]
        if rows < k:
            continue
        for place in range(pool.begin[number], pool.begin[number + 1]):
            if stage.left[pool.member[place]] > 0:
                member[room] = position[pool.member[place]]
                room += 1
        instance[count] = number
        count += 1
        begin[count] = room
    return begin[: count + 1], member[:room], instance[:count]


@kernel
def _fill(
    graph: Pool, stage: Stage, number: int, k: int, taken: NDArray[np.int64]
) -> tuple[int, float, NDArray[np.int64]]:
    """Choose rows for an instance: all that are costlier than it, and the next costliest up to k.

    Returns how many, by how much they cost more than their prices, and the members in that order; `taken`
    holds the rows of each.
    """
    cost = graph.cost[number]
    members = graph.member[graph.begin[number] : graph.begin[number + 1]]
    order = np.argsort(-stage.price[members], kind="mergesort")
    rows, excess = 0, 0.0
    for turn in range(order.size):
        item = members[order[turn]]
        is_dear = stage.price[item] > cost
        more = stage.left[item] if is_dear else min(stage.left[item], max(k - rows, 0))
        taken[turn] = more
        rows += more
        excess += more * (cost - stage.price[item])
    return rows, excess, order


@kernel
def settle(graph: Pool, stage: Stage, order: NDArray[np.int64], quota: int, slack: float, k: int) -> int:
    """Open instances and give them rows until a quota of rows has a place.

    Parameters
    ----------
    graph : Pool
        All instances.
    stage : Stage
        Changes.
    order : ndarray of int64
        Instances in the order in which they are tried.
    quota : int
        Rows that should get a place.
    slack : float
        By how much a row of a class may cost more than its price, on average.

    Returns
    -------
    int
        Rows that got a place.
    """
    done = 0
    for number in order:
        if done >= quota:
            break
        members = graph.member[graph.begin[number] : graph.begin[number + 1]]
        taken = np.empty(members.size, dtype=np.int64)
        rows, excess, turns = _fill(graph, stage, number, k, taken)
        if rows < k or excess > slack * rows:
            continue
        for turn in range(turns.size):
            stage.left[members[turns[turn]]] -= taken[turn]
        for item in members:
            stage.cap[item] = min(stage.cap[item], graph.cost[number])
        stage.is_open[number] = True
        done += rows
    return done


_FIRST_STEPS = 600
_FIRST_STRIDE = 0.5
"""Steps of the subgradient method, and the first one's length, before anything is settled."""

_STEPS = 150
_STRIDE = 0.3
"""The same after each round, from the prices of the round before."""

_PACE = Pace(reach=1.005, patience=20)

_SHARE = 0.5
_LEAST_SHARE = 0.3
_MOST_SHARE = 0.8
"""Share of the rows that are left which get a place in each round: small ones distort later prices."""

_STEPS_OF_USAGE = 10
"""Usages are told apart up to this part of them; of equally used instances the costliest come first."""

_LEAST_CLASSES = 5
"""Classes, of k rows, that each round should settle at least."""

SLACK = 0.05
MORE_SLACK = 2.0
MOST_SLACK = 3.0
"""By how much rows may cost more than their prices, in usual costs: grows when no class costs so little."""

CLOSE = 1e-3
"""Share of a usual cost by which a price may be below its cap for its rows to count as settled."""

NO_CAP = 4.0
"""Cap of a price, in costs of a fully suppressed row, as long as no open instance has room for the row."""


def dive(search: GraphSearch, clock: Clock, *, seed: int = 0) -> Solution | None:
    """Build a solution from prices that prove a lower bound.

    Parameters
    ----------
    search : GraphSearch
        Of a table without an entity, with prices; best in the graph that `thin` returns.
    seed : int
        With others than 0 rounds settle a share of the rows that is drawn at random.

    Returns
    -------
    Solution or None
        None if time is over or the open instances cannot hold all rows. It is meant as a start for
        `anneal`, which finds better places for the last rows.

    Notes
    -----
    Caprara, Fischetti and Toth 1999, "A heuristic method for the set covering problem": fixing what the
    multipliers favour and computing them anew for the rest works better than choosing everything by the
    multipliers of the whole.
    """
    graph, k, unit = search.graph, search.k, search.usual
    pool, stage = Pool(graph.cost, graph.begin, graph.member), _beginning(search)
    settled = np.random.default_rng(seed).uniform(_LEAST_SHARE, _MOST_SHARE) if seed else _SHARE
    slack, steps, stride = SLACK, _FIRST_STEPS, _FIRST_STRIDE
    total = int(stage.left.sum())
    while slack <= MOST_SLACK:
        if clock.is_over():
            return None
        rows = int(stage.left.sum())
        clock.report("dive", 1.0 - rows / total)
        share = adjust_prices(pool, stage, stage.left, k, steps, stride, clock)
        used = np.flatnonzero(share)
        if not used.size:
            break
        quota = max(int(settled * rows), _LEAST_CLASSES * k)
        if not settle(pool, stage, _by_usage(used, share[used]), quota, slack * unit, k):
            slack *= MORE_SLACK
        stage.left[stage.price >= stage.cap - CLOSE * unit] = 0
        steps, stride = _STEPS, _STRIDE
    return assign_to(search, np.flatnonzero(stage.is_open))


def _beginning(search: GraphSearch) -> Stage:
    """Return the state in which no instance is open."""
    rows, graph = search.table.rows, search.graph
    return Stage(
        rows.copy(), search.row_prices, np.full(rows.size, NO_CAP * float(graph.cost[-1])),
        np.zeros(len(graph), dtype=np.bool_),
    )  # fmt: skip


def _by_usage(instance: NDArray[np.int64], share: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sort instances, given by rising cost, by usage and then by falling cost.

    What costly ones leave fits into cheap ones rather than vice versa.
    """
    return instance[::-1][np.argsort(-np.rint(_STEPS_OF_USAGE * share[::-1]), kind="stable")]


def adjust_prices(
    pool: Pool,
    stage: Stage,
    people: NDArray[np.int64],
    k: int,
    steps: int,
    stride: float,
    clock: Clock,
    demands: ClassDemands | None = None,
) -> NDArray[np.float64]:
    """Adjust the prices of rows without a place, up to their caps; return how much each instance is used.

    Parameters
    ----------
    pool : Pool
        All instances.
    people : ndarray of int64, shape (n,)
        People of the rows that are left of each row type.
    steps, stride, demands
        As in `climb`.
    """
    types = np.flatnonzero(stage.left)
    position = np.full(stage.left.size, -1, dtype=np.int32)
    position[types] = np.arange(types.size)
    begin, member, instance = _what_is_left(pool, stage, position, k)
    share = np.zeros(pool.cost.size)
    if not instance.size:
        return share
    rest = Pool(pool.cost[instance], begin, member)
    usage = Usage.of(rest)
    cap = stage.cap[types]
    reached = climb(
        rest, Counts(stage.left[types], people[types], k), np.minimum(stage.price[types], cap), cap, np.inf,
        steps, stride, clock, pace=_PACE, usage=usage,
        demands=None if demands is None else demands.ordered(types.astype(np.int32)),
    )  # fmt: skip
    stage.price[types] = reached.prices
    share[instance] = usage.share
    return share
