"""The types that may be used, as data, and how they meet.

A type that is not in `TYPES` cannot be read, cast to or returned, but for the labels of enums, which are
texts. Every type here lives in ``pg_catalog``, has equality, hashing and an order, and an output function
that cannot fail. A domain is read as the type below it: that conversion changes no byte, checks nothing and
calls nothing.
"""

from __future__ import annotations

from typing import Final

INTEGERS: Final = ("int2", "int4", "int8")
NUMBERS: Final = (*INTEGERS, "numeric", "float4", "float8")
"""In the order in which one is widened to the next."""
FLOATS: Final = ("float4", "float8")
MOMENTS: Final = ("date", "timestamp", "timestamptz")
RANGES: Final = ("int4range", "int8range", "daterange")
"""Ranges that have one spelling each, so that their form does not distinguish equal ones."""
UNKNOWN: Final = "unknown"
"""A string, NULL or parameter that takes its type from where it stands."""

TYPES: Final = frozenset({*NUMBERS, *MOMENTS, *RANGES, "bool", "text", "time", "interval", "uuid"})

AS_TEXT: Final = frozenset({"varchar", "bpchar"})
"""Column types that are read as text (trailing blanks of ``char(n)`` mean nothing and are cut off)."""

LABEL: Final = "varchar"
"""The label of an enum: compared with labels and constants for equality, grouped and counted, no more.

A type of its own here, as in PostgreSQL, where no function of texts takes an enum either. In canonical SQL it
is a type of PostgreSQL's that holds texts. Labels have no order here: an enum's is not that of its texts.
"""

_SHOWN: Final = {LABEL: "enum", UNKNOWN: "text"}

WRITTEN: Final = {
    "smallint": "int2",
    "int2": "int2",
    "int": "int4",
    "integer": "int4",
    "int4": "int4",
    "bigint": "int8",
    "int8": "int8",
    "decimal": "numeric",
    "numeric": "numeric",
    "real": "float4",
    "float": "float8",
    "float4": "float4",
    "float8": "float8",
    "double": "float8",
    "double precision": "float8",
    "boolean": "bool",
    "bool": "bool",
    "text": "text",
    "varchar": "text",
    "character varying": "text",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "time": "time",
    "interval": "interval",
    "uuid": "uuid",
    **{name: name for name in RANGES},
}
"""Types as the parser writes them (lower case) and the names they have in ``pg_catalog``."""


def written_type(name: str) -> str | None:
    """Return the type of ``pg_catalog`` that a cast names, or None if it is not allowed.

    Parameters
    ----------
    name : str
        As written, in lower case, optionally with ``pg_catalog.`` before it.

    Returns
    -------
    str or None
        Member of `TYPES`.
    """
    return WRITTEN.get(name.removeprefix("pg_catalog."))


def shown_type(type_name: str) -> str:
    """Return a type of an expression as messages name it."""
    return _SHOWN.get(type_name, type_name)


def common_type(left: str, right: str) -> str | None:
    """Return the type in which two values are compared or listed together.

    Parameters
    ----------
    left, right : str
        Members of `TYPES`, `LABEL` or `UNKNOWN`.

    Returns
    -------
    str or None
        None if the types do not meet without a cast that could fail.
    """
    if right in {left, UNKNOWN}:
        return left
    if left == UNKNOWN:
        return right
    for order in (NUMBERS, MOMENTS):
        if left in order and right in order:
            wider = max(left, right, key=order.index)
            # PostgreSQL compares float4 with every other number as float8
            return "float8" if wider == "float4" else wider
    return None
