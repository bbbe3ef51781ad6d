"""Linear models with integer columns, as arrays: what is handed to a solver library."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class LinearModel:
    """Minimize a linear cost over columns with limits and rows with limits.

    Parameters
    ----------
    cost, lower, upper : ndarray of float64, shape (v,)
        Cost and limits of each column; limits may be infinite.
    is_integer : ndarray of bool, shape (v,)
        Whether a column takes whole numbers only.
    row_lower, row_upper : ndarray of float64, shape (r,)
        Limits of each row.
    row, column : ndarray of int64, shape (e,)
        Where the coefficients stand, ascending by row, then by column, each place once.
    coefficient : ndarray of float64, shape (e,)
        What stands there, not zero.
    """

    cost: Reals
    lower: Reals
    upper: Reals
    is_integer: NDArray[np.bool_]
    row_lower: Reals
    row_upper: Reals
    row: Numbers
    column: Numbers
    coefficient: Reals


@dataclass
class Rows:
    """Rows of a linear model while it grows, in blocks of many rows at once."""

    count: int = 0
    lower: list[Reals] = field(default_factory=list)
    upper: list[Reals] = field(default_factory=list)
    row: list[Numbers] = field(default_factory=list)
    column: list[Numbers] = field(default_factory=list)
    coefficient: list[Reals] = field(default_factory=list)

    def open(self, lower: Reals, upper: Reals) -> int:
        """Add empty rows with some limits; return the number of the first."""
        first = self.count
        self.count += lower.size
        self.lower.append(lower)
        self.upper.append(upper)
        return first

    def put(self, row: Numbers, column: Numbers, coefficient: Reals) -> None:
        """Add coefficients to rows; no place may be used twice."""
        self.row.append(row)
        self.column.append(column)
        self.coefficient.append(coefficient)

    def finish(self, cost: Reals, lower: Reals, upper: Reals, is_integer: NDArray[np.bool_]) -> LinearModel:
        """Return the model of these rows and some columns."""
        row, column = np.concatenate(self.row), np.concatenate(self.column)
        order = np.lexsort((column, row))
        return LinearModel(
            cost, lower, upper, is_integer, np.concatenate(self.lower), np.concatenate(self.upper),
            row[order], column[order], np.concatenate(self.coefficient)[order],
        )  # fmt: skip
