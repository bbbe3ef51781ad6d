"""Heuristics, each with a lower bound that needs no search: greedy with local search, and Mondrian."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import SolverError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.models.class_counts import ModelEvaluator
from kanon_pg.worker.models.evaluator import evaluator_of, require_feasible, violations
from kanon_pg.worker.patterns import PatternMask, cheapest_first
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.bounds.reach import BY_REACH, WHEN_LATE, cheapest_reach
from kanon_pg.worker.solvers.greedy.heuristic import greedy
from kanon_pg.worker.solvers.greedy.rest import fill_rest
from kanon_pg.worker.solvers.local_search.improvement import improve
from kanon_pg.worker.solvers.mondrian import mondrian
from kanon_pg.worker.solvers.sensitive_flow import reassign_sensitively

BY_REACH_UNDER_MODELS = f"{BY_REACH}, under the privacy models"


class _Task(NamedTuple):
    """What a heuristic works on."""

    table: RowTypeTable
    models: ModelEvaluator | None
    mask: PatternMask
    request: SolveRequest
    clock: Clock

    @property
    def k(self) -> int:
        """Fewest people per class."""
        return self.request.k

    def filled(self, assigned: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return an assignment whose fully suppressed class satisfies everything, see `fill_rest`."""
        return fill_rest(self.table, assigned, self.k, self.models, self.clock)

    def cost(self, assigned: NDArray[np.int64]) -> float:
        """Return the weighted cost of an assignment."""
        return Solution.undivided(self.table, assigned).cost(self.table.weights)

    def solution(self, assigned: NDArray[np.int64]) -> Solution:
        """Return the solution of an assignment."""
        return Solution.undivided(self.table, assigned)


def _task_of(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> _Task:
    if not request.models:
        return _Task(table, None, mask, request, clock)
    require_feasible(table, request.models)
    return _Task(table, evaluator_of(table, request.models), mask, request, clock)


def search_greedily(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult:
    """Run the greedy heuristic, fill the fully suppressed class, improve, and prove a lower bound.

    Under privacy models the heuristic runs twice: groups that violate a model are thinned out the first time
    and left alone the second time, and the cheaper result is improved. If p-sensitivity of one column is all
    that is demanded, rows are then distributed among the classes by flow, which may divide row types.

    With the paper's rule for the rest (`SolveRequest.rest_may_be_small`) the heuristic runs alone, with
    thinning, and the fully suppressed class may violate everything.

    Parameters
    ----------
    table : RowTypeTable
        With at least k people.

    Raises
    ------
    InfeasibleError
        No release can satisfy the models, or none was found.
    """
    task = _task_of(table, mask, request, clock)
    vectors = cheapest_first(mask, table.cardinalities, request.seed)
    assigned = greedy(task.table, vectors, task.k, clock, task.models)
    if request.rest_may_be_small:
        return SearchResult(task.solution(assigned), "greedy")
    assigned = task.filled(assigned)
    if task.models is not None and not clock.is_over():
        assigned = min(assigned, _without_thinning(task, vectors, assigned), key=task.cost)
    return _redistributed(task, _improved(task, assigned, "greedy"))


def _without_thinning(
    task: _Task, vectors: NDArray[np.int64], assigned: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return what the heuristic finds that leaves groups alone, or what is known if time ends it."""
    try:
        other = greedy(task.table, vectors, task.k, task.clock.raising(), task.models, is_thinned=False)
    except TimeOver:
        return assigned
    return task.filled(other)


def repair_and_improve(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    clock: Clock,
    assigned: NDArray[np.int64],
    method: str,
) -> SearchResult:
    """Make any assignment satisfy k and the privacy models, improve it, and prove a lower bound.

    Classes that violate something are suppressed fully; see `fill_rest` for the class that results.

    Parameters
    ----------
    assigned : ndarray of int64, shape (n,)
        What a method found that may know no privacy model.
    method : str
        What found it, in words.

    Raises
    ------
    InputError, InfeasibleError
        As `search_greedily`.
    """
    task = _task_of(table, mask, request, clock)
    classes = classes_of(task.table, assigned)
    is_bad = classes.people < request.k
    if task.models is not None:
        is_bad |= violations(task.models, classes.class_of, len(classes)).any
    return _improved(task, task.filled(np.where(is_bad[classes.class_of], mask.full, assigned)), method)


def search_by_mondrian(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult:
    """Run Mondrian, which knows no privacy models, repair its result under them, and prove a lower bound."""
    assigned = mondrian(table, mask, request.k, clock)
    if request.models:
        return repair_and_improve(table, mask, request, clock, assigned, "mondrian")
    task = _task_of(table, mask, request, clock)
    return _with_bound(task, _reach(task), SearchResult(task.solution(assigned), "mondrian"))


def _reach(task: _Task) -> NDArray[np.float64]:
    # A bound comes with every solution; its effort is limited, and less where models make it costly.
    clock = task.clock.without_end()
    is_late = task.models is not None and task.clock.is_over()
    effort = WHEN_LATE if is_late else None
    return cheapest_reach(task.table, task.mask.vectors, task.k, clock, effort, models=task.models)


def _improved(task: _Task, assigned: NDArray[np.int64], method: str) -> SearchResult:
    """Improve an assignment as far as memory allows, and prove a lower bound."""
    reach = _reach(task)
    try:
        improved = improve(
            task.table, task.mask.vectors, assigned, reach, task.k, task.clock, models=task.models
        )
    except MemoryError as error:
        return _with_bound(task, reach, SearchResult(task.solution(assigned), method)).given_up(error)
    is_better = task.cost(improved) < task.cost(assigned)
    found = SearchResult(
        task.solution(improved if is_better else assigned), f"{method}, improved" if is_better else method
    )
    return _with_bound(task, reach, found)


def _with_bound(task: _Task, reach: NDArray[np.float64], found: SearchResult) -> SearchResult:
    bound = float((np.minimum(reach, task.mask.outside) * task.table.rows).sum())
    method = BY_REACH if task.models is None else BY_REACH_UNDER_MODELS
    return replace(found, lower_bound=bound, bound_method=method)


def _redistributed(task: _Task, found: SearchResult) -> SearchResult:
    """Distribute rows among the classes by flow if p-sensitivity of one column is all that is demanded."""
    table, models = task.table, task.request.models
    is_alone = not replace(models, p=None) and len(table.sensitive_columns) == 1
    if models.p is None or not is_alone or table.has_entity or task.clock.is_over():
        return found
    before = found.solution
    try:
        after = reassign_sensitively(table, before, task.k, models.p, task.clock)
    except SolverError as error:
        return found.given_up(error)
    if after is None or after.cost(table.weights) >= before.cost(table.weights):
        return found
    return replace(found, solution=after, method=f"{found.method}, minimum-cost flow")
