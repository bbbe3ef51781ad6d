"""The search of suppression for tables with hierarchies: dives, annealing, integer programs and flows.

It searches the graph of `kanon_pg.worker.solvers.recoding.instances`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import SolverError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.anneal import EFFORT_PER_SECOND, anneal
from kanon_pg.worker.solvers.annealing.graph import thin
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.recoding.improvement import EFFORT_PER_ROW_TYPE, improve_classes
from kanon_pg.worker.solvers.recoding.improvement import EFFORT_PER_SECOND as EFFORT_OF_CLASSES
from kanon_pg.worker.solvers.recoding.instances import (
    Instances,
    NodeVectors,
    graph_of,
    instances_collected,
    instances_of,
    named_by_instance,
)
from kanon_pg.worker.solvers.recoding.prices import LevelPrices
from kanon_pg.worker.solvers.recoding.rest import assign_rest
from kanon_pg.worker.solvers.recoding.starts import Start
from kanon_pg.worker.solvers.recoding.task import RecodingTask
from kanon_pg.worker.solvers.refinement.diving import dive
from kanon_pg.worker.solvers.refinement.flow import reassign
from kanon_pg.worker.solvers.refinement.recombination import SolutionPool, search_among
from kanon_pg.worker.solvers.refinement.refine import SHARE_OF_ROUND, Rounds
from kanon_pg.worker.solvers.refinement.regions import improve_as_a_whole
from kanon_pg.worker.solvers.side_by_side import Search, side_by_side

_NEAR = 8.0
"""Dives and annealing may use classes that exceed their prices by this many usual costs."""

_HOT = 0.3
_WARM = 0.05
"""First temperatures of annealing among instances, in usual costs: of a dive, and of the best solution."""

_WARM_CLASSES = 0.015
"""First temperature of annealing among all classes near a solution, in weights of a column times the square
root of 2 k."""

_SLOWER = 1.3
"""Annealing may take this many times as long as its effort usually takes, then it cools down faster."""

_SHARE_TOGETHER = 0.15
"""Share of a round in which solutions are put together."""

_SHARE_OF_TIME = 0.1
"""Share of all time that is left which the program of what solutions use may take."""

_SHARE_OF_CLASSES = 0.2
"""Share of the search for one solution in which all classes are annealed."""

_IMPROVED = 4.0
"""Seconds in which the classes of a dive are annealed."""

_MOST_DIVES = 4
_SECONDS_PER_DIVE = 25.0
"""Seconds that are left for which another dive is tried."""

_EFFORT_PER_ROW = 30_000
"""Effort beyond which another solution is worth more than annealing one for longer."""

_FEWEST_STARTS = 2
_MOST_STARTS = 16
"""Solutions of a round."""

_MOST_KEPT = 30
"""Solutions that are put together."""

_HOW = "annealed and refined"

_FIRST_ROUND = 10.0
_ROW_TYPES_PER_SECOND = 1_500
"""Seconds of the first round of refinement, and for how many row types it takes one: the smaller counts."""

_LONGER_ROUND = 6
"""A round takes at most so many times as long as the longest one before."""

_USUAL = 1.0
"""A usual difference of costs, as a share of what a row costs on average."""


def refined(whole: RecodingTask, start: Start, raised: LevelPrices, goal: float, clock: Clock) -> Start:
    """Search for a cheaper solution in rounds, until it is good enough, rounds are in vain, or time is over.

    Parameters
    ----------
    whole : RecodingTask
        Without privacy models.
    start : Start
        Its classes are of the row types of `whole`, or of parts of them.
    raised : LevelPrices
        Valid prices, and the groups of row types that the search for them met.
    goal : float
        Gap at which the search ends.

    Notes
    -----
    Each round anneals the best of some dives several times, first among the collected instances, which
    knows what the prices favour, then among all classes, which can form those that no pass has met. Then it
    puts what came of that, in this round and earlier ones, together (`search_among`).
    """
    if clock.is_over():
        return start
    search = _LevelRounds(whole, raised, clock, _USUAL * start.cost / whole.table.total_rows)
    seed = whole.request.seed or 0
    try:
        search.begin(start, seed)
    except (SolverError, MemoryError):
        return start
    best = search.best
    rounds = Rounds(min(_FIRST_ROUND, len(whole.table) / _ROW_TYPES_PER_SECOND), _LONGER_ROUND)
    while not rounds.are_stale and best.cost - raised.found.bound > goal * best.cost and not clock.is_over():
        seconds, before, begin = rounds.seconds(clock), best.cost, time.monotonic()
        try:
            search.round(seconds, seed)
        except (SolverError, MemoryError):
            break  # what was found until then is valid
        best = search.best
        rounds.note(seconds, before, best.cost, taken=time.monotonic() - begin)
        seed += 1
        if clock.left() is None:
            break  # without a limit one round is what users of the default wait for
    return search.best


class _Found(NamedTuple):
    """A solution, its cost, and the instances of its classes."""

    cost: float
    start: Start
    instances: Instances


@dataclass
class _LevelRounds:
    """What the steps of the rounds have in common."""

    whole: RecodingTask
    raised: LevelPrices
    clock: Clock
    usual: float
    """A usual difference of costs."""
    found: list[_Found] = field(default_factory=list)
    """The cheapest solutions so far, cheapest first."""
    bases: list[Start] = field(default_factory=list)
    """What the first round anneals, and later ones the one of which it made most; without any they anneal the
    best solution."""

    @cached_property
    def table(self) -> RowTypeTable:
        """The table of `whole` as the search of a graph needs it."""
        return named_by_instance(self.whole.table, self.usual)

    @property
    def best(self) -> Start:
        """The cheapest solution; there is one."""
        return self.found[0].start

    def begin(self, start: Start, seed: int) -> None:
        """Choose what rounds anneal: the best of some dives."""
        self.keep(start)
        seconds = min(_IMPROVED, len(self.whole.table) / _ROW_TYPES_PER_SECOND)
        found = side_by_side(self.dives(seconds, seed), self.clock, _FEWEST_STARTS * seconds)
        self.bases = sorted(map(self.start_of, found), key=lambda one: one.cost)[:_FEWEST_STARTS]
        if self.bases:
            self.keep(self.bases[0])

    def dives(self, seconds: float, seed: int) -> list[Search]:
        """Return searches that dive and anneal among all classes, more of them where there is much time."""
        if self.whole.table.has_entity:
            return []
        left = self.clock.left() or 0.0
        count = int(min(max(_FEWEST_STARTS, left / _SECONDS_PER_DIVE), _MOST_DIVES))

        near, solution = self.near(self.best)

        def start(one: int) -> Search:
            return lambda clock: replace(self, clock=clock).dived(near, solution, seconds, one)

        return [start(one) for one in range(seed * _MOST_DIVES, seed * _MOST_DIVES + count)]

    def dived(self, near: GraphSearch, solution: Solution, seconds: float, seed: int) -> Solution:
        """Return a dive from the prices, its last rows put anywhere, or without one the given solution.

        The instances that a dive leaves closed are too few for its last rows, as others were never
        collected: these rows join the classes that get least costlier.
        """
        found = dive(near, self.clock, seed=seed)
        dived = self.start_of(solution if found is None else found)
        if found is not None:
            task, rest = dived.task, np.flatnonzero(found.vector == near.graph.vector[-1])
            class_of = assign_rest(task, dived.class_of, rest.astype(np.int32))
            dived = dived._replace(class_of=class_of)
        left = self.clock.left()
        seconds = seconds if left is None else min(seconds, left * SHARE_OF_ROUND)
        return self.parts_of(self.improved(dived, seconds, seed))

    def round(self, seconds: float, seed: int) -> None:
        """Look for solutions for some seconds."""
        found = side_by_side(self.starts(seconds * (1.0 - _SHARE_TOGETHER), seed), self.clock, seconds)
        made = [self.start_of(one) for one in found]
        if len(self.bases) > 1 and made:
            made = self._choose_base(made)
        for one in made:
            self.keep(one)
        if not self.clock.is_over():
            self.keep(self.together(seconds * _SHARE_TOGETHER, seed))

    def starts(self, seconds: float, seed: int) -> list[Search]:
        """Return searches that anneal what rounds begin with."""
        wanted = int(seconds * EFFORT_PER_SECOND) // (_EFFORT_PER_ROW * self.whole.table.total_rows)
        count = min(max(_FEWEST_STARTS, wanted + wanted % 2), _MOST_STARTS)  # two processors are usual
        around = [self.near(base) for base in self.bases or [self.best]]

        def start(one: int) -> Search:
            near, solution = around[one % len(around)]
            return lambda clock: replace(self, clock=clock).annealed(near, solution, seconds / count, one)

        return [start(one) for one in range(seed * _MOST_STARTS, seed * _MOST_STARTS + count)]

    def _choose_base(self, made: list[Start]) -> list[Start]:
        """Keep of several dives the one that the best solution came of; return what came of it.

        What different dives lead to has too little in common to be put together.
        """
        before, count = self.best, len(self.bases)
        chosen = min(range(len(made)), key=lambda place: made[place].cost) % count
        self.bases, self.found = [self.bases[chosen]], []
        self.keep(min(before, *made, key=lambda one: one.cost))
        return [self.bases[0], *made[chosen::count]]

    def annealed(self, near: GraphSearch, solution: Solution, seconds: float, seed: int) -> Solution:
        """Return a solution annealed among instances, then among all classes."""
        among = seconds * (1.0 - _SHARE_OF_CLASSES)
        found = anneal(
            near, solution, self._part(among), effort=int(among * EFFORT_PER_SECOND), seed=seed,
            hottest=_HOT if self.bases else _WARM,
        )  # fmt: skip
        start = self.start_of(reassign(near, found))
        return self.parts_of(self.improved(start, seconds * _SHARE_OF_CLASSES, seed))

    def together(self, seconds: float, seed: int) -> Start:
        """Return what two searches among the classes of the solutions so far find together."""
        graph, numbers = graph_of(self.whole, [one.instances for one in self.found])
        among = self.search_in(graph)
        pool = SolutionPool(among)
        for one, of_class in zip(self.found, numbers, strict=True):
            pool.add(self.solution_of(one.start, of_class))

        def search(one: int) -> Search:
            return lambda clock: search_among(
                pool, clock, seconds=seconds, seed=one, share_of_time=_SHARE_OF_TIME
            )  # fmt: skip

        for found in side_by_side([search(2 * seed), search(2 * seed + 1)], self.clock, 2 * seconds):
            pool.add(found)
        best, _ = improve_as_a_whole(pool.used(), pool.best, self.clock, seconds=seconds)
        return self.start_of(reassign(among, best))

    def improved(self, start: Start, seconds: float, seed: int) -> Start:
        """Return the solution annealed among all classes, near to where it is."""
        task = start.task
        effort = min(int(seconds * EFFORT_OF_CLASSES), EFFORT_PER_ROW_TYPE * len(task.table))
        class_of = improve_classes(
            task, start.class_of, self._part(seconds), seed=seed, effort=effort, hottest=_WARM_CLASSES,
        )  # fmt: skip
        return start._replace(class_of=class_of)

    def _part(self, seconds: float) -> Clock:
        """Return a clock for some seconds, a little more than the effort usually takes."""
        return self.clock.limited_to(_SLOWER * seconds)

    def keep(self, start: Start) -> None:
        """Keep a solution, unless others are cheaper or one costs the same."""
        cost = start.cost
        if any(cost == one.cost for one in self.found):
            return
        self.found.append(_Found(cost, start, instances_of(self.whole, start)))
        self.found = sorted(self.found, key=lambda one: one.cost)[:_MOST_KEPT]

    def search_in(self, graph: NodeVectors) -> GraphSearch:
        """Return the search in a graph."""
        return GraphSearch(self.table, graph, self.whole.request.k, self.raised.found.prices)

    def near(self, start: Start) -> tuple[GraphSearch, Solution]:
        """Return the instances that prices do not rule out for a good solution, and a solution in them."""
        graph, solution = self.graph_around(start)
        search = self.search_in(graph)
        return search.within(thin(search, solution, _NEAR * self.usual)), solution

    def graph_around(self, start: Start) -> tuple[NodeVectors, Solution]:
        """Return the collected instances with those of a solution and all kept ones, and it in them."""
        collected = instances_collected(self.whole, self.raised.collected)
        own = [one.instances for one in self.found]
        graph, numbers = graph_of(self.whole, [instances_of(self.whole, start), collected, *own])
        return graph, self.solution_of(start, numbers[0])

    def parts_of(self, start: Start) -> Solution:
        """Return classes as a solution whose vectors are their numbers."""
        return self.solution_of(start, np.arange(start.class_of.max() + 1))

    def solution_of(self, start: Start, of_class: NDArray[np.int64]) -> Solution:
        """Return classes as a solution in a graph, given the number of each class there."""
        return Solution.of_parts(start.task.order, of_class[start.class_of], start.task.table.rows)

    def start_of(self, solution: Solution) -> Start:
        """Return a solution in the instances of a graph as classes."""
        class_of = np.unique(solution.vector, return_inverse=True)[1].astype(np.int64)
        method = self.best.method
        method = method if _HOW in method else f"{method}, {_HOW}"
        return Start(self.whole.divided(solution), class_of, method)
