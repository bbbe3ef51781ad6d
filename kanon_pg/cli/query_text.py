"""Marks a piece of a query's text for a terminal."""

from __future__ import annotations

import unicodedata

_BEFORE, _AFTER = 60, 60


def marked(text: str, start: int, end: int) -> tuple[str, str]:
    r"""Return the line in which a piece begins, and the line of marks that belongs below it.

    Parameters
    ----------
    text : str
        The query.
    start, end : int
        The piece is ``text[start:end]``; positions beyond the text are those of its end.

    Returns
    -------
    tuple of (str, str)
        Long lines are cut around the piece. No marks for an empty piece.

    Examples
    --------
    >>> print(*marked("SELECT name\nFROM patients", 7, 11), sep="\n")
    SELECT name
           ^^^^
    """
    start, end = min(start, len(text)), min(end, len(text))
    if start >= end:
        return "", ""
    first = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    breaks = [place for place in (text.find("\n", start), text.find("\r", start)) if place >= 0]
    last = min(breaks, default=len(text))
    first, last = max(first, start - _BEFORE), min(last, max(end, start + 1) + _AFTER)
    piece = max(1, min(end, last) - start)
    return _printable(text[first:last]), " " * (start - first) + "^" * piece


def _printable(line: str) -> str:
    """Return a line of as many characters in which each takes one place and moves no cursor."""
    return "".join(
        character
        if character.isprintable()
        and unicodedata.east_asian_width(character) not in "WF"
        and not unicodedata.combining(character)
        else " "
        if character.isspace()
        else "?"
        for character in line
    )
