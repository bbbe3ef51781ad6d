"""Reads arguments of type ``name[]`` as PL/Python hands them over."""

from __future__ import annotations

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
