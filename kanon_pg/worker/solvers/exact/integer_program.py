"""Linear models with integer columns, as arrays, and the library that solves them, imported here alone."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import DEFECT, SolverError
from kanon_pg.worker.child_processes import run_in_child
from kanon_pg.worker.solvers.exact.granularity import granularity, rounded_up

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

_LARGE = 50_000
"""Coefficients from which a program is solved in a process of its own: the library may overrun its limit."""

_SHARE = 0.9
"""Share of the time limit that the library gets in that case: the rest is for its answer to arrive."""


@dataclass(frozen=True)
class LinearModel:
    """Minimize a linear cost over columns with limits and rows with limits."""

    cost: Reals
    lower: Reals
    upper: Reals
    """Shape (v,). `cost`, `lower`, `upper`: cost and limits of each column; limits may be infinite."""
    is_integer: NDArray[np.bool_]
    """Shape (v,). Whether a column takes whole numbers only."""
    row_lower: Reals
    row_upper: Reals
    """Shape (r,). `row_lower`, `row_upper`: limits of each row."""
    row: Numbers
    column: Numbers
    """Shape (e,). `row`, `column`: where the coefficients stand, ascending by row, then by column, each place
    once."""
    coefficient: Reals
    """Shape (e,). What stands there, not zero."""


@dataclass
class Rows:
    """Rows of a linear model while it grows, in blocks of many rows at once."""

    count: int = 0
    lower: list[Reals] = field(default_factory=list)
    upper: list[Reals] = field(default_factory=list)
    row: list[Numbers] = field(default_factory=list)
    column: list[Numbers] = field(default_factory=list)
    coefficient: list[Reals] = field(default_factory=list)

    def open(self, lower: Reals, upper: Reals) -> int:
        """Add empty rows with some limits; return the number of the first."""
        first = self.count
        self.count += lower.size
        self.lower.append(lower)
        self.upper.append(upper)
        return first

    def put(self, row: Numbers, column: Numbers, coefficient: Reals) -> None:
        """Add coefficients to rows; no place may be used twice."""
        self.row.append(row)
        self.column.append(column)
        self.coefficient.append(coefficient)

    def finish(self, cost: Reals, lower: Reals, upper: Reals, is_integer: NDArray[np.bool_]) -> LinearModel:
        """Return the model of these rows and some columns."""
        row, column = np.concatenate(self.row), np.concatenate(self.column)
        order = np.lexsort((column, row))
        return LinearModel(
            cost, lower, upper, is_integer, np.concatenate(self.lower), np.concatenate(self.upper),
            row[order], column[order], np.concatenate(self.coefficient)[order],
        )  # fmt: skip


@dataclass(frozen=True)
class Effort:
    """Limits of one call."""

    seconds: float | None = None
    """Time limit, > 0."""
    nodes: int | None = None
    """Nodes of the search tree, >= 0: a limit that does not depend on the machine."""
    gap: float = 0.0
    """Relative gap at which a solution is good enough, >= 0."""
    is_guarded: bool = False
    """Whether the process in which the program is solved is ended from outside when the time is over."""

    def since(self, begin: float) -> Effort:
        """Return the limits that are left of a call that began at a moment of `time.monotonic`."""
        if self.seconds is None:
            return self
        return replace(self, seconds=max(0.0, self.seconds - (time.monotonic() - begin)))


NO_LIMITS = Effort()


@dataclass(frozen=True)
class LinearAnswer:
    """What is known about a linear model."""

    values: Reals | None
    """Shape (v,). Values of the columns in the best solution, None if none is known."""
    bound: float
    """Proven lower bound on the cost of every solution; infinite if there is none."""
    prices: Reals | None = None
    """Shape (r,). Dual prices of the rows at an optimum without columns of whole numbers."""
    iterations: int = 0
    """Steps of the simplex method: effort that does not depend on the machine."""
    is_cut: bool = False
    """Whether the time limit ended the search."""


def solve_linear_model(
    model: LinearModel, effort: Effort = NO_LIMITS, *, step: float | None = None, hint: Reals | None = None
) -> LinearAnswer:
    """Solve a linear model with costs of at least 0 to optimality or until a limit is reached.

    Parameters
    ----------
    step : float, optional
        Number of which the cost of every solution is a multiple, 0 if that is not known: the bound is rounded
        up. Without it that of the columns' costs, which is right where all columns take whole numbers only.

    Raises
    ------
    SolverError
        The library fails.

    Notes
    -----
    One thread, fixed seed: without a limit in seconds equal calls give equal answers.
    """
    from ortools.math_opt import result_pb2  # noqa: PLC0415 - slow to import, and needed by few

    step = granularity(model.cost) if step is None else step
    result = _solve(model, effort, step, hint)
    ended = result.termination
    bound = rounded_up(ended.objective_bounds.dual_bound, step)
    if ended.reason == result_pb2.TERMINATION_REASON_INFEASIBLE:
        bound = math.inf
    values = prices = None
    if result.solutions:
        best = result.solutions[0]
        if best.HasField("primal_solution"):
            values = _dense(best.primal_solution.variable_values, model.cost.size)
        if best.HasField("dual_solution"):
            prices = _dense(best.dual_solution.dual_values, model.row_lower.size)
    iterations = int(result.solve_stats.simplex_iterations)
    return LinearAnswer(values, bound, prices, iterations, bool(ended.limit == result_pb2.LIMIT_TIME))


def _dense(known: Any, size: int) -> Reals:
    """Return the library's sparse values as an array."""
    values = np.zeros(size)
    values[np.array(known.ids, dtype=np.int64)] = np.array(known.values)
    return values


