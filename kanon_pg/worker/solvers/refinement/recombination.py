"""The best of several solutions together: a search among the classes that any of them has.

Good solutions of one table have most classes in common. All classes of some of them are so few that integer
programs choose among many at once: Adult with 9 columns and k = 100 has 18,300 instances, of which six
solutions together use 345. And most rows are in the same class in all of them, or in one of two: with k = 25
seven solutions use 32,106 of 5.9 million pairs of a row type and an instance, which is one integer program.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.anneal import EFFORT_PER_SECOND, anneal
from kanon_pg.worker.solvers.annealing.graph import pairs_in_use, part_of
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.refinement.regions import EFFORT_PER_SECOND as EFFORT_OF_REGIONS
from kanon_pg.worker.solvers.refinement.regions import improve_as_a_whole, improve_by_regions

_MOST_KEPT = 30
"""Solutions of a pool."""

_MOST_COST = 1.01
"""What a solution may cost at most in relation to the best one."""

_WARM = 0.1
"""First temperature of annealing among the classes of a pool, in usual costs, for k up to 25."""

_SLOWER = 1.3
"""Annealing may take this many times as long as its effort usually takes, then it cools down faster."""

_SHARE_OF_WHOLE = 0.75
_SHARE_OF_ANNEALING = 0.2
"""Share of the time for a program of everything, if it is small enough, and of what is left for annealing."""

_SHARE_OF_ALL_TIME = 0.4
"""Share of all time that is left which that program may take, if it needs more: it finds what it finds at the
end of its first node."""


class _PooledSolution(NamedTuple):
    """A solution, its cost, and the pairs of the graph that it uses."""

    cost: float
    solution: Solution
    pairs: NDArray[np.int64]


@dataclass
class SolutionPool:
    """Solutions of one table in one graph, cheapest first."""

    search: GraphSearch
    _known: list[_PooledSolution] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def best(self) -> Solution:
        """The cheapest solution; there is one."""
        return self._known[0].solution

    def add(self, solution: Solution) -> None:
        """Add a solution, unless one of the same cost is there; the costliest leave if they are too many."""
        cost = self.search.cost(solution)
        if any(cost == one.cost for one in self._known):
            return
        pairs = pairs_in_use(self.search, solution)
        known = [*self._known, _PooledSolution(cost, solution, pairs)]
        known.sort(key=lambda one: one.cost)
        most = _MOST_COST * known[0].cost
        self._known = [one for one in known if one.cost <= most][:_MOST_KEPT]

    def united(self) -> GraphSearch:
        """Return the search among the instances of all solutions, with whatever fits, and of everybody."""
        begin = self.search.graph.begin
        stays = np.add.reduceat(self._is_used(), begin[:-1], dtype=np.int64) > 0
        return self._within(np.repeat(stays, np.diff(begin)))

    def used(self) -> GraphSearch:
        """Return the search among the pairs that any solution uses, and the instance of everybody."""
        return self._within(self._is_used())

    def _within(self, kept: NDArray[np.bool_]) -> GraphSearch:
        return self.search.within(part_of(self.search.table, self.search.graph, kept))

    def _is_used(self) -> NDArray[np.bool_]:
        graph = self.search.graph
        is_used = np.zeros(graph.edges, dtype=np.bool_)
        is_used[graph.begin[-2] :] = True
        for one in self._known:
            is_used[one.pairs] = True
        return is_used


def search_among(
    pool: SolutionPool,
    clock: Clock,
    *,
    seconds: float,
    seed: int,
    scale: float = 1.0,
    share_of_time: float = _SHARE_OF_ALL_TIME,
) -> Solution:
    """Search among the classes of some solutions for a cheaper one.

    Parameters
    ----------
    pool : SolutionPool
        At least one solution.
    seconds : float
        How long the search should take, > 0, turned into effort as in `refine`.
    scale : float
        How much warmer annealing is than for small k.
    share_of_time : float
        Share of all time that is left which the program of what solutions use may take.

    Returns
    -------
    Solution
        Never costlier than the best of the pool.

    Notes
    -----
    Cook and Seymour 2003, "Tour merging via branch-decomposition", search the edges of good tours alone; in
    Aggarwal, Orlin and Tai 1997, "Optimized crossover for the independent set problem", an exact method finds
    the best child of two parents.
    """
    whole = max(_SHARE_OF_WHOLE * seconds, share_of_time * (clock.left() or 0.0))
    solution, is_tried = improve_as_a_whole(pool.used(), pool.best, clock, seconds=whole)
    if is_tried:
        seconds *= 1.0 - _SHARE_OF_WHOLE
    if clock.is_over():
        return solution
    united = pool.united()
    solution = anneal(
        united, solution, clock.limited_to(_SLOWER * _SHARE_OF_ANNEALING * seconds),
        effort=int(_SHARE_OF_ANNEALING * seconds * EFFORT_PER_SECOND), seed=seed, hottest=_WARM * scale,
    )  # fmt: skip
    if clock.is_over():
        return solution
    effort = int((1.0 - _SHARE_OF_ANNEALING) * seconds * EFFORT_OF_REGIONS)
    return improve_by_regions(united, solution, clock, effort=effort, seed=seed)
