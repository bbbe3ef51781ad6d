"""The audit of sums and counts: all history, or the recent part of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from kanon_pg.worker.ledger.field import Field, Matrix
from kanon_pg.worker.ledger.linear_code import Code, forms_needed
from kanon_pg.worker.ledger.rules import Rules

Finding = Literal["safe", "unsafe", "undecided", "full"]

_LEAST_WIDTH = 1024
_ALIGNMENT = 256


def field_for(rules: Rules, key: bytes) -> Field:
    """Return the field for some rules: room for the pivots of all forms, and for choosing them.

    Parameters
    ----------
    rules : Rules
        Rank and k.
    key : bytes
        The relation's secret.
    """
    width = max(_LEAST_WIDTH, (forms_needed(rules.k) + 1) * rules.rank)
    return Field(key, -(-width // _ALIGNMENT) * _ALIGNMENT)


@dataclass(frozen=True, slots=True)
class Audit:
    """What follows from recorded answers by adding and subtracting.

    Parameters
    ----------
    older : Code
        The code that questions are checked against.
    younger : Code or None
        In mode ``pairwise`` a code that began when the older one was half full, and takes over when that is
        full; then everything before its beginning is forgotten. None in mode ``linear``: all is kept.
    rank : int
        Dimension at which a code is full.
    """

    older: Code
    younger: Code | None
    rank: int

    @classmethod
    def empty(cls, rules: Rules, field: Field) -> Audit:
        """Return the audit of a relation that was never asked."""
        empty = Code.empty(field, rules.k)
        return cls(empty, empty if rules.mode == "pairwise" else None, rules.rank)

    def considered(self, vectors: Matrix) -> tuple[Finding, Audit]:
        """Return whether the sets may be told, and the audit after telling them.

        Parameters
        ----------
        vectors : matrix, shape (any, width)
            Vectors of all sets of one answer.

        Returns
        -------
        finding : {'safe', 'unsafe', 'undecided', 'full'}
            Only ``safe`` is leave to answer. What follows from recorded answers is always safe to repeat.
        audit : Audit
            To be kept if the answer is told.
        """
        news = self.older.news(vectors)
        if not len(news):
            return "safe", self._after(self.older, vectors)
        if len(news) > self.rank or (self.younger is None and self.older.rank >= self.rank):
            return "full", self
        older = self.older.extended(news)
        if self.younger is None and older.rank > self.rank:
            return "full", self
        finding = older.proof()
        return finding, self._after(older, vectors) if finding == "safe" else self

    def recorded(self, vectors: Matrix) -> Audit:
        """Return the audit after these sets were told by somebody else, whatever follows from it."""
        return self._after(self.older.extended(self.older.news(vectors)), vectors)

    def _after(self, older: Code, vectors: Matrix) -> Audit:
        if self.younger is None:
            return replace(self, older=older)
        younger = self.younger
        if older.rank >= self.rank // 2:
            younger = younger.extended(younger.news(vectors))
        if older.rank > self.rank and younger.rank:
            return replace(self, older=younger, younger=Code.empty(older.field, older.k))
        return replace(self, older=older, younger=younger)
