"""Values that are neighbours -> connected regions (Theorem 3 of the paper), exactly for small graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.grouping import ON_LIGHT, REGION_METHODS
from kanon_pg.errors import InfeasibleError, UnknownName
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.constraint_solver import (
    PROOF,
    Candidate,
    Candidates,
    PartitionOutcome,
    best_partition,
    is_affordable,
)
from kanon_pg.worker.grouping.region_moves import (
    Neighbours,
    components_of,
    cut_tree,
    improved_regions,
    low_degree_tree,
    neighbours_of,
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


def exact_regions(
    weights: Weights,
    neighbours: Neighbours,
    known: Numbers,
    k: int,
    kind: CostKind,
    bound: int,
    clock: Clock,
) -> PartitionOutcome:
    """Return the best partition of a connected graph into connected regions, as far as the time allows.

    Lists all connected sets that can be a region of a solution that costs no more than the known one, and
    lets a constraint solver choose. Says nothing new if there are more than `MOST_SETS`.

    Parameters
    ----------
    neighbours : list of list of int
        Of the same n nodes, connected.
    known : ndarray of int64, shape (n,)
        Regions of at least k, numbered from 0.
    bound : int
        What is proven already.
    """

    def candidates_below(cost: int) -> Candidates | None:
        found = _connected_sets(weights.tolist(), neighbours, k, kind, cost, clock)
        return None if found is None else (found, ())

    return best_partition(candidates_below, weights, known, k, kind, bound, clock)


def _connected_sets(
    weights: Sequence[int], neighbours: Neighbours, k: int, kind: CostKind, cost: int, clock: Clock
) -> list[Candidate] | None:
    """Return every connected set of at least k that is affordable, None if there are too many.

    Each set is found once, from its first node: a node that was passed over is not taken up again below.
    """
    found: list[Candidate] = []
    looked = 0
    for start, weight in enumerate(weights):
        waiting = [(frozenset({start}), weight, frozenset(range(start + 1)))]
        while waiting:
            nodes, size, closed = waiting.pop()
            looked += 1
            if looked > MOST_SETS or (looked % 1024 == 0 and clock.is_over()):
                return None
            if size >= k:
                if not is_affordable(size, k, kind, cost):
                    continue  # nor is any larger set
                found.append(Candidate(tuple(sorted(nodes)), size))
            passed = set(closed)
            for node in sorted({other for one in nodes for other in neighbours[one]} - nodes - closed):
                passed.add(node)
                waiting.append((nodes | {node}, size + weights[node], frozenset(passed)))
    return found


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
    weights : array of int, shape (n,)
        People per node, each >= 0.
    edges : array of int, shape (e, 2)
        Pairs of neighbours; loops and repetitions count for nothing.
    method : str
        'tree': the theorem's algorithm alone; 'moves': and local moves; 'exact': and the optimum of each
        component that is small enough for it.
    on_light : str
        'other', or 'refuse'.
    clock : Clock, optional
        Ends moves and exact search; without a limit both end by themselves.

    Raises
    ------
    UnknownName
        If there is no such method or choice.
    InputError
        As `result.checked_weights`.
    InfeasibleError
        If all weights together are below k, or a component is and that is to be refused.
    """
    array = checked_weights(weights, k)
    _check_names(method, on_light)
    neighbours = neighbours_of(array.size, edges)
    parts = _Parts.of(array, neighbours, k)
    if parts.light.size and on_light == "refuse":
        raise InfeasibleError(
            f"Parts of the map have less than k = {k:,} and no way to the others.",
            detail=f"They have {parts.light.size:,} values.",
            hint="Add rows to the adjacency, or let them be gathered: on_light => 'other'.",
        )
    return _solved(array, neighbours, parts, k, cost_kind, method, clock or Clock())


def _check_names(method: str, on_light: str) -> None:
    for given, known, name in ((method, REGION_METHODS, "method"), (on_light, ON_LIGHT, "choice")):
        if given not in known:
            raise UnknownName(
                f'There is no {name} "{given}" for regions.', hint=f"There are: {', '.join(known)}."
            )


