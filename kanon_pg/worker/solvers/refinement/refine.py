"""Dives, annealing, flows and integer programs one after the other, with prices that prove a bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.anneal import EFFORT_PER_SECOND, HOTTEST, anneal
from kanon_pg.worker.solvers.annealing.graph import thin
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.refinement.diving import dive
from kanon_pg.worker.solvers.refinement.diving_under_models import dive_for_people
from kanon_pg.worker.solvers.refinement.flow import reassign
from kanon_pg.worker.solvers.refinement.recombination import SolutionPool, search_among
from kanon_pg.worker.solvers.side_by_side import Search, side_by_side

_NEAR = 2.0
"""Dives and annealing may use classes that exceed their prices by this many usual costs."""

_LARGE = 25
"""Where k is larger, annealing gets more room and heat in proportion: steps move k rows at once."""

_AFTER_DIVE = 0.2
"""First temperature of annealing after a dive, which is worth keeping for the most part."""

_SHARE_OF_STARTS = 0.5
"""Share of the effort of a round in which solutions are dived for and annealed."""

_SLOWER = 1.3
"""Annealing may take this many times as long as its effort usually takes, then it cools down faster."""

_EFFORT_PER_ROW = 2_500
"""Effort beyond which annealing another dive is worth more than annealing longer."""

_FEWEST = 3
"""Solutions that a search needs which looks at nothing but their classes."""

_MOST_STARTS = 16
_DIVED_ROWS_PER_SECOND = 12_000
"""Rows of a table whose dives may be repeated so often per second of annealing."""

_MOST_DIVES = 12
_SHARE_OF_DIVES = 0.3
"""Share of the time that is left after which dives are given up."""


SHARE_OF_ROUND = 0.75
"""Share of the time that is left which a round of refinement takes at most."""

_SHORTEST_ROUND = 1.0
"""Seconds."""

STALE = 0.0003
"""A round that lowers the cost by no more than this share counts as one without gain."""

_MOST_STALE_ROUNDS = 2
"""Rounds without gain, one after the other, after which refinement ends."""


class Rounds:
    """How long rounds of refinement are: as long as those before, or longer, while time allows.

    Parameters
    ----------
    first : float
        Seconds of the first round.
    longer : float
        A round takes at most so many times as long as the longest one before.

    Attributes
    ----------
    wanted : float
        Seconds of the next round, if there is time for it.
    longest : float
        Seconds of the longest round so far.
    """

    def __init__(self, first: float, longer: float) -> None:
        self.wanted, self.longest = first, 0.0
        self._longer, self._stale, self._pace = longer, 0, 1.0

    @property
    def are_stale(self) -> bool:
        """Whether the last rounds gained nothing."""
        return self._stale >= _MOST_STALE_ROUNDS

    def seconds(self, clock: Clock) -> float:
        """Return how long the next round should take."""
        left = clock.left()
        if left is None:
            return self.wanted
        return min(self.wanted, max(_SHORTEST_ROUND, left * SHARE_OF_ROUND / self._pace))

    def note(self, seconds: float, before: float, after: float, *, taken: float | None = None) -> None:
        """Note how long a round was, and the cost before and after it.

        Parameters
        ----------
        taken : float, optional
            How long it was by the clock, where the next ones are to be measured by that, too.
        """
        if taken is not None:
            self._pace = taken / seconds
        self._stale = self._stale + 1 if before - after <= STALE * before else 0
        self.longest = max(self.longest, seconds)
        self.wanted = self._longer * self.longest


def refine(
    pool: SolutionPool,
    clock: Clock,
    *,
    seconds: float,
    seed: int | None = None,
    anew: bool = True,
    goes_on: bool = False,
) -> Solution:
    """Lower the weighted cost of a solution with the help of prices that prove a lower bound.

    Parameters
    ----------
    pool : SolutionPool
        At least one solution, in a graph with prices. Classes of those of earlier rounds are searched beside
        the search for others, which are added, for the next round.
    seconds : float
        How long the search should take, > 0. It is turned into effort that does not depend on the
        machine, so that the same input gives the same result unless time runs out, or an integer program
        takes so long that it is given up.
    anew : bool
        Whether to begin with other solutions, half of the time. Otherwise only regions of what is known are
        searched.
    goes_on : bool
        Whether there may be later rounds. Otherwise the solutions of this one are searched in it, too.

    Returns
    -------
    Solution
        The best of the pool.
    """
    search = _Refinement(pool.search, clock)
    seed = 0 if seed is None else seed
    if len(pool) >= _FEWEST:
        search.go_on(pool, seconds, seed, anew=anew)
    else:
        search.begin(pool, seconds, seed, anew=anew, goes_on=goes_on)
    return pool.best


@dataclass(frozen=True)
class _Refinement:
    """What the steps of one refinement have in common."""

    search: GraphSearch
    clock: Clock

    @property
    def scale(self) -> float:
        """How much more room and heat annealing gets."""
        return max(1.0, self.search.k / _LARGE)

    def begin(self, pool: SolutionPool, seconds: float, seed: int, *, anew: bool, goes_on: bool) -> None:
        """Add solutions to a pool of few; improve the best where no later round puts them together."""
        later = seconds * (1 - _SHARE_OF_STARTS) if anew else seconds
        if anew:
            for found in side_by_side(self.starts(pool.best, seconds - later, seed), self.clock, seconds):
                pool.add(found)
        if self.clock.is_over():
            return
        if len(pool) < _FEWEST or not goes_on:
            pool.add(self.recombined(pool, later, seed))

    def go_on(self, pool: SolutionPool, seconds: float, seed: int, *, anew: bool) -> None:
        """Add what a search among the classes of a pool finds, and beside that other solutions, or twice."""
        if anew:
            later = seconds * (1 - _SHARE_OF_STARTS)
            searches = [self.recombination(pool, later, seed)]
            searches += self.starts(pool.best, seconds - later, seed)
        else:
            searches = [self.recombination(pool, seconds / 2, one) for one in (2 * seed, 2 * seed + 1)]
        for found in side_by_side(searches, self.clock, seconds):
            pool.add(found)

    def starts(self, solution: Solution, seconds: float, seed: int) -> list[Search]:
        """Return searches that anneal a dive each, or without dives the solution."""
        effort = int(seconds * EFFORT_PER_SECOND)
        count = max(1, min(_MOST_STARTS, effort // (_EFFORT_PER_ROW * self.search.table.total_rows)))

        def start(seed: int) -> Search:
            return lambda clock: replace(self, clock=clock).annealed(solution, seconds / count, seed)

        return [start(one) for one in range(seed * _MOST_STARTS, seed * _MOST_STARTS + count)]

    def recombination(self, pool: SolutionPool, seconds: float, seed: int) -> Search:
        """Return the search among the classes of all solutions."""
        return lambda clock: replace(self, clock=clock).recombined(pool, seconds, seed)

    def recombined(self, pool: SolutionPool, seconds: float, seed: int) -> Solution:
        """Return the best that a search among the classes of all solutions finds."""
        found = search_among(pool, self.clock, seconds=seconds, seed=seed, scale=self.scale)
        return found if self.clock.is_over() else self.reassigned(found)

    def annealed(self, solution: Solution, seconds: float, seed: int) -> Solution:
        """Return a dive from the prices, annealed; without one anneal the solution."""
        dived = self.dived(solution, seconds, seed)
        start, hottest = (solution, HOTTEST) if dived is None else (dived, _AFTER_DIVE * self.scale)
        if self.clock.is_over():
            return start
        near, clock = self.near(start, _NEAR * self.scale), self.clock.limited_to(_SLOWER * seconds)
        effort = int(seconds * EFFORT_PER_SECOND)
        found = anneal(near, start, clock, effort=effort, seed=seed, hottest=hottest)
        return found if self.clock.is_over() else self.reassigned(found)

    def dived(self, solution: Solution, seconds: float, seed: int) -> Solution | None:
        """Return the best of some dives, None if there is none; it shows before annealing which is best."""
        near, clock = self.near(solution, _NEAR), self.clock.part(_SHARE_OF_DIVES)
        table = self.search.table
        if table.has_entity:
            return dive_for_people(near, clock, seed=seed)
        dives = max(1, min(_MOST_DIVES, int(seconds * _DIVED_ROWS_PER_SECOND / table.total_rows)))
        found = [dive(near, clock, seed=seed * _MOST_DIVES + turn) for turn in range(dives)]
        return min((one for one in found if one is not None), key=self.search.cost, default=None)

    def reassigned(self, solution: Solution) -> Solution:
        """Return the solution with all rows in their best places."""
        return reassign(self.search, solution)

    def near(self, solution: Solution, most: float) -> GraphSearch:
        """Return the search without classes that exceed their prices by more than some usual costs."""
        return self.search.within(thin(self.search, solution, most * self.search.usual))
