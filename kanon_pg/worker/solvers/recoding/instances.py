"""The graph of row types and node vectors that recodings are searched in.

The methods of suppression search a graph of row types and instances, and what an instance is does not
matter to them. Here it is a node vector with the row types below it: one that the search of prices
collected, or that of a class of some solution. It is named by its number in place of a pattern vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable, mix
from kanon_pg.worker.solvers.bounds.prices import Collected
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.exact.network import slices
from kanon_pg.worker.solvers.recoding.forest import (
    Forest,
    levels_of_classes,
    levels_of_vectors,
    row_costs,
    vectors_of_levels,
)
from kanon_pg.worker.solvers.recoding.starts import Start
from kanon_pg.worker.solvers.recoding.task import RecodingTask
from kanon_pg.worker.verification.certificate import PRICE_UNIT

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class NodeVectors(Compatibility):
    """A graph whose vectors are the numbers of its instances, and what these cost."""

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


def named_by_instance(table: RowTypeTable, usual: float) -> RowTypeTable:
    """Return a table as the search of such a graph needs it.

    Parameters
    ----------
    usual : float
        A usual difference of costs.
    """
    columns = tuple(replace(column, weight=usual) for column in table.columns)
    parts = {one.name: getattr(table, one.name) for one in fields(table)}
    return _NamedByInstance(**{**parts, "columns": columns})


@dataclass(frozen=True)
class Instances:
    """Some instances."""

    cost: NDArray[np.float64]
    """Shape (q,). Cost of a row in each of them."""
    lengths: Numbers
    """Shape (q,). How many row types each has."""
    member: Numbers
    """Shape (e,). Their row types, one instance after the other."""


def instances_collected(whole: RecodingTask, collected: Collected) -> Instances:
    """Return the groups that the search of prices collected."""
    pool = collected.pool()
    cost = np.minimum(pool.cost / PRICE_UNIT, _cost_of_everything(whole))
    return Instances(cost, np.diff(pool.begin), pool.member.astype(np.int64))


def instances_of(whole: RecodingTask, start: Start) -> Instances:
    """Return the instances of the classes of a solution, in their order.

    Parameters
    ----------
    whole : RecodingTask
        Its row types are the members.
    start : Start
        Classes of the row types of `whole`, or of parts of them.
    """
    task = start.task
    level = levels_of_classes(task.forest, task.codes, start.class_of)
    _, anyone = np.unique(start.class_of, return_index=True)
    one_of = task.order[anyone]
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
    return Instances(cost, np.array([one.size for one in found]), np.concatenate(found).astype(np.int64))


@kernel
def _shown(forest: Forest, codes: NDArray[np.int32], level: NDArray[np.int16]) -> NDArray[np.uint64]:
    """Return a key of what each row type shows at a level vector."""
    keys = np.zeros(codes.shape[0], dtype=np.uint64)
    for item in range(keys.size):
        for column in range(level.size):
            place = forest.begin[column] + level[column] * forest.values[column]
            keys[item] += forest.keys[place + codes[item, column]]
    return keys


def graph_of(whole: RecodingTask, groups: Sequence[Instances]) -> tuple[NodeVectors, list[Numbers]]:
    """Return the graph of some instances and of everybody, and which instance of it each given one is.

    Of instances with the same members the cheapest is kept.

    Parameters
    ----------
    groups : sequence of Instances
        Of the row types of `whole`.
    """
    everybody = np.arange(len(whole.table), dtype=np.int64)
    cost = np.concatenate([*(group.cost for group in groups), [_cost_of_everything(whole)]])
    lengths = np.concatenate([*(group.lengths for group in groups), [everybody.size]])
    member = np.concatenate([*(group.member for group in groups), everybody])
    instance = np.repeat(np.arange(cost.size), lengths)
    pairs = np.sort(instance * everybody.size + member)
    member = pairs % everybody.size
    stays_as = _cheapest_equal(cost, lengths, member)
    kept = np.flatnonzero(stays_as == np.arange(cost.size))
    kept = kept[np.argsort(cost[kept], kind="stable")]
    number = np.empty(cost.size, dtype=np.int64)
    number[kept] = np.arange(kept.size)
    before = np.concatenate([[0], np.cumsum(lengths)])
    begin = np.concatenate([[0], np.cumsum(lengths[kept])])
    member = member[slices(before, kept)].astype(np.int32)
    people = np.add.reduceat(whole.table.people[member], begin[:-1])
    graph = NodeVectors(np.arange(kept.size), cost[kept], people, begin, member, cost[kept])
    ends = np.cumsum([0, *(group.cost.size for group in groups)])
    return graph, [number[stays_as[first:end]] for first, end in pairwise(ends)]


def _cheapest_equal(cost: NDArray[np.float64], lengths: Numbers, member: Numbers) -> Numbers:
    """Return for each instance the cheapest one with the same members; the last one is kept as it is.

    Parameters
    ----------
    member : ndarray of int64, shape (e,)
        Ascending within each instance.
    """
    begin = np.concatenate([[0], np.cumsum(lengths)])
    marks = mix(np.arange(1, int(lengths[-1]) + 1, dtype=np.uint64))
    sign = np.add.reduceat(marks[member], begin[:-1])
    order = np.lexsort((cost[:-1], sign[:-1]))
    is_first = np.concatenate([[True], sign[order][1:] != sign[order][:-1]])
    equal = np.arange(cost.size)
    equal[order] = order[np.flatnonzero(is_first)[np.cumsum(is_first) - 1]]
    moved = np.flatnonzero(equal != np.arange(cost.size))
    moved = moved[lengths[moved] == lengths[equal[moved]]]
    differs = member[slices(begin, moved)] != member[slices(begin, equal[moved])]
    is_other = np.bincount(np.repeat(np.arange(moved.size), lengths[moved]), differs, moved.size) > 0
    stays_as = np.arange(cost.size)
    stays_as[moved[~is_other]] = equal[moved[~is_other]]
    return stays_as


def _cost_of_everything(whole: RecodingTask) -> float:
    return float(whole.table.weights.sum())
