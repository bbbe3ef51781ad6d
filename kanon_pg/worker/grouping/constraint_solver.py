"""Models for CP-SAT, of which this is the only importer, and classes chosen among all that there can be."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanon_pg.errors import DEFECT, SolverError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.result import CostKind, Numbers, Weights, cost_of

MOST_TOTAL = 1 << 45
"""Largest total weight of a model: sums and, for the sum cost, squares of classes must fit into 64 bits."""

_MOST_SQUARE = 1 << 60
_MOST_WORKERS = 8
_FIRST_SECONDS = 0.05
"""What a solver gets at least, so that it can take over the solution it is given."""


@dataclass(frozen=True, slots=True)
class Solved:
    """What is known about a model.

    Parameters
    ----------
    values : tuple of int, or None
        Value of each requested variable, None if no solution is known.
    bound : int or None
        Proven lower bound on the objective; None if nothing is proven.
    is_infeasible : bool
        Whether there is proven to be no solution.
    """

    values: tuple[int, ...] | None
    bound: int | None
    is_infeasible: bool = False


def is_within_64_bits(total: int, cost_kind: CostKind) -> bool:
    """Return whether a model of values of some total weight is safe from overflow."""
    return total < MOST_TOTAL and (cost_kind == "max" or total * total < _MOST_SQUARE)


def solve_model(model: Any, variables: Sequence[Any], clock: Clock) -> Solved:
    """Solve a model until it is solved or the time is over.

    Parameters
    ----------
    variables : sequence
        Whose values to return.
    clock : Clock
        Without a limit the solver goes on until it has proven something.

    Raises
    ------
    SolverError
        The library refuses the model.
    """
    from ortools.sat.python import cp_model  # noqa: PLC0415 - slow to import, and needed by few

    solver = cp_model.CpSolver()
    solver.parameters.random_seed = 1
    solver.parameters.num_workers = min(_MOST_WORKERS, os.cpu_count() or 1)
    left = clock.left()
    if left is not None:
        solver.parameters.max_time_in_seconds = max(_FIRST_SECONDS, left)
    status = solver.solve(model)
    if status == cp_model.MODEL_INVALID:
        raise SolverError("The constraint solver refuses the model.", hint=DEFECT)
    if left is not None and status in (cp_model.FEASIBLE, cp_model.UNKNOWN):
        clock.cut()
    if status == cp_model.INFEASIBLE:
        return Solved(None, None, is_infeasible=True)
    bound = solver.best_objective_bound
    proven = math.ceil(bound - 1e-6) if math.isfinite(bound) else None
    if status == cp_model.UNKNOWN:
        return Solved(None, proven)
    return Solved(tuple(int(solver.value(one)) for one in variables), proven)


def new_model() -> Any:
    """Return an empty model."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 - slow to import, and needed by few

    return cp_model.CpModel()


PROOF = "constraint programming over all classes"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A class that there can be.

    Parameters
    ----------
    values : tuple of int
        Places of its values, ascending.
    size : int
        Sum of their weights, at least k.
    """

    values: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class PartitionOutcome:
    """What is known about partitions into candidates.

    Parameters
    ----------
    class_of : ndarray of int64, or None
        The best partition found, if it is better than the known one.
    bound : int
        Proven lower bound on the cost.
    """

    class_of: Numbers | None
    bound: int


Candidates = tuple[Sequence[Candidate], Sequence[tuple[int, int]]]
"""Classes there can be, and pairs of them that have no common value and cannot both be taken."""


def best_partition(
    candidates_below: Callable[[int], Candidates | None],
    weights: Weights,
    known: Numbers,
    k: int,
    kind: CostKind,
    bound: int,
    clock: Clock,
) -> PartitionOutcome:
    """Return the cheapest partition of values into candidates, as far as the time allows.

    Parameters
    ----------
    candidates_below : callable
        Receives the cost of the known partition; returns all classes that can be in a solution that costs no
        more, those of the known one among them. None if there are too many.
    known : ndarray of int64, shape (n,)
        A partition into classes of at least k, numbered from 0.
    bound : int
        What is proven already.
    """
    sizes = np.zeros(int(known.max()) + 1, dtype=np.int64)
    np.add.at(sizes, known, weights)
    cost = cost_of(sizes, k, kind)
    if cost <= bound or not is_within_64_bits(int(weights.sum()), kind):
        return PartitionOutcome(None, bound)
    found = candidates_below(cost)
    if found is None:
        return PartitionOutcome(None, bound)
    candidates, conflicts = found
    model, chosen = _choice(candidates, conflicts, known)
    _minimize(model, chosen, candidates, k, kind, bound, cost)
    solved = solve_model(model, chosen, clock)
    proven = max(bound, min(cost, bound if solved.bound is None else solved.bound))
    if solved.values is None:
        return PartitionOutcome(None, proven)
    taken = [one for one, is_taken in zip(candidates, solved.values, strict=True) if is_taken]
    if cost_of([one.size for one in taken], k, kind) >= cost:
        return PartitionOutcome(None, proven)
    class_of = np.empty(known.size, dtype=np.int64)
    for number, candidate in enumerate(taken):
        class_of[list(candidate.values)] = number
    return PartitionOutcome(class_of, proven)


def _choice(
    candidates: Sequence[Candidate], conflicts: Sequence[tuple[int, int]], known: Numbers
) -> tuple[Any, list[Any]]:
    """Return a model in which each value lies in exactly one chosen class, and whether each is chosen."""
    model = new_model()
    chosen = [model.new_bool_var("") for _ in candidates]
    holding: list[list[int]] = [[] for _ in range(known.size)]
    for number, candidate in enumerate(candidates):
        for value in candidate.values:
            holding[value].append(number)
    for numbers in holding:
        model.add_exactly_one(chosen[number] for number in numbers)
    for one, other in conflicts:
        model.add_at_most_one(chosen[one], chosen[other])
    classes = {tuple(np.flatnonzero(known == number).tolist()) for number in range(int(known.max()) + 1)}
    for candidate, is_chosen in zip(candidates, chosen, strict=True):
        model.add_hint(is_chosen, candidate.values in classes)
    return model, chosen


def _minimize(
    model: Any,
    chosen: Sequence[Any],
    candidates: Sequence[Candidate],
    k: int,
    kind: CostKind,
    bound: int,
    cost: int,
) -> None:
    pairs = list(zip(candidates, chosen, strict=True))
    if kind == "sum":
        model.minimize(sum(one.size * (one.size - k) * is_chosen for one, is_chosen in pairs))
        return
    largest = model.new_int_var(bound, cost, "")
    for one, is_chosen in pairs:
        if one.size > bound:
            model.add(largest >= one.size * is_chosen)
    model.minimize(largest)


def is_affordable(size: int, k: int, kind: CostKind, cost: int) -> bool:
    """Return whether a class of some size can be in a solution that costs no more than `cost`."""
    return size <= cost if kind == "max" else size * (size - k) <= cost
