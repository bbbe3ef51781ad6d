"""What single columns and pairs of columns of a table look like: the statistics behind suggested roles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.audit.grouping import Grouping
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable

_NEARLY = 0.99
"""Share of the rows from which a column is said to determine another one."""

_BETTER = 0.8
"""Share of the errors of guessing the most frequent value of all that is avoided by knowing the determinant
 (Goodman and Kruskal's lambda), at least; else anything would determine rare values."""

_REPEATED = 0.1
"""Share of the rows whose value others have as well, at least, in a determinant: where nearly all values
are different, what they determine is chance."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column.

    Parameters
    ----------
    distinct : int
        Different values, NULL being one.
    single : int
        Values that one row has.
    separation : float
        Share of the pairs of rows with different values, 0 to 1 (Motwani and Xu 2007).
    """

    distinct: int
    single: int
    separation: float


@dataclass(frozen=True, slots=True)
class Dependency:
    """An exact or approximate functional dependency: one column determines another.

    Parameters
    ----------
    determinant, dependent : int
        Numbers of columns.
    share : float
        Among the rows whose determinant occurs more than once: those in which guessing the most frequent
        dependent value is right, at least 0.99; 1 if it always is.
    """

    determinant: int
    dependent: int
    share: float


def column_profiles(table: RowTypeTable) -> list[ColumnProfile]:
    """Return the profile of each column; O(n) each."""
    found = []
    pairs = table.total_rows * (table.total_rows - 1)
    for codes, cardinality in zip(table.codes, table.cardinalities, strict=True):
        rows = _rows(table, codes, int(cardinality))
        alike = float((rows.astype(np.float64) * (rows - 1)).sum())
        separation = 1 - alike / pairs if pairs else 0.0
        found.append(ColumnProfile(int(cardinality), int((rows == 1).sum()), separation))
    return found


def dependencies(table: RowTypeTable, clock: Clock) -> tuple[list[Dependency], bool]:
    """Return which columns determine others, exactly or nearly, and whether all pairs were looked at.

    Notes
    -----
    O(n) for each of m² pairs of columns, n row types and m columns; the clock may end it early.
    """
    found: list[Dependency] = []
    for one in range(table.width):
        determinant = _Determinant.of(table, one)
        if determinant.repeated.sum() < _REPEATED * table.total_rows:
            continue
        for dependent in range(table.width):
            if clock.is_over():
                return found, False
            if dependent != one and table.cardinalities[dependent] > 1:
                share = determinant.share_determined(dependent)
                if share is not None:
                    found.append(Dependency(one, dependent, share))
        clock.report("pairs of columns", (one + 1) / table.width)
    return found, True


@dataclass(frozen=True)
class _Determinant:
    """A column with the rows of each of its values, as far as others have the same value."""

    table: RowTypeTable
    column: int
    repeated: NDArray[np.int64]

    @classmethod
    def of(cls, table: RowTypeTable, column: int) -> _Determinant:
        rows = _rows(table, table.codes[column], int(table.cardinalities[column]))
        return cls(table, column, np.where(rows > 1, rows, 0))

    def share_determined(self, dependent: int) -> float | None:
        """Return the share of the repeated rows in which it determines another column; None if too few."""
        table, count = self.table, int(self.table.cardinalities[self.column])
        codes, values = table.codes[dependent], int(table.cardinalities[dependent])
        total = int(self.repeated.sum())
        wrong = (1 - _NEARLY) * total
        if values - count > wrong:
            return None
        pairs = Grouping(table.codes[self.column], count).divided(codes, values)
        if pairs.count - count > wrong:  # each further pair is at least one wrong guess
            return None
        rows = _rows(table, pairs.class_of, pairs.count)
        value = np.empty(pairs.count, dtype=np.int64)
        value[pairs.class_of] = table.codes[self.column]
        most = np.zeros(count, dtype=np.int64)
        np.maximum.at(most, value, rows)
        share = float(most[self.repeated > 0].sum() / total)
        blind = float(_rows(table, codes, values).max() / table.total_rows)
        return share if share >= _NEARLY and share - blind >= _BETTER * (1 - blind) else None


def _rows(table: RowTypeTable, class_of: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    return np.bincount(class_of, weights=table.rows, minlength=count).astype(np.int64)
