"""Rows one by one for k = 2: what pairs cost, and which rows three of a kind can come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.compatibility import compatibility_of
from kanon_pg.worker.solvers.exact.granularity import whole_costs

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class SingleRows:
    """Rows that may have to be paired with rows of other types.

    Parameters
    ----------
    row_type : ndarray of int64, shape (n,)
        Row type of each row.
    paired_rows : ndarray of int64
        Rows of each row type that are paired among themselves in some optimum.
    cheapest : int
        Whole cost of one of these rows.
    vector : ndarray of int64, shape (n, n)
        Cheapest vector under which two rows look alike.
    cost : ndarray of int64, shape (n, n)
        Whole cost of one of two rows.
    place_cost : ndarray of int64, shape (q,)
        Whole cost of one row in each pattern instance with at least three rows.
    place_vector, begin, member : ndarray
        Its vector and its rows.
    unit : float
        What one whole cost stands for.
    """

    row_type: Numbers
    paired_rows: Numbers
    cheapest: int
    vector: Numbers
    cost: Numbers
    place_cost: Numbers
    place_vector: Numbers
    begin: Numbers
    member: NDArray[np.int32]
    unit: float

    def members(self, place: int) -> NDArray[np.int32]:
        """Return the rows of a pattern instance."""
        return self.member[self.begin[place] : self.begin[place + 1]]


def paired_with_itself(rows: Numbers) -> Numbers:
    """Return how many rows of each row type can be paired among themselves without loss.

    Parameters
    ----------
    rows : ndarray of int64, shape (n,)

    Notes
    -----
    Some optimum splits into pairs and triples of which, for every row type i, at most one triple mixes i
    with other types, and at most one pair mixes i with any one other type: two such pairs {i, j} can be
    exchanged for {i, i} and {j, j}, two such triples {i, a, b}, {i, c, d} for {i, i}, {a, b} and {c, d},
    and nobody pays more, because rows of one type look alike under the cheapest vector and a set of rows
    looks alike wherever a larger one does. So at most n - 1 + 2 rows of i are in mixed parts; of the others
    all but at most three are in pairs {i, i}.
    """
    most = rows.size + 4
    surplus: Numbers = np.maximum(0, (rows - most + 1) // 2) * 2
    return surplus


def single_rows(table: RowTypeTable, mask: PatternMask, clock: Clock) -> SingleRows:
    """List the rows that are not paired within their type, and what pairs and triples of them cost.

    Parameters
    ----------
    table : RowTypeTable
        Without an entity.
    """
    costs, unit = whole_costs(mask.costs())
    paired = paired_with_itself(table.rows)
    row_type = np.repeat(np.arange(len(table)), table.rows - paired)
    rows = table.divide(row_type, np.ones(row_type.size, dtype=np.int64))
    graph = compatibility_of(rows, mask.vectors, 3, clock)
    order = np.argsort(costs, kind="stable")
    differ = np.zeros((row_type.size, row_type.size), dtype=np.int64)
    for column in range(table.width):
        differ |= (rows.codes[column][:, None] != rows.codes[column]).astype(np.int64) << column
        clock.heartbeat()
    different, place = np.unique(differ, return_inverse=True)
    chosen = order[_cheapest_above(different, mask.vectors[order])][place.reshape(differ.shape)]
    place_cost = costs[np.searchsorted(mask.vectors, graph.vector)]
    return SingleRows(
        row_type, paired, int(costs.min()), mask.vectors[chosen], costs[chosen],
        place_cost, graph.vector, graph.begin, graph.member, unit,
    )  # fmt: skip


@kernel
def _cheapest_above(different: Numbers, vectors: Numbers) -> Numbers:
    """Return for each set of columns the first vector that suppresses all of them."""
    first = np.empty(different.size, dtype=np.int64)
    for place in range(different.size):
        turn = 0
        while different[place] & ~vectors[turn] != 0:
            turn += 1
        first[place] = turn
    return first
