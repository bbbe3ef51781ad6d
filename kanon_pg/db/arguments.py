"""Reads arguments as PL/Python hands them over: ``name[]`` as a list or a text, ``jsonb`` as its text."""

from __future__ import annotations

import json
from typing import Any

from kanon_pg.errors import InputError


def read_names(argument: str, names: Any) -> list[str] | None:
    """Take a one-dimensional array without NULLs; PL/Python nests lists for further dimensions.

    Parameters
    ----------
    argument : str
        Its name in SQL.
    names : list or None
        What was handed over; None for NULL.

    Raises
    ------
    InputError
        It is another array.
    """
    if names is None:
        return None
    if not all(isinstance(name, str) for name in names):
        raise InputError(
            f"Argument {argument} must be a plain list of column names.",
            hint="Without NULLs and nested arrays, for example '{zip,sex}'.",
        )
    return list(names)


_DEEPEST = 64
"""Levels of lists and objects; no argument has more than ten, and Python's own limit differs by version."""


def read_json(text: str | None) -> Any:
    """Return what a text in JSON says; None for NULL.

    Raises
    ------
    InputError
        If it is nested too deeply.
    """
    try:
        value = None if text is None else json.loads(text, parse_int=_number)
    except RecursionError as error:
        raise _too_deep() from error
    if _is_deeper(value, _DEEPEST):
        raise _too_deep()
    return value


def _too_deep() -> InputError:
    return InputError("A JSON argument is nested too deeply.", hint="Give plain lists and objects.")


def _is_deeper(value: Any, most: int) -> bool:
    """Whether a value has more than so many levels of lists and objects; goes level by level."""
    level = [value]
    for _ in range(most + 1):
        inner: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                inner.extend(part.values())
            elif isinstance(part, list):
                inner.extend(part)
        if not inner:
            return False
        level = inner
    return True


def _number(digits: str) -> int | float:
    """Take an integer, which may have thousands of digits; infinity is refused where it arrives."""
    return int(digits) if len(digits) < 20 else float(digits)
