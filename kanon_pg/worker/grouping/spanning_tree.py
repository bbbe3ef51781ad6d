"""Adjacency graphs and their spanning trees of low degree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.grouping.result import Numbers

Neighbours = list[list[int]]


@dataclass(frozen=True, slots=True)
class Tree:
    """A spanning tree of a connected graph, or of a part of it.

    Parameters
    ----------
    order : tuple of int
        Its nodes, every one after its parent; the root first.
    parent : dict of int
        Parent of each node but the root.
    degree : int
        Largest number of edges at a node.
    """

    order: tuple[int, ...]
    parent: dict[int, int]
    degree: int


def neighbours_of(nodes: int, edges: NDArray[np.integer] | Sequence[tuple[int, int]]) -> Neighbours:
    """Return the neighbours of each node, ascending; loops and repeated edges count for nothing.

    Parameters
    ----------
    nodes : int
        Nodes are 0 .. nodes - 1.
    edges : array of int, shape (e, 2)
        Pairs of nodes, in any direction.
    """
    array = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    both = np.concatenate([array, array[:, ::-1]])
    both = np.unique(both[both[:, 0] != both[:, 1]], axis=0)
    ends = np.searchsorted(both[:, 0], np.arange(nodes + 1))
    to = both[:, 1].tolist()
    return [to[ends[node] : ends[node + 1]] for node in range(nodes)]


def components_of(neighbours: Neighbours) -> Numbers:
    """Return the connected component of each node, numbered by their first nodes. O(n + e)."""
    component = np.full(len(neighbours), -1, dtype=np.int64)
    number = 0
    for start in range(len(neighbours)):
        if component[start] >= 0:
            continue
        component[start], waiting = number, [start]
        while waiting:
            for neighbour in neighbours[waiting.pop()]:
                if component[neighbour] < 0:
                    component[neighbour] = number
                    waiting.append(neighbour)
        number += 1
    return component


def low_degree_tree(nodes: Sequence[int], neighbours: Neighbours) -> Tree:
    """Return a spanning tree whose degree is low, without a guarantee.

    Depth-first search, which leaves few branchings, each going to the neighbour with fewest ways on; then
    edges at the nodes of highest degree are exchanged for others as long as one can be (the improvement step
    of Furer and Raghavachari, 1994, without its chains). For 3-connected planar graphs there is a tree of
    degree 3 (Barnette 1966) and for 4-connected ones of degree 2 (Tutte 1956); real maps are neither, with
    islands and counties inside others, so the theorem's bound is stated for the degree that is reached.

    Parameters
    ----------
    nodes : sequence of int
        The nodes of a connected graph.
    neighbours : list of list of int
        Neighbours of all nodes; those not among `nodes` are left out.
    """
    inside = set(nodes)
    within = {node: [other for other in neighbours[node] if other in inside] for node in nodes}
    tree: dict[int, set[int]] = {node: set() for node in nodes}
    for node, before in _depth_first(nodes, within).items():
        tree[node].add(before)
        tree[before].add(node)
    while _lower_the_degree(tree, within):
        pass
    return _rooted(tree)


def _depth_first(nodes: Sequence[int], within: dict[int, list[int]]) -> dict[int, int]:
    start = min(nodes, key=lambda node: (len(within[node]), node))
    parent: dict[int, int] = {}
    seen = {start}
    free = {node: len(others) for node, others in within.items()}
    for other in within[start]:
        free[other] -= 1
    path = [start]
    while path:
        node = path[-1]
        choices = [other for other in within[node] if other not in seen]
        if not choices:
            path.pop()
            continue
        chosen = min(choices, key=free.__getitem__)
        seen.add(chosen)
        parent[chosen] = node
        path.append(chosen)
        for other in within[chosen]:
            free[other] -= 1
    return parent


def _lower_the_degree(tree: dict[int, set[int]], within: dict[int, list[int]]) -> bool:
    """Exchange one edge at each node of highest degree where that is possible; return whether one was."""
    highest = max(map(len, tree.values()))
    if highest <= 2:
        return False
    changed = False
    for node in [node for node, others in tree.items() if len(others) == highest]:
        branch = _branches(tree, node)
        exchange = next(
            (
                (one, other)
                for one in tree
                if one != node and len(tree[one]) <= highest - 2
                for other in within[one]
                if other != node and branch[one] != branch[other] and len(tree[other]) <= highest - 2
            ),
            None,
        )
        if exchange is None:
            continue
        one, other = exchange
        cut = branch[one]
        tree[node].discard(cut)
        tree[cut].discard(node)
        tree[one].add(other)
        tree[other].add(one)
        changed = True
    return changed


def _branches(tree: dict[int, set[int]], node: int) -> dict[int, int]:
    """Return for every other node the neighbour of `node` through which the tree reaches it."""
    branch: dict[int, int] = {}
    for first in tree[node]:
        waiting = [first]
        branch[first] = first
        while waiting:
            for other in tree[waiting.pop()]:
                if other != node and other not in branch:
                    branch[other] = first
                    waiting.append(other)
    return branch


def _rooted(tree: dict[int, set[int]]) -> Tree:
    """Root a tree at a leaf."""
    root = min(tree, key=lambda node: (len(tree[node]), node))
    order, parent = [root], dict[int, int]()
    for node in order:
        for other in sorted(tree[node]):
            if other != parent.get(node):
                parent[other] = node
                order.append(other)
    return Tree(tuple(order), parent, max(map(len, tree.values())))
