"""What searches in a graph of row types and instances go by, whatever the instances publish."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.verification.certificate import PRICE_UNIT


@dataclass(frozen=True)
class GraphSearch:
    """A table whose solutions are searched for in a graph."""

    table: RowTypeTable
    graph: Compatibility
    """The graph of this table and `k`, or a part of it."""
    k: int
    """Fewest people per class."""
    prices: NDArray[np.int64] | None = None
    """Shape (n,). Valid prices in units of 1 / `PRICE_UNIT`."""
    rest_may_be_small: bool = False
    """Whether the fully suppressed class may have fewer than k people."""

    @property
    def row_prices(self) -> NDArray[np.float64]:
        """Prices in weights, 0 without any, which is valid."""
        return np.zeros(len(self.table)) if self.prices is None else self.prices / PRICE_UNIT

    @property
    def usual(self) -> float:
        """A usual difference of costs: the mean weight of a column."""
        return float(self.table.weights.mean())

    def within(self, graph: Compatibility) -> GraphSearch:
        """Return the search in another graph, mostly a part of this one."""
        return replace(self, graph=graph)

    def cost(self, solution: Solution) -> float:
        """Return the weighted cost of a solution."""
        return float((self.graph.row_costs(self.table, solution.vector) * solution.rows).sum())
