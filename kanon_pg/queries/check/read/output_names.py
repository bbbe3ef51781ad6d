"""The names of outputs without AS, by the rules by which PostgreSQL itself names them (``FigureColname``).

They follow from what is written, before anything is read as something else: ``position('a' IN b)`` is read as
``strpos`` and called ``position``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kanon_pg.queries.check.read.raw_tree import RawNode, child, children, identifier, optional, string
from kanon_pg.queries.check.types import WRITTEN

UNNAMED: Final = "?column?"
"""What PostgreSQL calls outputs that nothing gives a name."""

_TYPES: Final = {**WRITTEN, "varchar": "varchar", "float": "float4"}
"""Names of types by what the parser makes of them: ``float`` of ``real``, ``double`` of ``float``."""


def given_name(node: RawNode) -> str:
    """Return the name of an output without AS.

    Parameters
    ----------
    node : RawNode
        An expression that could be read.
    """
    return _strong_name(node) or _weak_name(node) or UNNAMED


def _strong_name(node: RawNode) -> str | None:
    """Return the name that an expression has inside a cast, too, and as the ELSE of a CASE."""
    if node.kind in _SQL_NAMES:
        return _SQL_NAMES[node.kind]
    reading = _NAMING.get(node.kind)
    return reading(node) if reading is not None else None


def _weak_name(node: RawNode) -> str | None:
    if node.kind in {"Paren", "Cast"}:
        inner = _weak_name(child(node, "this"))
        return _type_name(child(node, "to")) if node.kind == "Cast" else inner
    return _WEAK_NAMES.get(node.kind)


def _type_name(target: RawNode) -> str:
    name = string(target, "this").lower()
    if name == "user-defined":
        kind = child(target, "kind")
        name = identifier(child(kind, "expression") if kind.kind == "Dot" else kind)
    return _TYPES.get(name, name)


def _inner(node: RawNode) -> str | None:
    return _strong_name(child(node, "this"))


def _column(node: RawNode) -> str | None:
    last = child(node, "this")
    return identifier(last) if last.kind == "Identifier" else None


def _function(node: RawNode) -> str | None:
    name = node.values.get("this")
    return identifier(name) if isinstance(name, RawNode) else str(name).lower()


def _trim(node: RawNode) -> str | None:
    side = str(node.values.get("position", "BOTH")).upper()
    return {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}.get(side)


def _case(node: RawNode) -> str | None:
    default = optional(node, "default")
    return _strong_name(default) if default is not None else None


def _query(node: RawNode) -> str | None:
    """Return the name of the one output of a query in the place of a value."""
    while node.kind in {"Subquery", "Union"}:
        node = child(node, "this")
    outputs = children(node, "expressions")
    if not outputs:
        return None
    (first, *_) = outputs
    return identifier(child(first, "alias")) if first.kind == "Alias" else given_name(first)


_SQL_NAMES: Final = {
    "CurrentDate": "current_date",
    "CurrentTimestamp": "current_timestamp",
    "Localtimestamp": "localtimestamp",
    "Extract": "extract",
    "Substring": "substring",
    "StrPosition": "position",
    "Array": "array",
}

_WEAK_NAMES: Final = {"Interval": "interval", "Case": "case"}

_NAMING: Final[dict[str, Callable[[RawNode], str | None]]] = {
    "Column": _column,
    "Anonymous": _function,
    "Trim": _trim,
    "Case": _case,
    "Subquery": _query,
    "Dot": lambda node: _function(child(node, "expression")),
    **dict.fromkeys(("Paren", "Cast", "Filter", "Window", "WithinGroup"), _inner),
}
