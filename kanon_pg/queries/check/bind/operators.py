"""Operators and forms that choose between values (CASE, coalesce ...), in SQL that cannot fail."""

from __future__ import annotations

from collections.abc import Callable

from kanon_pg.queries.check.bind.constants import check_pattern, check_regular_expression
from kanon_pg.queries.check.bind.conversion import as_type, cast, check_order, in_common_type, in_number_type
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.typed import (
    AllowedCall,
    Bound,
    ParameterRef,
    TypedConstant,
    constant_value,
    number_type,
)
from kanon_pg.queries.check.types import FLOATS, INTEGERS, LABEL, MOMENTS, NUMBERS, UNKNOWN, shown_type


def bind_coalesce(operands: tuple[Bound, ...], span: Span) -> Bound:
    """Bind ``COALESCE``."""
    parts = in_common_type(operands, span)
    places = ", ".join(f"{{{position}}}" for position in range(len(parts)))
    return _same(f"COALESCE({places})", "coalesce", parts, span)


def bind_extreme(name: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    """Bind ``greatest`` and ``least``, which look up their comparison by type, not by name."""
    parts = in_common_type(operands, span)
    check_order(parts[0])
    places = ", ".join(f"{{{position}}}" for position in range(len(parts)))
    return _same(f"{name.upper()}({places})", name, parts, span)


def bind_nullif(operands: tuple[Bound, ...], span: Span) -> Bound:
    """Bind ``NULLIF`` as a CASE, so that its hidden ``=`` is not looked up by name."""
    if len(operands) != 2:
        raise Refusal("Q206", span, "nullif takes two arguments.")
    parts = in_common_type(operands, span)
    return _same("CASE WHEN {0} OPERATOR(pg_catalog.=) {1} THEN NULL ELSE {0} END", "nullif", parts, span)


def bind_case(branches: tuple[tuple[Bound, Bound], ...], default: Bound | None, span: Span) -> Bound:
    """Bind CASE: conditions are bool, results have one type."""
    results = [result for _, result in branches]
    if default is not None:
        results.append(default)
    converted = in_common_type(tuple(results), span)
    operands: list[Bound] = []
    template = "CASE"
    for (condition, _), result in zip(branches, converted, strict=False):
        template += f" WHEN {{{len(operands)}}} THEN {{{len(operands) + 1}}}"
        operands += [as_type(condition, "bool"), result]
    if default is not None:
        template += f" ELSE {{{len(operands)}}}"
        operands.append(converted[-1])
    kind, as_numeric = converted[0].type, converted[0].as_numeric
    return AllowedCall(
        type=kind,
        as_numeric=as_numeric,
        name="case",
        template=template + " END",
        operands=tuple(operands),
        span=span,
    )


def _same(template: str, name: str, parts: tuple[Bound, ...], span: Span) -> AllowedCall:
    return AllowedCall(
        type=parts[0].type,
        as_numeric=parts[0].as_numeric,
        name=name,
        template=template,
        operands=parts,
        span=span,
    )


_COMPARISONS = {"=", "<>", "<", "<=", ">", ">="}
_MOST_ITEMS = 500
_PATTERN = "pg_catalog.replace(pg_catalog.left({0}, 200), E'\\\\', E'\\\\\\\\')"
"""A pattern that arrives as a parameter: its backslashes stand for themselves, so that it cannot fail."""


def bind_operator(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    """Bind an operator.

    Parameters
    ----------
    operator : str
        Name as in `kanon_pg.queries.check.read.syntax.Apply`.

    Raises
    ------
    Refusal
        Q202, Q205 or Q206.
    """
    if operator in _COMPARISONS:
        left, right = _compared(operands, span)
        if operator not in {"=", "<>"}:
            check_order(left)
        template = f"({{0}} OPERATOR(pg_catalog.{operator}) {{1}})"
        return _truth(operator, template, (left, right), span)
    return _BINDING[operator](operator, operands, span)


def _compared(operands: tuple[Bound, ...], span: Span) -> tuple[Bound, ...]:
    return in_common_type(tuple(map(_whole, operands)), span)


def _whole(expression: Bound) -> Bound:
    """Return a negative whole number as one constant, so that no row has to be compared as numeric."""
    if not isinstance(expression, AllowedCall) or expression.name != "neg" or expression.type not in INTEGERS:
        return expression
    (number,) = expression.operands
    if isinstance(number, AllowedCall) and number.name == "cast":
        (number,) = number.operands
    if (
        not isinstance(number, TypedConstant)
        or number.type != expression.type
        or not (number.text or "").isdigit()
    ):
        return expression
    return TypedConstant(type=number.type, text=f"-{number.text}", span=expression.span)


def _truth(name: str, template: str, operands: tuple[Bound, ...], span: Span) -> AllowedCall:
    return AllowedCall(type="bool", name=name, template=template, operands=operands, span=span)


def _logic(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    template = "(NOT {0})" if operator == "not" else f"({{0}} {operator.upper()} {{1}})"
    return _truth(operator, template, tuple(as_type(operand, "bool") for operand in operands), span)


def _test(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    operand = in_common_type(operands, span)[0] if operator == "is null" else as_type(operands[0], "bool")
    return _truth(operator, f"({{0}} {operator.upper()})", (operand,), span)


def _between(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    del operator
    parts = _compared(operands, span)
    check_order(parts[0])
    template = "({0} OPERATOR(pg_catalog.>=) {1} AND {0} OPERATOR(pg_catalog.<=) {2})"
    return _truth("between", template, parts, span)


def _in(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    if not 1 < len(operands) <= _MOST_ITEMS:
        raise Refusal("Q206", span, f"IN takes 1 to {_MOST_ITEMS} items.", "Write a shorter list.")
    value, *items = _compared(operands, span)
    places = ", ".join(f"{{{position}}}" for position in range(1, len(items) + 1))
    template = f"({{0}} OPERATOR(pg_catalog.=) ANY (ARRAY[{places}]))"
    return _truth(operator, template, (value, *items), span)


def _any(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    """Bind ``value = ANY ($1)``: the parameter is an array of the value's type."""
    value, array = operands
    if not isinstance(array, ParameterRef) or value.type == UNKNOWN:
        raise Refusal("Q206", span, "= ANY takes a column and a parameter.", "Write column = ANY ($1).")
    if value.as_numeric:
        value = in_number_type(value, "numeric")
    element = "text" if value.type == LABEL else number_type(value)
    listed = ParameterRef(type=f"{element}[]", number=array.number, span=array.span)
    return _truth(operator, "({0} OPERATOR(pg_catalog.=) ANY ({1}))", (value, listed), span)


def _distinct(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    left, right = in_common_type(operands, span)
    template = (
        "CASE WHEN ({0} IS NULL) OR ({1} IS NULL)"
        " THEN ({0} IS NULL) OPERATOR(pg_catalog.<>) ({1} IS NULL)"
        " ELSE ({0} OPERATOR(pg_catalog.<>) {1}) END"
    )
    template = f"({template})" if operator == "is distinct from" else f"(NOT {template})"
    return _truth(operator, template, (left, right), span)


def _like(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    value, pattern = as_type(operands[0], "text"), as_type(operands[1], "text")
    if _is_parameter(pattern):
        pattern = AllowedCall(
            type="text", name="pattern", template=_PATTERN, operands=(pattern,), span=pattern.span
        )
    else:
        check_pattern(pattern)
    sign = "~~" if operator == "like" else "~~*"
    return _truth(operator, f"({{0}} OPERATOR(pg_catalog.{sign}) {{1}})", (value, pattern), span)


def _is_parameter(pattern: Bound) -> bool:
    """Whether a pattern is a parameter, perhaps joined to constants: $1::varchar || '%'."""
    leaves, pending = [], [pattern]
    while pending:
        found = pending.pop()
        if isinstance(found, AllowedCall) and found.name in ("||", "cast"):
            pending += found.operands
        else:
            leaves.append(found)
    fixed = all(isinstance(leaf, ParameterRef | TypedConstant) for leaf in leaves)
    return fixed and any(isinstance(leaf, ParameterRef) for leaf in leaves)


def _matches(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    value, pattern = as_type(operands[0], "text"), as_type(operands[1], "text")
    check_regular_expression(pattern)
    return _truth(operator, f"({{0}} OPERATOR(pg_catalog.{operator}) {{1}})", (value, pattern), span)


def _join_texts(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    parts = tuple(_as_shown(operand) for operand in operands)
    template = "({0} OPERATOR(pg_catalog.||) {1})"
    return AllowedCall(type="text", name=operator, template=template, operands=parts, span=span)


def _as_shown(operand: Bound) -> Bound:
    if operand.type in {"text", UNKNOWN}:
        return as_type(operand, "text")
    if operand.type in INTEGERS:
        return cast(operand, "text", operand.span)
    sentence = f"{shown_type(operand.type)} cannot be joined to text."
    raise Refusal("Q202", operand.span, sentence, "Use to_char or a cast to text.")


def _negative(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    (operand,) = operands
    if operand.type not in NUMBERS:
        raise Refusal("Q202", span, f"A minus sign before {shown_type(operand.type)} is not allowed.")
    computed_type = "numeric" if operand.type in INTEGERS else operand.type
    return AllowedCall(
        type=operand.type,
        as_numeric=operand.type in INTEGERS,
        name=operator,
        template="(OPERATOR(pg_catalog.-) {0})",
        operands=(in_number_type(operand, computed_type),),
        span=span,
    )


def _arithmetic(operator: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    left, right = operands
    if left.type in (*MOMENTS, "interval") or right.type in (*MOMENTS, "interval"):
        return _with_moments(operator, left, right, span)
    left = _number(left, right, operator)
    right = _number(right, left, operator)
    if left.type in INTEGERS and right.type in INTEGERS:
        kind, computed_type = max(left.type, right.type, key=INTEGERS.index), "numeric"
    elif left.type in FLOATS or right.type in FLOATS:
        kind = computed_type = "float8"
    else:
        kind = computed_type = "numeric"
    template = _template(operator, right, kind, span)
    parts = in_number_type(left, computed_type), in_number_type(right, computed_type)
    as_numeric = kind in INTEGERS
    return AllowedCall(
        type=kind, as_numeric=as_numeric, name=operator, template=template, operands=parts, span=span
    )


def _number(operand: Bound, other: Bound, operator: str) -> Bound:
    if operand.type == UNKNOWN and other.type in NUMBERS:
        return as_type(operand, other.type)
    if operand.type not in NUMBERS:
        sentence = f"The operator {operator} is not allowed for {shown_type(operand.type)}."
        raise Refusal("Q202", operand.span, sentence, "Calculate with numbers.")
    return operand


def _template(operator: str, right: Bound, kind: str, span: Span) -> str:
    if operator in {"+", "-", "*"}:
        return f"({{0}} OPERATOR(pg_catalog.{operator}) {{1}})"
    value = constant_value(right)
    if value is not None and value == 0:
        raise Refusal("Q207", span, "This divides by zero.")
    divisor = "{1}" if value is not None else "CASE WHEN {1} OPERATOR(pg_catalog.<>) 0 THEN {1} END"
    if operator == "%":
        if kind in FLOATS:
            raise Refusal("Q202", span, "The operator % is not allowed for float8.", "Cast to numeric.")
        return f"pg_catalog.mod({{0}}, {divisor})"
    if kind in INTEGERS:
        return f"pg_catalog.div({{0}}, {divisor})"
    return f"({{0}} OPERATOR(pg_catalog./) {divisor})"


def _with_moments(operator: str, left: Bound, right: Bound, span: Span) -> Bound:
    if left.type == UNKNOWN and right.type in MOMENTS:
        left = as_type(left, right.type)
    if right.type == UNKNOWN and left.type in MOMENTS:
        right = as_type(right, left.type)
    if operator == "-" and left.type in MOMENTS and right.type in MOMENTS:
        return _difference(left, right, span)
    if operator == "+" and right.type in MOMENTS:
        left, right = right, left
    step = _step(right)
    if operator not in {"+", "-"} or left.type not in MOMENTS or step is None:
        hint = "Write d + 30, d - interval '1 month', or d - date '2024-01-31'."
        raise Refusal("Q202", span, f"{left.type} {operator} {right.type} is not allowed.", hint)
    if step == "days" and left.type != "date":
        raise Refusal(
            "Q202", span, f"{left.type} {operator} {right.type} is not allowed.", "Write interval '1 day'."
        )
    kind = left.type if step == "days" or left.type != "date" else "timestamp"
    template = f"({{0}} OPERATOR(pg_catalog.{operator}) {{1}})"
    return AllowedCall(type=kind, name=operator, template=template, operands=(left, right), span=span)


def _step(expression: Bound) -> str | None:
    if expression.type == "interval" and isinstance(expression, TypedConstant):
        return "interval"
    value = constant_value(expression)
    if value is None or expression.type != "int4" or number_type(expression) != "int4":
        return None
    return "days" if abs(value) <= 400_000 else None


def _difference(left: Bound, right: Bound, span: Span) -> Bound:
    both = in_common_type((left, right), span)
    kind = "int4" if both[0].type == "date" else "interval"
    template = (
        "CASE WHEN pg_catalog.isfinite({0}) AND pg_catalog.isfinite({1})"
        " THEN ({0} OPERATOR(pg_catalog.-) {1}) END"
    )
    return AllowedCall(type=kind, name="difference", template=template, operands=both, span=span)


def bind_modulo(operands: tuple[Bound, ...], span: Span) -> Bound:
    """Bind ``mod``, which is ``%``."""
    if len(operands) != 2:
        raise Refusal("Q206", span, "mod takes two arguments.")
    return bind_operator("%", operands, span)


_BINDING: dict[str, Callable[[str, tuple[Bound, ...], Span], Bound]] = {
    **dict.fromkeys(("and", "or", "not"), _logic),
    **dict.fromkeys(("is null", "is true", "is false"), _test),
    **dict.fromkeys(("is distinct from", "is not distinct from"), _distinct),
    **dict.fromkeys(("like", "ilike"), _like),
    **dict.fromkeys(("~", "~*"), _matches),
    **dict.fromkeys(("+", "-", "*", "/", "%"), _arithmetic),
    "between": _between,
    "in": _in,
    "any": _any,
    "||": _join_texts,
    "neg": _negative,
}
