"""Tables whose least cost is known by construction."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.worker.patterns import all_patterns, parse_patterns
from kanon_pg.worker.row_types import RowTypeTable
from tests.fixtures.packing import pack

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Known:
    """A table, what is asked of it, and what the least cost is.

    Parameters
    ----------
    rows : tuple of tuples
    k : int
    optimum : int
        Weighted cost of the best solution.
    patterns : list of lists of column numbers, or None
        Suppressed columns of each allowed vector; None allows every vector. The product adds the vector
        that suppresses everything.
    weights : tuple of int
        Cost of one suppressed cell per column; empty for 1 everywhere.
    """

    rows: tuple[Row, ...]
    k: int
    optimum: int
    patterns: list[list[int]] | None = None
    weights: tuple[int, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [f"c{number}" for number in range(len(self.rows[0]))]

    @property
    def named_patterns(self) -> list[list[str]] | None:
        """The patterns as a request names them."""
        if self.patterns is None:
            return None
        return [[self.names[column] for column in vector] for vector in self.patterns]

    def packed(self) -> PackedRowTypes:
        """Return the packed row types."""
        weights = dict(zip(self.names, map(float, self.weights), strict=False))
        return pack(list(self.rows), self.names, weights=weights)

    def table(self) -> RowTypeTable:
        """Return the row types."""
        return RowTypeTable.from_packed(self.packed())

    def vectors(self) -> np.ndarray:
        """Return the bit masks of the allowed vectors, the fully suppressed one among them."""
        columns = self.packed().columns
        if self.named_patterns is None:
            return all_patterns(columns).vectors
        return parse_patterns(self.named_patterns, columns).vectors


def greedy_trap(width: int) -> Known:
    """Return a table on which the greedy heuristic is as far from the optimum as it can get.

    It is the tight example with k = m = `width` columns and m^2 rows (R. Bredereck, A. Nichterlein, R.
    Niedermeier: "Pattern-Guided k-Anonymity", 2013, Theorem 4).

    m rows hold the symbol 1 everywhere; for each column there are m - 1 rows that hold a symbol of their
    own there and 1 elsewhere. Vectors suppress nothing, one column, or everything. The optimum suppresses
    one cell per row, m^2 in all; the heuristic, by the papers' rule or the strict one, keeps the first m
    rows together and suppresses everything else, (m - 1) m^2 cells.
    """
    unique = (f"unique {number}" for number in count())
    rows: list[Row] = [("1",) * width] * width
    for column in range(width):
        for _ in range(width - 1):
            row = ["1"] * width
            row[column] = next(unique)
            rows.append(tuple(row))
    patterns = [[], *([column] for column in range(width))]
    return Known(tuple(rows), width, width * width, patterns)
