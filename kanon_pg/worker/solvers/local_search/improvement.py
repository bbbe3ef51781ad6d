"""Local search after the greedy heuristic: moves that lower the cost and keep every class large enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.class_counts import ModelEvaluator
from kanon_pg.worker.patterns import few_changes, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.greedy.scan import update_keys
from kanon_pg.worker.solvers.local_search.moves import TOLERANCE
from kanon_pg.worker.solvers.local_search.partition import (
    NOBODY,
    Members,
    Partition,
    members_of,
    move,
    partition_of,
    recount_people,
)
from kanon_pg.worker.solvers.local_search.sweep import Sweep, sweep_of, sweep_range

EFFORT = 110_000_000
"""Row types that may be looked at in all: about 0.3 s when they fit into the cache."""

EFFORT_PER_ROW_TYPE = 4_000
"""How many times each row type may be looked at on average; the lower of the two limits holds."""

_MORE_UNDER_MODELS = 10
"""How many times these limits hold under privacy models."""

_WORK_PER_STEP = 10_000_000
"""Progress is reported, and the clock looked at, after so many."""

_PATIENCE = 5_000_000
"""Under privacy models, the clock is looked at after so much of their work (`ModelEvaluator.work`), too: some
hundredths of a second. A move that takes more is begun anew with twice as much, unless that would take longer
than time is left."""

_SHARE_FOR_ELSEWHERE = 4
"""One part in so many of the effort may go into other places of row types."""

_WORTH_A_SWEEP = 0.0005
"""A sweep that gains less than this share of the cost is the last."""


def improve(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    assigned: NDArray[np.int64],
    reach: NDArray[np.float64],
    k: int,
    clock: Clock,
    effort: int | None = None,
    models: ModelEvaluator | None = None,
) -> NDArray[np.int64]:
    """Lower the weighted cost of an assignment by local moves.

    Parameters
    ----------
    assigned : ndarray of int64, shape (n,)
        Every class has at least k people and satisfies the models.
    reach : ndarray of float64, shape (n,)
        No class of lower cost with k people can hold the row type (see `cheapest_reach`).
    effort : int
        Row types that may be looked at; None for the usual limit. Effort is counted instead of time,
        so that the same input gives the same result.
    models : ModelEvaluator, optional
        Privacy models. Row types that may then agree on all quasi-identifiers come in an order that depends
        on their content alone.

    Returns
    -------
    ndarray of int64, shape (n,)
        An assignment of at most the same weighted cost with the same properties.

    Notes
    -----
    Sweeps over the vectors, cheapest first, until a sweep gains less than half a per mille, or effort
    or time is used up. One sweep is O(p n) plus the size of the classes that it looks into closely.
    """
    vectors = few_changes(vectors, suppression_costs(vectors, table.weights))
    costs = suppression_costs(vectors, table.weights)
    if effort is None:
        effort = min(EFFORT, EFFORT_PER_ROW_TYPE * len(table))
        effort *= 1 if models is None else _MORE_UNDER_MODELS
    while effort > 0 and not clock.is_over():
        assigned, gained, effort = _sweep_once(
            table, vectors, costs, assigned, reach, k, models, clock, effort
        )
        if gained <= _WORTH_A_SWEEP * Solution.undivided(table, assigned).cost(table.weights):
            break
    return assigned


def _sweep_once(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    costs: NDArray[np.float64],
    assigned: NDArray[np.int64],
    reach: NDArray[np.float64],
    k: int,
    models: ModelEvaluator | None,
    clock: Clock,
    effort: int,
) -> tuple[NDArray[np.int64], float, int]:
    """Return the assignment after one sweep, its gain, and the effort that is left."""
    clock.report("improve", 0.0)
    # Costliest first; the sum of the hashes makes the order depend on content alone.
    order = np.lexsort(
        (table.hashes.sum(axis=0, dtype=np.uint64), -suppression_costs(assigned, table.weights))
    )
    clock.heartbeat()
    parts = partition_of(table, assigned, order)
    clock.heartbeat()
    members = members_of(table, order)
    models = None if models is None else _in_order(models, members, order)
    sweep = sweep_of(parts, members, np.take(table.hashes, order, axis=1), reach[order], models)
    clock.heartbeat()
    turn, gained = 0, 0.0
    if models is None:
        effort -= _look_elsewhere(sweep, effort // _SHARE_FOR_ELSEWHERE, clock)
        gained = _relocate(k, parts, sweep.members, sweep.elsewhere)
        _count_stuck(sweep)
    patience = _PATIENCE
    while turn < vectors.size and (effort > 0 or not sweep.is_between_vectors) and not clock.is_over():
        clock.report("improve", turn / vectors.size)
        step, seconds = min(effort, _WORK_PER_STEP), clock.left()
        turn, left, more = sweep_range(sweep, vectors, costs, turn, step, k, models, patience)
        effort -= step - left
        gained += more
        patience = _patience_after(sweep, patience, seconds, clock)
    improved = np.empty_like(assigned)
    improved[order] = parts.vector[parts.class_of]
    return improved, gained, effort


def _patience_after(sweep: Sweep, patience: int, seconds: float | None, clock: Clock) -> int:
    """Return the patience of the next step; pass a move over for which there is no time.

    Parameters
    ----------
    patience : int
        That of the last step.
    seconds : float, optional
        Time that was left when it began.
    """
    if not sweep.was_given_up:
        return _PATIENCE
    left = clock.left()
    if left is not None and seconds is not None and 2.0 * (seconds - left) > left:
        clock.cut()
        sweep.pass_over()
        return _PATIENCE
    return 2 * patience


def _in_order(models: ModelEvaluator, members: Members, order: NDArray[np.intp]) -> ModelEvaluator:
    """Return the evaluator for row types in another order."""
    return models._replace(
        codes=np.ascontiguousarray(models.codes[:, order]), rows=members.rows, own=members.own,
        shared_start=members.start, shared_people=members.shared,
    )  # fmt: skip


def _look_elsewhere(sweep: Sweep, effort: int, clock: Clock) -> int:
    """Look for other places of the row types; return how much effort it took.

    Under privacy models a class that is open need not stay one with another row type in it.
    """
    offered = _open_classes(sweep.parts)
    waiting = np.arange(sweep.keys.size, dtype=np.int32)
    turn, count, left = 0, waiting.size, effort
    while turn < offered.vectors.size and left > 0 and not clock.is_over():
        clock.report("improve", 0.0)
        step = min(left, _WORK_PER_STEP)
        turn, count, unused = _find_elsewhere(sweep, offered, turn, step, waiting, count)
        left -= step - unused
    return effort - left


class _OpenClasses(NamedTuple):
    """The open classes by vector: those of ``vectors[i]`` are ``classes[first[i]:first[i + 1]]``."""

    vectors: NDArray[np.int64]
    first: NDArray[np.int64]
    classes: NDArray[np.int32]


def _open_classes(parts: Partition) -> _OpenClasses:
    """List the open classes by vector, cheapest vectors first."""
    numbers = np.flatnonzero(parts.size > 0)
    order = np.lexsort((numbers, parts.vector[numbers], parts.cost[numbers]))
    numbers = numbers[order]
    vectors = parts.vector[numbers]
    begins = np.flatnonzero(np.concatenate([[True], vectors[1:] != vectors[:-1]]))
    first = np.concatenate([begins, [numbers.size]]).astype(np.int64)
    return _OpenClasses(vectors[begins], first, numbers.astype(np.int32))


@kernel
def _enter_classes(sweep: Sweep, classes: NDArray[np.int32]) -> np.uint64:
    """Fill the hash table with the keys of some classes; return the mask of its places."""
    table_keys, table_groups = sweep.grouping.table_keys, sweep.grouping.table_groups
    keys, head = sweep.keys, sweep.parts.head
    size = 16
    while size < 2 * classes.size:
        size *= 2
    mask = np.uint64(size - 1)
    table_groups[:size] = NOBODY
    for number in classes:
        key = keys[head[number]]
        place = np.int64(key & mask)
        while table_groups[place] != NOBODY:
            place = np.int64((np.uint64(place) + np.uint64(1)) & mask)
        table_keys[place] = key
        table_groups[place] = number
    return mask


@kernel
def _find_elsewhere(
    sweep: Sweep, offered: _OpenClasses, begin: int, work: int, waiting: NDArray[np.int32], count: int
) -> tuple[int, int, int]:
    """Find for each waiting row type the cheapest open class, other than its own, that it fits into.

    Returns
    -------
    turn : int
        Where to go on.
    count : int
        How many row types wait on; they come first in `waiting`.
    work : int
        What is left of the work; row types looked at.
    """
    table_keys, table_groups = sweep.grouping.table_keys, sweep.grouping.table_groups
    keys, class_of, elsewhere = sweep.keys, sweep.parts.class_of, sweep.elsewhere
    parts_cost = sweep.parts.cost
    turn = begin
    while turn < offered.vectors.size and work > 0 and count > 0:
        update_keys(keys, sweep.hashes, keys.size, sweep.state[0], offered.vectors[turn])
        sweep.state[0] = offered.vectors[turn]
        mask = _enter_classes(sweep, offered.classes[offered.first[turn] : offered.first[turn + 1]])
        cost = parts_cost[offered.classes[offered.first[turn]]]
        kept = 0
        for position in range(count):
            item = waiting[position]
            if sweep.reach[item] > cost + TOLERANCE:
                waiting[kept] = item
                kept += 1
                continue
            place = np.int64(keys[item] & mask)
            while table_groups[place] != NOBODY and table_keys[place] != keys[item]:
                place = np.int64((np.uint64(place) + np.uint64(1)) & mask)
            number = table_groups[place]
            if number != NOBODY and number != class_of[item]:
                elsewhere[item] = number
            else:
                waiting[kept] = item
                kept += 1
        work -= keys.size + count
        count = kept
        turn += 1
    return (turn if count > 0 else offered.vectors.size), count, work


@kernel
def _count_stuck(sweep: Sweep) -> None:
    """Count the row types of each class that fit into no other open class."""
    for item in range(sweep.elsewhere.size):
        if sweep.elsewhere[item] == NOBODY:
            sweep.stuck[sweep.parts.class_of[item]] += 1


@kernel
def _dissolving_cost(number: int, parts: Partition, members: Members, elsewhere: NDArray[np.int32]) -> float:
    """Return by how much the cost rises if all row types of a class go elsewhere."""
    cost = 0.0
    item = parts.head[number]
    while item != NOBODY:
        other = elsewhere[item]
        if other in (NOBODY, number) or parts.size[other] == 0:
            return np.inf
        cost += members.rows[item] * (parts.cost[other] - parts.cost[number])
        item = parts.following[item]
    return cost


@kernel
def _relocate(k: int, parts: Partition, members: Members, elsewhere: NDArray[np.int32]) -> float:
    """Move row types to cheaper open classes, whole classes or what a class can spare; return the gain."""
    gained = 0.0
    for number in range(parts.used[0]):
        if parts.size[number] == 0:
            continue
        dissolves = _dissolving_cost(number, parts, members, elsewhere) < -TOLERANCE
        item = parts.head[number]
        while item != NOBODY:
            after = parts.following[item]
            other = elsewhere[item]
            if other not in (NOBODY, number) and parts.size[other] > 0:
                gain = members.rows[item] * (parts.cost[number] - parts.cost[other])
                spare = parts.people[number] - k >= members.people[item]
                if dissolves or (gain > TOLERANCE and spare):
                    move(parts, members, item, other)
                    recount_people(parts, members, other)
                    recount_people(parts, members, number)
                    gained += gain
            item = after
    return gained
