"""The methods that can be asked for by name."""

from __future__ import annotations

from collections.abc import Callable

from kanon_pg.core.request import SolveRequest
from kanon_pg.errors import InfeasibleError, InputError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.models.search import satisfy_models, search_greedily_with_models
from kanon_pg.worker.solvers.pairs.search import search_by_pairs
from kanon_pg.worker.solvers.portfolio import search_until_good, search_until_optimal
from kanon_pg.worker.solvers.row_assignment.search import search_by_row_assignment
from kanon_pg.worker.solvers.search import SearchResult, search_by_mondrian, search_greedily

Method = Callable[[RowTypeTable, PatternMask, SolveRequest, Clock], SearchResult]


def _greedy(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> SearchResult:
    _require_no_limits(request)
    search = search_greedily_with_models if request.models else search_greedily
    return search(table, mask, request, clock)


def _mondrian(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> SearchResult:
    _require_no_limits(request)
    found = search_by_mondrian(table, mask, request, clock)
    if not request.models:
        return found
    return satisfy_models(table, mask, request, clock, found.solution.vector, found.method)


def _pairs(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> SearchResult:
    found = search_by_pairs(table, mask, request, clock)
    if found is None:
        raise InputError(
            "Method pairs is for k = 2 and tables in which few rows are unlike all others; it knows no "
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
"""What can be asked for by name."""
