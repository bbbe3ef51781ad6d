"""Why a query is refused, where in its text, and what to write instead; never depends on data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason for a refusal."""

    code: str
    """``Q`` and three digits, listed in `docs/query-codes.md`."""
    place: int
    """Where in the text, counted from 0."""
    sentence: str
    """What is not allowed."""
    hint: str = ""
    """What to write instead."""


class Refusal(Exception):
    """Ends the reading of a query: what is about its text may raise it. Arguments are those of `Finding`."""

    def __init__(self, code: str, place: int, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.finding = Finding(code, place, sentence, hint)
