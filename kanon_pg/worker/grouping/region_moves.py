"""Local moves that make regions more even and more: shift a node, split a region, cut two anew."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.result import Numbers, Weights
from kanon_pg.worker.grouping.spanning_tree import Neighbours, Tree

_ROUNDS = 8
"""Most passes over all regions; the last ones seldom find anything."""

_WORTHWHILE = 50
"""Two regions are cut anew if their sizes differ by this part of both, or if there might be three of them."""

_TREES = 3
"""Random spanning trees along which a region or a pair is cut."""


def cut_tree(tree: Tree, weights: Sequence[int], k: int) -> list[list[int]]:
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
    weights : ndarray of int64, shape (n,)
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

    def _halves(self, tree: Tree) -> list[list[int]]:
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

    def _tree(self, nodes: set[int]) -> Tree:
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
        return Tree(tuple(order), parent, 0)

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
