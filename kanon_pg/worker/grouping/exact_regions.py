"""Connected regions at the least cost, for small graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.constraint_solver import fits
from kanon_pg.worker.grouping.result import CostKind, Numbers, Weights, cost_of
from kanon_pg.worker.grouping.set_partition import (
    Candidate,
    Partition,
    best_partition,
    is_affordable,
)
from kanon_pg.worker.grouping.spanning_tree import Neighbours

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
) -> Partition:
    """Return the best partition of a connected graph into connected regions, as far as the time allows.

    Lists all connected sets that can be a region of a solution no dearer than the known one, and lets a
    constraint solver choose. Says nothing new if there are more than `MOST_SETS`.

    Parameters
    ----------
    weights : ndarray of int64, shape (n,)
    neighbours : list of list of int
        Of the same n nodes, connected.
    known : ndarray of int64, shape (n,)
        Regions of at least k, numbered from 0.
    k : int
    kind : str
    bound : int
        What is proven already.
    clock : Clock
    """
    sizes = np.zeros(int(known.max()) + 1, dtype=np.int64)
    np.add.at(sizes, known, weights)
    cost = cost_of(sizes, k, kind)
    if cost <= bound or not fits(int(weights.sum()), kind):
        return Partition(None, bound)
    candidates = _connected_sets(weights.tolist(), neighbours, k, kind, cost, clock)
    if candidates is None:
        return Partition(None, bound)
    return best_partition(candidates, known, sizes, k, kind, bound, clock)


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
