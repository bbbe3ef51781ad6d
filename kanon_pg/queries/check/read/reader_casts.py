"""Casts: ``x::type``, ``CAST(x AS type)``."""

from __future__ import annotations

from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.read.aggregates import holds_aggregate
from kanon_pg.queries.check.read.raw_tree import child, children, identifier, only, string
from kanon_pg.queries.check.read.reader_forms import Read
from kanon_pg.queries.check.read.sqlglot_parser import RawNode
from kanon_pg.queries.check.read.syntax import Call, Cast, Constant, Expression


def read_cast(node: RawNode, read: Read) -> Expression:
    """Read a cast; ``read`` reads the expression inside."""
    only(node, "this", "to")
    target = child(node, "to")
    only(target, "this", "expressions", "kind", "nested")
    name = string(target, "this").lower()
    if "expressions" in target.values and name == "decimal":
        return _rounded(node, target, read)
    if "expressions" in target.values:
        hint = "Write the type without a length or precision; round() cuts decimals."
        raise Refusal("Q024", node.span, "Casts to a type with a length or precision can fail.", hint)
    operand = read(child(node, "this"))
    if name == "user-defined":
        name = _qualified(child(target, "kind"))
    return Cast(span=node.span, operand=operand, type_name=name)


def _rounded(node: RawNode, target: RawNode, read: Read) -> Expression:
    """Read ``numeric(precision, scale)`` as rounding to the scale, which cannot be out of range."""
    numbers = []
    for parameter in children(target, "expressions"):
        only(parameter, "this")
        literal = child(parameter, "this")
        only(literal, "this")
        numbers.append(string(literal, "this"))
    if not 1 <= len(numbers) <= 2 or not all(number.isdigit() and len(number) < 4 for number in numbers):
        raise Refusal("Q024", node.span, "This type is not allowed.", "Write round(x, 2).")
    scale = Constant(span=target.span, kind="number", text=numbers[1] if len(numbers) == 2 else "0")
    operand = read(child(node, "this"))
    if not holds_aggregate(operand):
        raise Refusal("Q024", node.span, "Casts to a type with a precision can fail.", "Write round(x, 2).")
    number = Cast(span=node.span, operand=operand, type_name="numeric")
    return Call(span=node.span, function="round", arguments=(number, scale))


def _qualified(node: RawNode) -> str:
    if node.kind == "Dot":
        only(node, "this", "expression")
        return f"{identifier(child(node, 'this'))}.{identifier(child(node, 'expression'))}"
    return identifier(node)
