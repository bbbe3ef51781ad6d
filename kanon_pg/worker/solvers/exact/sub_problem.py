"""A sub-problem of row types and pattern instances, and its linear model.

The model is (5)-(8) of Bredereck, Nichterlein and Niedermeier (2013) over row types. Rows of a type that join
an instance are linked with its opening pair by pair (``x_ij <= n_i u_j``), which makes the relaxation far
stronger than one link per instance with a big constant.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.solvers.exact.granularity import granularity
from kanon_pg.worker.solvers.exact.integer_program import (
    NO_LIMITS,
    Effort,
    LinearModel,
    Reals,
    Rows,
    solve_linear_model,
)
from kanon_pg.worker.solvers.exact.network import slices

Numbers = NDArray[np.int64]


_WHOLE = 1e-5
"""How far a whole number of rows may be from one in the library's answer."""

_ROUNDING = 4e-6
"""What the library's bound and the rounding of it may lack, as a share of the cost."""

_NEARLY_WHOLE = 1e-6
"""How far the share of an open instance in a relaxation may be from 0 or 1."""


def _no_numbers() -> Numbers:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Demand:
    """Further columns and rows of the linear model, for example those of a privacy model.

    Columns of the model are numbered: first the pairs (rows of a row type in an instance, or with undivided
    row types whether it is there), then the instances (whether each is open), then `lower.size` further ones.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    """Shape (v,). `lower`, `upper`: limits of the further columns."""
    is_integer: NDArray[np.bool_]
    """Shape (v,)."""
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    """Shape (r,). `row_lower`, `row_upper`: limits of the rows; they must hold for closed instances."""
    row: Numbers
    column: Numbers
    """Shape (e,). `row`, `column`: where the coefficients stand, each place once."""
    coefficient: NDArray[np.float64]
    """Shape (e,)."""


@dataclass(frozen=True)
class SubProblem:
    """Row types, the instances they may join, and what an open instance must hold."""

    rows: Numbers
    """Shape (n,). Rows of each row type."""
    cost: NDArray[np.float64]
    """Shape (q,). Cost of one row in each instance."""
    begin: Numbers
    """Shape (q + 1,). Where the members of each instance begin."""
    member: NDArray[np.integer]
    """Shape (e,). Row types that may join each instance."""
    fewest: Numbers
    """Shape (q,). People that each instance needs if it is used at all. With 0 it is open to any number of
    them and counts as a class whether anything is there or not; 1 demands one row of any row type."""
    is_divisible: bool = True
    """Whether the rows of a row type may join several instances; every row is a person then."""
    own: Numbers = field(default_factory=_no_numbers)
    """Shape (n,). Without divisible row types: people of each row type that occur in no other."""
    shared_begin: Numbers = field(default_factory=_no_numbers)
    shared: Numbers = field(default_factory=_no_numbers)
    """`shared_begin`, `shared`: people in several row types, per row type."""
    fewest_open: int | None = None
    most_open: int | None = None
    """`fewest_open`, `most_open`: limits for the number of open instances."""
    demand: Demand | None = None
    """Further columns and rows."""

    @cached_property
    def instance(self) -> Numbers:
        """Instance of each pair of a row type and an instance, shape (e,)."""
        return np.repeat(np.arange(self.cost.size), np.diff(self.begin))

    def cost_of(self, rows: Numbers) -> float:
        """Return the cost of some rows on each pair."""
        return float((self.cost[self.instance] * rows).sum())

    def people_of(self, rows: Numbers) -> Numbers:
        """Return the distinct people of each instance, given the rows on each pair, shape (q,)."""
        count = self.cost.size
        if self.is_divisible:
            return np.bincount(self.instance, weights=rows, minlength=count).astype(np.int64)
        used = np.flatnonzero(rows)
        instance, row_type = self.instance[used], self.member[used]
        people = np.bincount(instance, weights=self.own[row_type], minlength=count).astype(np.int64)
        if not self.shared.size:
            return people
        person = self.shared[slices(self.shared_begin, row_type)]
        owner = np.repeat(instance, np.diff(self.shared_begin)[row_type])
        span = int(self.shared.max()) + 1
        return people + np.bincount(np.unique(owner * span + person) // span, minlength=count)


def linear_model_of(problem: SubProblem) -> LinearModel:
    """Return the linear model of a sub-problem; columns are numbered as `Demand` says."""
    pairs, instances = problem.member.size, problem.cost.size
    count = problem.rows[problem.member]
    unit = np.ones(pairs, dtype=np.int64) if problem.is_divisible else count
    most = count if problem.is_divisible else np.ones(pairs, dtype=np.int64)
    model = Rows()
    _each_row_somewhere(model, problem)
    _open_before_use(model, problem, most)
    people = _people(model, problem)
    _limit_classes(model, problem)
    cost = np.concatenate([problem.cost[problem.instance] * unit, np.zeros(instances + people)])
    upper = np.concatenate([most.astype(np.float64), np.ones(instances + people)])
    lower = np.concatenate([np.zeros(pairs), (problem.fewest == 0).astype(np.float64), np.zeros(people)])
    is_integer = np.ones(cost.size, dtype=np.bool_)
    is_integer[pairs + instances :] = False
    if problem.is_divisible and problem.demand is None:
        is_integer[:pairs] = False  # a flow once it is known which instances are open
    if problem.demand is None:
        return model.finish(cost, lower, upper, is_integer)
    demand = problem.demand
    column = demand.column + people * (demand.column >= pairs + instances)
    first = model.open(demand.row_lower, demand.row_upper)
    model.put(demand.row + first, column, demand.coefficient)
    return model.finish(
        np.concatenate([cost, np.zeros(demand.lower.size)]),
        np.concatenate([lower, demand.lower]),
        np.concatenate([upper, demand.upper]),
        np.concatenate([is_integer, demand.is_integer]),
    )


def _each_row_somewhere(model: Rows, problem: SubProblem) -> None:
    one = np.ones(problem.rows.size)
    total = problem.rows.astype(np.float64) if problem.is_divisible else one
    first = model.open(total, total)
    pairs = problem.member.size
    model.put(first + problem.member.astype(np.int64), np.arange(pairs), np.ones(pairs))


def _open_before_use(model: Rows, problem: SubProblem, most: Numbers) -> None:
    """Link every pair with the opening of its instance: x_ij - n_i u_j <= 0."""
    linked = np.flatnonzero(problem.fewest[problem.instance] > 0)
    first = model.open(np.full(linked.size, -np.inf), np.zeros(linked.size))
    row = first + np.arange(linked.size)
    model.put(row, linked, np.ones(linked.size))
    model.put(row, problem.member.size + problem.instance[linked], -most[linked].astype(np.float64))


def _people(model: Rows, problem: SubProblem) -> int:
    """Demand the people of open instances; return the number of columns that count shared people."""
    needy = np.flatnonzero(problem.fewest > 0)
    if not needy.size:
        return 0
    first = model.open(np.zeros(needy.size), np.full(needy.size, np.inf))
    row_of = np.full(problem.cost.size, -1, dtype=np.int64)
    row_of[needy] = first + np.arange(needy.size)
    model.put(row_of[needy], problem.member.size + needy, -problem.fewest[needy].astype(np.float64))
    asks_for_rows = problem.is_divisible | (problem.fewest[problem.instance] == 1)
    worth = np.where(asks_for_rows, 1, 1 if problem.is_divisible else problem.own[problem.member])
    pair = np.flatnonzero((row_of[problem.instance] >= 0) & (worth > 0))
    model.put(row_of[problem.instance[pair]], pair, worth[pair].astype(np.float64))
    if problem.is_divisible or not problem.shared.size:
        return 0
    return _shared_people(model, problem, row_of)


def _shared_people(model: Rows, problem: SubProblem, row_of: Numbers) -> int:
    """Count a person of several row types once per instance: z <= sum of x over her row types."""
    pair = np.flatnonzero(problem.fewest[problem.instance] > 1)
    times = np.diff(problem.shared_begin)[problem.member[pair]]
    owner = np.repeat(pair, times)
    offset = np.arange(owner.size) - np.repeat(np.cumsum(times) - times, times)
    person = problem.shared[problem.shared_begin[problem.member[owner]] + offset]
    places = np.stack([problem.instance[owner], person])
    (instance, _), column = np.unique(places, axis=1, return_inverse=True)
    before = problem.member.size + problem.cost.size
    counted = np.arange(instance.size)
    model.put(row_of[instance], before + counted, np.ones(instance.size))
    first = model.open(np.full(instance.size, -np.inf), np.zeros(instance.size))
    model.put(first + counted, before + counted, np.ones(instance.size))
    model.put(first + column.ravel(), owner, -np.ones(owner.size))
    return int(instance.size)


def _limit_classes(model: Rows, problem: SubProblem) -> None:
    if problem.fewest_open is None and problem.most_open is None:
        return
    least = -np.inf if problem.fewest_open is None else problem.fewest_open
    most = np.inf if problem.most_open is None else problem.most_open
    first = model.open(np.array([float(least)]), np.array([float(most)]))
    instances = problem.cost.size
    model.put(np.full(instances, first), problem.member.size + np.arange(instances), np.ones(instances))


@dataclass(frozen=True)
class Answer:
    """What is known about a sub-problem."""

    rows: NDArray[np.int64] | None
    """Shape (e,). Rows on each pair of the best solution, None if none is known."""
    cost: float
    """Its cost, infinite without one."""
    bound: float
    """Proven lower bound on the cost of every solution; infinite if there is none."""
    iterations: int = 0
    """Steps of the simplex method: effort that does not depend on the machine."""
    is_cut: bool = False
    """Whether the time limit ended the search."""

    @property
    def is_optimal(self) -> bool:
        """Whether no solution is cheaper than this one."""
        return self.bound >= self.cost

    @property
    def is_nearly_optimal(self) -> bool:
        """Whether no solution is cheaper by more than what bounds of costs without a unit are rounded by."""
        return self.bound >= self.cost - _ROUNDING * max(1.0, self.cost)


def solve_sub_problem(
    problem: SubProblem, effort: Effort = NO_LIMITS, hint: NDArray[np.int64] | None = None
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
    model = linear_model_of(problem)
    found = solve_linear_model(
        model, effort.since(begin), step=granularity(problem.cost),
        hint=None if hint is None else _hint(problem, hint),
    )  # fmt: skip
    known = math.inf if hint is None else problem.cost_of(hint)
    rows = _rows_of(problem, model, found.values)
    cost = math.inf if rows is None else problem.cost_of(rows)
    if cost >= known:
        rows, cost = hint, known
    return Answer(rows, cost, min(cost, found.bound), found.iterations, found.is_cut)


def solve_near_relaxation(
    problem: SubProblem, effort: Effort = NO_LIMITS, hint: NDArray[np.int64] | None = None
) -> Answer:
    """Search those solutions of a sub-problem that open what its linear relaxation opens or closes wholly.

    Parameters
    ----------
    hint : ndarray of int64, shape (e,), optional
        Rows on each pair of a valid solution. The answer is at least as good.

    Returns
    -------
    Answer
        Its bound is that of the relaxation.

    Raises
    ------
    SolverError
        The library fails, or answers with a solution that is none.

    Notes
    -----
    Berthold 2014, "RENS: the optimal rounding", for the columns that say which instances are open.
    """
    begin = time.monotonic()
    hint = hint if hint is None or _is_valid(problem, hint) else None
    model, step = linear_model_of(problem), granularity(problem.cost)
    relaxed = replace(model, is_integer=np.zeros_like(model.is_integer))
    relaxation = solve_linear_model(relaxed, replace(effort.since(begin), nodes=None), step=0.0)
    cost, rows, iterations = math.inf, None, relaxation.iterations
    if hint is not None:
        cost, rows = problem.cost_of(hint), hint
    if relaxation.values is None or relaxation.is_cut:
        return Answer(rows, cost, 0.0, iterations, relaxation.is_cut)
    pairs = problem.member.size
    share = relaxation.values[pairs : pairs + problem.cost.size]
    must, may = share > 1.0 - _NEARLY_WHOLE, share >= _NEARLY_WHOLE
    near = _opened(model, pairs, must, may)
    found = solve_linear_model(near, effort.since(begin), step=step)
    if found.values is None and not found.is_cut and hint is not None:
        opened = _hint(problem, hint)
        near = _opened(model, pairs, must & (opened[pairs:] > 0), may | (opened[pairs:] > 0))
        found = solve_linear_model(near, effort.since(begin), step=step, hint=opened)
    near_rows = _rows_of(problem, near, found.values)
    if near_rows is not None and problem.cost_of(near_rows) < cost:
        cost, rows = problem.cost_of(near_rows), near_rows
    return Answer(rows, cost, min(cost, relaxation.bound), iterations + found.iterations, found.is_cut)


def _hint(problem: SubProblem, rows: NDArray[np.int64]) -> Reals:
    """Return the first columns of a solution: what is on each pair, and which instances are open."""
    pairs = rows if problem.is_divisible else rows // problem.rows[problem.member]
    is_open = (np.bincount(problem.instance, weights=rows, minlength=problem.cost.size) > 0) | (
        problem.fewest == 0
    )
    return np.concatenate([pairs, is_open]).astype(np.float64)


def _rows_of(problem: SubProblem, model: LinearModel, values: Reals | None) -> NDArray[np.int64] | None:
    """Return the rows on each pair of the best solution.

    Rows of divisible row types are not declared to be whole, because with the open instances given they are
    a flow. Should they not be whole after all, the flow is solved.
    """
    if values is None:
        return None
    pairs, instances = problem.member.size, problem.cost.size
    if np.abs(values[:pairs] - np.rint(values[:pairs])).max(initial=0.0) > _WHOLE:
        is_open = np.rint(values[pairs : pairs + instances])
        values = solve_linear_model(_settled(model, pairs, is_open), step=0.0).values
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


def _settled(model: LinearModel, pairs: int, is_open: Reals) -> LinearModel:
    """Return the model with given open instances and whole rows."""
    is_integer = model.is_integer.copy()
    is_integer[:pairs] = True
    return replace(_opened(model, pairs, is_open, is_open), is_integer=is_integer)


def _opened(
    model: LinearModel, pairs: int, is_open: NDArray[np.generic], may_open: NDArray[np.generic]
) -> LinearModel:
    """Return the model in which some instances are open, and no others than some may be."""
    opening = slice(pairs, pairs + is_open.size)
    lower, upper = model.lower.copy(), model.upper.copy()
    lower[opening] = np.maximum(lower[opening], is_open)
    upper[opening] = np.maximum(lower[opening], may_open)
    return replace(model, lower=lower, upper=upper)
