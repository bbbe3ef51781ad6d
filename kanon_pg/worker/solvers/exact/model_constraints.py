"""The least suppression under privacy models, proven by integer programs in which the models are linear rows.

Bredereck, Nichterlein, Niedermeier and Philip (2014), section 4.3, add l-diversity to such a program by one
row per class and value. Each model writes its own rows (`PrivacyModel.write`), which hold with zeros for
closed instances. Rows of models that are not linear are cuts that hold for all classes that satisfy them;
they are learned from classes of solutions that do not. With undivided row types the same is demanded for in
people, which is linear as long as people add up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.class_counts import ROWS, ModelEvaluator
from kanon_pg.worker.models.distinct_values import write_values
from kanon_pg.worker.models.evaluator import adds_up, demanded, evaluator_of, require_feasible, violations
from kanon_pg.worker.models.privacy_model import HeldValues, Numbers, Reals
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.exact.integer_program import Rows
from kanon_pg.worker.solvers.exact.optimum import ProgramDemands, search_exactly
from kanon_pg.worker.solvers.exact.sub_problem import Demand
from kanon_pg.worker.solvers.heuristics import search_greedily


@dataclass
class ModelConstraints:
    """Writes the rows; `cuts` grows while solutions are found whose classes violate what is learned."""

    table: RowTypeTable
    """Without an entity, or with one under which people add up."""
    models: PrivacyModels
    """What is demanded."""
    evaluator: ModelEvaluator
    """The same for this table."""
    cuts: list[tuple[int, Reals]] = field(default_factory=list)
    """Sensitive columns, and shares of their values, all above 0."""

    def rows_of(self, begin: Numbers, row_type: Numbers, is_constrained: NDArray[np.bool_]) -> Demand:
        """Return further columns and rows for some instances.

        Parameters
        ----------
        begin : ndarray of int64, shape (q + 1,)
            Where the members of each instance begin.
        row_type : ndarray of int64, shape (e,)
            Row type of each member.
        is_constrained : ndarray of bool, shape (q,)
            Which instances have to satisfy the models.
        """
        constrained = np.flatnonzero(is_constrained)
        place = np.full(is_constrained.size, -1, dtype=np.int64)
        place[constrained] = np.arange(constrained.size)
        owner = place[np.repeat(np.arange(is_constrained.size), np.diff(begin))]
        pair = np.flatnonzero(owner >= 0)
        types = row_type[pair]
        units = [np.ones(pair.size)]
        if self.table.has_entity:
            units = [self.table.rows[types].astype(np.float64), self.table.people[types].astype(np.float64)]
        opened = row_type.size + constrained
        program = _Program(pair, owner[pair], opened, row_type.size + is_constrained.size)
        asked_for = demanded(self.models)
        least = max(model.least_values(demand) for model, demand in asked_for)
        for column in range(self.evaluator.codes.shape[0]):
            program.values = self.evaluator.codes[column][types].astype(np.int64)
            program.cuts = [shares for number, shares in self.cuts if number == column]
            known = slice(int(self.evaluator.first[column]), int(self.evaluator.first[column + 1]))
            for unit, weight in enumerate(units):
                program.look_at(
                    weight, self.evaluator.shares[unit, known], self.evaluator.cumulated[unit, known]
                )
                if unit == ROWS and least > 1:
                    write_values(program, least)
                for model, demand in asked_for:
                    if unit == ROWS or model.in_people:
                        model.write(program, demand)
        return program.finish()


class _Program:
    """Columns and rows while they grow; see `kanon_pg.worker.models.privacy_model.LinearProgram`.

    Parameters
    ----------
    pair : ndarray of int64, shape (e,)
        Pairs of the instances that have to satisfy the models.
    owner : ndarray of int64, shape (e,)
        Instance of each pair, numbered among those.
    opened : ndarray of int64, shape (q,)
        Column that says whether each instance is open.
    columns : int
        Columns that exist already.
    """

    values: Numbers
    weight: Reals
    shares: Reals
    cumulated: Reals
    cuts: list[Reals]

    def __init__(self, pair: Numbers, owner: Numbers, opened: Numbers, columns: int) -> None:
        self.pair, self.owner, self.opened = pair, owner, opened
        self._rows = Rows()
        self.put(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        self.at_least_0(0)
        self._before = columns
        self._upper: list[Reals] = []

    def look_at(self, weight: Reals, shares: Reals, cumulated: Reals) -> None:
        """Turn to another sensitive column or unit."""
        self.weight, self.shares, self.cumulated = weight, shares, cumulated
        for known in ("total", "held"):
            self.__dict__.pop(known, None)

    @cached_property
    def total(self) -> Numbers:
        """Columns, one per instance, that are the rows (or people) of all its pairs."""
        total = self.new_columns(self.opened.size)
        row = self.exactly_0(total.size)
        self.put(row, total, -np.ones(row.size))
        self.put(row[self.owner], self.pair, self.weight)
        return total

    @cached_property
    def held(self) -> HeldValues:
        """Pairs grouped by instance and value."""
        width = int(self.values.max(initial=0)) + 1
        found, of_pair = np.unique(self.owner * width + self.values, return_inverse=True)
        return HeldValues(of_pair, found // width, found % width)

    def new_columns(self, count: int, upper: float = np.inf) -> Numbers:
        """Add columns from 0 up to a limit; return their numbers."""
        first = self._before + sum(one.size for one in self._upper)
        self._upper.append(np.full(count, upper))
        return np.arange(first, first + count)

    def at_least_0(self, count: int) -> Numbers:
        """Add rows whose sum is at least 0; return their numbers."""
        first = self._rows.open(np.zeros(count), np.full(count, np.inf))
        return np.arange(first, first + count)

    def exactly_0(self, count: int) -> Numbers:
        """Add rows whose sum is 0; return their numbers."""
        first = self._rows.open(np.zeros(count), np.zeros(count))
        return np.arange(first, first + count)

    def put(self, row: Numbers, column: Numbers, coefficient: Reals) -> None:
        """Add coefficients to rows; no place may be used twice."""
        self._rows.put(row, column, coefficient)

    def finish(self) -> Demand:
        """Return what was added."""
        upper = np.concatenate([np.empty(0), *self._upper])
        zeros, is_integer = np.zeros(upper.size), np.zeros(upper.size, dtype=np.bool_)
        done = self._rows.finish(zeros, zeros, upper, is_integer)
        return Demand(
            zeros, upper, is_integer, done.row_lower, done.row_upper, done.row, done.column, done.coefficient
        )


PEOPLE_DO_NOT_ADD_UP = (
    "People of several row types, or rows of nobody, make the privacy models not linear: "
    "the result is that of the heuristic."
)

_MOST_ROUNDS = 40
_SMOOTHING = 1e-3
"""Programs with ever more cuts, at most; and what values that a class lacks share in its cut, so that
logarithms are finite."""


def search_exactly_with_models(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    clock: Clock,
    start: SearchResult | None = None,
    prices: NDArray[np.int64] | None = None,
    *,
    nodes: int | None = None,
    gap: float = 0.0,
) -> SearchResult:
    """Find a solution of least cost under privacy models, or come as close as time allows.

    Parameters
    ----------
    table, mask, request, clock, start, prices, nodes, gap
        See `kanon_pg.worker.solvers.exact.optimum.search_exactly`. Prices that ignore the models stay valid.

    Raises
    ------
    InfeasibleError
        No release can satisfy the models, or none was found.

    Notes
    -----
    The program of Bredereck et al. (2014), section 4.3, over row types. For models that are learned it is
    solved again with a cut for every class that violates them, until none does.
    """
    require_feasible(table, request.models)
    start = start or search_greedily(table, mask, request, clock)
    if not adds_up(table):
        return replace(start, notes=(*start.notes, PEOPLE_DO_NOT_ADD_UP))
    constraints = ModelConstraints(table, request.models, evaluator_of(table, request.models))

    def are_met(solution: Solution) -> bool:
        return _are_met(constraints, solution, mask.full if request.rest_may_be_small else None)

    best = start
    for _ in range(_MOST_ROUNDS):
        known = len(constraints.cuts)
        best = search_exactly(
            table, mask, request, clock, best, prices,
            demands=ProgramDemands(constraints.rows_of, are_met), nodes=nodes, gap=gap,
        )  # fmt: skip
        if len(constraints.cuts) == known or clock.is_over():
            break
    return best


def _are_met(constraints: ModelConstraints, solution: Solution, exempt: int | None) -> bool:
    """Return whether all classes satisfy the models; else learn cuts from those that do not.

    The class under the vector `exempt` need not satisfy anything.
    """
    parts = solution.parts_of(constraints.table)
    classes = classes_of(parts, solution.vector)
    own = evaluator_of(parts, constraints.models) if solution.is_divided else constraints.evaluator
    found = violations(own, classes.class_of, len(classes))
    is_bad = found.any if exempt is None else found.any & (classes.vectors != exempt)
    for number in np.flatnonzero(found.to_learn_from & is_bad):
        _add_cuts(constraints, solution, classes.class_of == number)
    return not is_bad.any()


def _add_cuts(constraints: ModelConstraints, solution: Solution, inside: NDArray[np.bool_]) -> None:
    """Add the cuts of one class in every sensitive column that are not known yet."""
    evaluator = constraints.evaluator
    types = solution.row_type[inside]
    weights = [solution.rows[inside]]
    if constraints.table.has_entity:
        weights.append(constraints.table.people[types])
    for column in range(evaluator.codes.shape[0]):
        width = int(evaluator.first[column + 1] - evaluator.first[column])
        for weight in weights:
            counts = np.bincount(evaluator.codes[column][types], weights=weight, minlength=width)
            shares = (1 - _SMOOTHING) * counts / counts.sum() + _SMOOTHING / width
            is_known = any(
                number == column and np.allclose(other, shares, rtol=0, atol=1e-12)
                for number, other in constraints.cuts
            )
            if not is_known:
                constraints.cuts.append((column, shares))
