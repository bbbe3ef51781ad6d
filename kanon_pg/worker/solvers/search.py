"""Methods of the registry: from a table and a mask to an assignment and what is proven about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.worker.classes import weighted_cost
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.bounds.reach import cheapest_reach
from kanon_pg.worker.solvers.greedy.heuristic import fill_rest, greedy
from kanon_pg.worker.solvers.greedy.order import cheapest_first
from kanon_pg.worker.solvers.local_search.improvement import improve
from kanon_pg.worker.solvers.mondrian import mondrian

BOUND_METHOD = "cheapest pattern within reach of each row type"


@dataclass(frozen=True)
class SearchResult:
    """A solution and what is proven about it.

    Parameters
    ----------
    solution : Solution
        Pattern vectors of the row types.
    method : str
        What found it, in words.
    lower_bound : float or None
        Proven lower bound on the weighted cost.
    bound_method : str or None
        What proved the bound.
    notes : tuple of str
        What the caller must know.
    prices : ndarray of int64, shape (n,), optional
        The certificate of the bound, see `kanon_pg.worker.verification.certificate`.
    termination : Termination, optional
        How the search ended, if that is not told by the clock and by whether the bound is reached.
    is_best : bool
        Whether `bound_method` proves that no solution of this kind costs less: its cost is the bound.
    """

    solution: Solution
    method: str
    lower_bound: float | None = None
    bound_method: str | None = None
    notes: tuple[str, ...] = ()
    prices: NDArray[np.int64] | None = None
    termination: Termination | None = None
    is_best: bool = False


def search_greedily(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult:
    """Run the greedy heuristic, fill the fully suppressed class, improve, and prove a lower bound.

    With the paper's rule for the rest (`SolveRequest.rest_may_be_small`) the heuristic runs alone.
    """
    vectors = cheapest_first(mask, table.cardinalities, request.seed)
    assigned = greedy(table, vectors, request.k, clock)
    if request.rest_may_be_small:
        return SearchResult(Solution.undivided(table, assigned), "greedy")
    assigned = fill_rest(table, assigned, request.k)
    # A bound comes with every solution; its effort is limited.
    reach = cheapest_reach(table, mask.vectors, request.k, clock.patient())
    improved = improve(table, vectors, assigned, reach, request.k, clock)
    better = weighted_cost(table, improved) < weighted_cost(table, assigned)
    method = "greedy, improved" if better else "greedy"
    solution = Solution.undivided(table, improved if better else assigned)
    return _with_bound(table, mask, reach, SearchResult(solution, method))


def search_by_mondrian(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult:
    """Run Mondrian and prove a lower bound."""
    assigned = mondrian(table, mask, request.k, clock)
    reach = cheapest_reach(table, mask.vectors, request.k, clock.patient())
    return _with_bound(table, mask, reach, SearchResult(Solution.undivided(table, assigned), "mondrian"))


def _with_bound(
    table: RowTypeTable, mask: PatternMask, reach: NDArray[np.float64], found: SearchResult
) -> SearchResult:
    bound = float((np.minimum(reach, mask.outside) * table.rows).sum())
    return replace(found, lower_bound=bound, bound_method=BOUND_METHOD)
