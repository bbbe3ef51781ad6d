"""A lower bound by level vectors in the order of what they cost at least, as many as an effort allows.

Where the walk of `kanon_pg.worker.solvers.recoding.groups` would not end, the vectors that were looked at
still say something about all row types: what no vector so far allowed costs at least as much as the next.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.scan import (
    GroupingBuffers,
    KeyFilter,
    filter_around,
    group_candidates,
    grouping_for,
    key_filter_for,
)
from kanon_pg.worker.solvers.recoding.forest import (
    MOST_VECTORS,
    Forest,
    all_levels,
    keys_at,
    move_keys,
    number_of_vectors,
)

BY_REACH_IN_ORDER = "cheapest levels within reach of each row type, as far as they were looked at"

EFFORT = 20_000_000
"""Row types that may be looked at, as for suppression alone."""

_WORK_PER_STEP = 5_000_000

_ROUNDING = 1e-9
"""What sums of losses may be wrong by, as a share."""


class LevelReach(NamedTuple):
    """Working arrays: `cost` is the least cost of a row known so far, `waiting` lists what may cost less.

    `keys` are those of all row types at `level`; `state` holds how many wait.
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


@kernel
def _settle(reach: LevelReach, least: float) -> None:
    """Drop the row types that cost no more than all that is to come."""
    kept = 0
    for position in range(reach.state[0]):
        item = reach.waiting[position]
        reach.waiting[kept] = item
        kept += int(reach.cost[item] > least)
    reach.state[0] = kept


@kernel
def _lower_costs(reach: LevelReach, forest: Forest, k: int, found: int, groups: int) -> None:
    """Note what the candidates cost whose group has enough people."""
    candidates, group_of = reach.grouping.candidates, reach.grouping.group_of
    people = np.zeros(groups, dtype=np.int64)
    for position in range(found):
        people[group_of[position]] += reach.people[candidates[position]]
    for position in range(found):
        if people[group_of[position]] < k:
            continue
        item = candidates[position]
        cost = 0.0
        for column in range(reach.level.size):
            place = forest.begin[column] + reach.level[column] * forest.values[column]
            cost += forest.loss[place + reach.codes[column, item]]
        reach.cost[item] = min(reach.cost[item], cost)


@kernel
def _reach_range(
    reach: LevelReach,
    forest: Forest,
    levels: NDArray[np.int16],
    least: NDArray[np.float64],
    begin: int,
    work: int,
    k: int,
) -> int:
    """Look at level vectors from `begin` on until nothing waits or the work is done; return the next."""
    turn = begin
    while turn < levels.shape[0] and work > 0:
        _settle(reach, least[turn])
        if reach.state[0] == 0:
            return int(levels.shape[0])
        work -= reach.keys.size
        move_keys(forest, reach.codes, reach.keys, reach.keys.size, reach.level, levels[turn])
        found = filter_around(
            reach.keys, reach.people, k, reach.key_filter, reach.waiting[: reach.state[0]], reach.all_types,
            reach.grouping.candidates,
        )  # fmt: skip
        groups = group_candidates(reach.keys, found, reach.grouping)
        _lower_costs(reach, forest, k, found, groups)
        turn += 1
    return turn


def cheapest_levels_in_order(
    forest: Forest,
    table: RowTypeTable,
    k: int,
    known: NDArray[np.float64],
    clock: Clock,
    effort: int = EFFORT,
) -> NDArray[np.float64] | None:
    """Return for each row type a cost per row that no solution can go below, None with too many vectors.

    Parameters
    ----------
    known : ndarray of float64, shape (n,)
        Cost of a row of each row type in some solution; only what is cheaper is looked for.
    effort : int
        Row types that may be looked at.

    Returns
    -------
    ndarray of float64, shape (n,)
        At most `known`.

    Notes
    -----
    A relaxation of `kanon_pg.worker.solvers.recoding.groups.cheapest_levels_within_reach`: a vector is taken
    to cost what its cheapest nodes do, and vectors come in this order. A row type that has found a cost above
    that of the next vector, or none, costs at least the latter. O(e m) for effort e.
    """
    if number_of_vectors(forest) > MOST_VECTORS:
        return None
    levels, least = _cheapest_first(forest)
    count = len(table)
    codes = np.ascontiguousarray(table.codes)
    reach = LevelReach(
        codes, keys_at(forest, codes, forest.lowest), table.people, key_filter_for(count),
        grouping_for(count), np.arange(count, dtype=np.int32), known.astype(np.float64),
        np.arange(count, dtype=np.int32), forest.lowest.astype(np.int16), np.array([count], dtype=np.int64),
    )  # fmt: skip
    turn = 0
    while turn < least.size and effort > 0 and not clock.is_over():
        clock.report("bound", turn / least.size)
        step = min(effort, _WORK_PER_STEP)
        turn = _reach_range(reach, forest, levels, least, turn, step, k)
        effort -= step
    to_come = least[turn] * (1 - _ROUNDING) if turn < least.size else np.inf
    bound: NDArray[np.float64] = np.minimum(reach.cost, to_come)
    return bound


def _cheapest_first(forest: Forest) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
    """Return all allowed level vectors by what their cheapest nodes cost, and that."""
    levels = all_levels(forest)
    least = np.zeros(levels.shape[0])
    for column in range(levels.shape[1]):
        begin, count = int(forest.begin[column]), int(forest.values[column])
        losses = forest.loss[begin : begin + (int(forest.height[column]) + 1) * count]
        least += losses.reshape(-1, count).min(axis=1)[levels[:, column]]
    order = np.lexsort((*levels.T[::-1], np.round(least, 9)))
    # Rounding may have put a vector before a cheaper one.
    in_order: NDArray[np.float64] = np.minimum.accumulate(least[order][::-1])[::-1]
    return levels[order], in_order
