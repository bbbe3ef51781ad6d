"""The search of suppression for tables with hierarchies: dives, annealing, integer programs and flows.

These search a graph of row types and instances, and what an instance is does not matter to them. Here it
is a node vector: the ones that the search of prices collected, and those of the best solution of each
round, in which annealing may have met others. An instance is named by its number in place of a pattern
vector.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import SolverError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.annealing.anneal import EFFORT_PER_SECOND, anneal
from kanon_pg.worker.solvers.annealing.graph import thin
from kanon_pg.worker.solvers.bounds.prices import Collected
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.recoding.forest import (
    Forest,
    levels_of_classes,
    levels_of_vectors,
    row_costs,
    vectors_of_levels,
)
from kanon_pg.worker.solvers.recoding.greedy import assign_rest
from kanon_pg.worker.solvers.recoding.improvement import EFFORT_PER_ROW_TYPE, improve_classes
from kanon_pg.worker.solvers.recoding.improvement import EFFORT_PER_SECOND as EFFORT_OF_CLASSES
from kanon_pg.worker.solvers.recoding.prices import LevelPrices
from kanon_pg.worker.solvers.recoding.starts import Start
from kanon_pg.worker.solvers.recoding.task import RecodingTask
from kanon_pg.worker.solvers.refinement.diving import dive
from kanon_pg.worker.solvers.refinement.flow import reassign
from kanon_pg.worker.solvers.refinement.refine import SHARE_OF_ROUND, Rounds, refine
from kanon_pg.worker.verification.certificate import PRICE_UNIT

_NEAR = 2.0
"""Dives and annealing may use classes that exceed their prices by this many usual costs."""

_WARM = 0.05
_WARM_CLASSES = 0.015
"""First temperatures of annealing near the best solution: among instances in usual costs, among all classes
in weights of a column times the square root of 2 k."""

_IMPROVED = 8.0
"""Seconds in which the classes of a dive are annealed."""

_SLOWER = 1.3
"""Annealing may take this many times as long as its effort usually takes, then it cools down faster."""

_EFFORT_PER_ROW = 50_000
"""Effort per row from which a round dives for other solutions and anneals them."""

_HOW = "annealed and refined"

_FIRST_ROUND = 10.0
_ROW_TYPES_PER_SECOND = 1_500
"""Seconds of the first round of refinement, and for how many row types it takes one: the smaller counts."""

_LONGER_ROUND = 3
"""A round takes at most so many times as long as the longest one before."""

_USUAL = 1.0
"""A usual difference of costs, as a share of what a row costs on average."""


@dataclass(frozen=True)
class NodeVectors(Compatibility):
    """A graph whose vectors are the numbers of its first instances, and what these cost."""

    all_costs: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    def row_costs(self, table: RowTypeTable, vector: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what a row costs in these instances."""
        return self.all_costs[vector]


class _NamedByInstance(RowTypeTable):
    """A table whose row types are alike exactly if they are in one instance; weights are usual costs."""

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Nothing but the instance tells row types apart."""
        return np.zeros((self.width, len(self)), dtype=np.uint64)


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
    Each round anneals among the collected instances, which knows what the prices favour, and then among
    all classes, which can form those that no pass has met; the classes of either are instances in the next
    round. Small tables are also dived for and searched by regions (`refine`).
    """
    if clock.is_over():
        return start
    search = _LevelRounds(whole, raised, clock, _USUAL * start.cost / whole.table.total_rows)
    try:
        best = search.dived(start)
    except (SolverError, MemoryError):
        return start
    seed = whole.request.seed or 0
    rounds = Rounds(min(_FIRST_ROUND, len(whole.table) / _ROW_TYPES_PER_SECOND), _LONGER_ROUND)
    while not rounds.are_stale and best.cost - raised.found.bound > goal * best.cost and not clock.is_over():
        seconds, before = rounds.seconds(clock), best.cost
        try:
            best = search.round(best, seconds, seed, anew=seconds == rounds.wanted)
        except (SolverError, MemoryError):
            break  # what was found until then is valid
        rounds.note(seconds, before, best.cost)
        seed += 1
        if clock.left() is None:
            break  # without a limit one round is what users of the default wait for
    return best


