"""Local search under privacy models, after the greedy heuristic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.classes import weighted_cost
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.kernels import ModelEvaluator
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.greedy.order import few_changes
from kanon_pg.worker.solvers.greedy.scan import (
    Grouping,
    Marks,
    filter_bits,
    filter_marked,
    group_candidates,
    grouping_for,
    list_groups,
    marks_for,
    update_keys,
)
from kanon_pg.worker.solvers.local_search.moves import TOLERANCE
from kanon_pg.worker.solvers.local_search.partition import Members, Partition, members_of, partition_of
from kanon_pg.worker.solvers.models.moves import Buffers, bench_for, try_class_with_models

EFFORT = 1_000_000_000
"""Row types that may be looked at in all: up to seven seconds."""

EFFORT_PER_ROW_TYPE = 40_000
"""How many times each row type may be looked at on average; the lower of the two limits holds."""

_WORK_PER_STEP = 10_000_000
_WORK_PER_TRIED = 10
_WORK_PER_JUDGED = 4
_WORTH_A_SWEEP = 0.0005


class _Sweep(NamedTuple):
    """What a sweep over the pattern vectors works on; ``state[0]`` is the vector of `keys`."""

    parts: Partition
    members: Members
    evaluator: ModelEvaluator
    buffers: Buffers
    grouping: Grouping
    marks: Marks
    hashes: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    reach: NDArray[np.float64]
    everybody: NDArray[np.int32]
    state: NDArray[np.int64]


@kernel
def _promising(sweep: _Sweep, cost: float, k: int) -> int:
    """List the row types in groups that may reach k people and somebody would gain from."""
    keys, marked = sweep.keys, sweep.marks.marked
    bits = filter_bits(keys.size)
    shift = np.uint64(64 - bits)
    marked[: 1 << bits] = 0
    gainers = 0
    for item in range(keys.size):
        if sweep.parts.item_cost[item] > cost + TOLERANCE and sweep.reach[item] <= cost + TOLERANCE:
            marked[np.int64(keys[item] >> shift)] = 1
            gainers += 1
    if gainers == 0:
        return 0
    candidates = sweep.grouping.candidates
    return filter_marked(keys, sweep.members.people, k, sweep.marks, bits, sweep.everybody, candidates)


@kernel
def _sweep_range(
    sweep: _Sweep, vectors: NDArray[np.int64], costs: NDArray[np.float64], begin: int, work: int, k: int
) -> tuple[int, int, float]:
    """Try the vectors from `begin` on until the work is done; return where to go on, work left, gain."""
    parts, grouping = sweep.parts, sweep.grouping
    turn = begin
    gained = 0.0
    while turn < vectors.size and work > 0:
        vector, cost = vectors[turn], costs[turn]
        turn += 1
        update_keys(sweep.keys, sweep.hashes, sweep.keys.size, sweep.state[0], vector)
        sweep.state[0] = vector
        work -= sweep.keys.size
        found = _promising(sweep, cost, k)
        if found == 0:
            continue
        groups = group_candidates(sweep.keys, found, grouping)
        if parts.used[0] + groups > parts.vector.size:
            return vectors.size, work, gained
        first = list_groups(grouping, found, groups)
        for group in range(groups):
            items = grouping.members[first[group] : first[group + 1]]
            most = 0.0
            for item in items:
                most = max(most, parts.item_cost[item])
            if items.size > 1 and most > cost + TOLERANCE:
                before = sweep.buffers.judged[0]
                gained += try_class_with_models(
                    items, vector, cost, k, parts, sweep.members, sweep.evaluator, sweep.buffers
                )
                judged = sweep.buffers.judged[0] - before
                work -= _WORK_PER_TRIED * items.size + _WORK_PER_JUDGED * judged
    return turn, work, gained


def improve_with_models(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    assigned: NDArray[np.int64],
    reach: NDArray[np.float64],
    k: int,
    evaluator: ModelEvaluator,
    clock: Clock,
    effort: int | None = None,
) -> NDArray[np.int64]:
    """Lower the weighted cost of an assignment by moves after which all classes satisfy everything.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors.
    assigned : ndarray of int64, shape (n,)
        Every class has at least k people and satisfies the models.
    reach : ndarray of float64, shape (n,)
        No class of lower cost with k people can hold the row type (see `cheapest_reach`).
    evaluator : ModelEvaluator
        The privacy models.
    clock : Clock
        Ends the search when time is over.
    effort : int, optional
        Row types that may be looked at. Effort is counted instead of time, so that the same input gives
        the same result.

    Returns
    -------
    ndarray of int64, shape (n,)
        An assignment of at most the same weighted cost with the same properties.

    Notes
    -----
    Sweeps over the vectors, cheapest first, until a sweep gains less than half a per mille, or effort or
    time is used up. One sweep is O(p n) plus, for each group tried, the classes of its row types.
    """
    vectors = few_changes(vectors, suppression_costs(vectors, table.weights))
    costs = suppression_costs(vectors, table.weights)
    if effort is None:
        effort = min(EFFORT, EFFORT_PER_ROW_TYPE * len(table))
    while effort > 0 and not clock.is_over():
        clock.report("improve", 0.0)
        sweep = _sweep_of(table, assigned, reach, k, evaluator)
        turn, gained = 0, 0.0
        while turn < vectors.size and effort > 0 and not clock.is_over():
            clock.report("improve", turn / vectors.size)
            step = min(effort, _WORK_PER_STEP)
            turn, left, more = _sweep_range(sweep, vectors, costs, turn, step, k)
            effort -= step - left
            gained += more
        assigned = sweep.parts.vector[sweep.parts.class_of]
        if gained <= _WORTH_A_SWEEP * weighted_cost(table, assigned):
            break
    return assigned


def _sweep_of(
    table: RowTypeTable,
    assigned: NDArray[np.int64],
    reach: NDArray[np.float64],
    k: int,
    evaluator: ModelEvaluator,
) -> _Sweep:
    count = len(table)
    everybody = np.arange(count)
    parts = partition_of(table, assigned, everybody)
    return _Sweep(
        parts, members_of(table, everybody), evaluator, bench_for(parts, evaluator, k), grouping_for(count),
        marks_for(count), table.hashes, table.hashes.sum(axis=0, dtype=np.uint64), reach,
        everybody.astype(np.int32), np.zeros(1, dtype=np.int64),
    )  # fmt: skip
