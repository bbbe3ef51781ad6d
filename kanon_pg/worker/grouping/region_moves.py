"""Spanning trees of low degree, and moves that make regions more even: shift a node, split, cut two again."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.result import Numbers, Weights


class RegionTree(NamedTuple):
    """A rooted spanning tree of a connected graph, or of a part of it: its nodes, parents first."""

    order: list[int]
    parent: dict[int, int]


def graph_of(nodes: int, edges: NDArray[np.integer] | Sequence[tuple[int, int]]) -> nx.Graph:
    """Return the graph of nodes 0 .. nodes - 1, neighbours ascending, without loops."""
    pairs = np.sort(np.asarray(edges, dtype=np.int64).reshape(-1, 2), axis=1)
    graph = nx.empty_graph(nodes)
    graph.add_edges_from(np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist())
    return graph


def low_degree_tree(graph: nx.Graph) -> nx.Graph:
    """Return a spanning tree of a connected graph whose degree is low, without a guarantee.

    Depth-first search, which leaves few branchings, each going to the neighbour with fewest ways on; then
    edges at the nodes of highest degree are exchanged for others as long as one can be (the improvement step
    of Furer and Raghavachari, 1994, without its chains). For 3-connected planar graphs there is a tree of
    degree 3 (Barnette 1966) and for 4-connected ones of degree 2 (Tutte 1956); real maps are neither, with
    islands and counties inside others, so the theorem's bound is stated for the degree that is reached.
    """
    ways_on = dict(graph.degree)
    start = min(graph, key=lambda node: (ways_on[node], node))
    tree = nx.empty_graph(graph)

    def fewest_ways_on(neighbours: Iterable[int]) -> list[int]:
        return sorted(neighbours, key=ways_on.__getitem__)

    for other in graph[start]:
        ways_on[other] -= 1
    for parent, node in nx.dfs_edges(graph, start, sort_neighbors=fewest_ways_on):
        tree.add_edge(parent, node)
        for other in graph[node]:
            ways_on[other] -= 1
    while _lower_the_degree(tree, graph):
        pass
    return tree


def degree_of(graph: nx.Graph) -> int:
    """Return the largest number of edges at a node."""
    return max((degree for _, degree in graph.degree), default=0)


def _lower_the_degree(tree: nx.Graph, graph: nx.Graph) -> bool:
    """Exchange one edge at each node of highest degree where that is possible; return whether one was."""
    highest = degree_of(tree)
    if highest <= 2:
        return False
    changed = False
    for node in [node for node, degree in tree.degree if degree == highest]:
        branch = _branches(tree, node)
        for one, other in _other_edges(tree, graph, node, highest - 2):
            if branch[one] != branch[other]:
                tree.remove_edge(node, branch[one])
                tree.add_edge(one, other)
                changed = True
                break
    return changed


def _branches(tree: nx.Graph, node: int) -> dict[int, int]:
    """Return for every other node the neighbour of `node` through which the tree reaches it."""
    branch: dict[int, int] = {}
    for parent, child in nx.bfs_edges(tree, node):
        branch[child] = child if parent == node else branch[parent]
    return branch


def _other_edges(tree: nx.Graph, graph: nx.Graph, node: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield the edges that do not touch a node, between nodes of at most some degree in the tree."""
    for one in tree:
        if one != node and tree.degree[one] <= most:
            yield from ((one, other) for other in graph[one] if other != node and tree.degree[other] <= most)


def rooted(tree: nx.Graph) -> RegionTree:
    """Root a tree at a leaf."""
    root = min(tree, key=lambda node: (tree.degree[node], node))
    parent = {child: above for above, child in nx.bfs_edges(tree, root)}
    return RegionTree([root, *parent], parent)


_ROUNDS = 8
"""Most passes over all regions; the last ones seldom find anything."""

_WORTHWHILE = 50
"""Two regions are cut again if their sizes differ by this part of both, or if three of them may fit."""

_TREES = 3
"""Random spanning trees along which a region or a pair is cut."""


def cut_tree(tree: RegionTree, weights: Sequence[int], k: int) -> list[list[int]]:
    """Cut a tree into parts of at least k, as many as this finds.

    From the leaves upwards, each subtree that has k is cut off if what remains has k. The paper takes the
    lightest such part each time, which needs a search per cut (and, where nodes weigh nothing, a rule for
    ties, without which Lemma 2 fails); this takes one pass, O(n), and both lemmas hold: the children that
    remain below a cut have less than k each, so a part has at most ``kappa + (d - 1) (k - 1)`` and the last
    one at most ``kappa + d (k - 1)``.
    """
    below = {node: weights[node] for node in tree.order}
    remaining = sum(below.values())
    cuts = set[int]()
    for node in reversed(tree.order[1:]):
        if below[node] >= k and remaining - below[node] >= k:
            cuts.add(node)
            remaining -= below[node]
        else:
            below[tree.parent[node]] += below[node]
    return _parts(tree, cuts)


