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

The other way round nothing is mistaken while every unit has a column alone. Where units share columns
(several rows of one person, more people than columns), combinations may cancel that need not be zero: a word
of exactly k people can then look lighter, and an answer is refused that could have been told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from kanon_pg.worker.ledger.field import Field, Matrix
from kanon_pg.worker.ledger.forms import Form
from kanon_pg.worker.ledger.sparse import holds_sparse_vector

Proof = Literal["safe", "unsafe", "undecided"]
"""``safe``: no word depends on fewer than k people. ``unsafe``: some word has fewer than k non-zero columns
(the very people if everybody has a column alone, else possibly a few more). ``undecided``: too much work."""

_NODES = 1000
_SMALL_RANK = 24


def forms_needed(k: int) -> int:
    """Return how many disjoint forms prove a distance of `k` by their rows alone."""
    return (k + 1) // 2


@dataclass(frozen=True, slots=True)
class Code:
    """The space of all combinations of some sets, in several forms.

    Parameters
    ----------
    field : Field
        Where to calculate.
    k : int
        Smallest distance that is wanted, >= 2.
    forms : tuple of Form
        Forms of the same space, pivots disjoint; at least one.
    """

    field: Field
    k: int
    forms: tuple[Form, ...]

    @classmethod
    def empty(cls, field: Field, k: int) -> Code:
        """Return the code that holds only zero."""
        return cls(field, k, (Form.empty(field.width),) * forms_needed(k))

    @property
    def rank(self) -> int:
        """Dimension of the space."""
        return len(self.forms[0].pivots)

    def news(self, vectors: Matrix) -> Matrix:
        """Return the vectors that do not follow from the code, without what follows; none if all do."""
        rest = self.forms[0].remainder(vectors, self.field)
        return rest[np.any(rest != 0, axis=1)]

    def extended(self, vectors: Matrix) -> Code:
        """Return the code with more vectors.

        A form that finds no free column for a pivot gives its columns back to the others, and is made anew
        from what is left if that is possible.

        Parameters
        ----------
        vectors : matrix, shape (any, width)
            What to add.
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

    def proof(self) -> Proof:
        """Decide whether a word of the code singles out fewer than `k` people."""
        if any(_has_light_row(form, self.k) for form in self.forms):
            return "unsafe"
        most_pivots = (self.k - 1) // len(self.forms)
        if most_pivots <= 1:
            return "safe"
        if comb(self.rank, min(most_pivots, self.rank // 2)) > _NODES:
            return "undecided"
        for form in self.forms:
            found = holds_sparse_vector(form, self.k, most_pivots, _NODES, self.field)
            if found is not False:
                return "unsafe" if found else "undecided"
        return "safe"

    def _completed(self, code: Code) -> Code:
        forms = list(code.forms)
        # making a form anew costs as much as all that was added so far, so only small codes do
        while len(forms) < forms_needed(self.k) and len(forms[0].pivots) <= _SMALL_RANK:
            fresh = Form.empty(self.field.width).extended(forms[0].rows, self._free(forms), self.field)
            if fresh is None:
                break
            forms.append(fresh)
        if len(forms) < forms_needed(self.k):
            # pivots that were chosen one answer at a time may stand in each other's way
            forms = max(forms, self._made_anew(forms[0]), key=len)
        return replace(code, forms=tuple(forms))

    def _made_anew(self, form: Form) -> list[Form]:
        """Return as many forms of a space as are found; rows of few columns choose their pivots first."""
        rows = form.rows[np.argsort(np.count_nonzero(form.rows, axis=1), kind="stable")]
        forms: list[Form] = []
        while len(forms) < forms_needed(self.k):
            fresh = Form.empty(self.field.width).extended(rows, self._free(forms), self.field)
            if fresh is None:
                break
            forms.append(fresh)
        return forms

    def _free(self, forms: list[Form]) -> npt.NDArray[np.bool_]:
        free = np.ones(self.field.width, dtype=np.bool_)
        for form in forms:
            free[form.pivots] = False
        return free


def _has_light_row(form: Form, k: int) -> bool:
    return len(form.rows) > 0 and int(np.count_nonzero(form.rows, axis=1).min()) < k
