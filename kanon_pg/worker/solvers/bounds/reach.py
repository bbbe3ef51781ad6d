"""A lower bound that needs no search: nobody can do better than in the whole table's classes.

Every class of a solution agrees under some vector, so it lies within a group of the whole table that agrees
under this vector. A group in which no class can exist at all, whatever is left out, is of no use to its
row types.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.class_counts import ModelEvaluator
from kanon_pg.worker.models.evaluator import may_hold_class
from kanon_pg.worker.patterns import few_changes, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.scan import (
    GroupingBuffers,
    KeyFilter,
    filter_around,
    group_candidates,
    grouping_for,
    key_filter_for,
    list_groups,
    update_keys,
)

BY_REACH = "cheapest pattern within reach of each row type"

EFFORT = 20_000_000
"""Row types that may be looked at; twice as many under privacy models."""

WHEN_LATE = 10_000_000
"""The same once time is over."""

_WORK_PER_STEP = 10_000_000


class PatternReach(NamedTuple):
    """Working arrays; `cost` is infinite while a row type waits, `waiting` lists those that do.

    `all_types` lists all row types; `state` holds the vector of `keys` and how many row types wait.
    """

    hashes: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    people: NDArray[np.int64]
    key_filter: KeyFilter
    grouping: GroupingBuffers
    all_types: NDArray[np.int32]
    cost: NDArray[np.float64]
    waiting: NDArray[np.int32]
    state: NDArray[np.int64]


@kernel
def _may_hold(
    reach: PatternReach, found: int, groups: int, k: int, models: ModelEvaluator | None
) -> NDArray[np.bool_]:
    """Return which groups of candidates a class can be part of."""
    candidates, group_of = reach.grouping.candidates, reach.grouping.group_of
    sizes = np.zeros(groups, dtype=np.int64)
    for position in range(found):
        sizes[group_of[position]] += reach.people[candidates[position]]
    holds = sizes >= k
    if models is None:
        return holds
    first = list_groups(reach.grouping, found, groups)
    for group in range(groups):
        items = reach.grouping.members[first[group] : first[group + 1]]
        if holds[group] and (reach.cost[items] == np.inf).any():
            holds[group] = may_hold_class(models, items, sizes[group], k)
    return holds


@kernel
def _reach_range(
    reach: PatternReach,
    vectors: NDArray[np.int64],
    costs: NDArray[np.float64],
    begin: int,
    work: int,
    k: int,
    models: ModelEvaluator | None,
) -> int:
    """Settle the row types whose group in the whole table may hold a class; return where to go on."""
    keys, waiting, people, reached = reach.keys, reach.waiting, reach.people, reach.cost
    candidates, group_of = reach.grouping.candidates, reach.grouping.group_of
    turn = begin
    while turn < vectors.size and work > 0 and reach.state[1] > 0:
        update_keys(keys, reach.hashes, keys.size, reach.state[0], vectors[turn])
        reach.state[0] = vectors[turn]
        work -= keys.size
        found = filter_around(
            keys, people, k, reach.key_filter, waiting[: reach.state[1]], reach.all_types, candidates
        )
        groups = group_candidates(keys, found, reach.grouping)
        holds = _may_hold(reach, found, groups, k, models)
        for position in range(found):
            item = candidates[position]
            if holds[group_of[position]] and reached[item] == np.inf:
                reached[item] = costs[turn]
        kept = 0
        for position in range(reach.state[1]):
            if reached[waiting[position]] == np.inf:
                waiting[kept] = waiting[position]
                kept += 1
        reach.state[1] = kept
        turn += 1
    return turn if reach.state[1] > 0 else vectors.size


def cheapest_reach(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    clock: Clock,
    effort: int | None = None,
    models: ModelEvaluator | None = None,
) -> NDArray[np.float64]:
    """Return for each row type a cost per row that no solution can go below.

    In every solution a row lies in a class of at least k people that agree with it on the columns that
    its vector keeps. All of them agree in the whole table too, so the cheapest vector under which at
    least k people of the whole table agree with the row costs no more. This holds whether or not the
    rows of one row type may be divided among classes.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors, the fully suppressed one among them.
    effort : int, optional
        Row types that may be looked at, None for the usual limit. Where effort or time end, the cost of the
        first vector that was not looked at is a bound for all row types that still wait: no cheaper one
        suffices for them.
    models : ModelEvaluator, optional
        Privacy models: row types of a group in which they allow no class wait on, see `may_hold_class`.

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    if effort is None:
        effort = EFFORT if models is None else 2 * EFFORT
    vectors = few_changes(vectors, suppression_costs(vectors, table.weights))
    costs = suppression_costs(vectors, table.weights)
    count = len(table)
    reach = PatternReach(
        table.hashes, table.hashes.sum(axis=0, dtype=np.uint64), table.people, key_filter_for(count),
        grouping_for(count), np.arange(count, dtype=np.int32), np.full(count, np.inf),
        np.arange(count, dtype=np.int32), np.array([0, count], dtype=np.int64),
    )  # fmt: skip
    turn = 0
    while turn < vectors.size and effort > 0 and not clock.is_over():
        clock.report("bound", turn / vectors.size)
        step = min(effort, _WORK_PER_STEP)
        turn = _reach_range(reach, vectors, costs, turn, step, k, models)
        effort -= step
    last = costs[min(turn, vectors.size - 1)]
    return np.where(np.isinf(reach.cost), last, reach.cost)