def _solve(model: LinearModel, effort: Effort, step: float, hint: Reals | None) -> Any:
    """Solve a model, if it is large in a process that is ended when the time is over."""
    from ortools.math_opt import result_pb2  # noqa: PLC0415 - slow to import, and needed by few

    try:
        if effort.seconds is None or (model.row.size < _LARGE and not effort.is_guarded):
            return _solve_here(model, effort, step, hint)
        shorter = replace(effort, seconds=_SHARE * effort.seconds)
        if effort.is_guarded:
            return _solve_here(model, shorter, step, hint)
        answer = run_in_child(
            lambda: _solve_here(model, shorter, step, hint).SerializeToString(), effort.seconds
        )
    except Exception as error:
        # Its errors are of a class that the library does not export; what they say may hold names only.
        raise SolverError(
            "The library for integer programs failed.", detail=type(error).__name__, hint=DEFECT
        ) from error
    result = result_pb2.SolveResultProto()
    if answer is None:
        # nothing is known: costs are not negative
        result.termination.reason = result_pb2.TERMINATION_REASON_NO_SOLUTION_FOUND
        result.termination.limit = result_pb2.LIMIT_TIME
    else:
        result.ParseFromString(answer)
    return result


def _solve_here(model: LinearModel, effort: Effort, step: float, hint: Reals | None) -> Any:
    from ortools.math_opt import callback_pb2, model_parameters_pb2, parameters_pb2  # noqa: PLC0415
    from ortools.math_opt.core.python import solver  # noqa: PLC0415

    parameters = parameters_pb2.SolveParametersProto(
        random_seed=1, relative_gap_tolerance=effort.gap, absolute_gap_tolerance=0.9 * step
    )
    # The library refuses its general setting of threads for this solver.
    parameters.highs.string_options["parallel"] = "off"
    parameters.highs.int_options["threads"] = 1
    parameters.highs.bool_options["mip_heuristic_run_feasibility_jump"] = False  # finds nothing of use here
    if effort.nodes is None and effort.gap == 0.0 and hint is not None:
        # Where the optimum is to be proven, neighbourhoods of a solution are searched within the tree only:
        # at the root cuts mostly close the gap before any search pays, and without RINS in the tree the
        # search branches for long. Adult with 9 columns, the paper's patterns, large components of k = 8, 9
        # and 3: 2.7, 5.7 and 6.8 processor seconds; with the root's search in place of RINS 5.3, 7.0 and
        # 13.9; without both 10.0, 9.7 and 13.5.
        for neighbourhood in ("rens", "root_reduced_cost"):
            parameters.highs.bool_options[f"mip_heuristic_run_{neighbourhood}"] = False
    if effort.seconds is not None:
        parameters.time_limit.FromNanoseconds(int(effort.seconds * 1e9))
    if effort.nodes is not None:
        parameters.node_limit = effort.nodes
    given = model_parameters_pb2.ModelSolveParametersProto()
    if hint is not None:
        start = given.solution_hints.add().variable_values
        start.ids.extend(np.arange(hint.size))
        start.values.extend(hint)
    return solver.solve(
        _message(model),
        parameters_pb2.SOLVER_TYPE_HIGHS,
        parameters_pb2.SolverInitializerProto(),
        parameters,
        given,
        None,
        callback_pb2.CallbackRegistrationProto(),
        None,
        None,
    )


def _message(model: LinearModel) -> Any:
    from ortools.math_opt import model_pb2  # noqa: PLC0415

    message = model_pb2.ModelProto()
    columns = np.arange(model.cost.size)
    message.variables.ids.extend(columns)
    message.variables.lower_bounds.extend(model.lower)
    message.variables.upper_bounds.extend(model.upper)
    message.variables.integers.extend(model.is_integer)
    paid = np.flatnonzero(model.cost)
    message.objective.linear_coefficients.ids.extend(paid)
    message.objective.linear_coefficients.values.extend(model.cost[paid])
    message.linear_constraints.ids.extend(np.arange(model.row_lower.size))
    message.linear_constraints.lower_bounds.extend(model.row_lower)
    message.linear_constraints.upper_bounds.extend(model.row_upper)
    matrix = message.linear_constraint_matrix
    matrix.row_ids.extend(model.row)
    matrix.column_ids.extend(model.column)
    matrix.coefficients.extend(model.coefficient)
    return message
