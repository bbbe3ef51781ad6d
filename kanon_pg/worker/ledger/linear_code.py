"""All that follows from a list of answers by adding and subtracting, and whether it singles people out.

The answers' vectors span a linear code over a prime field; somebody is singled out if a word of the code
depends on the units of fewer than k people (for sums: Chin and Ozsoyoglu, "Auditing and inference control in
statistical databases", 1982; the span is what Kam and Ullman, "A model of statistical databases and their
security", 1977, let an attacker compute). Words that depend on fewer than k people are non-zero in fewer than
k columns, so it is enough to show that the code's minimum distance is at least k.

That is shown with the idea of Brouwer and Zimmermann (see Grassl, "Searching for linear codes with large
minimum distance", 2006): a word is a combination of rows of a systematic form, with one non-zero pivot
per row that takes part. With f forms whose pivots are disjoint, every word that is not a multiple of a single
row of one of them has at least two non-zero columns among each form's pivots, 2 f in all. So ``f >= k / 2``
forms whose rows have k non-zero columns each are a proof, however many words there are. With fewer forms, at
most ``(k - 1) // f`` pivots of some form are non-zero in a sparse word, and a bounded search decides.

A proof is mistaken only if the secret is unlucky for a word fixed before it was drawn: if the prime divides
a denominator of the word's combination (for rank r, at most ``r log2(r + 1) / 46`` of some 513,000 primes
do), or if several units of its people share columns and their coefficients cancel in each (below 2**-23;
impossible while every unit has a column alone, or for one person with one unit).

The other way round nothing is mistaken while every unit has a column alone. Where people share columns,
because there are more of them than columns, a word of k people can look lighter: of groups of exactly 5
people one in a hundred, with 1,024 columns. Sets themselves were counted in people, so a row that is a
multiple of a set that is known to have k people is *excused*; a sum or difference of sets that looks lighter
than it is gets refused although it could have been disclosed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from kanon_pg.worker.ledger.field import Matrix, PrimeField, Vector

Columns = npt.NDArray[np.intp]

_BLOCK = 16


@dataclass(frozen=True, slots=True)
class SystematicForm:
    """A basis of the space that is the identity matrix on some columns.

    Parameters
    ----------
    pivots : array of int, shape (rank,)
        Column ``pivots[i]`` is 1 in row ``i`` and 0 in every other.
    """

    rows: Matrix
    pivots: Columns

    @classmethod
    def empty(cls, width: int) -> SystematicForm:
        """Return the form of the space that holds only zero."""
        return cls(np.zeros((0, width)), np.zeros(0, dtype=np.intp))

    def remainder(self, vectors: Matrix, field: PrimeField) -> Matrix:
        """Return vectors less their part in the space: zero if they lie in it."""
        if not len(self.pivots):
            return vectors
        return field.reduced(vectors - field.product(vectors[:, self.pivots], self.rows))

    def extended(
        self, vectors: Matrix, allowed: npt.NDArray[np.bool_], field: PrimeField
    ) -> SystematicForm | None:
        """Return the form of the space with more vectors, or None if the allowed columns do not suffice.

        Time O((rank + vectors) * vectors * width), in blocks, so that most of it is matrix products.

        Parameters
        ----------
        vectors : matrix, shape (any, width)
            What to add; may depend on each other or lie in the space.
        """
        form = self
        for start in range(0, len(vectors), _BLOCK):
            grown = form._with_block(vectors[start : start + _BLOCK], allowed, field)
            if grown is None:
                return None
            form = grown
        return form

    def _with_block(
        self, vectors: Matrix, allowed: npt.NDArray[np.bool_], field: PrimeField
    ) -> SystematicForm | None:
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

    def _joined(self, added: Matrix, pivots: Columns, field: PrimeField) -> SystematicForm:
        if not len(pivots):
            return self
        rows = np.vstack((self.rows, added))
        factors = self.rows[:, pivots]
        concerned = np.flatnonzero(np.any(factors != 0, axis=1))
        rows[concerned] = field.reduced(rows[concerned] - field.product(factors[concerned], added))
        return SystematicForm(rows, np.concatenate((self.pivots, pivots)))


class _LimitReached(Exception):
    """The search visited as many spaces as it may."""


def holds_sparse_vector(
    form: SystematicForm, k: int, max_pivots: int, nodes: int, field: PrimeField
) -> bool | None:
    """Whether some non-zero vector has fewer than `k` non-zero columns and at most `max_pivots` at pivots.

    Branches on one column: either the vector is zero there (the space loses a dimension) or it is not (one
    of the ``k - 1`` columns is used up). With rank ``r`` at most ``C(r + k, k)`` spaces are visited.

    Parameters
    ----------
    k : int
        Non-zero columns from which on a vector is not sparse.
    max_pivots : int
        Non-zero pivot columns considered, >= 1. The answer covers all vectors if this is ``k - 1`` or more.

    Returns
    -------
    bool or None
        None if the limit was reached before the answer was known.
    """
    search = _SparseSearch(k, max_pivots, nodes, field)
    # columns in which every vector is zero decide nothing
    alive = np.flatnonzero(np.any(form.rows != 0, axis=0))
    small = SystematicForm(form.rows[:, alive], np.searchsorted(alive, form.pivots))
    try:
        return search.holds(small, (), small.pivots.tolist())
    except _LimitReached:
        return None


@dataclass
class _SparseSearch:
    k: int
    max_pivots: int
    nodes: int
    field: PrimeField

    def holds(self, form: SystematicForm, used: tuple[int, ...], undecided: Sequence[int]) -> bool:
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
        if undecided and len(used) < self.max_pivots:
            return self._branch(form, used, undecided[0], undecided[1:])
        if undecided:
            # no further pivot may be non-zero
            return self.holds(_without(form, undecided), used, ())
        column = _undecided_column(form, used)
        return column is not None and self._branch(form, used, column, ())

    def _branch(self, form: SystematicForm, used: tuple[int, ...], column: int, rest: Sequence[int]) -> bool:
        if self.holds(_vanishing(form, column, self.field), used, rest):
            return True
        return self.holds(form, (*used, column), rest)


def _reaches(form: SystematicForm, used: tuple[int, ...]) -> bool:
    return bool(np.all(np.any(form.rows[:, list(used)] != 0, axis=0)))


def _without(form: SystematicForm, pivots: Sequence[int]) -> SystematicForm:
    kept = ~np.isin(form.pivots, pivots)
    return SystematicForm(form.rows[kept], form.pivots[kept])


def _undecided_column(form: SystematicForm, used: tuple[int, ...]) -> int | None:
    needed = np.count_nonzero(form.rows, axis=0)
    needed[list(used)] = 0
    column = int(np.argmax(needed))
    return column if needed[column] else None


def _vanishing(form: SystematicForm, column: int, field: PrimeField) -> SystematicForm:
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
    return SystematicForm(rows[kept], form.pivots[kept])


Proof = Literal["safe", "unsafe", "undecided"]
"""``safe``: no word depends on fewer than k people. ``unsafe``: some word has fewer than k non-zero columns
(the very people if everybody has a column alone, else possibly a few more). ``undecided``: too much work."""

_MAX_NODES = 1000
_SMALL_RANK = 24


def forms_needed(k: int) -> int:
    """Return how many disjoint forms prove a distance of `k` by their rows alone."""
    return (k + 1) // 2


@dataclass(frozen=True, slots=True)
class LinearCode:
    """The space of all combinations of some sets, in several forms.

    Parameters
    ----------
    k : int
        Smallest distance that is wanted, >= 2.
    forms : tuple of SystematicForm
        Forms of the same space, pivots disjoint; at least one.
    """

    field: PrimeField
    k: int
    forms: tuple[SystematicForm, ...]

    @classmethod
    def empty(cls, field: PrimeField, k: int) -> LinearCode:
        """Return the code that holds only zero."""
        return cls(field, k, (SystematicForm.empty(field.width),) * forms_needed(k))

    @property
    def rank(self) -> int:
        """Dimension of the space."""
        return len(self.forms[0].pivots)

    def independent_part(self, vectors: Matrix) -> Matrix:
        """Return the vectors that are not words of the code, less their part in it; none if all are words."""
        rest = self.forms[0].remainder(vectors, self.field)
        return rest[np.any(rest != 0, axis=1)]

    def extended(self, vectors: Matrix) -> LinearCode:
        """Return the code with more vectors.

        A form that finds no free column for a pivot gives its columns back to the others, and is made anew
        from what is left if that is possible.
        """
        forms = list(self.forms)
        done = 0
        while done < len(forms):
            grown = forms[done].extended(vectors, self._free(forms), self.field)
            if grown is not None:
                forms[done] = grown
                done += 1
            elif done:
                del forms[done]
            elif len(forms) > 1:
                del forms[-1]
            else:
                raise AssertionError("a single form may use every column")
        return self._completed(replace(self, forms=tuple(forms)))

    def proof(self, excused: frozenset[bytes] = frozenset()) -> Proof:
        """Decide whether a word of the code singles out fewer than `k` people.

        Parameters
        ----------
        excused : frozenset of bytes
            Fingerprints (`word_fingerprint`) of words that are known to depend on `k` people.
        """
        for form in self.forms:
            sparse = form.rows[np.count_nonzero(form.rows, axis=1) < self.k]
            if any(word_fingerprint(row, self.field) not in excused for row in sparse):
                return "unsafe"
        max_pivots = (self.k - 1) // len(self.forms)
        if max_pivots <= 1:
            return "safe"
        if comb(self.rank, min(max_pivots, self.rank // 2)) > _MAX_NODES:
            return "undecided"
        for form in self.forms:
            found = holds_sparse_vector(form, self.k, max_pivots, _MAX_NODES, self.field)
            if found is not False:
                return "unsafe" if found else "undecided"
        return "safe"

    def _completed(self, code: LinearCode) -> LinearCode:
        forms = list(code.forms)
        # rebuilding a form costs as much as all that was added so far, so only small codes do
        while len(forms) < forms_needed(self.k) and len(forms[0].pivots) <= _SMALL_RANK:
            fresh = SystematicForm.empty(self.field.width).extended(
                forms[0].rows, self._free(forms), self.field
            )
            if fresh is None:
                break
            forms.append(fresh)
        if len(forms) < forms_needed(self.k):
            # pivots that were chosen one answer at a time may stand in each other's way
            forms = max(forms, self._rebuilt_forms(forms[0]), key=len)
        return replace(code, forms=tuple(forms))

    def _rebuilt_forms(self, form: SystematicForm) -> list[SystematicForm]:
        """Return as many forms of a space as are found; rows of few columns choose their pivots first."""
        rows = form.rows[np.argsort(np.count_nonzero(form.rows, axis=1), kind="stable")]
        forms: list[SystematicForm] = []
        while len(forms) < forms_needed(self.k):
            fresh = SystematicForm.empty(self.field.width).extended(rows, self._free(forms), self.field)
            if fresh is None:
                break
            forms.append(fresh)
        return forms

    def _free(self, forms: list[SystematicForm]) -> npt.NDArray[np.bool_]:
        free = np.ones(self.field.width, dtype=np.bool_)
        for form in forms:
            free[form.pivots] = False
        return free


def word_fingerprint(word: Vector, field: PrimeField) -> bytes:
    """Return the same 16 bytes for all multiples of a word, which is not zero."""
    (support,) = np.nonzero(word)
    scaled = np.remainder(word[support] * field.inverse(int(word[support[0]])), field.modulus)
    return blake2b(support.tobytes() + scaled.tobytes(), digest_size=16).digest()
