"""Counts and shares as a reader expects them."""

from __future__ import annotations


def percent(share: float) -> str:
    """Return a share with as many decimals as it needs; never 0 or 100 percent unless it is.

    Examples
    --------
    >>> [percent(share) for share in (0, 0.00001, 0.5, 0.123, 0.9999, 1)]
    ['0%', '<0.1%', '50%', '12.3%', '>99.9%', '100%']
    """
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}".replace(".0%", "%")


def counted(amount: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "set"), counted(2000, "person", "people")
    ('1 set', '2,000 people')
    """
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"
