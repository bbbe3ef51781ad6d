"""Models for CP-SAT, and what it answers: the only importer of that solver here."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.errors import SolverError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.result import CostKind

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
        Value of each variable that was asked for, None if no solution is known.
    bound : int or None
        Proven lower bound on the objective; None if nothing is proven.
    is_infeasible : bool
        Whether there is proven to be no solution.
    """

    values: tuple[int, ...] | None
    bound: int | None
    is_infeasible: bool = False


def fits(total: int, cost_kind: CostKind) -> bool:
    """Return whether a model of values of some total weight is safe from overflow."""
    return total < MOST_TOTAL and (cost_kind == "max" or total * total < _MOST_SQUARE)


def run(model: Any, variables: Sequence[Any], clock: Clock) -> Solved:
    """Solve a model until it is solved or the time is over.

    Parameters
    ----------
    model : CpModel
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
        raise SolverError("The constraint solver refuses the model.", hint="Please report this as a defect.")
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
