"""The search of suppression for tables with hierarchies: dives, annealing, integer programs and flows.

These search a graph of row types and instances, and what an instance is does not matter to them. Here it
is a node vector: the ones that the search of prices collected, which are all that good solutions use, and
those of the best solution so far. An instance is named by its number in place of a pattern vector.
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
from kanon_pg.worker.solvers.bounds.prices import Collected
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.recoding.forest import (
    Forest,
    levels_of_classes,
    levels_of_vectors,
    row_costs,
    vectors_of_levels,
)
from kanon_pg.worker.solvers.recoding.prices import LevelPrices
from kanon_pg.worker.solvers.recoding.starts import Start
from kanon_pg.worker.solvers.recoding.task import RecodingTask
from kanon_pg.worker.solvers.refinement.refine import Rounds, refine
from kanon_pg.worker.verification.certificate import PRICE_UNIT

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
        Its classes are of the undivided row types.
    raised : LevelPrices
        Valid prices, and the groups of row types that the search for them met.
    goal : float
        Gap at which the search ends.
    """
    if start.task is not whole or clock.is_over():
        return start
    graph, solution = _graph_around(whole, start, raised.collected)
    usual = _USUAL * start.cost / whole.table.total_rows
    table = _named_by_instance(whole.table, usual)
    cost = float((graph.all_costs[solution.vector] * solution.rows).sum())
    seed = whole.request.seed or 0
    rounds = Rounds(min(_FIRST_ROUND, len(whole.table) / _ROW_TYPES_PER_SECOND), _LONGER_ROUND)
    while not rounds.are_stale and cost - raised.found.bound > goal * cost and not clock.is_over():
        seconds = rounds.seconds(clock)
        try:
            solution = refine(
                table, graph, solution, whole.request.k, clock, prices=raised.found.prices, seconds=seconds,
                seed=seed, anew=seconds == rounds.wanted,
            )  # fmt: skip
        except (SolverError, MemoryError):
            break  # what was found until then is valid
        before, cost = cost, float((graph.all_costs[solution.vector] * solution.rows).sum())
        rounds.note(seconds, before, cost)
        seed += 1
        if clock.left() is None:
            break  # without a limit one round is what users of the default wait for
    parts = whole.divided(solution)
    class_of = np.unique(solution.vector, return_inverse=True)[1].astype(np.int64)
    better = Start(parts, class_of, f"{start.method}, annealed and refined")
    return better if better.cost < start.cost else start


def _named_by_instance(table: RowTypeTable, usual: float) -> RowTypeTable:
    columns = tuple(replace(column, weight=usual) for column in table.columns)
    parts = {one.name: getattr(table, one.name) for one in fields(table)}
    return _NamedByInstance(**{**parts, "columns": columns})


def _graph_around(task: RecodingTask, start: Start, collected: Collected) -> tuple[NodeVectors, Solution]:
    """Return the collected instances with those of a solution, and the solution in their numbers."""
    pool, own = collected.pool(), _instances_of(task, start)
    everybody = np.arange(len(task.table), dtype=np.int64)
    lengths = np.concatenate([np.diff(pool.begin), own.lengths, [everybody.size]])
    member = np.concatenate([pool.member.astype(np.int64), own.member, everybody])
    top = float(task.table.weights.sum())
    costs = np.concatenate([np.minimum(pool.cost / PRICE_UNIT, top), own.cost, [top]])
    order = np.argsort(costs, kind="stable")
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.arange(order.size)
    pairs = np.sort(np.repeat(number, lengths) * everybody.size + member)
    member = (pairs % everybody.size).astype(np.int32)
    begin = np.zeros(order.size + 1, dtype=np.int64)
    np.cumsum(lengths[order], out=begin[1:])
    people = np.add.reduceat(task.table.people[member], begin[:-1])
    graph = NodeVectors(np.arange(order.size), costs[order], people, begin, member, costs[order])
    of_class = number[pool.cost.size : -1]
    return graph, Solution.of_parts(everybody, of_class[start.class_of], task.table.rows)


@dataclass(frozen=True)
class _Own:
    """Instances of the classes of a solution, in their order: cost of a row, members one after the other."""

    cost: NDArray[np.float64]
    lengths: NDArray[np.int64]
    member: NDArray[np.int64]


def _instances_of(task: RecodingTask, start: Start) -> _Own:
    level = levels_of_classes(task.forest, task.codes, start.class_of)
    _, anyone = np.unique(start.class_of, return_index=True)
    vectors, of_vector = np.unique(vectors_of_levels(task.fields, level), return_inverse=True)
    found: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * anyone.size
    classes = np.argsort(of_vector, kind="stable")
    begin = np.searchsorted(of_vector[classes], np.arange(vectors.size + 1))
    for turn, levels in enumerate(levels_of_vectors(task.fields, vectors)):
        keys = _shown(task.forest, task.codes, levels)
        order = np.argsort(keys, kind="stable")
        mine = classes[begin[turn] : begin[turn + 1]]
        shown = keys[anyone[mine]]
        first = np.searchsorted(keys, shown, side="left", sorter=order)
        last = np.searchsorted(keys, shown, side="right", sorter=order)
        for number, one, end in zip(mine.tolist(), first.tolist(), last.tolist(), strict=True):
            found[number] = order[one:end]
        task.clock.heartbeat()
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
