"""The fully suppressed class under privacy models: empty, or it has k people and satisfies them.

How far the class is from satisfying everything is measured in rows (its *lack*). Counts add up, and entropy
and distances are concave and convex in the shares, so a class that satisfies everything never raises the
lack when it joins; in the end the whole table has none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.classes import ClassTable, classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.kernels import ModelEvaluator, is_satisfied, people_of
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.models.lack import Rest, add_to_rest, lack_after, lack_with_class, rest_of

_EFFORT = 400_000_000
"""Values of sensitive columns that may be looked at for single row types: about half a second."""


def fill_rest_with_models(
    table: RowTypeTable, assigned: NDArray[np.int64], k: int, evaluator: ModelEvaluator, clock: Clock
) -> NDArray[np.int64]:
    """Suppress further row types fully until the fully suppressed class satisfies everything or is empty.

    Parameters
    ----------
    assigned : ndarray of int64, shape (n,)
        Every class but the fully suppressed one has at least k people and satisfies the models.
    clock : Clock
        Reports progress.

    Returns
    -------
    ndarray of int64, shape (n,)
        An assignment in which every class has at least k people and satisfies the models.

    Raises
    ------
    InfeasibleError
        Even the table as one class violates a model. That happens only if people do not add up; otherwise
        `kanon_pg.worker.solvers.models.feasible.require_feasible` found out before.

    Notes
    -----
    A heuristic. First single row types that their classes can spare, cheapest per row first, one pass of
    O(n (d + c)) for d values and classes of c row types; then whole classes, O(n d) each.
    """
    assigned = assigned.copy()
    full = (1 << table.width) - 1
    if not (assigned == full).any() or _is_fine(evaluator, assigned == full, k):
        return assigned
    _take_spare(table, assigned, k, evaluator)
    while not _is_fine(evaluator, assigned == full, k):
        clock.report("greedy", None)
        if (assigned == full).all():
            raise InfeasibleError(
                "No release was found: even the table with all cells suppressed violates a model.",
                hint="People with several rows count once per value; try a smaller l, or no entity.",
            )
        _take_class(table, assigned, k, evaluator)
    return assigned


def _is_fine(evaluator: ModelEvaluator, rest: NDArray[np.bool_], k: int) -> bool:
    items = np.flatnonzero(rest).astype(np.int32)
    return bool(people_of(evaluator, items) >= k and is_satisfied(evaluator, items))


def _class_lists(classes: ClassTable) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the row types class by class, and where each class begins."""
    order = np.argsort(classes.class_of, kind="stable").astype(np.int32)
    begin = np.searchsorted(classes.class_of[order], np.arange(len(classes) + 1))
    return order, begin.astype(np.int64)


def _take_spare(table: RowTypeTable, assigned: NDArray[np.int64], k: int, evaluator: ModelEvaluator) -> None:
    full = (1 << table.width) - 1
    dearer = float(table.weights.sum()) - suppression_costs(assigned, table.weights)
    content = table.hashes.sum(axis=0, dtype=np.uint64)
    candidates = np.lexsort((np.arange(len(table)), content, dearer)).astype(np.int32)
    candidates = candidates[: _EFFORT // int(evaluator.first[-1])]
    classes = classes_of(table, assigned)
    order, begin = _class_lists(classes)
    rest = rest_of(evaluator, np.flatnonzero(assigned == full).astype(np.int32), k)
    _take_candidates(evaluator, rest, candidates, classes.class_of, order, begin, k, full, assigned)


@kernel
def _take_candidates(
    evaluator: ModelEvaluator,
    rest: Rest,
    candidates: NDArray[np.int32],
    class_of: NDArray[np.int64],
    order: NDArray[np.int32],
    begin: NDArray[np.int64],
    k: int,
    full: int,
    assigned: NDArray[np.int64],
) -> None:
    """Take row types in turn that lessen the lack and whose class satisfies everything without them."""
    for item in candidates:
        if rest.lack[0] <= 0.0:
            return
        if assigned[item] == full or lack_after(evaluator, rest, item) >= rest.lack[0]:
            continue
        number = class_of[item]
        members = order[begin[number] : begin[number + 1]]
        # What left the class already is marked by its vector.
        left = members[(assigned[members] != full) & (members != item)]
        if left.size == 0 or people_of(evaluator, left) < k or not is_satisfied(evaluator, left):
            continue
        assigned[item] = full
        add_to_rest(evaluator, rest, item)


def _take_class(table: RowTypeTable, assigned: NDArray[np.int64], k: int, evaluator: ModelEvaluator) -> None:
    """Suppress the class fully that lessens the lack most per cost, the cheapest if none does."""
    full = (1 << table.width) - 1
    classes = classes_of(table, assigned)
    order, begin = _class_lists(classes)
    dearer = (float(table.weights.sum()) - suppression_costs(classes.vectors, table.weights)) * classes.rows
    rest = rest_of(evaluator, np.flatnonzero(assigned == full).astype(np.int32), k)
    lessened = np.zeros(len(classes))
    for number in np.flatnonzero(classes.vectors != full):
        members = order[begin[number] : begin[number + 1]]
        lessened[number] = rest.lack[0] - lack_with_class(evaluator, rest, members)
    dearer[classes.vectors == full] = np.inf
    helps = lessened > 0
    price = np.where(helps, dearer / np.where(helps, lessened, 1.0), np.inf)
    best = int(np.argmin(price if np.isfinite(price).any() else dearer))
    assigned[classes.class_of == best] = full
