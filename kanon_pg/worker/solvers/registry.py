"""The methods that a request can name, and the one function that calls them and checks their answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.json_numbers import is_whole
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveOutcome, SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.errors import DEFECT, InfeasibleError, InputError, SolverError, UnknownName
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock, Progress, no_progress
from kanon_pg.worker.measures import usefulness, utility
from kanon_pg.worker.packed_numbers import buffer_of
from kanon_pg.worker.patterns import PatternMask, parse_patterns
from kanon_pg.worker.row_types import RowTypeTable, by_content
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.bounded_mask import mask_of_all
from kanon_pg.worker.solvers.heuristics import search_by_mondrian, search_greedily
from kanon_pg.worker.solvers.pairs import MOST_ROW_TYPES, search_by_pairs
from kanon_pg.worker.solvers.portfolio import BY_PRICES, search_until_good, search_until_optimal
from kanon_pg.worker.solvers.recoding.methods import RECODINGS, search_with_hierarchies
from kanon_pg.worker.solvers.recoding.task import classes_of_solution
from kanon_pg.worker.solvers.row_assignment import search_by_row_assignment
from kanon_pg.worker.solvers.same_level import solve_at_one_level
from kanon_pg.worker.solvers.subsets import search_by_subsets
from kanon_pg.worker.verification.certificate import certified_bound
from kanon_pg.worker.verification.recount import (
    CountedSolution,
    recount,
    require_k,
    require_models,
    require_subsets,
)

Method = Callable[[RowTypeTable, PatternMask, SolveRequest, Clock], SearchResult]


def _greedy(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> SearchResult:
    _require_no_limits(request)
    return search_greedily(table, mask, request, clock)


def _mondrian(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> SearchResult:
    _require_no_limits(request)
    return search_by_mondrian(table, mask, request, clock)


def _pairs(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> SearchResult:
    found = search_by_pairs(table, mask, request, clock)
    if found is None:
        raise InputError(
            f"Method pairs is for k = 2 and tables of at most {MOST_ROW_TYPES:,} row types; it supports no "
            "entity, no privacy model and no limit for the number of classes.",
            hint="Use method => 'exact'.",
        )
    return found


def _row_assignment(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult:
    found = search_by_row_assignment(table, mask, request, clock)
    if found is None and clock.has_cut:
        return search_until_optimal(table, mask, request, clock)
    if found is None:
        raise InfeasibleError(
            "Method row_assignment is for tables with few row types; this table has too many for it.",
            hint="Use method => 'exact'.",
        )
    return found


def _require_no_limits(request: SolveRequest) -> None:
    if request.fewest_classes is not None or request.most_classes is not None:
        raise InputError(
            f"Method {request.method} cannot limit the number of classes.", hint="Use method => 'exact'."
        )


METHODS: dict[str, Method] = {
    "auto": search_until_good,
    "greedy": _greedy,
    "exact": search_until_optimal,
    "pairs": _pairs,
    "row_assignment": _row_assignment,
    "mondrian": _mondrian,
}
"""The methods that a request can name."""


CERTIFIED = f"{BY_PRICES}, checked"
"""What proves a bound that comes with a certificate."""

_ROUNDING = 1e-12
"""Costs that differ by less are equal; sums of weights are exact only if the weights are binary fractions."""


def solve(row_types: PackedRowTypes, request: SolveRequest, progress: Progress = no_progress) -> SolveOutcome:
    """Choose which cells to suppress or generalize so that every class has at least k people.

    Parameters
    ----------
    progress : callable, optional
        Called with the phase and the share done at least every 0.3 s; whatever it raises cancels.

    Returns
    -------
    SolveOutcome
        A solution that an independent recount has confirmed.

    Raises
    ------
    InputError
        k, the method, the patterns, a weight or the number of columns cannot be used.
    InfeasibleError
        The table has fewer than k people.
    SolverError
        The recount contradicts the solver.
    """
    clock = Clock(request.seconds, progress)
    clock.report("prepare", None)
    _require_usable(request)
    if request.same_level:
        return solve_at_one_level(row_types, request, solve, progress)
    row_types = _simplified(row_types, request)
    method = None if row_types.hierarchies or request.subsets else _method(request)
    table = _table(row_types, request, clock)
    # All methods break ties by content: the order of rows changes no solution, and with hierarchies
    # suppression finds what it finds alone.
    ordered, order = by_content(table)
    mask = None
    if request.subsets:
        found = search_by_subsets(ordered, request, clock)
    elif method is None:
        found = search_with_hierarchies(row_types, ordered, request, clock)
    else:
        mask = _mask(ordered, request, clock)
        clock.report("prepare", None)
        found = method(ordered, mask, request, clock)
    clock.report("verify", None)
    found = _reordered(found, order)
    parts = found.solution.parts_of(table)
    if mask is not None:
        _require_allowed(found.solution.vector, mask)
    if row_types.hierarchies:
        class_of = classes_of_solution(row_types, parts, found.solution)
    else:
        class_of = classes_of(parts, found.solution.vector).class_of
    return _outcome(row_types, parts, class_of, mask, request, found, clock)


def _reordered(found: SearchResult, order: NDArray[np.intp]) -> SearchResult:
    """Return a result for row types that stood in some order before, given their positions in that order."""
    solution, prices = found.solution, found.prices
    place = np.argsort(order)
    return replace(
        found,
        solution=Solution.of_parts(order[solution.row_type], solution.vector, solution.rows),
        prices=None if prices is None else prices[place],
    )


def _require_usable(request: SolveRequest) -> None:
    if not is_whole(request.k) or request.k < 2:
        raise InputError("k is not a whole number of at least 2.", hint="Usual values are 5 or 10.")
    if request.method not in METHODS and request.method not in RECODINGS:
        raise UnknownName(
            f'There is no method "{request.method}".',
            hint=f"Methods are: {', '.join(METHODS)}; with hierarchies: {', '.join(RECODINGS)}.",
        )
    if request.suppressed_rows is not None and request.method != "full_domain":
        raise InputError(
            f"Method {request.method} cannot limit the suppressed rows.", hint="Use method => 'full_domain'."
        )


def _simplified(row_types: PackedRowTypes, request: SolveRequest) -> PackedRowTypes:
    """Leave out hierarchies that say no more than that cells may be suppressed."""
    known = [one for one in row_types.hierarchies if one is not None]
    if not known or (request.method in METHODS and all(one.is_suppression for one in known)):
        return replace(row_types, hierarchies=())
    return row_types


def _method(request: SolveRequest) -> Method:
    if request.method not in METHODS:
        raise InputError(
            f"Method {request.method} generalizes, and no column has a hierarchy.",
            hint=f"Methods that only suppress are: {', '.join(METHODS)}.",
        )
    return METHODS[request.method]


def _table(row_types: PackedRowTypes, request: SolveRequest, clock: Clock) -> RowTypeTable:
    table = RowTypeTable.from_packed(row_types, clock.heartbeat)
    _require_enough_people(table, request.k)
    return table


def _require_enough_people(table: RowTypeTable, k: int) -> None:
    if table.total_people < k:
        raise InfeasibleError(
            f"The table has {table.total_people} people, fewer than k = {k}.",
            hint="Choose a smaller k.",
        )


def _mask(table: RowTypeTable, request: SolveRequest, clock: Clock) -> PatternMask:
    if request.patterns is not None:
        return parse_patterns(request.patterns, table.columns)
    return mask_of_all(table, request.k, clock)


def _outcome(
    row_types: PackedRowTypes,
    parts: RowTypeTable,
    class_of: NDArray[np.int64],
    mask: PatternMask | None,
    request: SolveRequest,
    found: SearchResult,
    clock: Clock,
) -> SolveOutcome:
    solution = found.solution
    classes = int(class_of.max()) + 1
    counted = recount(row_types, solution, class_of, parts.heartbeat)
    if request.subsets:
        require_subsets(row_types, solution, request.k, request.subsets, parts.heartbeat)
    elif not request.rest_may_be_small:
        require_k(counted, request.k)
        require_models(row_types, solution, class_of, request.models, parts.heartbeat)
    _require_number(classes, request)
    bound, method = _proven(row_types, mask, request, found, counted, parts.heartbeat)
    patterns, is_main = solution.main_vectors()
    lost = utility(row_types, parts, solution.vector)
    optimal = bound is not None and math.isclose(bound, counted.weighted_cost, rel_tol=_ROUNDING)
    return SolveOutcome(
        patterns=buffer_of(patterns),
        moved_types=buffer_of(solution.row_type[~is_main]),
        moved_patterns=buffer_of(solution.vector[~is_main]),
        moved_rows=buffer_of(solution.rows[~is_main]),
        prices=b"" if found.prices is None else buffer_of(found.prices),
        suppressed_cells=counted.suppressed_cells,
        weighted_cost=counted.weighted_cost,
        lower_bound=bound,
        optimal=optimal,
        method=found.method,
        bound_method=method,
        classes=classes,
        average_class=counted.average,
        usefulness=usefulness(parts, class_of, classes),
        entropy_loss=lost.entropy_loss,
        marginal_divergence=lost.marginal_divergence,
        notes=(() if mask is None else mask.notes) + found.notes,
        termination=Termination.OPTIMAL if optimal else _termination(found, clock),
    )


def _termination(found: SearchResult, clock: Clock) -> Termination:
    """Return how a search ended that did not prove an optimum."""
    if found.termination is not None:
        return found.termination
    return Termination.TIME if clock.has_cut else Termination.EXHAUSTED


def _proven(
    row_types: PackedRowTypes,
    mask: PatternMask | None,
    request: SolveRequest,
    found: SearchResult,
    counted: CountedSolution,
    heartbeat: Callable[[], None],
) -> tuple[float | None, str | None]:
    """Return the proven bound and what proved it."""
    bound, method = found.lower_bound, found.bound_method
    if found.is_best:
        return counted.weighted_cost, method
    if found.prices is not None:
        certified = _certified(row_types, mask, request, found.prices, heartbeat)
        if certified is None:
            raise SolverError(
                "The prices that should prove the bound prove nothing.",
                hint=DEFECT,
            )
        if bound is None or certified >= bound:
            bound, method = certified, CERTIFIED
    if bound is not None and bound > counted.weighted_cost * (1 + _ROUNDING):
        raise SolverError(
            "A lower bound exceeds the cost of a solution.",
            hint=DEFECT,
        )
    return None if bound is None else min(bound, counted.weighted_cost), method


def _certified(
    row_types: PackedRowTypes,
    mask: PatternMask | None,
    request: SolveRequest,
    prices: NDArray[np.int64],
    heartbeat: Callable[[], None],
) -> float | None:
    """Return the bound that prices prove, None if they prove none."""
    vectors, outside = (None, np.inf) if mask is None else (mask.vectors, mask.outside)
    return certified_bound(
        row_types, vectors, request.k, prices, heartbeat,
        models=request.models, rest_may_be_small=request.rest_may_be_small, outside=outside,
    )  # fmt: skip


def _require_number(classes: int, request: SolveRequest) -> None:
    if not request.allows_number(classes):
        raise SolverError(
            f"The solution has {classes} classes, which is not what was asked for.",
            hint=DEFECT,
        )


def _require_allowed(assigned: NDArray[np.int64], mask: PatternMask) -> None:
    place = np.searchsorted(mask.vectors, assigned)
    place[place == mask.vectors.size] = 0
    if not np.array_equal(mask.vectors[place], assigned):
        raise SolverError("The solver used a pattern that is not in the mask.", hint=DEFECT)
