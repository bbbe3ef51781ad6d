"""Values that are neighbours -> connected regions (Theorem 3 of the paper), exactly for small graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.constraint_solver import (
    PROOF,
    Candidate,
    Candidates,
    Partitioning,
    best_partition,
)
from kanon_pg.worker.grouping.region_moves import (
    cut_tree,
    degree_of,
    graph_of,
    improved_regions,
    low_degree_tree,
    rooted,
)
from kanon_pg.worker.grouping.result import (
    CostKind,
    Numbers,
    SingleAttribute,
    Weights,
    checked_weights,
    cost_of,
    finished,
    lower_bound,
)

MOST_SETS = 100_000
"""Connected sets of nodes that are looked at; above, a graph is not small."""


def _connected_sets(
    graph: nx.Graph, known: Partitioning, largest: int, clock: Clock
) -> list[Candidate] | None:
    """Return every connected set of k up to a size, None if there are too many.

    Each set is listed once, from its first node: a node that was passed over is not taken up again below.
    """
    weights = known.weights.tolist()
    candidates: list[Candidate] = []
    looked = 0
    for start, weight in enumerate(weights):
        waiting = [(frozenset({start}), weight, frozenset(range(start + 1)))]
        while waiting:
            nodes, size, closed = waiting.pop()
            looked += 1
            if looked > MOST_SETS or (looked % 1024 == 0 and clock.is_over()):
                return None
            if size > largest:
                continue  # and so is any larger set
            if size >= known.k:
                candidates.append(Candidate(tuple(sorted(nodes)), size))
            passed = set(closed)
            for node in sorted(nx.node_boundary(graph, nodes) - closed):
                passed.add(node)
                waiting.append((nodes | {node}, size + weights[node], frozenset(passed)))
    return candidates


def regions(
    weights: NDArray[np.integer] | Sequence[int],
    edges: NDArray[np.integer] | Sequence[tuple[int, int]],
    k: int,
    cost_kind: CostKind = "max",
    *,
    method: str = "moves",
    on_light: str = "other",
    clock: Clock | None = None,
) -> SingleAttribute:
    """Group the nodes of a graph into connected regions of at least k.

    Each connected component is cut along a spanning tree of low degree. With d the largest degree of these
    trees (`SingleAttribute.degree`) and ``kappa = max(k, heaviest node)``, no region has more than
    ``kappa + d (k - 1)`` (Lemmas 1 and 2), which is ``d + 1`` times the optimum. Local moves make that
    better, never worse.

    Components that have less than k form one class together, which need not be connected. If all of them
    together have less than k, the smallest region joins them, which is outside the bound above.

    The paper asks for a connected planar graph. Planarity serves only to promise trees of degree 2 or 3; the
    lemmas hold for any tree. It also takes the cheapest cut each time; see `region_moves.cut_tree`.

    Parameters
    ----------
    edges : array of int, shape (e, 2)
        Pairs of neighbours; loops and repetitions count for nothing.
    method : str
        'tree': the theorem's algorithm alone; 'moves': and local moves; 'exact': and the optimum of each
        component that is small enough for it.
    on_light : str
        'other', or 'refuse'.
    """
    array = checked_weights(weights, k)
    graph = graph_of(array.size, edges)
    components = _Components.of(array, graph, k)
    if components.light.size and on_light == "refuse":
        raise InfeasibleError(
            f"Parts of the map have less than k = {k:,} and no way to the others.",
            detail=f"They have {components.light.size:,} values.",
            hint="Add rows to the adjacency, or let them be gathered: on_light => 'other'.",
        )
    return _Cutting(array, graph, components, k, cost_kind, clock or Clock()).run(method)


@dataclass(frozen=True, slots=True)
class _Components:
    """Connected components: those with k, and all nodes of the others."""

    heavy: tuple[Numbers, ...]
    light: Numbers

    @classmethod
    def of(cls, weights: Weights, graph: nx.Graph, k: int) -> _Components:
        components = [np.array(sorted(nodes)) for nodes in nx.connected_components(graph)]
        light = [nodes for nodes in components if weights[nodes].sum() < k]
        heavy = tuple(nodes for nodes in components if weights[nodes].sum() >= k)
        return cls(heavy, np.sort(np.concatenate([np.empty(0, dtype=np.int64), *light])))


_METHOD_NAMES = {
    "tree": "cuts of a spanning tree",
    "moves": "cuts of a spanning tree, local moves",
    "exact": "cuts of a spanning tree, local moves, exact where small",
}


@dataclass(frozen=True, slots=True)
class _Cutting:
    """A graph that is cut into regions."""

    weights: Weights
    graph: nx.Graph
    components: _Components
    k: int
    kind: CostKind
    clock: Clock

    def run(self, method: str) -> SingleAttribute:
        weights, k = self.weights, self.k
        class_of = np.full(weights.size, -1, dtype=np.int64)
        degree = count = 0
        for nodes in self.components.heavy:
            tree = low_degree_tree(self.graph.subgraph(nodes.tolist()))
            degree = max(degree, degree_of(tree))
            for part in cut_tree(rooted(tree), weights.tolist(), k):
                class_of[part] = count
                count += 1
        if method != "tree":
            class_of = improved_regions(weights, self.graph, class_of, k, self.clock)
        bounds = [lower_bound(weights[nodes], k, self.kind) for nodes in self.components.heavy]
        if method == "exact":
            bounds = [
                self._exactly(nodes, class_of, bound)
                for nodes, bound in zip(self.components.heavy, bounds, strict=True)
            ]
        other = self._gather(class_of)
        bound, proof = self._bound(bounds)
        return finished(
            weights, k, class_of, self.kind, bound, _METHOD_NAMES[method], proof, other=other, degree=degree
        )

    def _exactly(self, nodes: Numbers, class_of: Numbers, bound: tuple[int, str]) -> tuple[int, str]:
        """Put the best regions of one component into `class_of`, if they are better; return its bound.

        Lists all connected sets that can be a region of a solution that costs no more than the known one,
        and lets a constraint solver choose. Says nothing new if there are more than `MOST_SETS`.
        """
        place = {node: number for number, node in enumerate(nodes.tolist())}
        graph = nx.relabel_nodes(self.graph.subgraph(place), place)
        _, regions_before = np.unique(class_of[nodes], return_inverse=True)
        known = Partitioning(self.weights[nodes], regions_before, self.k, self.kind, bound[0])

        def candidates(largest: int) -> Candidates | None:
            sets = _connected_sets(graph, known, largest, self.clock)
            return None if sets is None else (sets, ())

        best = best_partition(candidates, known, self.clock)
        if best.class_of is not None:
            class_of[nodes] = best.class_of + int(class_of.max()) + 1
        return (best.bound, PROOF) if best.bound > bound[0] else bound

    def _gather(self, class_of: Numbers) -> int | None:
        """Put light components into one class, with the smallest region if need be; return its number."""
        light = self.components.light
        if not light.size:
            return None
        other = int(class_of.max(initial=-1)) + 1
        if int(self.weights[light].sum()) < self.k:
            numbers = np.unique(class_of[class_of >= 0])
            sizes = [int(self.weights[class_of == number].sum()) for number in numbers]
            class_of[class_of == numbers[int(np.argmin(sizes))]] = other
        class_of[light] = other
        return other

    def _bound(self, bounds: Sequence[tuple[int, str]]) -> tuple[int, str]:
        """Return the bound for all components together.

        If light components need a region of another one, that one's own bound no longer holds.
        """
        light = self.components.light
        gathered = int(self.weights[light].sum())
        if light.size and gathered < self.k:
            return lower_bound(self.weights, self.k, self.kind)
        costs = [*bounds]
        if light.size:
            costs.append((cost_of([gathered], self.k, self.kind), "the class of all light components"))
        largest = max(costs)
        return (largest[0] if self.kind == "max" else sum(cost for cost, _ in costs)), largest[1]
