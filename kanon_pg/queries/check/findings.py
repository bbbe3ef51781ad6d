"""Findings: why a query is refused, where in the text, and what to write instead.

A finding depends on the text, the catalog snapshot and the options, never on data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the query text.

    Parameters
    ----------
    start, end : int
        Positions in the text, 0 <= start <= end; ``text[start:end]`` is the piece.
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason for a refusal.

    Parameters
    ----------
    code : str
        ``Q`` and three digits. The first says what was looked at: 0 text and grammar, 1 names, 2 types,
        functions and constants, 3 use of protected columns, 4 joins, 5 clauses and modes.
    start, end : int
        The piece of the text that is meant.
    sentence : str
        What is not allowed.
    hint : str
        What to write instead; may be empty.
    """

    code: str
    start: int
    end: int
    sentence: str
    hint: str = ""


class Refusal(Exception):
    """Ends the check with one finding; only `kanon_pg.queries.check.checker` catches it.

    Parameters
    ----------
    code : str
        Code of the rule.
    sentence : str
        What is not allowed.
    hint : str
        What to write instead.
    """

    def __init__(self, code: str, span: Span, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.finding = Finding(code, span.start, span.end, sentence, hint)


class _Placed(Protocol):
    @property
    def span(self) -> Span: ...


def finding_at(code: str, place: _Placed | Span, sentence: str, hint: str = "") -> Finding:
    """Return a finding about a piece of the text, or about what was read from it."""
    span = place if isinstance(place, Span) else place.span
    return Finding(code, span.start, span.end, sentence, hint)
