"""The fully suppressed class: row types join it until it has k people and satisfies the privacy models.

How far it is from that is measured in people or, under privacy models, in rows (what it *lacks*). Counts add
up, and entropy and distances are concave and convex in the shares, so a class that satisfies everything never
raises the lack when it joins; in the end the whole table has none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.classes import ClassTable, classes_of
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.class_counts import (
    ClassCounts,
    ModelEvaluator,
    count_own,
    counts_for,
    join,
    leave,
)
from kanon_pg.worker.models.evaluator import is_class, lack
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable

_EFFORT = 400_000_000
"""Values of sensitive columns that may be looked at for single row types: about half a second."""

_WORK_PER_STEP = 5_000_000
"""Under privacy models, the clock is looked at after so much of their work (`ModelEvaluator.work`)."""

_LEAST_LACK = 1e-6
"""What a class lacks at least that does not satisfy everything; people of several row types can hide it."""


def fill_rest(
    table: RowTypeTable,
    assigned: NDArray[np.int64],
    k: int,
    models: ModelEvaluator | None = None,
    clock: Clock | None = None,
) -> NDArray[np.int64]:
    """Suppress further row types fully until the fully suppressed class satisfies everything or is empty.

    Row types leave a class only if it keeps at least k people and satisfies the models, or all of them leave.
    Cheapest first: single row types of classes that can spare them, or one whole class, whichever costs less.

    Parameters
    ----------
    table : RowTypeTable
        With at least k people in all.
    assigned : ndarray of int64, shape (n,)
        Every class but the fully suppressed one has at least k people and satisfies the models.
    clock : Clock, optional
        Reports progress. Under privacy models, once it is over, classes are suppressed as a whole, those that
        cost least per row, and in each round twice as many as before.

    Returns
    -------
    ndarray of int64, shape (n,)
        An assignment in which every class has at least k people and satisfies the models.

    Raises
    ------
    InfeasibleError
        Even the table as one class violates a model. That happens only if people do not add up; otherwise
        `kanon_pg.worker.models.evaluator.require_feasible` found out before.

    Notes
    -----
    A heuristic: the cheapest way is a knapsack problem. O(n log n) per round; with an entity the people
    who join are counted exactly after each round, otherwise there is one round. Under models O(n (d + c)) per
    round for d values and classes of c row types.
    """
    assigned = assigned.copy()
    full = (1 << table.width) - 1
    clock = Clock() if clock is None else clock
    rest = _Rest(table, k) if models is None else _RestUnderModels(table, k, models, clock.raising())
    at_once = 1
    while (missing := rest.missing(assigned == full)) > 0:
        clock.report("greedy", None)
        if (assigned == full).all():
            raise InfeasibleError(
                "No release was found: even the table with all cells suppressed violates a model.",
                hint="People with several rows count once per value; try a smaller l, or no entity.",
            )
        try:
            moves = _cheapest_moves(table, assigned, rest, missing)
        except TimeOver:
            at_once *= 2
            moves = _cheapest_classes(table, assigned, at_once)
        assigned[moves] = full
    return assigned


class _Rest:
    """What the fully suppressed class lacks of k people, and who can be spared for it."""

    least_gain = 1.0

    def __init__(self, table: RowTypeTable, k: int) -> None:
        self.table, self.k = table, k

    def missing(self, rest: NDArray[np.bool_]) -> float:
        """Return how much a class of some row types lacks, 0 if it is empty."""
        if not rest.any():
            return 0.0
        shared = self.table.shared_people[np.repeat(rest, np.diff(self.table.shared_start))]
        return self.k - int(self.table.own[rest].sum()) - np.unique(shared).size

    def class_gains(self, classes: ClassTable) -> NDArray[np.float64]:
        """Return by how much each class lessens the lack if it joins."""
        gains = np.bincount(classes.class_of, weights=self.table.own, minlength=len(classes))
        return gains.astype(np.float64)

    def candidates(
        self, classes: ClassTable, is_movable: NDArray[np.bool_], missing: float
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return row types that may join one by one, and by how much each lessens the lack."""
        table = self.table
        spare = (classes.people - self.k)[classes.class_of]
        candidates = np.flatnonzero(is_movable & (table.own > 0) & (table.people <= spare))
        return candidates, np.minimum(table.own[candidates], missing).astype(np.float64)

    def spared(
        self, candidates: NDArray[np.intp], classes: ClassTable, missing: float, costlier: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """Choose row types, in their order, that their classes can spare; empty if they do not suffice."""
        table, left, chosen = self.table, classes.people - self.k, []
        for item in candidates:
            if missing <= 0:
                break
            if table.people[item] <= left[classes.class_of[item]]:
                left[classes.class_of[item]] -= table.people[item]
                missing -= int(table.own[item])
                chosen.append(int(item))
        if missing > 0:
            return np.empty(0, dtype=np.intp)
        return _without_superfluous(np.array(chosen, dtype=np.intp), table.own, costlier, -missing)


def _without_superfluous(
    chosen: NDArray[np.intp], own: NDArray[np.int64], costlier: NDArray[np.float64], surplus: float
) -> NDArray[np.intp]:
    """Drop the costliest row types that are not needed after all."""
    keep = np.ones(chosen.size, dtype=np.bool_)
    for place in np.argsort(-costlier[chosen], kind="stable"):
        if own[chosen[place]] <= surplus:
            surplus -= int(own[chosen[place]])
            keep[place] = False
    return chosen[keep]


class _RestUnderModels(_Rest):
    """What the fully suppressed class lacks of k people and of every privacy model."""

    least_gain = _LEAST_LACK

    def __init__(self, table: RowTypeTable, k: int, models: ModelEvaluator, clock: Clock) -> None:
        super().__init__(table, k)
        self.models, self.clock = models, clock
        self.counts = counts_for(models.codes.shape[0], int(models.first[-1]))
        self.effort = _EFFORT // int(models.first[-1])

    def missing(self, rest: NDArray[np.bool_]) -> float:
        items = np.flatnonzero(rest).astype(np.int32)
        if not items.size or is_class(self.models, items, self.k):
            return 0.0
        count_own(self.models, self.counts, items)
        return max(_LEAST_LACK, lack(self.models, self.counts, self.k))

    def class_gains(self, classes: ClassTable) -> NDArray[np.float64]:
        gains, done = np.zeros(len(classes)), 0
        lists, missing = _class_lists(classes), lack(self.models, self.counts, self.k)
        while done < gains.size:
            self._look()
            done = _class_gains(
                self.models, self.counts, *lists, self.k, missing, gains, done, _WORK_PER_STEP
            )
        return gains

    def _look(self) -> None:
        """Report progress; raise `TimeOver` if time is over."""
        self.clock.report("greedy", None)

    def candidates(
        self, classes: ClassTable, is_movable: NDArray[np.bool_], missing: float
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        candidates = np.flatnonzero(is_movable) if self.effort > 0 else np.empty(0, dtype=np.intp)
        return candidates, self.table.rows[candidates].astype(np.float64)

    def spared(
        self, candidates: NDArray[np.intp], classes: ClassTable, missing: float, costlier: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        looked = candidates[: self.effort].astype(np.int32)
        self.effort -= looked.size
        lists = _ClassLists(classes.class_of, *_class_lists(classes))
        taken = np.zeros(classes.class_of.size, dtype=np.bool_)
        missing, done = lack(self.models, self.counts, self.k), 0
        while done < looked.size and missing > 0.0:
            self._look()
            done, missing = _take_spared(
                self.models, self.counts, looked, lists, self.k, missing, taken, done, _WORK_PER_STEP
            )
        if missing > 0.0:
            return np.empty(0, dtype=np.intp)
        chosen, done = np.flatnonzero(taken), 0
        chosen = chosen[np.argsort(-costlier[chosen], kind="stable")]
        while done < chosen.size:
            self._look()
            done = _give_back(self.models, self.counts, chosen, lists, self.k, taken, done, _WORK_PER_STEP)
        return chosen[taken[chosen]]


class _ClassLists(NamedTuple):
    """The class of each row type, the row types class by class, and where each class begins."""

    class_of: NDArray[np.int64]
    order: NDArray[np.int32]
    begin: NDArray[np.int64]


def _class_lists(classes: ClassTable) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the row types class by class, and where each class begins."""
    order = np.argsort(classes.class_of, kind="stable").astype(np.int32)
    begin = np.searchsorted(classes.class_of[order], np.arange(len(classes) + 1))
    return order, begin.astype(np.int64)


@kernel
def _class_gains(
    models: ModelEvaluator,
    counts: ClassCounts,
    order: NDArray[np.int32],
    begin: NDArray[np.int64],
    k: int,
    missing: float,
    gains: NDArray[np.float64],
    number: int,
    work: int,
) -> int:
    """Write by how much each class from one on lessens what the counted class lacks, until some work is done.

    Returns where to go on.
    """
    end = models.work[0] + work
    while number < gains.size and models.work[0] < end:
        members = order[begin[number] : begin[number + 1]]
        models.work[0] += members.size
        for item in members:
            join(models, counts, item)
        gains[number] = missing - lack(models, counts, k)
        for item in members:
            leave(models, counts, item)
        number += 1
    return number


@kernel
def _take_spared(
    models: ModelEvaluator,
    counts: ClassCounts,
    candidates: NDArray[np.int32],
    lists: _ClassLists,
    k: int,
    missing: float,
    taken: NDArray[np.bool_],
    place: int,
    work: int,
) -> tuple[int, float]:
    """Take row types in turn that lessen the lack and without which their class satisfies everything.

    Returns where to go on when some work is done, and what is missing then.
    """
    end = models.work[0] + work
    while place < candidates.size and missing > 0.0 and models.work[0] < end:
        item = candidates[place]
        place += 1
        join(models, counts, item)
        less = lack(models, counts, k)
        if less < missing:
            members = lists.order[lists.begin[lists.class_of[item]] : lists.begin[lists.class_of[item] + 1]]
            models.work[0] += members.size
            left = members[~taken[members] & (members != item)]
            if left.size > 0 and is_class(models, left, k):
                taken[item] = True
                missing = less
                continue
        leave(models, counts, item)
    return place, missing


@kernel
def _give_back(
    models: ModelEvaluator,
    counts: ClassCounts,
    chosen: NDArray[np.int64],
    lists: _ClassLists,
    k: int,
    taken: NDArray[np.bool_],
    place: int,
    work: int,
) -> int:
    """Let row types return that are not needed after all, where their class takes them back.

    Returns where to go on when some work is done.
    """
    end = models.work[0] + work
    while place < chosen.size and models.work[0] < end:
        item = chosen[place]
        place += 1
        leave(models, counts, item)
        taken[item] = False
        members = lists.order[lists.begin[lists.class_of[item]] : lists.begin[lists.class_of[item] + 1]]
        models.work[0] += members.size
        # A class can satisfy a model without two row types, and violate it without one of them.
        if lack(models, counts, k) > 0.0 or not is_class(models, members[~taken[members]], k):
            join(models, counts, item)
            taken[item] = True
    return place


def _cheapest_classes(table: RowTypeTable, assigned: NDArray[np.int64], most: int) -> NDArray[np.intp]:
    """Return the row types of the classes, `most` at most, whose suppression costs least per row."""
    full = (1 << table.width) - 1
    classes = classes_of(table, assigned)
    costlier = float(table.weights.sum()) - suppression_costs(classes.vectors, table.weights)
    costlier[classes.vectors == full] = np.inf
    chosen = np.argsort(costlier, kind="stable")[:most]
    return np.flatnonzero(np.isin(classes.class_of, chosen))


def _cheapest_moves(
    table: RowTypeTable, assigned: NDArray[np.int64], rest: _Rest, missing: float
) -> NDArray[np.intp]:
    """Return the row types to move: at least one, enough of them if that is certain."""
    full = (1 << table.width) - 1
    classes = classes_of(table, assigned)
    everything = float(table.weights.sum())
    costlier = (everything - suppression_costs(assigned, table.weights)) * table.rows
    class_cost = np.bincount(classes.class_of, weights=costlier, minlength=len(classes))
    class_cost[classes.vectors == full] = np.inf
    class_gain = rest.class_gains(classes)
    enough = np.flatnonzero((class_gain >= missing) & np.isfinite(class_cost))
    candidates, gain = rest.candidates(classes, assigned != full, missing)
    # The last tie is broken by content, not by position.
    content = table.hashes[:, candidates].sum(axis=0, dtype=np.uint64)
    order = np.lexsort((content, costlier[candidates], costlier[candidates] / gain))
    single = rest.spared(candidates[order], classes, missing, costlier)
    best = enough[np.argmin(class_cost[enough])] if enough.size else -1
    if single.size and (best < 0 or costlier[single].sum() <= class_cost[best]):
        return single
    if best < 0:
        best = int(np.argmin(class_cost / np.maximum(class_gain, rest.least_gain)))
    return np.flatnonzero(classes.class_of == best)
