"""Kernels of a dive: settle some classes, and show what is left to the ascent of prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.bounds.lagrangian import Pool


class Stage(NamedTuple):
    """Where a dive stands.

    Parameters
    ----------
    left : ndarray of int64, shape (n,)
        Rows of each row type that have no place yet.
    price : ndarray of float64, shape (n,)
        Price of each of them.
    cap : ndarray of float64, shape (n,)
        Cost of the cheapest open instance that they could join.
    is_open : ndarray of bool, shape (q,)
        Which instances are open.
    """

    left: NDArray[np.int64]
    price: NDArray[np.float64]
    cap: NDArray[np.float64]
    is_open: NDArray[np.bool_]


@kernel
def what_is_left(
    graph: Pool, stage: Stage, position: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the closed instances that can still be filled, over the row types that have rows left.

    Parameters
    ----------
    graph : Pool
        All instances.
    stage : Stage
    position : ndarray of int32, shape (n,)
        New number of each row type.
    k : int

    Returns
    -------
    begin, member, instance : ndarray
        Members of these instances in compressed rows, and their numbers in the graph.
    """
    begin = np.zeros(graph.begin.size, dtype=np.int64)
    member = np.empty(graph.member.size, dtype=np.int32)
    instance = np.empty(graph.cost.size, dtype=np.int64)
    count, room = 0, 0
    for number in range(graph.cost.size):
        if stage.is_open[number]:
            continue
        rows = 0
        for place in range(graph.begin[number], graph.begin[number + 1]):
            rows += stage.left[graph.member[place]]
        if rows < k:
            continue
        for place in range(graph.begin[number], graph.begin[number + 1]):
            if stage.left[graph.member[place]] > 0:
                member[room] = position[graph.member[place]]
                room += 1
        instance[count] = number
        count += 1
        begin[count] = room
    return begin[: count + 1], member[:room], instance[:count]


@kernel
def _fill(
    graph: Pool, stage: Stage, number: int, k: int, taken: NDArray[np.int64]
) -> tuple[int, float, NDArray[np.int64]]:
    """Choose rows for an instance: all that are dearer than it, and the next dearest up to k.

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
    k : int

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
