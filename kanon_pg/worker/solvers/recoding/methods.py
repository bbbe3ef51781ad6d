"""Methods for tables with hierarchies: from row types to a solution and what is proven about it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.request import SolveRequest
from kanon_pg.errors import InfeasibleError, InputError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult
from kanon_pg.worker.solvers.recoding.demands import find_forbidden
from kanon_pg.worker.solvers.recoding.exact import search_small
from kanon_pg.worker.solvers.recoding.full_domain import best_full_domain
from kanon_pg.worker.solvers.recoding.greedy import assign_rest, greedy_classes, is_lattice_small
from kanon_pg.worker.solvers.recoding.groups import BOUND_METHOD, lower_bound
from kanon_pg.worker.solvers.recoding.improvement import improve_classes
from kanon_pg.worker.solvers.recoding.task import Task, task_of
from kanon_pg.worker.solvers.recoding.top_down import top_down_classes

FULL_DOMAIN_BOUND = "search of all level vectors, rows suppressed by whole combinations"
"""What proves a bound over full-domain recodings; local ones may cost less."""

_MARGIN = 1e-9
"""What sums of losses may be wrong by, as a share."""

_SHARE_FOR_SEARCH = 0.8
"""Share of the time that is left for better solutions; the rest is for the lower bound."""

_LONG = 4
"""How many times the usual effort method exact spends where it proves nothing."""

Recoding = Callable[[Task], SearchResult]


def search_with_hierarchies(
    packed: PackedRowTypes, table: RowTypeTable, request: SolveRequest, clock: Clock
) -> SearchResult:
    """Choose at which level each cell is published.

    Parameters
    ----------
    packed : PackedRowTypes
        With hierarchies.
    table : RowTypeTable
        The same row types, of at least k people.

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


def _started(task: Task) -> tuple[NDArray[np.int64], str]:
    """Return classes to start from, whatever the time, and what made them."""
    if not is_lattice_small(task.forest, task.table):
        return _split(task)
    class_of, rest = greedy_classes(task.forest, task.codes, task.table, task.demands, task.clock)
    class_of = assign_rest(task.forest, task.codes, task.table, task.demands, class_of, rest)
    if task.request.models and not task.clock.is_over():
        # The first classes of the greedy heuristic can use up the rare values that the last ones need.
        other = _split(task)
        if task.cost_of(other[0]) < task.cost_of(class_of):
            return other
    return class_of, "greedy over level vectors"


def _split(task: Task) -> tuple[NDArray[np.int64], str]:
    class_of = top_down_classes(task.forest, task.codes, task.table, task.demands, task.clock)
    is_forbidden = find_forbidden(task.demands, class_of)
    rest = np.flatnonzero(is_forbidden[class_of]).astype(np.int32)
    class_of = assign_rest(task.forest, task.codes, task.table, task.demands, class_of, rest)
    return class_of, "mondrian along hierarchies"


def _found(task: Task, class_of: NDArray[np.int64], method: str) -> SearchResult:
    """Return classes as a solution, with a lower bound if time is left for one."""
    known = task.row_costs_of(class_of)
    bound = lower_bound(task.forest, task.codes, task.table, task.request.k, known, task.clock)
    name = None if bound is None else BOUND_METHOD
    return SearchResult(task.solution_of(class_of), method, bound, name)


def _greedy(task: Task) -> SearchResult:
    return _found(task, *_started(task))


def _mondrian(task: Task) -> SearchResult:
    return _found(task, *_split(task))


def _local(task: Task, times: int = 1) -> SearchResult:
    class_of, method = _started(task)
    seed = task.request.seed or 0
    improved = improve_classes(
        task.forest, task.codes, task.table, task.demands, class_of, task.clock.part(_SHARE_FOR_SEARCH),
        seed=seed, times=times,
    )  # fmt: skip
    if task.cost_of(improved) < task.cost_of(class_of):
        class_of, method = improved, f"{method}, improved"
    return _found(task, class_of, method)


def _auto(task: Task) -> SearchResult:
    return search_small(task) or _local(task)


def _exact(task: Task) -> SearchResult:
    return search_small(task) or _local(task, _LONG)


def _row_assignment(task: Task) -> SearchResult:
    found = None if task.table.has_entity or task.request.models else search_small(task)
    if found is None and task.clock.has_cut:
        return _local(task)
    if found is None:
        raise InfeasibleError(
            "Method row_assignment is for tables with few row types, without an entity and privacy models.",
            hint="Use method => 'exact'.",
        )
    return found


def _full_domain(task: Task) -> SearchResult:
    share = task.request.suppressed_rows
    best = best_full_domain(
        task.forest, task.codes, task.table, task.demands, task.clock,
        most_suppressed=1.0 if share is None else share,
    )  # fmt: skip
    vector = np.where(best.is_suppressed, task.fields.top, task.fields.pattern_of(best.levels))
    solution, method = task.published(vector), "full-domain recoding"
    if best.is_best and np.array_equal(solution.vector[task.order], vector):
        return SearchResult(solution, method, bound_method=FULL_DOMAIN_BOUND, is_best=True)
    if best.complete:
        return SearchResult(solution, method, best.bound * (1 - _MARGIN), FULL_DOMAIN_BOUND)
    known = task.row_costs_at(vector)
    bound = lower_bound(task.forest, task.codes, task.table, task.request.k, known, task.clock)
    return SearchResult(solution, method, bound, None if bound is None else BOUND_METHOD)


RECODINGS: dict[str, Recoding] = {
    "auto": _auto,
    "greedy": _greedy,
    "local": _local,
    "mondrian": _mondrian,
    "full_domain": _full_domain,
    "row_assignment": _row_assignment,
    "exact": _exact,
}
"""What can be asked for by name with hierarchies."""
