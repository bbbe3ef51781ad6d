"""Raw nodes to expressions of the syntax tree; a kind that is not listed here is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.read.raw_tree import child, children, identifier, only, optional, string, unknown
from kanon_pg.queries.check.read.reader_casts import read_cast
from kanon_pg.queries.check.read.reader_forms import FORMS, Read
from kanon_pg.queries.check.read.reader_leaves import LEAVES
from kanon_pg.queries.check.read.sqlglot_parser import RawNode
from kanon_pg.queries.check.read.syntax import Apply, Call, Constant, Expression, Listing, OrderItem, Windowed

_BINARY = {
    "And": "and",
    "Or": "or",
    "EQ": "=",
    "NEQ": "<>",
    "LT": "<",
    "LTE": "<=",
    "GT": ">",
    "GTE": ">=",
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Div": "/",
    "Mod": "%",
    "DPipe": "||",
    "RegexpLike": "~",
    "RegexpILike": "~*",
    "Like": "like",
    "ILike": "ilike",
    "NullSafeEQ": "is not distinct from",
    "NullSafeNEQ": "is distinct from",
}
_HARMLESS = ("typed", "safe")
"""Marks that the parser sets by dialect, not by the text."""
_NEGATED = frozenset({"Like", "ILike", "In", "Between", "RegexpLike", "RegexpILike"})


def read_expression(node: RawNode) -> Expression:
    """Read an expression.

    Parameters
    ----------
    node : RawNode
        The node.

    Returns
    -------
    Expression
        The same as a syntax tree.

    Raises
    ------
    Refusal
        If it holds anything that is not on the list.
    """
    if node.kind in _BINARY:
        only(node, "this", "expression", *_HARMLESS, *(("negate",) if node.kind in _NEGATED else ()))
        if node.kind == "EQ" and child(node, "expression").kind == "Any":
            return _any(node)
        operands = read_expression(child(node, "this")), read_expression(child(node, "expression"))
        positive = Apply(span=node.span, operator=_BINARY[node.kind], operands=operands)
        return _opposite(positive) if node.values.get("negate") else positive
    reading = _READING.get(node.kind)
    if reading is None:
        unknown(node)
    return reading(node)


def _paren(node: RawNode) -> Expression:
    only(node, "this")
    return read_expression(child(node, "this"))


def _unary(operator: str) -> Callable[[RawNode], Expression]:
    def read(node: RawNode) -> Expression:
        only(node, "this")
        return Apply(span=node.span, operator=operator, operands=(read_expression(child(node, "this")),))

    return read


def _is(node: RawNode) -> Expression:
    only(node, "this", "expression", "negate")
    test = read_expression(child(node, "expression"))
    if not isinstance(test, Constant) or test.kind not in {"null", "boolean"}:
        raise Refusal(
            "Q021", node.span, "IS may test for NULL, TRUE or FALSE only.", "Write IS NULL or IS TRUE."
        )
    operand = read_expression(child(node, "this"))
    name = "is " + ("null" if test.text is None else test.text)
    positive = Apply(span=node.span, operator=name, operands=(operand,))
    return _opposite(positive) if node.values.get("negate") else positive


def _opposite(positive: Apply) -> Apply:
    return Apply(span=positive.span, operator="not", operands=(positive,))


def _any(node: RawNode) -> Expression:
    listed = child(node, "expression")
    only(listed, "this")
    array = child(listed, "this")
    while array.kind == "Paren":
        only(array, "this")
        array = child(array, "this")
    value = read_expression(child(node, "this"))
    if array.kind not in {"Parameter", "Placeholder"}:
        unknown(listed)
    return Apply(span=node.span, operator="any", operands=(value, read_expression(array)))


def _listing(node: RawNode) -> Expression:
    only(node, "expressions")
    items = tuple(read_expression(item) for item in children(node, "expressions"))
    return Listing(span=node.span, items=items)


def _in(node: RawNode) -> Expression:
    only(node, "this", "expressions", "negate")
    items = tuple(read_expression(item) for item in children(node, "expressions"))
    positive = Apply(span=node.span, operator="in", operands=(read_expression(child(node, "this")), *items))
    return _opposite(positive) if node.values.get("negate") else positive


def _between(node: RawNode) -> Expression:
    only(node, "this", "low", "high", "negate")
    operands = tuple(read_expression(child(node, name)) for name in ("this", "low", "high"))
    positive = Apply(span=node.span, operator="between", operands=operands)
    return _opposite(positive) if node.values.get("negate") else positive


def _function_name(node: RawNode) -> str:
    name = node.values.get("this")
    if isinstance(name, RawNode):
        return identifier(name)
    return string(node, "this").lower()


def _call(node: RawNode) -> Call:
    only(node, "this", "expressions")
    function = _function_name(node)
    arguments = children(node, "expressions")
    distinct = len(arguments) == 1 and arguments[0].kind == "Distinct"
    if distinct:
        only(arguments[0], "expressions")
        arguments = children(arguments[0], "expressions")
    if any(argument.kind == "Order" for argument in arguments):
        raise Refusal("Q021", node.span, "ORDER BY inside an aggregate is not allowed.", "Leave it out.")
    if len(arguments) == 1 and arguments[0].kind == "Star":
        only(arguments[0])
        return Call(span=node.span, function=function, arguments=(), star=True, distinct=distinct)
    read = tuple(read_expression(argument) for argument in arguments)
    return Call(span=node.span, function=function, arguments=read, distinct=distinct)


def _dot(node: RawNode) -> Expression:
    only(node, "this", "expression")
    function = child(node, "expression")
    if function.kind != "Anonymous" or identifier(child(node, "this")) != "pg_catalog":
        hint = "Use PostgreSQL's own functions without a schema."
        raise Refusal("Q026", node.span, "Functions of other schemas are not allowed.", hint)
    return _call(function)


def _aggregate_of(node: RawNode) -> Call:
    call = read_expression(node)
    if not isinstance(call, Call) or call.condition is not None or call.within is not None:
        unknown(node)
    return call


def _window(node: RawNode) -> Expression:
    only(node, "this", "partition_by", "order", "over")
    call = read_expression(child(node, "this"))
    if not isinstance(call, Call):
        unknown(node)
    order = optional(node, "order")
    if order is not None:
        only(order, "expressions")
    return Windowed(
        span=node.span,
        call=call,
        partition=tuple(read_expression(item) for item in children(node, "partition_by")),
        order=tuple(read_order_item(item) for item in children(order, "expressions")) if order else (),
    )


def _filter(node: RawNode) -> Expression:
    only(node, "this", "expression")
    where = child(node, "expression")
    only(where, "this")
    inner = child(node, "this")
    call = read_expression(inner)
    if not isinstance(call, Call) or call.condition is not None:
        unknown(node)
    condition = read_expression(child(where, "this"))
    return replace(call, span=node.span, condition=condition)


def _within(node: RawNode) -> Expression:
    only(node, "this", "expression")
    call = _aggregate_of(child(node, "this"))
    order = child(node, "expression")
    only(order, "expressions")
    items = children(order, "expressions")
    if len(items) != 1:
        raise Refusal("Q021", node.span, "WITHIN GROUP takes one column.", "Write ORDER BY with one column.")
    return replace(call, span=node.span, within=read_order_item(items[0]))


def read_order_item(node: RawNode) -> OrderItem:
    """Read one element of ORDER BY."""
    if node.kind != "Ordered":
        unknown(node)
    only(node, "this", "desc", "nulls_first")
    descending = bool(node.values.get("desc"))
    return OrderItem(
        span=node.span,
        expression=read_expression(child(node, "this")),
        descending=descending,
        nulls_first=bool(node.values.get("nulls_first")),
    )


def _form(form: Callable[[RawNode, Read], Expression], node: RawNode) -> Expression:
    return form(node, read_expression)


_READING: dict[str, Callable[[RawNode], Expression]] = {
    **LEAVES,
    **{kind: partial(_form, form) for kind, form in FORMS.items()},
    "Paren": _paren,
    "Neg": _unary("neg"),
    "Not": _unary("not"),
    "Is": _is,
    "In": _in,
    "Array": _listing,
    "Between": _between,
    "Cast": partial(_form, read_cast),
    "Anonymous": _call,
    "Dot": _dot,
    "Filter": _filter,
    "Window": _window,
    "WithinGroup": _within,
}
