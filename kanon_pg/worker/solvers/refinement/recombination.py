"""The best of several solutions together: a search among the classes that any of them has.

Good solutions of one table have most classes in common. All classes of some of them are so few that integer
programs choose among many at once: half of 18,300 instances of Adult with 9 columns and k = 100 have less
excess than some class of a good solution, but six solutions together have 345.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.anneal import EFFORT_PER_SECOND, anneal
from kanon_pg.worker.solvers.annealing.assignment import problem_of
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.refinement.flow import cost_of
from kanon_pg.worker.solvers.refinement.regions import EFFORT_PER_SECOND as EFFORT_OF_REGIONS
from kanon_pg.worker.solvers.refinement.regions import improve_as_a_whole, improve_by_regions

_MOST_KEPT = 30
"""Solutions of a pool. Those of Adult with 9 columns have a third more instances than six of them."""

_MOST_COST = 1.01
"""What a solution may cost at most in relation to the best one: others have few classes that are of use."""

_WARM = 0.1
"""First temperature of annealing among the classes of a pool, in usual costs, for k up to 25."""

_SHARE_OF_ANNEALING = 0.2
_SHARE_OF_WHOLE = 0.75
"""Share of the time for annealing, and of what is left for a program of everything, if it is small enough."""


@dataclass
class SolutionPool:
    """Solutions of one table over one graph, cheapest first.

    Parameters
    ----------
    graph : Compatibility
        The graph of the table and k.
    """

    table: RowTypeTable
    graph: Compatibility
    _known: list[tuple[float, Solution]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def best(self) -> Solution:
        """The cheapest solution; there is one."""
        return self._known[0][1]

    def add(self, solution: Solution) -> None:
        """Add a solution, unless one of the same cost is there; the costliest leave if they are too many."""
        cost = cost_of(self.table, self.graph, solution)
        if any(cost == known for known, _ in self._known):
            return
        self._known = sorted([*self._known, (cost, solution)], key=lambda pair: pair[0])
        most = _MOST_COST * self._known[0][0]
        self._known = [pair for pair in self._known if pair[0] <= most][:_MOST_KEPT]

    def united(self, k: int) -> Compatibility:
        """Return the instances of all solutions, with whatever fits, and the fully suppressed one."""
        graph = self.graph
        stays = np.zeros(len(graph), dtype=np.bool_)
        stays[-1] = True
        for _, solution in self._known:
            stays[problem_of(self.table, graph, solution, k, False)[1]] = True
        lengths = np.diff(graph.begin)
        begin = np.zeros(int(stays.sum()) + 1, dtype=np.int64)
        np.cumsum(lengths[stays], out=begin[1:])
        member = graph.member[np.repeat(stays, lengths)]
        return replace(
            graph,
            vector=graph.vector[stays],
            cost=graph.cost[stays],
            people=graph.people[stays],
            begin=begin,
            member=member,
        )


def search_among(
    table: RowTypeTable,
    united: Compatibility,
    solution: Solution,
    k: int,
    clock: Clock,
    *,
    prices: NDArray[np.int64],
    seconds: float,
    seed: int,
    rest_may_be_small: bool = False,
    scale: float = 1.0,
) -> Solution:
    """Search among the classes of some solutions for a cheaper one.

    Parameters
    ----------
    united : Compatibility
        The classes, which `SolutionPool.united` returns.
    solution : Solution
        The best one so far.
    prices : ndarray of int64, shape (n,)
        Valid prices in units of 1 / `PRICE_UNIT`.
    seconds : float
        How long the search should take, > 0, turned into effort as in `refine`.
    scale : float
        How much warmer annealing is than for small k.

    Returns
    -------
    Solution
        Never costlier than `solution`.

    Notes
    -----
    Cook and Seymour 2003, "Tour merging via branch-decomposition", search the edges of good tours alone; in
    Aggarwal, Orlin and Tai 1997, "Optimized crossover for the independent set problem", an exact method finds
    the best child of two parents.
    """
    solution = anneal(
        table, united, solution, k, _part(clock, _SHARE_OF_ANNEALING * seconds),
        effort=int(_SHARE_OF_ANNEALING * seconds * EFFORT_PER_SECOND), prices=prices, seed=seed,
        rest_may_be_small=rest_may_be_small, hottest=_WARM * scale,
    )  # fmt: skip
    seconds *= 1.0 - _SHARE_OF_ANNEALING
    if clock.is_over():
        return solution
    solution, is_tried = improve_as_a_whole(
        table, united, solution, k, clock, seconds=_SHARE_OF_WHOLE * seconds,
        rest_may_be_small=rest_may_be_small,
    )  # fmt: skip
    if is_tried:
        seconds *= 1.0 - _SHARE_OF_WHOLE
    if clock.is_over():
        return solution
    return improve_by_regions(
        table, united, solution, k, clock, effort=int(seconds * EFFORT_OF_REGIONS), prices=prices, seed=seed,
        rest_may_be_small=rest_may_be_small,
    )  # fmt: skip


def _part(clock: Clock, seconds: float) -> Clock:
    left = clock.left()
    return clock.part(min(1.0, seconds / left) if left else 1.0)
