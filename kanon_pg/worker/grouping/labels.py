"""Labels without order -> groups: the min-max bin covering of the paper's section 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import UnknownName
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.constraint_solver import fits, new_model, run
from kanon_pg.worker.grouping.fold import fold
from kanon_pg.worker.grouping.relaxed import DEFAULT_EPSILON, relaxed
from kanon_pg.worker.grouping.result import (
    CostKind,
    Numbers,
    SingleAttribute,
    Weights,
    checked_weights,
    finished,
    lower_bound,
)
from kanon_pg.worker.grouping.spread import spread

MOST_VARIABLES = 100_000
"""Different weights times classes up to which a model is built: some seconds."""

PROOF = "constraint programming"


def exact_labels(
    weights: NDArray[np.integer] | Sequence[int],
    k: int,
    cost_kind: CostKind = "max",
    clock: Clock | None = None,
) -> SingleAttribute:
    """Group labels at the least cost, as far as the time allows.

    The problem is NP-hard in the strong sense (Theorem 5 of the paper). Begins with `spread`; if the bound on
    volume does not prove it optimal, CP-SAT decides how many values of each weight go into each class. The
    result is never worse than that of `spread`, and its bound is proven whether the solver finishes or not.
    Tables with too many different weights and classes stay with `spread`.

    Parameters
    ----------
    weights : array of int, shape (n,)
        People per label, each >= 0.
    clock : Clock, optional
        When to stop; without, once the optimum is proven.

    Raises
    ------
    InputError, InfeasibleError
        As `result.checked_weights`.
    """
    array = checked_weights(weights, k)
    known = spread(array, k, cost_kind)
    if known.optimal:
        return known
    different, counts = np.unique(array, return_counts=True)
    light = int(array[array < k].sum())
    most = int((array >= k).sum()) + light // k
    if different.size * most > MOST_VARIABLES or not fits(int(array.sum()), cost_kind):
        return known
    model, held = _model(different.tolist(), counts.tolist(), most, known, array)
    solved = run(model, [one for row in held for one in row], clock or Clock())
    bound, proof = lower_bound(array, k, cost_kind)
    if solved.bound is not None and solved.bound > bound:
        bound, proof = min(solved.bound, known.cost), PROOF
    class_of, method = known.class_of, known.method
    if solved.values is not None:
        found = _classes(array, np.array(solved.values).reshape(len(held), most))
        candidate = finished(array, k, found, cost_kind, 0, PROOF, proof)
        if candidate.cost < known.cost:
            class_of, method = found, PROOF
    return finished(array, k, class_of, cost_kind, bound, method, proof)


def _model(
    different: Sequence[int], counts: Sequence[int], most: int, known: SingleAttribute, weights: Weights
) -> tuple[Any, list[list[Any]]]:
    """Return the model and its variables: how many values of each weight each class holds.

    Classes are ordered by size, the unused ones last, so that no solution occurs in several orders.
    """
    model, k, total = new_model(), known.k, sum(w * n for w, n in zip(different, counts, strict=True))
    largest = known.cost if known.cost_kind == "max" else total
    held = [[model.new_int_var(0, count, "") for _ in range(most)] for count in counts]
    levels = [model.new_int_var(0, largest, "") for _ in range(most)]
    used = [model.new_bool_var("") for _ in range(most)]
    for row, count in zip(held, counts, strict=True):
        model.add(sum(row) == count)
    for place, (level, is_used) in enumerate(zip(levels, used, strict=True)):
        model.add(level == sum(w * row[place] for w, row in zip(different, held, strict=True)))
        model.add(level >= k * is_used)
        model.add(level <= largest * is_used)
        for row, count in zip(held, counts, strict=True):
            model.add(row[place] <= count * is_used)
        if place:
            model.add(levels[place - 1] >= level)
    model.minimize(_objective(model, levels, k, largest, known))
    _hint(model, held, different, known, weights)
    return model, held


def _objective(model: Any, levels: Sequence[Any], k: int, largest: int, known: SingleAttribute) -> Any:
    if known.cost_kind == "max":
        model.add(levels[0] >= known.lower_bound)
        return levels[0]
    squares = []
    for level in levels:
        square = model.new_int_var(0, largest * largest, "")
        model.add_multiplication_equality(square, [level, level])
        squares.append(square)
    return sum(squares) - k * sum(levels)


def _hint(
    model: Any, held: list[list[Any]], different: Sequence[int], known: SingleAttribute, weights: Weights
) -> None:
    place_of = np.empty(known.sizes.size, dtype=np.int64)
    place_of[np.argsort(-known.sizes, kind="stable")] = np.arange(known.sizes.size)
    begun = np.zeros((len(held), len(held[0])), dtype=np.int64)
    np.add.at(begun, (np.searchsorted(different, weights), place_of[known.class_of]), 1)
    for row, numbers in zip(held, begun.tolist(), strict=True):
        for variable, number in zip(row, numbers, strict=True):
            model.add_hint(variable, number)


def _classes(weights: Weights, held: NDArray[np.int64]) -> Numbers:
    """Return the class of each value, given how many of each weight each class holds."""
    class_of = np.empty(weights.size, dtype=np.int64)
    order = np.argsort(weights, kind="stable")
    class_of[order] = np.concatenate([np.repeat(np.arange(row.size), row) for row in held])
    return class_of


METHODS = ("spread", "fold", "exact", "relaxed")


def group_labels(
    weights: NDArray[np.integer] | Sequence[int],
    k: int,
    method: str = "spread",
    cost_kind: CostKind = "max",
    *,
    epsilon: float = DEFAULT_EPSILON,
    clock: Clock | None = None,
) -> SingleAttribute:
    """Group labels into classes of at least k.

    Parameters
    ----------
    weights : array of int, shape (n,)
        People per label, each >= 0.
    method : str
        One of `METHODS`: within 5/2 of the least largest class, within 3, proven optimal if the time
        allows, or the relaxed scheme.
    cost_kind : str
        See `result.cost_of`.
    epsilon : float
        Of the relaxed scheme.
    clock : Clock, optional
        Time for 'exact' and 'relaxed'.

    Raises
    ------
    UnknownName
        If there is no such method.
    KanonError
        As the method's function.
    """
    if method == "fold":
        return fold(weights, k, cost_kind)
    if method == "spread":
        return spread(weights, k, cost_kind)
    if method == "exact":
        return exact_labels(weights, k, cost_kind, clock)
    if method == "relaxed":
        return relaxed(weights, k, cost_kind, epsilon, clock)
    raise UnknownName(f'There is no method "{method}".', hint=f"Methods are: {', '.join(METHODS)}.")
