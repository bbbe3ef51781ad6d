"""Reads a ``jsonb`` argument, which PL/Python hands over as its text."""

from __future__ import annotations

import json
from typing import Any

from kanon_pg.errors import InputError


def read_json(text: str | None) -> Any:
    """Return what a text in JSON says; None for NULL.

    Raises
    ------
    InputError
        If it is nested too deeply for Python.
    """
    try:
        return None if text is None else json.loads(text, parse_int=_number)
    except RecursionError as error:
        raise InputError(
            "A JSON argument is nested too deeply.", hint="Give plain lists and objects."
        ) from error


def _number(digits: str) -> int | float:
    """Take an integer, which may have thousands of digits; infinity is refused where it arrives."""
    return int(digits) if len(digits) < 20 else float(digits)