@dataclass
class _LevelRounds:
    """What the steps of the rounds have in common.

    Parameters
    ----------
    usual : float
        A usual difference of costs.
    known : list of _Own
        Instances of the best solution at the beginning of each round.
    """

    whole: RecodingTask
    raised: LevelPrices
    clock: Clock
    usual: float
    known: list[_Own] = field(default_factory=list)

    @cached_property
    def table(self) -> RowTypeTable:
        """The table of `whole` as the search of a graph needs it."""
        return _named_by_instance(self.whole.table, self.usual)

    def dived(self, start: Start) -> Start:
        """Return the better one of a solution and a dive from the prices, its last rows put anywhere.

        The instances that a dive leaves closed are too few for its last rows, as others were never
        collected: these rows join the classes that get least costlier.
        """
        if self.whole.table.has_entity:
            return start
        graph, solution = self.graph_around(start)
        prices, k = self.raised.found.prices, self.whole.request.k
        core = thin(self.table, graph, solution, k, prices, _NEAR * self.usual)
        found = dive(self.table, core, k, self.clock, prices=prices)
        if found is None:
            return start
        dived = self.start_of(start, found)
        task, rest = dived.task, np.flatnonzero(found.vector == len(graph) - 1)
        class_of = assign_rest(
            task.forest, task.codes, task.table, task.demands, dived.class_of, rest.astype(np.int32)
        )
        left = self.clock.left()
        seconds = _IMPROVED if left is None else min(_IMPROVED, left * SHARE_OF_ROUND)
        dived = self.improved(dived._replace(class_of=class_of), seconds, self.whole.request.seed or 0)
        return dived if dived.cost < start.cost else start

    def round(self, best: Start, seconds: float, seed: int, *, anew: bool) -> Start:
        """Return a solution that costs no more, searched for some seconds."""
        graph, solution = self.graph_around(best)
        prices, k = self.raised.found.prices, self.whole.request.k
        if seconds * EFFORT_PER_SECOND >= _EFFORT_PER_ROW * self.whole.table.total_rows:
            solution = refine(
                self.table, graph, solution, k, self.clock, prices=prices, seconds=seconds, seed=seed,
                anew=anew,
            )  # fmt: skip
        else:
            near = thin(self.table, graph, solution, k, prices, _NEAR * self.usual)
            solution = anneal(
                self.table, near, solution, k, self._part(seconds / 2),
                effort=int(seconds / 2 * EFFORT_PER_SECOND), prices=prices, seed=seed, hottest=_WARM,
            )  # fmt: skip
            solution = reassign(self.table, graph, solution, k)
        found = self.start_of(best, solution)
        found = self.improved(found, seconds / 2, seed)
        return found if found.cost < best.cost else best

    def improved(self, start: Start, seconds: float, seed: int) -> Start:
        """Return the solution annealed among all classes, near to where it is."""
        task = start.task
        effort = min(int(seconds * EFFORT_OF_CLASSES), EFFORT_PER_ROW_TYPE * len(task.table))
        class_of = improve_classes(
            task.forest, task.codes, task.table, task.demands, start.class_of, self._part(seconds),
            seed=seed, effort=effort, hottest=_WARM_CLASSES,
        )  # fmt: skip
        return start._replace(class_of=class_of)

    def _part(self, seconds: float) -> Clock:
        """Return a clock for some seconds, a little more than the effort usually takes."""
        return self.clock.limited_to(_SLOWER * seconds)

    def graph_around(self, start: Start) -> tuple[NodeVectors, Solution]:
        """Return the collected instances with those of all solutions so far, and the last one in them."""
        self.known.append(_instances_of(self.whole, start))
        return _graph_around(self.whole, start, self.raised.collected, self.known)

    def start_of(self, start: Start, solution: Solution) -> Start:
        """Return a solution in the instances of a graph as classes."""
        class_of = np.unique(solution.vector, return_inverse=True)[1].astype(np.int64)
        method = start.method if _HOW in start.method else f"{start.method}, {_HOW}"
        return Start(self.whole.divided(solution), class_of, method)


