"""Models for CP-SAT, of which this is the only importer, and classes chosen among all that there can be."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kanon_pg.errors import DEFECT, SolverError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.result import CostKind, Numbers, Weights, cost_of

MOST_TOTAL = 1 << 45
"""Largest total weight of a model: sums and, for the sum cost, squares of classes must fit into 64 bits."""

_MOST_SQUARE = 1 << 60
_MOST_WORKERS = 8
_FIRST_SECONDS = 0.05
"""Least time of a solver, so that it can take over the solution it is given."""


@dataclass(frozen=True, slots=True)
class Solved:
    """Values of the requested variables, if a solution is known; a proven bound on the objective, if any."""

    values: tuple[int, ...] | None
    bound: int | None
    is_infeasible: bool = False


def is_within_64_bits(total: int, cost_kind: CostKind) -> bool:
    """Return whether a model of values of some total weight is safe from overflow."""
    return total < MOST_TOTAL and (cost_kind == "max" or total * total < _MOST_SQUARE)


def solve_model(model: Any, variables: Sequence[Any], clock: Clock) -> Solved:
    """Solve a model until it is solved or the time is over; return the values of some variables."""
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


class Candidate(NamedTuple):
    """A class that there can be: the places of its values, ascending, and the sum of their weights."""

    values: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Partitioning:
    """A partition of values that is known, and what is proven about any."""

    weights: Weights
    """Shape (n,). People per value."""
    class_of: Numbers
    """Shape (n,). Classes of at least k, numbered from 0."""
    k: int
    kind: CostKind
    bound: int
    """No partition costs less."""

    @property
    def cost(self) -> int:
        """Cost of the known partition."""
        return cost_of(np.bincount(self.class_of, self.weights).astype(np.int64), self.k, self.kind)


class PartitionOutcome(NamedTuple):
    """A better partition, None without one, and the proven bound on the cost."""

    class_of: Numbers | None
    bound: int


Candidates = tuple[Sequence[Candidate], Sequence[tuple[int, int]]]
"""Classes there can be, and pairs of them that have no common value and cannot both be taken."""


def best_partition(
    candidates_up_to: Callable[[int], Candidates | None], known: Partitioning, clock: Clock
) -> PartitionOutcome:
    """Return the cheapest partition of values into candidates, as far as the time allows.

    The candidates are all classes up to a size, None if there are too many: the largest that a class can have
    in a solution that costs no more than the known one.
    """
    cost, bound = known.cost, known.bound
    if cost <= bound or not is_within_64_bits(int(known.weights.sum()), known.kind):
        return PartitionOutcome(None, bound)
    # a class of s costs s (s - k) by the sum, so s is at most the root of that
    root = (known.k + math.isqrt(known.k**2 + 4 * cost)) // 2
    listed = candidates_up_to(cost if known.kind == "max" else root)
    if listed is None:
        return PartitionOutcome(None, bound)
    candidates, conflicts = listed
    model, chosen = _model(candidates, conflicts, known)
    solved = solve_model(model, chosen, clock)
    proven = max(bound, min(cost, bound if solved.bound is None else solved.bound))
    if solved.values is None:
        return PartitionOutcome(None, proven)
    taken = [one for one, is_taken in zip(candidates, solved.values, strict=True) if is_taken]
    if cost_of([one.size for one in taken], known.k, known.kind) >= cost:
        return PartitionOutcome(None, proven)
    class_of = np.empty(known.class_of.size, dtype=np.int64)
    for number, candidate in enumerate(taken):
        class_of[list(candidate.values)] = number
    return PartitionOutcome(class_of, proven)


def _model(
    candidates: Sequence[Candidate], conflicts: Sequence[tuple[int, int]], known: Partitioning
) -> tuple[Any, list[Any]]:
    """Return a model in which each value lies in exactly one chosen class, and whether each is chosen."""
    model = new_model()
    chosen = [model.new_bool_var("") for _ in candidates]
    choices_of: list[list[Any]] = [[] for _ in range(known.class_of.size)]
    classes = {
        tuple(np.flatnonzero(known.class_of == number).tolist())
        for number in range(int(known.class_of.max()) + 1)
    }
    for candidate, is_chosen in zip(candidates, chosen, strict=True):
        for value in candidate.values:
            choices_of[value].append(is_chosen)
        model.add_hint(is_chosen, candidate.values in classes)
    for choices in choices_of:
        model.add_exactly_one(choices)
    for one, other in conflicts:
        model.add_at_most_one(chosen[one], chosen[other])
    sized = [(candidate.size, is_chosen) for candidate, is_chosen in zip(candidates, chosen, strict=True)]
    if known.kind == "sum":
        model.minimize(sum(size * (size - known.k) * is_chosen for size, is_chosen in sized))
        return model, chosen
    largest = model.new_int_var(known.bound, known.cost, "")
    for size, is_chosen in sized:
        if size > known.bound:
            model.add(largest >= size * is_chosen)
    model.minimize(largest)
    return model, chosen
