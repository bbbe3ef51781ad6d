"""Blossoms of a search for a perfect matching: contracting odd cycles and opening them again."""

from __future__ import annotations

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.solvers.pairs.forest import (
    FREE,
    INNER,
    NOBODY,
    OUTER,
    Forest,
    find_closest,
    near_slack,
    push,
)


@inner_kernel
def contract(forest: Forest, ancestor: int, one: int, other: int) -> None:
    """Contract the cycle that an edge between two outer nodes closes; they meet in `ancestor`."""
    vertices = forest.mate.size
    blossom = vertices
    while forest.size[blossom] > 0:
        blossom += 1
    size = _fill_cycle(forest, blossom, ancestor, one, other)
    forest.size[blossom] = size
    forest.price[blossom] = 0
    forest.label[blossom] = OUTER
    forest.from_outside[blossom] = forest.from_outside[ancestor]
    forest.from_inside[blossom] = forest.from_inside[ancestor]
    forest.base[blossom] = forest.base[ancestor]
    forest.within[blossom] = NOBODY
    for place in range(size):
        child = forest.child[blossom, place]
        if forest.label[child] == INNER:
            push(forest, child)
        forest.within[child] = blossom
    for vertex in range(vertices):
        if forest.within[forest.top[vertex]] == blossom:
            forest.top[vertex] = blossom
    _find_near(forest, blossom)
    find_closest(forest, blossom)


@inner_kernel
def _fill_cycle(forest: Forest, blossom: int, ancestor: int, one: int, other: int) -> int:
    """Write down the children of a blossom and the edges between them; return how many there are."""
    steps = 0
    node = forest.top[one]
    while node != ancestor:
        steps += 1
        node = forest.top[forest.from_outside[node]]
    node = forest.top[one]
    for place in range(steps, 0, -1):
        forest.child[blossom, place] = node
        forest.link_from[blossom, place - 1] = forest.from_outside[node]
        forest.link_to[blossom, place - 1] = forest.from_inside[node]
        node = forest.top[forest.from_outside[node]]
    forest.child[blossom, 0] = ancestor
    forest.link_from[blossom, steps] = one
    forest.link_to[blossom, steps] = other
    size = steps + 1
    node = forest.top[other]
    while node != ancestor:
        forest.child[blossom, size] = node
        forest.link_from[blossom, size] = forest.from_inside[node]
        forest.link_to[blossom, size] = forest.from_outside[node]
        size += 1
        node = forest.top[forest.from_outside[node]]
    return size


@inner_kernel
def _find_near(forest: Forest, blossom: int) -> None:
    """Find the edge with least slack from a new blossom to every other node.

    Prices of all vertices of a node change together, so that edge stays the best as long as both nodes last.
    """
    for node in range(forest.size.size):
        if forest.size[node] == 0 or node == blossom:
            continue
        best = forest.child[blossom, 0]
        for place in range(1, forest.size[blossom]):
            child = forest.child[blossom, place]
            if near_slack(forest, child, node) < near_slack(forest, best, node):
                best = child
        forest.near_from[blossom, node] = forest.near_from[best, node]
        forest.near_to[blossom, node] = forest.near_to[best, node]
        forest.near_from[node, blossom] = forest.near_to[best, node]
        forest.near_to[node, blossom] = forest.near_from[best, node]


@inner_kernel
def expand(forest: Forest, blossom: int) -> None:
    """Open an inner blossom without price; children on the even way to its base keep the tree together."""
    size = forest.size[blossom]
    for place in range(size):
        child = forest.child[blossom, place]
        forest.within[child] = NOBODY
        forest.label[child] = FREE
        forest.closest[child] = NOBODY
    for vertex in range(forest.mate.size):
        if forest.top[vertex] == blossom:
            node = vertex
            while forest.within[node] != NOBODY:
                node = forest.within[node]
            forest.top[vertex] = node
    forest.size[blossom] = 0
    _label_way(forest, blossom, size)
    for place in range(size):
        child = forest.child[blossom, place]
        if forest.label[child] == FREE:
            find_closest(forest, child)


@inner_kernel
def _label_way(forest: Forest, blossom: int, size: int) -> None:
    entry = forest.top[forest.from_inside[blossom]]
    place = 0
    while forest.child[blossom, place] != entry:
        place += 1
    step = 1 if place % 2 == 1 else -1
    outside, inside = forest.from_outside[blossom], forest.from_inside[blossom]
    label = INNER
    while True:
        child = forest.child[blossom, place]
        forest.label[child] = label
        forest.from_outside[child] = outside
        forest.from_inside[child] = inside
        if label == OUTER:
            push(forest, child)
        if place == 0:
            return
        if step == 1:
            outside, inside = forest.link_from[blossom, place], forest.link_to[blossom, place]
        else:
            outside, inside = forest.link_to[blossom, place - 1], forest.link_from[blossom, place - 1]
        place = (place + step) % size
        label = OUTER if label == INNER else INNER
