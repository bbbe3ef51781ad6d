"""Forms with a syntax of their own: CASE, EXTRACT, SUBSTRING, POSITION, TRIM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from kanon_pg.queries.check.read.raw_tree import child, children, only, optional, string, unknown
from kanon_pg.queries.check.read.sqlglot_parser import RawNode
from kanon_pg.queries.check.read.syntax import Apply, Call, Case, Constant, Expression

Read: TypeAlias = Callable[[RawNode], Expression]


def _case(node: RawNode, read: Read) -> Expression:
    only(node, "this", "ifs", "default")
    subject = optional(node, "this")
    compared = read(subject) if subject else None
    branches = []
    for branch in children(node, "ifs"):
        only(branch, "this", "true")
        condition = read(child(branch, "this"))
        if compared is not None:
            condition = Apply(span=condition.span, operator="=", operands=(compared, condition))
        branches.append((condition, read(child(branch, "true"))))
    default = optional(node, "default")
    return Case(span=node.span, branches=tuple(branches), default=read(default) if default else None)


def _extract(node: RawNode, read: Read) -> Expression:
    only(node, "this", "expression")
    field = child(node, "this")
    only(field, "this", "is_string")
    name = Constant(span=field.span, kind="string", text=string(field, "this").lower())
    return Call(span=node.span, function="extract", arguments=(name, read(child(node, "expression"))))


def _substring(node: RawNode, read: Read) -> Expression:
    only(node, "this", "start", "length")
    names = [name for name in ("this", "start", "length") if name in node.values]
    arguments = tuple(read(child(node, name)) for name in names)
    return Call(span=node.span, function="substring", arguments=arguments)


def _position(node: RawNode, read: Read) -> Expression:
    only(node, "this", "substr")
    arguments = read(child(node, "this")), read(child(node, "substr"))
    return Call(span=node.span, function="strpos", arguments=arguments)


def _trim(node: RawNode, read: Read) -> Expression:
    only(node, "this", "expression", "position")
    side = str(node.values.get("position", "BOTH")).upper()
    function = {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}.get(side)
    if function is None:
        unknown(node)
    arguments = [read(child(node, "this"))]
    if "expression" in node.values:
        arguments.append(read(child(node, "expression")))
    return Call(span=node.span, function=function, arguments=tuple(arguments))


FORMS: Final[dict[str, Callable[[RawNode, Read], Expression]]] = {
    "Case": _case,
    "Extract": _extract,
    "Substring": _substring,
    "StrPosition": _position,
    "Trim": _trim,
}
"""How to read each form; the second argument reads the expressions inside."""
