"""The best of several solutions together: a search among the classes that any of them has.

Good solutions of one table have most classes in common. All classes of some of them are so few that integer
programs choose among many at once: Adult with 9 columns and k = 100 has 18,300 instances, of which six
solutions together use 345.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.anneal import EFFORT_PER_SECOND, anneal
from kanon_pg.worker.solvers.annealing.assignment import problem_of
from kanon_pg.worker.solvers.annealing.graph import part_of
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.refinement.flow import cost_of
from kanon_pg.worker.solvers.refinement.regions import EFFORT_PER_SECOND as EFFORT_OF_REGIONS
from kanon_pg.worker.solvers.refinement.regions import improve_as_a_whole, improve_by_regions

_MOST_KEPT = 30
"""Solutions of a pool. Of Adult with 9 columns and k = 100 about 30 used 385 instances together, six 345."""

_MOST_COST = 1.01
"""What a solution may cost at most in relation to the best one.

The greedy solution of Adult with 9 columns and k = 100 costs 4 % more; with its classes in the pool 80,307
and 80,293 cells came of two rounds, without them 80,288 and 80,286 (one run each).
"""

_WARM = 0.1
"""First temperature of annealing among the classes of a pool, in usual costs, for k up to 25."""

_SLOWER = 1.3
"""Annealing may take this many times as long as its effort usually takes, then it cools down faster."""

_SHARE_OF_ANNEALING = 0.2
_SHARE_OF_WHOLE = 0.75
"""Share of the time for annealing, and of what is left for a program of everything, if it is small enough."""


class _PooledSolution(NamedTuple):
    """A solution, its cost, and the instances that it uses."""

    cost: float
    solution: Solution
    instances: NDArray[np.int32]


@dataclass
class SolutionPool:
    """Solutions of one table over one graph, cheapest first.

    Parameters
    ----------
    graph : Compatibility
        The graph of the table and `k`.
    """

    table: RowTypeTable
    graph: Compatibility
    k: int
    _known: list[_PooledSolution] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def best(self) -> Solution:
        """The cheapest solution; there is one."""
        return self._known[0].solution

    def add(self, solution: Solution) -> None:
        """Add a solution, unless one of the same cost is there; the costliest leave if they are too many."""
        cost = cost_of(self.table, self.graph, solution)
        if any(cost == one.cost for one in self._known):
            return
        _, held_by = problem_of(self.table, self.graph, solution, self.k, False)
        known = [*self._known, _PooledSolution(cost, solution, np.unique(held_by))]
        known.sort(key=lambda one: one.cost)
        most = _MOST_COST * known[0].cost
        self._known = [one for one in known if one.cost <= most][:_MOST_KEPT]

    def united(self) -> Compatibility:
        """Return the instances of all solutions, with whatever fits, and the fully suppressed one."""
        stays = np.zeros(len(self.graph), dtype=np.bool_)
        stays[-1] = True
        for one in self._known:
            stays[one.instances] = True
        return part_of(self.table, self.graph, np.repeat(stays, np.diff(self.graph.begin)))


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
        table, united, solution, k, clock.limited_to(_SLOWER * _SHARE_OF_ANNEALING * seconds),
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
