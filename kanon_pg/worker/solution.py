"""A solution: how many rows of each row type are suppressed by which pattern vector, and what is proven."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.termination import Termination
from kanon_pg.errors import DEFECT, MemoryExceeded, SolverError
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable


@dataclass(frozen=True)
class Solution:
    """Parts of row types with their pattern vectors."""

    row_type: NDArray[np.int64]
    """Shape (q,). Position of the row type of each part, ascending; every row type occurs."""
    vector: NDArray[np.int64]
    """Shape (q,). Bit mask of suppressed columns of each part; distinct within a row type."""
    rows: NDArray[np.int64]
    """Shape (q,). Rows of each part, >= 1; they add up to the rows of the row type."""

    @classmethod
    def undivided(cls, table: RowTypeTable, assigned: NDArray[np.int64]) -> Solution:
        """Return the solution that gives all rows of each row type one vector.

        Parameters
        ----------
        assigned : ndarray of int64, shape (n,)
            Bit mask of suppressed columns of each row type.
        """
        return cls(np.arange(len(table)), assigned, table.rows)

    @classmethod
    def of_parts(
        cls, row_type: NDArray[np.int64], vector: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> Solution:
        """Return the solution of some parts in any order; equal parts are joined, empty ones dropped."""
        kept = rows > 0
        row_type, vector, rows = row_type[kept], vector[kept], rows[kept]
        order = np.lexsort((vector, row_type))
        row_type, vector, rows = row_type[order], vector[order], rows[order]
        is_new = np.ones(row_type.size, dtype=np.bool_)
        is_new[1:] = (row_type[1:] != row_type[:-1]) | (vector[1:] != vector[:-1])
        first = np.flatnonzero(is_new)
        return cls(row_type[first], vector[first], np.add.reduceat(rows, first))

    def to_bytes(self) -> bytes:
        """Return the parts as another process reads them with `from_bytes`."""
        return np.stack([self.row_type, self.vector, self.rows]).astype(np.int64).tobytes()

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Solution:
        """Return what `to_bytes` made bytes of."""
        return cls.of_parts(*np.frombuffer(data, dtype=np.int64).reshape(3, -1))

    @property
    def is_divided(self) -> bool:
        """Whether the rows of some row type have different vectors."""
        return bool((self.row_type[1:] == self.row_type[:-1]).any())

    def cost(self, weights: NDArray[np.float64]) -> float:
        """Add up the weights of all suppressed cells, of which each column has one."""
        return float((suppression_costs(self.vector, weights) * self.rows).sum())

    def parts_of(self, table: RowTypeTable) -> RowTypeTable:
        """Return the table with one row type per part.

        Raises
        ------
        SolverError
            Rows are lost or invented, or a row type with people to be told apart is divided.
        """
        held = np.bincount(self.row_type, weights=self.rows, minlength=len(table))
        if held.size != len(table) or not np.array_equal(held, table.rows) or (self.rows < 1).any():
            raise SolverError("The solution does not hold every row exactly once.", hint=DEFECT)
        return table.divide(self.row_type, self.rows) if self.is_divided else table

    def main_vectors(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return for each row type the vector of most of its rows, and which parts that are."""
        order = np.lexsort((self.vector, -self.rows, self.row_type))
        is_first = np.ones(order.size, dtype=np.bool_)
        is_first[1:] = self.row_type[order][1:] != self.row_type[order][:-1]
        is_main = np.zeros(order.size, dtype=np.bool_)
        is_main[order[is_first]] = True
        return self.vector[is_main], is_main


GIVEN_UP = "The search for a better solution ended early, what was found until then is valid:"


@dataclass(frozen=True)
class SearchResult:
    """A solution and what is proven about it."""

    solution: Solution
    """Pattern vectors of the row types."""
    method: str
    """What found it, in words."""
    lower_bound: float | None = None
    """Proven lower bound on the weighted cost."""
    bound_method: str | None = None
    """What proved the bound."""
    notes: tuple[str, ...] = ()
    """What the caller must know."""
    prices: NDArray[np.int64] | None = None
    """Shape (n,). The certificate of the bound, see `kanon_pg.worker.verification.certificate`."""
    termination: Termination | None = None
    """How the search ended, if that does not follow from the clock and from whether the bound is reached."""
    is_best: bool = False
    """Whether `bound_method` proves that no solution of this kind costs less: its cost is the bound."""

    def given_up(self, error: SolverError | MemoryError) -> SearchResult:
        """Return this result with a note that a search for a better one failed."""
        reason = error.message if isinstance(error, SolverError) else "There was not enough memory."
        is_memory = isinstance(error, MemoryError | MemoryExceeded)
        return replace(
            self,
            notes=(*self.notes, f"{GIVEN_UP} {reason}"),
            termination=Termination.MEMORY if is_memory else self.termination,
        )
