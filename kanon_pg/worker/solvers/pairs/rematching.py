"""What a perfect matching costs after the costs of a few vertices change, without starting over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.solvers.pairs.forest import NOBODY, Forest, Numbers, near_slack, slack
from kanon_pg.worker.solvers.pairs.matching import UNIT, add_pair


class Rematching:
    """A perfect matching from which others are reached, and room to compute them in.

    Parameters
    ----------
    base : Forest
        A perfect matching; it is doubled in place, so that all prices are even, and kept.
    """

    def __init__(self, base: Forest) -> None:
        for doubled in (base.cost, base.price):
            np.multiply(doubled, 2, out=doubled)
        self._base = base
        self._work = Forest._make(array.copy() for array in base)
        self._changed = np.empty(0, dtype=np.int64)

    def is_cheaper_with(self, changes: Sequence[tuple[int, Numbers]], limit: int) -> bool:
        """Return whether some perfect matching costs less than a limit after some vertices' costs changed.

        Parameters
        ----------
        changes : sequence of (int, ndarray of int64)
            Vertices and their costs to all vertices, applied one after the other.

        Notes
        -----
        O(n^2) per vertex that loses its mate: the changed ones, their mates, and one per blossom that held
        a changed vertex, with its mate.
        """
        _restore(self._work, self._base, self._changed)
        self._changed = np.array([vertex for vertex, _ in changes], dtype=np.int64)
        for vertex, costs in changes:
            _change(self._work, vertex, 2 * UNIT * costs)
        room = 2 * UNIT * (limit - 1) - _sum_of_prices(self._work)
        while room >= 0 and (self._work.mate == NOBODY).any():
            room = add_pair(self._work, room)
        return room >= 0


def _sum_of_prices(forest: Forest) -> int:
    """Return what every perfect matching costs at least; pairs cost what their prices say."""
    free = forest.mate == NOBODY
    pairs = forest.cost[np.arange(free.size), forest.mate]
    return int(pairs[~free].sum()) // 2 + int(forest.price[: free.size][free].sum())


def _restore(work: Forest, base: Forest, changed: Numbers) -> None:
    """Make the state as it was; numbers of blossoms that are not in use hold nothing to restore."""
    for name in ("price", "mate", "top", "within", "base", "size"):
        np.copyto(getattr(work, name), getattr(base, name))
    work.cost[changed] = base.cost[changed]
    work.cost[:, changed] = base.cost[:, changed]
    vertices = base.mate.size
    for blossom in vertices + np.flatnonzero(base.size[vertices:]):
        size = base.size[blossom]
        for name in ("child", "link_from", "link_to"):
            getattr(work, name)[blossom, :size] = getattr(base, name)[blossom, :size]
        for name in ("near_from", "near_to"):
            getattr(work, name)[blossom] = getattr(base, name)[blossom]
            getattr(work, name)[:, blossom] = getattr(base, name)[:, blossom]


@inner_kernel
def _change(forest: Forest, vertex: int, costs: Numbers) -> None:
    """Set new costs of a vertex; it and whoever was matched because of it become free."""
    while forest.top[vertex] != vertex:
        _dissolve(forest, forest.top[vertex])
    _unmatch(forest, vertex)
    own = forest.cost[vertex, vertex]
    for other in range(forest.mate.size):
        forest.cost[vertex, other] = forest.cost[other, vertex] = costs[other]
    forest.cost[vertex, vertex] = own
    forest.price[vertex] = 0
    price = 1 << 61
    for other in range(forest.mate.size):
        if other != vertex:
            price = min(price, int(slack(forest, other, vertex)))
    forest.price[vertex] = price
    _find_near_of(forest, vertex)


@inner_kernel
def _unmatch(forest: Forest, vertex: int) -> None:
    partner = forest.mate[vertex]
    if partner != NOBODY:
        forest.mate[vertex] = NOBODY
        forest.mate[partner] = NOBODY


@inner_kernel
def _dissolve(forest: Forest, blossom: int) -> None:
    """Open an outermost blossom: its vertices pay its price, so its edge to the outside becomes too dear."""
    share = forest.price[blossom] // 2
    if share > 0:
        _unmatch(forest, forest.base[blossom])
    for place in range(forest.size[blossom]):
        forest.within[forest.child[blossom, place]] = NOBODY
    for vertex in range(forest.mate.size):
        if forest.top[vertex] == blossom:
            forest.price[vertex] -= share
            node = vertex
            while forest.within[node] != NOBODY:
                node = forest.within[node]
            forest.top[vertex] = node
    forest.size[blossom] = 0


@inner_kernel
def _find_near_of(forest: Forest, vertex: int) -> None:
    """Find the edge with least slack from a vertex to every blossom."""
    vertices = forest.mate.size
    is_known = forest.is_marked
    is_known[:] = False
    for other in range(vertices):
        node = forest.within[other]
        while node != NOBODY:
            if not is_known[node] or slack(forest, vertex, other) < near_slack(forest, vertex, node):
                is_known[node] = True
                forest.near_from[vertex, node], forest.near_to[vertex, node] = vertex, other
                forest.near_from[node, vertex], forest.near_to[node, vertex] = other, vertex
            node = forest.within[node]