def _parts(tree: RegionTree, cuts: set[int]) -> list[list[int]]:
    """Return the parts of a tree without the edges above some nodes."""
    parts: list[list[int]] = []
    part_of: dict[int, list[int]] = {}
    for node in tree.order:
        if node in cuts or node not in tree.parent:
            parts.append([])
            part_of[node] = parts[-1]
        else:
            part_of[node] = part_of[tree.parent[node]]
        part_of[node].append(node)
    return parts


def _halves(tree: RegionTree, weights: Sequence[int], k: int) -> list[list[int]]:
    """Cut a tree at the edge that leaves the two evenest parts, if both have k."""
    below = {node: weights[node] for node in tree.order}
    total = sum(below.values())
    for node in reversed(tree.order[1:]):
        below[tree.parent[node]] += below[node]
    cut = min(tree.order[1:], key=lambda node: abs(2 * below[node] - total))
    return _parts(tree, {cut} if k <= below[cut] <= total - k else set())


def improved_regions(weights: Weights, graph: nx.Graph, class_of: Numbers, k: int, clock: Clock) -> Numbers:
    """Return regions whose squared sizes sum to less, none of them larger than the largest was.

    Every accepted move lowers that sum, so the moves end; both costs fall or stay. Deterministic, unless the
    clock ends it.

    Regions are connected and have k; a negative class is for nodes that are not to be looked at.
    """
    regions = _Regions(weights.tolist(), graph, class_of.tolist(), k)
    for done in range(_ROUNDS):
        clock.report("moving borders", done / _ROUNDS)
        if not regions.improve(clock):
            break
    return np.array(regions.class_of, dtype=np.int64)


class _Regions:
    """Regions that are being changed."""

    def __init__(self, weights: list[int], graph: nx.Graph, class_of: list[int], k: int) -> None:
        self.weights = weights
        self.graph = graph
        self.class_of = class_of
        self.k = k
        self.members: list[set[int]] = [set() for _ in range(max(class_of, default=-1) + 1)]
        for node, region in enumerate(class_of):
            if region >= 0:
                self.members[region].add(node)
        self.sizes = [self._size(nodes) for nodes in self.members]
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

    def _size(self, nodes: Iterable[int]) -> int:
        return sum(self.weights[node] for node in nodes)

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
        joints: set[int] | None = None  # a region without one of them would fall apart
        for node in sorted(self.members[region], key=lambda one: (-self.weights[one], one)):
            weight = self.weights[node]
            if not weight or self.sizes[region] - weight < self.k:
                continue
            target = min(self._beside(region, (node,)), key=lambda one: (self.sizes[one], one), default=None)
            if target is None or self.sizes[target] + weight >= self.sizes[region]:
                continue
            if joints is None:
                joints = set(nx.articulation_points(nx.Graph(self.graph.subgraph(self.members[region]))))
            if node not in joints:
                self._move(node, target)
                changed, joints = True, None
        return changed

    def _recombine(self, region: int) -> bool:
        """Put a region together with a smaller neighbour and cut both again where that is better."""
        changed = False
        for other in sorted(self._beside(region, self.members[region])):
            if self.sizes[other] <= self.sizes[region] and self._cut_again(region, other):
                changed = True
        return changed

    def _beside(self, region: int, nodes: Iterable[int]) -> set[int]:
        """Return the other regions that neighbours of some nodes belong to."""
        return {self.class_of[other] for node in nodes for other in self.graph[node]} - {region, -1}

    def _cut_again(self, region: int, other: int) -> bool:
        union = self.members[region] | self.members[other]
        size, difference = self.sizes[region] + self.sizes[other], self.sizes[region] - self.sizes[other]
        if len(union) < 3 or (size < 3 * self.k and difference * _WORTHWHILE < size):
            return False
        squares = self.sizes[region] ** 2 + self.sizes[other] ** 2
        for _ in range(_TREES):
            tree = self._tree(union)
            if len(tree.order) < len(union):
                return False  # an earlier move has parted them
            for cut in (cut_tree, _halves):
                parts = cut(tree, self.weights, self.k)
                if sum(self._size(part) ** 2 for part in parts) < squares:
                    self._replace((region, other), parts)
                    return True
        return False

    def _tree(self, nodes: set[int]) -> RegionTree:
        """Return a random spanning tree: from a random node on, along a random edge each time."""
        # NetworkX draws trees uniformly, by determinants; these need only differ, and are compacter
        root = self.random.choice(sorted(nodes))
        order, parent = [root], dict[int, int]()
        seen = {root}
        border = [(root, other) for other in self.graph[root] if other in nodes]
        while border:
            place = int(self.random.random() * len(border))
            border[place], border[-1] = border[-1], border[place]
            node, other = border.pop()
            if other in seen:
                continue
            seen.add(other)
            parent[other] = node
            order.append(other)
            border += [(other, one) for one in self.graph[other] if one in nodes and one not in seen]
        return RegionTree(order, parent)

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
            self.sizes[region] = self._size(part)
            for node in part:
                self.class_of[node] = region
