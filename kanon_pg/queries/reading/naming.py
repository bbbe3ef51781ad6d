"""The names of outputs without AS, by the rules by which PostgreSQL itself names them (``FigureColname``)."""

from __future__ import annotations

from collections.abc import Callable

from kanon_pg.queries.reading.trees import Tree

_SQL_NAMES = {
    "CurrentDate": "current_date",
    "CurrentTimestamp": "current_timestamp",
    "Localtimestamp": "localtimestamp",
    "Extract": "extract",
    "Substring": "substring",
    "StrPosition": "position",
    "Array": "array",
    "Exists": "exists",
}
_WEAK_NAMES = {"Interval": "interval", "Case": "case"}
_TRIMS = {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}
_TYPES = {
    "int": "int4",
    "bigint": "int8",
    "smallint": "int2",
    "double": "float8",
    "float": "float4",
    "decimal": "numeric",
    "boolean": "bool",
    "char": "bpchar",
}
"""Names of types by what the parser makes of them."""


def given_name(tree: Tree) -> str:
    """Return the name of an output without AS."""
    return _strong_name(tree) or _weak_name(tree) or "?column?"


def _strong_name(tree: Tree) -> str | None:
    """Return the name that an expression has inside a cast, too, and as the ELSE of a CASE."""
    if tree.kind in _INSIDE:
        inner = tree.child(_INSIDE[tree.kind])
        return None if inner is None else _strong_name(inner)
    named = _NAMED.get(tree.kind)
    return _SQL_NAMES.get(tree.kind) if named is None else named(tree)


def _of_column(tree: Tree) -> str | None:
    inner = tree.child("this")
    return _identifier(inner) if inner is not None and inner.kind == "Identifier" else None


def _of_call(tree: Tree) -> str | None:
    inner = tree.child("this")
    return tree.text("this").lower() if inner is None else _identifier(inner)


def _of_trim(tree: Tree) -> str | None:
    return _TRIMS.get(tree.text("position").upper() or "BOTH")


def _weak_name(tree: Tree) -> str | None:
    inner, target = tree.child("this"), tree.child("to")
    if tree.kind == "Cast" and target is not None:
        name = target.text("this").lower()
        return _TYPES.get(name, name)
    if tree.kind == "Paren":
        return None if inner is None else _weak_name(inner)
    return _WEAK_NAMES.get(tree.kind)


def _of_query(tree: Tree) -> str | None:
    """Return the name of the one output of a query in the place of a value."""
    inner: Tree | None = tree
    while inner is not None and inner.kind in {"Subquery", "Union"}:
        inner = inner.child("this")
    outputs = () if inner is None else inner.children("expressions")
    if not outputs:
        return None
    alias = outputs[0].child("alias") if outputs[0].kind == "Alias" else None
    return _identifier(alias) if alias is not None else given_name(outputs[0])


def _identifier(tree: Tree) -> str:
    text = tree.text("this")
    return text if tree.args.get("quoted") else text.lower()


_INSIDE = {
    "Case": "default",
    "Dot": "expression",
    "Paren": "this",
    "Cast": "this",
    "Filter": "this",
    "Window": "this",
    "WithinGroup": "this",
}
"""What is named by a part of it, and by which."""

_NAMED: dict[str, Callable[[Tree], str | None]] = {
    "Column": _of_column,
    "Anonymous": _of_call,
    "Trim": _of_trim,
    "Subquery": _of_query,
}
"""What has a name of its own."""
