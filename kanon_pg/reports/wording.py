"""Numbers and names as a reader expects them."""

from __future__ import annotations

import unicodedata

_WITHOUT_GLYPH = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of characters that show nothing themselves but may change how others are shown."""


def visible(text: str) -> str:
    r"""Return a text in which characters without a glyph are spelled out.

    A name may contain line breaks, or marks that turn the direction of what follows: neither may change how
    the page around it reads.

    Examples
    --------
    >>> visible("a" + chr(0x202E) + "b" + chr(10))
    'a\\u202eb\\u000a'
    """
    return "".join(
        f"\\u{ord(character):04x}" if unicodedata.category(character) in _WITHOUT_GLYPH else character
        for character in text
    )


def shortened(name: str, most: float) -> str:
    """Return a name for a drawing, cut off where it would be too wide.

    Parameters
    ----------
    most : float
        Width in letters such as n and o, > 1.

    Examples
    --------
    >>> shortened("glimepiride_pioglitazone", 12), shortened("WWWWWWWWWWWW", 12)
    ('glimepiride_…', 'WWWWWWW…')
    """
    text, wide = visible(name), 0.0
    if sum(map(_width, text)) <= most:
        return text
    for place, character in enumerate(text):
        wide += _width(character)
        if wide > most - 1:
            return text[:place] + "…"
    return text


def _width(character: str) -> float:
    """Return about how many letters n are as wide as a character, in fonts without serifs."""
    if character in "mwMW@%" or unicodedata.east_asian_width(character) in "WF":
        return 1.5
    if character in "fijlrtI1 .,:;'|!()[]":
        return 0.6
    return 1.2 if character.isupper() else 1.0


def number(value: int | None) -> str:
    """Return a count with separators; a dash where nothing was counted."""
    return "–" if value is None else f"{value:,}"  # noqa: RUF001  # the dash of tables


def sizes(smallest: int, largest: int) -> str:
    """Return the sizes from one number to another.

    Examples
    --------
    >>> sizes(2, 2), sizes(5, 9)
    ('2', '5 to 9')
    """
    return f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