@dataclass(frozen=True, slots=True)
class _Parts:
    """Connected components: those with k, and all nodes of the others."""

    heavy: tuple[Numbers, ...]
    light: Numbers

    @classmethod
    def of(cls, weights: Weights, neighbours: Neighbours, k: int) -> _Parts:
        """Return the components of a graph."""
        component = components_of(neighbours)
        totals = np.zeros(int(component.max()) + 1, dtype=np.int64)
        np.add.at(totals, component, weights)
        order = np.argsort(component, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(component))[:-1])
        heavy = tuple(nodes for nodes, total in zip(members, totals, strict=True) if total >= k)
        return cls(heavy, np.flatnonzero(totals[component] < k))


def _solved(
    weights: Weights,
    neighbours: Neighbours,
    parts: _Parts,
    k: int,
    kind: CostKind,
    method: str,
    clock: Clock,
) -> SingleAttribute:
    class_of = np.full(weights.size, -1, dtype=np.int64)
    listed, degree, count = weights.tolist(), 0, 0
    for nodes in parts.heavy:
        tree = low_degree_tree(nodes.tolist(), neighbours)
        degree = max(degree, tree.degree)
        for part in cut_tree(tree, listed, k):
            class_of[part] = count
            count += 1
    if method != "tree":
        class_of = improved_regions(weights, neighbours, class_of, k, clock)
    bounds = [lower_bound(weights[nodes], k, kind) for nodes in parts.heavy]
    if method == "exact":
        for place, nodes in enumerate(parts.heavy):
            bounds[place] = _exactly(weights, neighbours, nodes, class_of, k, kind, bounds[place], clock)
    other = _gathered(weights, class_of, parts.light, k)
    bound, proof = _bound_of(weights, parts, bounds, k, kind)
    name = _METHOD_NAMES[method]
    return finished(weights, k, class_of, kind, bound, name, proof, other=other, degree=degree)


_METHOD_NAMES = {
    "tree": "cuts of a spanning tree",
    "moves": "cuts of a spanning tree, local moves",
    "exact": "cuts of a spanning tree, local moves, exact where small",
}


def _exactly(
    weights: Weights,
    neighbours: Neighbours,
    nodes: Numbers,
    class_of: Numbers,
    k: int,
    kind: CostKind,
    bound: tuple[int, str],
    clock: Clock,
) -> tuple[int, str]:
    """Put the best regions of one component into `class_of`, if better ones are found; return its bound."""
    place = {node: number for number, node in enumerate(nodes.tolist())}
    inside = [[place[other] for other in neighbours[node]] for node in nodes.tolist()]
    _, known = np.unique(class_of[nodes], return_inverse=True)
    found = exact_regions(weights[nodes], inside, known.astype(np.int64), k, kind, bound[0], clock)
    if found.class_of is not None:
        class_of[nodes] = found.class_of + int(class_of.max()) + 1
    return (found.bound, PROOF) if found.bound > bound[0] else bound


def _gathered(weights: Weights, class_of: Numbers, light: Numbers, k: int) -> int | None:
    """Put light components into one class, with the smallest region if need be; return its number."""
    if not light.size:
        return None
    other = int(class_of.max(initial=-1)) + 1
    if int(weights[light].sum()) < k:
        numbers = np.unique(class_of[class_of >= 0])
        sizes = [int(weights[class_of == number].sum()) for number in numbers]
        class_of[class_of == numbers[int(np.argmin(sizes))]] = other
    class_of[light] = other
    return other


def _bound_of(
    weights: Weights, parts: _Parts, bounds: Sequence[tuple[int, str]], k: int, kind: CostKind
) -> tuple[int, str]:
    """Return the bound for all components together.

    If light components need a region of another one, that one's own bound no longer holds.
    """
    gathered = int(weights[parts.light].sum())
    if parts.light.size and gathered < k:
        return lower_bound(weights, k, kind)
    costs = [*bounds]
    if parts.light.size:
        costs.append((cost_of([gathered], k, kind), "the class of all light components"))
    largest = max(costs)
    return (largest[0] if kind == "max" else sum(cost for cost, _ in costs)), largest[1]
