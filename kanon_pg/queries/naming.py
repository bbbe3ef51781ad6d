"""The names of outputs without AS, by the rules by which PostgreSQL itself names them (``FigureColname``)."""

from __future__ import annotations

from kanon_pg.queries.trees import Tree

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
    if tree.kind in _SQL_NAMES:
        return _SQL_NAMES[tree.kind]
    inner = tree.child("this")
    if tree.kind == "Column":
        return _identifier(inner) if inner is not None and inner.kind == "Identifier" else None
    if tree.kind == "Anonymous":
        return _identifier(inner) if inner is not None else tree.text("this").lower()
    if tree.kind == "Trim":
        return _TRIMS.get(tree.text("position").upper() or "BOTH")
    if tree.kind == "Case":
        default = tree.child("default")
        return None if default is None else _strong_name(default)
    if tree.kind == "Dot":
        call = tree.child("expression")
        return None if call is None else _strong_name(call)
    if tree.kind == "Subquery":
        return _of_query(tree)
    if tree.kind in {"Paren", "Cast", "Filter", "Window", "WithinGroup"}:
        return None if inner is None else _strong_name(inner)
    return None


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
