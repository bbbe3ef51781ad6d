"""Systematic forms of a linear code: the same space of vectors, seen from disjoint sets of columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanon_pg.worker.ledger.field import Field, Matrix

Columns = npt.NDArray[np.intp]

_BLOCK = 16


@dataclass(frozen=True, slots=True)
class Form:
    """A basis of the space that is the identity matrix on some columns.

    Parameters
    ----------
    rows : matrix, shape (rank, width)
        The basis.
    pivots : array of int, shape (rank,)
        Column ``pivots[i]`` is 1 in row ``i`` and 0 in every other.
    """

    rows: Matrix
    pivots: Columns

    @classmethod
    def empty(cls, width: int) -> Form:
        """Return the form of the space that holds only zero."""
        return cls(np.zeros((0, width)), np.zeros(0, dtype=np.intp))

    def remainder(self, vectors: Matrix, field: Field) -> Matrix:
        """Return vectors less their part in the space: zero if they lie in it."""
        if not len(self.pivots):
            return vectors
        return field.reduced(vectors - field.times(vectors[:, self.pivots], self.rows))

    def extended(self, vectors: Matrix, allowed: npt.NDArray[np.bool_], field: Field) -> Form | None:
        """Return the form of the space with more vectors, or None if the allowed columns do not suffice.

        Time O((rank + vectors) * vectors * width), in blocks, so that most of it is matrix products.

        Parameters
        ----------
        vectors : matrix, shape (any, width)
            What to add; may depend on each other or lie in the space.
        allowed : array of bool, shape (width,)
            Columns that may become pivots.
        field : Field
            Where to calculate.
        """
        form = self
        for start in range(0, len(vectors), _BLOCK):
            grown = form._with_block(vectors[start : start + _BLOCK], allowed, field)
            if grown is None:
                return None
            form = grown
        return form

    def _with_block(self, vectors: Matrix, allowed: npt.NDArray[np.bool_], field: Field) -> Form | None:
        rest = self.remainder(vectors, field).copy()
        needed = np.count_nonzero(self.rows, axis=0)
        chosen: list[int] = []
        pivots: list[int] = []
        for index in range(len(rest)):
            row = rest[index]
            support = np.flatnonzero(row)
            if not len(support):
                continue
            usable = support[allowed[support]]
            if not len(usable):
                return None
            # a column that few rows need, so that others find theirs
            pivot = int(usable[np.argmin(needed[usable])])
            row = field.reduced(row * field.inverse(int(row[pivot])))
            rest[index] = 0
            concerned = np.flatnonzero(rest[:, pivot])
            if len(concerned):
                rest[concerned] = field.reduced(rest[concerned] - np.outer(rest[concerned, pivot], row))
            rest[index] = row
            chosen.append(index)
            pivots.append(pivot)
        return self._joined(rest[chosen], np.array(pivots, dtype=np.intp), field)

    def _joined(self, added: Matrix, pivots: Columns, field: Field) -> Form:
        if not len(pivots):
            return self
        rows = np.vstack((self.rows, added))
        factors = self.rows[:, pivots]
        concerned = np.flatnonzero(np.any(factors != 0, axis=1))
        rows[concerned] = field.reduced(rows[concerned] - field.times(factors[concerned], added))
        return Form(rows, np.concatenate((self.pivots, pivots)))
