"""Methods of the registry: from a table and a mask to an assignment and what is proven about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.classes import weighted_cost
from kanon_pg.core.patterns import PatternMask
from kanon_pg.core.request import SolveRequest
from kanon_pg.core.row_types import RowTypeTable
from kanon_pg.core.solution import Solution
from kanon_pg.solvers.bounds.reach import cheapest_reach
from kanon_pg.solvers.clock import Clock
from kanon_pg.solvers.greedy.heuristic import greedy
from kanon_pg.solvers.greedy.order import cheapest_first
from kanon_pg.solvers.greedy.rest import fill_rest
from kanon_pg.solvers.local_search.improvement import improve
from kanon_pg.solvers.mondrian import mondrian

TIME_OVER = "Time was over before all patterns had their turn: a few of the others were tried in a hurry."
TIME_OVER_MONDRIAN = "Time was over before all regions were cut: what was left is fully suppressed."
BOUND_METHOD = "cheapest pattern within reach of each row type"


@dataclass(frozen=True)
class Found:
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
        The certificate of the bound, see `kanon_pg.core.certificate`.
    is_best : bool
        Whether `bound_method` proves that no solution of this kind costs less: its cost is the bound.
    """

    solution: Solution
    method: str
    lower_bound: float | None = None
    bound_method: str | None = None
    notes: tuple[str, ...] = ()
    prices: NDArray[np.int64] | None = None
    is_best: bool = False


def search_greedily(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> Found:
    """Run the greedy heuristic, fill the fully suppressed class, improve, and prove a lower bound.

    With the paper's rule for the rest (`SolveRequest.rest_may_be_small`) the heuristic runs alone.

    Parameters
    ----------
    table : RowTypeTable
    mask : PatternMask
    request : SolveRequest
    clock : Clock
    """
    vectors = cheapest_first(mask, table.cardinalities, request.seed)
    assigned, complete = greedy(table, vectors, request.k, clock)
    notes = () if complete else (TIME_OVER,)
    if request.rest_may_be_small:
        return Found(Solution.undivided(table, assigned), "greedy", notes=notes)
    assigned = fill_rest(table, assigned, request.k)
    reach = cheapest_reach(table, mask.vectors, request.k, clock)
    improved = improve(table, vectors, assigned, reach, request.k, clock)
    better = weighted_cost(table, improved) < weighted_cost(table, assigned)
    method = "greedy, improved" if better else "greedy"
    solution = Solution.undivided(table, improved if better else assigned)
    return _with_bound(table, mask, reach, Found(solution, method, notes=notes))


def search_by_mondrian(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> Found:
    """Run Mondrian and prove a lower bound.

    Parameters
    ----------
    table : RowTypeTable
    mask : PatternMask
    request : SolveRequest
    clock : Clock
    """
    assigned, complete = mondrian(table, mask, request.k, clock)
    notes = () if complete else (TIME_OVER_MONDRIAN,)
    reach = cheapest_reach(table, mask.vectors, request.k, clock)
    return _with_bound(
        table, mask, reach, Found(Solution.undivided(table, assigned), "mondrian", notes=notes)
    )


def _with_bound(table: RowTypeTable, mask: PatternMask, reach: NDArray[np.float64], found: Found) -> Found:
    bound = float((np.minimum(reach, mask.outside) * table.rows).sum())
    return replace(found, lower_bound=bound, bound_method=BOUND_METHOD)
