"""Which range type publishes intervals over a column, and how its bounds are written."""

from __future__ import annotations

TEXT = "text"
"""Output type of nodes that are labels."""

ELEMENTS = {
    "int4range": "integer",
    "int8range": "bigint",
    "numrange": "numeric",
    "daterange": "date",
    "tsrange": "timestamp without time zone",
    "tstzrange": "timestamp with time zone",
}
"""Range types that a hierarchy may have as output, with the type of their bounds."""

OUTPUTS = (TEXT, *ELEMENTS)

_BY_BASE_TYPE = {
    "int2": "int4range",
    "int4": "int4range",
    "int8": "int8range",
    "numeric": "numrange",
    "float4": "numrange",
    "float8": "numrange",
    "date": "daterange",
    "timestamp": "tsrange",
    "timestamptz": "tstzrange",
}


def range_type(base_type: str) -> str | None:
    """Return the range type for intervals over a column, None if there is none."""
    return _BY_BASE_TYPE.get(base_type)


def half_open(low: str | None, high: str | None) -> str:
    """Return a range that holds its lower bound and not its upper one; None: it has no bound there.

    Examples
    --------
    >>> half_open("20", "25"), half_open(None, "18")
    ('[20,25)', '(,18)')
    """
    below = "(" if low is None else f"[{_quoted(low)}"
    return f"{below},{'' if high is None else _quoted(high)})"


def _quoted(bound: str) -> str:
    return f'"{bound}"' if " " in bound else bound
