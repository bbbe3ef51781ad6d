"""Spanning trees of low degree, and moves that make regions more even: shift a node, split, cut two anew.

Why not networkx: of what is here it has connected components and walks, some thirty lines; it has neither
trees of low degree nor moves between regions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.result import Numbers, Weights

Neighbours = list[list[int]]


@dataclass(frozen=True, slots=True)
class RegionTree:
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


def low_degree_tree(nodes: Sequence[int], neighbours: Neighbours) -> RegionTree:
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


def _rooted(tree: dict[int, set[int]]) -> RegionTree:
    """Root a tree at a leaf."""
    root = min(tree, key=lambda node: (len(tree[node]), node))
    order, parent = [root], dict[int, int]()
    for node in order:
        for other in sorted(tree[node]):
            if other != parent.get(node):
                parent[other] = node
                order.append(other)
    return RegionTree(tuple(order), parent, max(map(len, tree.values())))


_ROUNDS = 8
"""Most passes over all regions; the last ones seldom find anything."""

_WORTHWHILE = 50
"""Two regions are cut anew if their sizes differ by this part of both, or if there might be three of them."""

_TREES = 3
"""Random spanning trees along which a region or a pair is cut."""


def cut_tree(tree: RegionTree, weights: Sequence[int], k: int) -> list[list[int]]:
    """Cut a tree into parts of at least k, as many as this finds.

    From the leaves upwards, each subtree that has k is cut off if what remains has k. The paper takes the
    lightest such part each time, which needs a search per cut (and, where nodes weigh nothing, a rule for
    ties, without which Lemma 2 fails); this takes one pass, O(n), and both lemmas hold: the children that
    remain below a cut have less than k each, so a part has at most ``kappa + (d - 1) (k - 1)`` and the last
    one at most ``kappa + d (k - 1)``.

    Parameters
    ----------
    weights : sequence of int
        By node.
    k : int
        At most the weight of the tree.

    Returns
    -------
    list of list of int
        Nodes of each part.
    """
    below = {node: weights[node] for node in tree.order}
    remaining = sum(below.values())
    parts: list[list[int]] = []
    part_of: dict[int, int] = {}
    cut = set[int]()
    for node in reversed(tree.order[1:]):
        if below[node] >= k and remaining - below[node] >= k:
            cut.add(node)
            remaining -= below[node]
        else:
            below[tree.parent[node]] += below[node]
    for node in tree.order:
        if node in cut or node not in tree.parent:
            part_of[node] = len(parts)
            parts.append([])
        else:
            part_of[node] = part_of[tree.parent[node]]
        parts[part_of[node]].append(node)
    return parts


def improved_regions(
    weights: Weights, neighbours: Neighbours, class_of: Numbers, k: int, clock: Clock
) -> Numbers:
    """Return regions whose squared sizes sum to less, none of them larger than the largest was.

    Every accepted move lowers that sum, so the moves end; both costs fall or stay. Deterministic, unless the
    clock ends it.

    Parameters
    ----------
    class_of : ndarray of int64, shape (n,)
        Connected regions of at least k; negative for nodes that are not to be looked at.
    """
    regions = _Regions(weights.tolist(), neighbours, class_of.tolist(), k)
    for done in range(_ROUNDS):
        clock.report("moving borders", done / _ROUNDS)
        if not regions.improve(clock):
            break
    return np.array(regions.class_of, dtype=np.int64)


class _Regions:
    """Regions that are being changed."""

    def __init__(self, weights: list[int], neighbours: Neighbours, class_of: list[int], k: int) -> None:
        self.weights = weights
        self.neighbours = neighbours
        self.class_of = class_of
        self.k = k
        self.members: list[set[int]] = [set() for _ in range(max(class_of, default=-1) + 1)]
        for node, region in enumerate(class_of):
            if region >= 0:
                self.members[region].add(node)
        self.sizes = [sum(weights[node] for node in nodes) for nodes in self.members]
        self.random = random.Random(1)  # noqa: S311 - for variety, not for secrets

    def improve(self, clock: Clock) -> bool:
        """Try all moves for each region, the largest first; return whether any was made."""
        changed = False
        for region in sorted(range(len(self.sizes)), key=lambda one: -self.sizes[one]):
            if clock.is_over():
                return False
            if self.sizes[region] <= self.k or len(self.members[region]) < 2:
                continue
            changed |= self._split(region)
            changed |= self._shift(region)
            changed |= self._recombine(region)
        return changed

    def _split(self, region: int) -> bool:
        if self.sizes[region] < 2 * self.k:
            return False
        for _ in range(_TREES):
            parts = cut_tree(self._tree(self.members[region]), self.weights, self.k)
            if len(parts) > 1:
                self._replace((region,), parts)
                return True
        return False

    def _shift(self, region: int) -> bool:
        """Give nodes to smaller neighbouring regions as long as both come closer to each other."""
        changed = False
        for node in sorted(self.members[region], key=lambda one: (-self.weights[one], one)):
            weight = self.weights[node]
            if not weight or self.sizes[region] - weight < self.k:
                continue
            others = {self.class_of[other] for other in self.neighbours[node]} - {region, -1}
            target = min(others, key=lambda one: (self.sizes[one], one), default=None)
            if target is None or self.sizes[target] + weight >= self.sizes[region]:
                continue
            if self._stays_connected(region, node):
                self._move(node, target)
                changed = True
        return changed

    def _recombine(self, region: int) -> bool:
        """Put a region together with a smaller neighbour and cut both anew where that is better."""
        others = {self.class_of[other] for node in self.members[region] for other in self.neighbours[node]}
        changed = False
        for other in sorted(others - {region, -1}):
            if self.sizes[other] <= self.sizes[region] and self._cut_anew(region, other):
                changed = True
        return changed

    def _cut_anew(self, region: int, other: int) -> bool:
        union = self.members[region] | self.members[other]
        size, difference = self.sizes[region] + self.sizes[other], self.sizes[region] - self.sizes[other]
        if len(union) < 3 or (size < 3 * self.k and difference * _WORTHWHILE < size):
            return False
        now = self.sizes[region] ** 2 + self.sizes[other] ** 2
        for _ in range(_TREES):
            tree = self._tree(union)
            if len(tree.order) < len(union):
                return False  # an earlier move has parted them
            for parts in (cut_tree(tree, self.weights, self.k), self._halves(tree)):
                if sum(sum(self.weights[node] for node in part) ** 2 for part in parts) < now:
                    self._replace((region, other), parts)
                    return True
        return False

    def _halves(self, tree: RegionTree) -> list[list[int]]:
        """Cut a tree at the edge that leaves the two evenest parts."""
        below = {node: self.weights[node] for node in tree.order}
        total = sum(below.values())
        for node in reversed(tree.order[1:]):
            below[tree.parent[node]] += below[node]
        cut = min(tree.order[1:], key=lambda node: abs(2 * below[node] - total))
        if min(below[cut], total - below[cut]) < self.k:
            return [list(tree.order)]
        inside = {cut}
        for node in tree.order[1:]:
            if tree.parent[node] in inside:
                inside.add(node)
        return [list(inside), [node for node in tree.order if node not in inside]]

    def _tree(self, nodes: set[int]) -> RegionTree:
        """Return a random spanning tree: from a random node on, along a random edge each time."""
        root = self.random.choice(sorted(nodes))
        order, parent = [root], dict[int, int]()
        seen = {root}
        border = [(root, other) for other in self.neighbours[root] if other in nodes]
        while border:
            place = int(self.random.random() * len(border))
            border[place], border[-1] = border[-1], border[place]
            node, other = border.pop()
            if other in seen:
                continue
            seen.add(other)
            parent[other] = node
            order.append(other)
            border += [(other, one) for one in self.neighbours[other] if one in nodes and one not in seen]
        return RegionTree(tuple(order), parent, 0)

    def _stays_connected(self, region: int, without: int) -> bool:
        nodes = self.members[region]
        start = next((one for one in self.neighbours[without] if one in nodes), None)
        if start is None:
            return False
        seen, waiting = {start, without}, [start]
        while waiting:
            for other in self.neighbours[waiting.pop()]:
                if other in nodes and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return len(seen) == len(nodes)

    def _move(self, node: int, target: int) -> None:
        source = self.class_of[node]
        self.members[source].discard(node)
        self.members[target].add(node)
        self.sizes[source] -= self.weights[node]
        self.sizes[target] += self.weights[node]
        self.class_of[node] = target

    def _replace(self, regions: Sequence[int], parts: Sequence[Sequence[int]]) -> None:
        """Let parts take the place of regions; further parts become new regions."""
        for place, part in enumerate(parts):
            if place < len(regions):
                region = regions[place]
            else:
                region = len(self.members)
                self.members.append(set())
                self.sizes.append(0)
            self.members[region] = set(part)
            self.sizes[region] = sum(self.weights[node] for node in part)
            for node in part:
                self.class_of[node] = region
