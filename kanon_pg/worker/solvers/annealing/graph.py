"""A compatibility graph around a solution, also where that of all pairs would be too large."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import MemoryExceeded
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.compatibility import MOST_EDGES, Compatibility, compatibility_of
from kanon_pg.worker.verification.certificate import PRICE_UNIT

_SLACKS = (3.0, 1.5, 0.75, 0.0)
"""How much dearer than its price an instance may be for a row type, in usual costs; tried in this order."""

_DENSE = 4
"""All pairs are listed only if vectors times row types are fewer than this many times the limit."""


def graph_around(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    solution: Solution,
    k: int,
    clock: Clock,
    *,
    prices: NDArray[np.int64] | None = None,
    most_edges: int = MOST_EDGES,
) -> Compatibility:
    """Build the graph with all pairs, or if they are too many with those that matter most.

    Parameters
    ----------
    table : RowTypeTable
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors, the fully suppressed one among them.
    solution : Solution
        Its classes are instances of the graph, or cheaper ones with the same members are.
    k : int
    clock : Clock
        Reports progress.
    prices : ndarray of int64, shape (n,), optional
        Valid prices in units of 1 / `PRICE_UNIT`; without them nothing dearer than in the solution stays.
    most_edges : int
        Most pairs.

    Raises
    ------
    MemoryExceeded
        Not even what costs no more than in the solution fits.
    """
    current = np.zeros(len(table))
    np.maximum.at(current, solution.row_type, suppression_costs(solution.vector, table.weights))
    unit = float(table.weights.mean())
    limits: list[NDArray[np.float64] | None] = (
        [None] if vectors.size * len(table) < _DENSE * most_edges else []
    )
    if prices is not None:
        limits += [np.maximum(current, prices / PRICE_UNIT + slack * unit) for slack in _SLACKS]
    for max_cost_per_row in limits:
        with suppress(MemoryExceeded):
            return compatibility_of(
                table, vectors, k, clock, max_cost_per_row=max_cost_per_row, most_edges=most_edges
            )
    return compatibility_of(table, vectors, k, clock, max_cost_per_row=current, most_edges=most_edges)