def _named_by_instance(table: RowTypeTable, usual: float) -> RowTypeTable:
    columns = tuple(replace(column, weight=usual) for column in table.columns)
    parts = {one.name: getattr(table, one.name) for one in fields(table)}
    return _NamedByInstance(**{**parts, "columns": columns})


def _graph_around(
    whole: RecodingTask, start: Start, collected: Collected, known: list[_Own]
) -> tuple[NodeVectors, Solution]:
    """Return the collected instances and known ones, last those of a solution, and it in their numbers."""
    pool = collected.pool()
    everybody = np.arange(len(whole.table), dtype=np.int64)
    lengths = np.concatenate([np.diff(pool.begin), *(own.lengths for own in known), [everybody.size]])
    member = np.concatenate([pool.member.astype(np.int64), *(own.member for own in known), everybody])
    top = float(whole.table.weights.sum())
    costs = [np.minimum(pool.cost / PRICE_UNIT, top), *(own.cost for own in known), np.array([top])]
    cost = np.concatenate(costs)
    order = np.argsort(cost, kind="stable")
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.arange(order.size)
    pairs = np.sort(np.repeat(number, lengths) * everybody.size + member)
    member = (pairs % everybody.size).astype(np.int32)
    begin = np.zeros(order.size + 1, dtype=np.int64)
    np.cumsum(lengths[order], out=begin[1:])
    people = np.add.reduceat(whole.table.people[member], begin[:-1])
    graph = NodeVectors(np.arange(order.size), cost[order], people, begin, member, cost[order])
    of_class = number[-1 - known[-1].cost.size : -1]
    row_type = _positions(whole, start.task)
    return graph, Solution.of_parts(row_type, of_class[start.class_of], start.task.table.rows)


def _positions(whole: RecodingTask, task: RecodingTask) -> NDArray[np.intp]:
    """Return which row type of a task each row type of another one is, or is a part of."""
    place = np.empty(int(whole.order.max()) + 1, dtype=np.intp)
    place[whole.order] = np.arange(whole.order.size)
    return place[task.order]


@dataclass(frozen=True)
class _Own:
    """Instances of the classes of a solution, in their order: cost of a row, members one after the other."""

    cost: NDArray[np.float64]
    lengths: NDArray[np.int64]
    member: NDArray[np.int64]


def _instances_of(whole: RecodingTask, start: Start) -> _Own:
    task = start.task
    level = levels_of_classes(task.forest, task.codes, start.class_of)
    _, anyone = np.unique(start.class_of, return_index=True)
    one_of = _positions(whole, task)[anyone]
    vectors, of_vector = np.unique(vectors_of_levels(whole.fields, level), return_inverse=True)
    found: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * anyone.size
    classes = np.argsort(of_vector, kind="stable")
    begin = np.searchsorted(of_vector[classes], np.arange(vectors.size + 1))
    for turn, levels in enumerate(levels_of_vectors(whole.fields, vectors)):
        keys = _shown(whole.forest, whole.codes, levels)
        order = np.argsort(keys, kind="stable")
        mine = classes[begin[turn] : begin[turn + 1]]
        shown = keys[one_of[mine]]
        first = np.searchsorted(keys, shown, side="left", sorter=order)
        last = np.searchsorted(keys, shown, side="right", sorter=order)
        for number, one, end in zip(mine.tolist(), first.tolist(), last.tolist(), strict=True):
            found[number] = order[one:end]
        whole.clock.heartbeat()
    cost = row_costs(task.forest, task.codes, level, start.class_of)[anyone]
    return _Own(cost, np.array([one.size for one in found]), np.concatenate(found).astype(np.int64))


@kernel
def _shown(forest: Forest, codes: NDArray[np.int32], level: NDArray[np.int16]) -> NDArray[np.uint64]:
    """Return a key of what each row type shows at a level vector."""
    keys = np.zeros(codes.shape[0], dtype=np.uint64)
    for item in range(keys.size):
        for column in range(level.size):
            place = forest.begin[column] + level[column] * forest.values[column]
            keys[item] += forest.keys[place + codes[item, column]]
    return keys
