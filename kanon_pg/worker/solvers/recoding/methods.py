"""Methods for tables with hierarchies: from row types to a solution and what is proven about it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.errors import InfeasibleError, InputError, SolverError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import evaluator_of
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult
from kanon_pg.worker.solvers.bounds.prices import Prices
from kanon_pg.worker.solvers.bounds.reach import cheapest_levels
from kanon_pg.worker.solvers.portfolio import GOAL
from kanon_pg.worker.solvers.recoding.dives import LevelDives
from kanon_pg.worker.solvers.recoding.exact import search_small
from kanon_pg.worker.solvers.recoding.full_domain import best_full_domain
from kanon_pg.worker.solvers.recoding.improvement import improve_classes
from kanon_pg.worker.solvers.recoding.prices import LevelPrices, raise_level_prices
from kanon_pg.worker.solvers.recoding.refinement import refined
from kanon_pg.worker.solvers.recoding.starts import Start, SuppressionAlone, along_hierarchies, start_of
from kanon_pg.worker.solvers.recoding.task import RecodingTask, task_of

FULL_DOMAIN_BOUND = "search of all level vectors, rows suppressed by whole combinations"
"""What proves a bound over full-domain recodings; local ones may cost less."""

_MARGIN = 1e-9
"""What sums of losses may be wrong by, as a share."""

_SHARE_FOR_SEARCH = 0.4
"""Share of the time that is left for better solutions; the rest is for the lower bound."""

_SHARE_FOR_PRICES = 0.85
"""Share of the time that is left for the lower bound; the rest is for checking it."""

_SHARE_BEFORE_DIVES = 0.7
"""Share of the time for classes and prices, where dives under privacy models follow."""

_SHARE_BEFORE_PRICES = 0.15
_SHARE_FOR_PRICES_BEFORE_REFINEMENT = 0.6
"""Shares of the time that is left, where what the prices favour is searched afterwards."""

_SHARE_OF_DIVES = 0.5
"""Share of the time that is left which dives take while suppression alone may still find something."""

DIVED = "prices of rows settled under the privacy models"
_AGAIN = ", parts of it anew"

PRICES_METHOD = "prices of rows"
"""What proves a bound by prices before they are checked."""

_LONG = 4
"""How many times the usual effort method exact spends where it proves nothing."""

Recoding = Callable[[RecodingTask], SearchResult]


def search_with_hierarchies(
    packed: PackedRowTypes, table: RowTypeTable, request: SolveRequest, clock: Clock
) -> SearchResult:
    """Choose at which level each cell is published.

    Raises
    ------
    InputError
        The request asks for something that has no meaning with hierarchies, or a hierarchy cannot be used.
    InfeasibleError
        No release can satisfy the models, or none was found.
    """
    _require_meaning(request)
    return RECODINGS[request.method](task_of(packed, table, request, clock))


def _require_meaning(request: SolveRequest) -> None:
    if request.method not in RECODINGS:
        raise InputError(
            f"Method {request.method} does not support hierarchies.",
            hint=f"Methods that do are: {', '.join(RECODINGS)}.",
        )
    if request.patterns is not None:
        raise InputError(
            "Patterns name suppressed columns alone, and the columns have hierarchies.",
            hint="Leave out the patterns; a hierarchy can have a lowest level.",
        )
    if request.fewest_classes is not None or request.most_classes is not None:
        raise InputError(
            "The number of classes cannot be limited with hierarchies.", hint="Leave out the limit."
        )
    share = request.suppressed_rows
    if share is not None and not 0 <= share <= 1:
        raise InputError(
            "The largest share of suppressed rows is not a number from 0 to 1.", hint="Leave it out for any."
        )
    if request.rest_may_be_small:
        raise InputError("With hierarchies no class may be small.", hint="Leave out the paper's rule.")


def _found(whole: RecodingTask, start: Start) -> SearchResult:
    """Return classes as a solution, with what can be proven in a moment."""
    bound, name = _quick_bound(whole, _known(whole, start))
    return SearchResult(start.task.solution_of(start.class_of), start.method, bound, name)


def _quick_bound(task: RecodingTask, known: NDArray[np.float64]) -> tuple[float, str]:
    """Return a bound and what proves it; `known` has the cost of a row of each row type in some solution."""
    models = evaluator_of(task.table, task.request.models) if task.request.models else None
    reach, name = cheapest_levels(task.forest, task.table, task.request.k, known, task.clock, models=models)
    return float((reach * task.table.rows).sum()) * (1 - _MARGIN), name


def _known(whole: RecodingTask, start: Start) -> NDArray[np.float64]:
    """Return what a row of each row type costs at most in some classes."""
    known = np.zeros(len(whole.table))
    np.maximum.at(known, start.task.order, start.task.row_costs_of(start.class_of))
    return known


def _greedy(task: RecodingTask) -> SearchResult:
    return _found(task, start_of(task))


def _mondrian(task: RecodingTask) -> SearchResult:
    return _found(task, along_hierarchies(task))


def _local(whole: RecodingTask) -> SearchResult:
    """Improve classes, then prove a bound by prices."""
    start = _improved(start_of(whole), whole.clock.part(_SHARE_FOR_SEARCH))
    raised = None if whole.clock.is_over() else _raised(whole, start, whole.clock.part(_SHARE_FOR_PRICES))
    return _found(whole, start) if raised is None else _certified(start, raised.found)


def _thorough(whole: RecodingTask, goal: float, times: int = 1) -> SearchResult:
    """Improve classes, prove a bound by prices, and search among the classes that the prices favour."""
    has_models = bool(whole.request.models)
    with closing(SuppressionAlone(whole)) as alone:
        start = start_of(whole)
        if has_models:
            searching = whole.clock.part(_SHARE_BEFORE_DIVES)
            start = _improved(start, searching.part(_SHARE_FOR_SEARCH), times)
        else:
            searching = whole.clock
            start = _improved(start, searching.part(_SHARE_BEFORE_PRICES))
        share = _SHARE_FOR_PRICES if has_models else _SHARE_FOR_PRICES_BEFORE_REFINEMENT
        raised = None if searching.is_over() else _raised(whole, start, searching.part(share))
        clock = whole.clock.without(0.0 if raised is None else 2 * raised.found.pass_seconds)
        found, is_first = alone.or_cheaper(start), True
        while found is not start or is_first:
            if has_models and found is not start:
                found = _improved(found, clock, times)
            start = found
            if raised is not None and has_models:
                part = clock.part(_SHARE_OF_DIVES) if alone.is_due else clock
                start = _dived(whole, start, raised, goal, part, anew=is_first)
            elif raised is not None:
                start = _improved(refined(whole, start, raised, goal, clock), clock, times)
            found, is_first = alone.or_cheaper(start, waits=True), False
    if raised is None:
        return _found(whole, start)
    result = _certified(start, raised.found)
    is_enough = start.cost > raised.found.bound >= (1.0 - goal) * start.cost
    return replace(result, termination=Termination.GOAL) if is_enough else result


def _dived(
    whole: RecodingTask, start: Start, raised: LevelPrices, goal: float, clock: Clock, *, anew: bool
) -> Start:
    """Dive under privacy models until a solution is good enough, or in vain; `anew`, for all rows first.

    Then parts of the best solution are taken apart.
    """
    if whole.table.has_entity or clock.is_over():
        return start
    dives, least = LevelDives(whole, raised.found, clock), raised.found.bound / (1.0 - goal)
    try:
        with suppress(InfeasibleError):  # what was left over could not be given a class
            dived = dives.first() if anew else None
            if dived is not None:
                start = min(start, dives.start_of(dived, DIVED), key=lambda one: one.cost)
        for dived in () if start.cost <= least else dives.in_turn(dives.solution_of(start)):
            start = dives.start_of(dived, f"{start.method.removesuffix(_AGAIN)}{_AGAIN}")
            if start.cost <= least:
                break
    except (SolverError, MemoryError):
        pass  # what was found until then is valid
    return start


def _raised(whole: RecodingTask, start: Start, clock: Clock) -> LevelPrices | None:
    return raise_level_prices(whole, _known(whole, start), start.cost, clock)


def _certified(start: Start, found: Prices) -> SearchResult:
    """Return classes as a solution with prices that prove a bound."""
    solution = start.task.solution_of(start.class_of)
    return SearchResult(solution, start.method, found.bound, PRICES_METHOD, prices=found.prices)


def _improved(start: Start, clock: Clock, times: int = 1) -> Start:
    task, class_of, method = start.task, start.class_of, start.method
    improved = improve_classes(task, class_of, clock, seed=task.request.seed or 0, times=times)
    if task.cost_of(improved) >= start.cost:
        return start
    return start._replace(class_of=improved, method=f"{method}, improved")


def _auto(task: RecodingTask) -> SearchResult:
    return search_small(task) or _thorough(task, GOAL)


def _exact(task: RecodingTask) -> SearchResult:
    return search_small(task) or _thorough(task, 0.0, _LONG)


def _row_assignment(task: RecodingTask) -> SearchResult:
    found = None if task.table.has_entity or task.request.models else search_small(task)
    if found is None and task.clock.has_cut:
        return _local(task)
    if found is None:
        raise InfeasibleError(
            "Method row_assignment is for tables with few row types, without an entity and privacy models.",
            hint="Use method => 'exact'.",
        )
    return found


def _full_domain(task: RecodingTask) -> SearchResult:
    share = task.request.suppressed_rows
    best = best_full_domain(task, most_suppressed=1.0 if share is None else share)
    vector = np.where(best.is_suppressed, task.fields.top, task.fields.pattern_of(best.levels))
    solution, method = task.published(vector), "full-domain recoding"
    if best.is_best and np.array_equal(solution.vector, vector):
        return SearchResult(solution, method, bound_method=FULL_DOMAIN_BOUND, is_best=True)
    if best.complete:
        return SearchResult(solution, method, best.bound * (1 - _MARGIN), FULL_DOMAIN_BOUND)
    return SearchResult(solution, method, *_quick_bound(task, task.row_costs_at(vector)))


RECODINGS: dict[str, Recoding] = {
    "auto": _auto,
    "greedy": _greedy,
    "local": _local,
    "mondrian": _mondrian,
    "full_domain": _full_domain,
    "row_assignment": _row_assignment,
    "exact": _exact,
}
"""The methods that a request with hierarchies can name."""
