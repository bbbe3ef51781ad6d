"""Raw nodes to expressions of the syntax tree; a kind of node that is not listed in `_READERS` is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kanon_pg.errors import as_given
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.functions import ADVICE, LIST
from kanon_pg.queries.check.read.raw_tree import (
    RawNode,
    child,
    children,
    identifier,
    only,
    optional,
    string,
    unknown,
)
from kanon_pg.queries.check.read.syntax import (
    Apply,
    ArrayLiteral,
    Call,
    Case,
    Cast,
    Constant,
    CurrentTime,
    Expression,
    Interval,
    Name,
    OrderItem,
    Placeholder,
    ScalarQuery,
    Select,
    Star,
    Windowed,
    holds_aggregate,
)

_UNITS = frozenset({"year", "month", "week", "day", "hour", "minute", "second"})


def _column(node: RawNode) -> Expression:
    only(node, "this", "table", "db")
    table = tuple(identifier(child(node, name)) for name in ("db", "table") if name in node.values)
    last = child(node, "this")
    if last.kind == "Star":
        only(last)
        return Star(span=node.span, table=table)
    return Name(span=node.span, parts=(*table, identifier(last)))


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
            sentence = f"The unit {as_given(word)} of an interval is not allowed."
            raise Refusal("Q025", node.span, sentence, "Write interval '30 days'.")
        text = f"{text} {word}"
    return Interval(span=node.span, text=text)


def _now(what: str) -> Callable[[RawNode], Expression]:
    def read(node: RawNode) -> Expression:
        only(node)
        return CurrentTime(span=node.span, what=what)  # type: ignore[arg-type]

    return read


def _case(node: RawNode) -> Expression:
    only(node, "this", "ifs", "default")
    subject = optional(node, "this")
    compared = read_expression(subject) if subject else None
    branches = []
    for branch in children(node, "ifs"):
        only(branch, "this", "true")
        condition = read_expression(child(branch, "this"))
        if compared is not None:
            condition = Apply(span=condition.span, operator="=", operands=(compared, condition))
        branches.append((condition, read_expression(child(branch, "true"))))
    default = optional(node, "default")
    return Case(
        span=node.span, branches=tuple(branches), default=read_expression(default) if default else None
    )


def _extract(node: RawNode) -> Expression:
    only(node, "this", "expression")
    field = child(node, "this")
    only(field, "this", "is_string")
    name = Constant(span=field.span, kind="string", text=string(field, "this").lower())
    return Call(
        span=node.span, function="extract", arguments=(name, read_expression(child(node, "expression")))
    )


def _substring(node: RawNode) -> Expression:
    only(node, "this", "start", "length")
    names = [name for name in ("this", "start", "length") if name in node.values]
    arguments = tuple(read_expression(child(node, name)) for name in names)
    return Call(span=node.span, function="substring", arguments=arguments)


def _position(node: RawNode) -> Expression:
    only(node, "this", "substr")
    arguments = read_expression(child(node, "this")), read_expression(child(node, "substr"))
    return Call(span=node.span, function="strpos", arguments=arguments)


def _trim(node: RawNode) -> Expression:
    only(node, "this", "expression", "position")
    side = str(node.values.get("position", "BOTH")).upper()
    function = {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}.get(side)
    if function is None:
        unknown(node)
    arguments = [read_expression(child(node, "this"))]
    if "expression" in node.values:
        arguments.append(read_expression(child(node, "expression")))
    return Call(span=node.span, function=function, arguments=tuple(arguments))


def _cast(node: RawNode) -> Expression:
    """Read ``x::type`` or ``CAST(x AS type)``."""
    only(node, "this", "to")
    target = child(node, "to")
    only(target, "this", "expressions", "kind", "nested")
    name = string(target, "this").lower()
    if "expressions" in target.values and name == "decimal":
        return _rounded(node, target)
    if "expressions" in target.values:
        hint = "Write the type without a length or precision; round() cuts decimals."
        raise Refusal("Q024", node.span, "Casts to a type with a length or precision can fail.", hint)
    operand = read_expression(child(node, "this"))
    if name == "user-defined":
        name = _qualified(child(target, "kind"))
    return Cast(span=node.span, operand=operand, type_name=name)


def _rounded(node: RawNode, target: RawNode) -> Expression:
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
    operand = read_expression(child(node, "this"))
    if not holds_aggregate(operand):
        raise Refusal("Q024", node.span, "Casts to a type with a precision can fail.", "Write round(x, 2).")
    number = Cast(span=node.span, operand=operand, type_name="numeric")
    return Call(span=node.span, function="round", arguments=(number, scale))


def _qualified(node: RawNode) -> str:
    if node.kind == "Dot":
        only(node, "this", "expression")
        return f"{identifier(child(node, 'this'))}.{identifier(child(node, 'expression'))}"
    return identifier(node)


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
        operator = _BINARY[node.kind]
        within = _calculated_within(operator, operands, node.span)
        if within is not None:
            return within
        positive = Apply(span=node.span, operator=operator, operands=operands)
        return _opposite(positive) if node.values.get("negate") else positive
    reading = _READERS.get(node.kind)
    if reading is None:
        unknown(node)
    return reading(node)


def _calculated_within(
    operator: str, operands: tuple[Expression, Expression], span: Span
) -> ScalarQuery | None:
    """Return ``0.6 * (SELECT avg(x) ...)`` as ``(SELECT 0.6 * avg(x) ...)``.

    Values of a query are compared with those of people, and not calculated with: that is done in the query.
    """
    scalar = next((item for item in operands if isinstance(item, ScalarQuery)), None)
    number = next((item for item in operands if isinstance(item, Constant) and item.kind == "number"), None)
    if operator not in {"+", "-", "*", "/"} or scalar is None or number is None:
        return None
    select = scalar.query.branches[0]
    if len(scalar.query.branches) != 1 or not isinstance(select, Select) or len(select.items) != 1:
        return None
    item = select.items[0]
    if not holds_aggregate(item.expression):
        return None
    inner = tuple(item.expression if operand is scalar else operand for operand in operands)
    calculated = replace(item, expression=Apply(span=span, operator=operator, operands=inner))
    branches = (replace(select, items=(calculated,)),)
    return replace(scalar, span=span, query=replace(scalar.query, branches=branches))


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
    """Read ``x = ANY($1)``, or ``x = ANY(ARRAY['a', 'b'])`` as ``x IN ('a', 'b')``; drivers cast either."""
    listed = child(node, "expression")
    only(listed, "this")
    array = child(listed, "this")
    while array.kind == "Paren":
        only(array, "this")
        array = child(array, "this")
    element = None
    if array.kind == "Cast":
        only(array, "this", "to")
        element = _element_type(child(array, "to"), listed)
        array = child(array, "this")
    value = read_expression(child(node, "this"))
    if array.kind == "Array" and array.values.get("expressions"):
        only(array, "expressions")
        items = tuple(read_expression(item) for item in children(array, "expressions"))
        if element is not None:
            items = tuple(Cast(span=item.span, operand=item, type_name=element) for item in items)
        return Apply(span=node.span, operator="in", operands=(value, *items))
    if array.kind not in {"Parameter", "Placeholder"}:
        unknown(listed)
    return Apply(span=node.span, operator="any", operands=(value, read_expression(array)))


def _element_type(array: RawNode, listed: RawNode) -> str:
    """Return the type of the elements of a plain array type such as ``text[]``."""
    only(array, "this", "expressions", "nested")
    elements = children(array, "expressions")
    if string(array, "this").lower() != "array" or len(elements) != 1:
        unknown(listed)
    only(elements[0], "this")
    return string(elements[0], "this").lower()


def _listing(node: RawNode) -> Expression:
    only(node, "expressions")
    items = tuple(read_expression(item) for item in children(node, "expressions"))
    return ArrayLiteral(span=node.span, items=items)


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
    order = None
    if function == LIST and len(arguments) == 1 and arguments[0].kind == "Order":
        only(arguments[0], "this", "expressions")
        order = _single_order(arguments[0])
        arguments = (child(arguments[0], "this"),)
    distinct = len(arguments) == 1 and arguments[0].kind == "Distinct"
    if distinct:
        only(arguments[0], "expressions")
        arguments = children(arguments[0], "expressions")
    if any(argument.kind == "Order" for argument in arguments):
        hint = ADVICE.get(function, "Leave it out.")
        raise Refusal("Q021", node.span, "ORDER BY inside an aggregate is not allowed.", hint)
    if len(arguments) == 1 and arguments[0].kind == "Star":
        only(arguments[0])
        return Call(span=node.span, function=function, arguments=(), star=True, distinct=distinct)
    read = tuple(read_expression(argument) for argument in arguments)
    return Call(span=node.span, function=function, arguments=read, distinct=distinct, within=order)


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
    if call.function == LIST:
        raise Refusal("Q021", node.span, f"{LIST} is sorted by ORDER BY inside it.")
    return replace(call, span=node.span, within=_single_order(order))


def _single_order(order: RawNode) -> OrderItem:
    items = children(order, "expressions")
    if len(items) != 1:
        sentence = "WITHIN GROUP, and ORDER BY inside an aggregate, take one column."
        raise Refusal("Q021", order.span, sentence, "Write ORDER BY with one column.")
    return read_order_item(items[0])


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


def read_subqueries_by(read: Callable[[RawNode], ScalarQuery]) -> None:
    """Set what reads a query in the place of a value; `read.queries` does, which stands above this module."""
    _READERS["Subquery"] = read


_READERS: dict[str, Callable[[RawNode], Expression]] = {
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
    "Case": _case,
    "Extract": _extract,
    "Substring": _substring,
    "StrPosition": _position,
    "Trim": _trim,
    "Paren": _paren,
    "Neg": _unary("neg"),
    "Not": _unary("not"),
    "Is": _is,
    "In": _in,
    "Array": _listing,
    "Between": _between,
    "Cast": _cast,
    "Anonymous": _call,
    "Dot": _dot,
    "Filter": _filter,
    "Window": _window,
    "WithinGroup": _within,
}
