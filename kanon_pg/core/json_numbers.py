"""Whether what a caller gave is a number: to Python True is 1, and JSON knows integers without end."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_whole(value: Any) -> TypeGuard[int]:
    """Return whether a value is an integer, and not True or False."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a finite number, and not True or False; integers may exceed every float.

    Examples
    --------
    >>> is_number(0.5), is_number(10**400), is_number(True), is_number(float("nan"))
    (True, True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
