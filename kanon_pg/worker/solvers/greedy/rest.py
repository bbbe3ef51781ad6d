"""The strict rule for the fully suppressed class: it has no people at all, or at least k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.classes import ClassTable, classes_of
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable


def fill_rest(table: RowTypeTable, assigned: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Move row types into a fully suppressed class of fewer than k people until it has k.

    Row types leave a class only if it keeps at least k people, or all of them leave. Cheapest first:
    single row types of classes with people to spare, or one whole class, whichever costs less.

    Parameters
    ----------
    table : RowTypeTable
        With at least k people in all.
    assigned : ndarray of int64, shape (n,)
        Every class but the fully suppressed one has at least k people.
    k : int

    Returns
    -------
    ndarray of int64, shape (n,)
        An assignment in which every class has at least k people.

    Notes
    -----
    A heuristic: the cheapest way is a knapsack problem. O(n log n) per round; with an entity the people
    who join are counted exactly after each round, otherwise there is one round.
    """
    assigned = assigned.copy()
    full = (1 << table.width) - 1
    while (missing := _missing(table, assigned == full, k)) > 0:
        classes = classes_of(table, assigned)
        assigned[_cheapest_moves(table, assigned, classes, k, missing)] = full
    return assigned


def _missing(table: RowTypeTable, rest: NDArray[np.bool_], k: int) -> int:
    """Return how many people a class of some row types lacks, 0 if it is empty."""
    if not rest.any():
        return 0
    shared = table.shared_people[np.repeat(rest, np.diff(table.shared_start))]
    return k - int(table.own[rest].sum()) - np.unique(shared).size


def _cheapest_moves(
    table: RowTypeTable, assigned: NDArray[np.int64], classes: ClassTable, k: int, missing: int
) -> NDArray[np.intp]:
    """Return the row types to move: at least one, enough of them if that is certain."""
    full = (1 << table.width) - 1
    everything = float(table.weights.sum())
    dearer = (everything - suppression_costs(assigned, table.weights)) * table.rows
    class_cost = np.bincount(classes.class_of, weights=dearer, minlength=len(classes))
    class_gain = np.bincount(classes.class_of, weights=table.own, minlength=len(classes))
    class_cost[classes.vectors == full] = np.inf
    enough = np.flatnonzero((class_gain >= missing) & np.isfinite(class_cost))
    single = _spare_row_types(table, classes, dearer, k, missing, assigned != full)
    best = enough[np.argmin(class_cost[enough])] if enough.size else -1
    if single.size and (best < 0 or dearer[single].sum() <= class_cost[best]):
        return single
    if best < 0:
        best = int(np.argmin(class_cost / np.maximum(class_gain, 1.0)))
    return np.flatnonzero(classes.class_of == best)


def _spare_row_types(
    table: RowTypeTable,
    classes: ClassTable,
    dearer: NDArray[np.float64],
    k: int,
    missing: int,
    movable: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Choose row types that their classes can spare; empty if they do not suffice."""
    spare = classes.people - k
    candidates = np.flatnonzero(movable & (table.own > 0) & (table.people <= spare[classes.class_of]))
    gain = np.minimum(table.own[candidates], missing)
    # The last tie is broken by content, not by position.
    content = table.hashes[:, candidates].sum(axis=0, dtype=np.uint64)
    order = np.lexsort((content, dearer[candidates], dearer[candidates] / gain))
    chosen: list[int] = []
    for item in candidates[order]:
        if missing <= 0:
            break
        if table.people[item] <= spare[classes.class_of[item]]:
            spare[classes.class_of[item]] -= table.people[item]
            missing -= int(table.own[item])
            chosen.append(int(item))
    if missing > 0:
        return np.empty(0, dtype=np.intp)
    return _without_superfluous(np.array(chosen, dtype=np.intp), table.own, dearer, -missing)


def _without_superfluous(
    chosen: NDArray[np.intp], own: NDArray[np.int64], dearer: NDArray[np.float64], surplus: int
) -> NDArray[np.intp]:
    """Drop the dearest row types that are not needed after all."""
    keep = np.ones(chosen.size, dtype=np.bool_)
    for place in np.argsort(-dearer[chosen], kind="stable"):
        if own[chosen[place]] <= surplus:
            surplus -= int(own[chosen[place]])
            keep[place] = False
    return chosen[keep]
