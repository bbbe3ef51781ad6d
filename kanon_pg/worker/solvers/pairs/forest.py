"""State of a search for a perfect matching: vertices, blossoms, labels, prices.

Nodes are numbered: vertices from 0, then blossoms from `vertices`. A blossom is an odd cycle of nodes that is
searched like one vertex. Outer nodes are reached from a free vertex by a path of even length, inner nodes
by one of odd length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel

FREE, OUTER, INNER = 0, 1, 2
NOBODY = -1

Numbers = NDArray[np.int64]
Places = NDArray[np.int32]


class Forest(NamedTuple):
    """Arrays of a search for a perfect matching among V vertices with N = V + V // 2 + 1 nodes.

    Parameters
    ----------
    cost : ndarray of int64, shape (V, V)
        Cost of each edge in half units, even; large on the diagonal.
    price : ndarray of int64, shape (N,)
        Dual value of vertices (any sign) and of blossoms (>= 0) in half units.
    mate : ndarray of int64, shape (V,)
        Partner of each vertex, -1 without one.
    top : ndarray of int64, shape (V,)
        Outermost node that holds each vertex.
    within : ndarray of int64, shape (N,)
        Blossom that holds a node directly, -1 for none.
    base : ndarray of int64, shape (N,)
        Vertex of each node that is matched outside of it, or not at all.
    size : ndarray of int64, shape (N,)
        Children of each blossom, 1 for vertices, 0 for numbers that are not in use.
    child : ndarray of int32, shape (N, V)
        Nodes on the cycle of each blossom; the first holds the base.
    link_from, link_to : ndarray of int32, shape (N, V)
        Vertices of the edge from each child to the next.
    label : ndarray of int64, shape (N,)
    from_outside, from_inside : ndarray of int64, shape (N,)
        Edge by which a node got its label; -1 at roots.
    near_from, near_to : ndarray of int32, shape (N, N)
        Vertices of the edge with least slack between two nodes.
    closest : ndarray of int64, shape (N,)
        Outer vertex with least slack to each node, -1 for none.
    queue : ndarray of int64, shape (V + 1,)
        Outer vertices to look at; the last entry is their number.
    scanned : ndarray of int64, shape (V,)
        How many edges of each vertex in the queue have been looked at.
    stack : ndarray of int64, shape (2, 2 N)
    is_marked : ndarray of bool, shape (N,)
        Room that functions work in; it holds nothing between calls, so that no function creates an array.
    """

    cost: Numbers
    price: Numbers
    mate: Numbers
    top: Numbers
    within: Numbers
    base: Numbers
    size: Numbers
    child: Places
    link_from: Places
    link_to: Places
    label: Numbers
    from_outside: Numbers
    from_inside: Numbers
    near_from: Places
    near_to: Places
    closest: Numbers
    queue: Numbers
    scanned: Numbers
    stack: Numbers
    is_marked: NDArray[np.bool_]


def forest_of(cost: Numbers) -> Forest:
    """Return the state before anything is matched, for even costs."""
    vertices = cost.shape[0]
    nodes = vertices + vertices // 2 + 1
    everybody = np.arange(vertices)

    def numbers(value: int, *shape: int) -> Numbers:
        return np.full(shape, value, dtype=np.int64)

    price, size, base = numbers(0, nodes), numbers(0, nodes), numbers(NOBODY, nodes)
    # One number for all keeps the slack between outer nodes even.
    price[:vertices] = int(cost.min()) // 2
    size[:vertices] = 1
    base[:vertices] = everybody
    near_from, near_to = (np.zeros((nodes, nodes), dtype=np.int32) for _ in range(2))
    near_from[:vertices, :vertices] = everybody[:, None]
    near_to[:vertices, :vertices] = everybody
    links = [np.zeros((nodes, vertices), dtype=np.int32) for _ in range(3)]
    return Forest(
        cost, price, numbers(NOBODY, vertices), everybody.copy(), numbers(NOBODY, nodes), base, size,
        links[0], links[1], links[2], numbers(FREE, nodes), numbers(NOBODY, nodes), numbers(NOBODY, nodes),
        near_from, near_to, numbers(NOBODY, nodes), numbers(0, vertices + 1),
        numbers(0, vertices), numbers(0, 2, 2 * nodes), np.zeros(nodes, dtype=np.bool_),
    )  # fmt: skip


@inner_kernel
def slack(forest: Forest, one: int, other: int) -> int:
    """Return by how much an edge is dearer than its vertices' prices; meant for different outermost nodes."""
    return int(forest.cost[one, other] - forest.price[one] - forest.price[other])


@inner_kernel
def near_slack(forest: Forest, one: int, other: int) -> int:
    """Return the least slack of the edges between two nodes."""
    return slack(forest, forest.near_from[one, other], forest.near_to[one, other])


@inner_kernel
def push(forest: Forest, node: int) -> None:
    """Put all vertices of an outermost node into the queue."""
    vertices = forest.mate.size
    for vertex in range(vertices):
        if forest.top[vertex] == node:
            forest.queue[forest.queue[vertices]] = vertex
            forest.queue[vertices] += 1
            forest.scanned[vertex] = 0


@inner_kernel
def offer(forest: Forest, vertex: int, node: int) -> None:
    """Remember an outer vertex if no other is closer to a node."""
    known = forest.closest[node]
    if known == NOBODY or near_slack(forest, vertex, node) < near_slack(forest, known, node):
        forest.closest[node] = vertex


@inner_kernel
def find_closest(forest: Forest, node: int) -> None:
    """Look for the outer vertex that is closest to an outermost node."""
    forest.closest[node] = NOBODY
    for vertex in range(forest.mate.size):
        top = forest.top[vertex]
        if top != node and forest.label[top] == OUTER:
            offer(forest, vertex, node)


@inner_kernel
def rebase(forest: Forest, blossom: int, vertex: int) -> None:
    """Rematch a blossom inside, so that `vertex` is the one that is matched outside."""
    vertices = forest.mate.size
    nodes, bases = forest.stack[0], forest.stack[1]
    nodes[0], bases[0] = blossom, vertex
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node, base = nodes[waiting], bases[waiting]
        if node < vertices:
            continue
        holder = base
        while forest.within[holder] != node:
            holder = forest.within[holder]
        size = forest.size[node]
        place = 0
        while forest.child[node, place] != holder:
            place += 1
        nodes[waiting], bases[waiting] = holder, base
        waiting += 1
        # Every second edge of the way from the new base's child to the old one's becomes matched.
        edge = place + 1 if place % 2 == 1 else place - 2
        while 0 <= edge < size:
            one, other = forest.link_from[node, edge], forest.link_to[node, edge]
            forest.mate[one], forest.mate[other] = other, one
            nodes[waiting], bases[waiting] = forest.child[node, edge], one
            nodes[waiting + 1], bases[waiting + 1] = forest.child[node, (edge + 1) % size], other
            waiting += 2
            edge += 2 if place % 2 == 1 else -2
        for numbers in (forest.child[node], forest.link_from[node], forest.link_to[node]):
            # Turning both parts round and then the whole swaps the parts.
            _reverse(numbers, 0, place)
            _reverse(numbers, place, size)
            _reverse(numbers, 0, size)
        forest.base[node] = base


@inner_kernel
def _reverse(numbers: Places, begin: int, end: int) -> None:
    for step in range((end - begin) // 2):
        one, other = begin + step, end - 1 - step
        numbers[one], numbers[other] = numbers[other], numbers[one]
