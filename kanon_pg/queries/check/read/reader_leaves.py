"""Raw nodes without expressions inside: names, constants, parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.read.raw_tree import child, identifier, only, optional, string
from kanon_pg.queries.check.read.sqlglot_parser import RawNode
from kanon_pg.queries.check.read.syntax import Constant, Expression, Interval, Name, Now, Placeholder, Star

_UNITS = frozenset({"year", "month", "week", "day", "hour", "minute", "second"})


def _column(node: RawNode) -> Expression:
    only(node, "this", "table")
    table = optional(node, "table")
    last = child(node, "this")
    if last.kind == "Star":
        only(last)
        return Star(span=node.span, table=identifier(table) if table else None)
    parts = (identifier(table), identifier(last)) if table else (identifier(last),)
    return Name(span=node.span, parts=parts)


def _star(node: RawNode) -> Expression:
    only(node)
    return Star(span=node.span)


def _literal(node: RawNode) -> Expression:
    only(node, "this", "is_string")
    kind = "string" if node.values.get("is_string") else "number"
    return Constant(span=node.span, kind=kind, text=string(node, "this"))  # type: ignore[arg-type]


def _boolean(node: RawNode) -> Expression:
    only(node, "this")
    return Constant(span=node.span, kind="boolean", text="true" if node.values.get("this") else "false")


def _null(node: RawNode) -> Expression:
    only(node)
    return Constant(span=node.span, kind="null", text=None)


def _parameter(node: RawNode) -> Expression:
    only(node, "this")
    number = child(node, "this")
    only(number, "this")
    text = string(number, "this")
    if not text.isdigit() or not 1 <= int(text) <= 99:
        raise Refusal("Q023", node.span, "Parameters are numbered from $1 to $99.", "Write $1.")
    return Placeholder(span=Span(node.span.start - 1, node.span.end), number=int(text))


def _placeholder(node: RawNode) -> Expression:
    only(node)
    return Placeholder(span=Span(node.span.end - 2, node.span.end), number=100 + node.span.end)


def _interval(node: RawNode) -> Expression:
    only(node, "this", "unit")
    value, unit = child(node, "this"), optional(node, "unit")
    only(value, "this", "is_string")
    text = string(value, "this")
    if unit is not None:
        word = string(unit, "this").lower().removesuffix("s")
        if word not in _UNITS:
            raise Refusal(
                "Q025", node.span, "This unit of an interval is not allowed.", "Write interval '30 days'."
            )
        text = f"{text} {word}"
    return Interval(span=node.span, text=text)


def _now(what: str) -> Callable[[RawNode], Expression]:
    def read(node: RawNode) -> Expression:
        only(node)
        return Now(span=node.span, what=what)  # type: ignore[arg-type]

    return read


LEAVES: Final[dict[str, Callable[[RawNode], Expression]]] = {
    "Column": _column,
    "Star": _star,
    "Literal": _literal,
    "Boolean": _boolean,
    "Null": _null,
    "Parameter": _parameter,
    "Placeholder": _placeholder,
    "Interval": _interval,
    "CurrentDate": _now("current_date"),
    "CurrentTimestamp": _now("current_timestamp"),
    "Localtimestamp": _now("localtimestamp"),
}
"""How to read each kind of node that holds no other expression."""
