"""Methods of the registry: from a table and a mask to an assignment and what is proven about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.patterns import PatternMask
from kanon_pg.core.request import SolveRequest
from kanon_pg.core.row_types import RowTypeTable
from kanon_pg.solvers.clock import Clock
from kanon_pg.solvers.greedy import greedy
from kanon_pg.solvers.order import cheapest_first
from kanon_pg.solvers.rest import fill_rest

TIME_OVER = "Time was over before all patterns had their turn; what remained was fully suppressed."


@dataclass(frozen=True)
class Found:
    """A solution and what is proven about it.

    Parameters
    ----------
    assigned : ndarray of int64, shape (n,)
        Bit mask of suppressed columns of each row type.
    method : str
        What found it, in words.
    lower_bound : float or None
        Proven lower bound on the weighted cost.
    bound_method : str or None
        What proved the bound.
    notes : tuple of str
        What the caller must know.
    """

    assigned: NDArray[np.int64]
    method: str
    lower_bound: float | None = None
    bound_method: str | None = None
    notes: tuple[str, ...] = ()


def search_greedily(table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock) -> Found:
    """Run the greedy heuristic.

    Parameters
    ----------
    table : RowTypeTable
    mask : PatternMask
    request : SolveRequest
    clock : Clock
    """
    order = cheapest_first(mask, request.seed)
    assigned = greedy(table, mask.vectors, order, request.k, clock)
    if not request.rest_may_be_small:
        assigned = fill_rest(table, assigned, request.k)
    return Found(assigned, "greedy", notes=(TIME_OVER,) if clock.is_over() else ())
