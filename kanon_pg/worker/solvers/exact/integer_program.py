"""Integer programs solved by a library: the only importer of its linear solvers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import SolverError
from kanon_pg.worker.solvers.exact.apart import run_apart
from kanon_pg.worker.solvers.exact.granularity import granularity, rounded_up
from kanon_pg.worker.solvers.exact.linear_model import LinearModel
from kanon_pg.worker.solvers.exact.sub_problem import SubProblem, linear_model_of

Values = NDArray[np.float64]

_WHOLE = 1e-5
"""How far a whole number of rows may be from one in the library's answer."""

_LARGE = 50_000
"""Coefficients from which a program is solved in a process of its own: the library may overrun its limit."""

_SHARE = 0.9
"""Share of the time limit that the library is told in that case, so that what it found can arrive."""


@dataclass(frozen=True)
class Effort:
    """Limits of one call.

    Parameters
    ----------
    seconds : float, optional
        Time limit, > 0.
    nodes : int, optional
        Nodes of the search tree, >= 0: a limit that does not depend on the machine.
    gap : float
        Relative gap at which a solution is good enough, >= 0.
    """

    seconds: float | None = None
    nodes: int | None = None
    gap: float = 0.0

    def since(self, begin: float) -> Effort:
        """Return the limits that are left of a call that began at a moment of `time.monotonic`."""
        if self.seconds is None:
            return self
        return replace(self, seconds=max(0.0, self.seconds - (time.monotonic() - begin)))


@dataclass(frozen=True)
class Answer:
    """What is known about a sub-problem.

    Parameters
    ----------
    rows : ndarray of int64, shape (e,), or None
        Rows on each pair of the best solution, None if none is known.
    cost : float
        Its cost, infinite without one.
    bound : float
        Proven lower bound on the cost of every solution; infinite if there is none.
    iterations : int
        Steps of the simplex method: effort that does not depend on the machine.
    is_cut : bool
        Whether the time limit ended the search.
    """

    rows: NDArray[np.int64] | None
    cost: float
    bound: float
    iterations: int = 0
    is_cut: bool = False

    @property
    def is_optimal(self) -> bool:
        """Whether no solution is cheaper than this one."""
        return self.bound >= self.cost


def solve_sub_problem(
    problem: SubProblem, effort: Effort = Effort(), hint: NDArray[np.int64] | None = None
) -> Answer:
    """Solve a sub-problem to optimality or until a limit is reached.

    Parameters
    ----------
    hint : ndarray of int64, shape (e,), optional
        Rows on each pair of a solution. The answer is at least as good if it is valid but for the demand
        and the limits for open instances, which are not checked.

    Raises
    ------
    SolverError
        The library fails, or answers with a solution that is none.

    Notes
    -----
    One thread, fixed seed: without a limit in seconds equal calls give equal answers.
    """
    begin = time.monotonic()
    if hint is not None and not _is_valid(problem, hint):
        hint = None
    step = granularity(problem.cost)
    model = linear_model_of(problem)
    result = _solve(model, effort.since(begin), step, None if hint is None else _hint(problem, hint))
    known = math.inf if hint is None else problem.cost_of(hint)
    rows = _rows_of(problem, model, result)
    cost = math.inf if rows is None else problem.cost_of(rows)
    if cost >= known:
        rows, cost = hint, known
    iterations = int(result.solve_stats.simplex_iterations)
    return Answer(rows, cost, min(cost, _bound_of(result, step)), iterations, _is_cut(result))


@dataclass(frozen=True)
class LinearAnswer:
    """What is known about a linear model.

    Parameters
    ----------
    values : ndarray of float64, shape (v,), or None
        Values of the columns in the best solution, None if none is known.
    bound : float
        Proven lower bound on the cost of every solution; infinite if there is none.
    """

    values: Values | None
    bound: float


def solve_linear_model(model: LinearModel, effort: Effort = Effort()) -> LinearAnswer:
    """Solve a linear model to optimality or until a limit is reached.

    Parameters
    ----------
    model : LinearModel
        Costs of at least 0 on columns of whole numbers only, so that the bound may be rounded up.

    Raises
    ------
    SolverError
        The library fails.
    """
    step = granularity(model.cost)
    result = _solve(model, effort, step, None)
    return LinearAnswer(_values_of(model, result), _bound_of(result, step))


def _hint(problem: SubProblem, rows: NDArray[np.int64]) -> Values:
    """Return the first columns of a solution: what is on each pair, and which instances are open."""
    pairs = rows if problem.is_divisible else rows // problem.rows[problem.member]
    is_open = (np.bincount(problem.instance, weights=rows, minlength=problem.cost.size) > 0) | (
        problem.fewest == 0
    )
    return np.concatenate([pairs, is_open]).astype(np.float64)


