"""A lower bound that needs no search: nobody can do better than in the whole table's classes.

Every class of a solution agrees at some level vector, suppression being a hierarchy of height 1, so it lies
within a group of the whole table that agrees there. A group in which no class can exist at all, whatever is
left out, is of no use to its row types. Vectors come in the order of what they cost at least: a row type that
no vector so far allowed costs at least as much as the next one, so that those that an effort allows still say
something about all row types.
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
)
from kanon_pg.worker.solvers.recoding.forest import (
    MOST_VECTORS,
    Forest,
    all_levels,
    keys_at,
    levels_of_bits,
    move_keys,
    number_of_vectors,
    suppression_forest,
)

BY_REACH = "cheapest pattern within reach of each row type"
BY_REACH_OF_LEVELS = "cheapest levels within reach of each row type"
BY_FIRST_STEPS = "first step that each row type of too few people has to take"

EFFORT = 20_000_000
"""Row types that may be looked at; twice as many under privacy models."""

WHEN_LATE = 10_000_000
"""The same once time is over."""

EFFORT_FOR_LEVELS = 60_000_000
"""The same with hierarchies, which have more vectors: enough for all 6,480 of Adult with 8 columns."""

_WORK_PER_STEP = 10_000_000

_ROUNDING = 1e-9
"""What sums of losses may be wrong by, as a share."""

_EQUAL = 2 * _ROUNDING
"""Costs that are above what a vector costs at least by no more than this share are held for that."""


class _Reach(NamedTuple):
    """Working arrays: `cost` is the least cost of a row known so far, `waiting` lists what may cost less.

    `keys` are those of all row types at `level`, `all_types` lists all row types, and `state` holds how many
    wait.
    """

    codes: NDArray[np.int32]
    keys: NDArray[np.uint64]
    people: NDArray[np.int64]
    key_filter: KeyFilter
    grouping: GroupingBuffers
    all_types: NDArray[np.int32]
    cost: NDArray[np.float64]
    waiting: NDArray[np.int32]
    level: NDArray[np.int16]
    state: NDArray[np.int64]


class Vectors(NamedTuple):
    """Level vectors in the order of what a row costs there at least."""

    levels: NDArray[np.int16]
    """Shape (p, m)."""
    least: NDArray[np.float64]
    """Shape (p,). What the cheapest nodes cost there."""
    is_even: NDArray[np.bool_]
    """Shape (p,). Whether every row costs that, as under suppression."""


@kernel
def _settle(reach: _Reach, least: float) -> None:
    """Drop the row types that cost no more than all that is to come."""
    kept = 0
    for position in range(reach.state[0]):
        item = reach.waiting[position]
        reach.waiting[kept] = item
        kept += int(reach.cost[item] > least)
    reach.state[0] = kept


@kernel
def _may_hold(
    reach: _Reach, found: int, groups: int, least: float, k: int, models: ModelEvaluator | None
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
        # Models take long to ask: not where nobody can gain by the answer.
        if holds[group] and (reach.cost[items] > least).any():
            holds[group] = may_hold_class(models, items, sizes[group], k)
    return holds


@kernel
def _lower_costs(
    reach: _Reach, forest: Forest, found: int, holds: NDArray[np.bool_], least: float, is_even: bool
) -> None:
    """Note what the candidates cost whose group can hold a class."""
    candidates, group_of = reach.grouping.candidates, reach.grouping.group_of
    for position in range(found):
        item = candidates[position]
        if not holds[group_of[position]] or reach.cost[item] <= least:
            continue
        cost = least
        if not is_even:
            cost = 0.0
            for column in range(reach.level.size):
                place = forest.begin[column] + reach.level[column] * forest.values[column]
                cost += forest.loss[place + reach.codes[column, item]]
            if cost <= least * (1.0 + _EQUAL):
                cost = least
        reach.cost[item] = min(reach.cost[item], cost)


@kernel
def _reach_range(
    reach: _Reach,
    forest: Forest,
    vectors: Vectors,
    begin: int,
    work: int,
    k: int,
    models: ModelEvaluator | None,
) -> int:
    """Look at vectors from `begin` on until nothing waits or the work is done; return the next."""
    turn, count = begin, vectors.least.size
    while turn < count and work > 0:
        least = vectors.least[turn]
        _settle(reach, least)
        if reach.state[0] == 0:
            return count
        work -= reach.keys.size
        move_keys(forest, reach.codes, reach.keys, reach.keys.size, reach.level, vectors.levels[turn])
        # Only groups of those who wait are made: the filter leaves out what agrees with none of them.
        found = filter_around(
            reach.keys, reach.people, k, reach.key_filter, reach.waiting[: reach.state[0]], reach.all_types,
            reach.grouping.candidates,
        )  # fmt: skip
        groups = group_candidates(reach.keys, found, reach.grouping)
        holds = _may_hold(reach, found, groups, least, k, models)
        _lower_costs(reach, forest, found, holds, least, vectors.is_even[turn])
        turn += 1
    return turn


def _reached(
    forest: Forest,
    table: RowTypeTable,
    vectors: Vectors,
    k: int,
    known: NDArray[np.float64],
    clock: Clock,
    effort: int,
    models: ModelEvaluator | None,
) -> NDArray[np.float64]:
    """Return for each row type a cost per row that no solution can go below; at most `known`."""
    count = len(table)
    codes = np.ascontiguousarray(table.codes)
    reach = _Reach(
        codes, keys_at(forest, codes, forest.lowest), table.people, key_filter_for(count),
        grouping_for(count), np.arange(count, dtype=np.int32), known,
        np.arange(count, dtype=np.int32), forest.lowest.astype(np.int16), np.array([count], dtype=np.int64),
    )  # fmt: skip
    turn = 0
    while turn < vectors.least.size and effort > 0 and not clock.is_over():
        clock.report("bound", turn / vectors.least.size)
        step = min(effort, _WORK_PER_STEP)
        turn = _reach_range(reach, forest, vectors, turn, step, k, models)
        effort -= step
    if turn < vectors.least.size:
        to_come = vectors.least[turn]
    else:
        to_come = vectors.least[-1] if np.isinf(reach.cost).any() else np.inf
    bound: NDArray[np.float64] = np.minimum(reach.cost, to_come)
    return bound


def cheapest_reach(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    clock: Clock,
    effort: int | None = None,
    models: ModelEvaluator | None = None,
) -> NDArray[np.float64]:
    """Return for each row type a cost per row that no solution by suppression can go below.

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
    in_order = Vectors(levels_of_bits(vectors, table.width), costs, np.ones(costs.size, dtype=np.bool_))
    unknown = np.full(len(table), np.inf)
    return _reached(suppression_forest(table), table, in_order, k, unknown, clock, effort, models)


