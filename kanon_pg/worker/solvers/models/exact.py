"""The least suppression under privacy models, proven by integer programs in which the models are linear rows.

Bredereck, Nichterlein, Niedermeier and Philip (2014), section 4.3, add l-diversity to such a program by one
row per class and value. Written for the rows n_s with value s among the N rows of an instance:

- distinct values: ``y_s <= n_s``, ``y_s <= 1``, ``sum y_s >= p u``;
- frequency: ``l n_s <= N``;
- closeness, equal distance: ``z_s >= n_s - q_s N``, ``sum z_s <= t N``;
- closeness, ordered distance: ``d_r >= |sum_{s<=r} n_s - Q_r N|``, ``sum d_r <= t (m - 1) N``;
- entropy, which is not linear: for any shares v, ``-sum n_s ln v_s >= N ln l`` holds for all classes with
  enough entropy (Gibbs' inequality) and fails for a class whose own shares are v. Such cuts are collected
  from classes that violate the model.

All hold with zeros for closed instances. With undivided row types the same is asked for in people, which is
linear as long as people add up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import SolveRequest
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import evaluator_of, violations
from kanon_pg.worker.models.kernels import TOLERANCE, ModelEvaluator
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.exact.linear_model import Rows
from kanon_pg.worker.solvers.exact.search import Demands, search_exactly
from kanon_pg.worker.solvers.exact.sub_problem import Demand
from kanon_pg.worker.solvers.models.feasible import adds_up, require_feasible
from kanon_pg.worker.solvers.models.search import search_greedily_with_models
from kanon_pg.worker.solvers.search import SearchResult

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass
class ModelConstraints:
    """Writes the rows; `cuts` grows while solutions are found whose classes have too little entropy.

    Parameters
    ----------
    table : RowTypeTable
        Without an entity, or with one under which people add up.
    evaluator : ModelEvaluator
        The privacy models for this table.
    cuts : list of (int, ndarray of float64)
        Sensitive columns, and shares of their values, all above 0.
    """

    table: RowTypeTable
    evaluator: ModelEvaluator
    cuts: list[tuple[int, Reals]] = field(default_factory=list)

    def rows_of(self, begin: Numbers, row_type: Numbers, is_asked: NDArray[np.bool_]) -> Demand:
        """Return further columns and rows for some instances.

        Parameters
        ----------
        begin : ndarray of int64, shape (q + 1,)
            Where the members of each instance begin.
        row_type : ndarray of int64, shape (e,)
            Row type of each member.
        is_asked : ndarray of bool, shape (q,)
            Which instances have to satisfy the models.
        """
        asked = np.flatnonzero(is_asked)
        place = np.full(is_asked.size, -1, dtype=np.int64)
        place[asked] = np.arange(asked.size)
        owner = place[np.repeat(np.arange(is_asked.size), np.diff(begin))]
        pair = np.flatnonzero(owner >= 0)
        model = _Model(pair, owner[pair], row_type.size + asked, row_type.size + is_asked.size)
        types = row_type[pair]
        units = [np.ones(pair.size)]
        if self.table.has_entity:
            units = [self.table.rows[types].astype(np.float64), self.table.people[types].astype(np.float64)]
        for column in range(self.evaluator.codes.shape[0]):
            values = self.evaluator.codes[column][types].astype(np.int64)
            _put_distinct(model, self.evaluator, values)
            for unit, weight in enumerate(units):
                self._put_unit(model, column, unit, values, weight)
        return model.finish()

    def _put_unit(self, model: _Model, column: int, unit: int, values: Numbers, weight: Reals) -> None:
        evaluator = self.evaluator
        if not (evaluator.frequency or evaluator.entropy > 0 or evaluator.closeness < 1):
            return
        total = _put_total(model, weight)
        held = model.values_of(values)
        known = slice(int(evaluator.first[column]), int(evaluator.first[column + 1]))
        if evaluator.frequency:
            _put_frequency(model, held, total, weight, float(evaluator.frequency))
        if evaluator.entropy > 0:
            for number, shares in self.cuts:
                if number == column:
                    _put_cut(model, total, weight * -np.log(shares[values]), evaluator.entropy - TOLERANCE)
        if evaluator.closeness < 1 and evaluator.is_ordered:
            _put_ordered(model, values, total, weight, evaluator.cumulated[unit, known], evaluator.closeness)
        elif evaluator.closeness < 1:
            _put_equal(model, held, total, weight, evaluator.shares[unit, known], evaluator.closeness)


class _Held(NamedTuple):
    """Pairs of an instance and a value that occur: the one of each pair, and instance and value of each."""

    of_pair: Numbers
    owner: Numbers
    value: Numbers


class _Model:
    """Columns and rows while they grow.

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

    def __init__(self, pair: Numbers, owner: Numbers, opened: Numbers, columns: int) -> None:
        self.pair, self.owner, self.opened = pair, owner, opened
        self.rows = Rows()
        self.rows.put(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        self.rows.open(np.empty(0), np.empty(0))
        self._before = columns
        self._upper: list[Reals] = []

    def new_columns(self, count: int, upper: float = np.inf) -> Numbers:
        """Add columns from 0 up to a limit; return their numbers."""
        first = self._before + sum(one.size for one in self._upper)
        self._upper.append(np.full(count, upper))
        return np.arange(first, first + count)

    def at_least_0(self, count: int) -> Numbers:
        """Add rows whose sum is at least 0; return their numbers."""
        first = self.rows.open(np.zeros(count), np.full(count, np.inf))
        return np.arange(first, first + count)

    def values_of(self, values: Numbers) -> _Held:
        """Group pairs by instance and value."""
        width = int(values.max(initial=0)) + 1
        found, of_pair = np.unique(self.owner * width + values, return_inverse=True)
        return _Held(of_pair, found // width, found % width)

    def finish(self) -> Demand:
        """Return what was added."""
        upper = np.concatenate([np.empty(0), *self._upper])
        zeros, is_integer = np.zeros(upper.size), np.zeros(upper.size, dtype=np.bool_)
        done = self.rows.finish(zeros, zeros, upper, is_integer)
        return Demand(
            zeros, upper, is_integer, done.row_lower, done.row_upper, done.row, done.column, done.coefficient
        )


def _put_distinct(model: _Model, evaluator: ModelEvaluator, values: Numbers) -> None:
    """Ask for different values: every l-diversity asks for l of them."""
    needed = max(
        int(evaluator.distinct), int(evaluator.frequency), int(np.ceil(np.exp(evaluator.entropy) - 1e-6))
    )
    if needed <= 1:
        return
    held = model.values_of(values)
    occurs = model.new_columns(held.owner.size, 1.0)
    row = model.at_least_0(held.owner.size)
    model.rows.put(row, occurs, -np.ones(row.size))
    model.rows.put(row[held.of_pair], model.pair, np.ones(model.pair.size))
    row = model.at_least_0(model.opened.size)
    model.rows.put(row[held.owner], occurs, np.ones(occurs.size))
    model.rows.put(row, model.opened, np.full(row.size, -float(needed)))


def _put_total(model: _Model, weight: Reals) -> Numbers:
    """Add a column per instance that is the rows (or people) of all its pairs."""
    total = model.new_columns(model.opened.size)
    first = model.rows.open(np.zeros(total.size), np.zeros(total.size))
    row = np.arange(first, first + total.size)
    model.rows.put(row, total, -np.ones(row.size))
    model.rows.put(row[model.owner], model.pair, weight)
    return total


def _put_frequency(model: _Model, held: _Held, total: Numbers, weight: Reals, l: float) -> None:  # noqa: E741
    row = model.at_least_0(held.owner.size)
    model.rows.put(row, total[held.owner], np.ones(row.size))
    model.rows.put(row[held.of_pair], model.pair, -l * weight)


def _put_cut(model: _Model, total: Numbers, surprise: Reals, entropy: float) -> None:
    row = model.at_least_0(total.size)
    model.rows.put(row, total, np.full(row.size, -entropy))
    used = surprise != 0
    model.rows.put(row[model.owner[used]], model.pair[used], surprise[used])


def _put_equal(model: _Model, held: _Held, total: Numbers, weight: Reals, shares: Reals, t: float) -> None:
    excess = model.new_columns(held.owner.size)
    row = model.at_least_0(held.owner.size)
    model.rows.put(row, excess, np.ones(row.size))
    model.rows.put(row, total[held.owner], shares[held.value])
    model.rows.put(row[held.of_pair], model.pair, -weight)
    row = model.at_least_0(total.size)
    model.rows.put(row, total, np.full(row.size, t + TOLERANCE))
    model.rows.put(row[held.owner], excess, -np.ones(excess.size))


def _put_ordered(
    model: _Model, values: Numbers, total: Numbers, weight: Reals, cumulated: Reals, t: float
) -> None:
    """Cumulate the rows of an instance value by value, and bound the differences on both sides."""
    steps = cumulated.size - 1
    if steps == 0:
        return
    count = total.size
    whole = model.at_least_0(count)
    model.rows.put(whole, total, np.full(count, (t + TOLERANCE) * steps))
    before: Numbers | None = None
    for step in range(steps):
        inside = model.new_columns(count)
        first = model.rows.open(np.zeros(count), np.zeros(count))
        row = np.arange(first, first + count)
        model.rows.put(row, inside, -np.ones(count))
        if before is not None:
            model.rows.put(row, before, np.ones(count))
        here = values == step
        model.rows.put(row[model.owner[here]], model.pair[here], weight[here])
        apart = model.new_columns(count)
        for sign in (1.0, -1.0):
            row = model.at_least_0(count)
            model.rows.put(row, apart, np.ones(count))
            model.rows.put(row, inside, np.full(count, sign))
            model.rows.put(row, total, np.full(count, -sign * cumulated[step]))
        model.rows.put(whole, apart, -np.ones(count))
        before = inside


PEOPLE_DO_NOT_ADD_UP = (
    "People of several row types, or rows of nobody, make the privacy models not linear: "
    "the result is that of the heuristic."
)

_MOST_ROUNDS = 40
_SMOOTHING = 1e-3


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
        See `kanon_pg.worker.solvers.exact.search.search_exactly`. Prices that ignore the models stay valid.

    Raises
    ------
    InfeasibleError
        No release can satisfy the models, or none was found.

    Notes
    -----
    The program of Bredereck et al. (2014), section 4.3, over row types. For the entropy it is solved again
    with a cut for every class that has too little, until none has.
    """
    require_feasible(table, request.models)
    start = start or search_greedily_with_models(table, mask, request, clock)
    if not adds_up(table):
        return replace(start, notes=(*start.notes, PEOPLE_DO_NOT_ADD_UP))
    evaluator = evaluator_of(table, request.models)
    constraints = ModelConstraints(table, evaluator)

    def are_met(solution: Solution) -> bool:
        parts = solution.parts_of(table)
        classes = classes_of(parts, solution.vector)
        own = evaluator_of(parts, request.models) if solution.is_divided else evaluator
        found = violations(own, classes.class_of, len(classes))
        is_bad = found.any
        if request.rest_may_be_small:
            is_bad = is_bad & (classes.vectors != mask.full)
        for number in np.flatnonzero(found.entropy & is_bad):
            _add_cuts(constraints, solution, classes.class_of == number)
        return not is_bad.any()

    best = start
    for _ in range(_MOST_ROUNDS):
        known = len(constraints.cuts)
        best = search_exactly(
            table, mask, request, clock, best, prices,
            demands=Demands(constraints.rows_of, are_met), nodes=nodes, gap=gap,
        )  # fmt: skip
        if len(constraints.cuts) == known or clock.is_over():
            break
    return best


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
