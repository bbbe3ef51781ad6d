"""Local search after the greedy heuristic: moves that lower the cost and keep every class large enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.classes import weighted_cost
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.order import few_changes
from kanon_pg.worker.solvers.local_search.elsewhere import count_stuck, find_elsewhere, open_classes, relocate
from kanon_pg.worker.solvers.local_search.partition import members_of, partition_of
from kanon_pg.worker.solvers.local_search.sweep import Sweep, sweep_of, sweep_range

EFFORT = 110_000_000
"""Row types that may be looked at in all: about 0.3 s when they fit into the cache."""

EFFORT_PER_ROW_TYPE = 4_000
"""How many times each row type may be looked at on average; the lower of the two limits holds."""

_WORK_PER_STEP = 10_000_000
_SHARE_FOR_ELSEWHERE = 4
_WORTH_A_SWEEP = 0.0005


def improve(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    assigned: NDArray[np.int64],
    reach: NDArray[np.float64],
    k: int,
    clock: Clock,
    effort: int | None = None,
) -> NDArray[np.int64]:
    """Lower the weighted cost of an assignment by local moves.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors.
    assigned : ndarray of int64, shape (n,)
        Every class has at least k people.
    reach : ndarray of float64, shape (n,)
        No class of lower cost with k people can hold the row type (see `cheapest_reach`).
    clock : Clock
        Ends the search when time is over.
    effort : int
        Row types that may be looked at; None for the usual limit. Effort is counted instead of time,
        so that the same input gives the same result.

    Returns
    -------
    ndarray of int64, shape (n,)
        An assignment of at most the same weighted cost whose classes have at least k people.

    Notes
    -----
    Sweeps over the vectors, cheapest first, until a sweep gains less than half a per mille, or effort
    or time is used up. One sweep is O(p n) plus the size of the classes that it looks into closely.
    """
    vectors = few_changes(vectors, suppression_costs(vectors, table.weights))
    costs = suppression_costs(vectors, table.weights)
    if effort is None:
        effort = min(EFFORT, EFFORT_PER_ROW_TYPE * len(table))
    while effort > 0 and not clock.is_over():
        assigned, gained, effort = _sweep_once(table, vectors, costs, assigned, reach, k, clock, effort)
        if gained <= _WORTH_A_SWEEP * weighted_cost(table, assigned):
            break
    return assigned


def _sweep_once(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    costs: NDArray[np.float64],
    assigned: NDArray[np.int64],
    reach: NDArray[np.float64],
    k: int,
    clock: Clock,
    effort: int,
) -> tuple[NDArray[np.int64], float, int]:
    """Return the assignment after one sweep, its gain, and the effort that is left."""
    clock.report("improve", 0.0)
    # Dearest first; the sum of the hashes makes the order depend on content alone.
    order = np.lexsort(
        (table.hashes.sum(axis=0, dtype=np.uint64), -suppression_costs(assigned, table.weights))
    )
    clock.heartbeat()
    parts = partition_of(table, assigned, order)
    clock.heartbeat()
    sweep = sweep_of(parts, members_of(table, order), np.take(table.hashes, order, axis=1), reach[order])
    clock.heartbeat()
    effort -= _look_elsewhere(sweep, effort // _SHARE_FOR_ELSEWHERE, clock)
    gained = relocate(k, parts, sweep.members, sweep.elsewhere)
    count_stuck(sweep)
    turn = 0
    while turn < vectors.size and effort > 0 and not clock.is_over():
        clock.report("improve", turn / vectors.size)
        step = min(effort, _WORK_PER_STEP)
        turn, left, more = sweep_range(sweep, vectors, costs, turn, step, k)
        effort -= step - left
        gained += more
    improved = np.empty_like(assigned)
    improved[order] = parts.vector[parts.class_of]
    return improved, gained, effort


def _look_elsewhere(sweep: Sweep, effort: int, clock: Clock) -> int:
    """Look for other places of the row types; return how much effort it took."""
    offered = open_classes(sweep.parts)
    waiting = np.arange(sweep.keys.size, dtype=np.int32)
    turn, count, left = 0, waiting.size, effort
    while turn < offered.vectors.size and left > 0 and not clock.is_over():
        clock.report("improve", 0.0)
        step = min(left, _WORK_PER_STEP)
        turn, count, unused = find_elsewhere(sweep, offered, turn, step, waiting, count)
        left -= step - unused
    return effort - left