def cheapest_levels(
    forest: Forest,
    table: RowTypeTable,
    k: int,
    known: NDArray[np.float64],
    clock: Clock,
    effort: int = EFFORT_FOR_LEVELS,
    models: ModelEvaluator | None = None,
) -> tuple[NDArray[np.float64], str]:
    """Return for each row type a cost per row that no recoding can go below, and what proves it.

    Parameters
    ----------
    known : ndarray of float64, shape (n,)
        Cost of a row of each row type in some solution; only what is cheaper is looked for.

    Returns
    -------
    reach : ndarray of float64, shape (n,)
        At most `known`.
    name : str

    Notes
    -----
    A vector is taken to cost what its cheapest nodes do. O(e m) for effort e; with more than `MOST_VECTORS`
    vectors only the first steps are looked at, see `_cheapest_first_steps`.
    """
    # Whatever the time, and however many level vectors: above 0 unless nothing need be published at a loss.
    first = np.minimum(_cheapest_first_steps(forest, table, k), known)
    if number_of_vectors(forest) > MOST_VECTORS:
        return first, BY_FIRST_STEPS
    reach = _reached(
        forest, table, _cheapest_first(forest), k, known.astype(np.float64), clock, effort, models
    )
    name = BY_FIRST_STEPS if (reach <= first).all() else BY_REACH_OF_LEVELS
    return np.maximum(reach, first), name


def _cheapest_first(forest: Forest) -> Vectors:
    levels = all_levels(forest)
    least, is_even = np.zeros(levels.shape[0]), np.ones(levels.shape[0], dtype=np.bool_)
    for column in range(levels.shape[1]):
        begin, count = int(forest.begin[column]), int(forest.values[column])
        losses = forest.loss[begin : begin + (int(forest.height[column]) + 1) * count].reshape(-1, count)
        cheapest = losses.min(axis=1)
        least += cheapest[levels[:, column]]
        is_even &= (losses.max(axis=1) == cheapest)[levels[:, column]]
    order = np.lexsort((*levels.T[::-1], np.round(least, 9)))
    # Rounding may have put a vector before a cheaper one.
    in_order: NDArray[np.float64] = np.minimum.accumulate(least[order][::-1])[::-1]
    return Vectors(levels[order], in_order * (1 - _ROUNDING), is_even[order])


def _cheapest_first_steps(forest: Forest, table: RowTypeTable, k: int) -> NDArray[np.float64]:
    """Return for each row type a cost per row that no solution can go below, in a moment.

    In each column by itself a cell has to rise to a node of k people. And a row type that is not alike k
    people at the lowest levels has to rise in some column at least so far that its node there has further
    values. The larger of the two costs bounds the cost of the row. O(n m h) for height h.
    """
    codes = np.ascontiguousarray(table.codes)
    _, into = np.unique(keys_at(forest, codes, forest.lowest), return_inverse=True)
    alike = np.bincount(into, weights=table.people)[into]
    alone, lowest = np.zeros(len(table)), np.zeros(len(table))
    step = np.full(len(table), np.inf)
    for column in range(table.width):
        begin, values = int(forest.begin[column]), int(forest.values[column])
        bottom, top = int(forest.lowest[column]), int(forest.height[column])
        whole = slice(begin, begin + (top + 1) * values)
        nodes, loss = forest.nodes[whole].reshape(-1, values), forest.loss[whole].reshape(-1, values)
        people = np.bincount(codes[column], weights=table.people, minlength=values)
        cheapest, wider = loss[top].copy(), np.full(values, np.inf)
        same = np.bincount(nodes[bottom])[nodes[bottom]]
        for level in range(top, bottom - 1, -1):
            node = nodes[level]
            is_enough = np.bincount(node, weights=people)[node] >= k
            cheapest[is_enough] = loss[level][is_enough]
            is_wider = np.bincount(node)[node] > same
            wider[is_wider] = loss[level][is_wider]
        code = codes[column]
        alone += cheapest[code]
        lowest += loss[bottom][code]
        step = np.minimum(step, (wider - loss[bottom])[code])
    is_rare = (alike < k) & np.isfinite(step)
    bound: NDArray[np.float64] = np.maximum(alone, np.where(is_rare, lowest + step, 0.0))
    return bound
