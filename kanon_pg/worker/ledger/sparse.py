"""Does a space of vectors hold a non-zero one with few non-zero columns? Bounded search.

In general this is the minimum distance of a linear code, which is NP-hard (Vardy, "The intractability of
computing the minimum distance of a code", 1997), so that the search has a limit and may end without an
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanon_pg.worker.ledger.field import Field
from kanon_pg.worker.ledger.forms import Form


class _LimitReached(Exception):
    """The search visited as many spaces as it may."""


def holds_sparse_vector(form: Form, k: int, most_pivots: int, nodes: int, field: Field) -> bool | None:
    """Whether some non-zero vector has fewer than `k` non-zero columns and at most `most_pivots` at pivots.

    Branches on one column: either the vector is zero there (the space loses a dimension) or it is not (one
    of the ``k - 1`` columns is used up). With rank ``r`` at most ``C(r + k, k)`` spaces are visited.

    Parameters
    ----------
    form : Form
        The space.
    k : int
        Non-zero columns from which on a vector is not sparse.
    most_pivots : int
        Non-zero pivot columns considered, >= 1. The answer covers all vectors if this is ``k - 1`` or more.
    nodes : int
        Most spaces to visit.
    field : Field
        Where to calculate.

    Returns
    -------
    bool or None
        None if the limit was reached before the answer was known.
    """
    search = _Search(k, most_pivots, nodes, field)
    # columns in which every vector is zero decide nothing
    alive = np.flatnonzero(np.any(form.rows != 0, axis=0))
    small = Form(form.rows[:, alive], np.searchsorted(alive, form.pivots))
    try:
        return search.holds(small, (), small.pivots.tolist())
    except _LimitReached:
        return None


@dataclass
class _Search:
    k: int
    most_pivots: int
    nodes: int
    field: Field

    def holds(self, form: Form, used: tuple[int, ...], undecided: Sequence[int]) -> bool:
        self.nodes -= 1
        if self.nodes < 0:
            raise _LimitReached
        weights = np.count_nonzero(form.rows, axis=1)
        if len(weights) == 0 or len(used) >= self.k or not _reaches(form, used):
            return False
        if int(weights.min()) < self.k:
            return True
        if len(weights) == 1:
            return False
        if undecided and len(used) < self.most_pivots:
            return self._branch(form, used, undecided[0], undecided[1:])
        if undecided:
            # no further pivot may be non-zero
            return self.holds(_without(form, undecided), used, ())
        column = _undecided_column(form, used)
        return column is not None and self._branch(form, used, column, ())

    def _branch(self, form: Form, used: tuple[int, ...], column: int, rest: Sequence[int]) -> bool:
        if self.holds(_vanishing(form, column, self.field), used, rest):
            return True
        return self.holds(form, (*used, column), rest)


def _reaches(form: Form, used: tuple[int, ...]) -> bool:
    return bool(np.all(np.any(form.rows[:, list(used)] != 0, axis=0)))


def _without(form: Form, pivots: Sequence[int]) -> Form:
    kept = ~np.isin(form.pivots, pivots)
    return Form(form.rows[kept], form.pivots[kept])


def _undecided_column(form: Form, used: tuple[int, ...]) -> int | None:
    needed = np.count_nonzero(form.rows, axis=0)
    needed[list(used)] = 0
    column = int(np.argmax(needed))
    return column if needed[column] else None


def _vanishing(form: Form, column: int, field: Field) -> Form:
    """Return the vectors that are zero in a column; the pivots of the others stay what they are."""
    values = form.rows[:, column]
    concerned = np.flatnonzero(values)
    if not len(concerned):
        return form
    pivot_row = np.flatnonzero(form.pivots == column)
    leaving = int(pivot_row[0]) if len(pivot_row) else int(concerned[0])
    factors = field.reduced(values * field.inverse(int(values[leaving])))
    rows = field.reduced(form.rows - np.outer(factors, form.rows[leaving]))
    kept = np.arange(len(rows)) != leaving
    return Form(rows[kept], form.pivots[kept])
