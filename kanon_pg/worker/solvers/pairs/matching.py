"""Minimum-cost perfect matchings in complete graphs, with the prices that prove them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.solvers.pairs.blossoms import contract, expand
from kanon_pg.worker.solvers.pairs.forest import (
    FREE,
    INNER,
    NOBODY,
    OUTER,
    Forest,
    forest_of,
    near_slack,
    offer,
    push,
    rebase,
    slack,
)

NO_LIMIT = 1 << 61
"""More than prices can rise."""


UNIT = 2
"""Costs and prices are multiplied by this number, because prices can be halves."""


def perfect_matching(costs: NDArray[np.int64], heartbeat: Callable[[], None] = lambda: None) -> Forest:
    """Match all vertices of a complete graph at least cost.

    Parameters
    ----------
    costs : ndarray of int64, shape (n, n)
        Symmetric costs >= 0 of edges, n >= 2 even, n times the largest below 2^58. The diagonal is ignored.
    heartbeat : callable, optional
        Called after each augmentation; whatever it raises cancels.

    Returns
    -------
    Forest
        Everybody has a mate. The prices, divided by `UNIT`, prove that no perfect matching is cheaper:
        each edge costs at least the prices of its two vertices minus those of all blossoms that hold
        both, no matching has more than (s - 1) / 2 edges in a blossom of s vertices, blossoms' prices are
        at least 0, and for this matching equality holds everywhere.

    Notes
    -----
    Weighted matching by blossoms (Edmonds 1965) with best edges kept per pair of nodes (Lawler 1976):
    O(n^3) time, about 50 n^2 bytes. All arithmetic is on integers.
    """
    scaled = UNIT * costs
    np.fill_diagonal(scaled, UNIT * (int(costs.max()) + 1))
    forest = forest_of(scaled)
    for _ in range(costs.shape[0] // 2):
        add_pair(forest, NO_LIMIT)
        heartbeat()
    return forest


def cost_of(forest: Forest) -> int:
    """Return the cost of a perfect matching."""
    return int(forest.cost[np.arange(forest.mate.size), forest.mate].sum()) // (2 * UNIT)


@inner_kernel
def add_pair(forest: Forest, room: int) -> int:
    """Match two more vertices: grow trees from all free ones until two of them meet.

    Returns how much of the room for a higher sum of prices is left, or a negative number once a perfect
    matching would need more.
    """
    vertices = forest.mate.size
    roots = _plant(forest)
    while True:
        one, other = _edge_without_slack(forest)
        if one != NOBODY:
            if _use_edge(forest, one, other):
                return room
            continue
        room -= roots * _change_prices(forest)
        if room < 0:
            return room
        for node in range(vertices, forest.size.size):
            is_top = forest.size[node] > 0 and forest.within[node] == NOBODY
            if is_top and forest.label[node] == INNER and forest.price[node] == 0:
                expand(forest, node)


@inner_kernel
def _plant(forest: Forest) -> int:
    """Make every free vertex the root of a tree; return how many there are."""
    vertices = forest.mate.size
    forest.queue[vertices] = 0
    forest.label[:] = FREE
    forest.closest[:] = NOBODY
    roots = 0
    for vertex in range(vertices):
        node = forest.top[vertex]
        if forest.mate[vertex] == NOBODY:
            roots += 1
            forest.label[node] = OUTER
            forest.from_outside[node] = NOBODY
            push(forest, node)
    return roots


@inner_kernel
def _edge_without_slack(forest: Forest) -> tuple[int, int]:
    """Return an edge from an outer vertex to another node that is not inner; `NOBODY` twice if there is none.

    Vertices in the queue go on where they stopped. Edges of all others have been looked at: those whose slack
    was lost since are the closest of some node.
    """
    vertices = forest.mate.size
    while forest.queue[vertices] > 0:
        vertex = forest.queue[forest.queue[vertices] - 1]
        for other in range(forest.scanned[vertex], vertices):
            node = forest.top[other]
            if node == forest.top[vertex] or forest.label[node] == INNER:
                continue
            if slack(forest, vertex, other) <= 0:
                forest.scanned[vertex] = other + 1
                return vertex, other
            offer(forest, vertex, node)
        forest.queue[vertices] -= 1
    for node in range(forest.size.size):
        vertex = forest.closest[node]
        if forest.size[node] == 0 or forest.within[node] != NOBODY or vertex == NOBODY:
            continue
        if forest.label[node] == INNER or forest.top[vertex] == node or near_slack(forest, vertex, node) > 0:
            continue
        return forest.near_from[vertex, node], forest.near_to[vertex, node]
    return NOBODY, NOBODY


@inner_kernel
def _use_edge(forest: Forest, one: int, other: int) -> bool:
    """Grow, contract or augment along an edge without slack from an outer vertex; whether trees met."""
    node = forest.top[other]
    if forest.label[node] == FREE:
        forest.label[node] = INNER
        forest.from_outside[node], forest.from_inside[node] = one, other
        forest.closest[node] = NOBODY
        base = forest.base[node]
        partner = forest.top[forest.mate[base]]
        forest.label[partner] = OUTER
        forest.from_outside[partner], forest.from_inside[partner] = base, forest.mate[base]
        forest.closest[partner] = NOBODY
        push(forest, partner)
        return False
    ancestor = _common_ancestor(forest, forest.top[one], node)
    if ancestor != NOBODY:
        contract(forest, ancestor, one, other)
        return False
    _flip_way(forest, one, other)
    _flip_way(forest, other, one)
    return True


@inner_kernel
def _common_ancestor(forest: Forest, one: int, other: int) -> int:
    is_above = forest.is_marked
    is_above[:] = False
    node = one
    is_above[node] = True
    while forest.from_outside[node] != NOBODY:
        node = forest.top[forest.from_outside[node]]
        is_above[node] = True
    node = other
    while not is_above[node]:
        if forest.from_outside[node] == NOBODY:
            return NOBODY
        node = forest.top[forest.from_outside[node]]
    return int(node)


@inner_kernel
def _flip_way(forest: Forest, vertex: int, partner: int) -> None:
    """Match an outer vertex anew and swap matched and other edges on the way to the root of its tree."""
    vertices = forest.mate.size
    while True:
        node = forest.top[vertex]
        if node >= vertices:
            rebase(forest, node, vertex)
        forest.mate[vertex] = partner
        if forest.from_outside[node] == NOBODY:
            return
        inner = forest.top[forest.from_outside[node]]
        partner, vertex = forest.from_inside[inner], forest.from_outside[inner]
        if inner >= vertices:
            rebase(forest, inner, partner)
        forest.mate[partner] = vertex


@inner_kernel
def _change_prices(forest: Forest) -> int:
    """Raise outer and lower inner prices until an edge has no slack or a blossom no price; by how much."""
    vertices = forest.mate.size
    step = NO_LIMIT
    for node in range(forest.size.size):
        if forest.size[node] == 0 or forest.within[node] != NOBODY:
            continue
        if forest.label[node] == INNER:
            if node >= vertices:
                step = min(step, int(forest.price[node] // 2))
        elif forest.closest[node] != NOBODY:
            gap = int(near_slack(forest, forest.closest[node], node))
            step = min(step, gap if forest.label[node] == FREE else gap // 2)
    for vertex in range(vertices):
        label = forest.label[forest.top[vertex]]
        if label == OUTER:
            forest.price[vertex] += step
        elif label == INNER:
            forest.price[vertex] -= step
    for node in range(vertices, forest.size.size):
        if forest.size[node] > 0 and forest.within[node] == NOBODY:
            if forest.label[node] == OUTER:
                forest.price[node] += 2 * step
            elif forest.label[node] == INNER:
                forest.price[node] -= 2 * step
    return step