def _rows_of(problem: SubProblem, model: LinearModel, result: Any) -> NDArray[np.int64] | None:
    """Return the rows on each pair of the best solution.

    Rows of divisible row types are not declared to be whole, because with the open instances given they are
    a flow. Should they not be whole after all, the flow is solved.
    """
    values = _values_of(model, result)
    if values is None:
        return None
    pairs, instances = problem.member.size, problem.cost.size
    if np.abs(values[:pairs] - np.rint(values[:pairs])).max(initial=0.0) > _WHOLE:
        is_open = np.rint(values[pairs : pairs + instances])
        values = _values_of(model, _solve(_settled(model, pairs, is_open), Effort(), 0.0, None))
        if values is None:
            return None
    found = np.rint(values[:pairs]).astype(np.int64)
    rows = found if problem.is_divisible else found * problem.rows[problem.member]
    return rows if _is_valid(problem, rows) else None


def _is_valid(problem: SubProblem, rows: NDArray[np.int64]) -> bool:
    """Return whether every row is somewhere, and every instance that is used has its people."""
    held = np.bincount(problem.member, weights=rows, minlength=problem.rows.size)
    people = problem.people_of(rows)
    is_used = np.bincount(problem.instance[rows > 0], minlength=problem.cost.size) > 0
    is_large = (people >= problem.fewest) | (problem.fewest <= 1) | ~is_used
    return np.array_equal(held, problem.rows) and bool(is_large.all()) and bool((rows >= 0).all())


def _settled(model: LinearModel, pairs: int, is_open: Values) -> LinearModel:
    """Return the model with given open instances and whole rows."""
    opening = slice(pairs, pairs + is_open.size)
    lower, upper, is_integer = model.lower.copy(), model.upper.copy(), model.is_integer.copy()
    lower[opening] = is_open
    upper[opening] = is_open
    is_integer[:pairs] = True
    return replace(model, lower=lower, upper=upper, is_integer=is_integer)


def _values_of(model: LinearModel, result: Any) -> Values | None:
    """Return the values of all columns in the best solution, None if there is none."""
    if not result.solutions or not result.solutions[0].HasField("primal_solution"):
        return None
    known = result.solutions[0].primal_solution.variable_values
    values = np.zeros(model.cost.size)
    values[np.array(known.ids, dtype=np.int64)] = np.array(known.values)
    return values


def _is_cut(result: Any) -> bool:
    from ortools.math_opt import result_pb2  # noqa: PLC0415 - slow to import, and needed by few

    return bool(result.termination.limit == result_pb2.LIMIT_TIME)


def _bound_of(result: Any, step: float) -> float:
    from ortools.math_opt import result_pb2  # noqa: PLC0415 - slow to import, and needed by few

    if result.termination.reason == result_pb2.TERMINATION_REASON_INFEASIBLE:
        return math.inf
    return rounded_up(result.termination.objective_bounds.dual_bound, step)


def _solve(model: LinearModel, effort: Effort, step: float, hint: Values | None) -> Any:
    """Solve a model, if it is large in a process that is ended when the time is over."""
    from ortools.math_opt import result_pb2  # noqa: PLC0415 - slow to import, and needed by few

    try:
        if effort.seconds is None or model.row.size < _LARGE:
            return _solve_here(model, effort, step, hint)
        shorter = replace(effort, seconds=_SHARE * effort.seconds)
        answer = run_apart(
            lambda: _solve_here(model, shorter, step, hint).SerializeToString(), effort.seconds
        )
    except Exception as error:
        # Its errors are of a class that the library does not export; what they say may hold names only.
        raise SolverError("The library for integer programs failed.", detail=type(error).__name__) from error
    result = result_pb2.SolveResultProto()
    if answer is None:
        # nothing is known: costs are not negative
        result.termination.reason = result_pb2.TERMINATION_REASON_NO_SOLUTION_FOUND
        result.termination.limit = result_pb2.LIMIT_TIME
    else:
        result.ParseFromString(answer)
    return result


def _solve_here(model: LinearModel, effort: Effort, step: float, hint: Values | None) -> Any:
    from ortools.math_opt import callback_pb2, model_parameters_pb2, parameters_pb2  # noqa: PLC0415
    from ortools.math_opt.core.python import solver  # noqa: PLC0415

    parameters = parameters_pb2.SolveParametersProto(
        random_seed=1, relative_gap_tolerance=effort.gap, absolute_gap_tolerance=0.9 * step
    )
    # The library refuses its general setting of threads for this solver.
    parameters.highs.string_options["parallel"] = "off"
    parameters.highs.int_options["threads"] = 1
    parameters.highs.bool_options["mip_heuristic_run_feasibility_jump"] = False  # finds nothing of use here
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
