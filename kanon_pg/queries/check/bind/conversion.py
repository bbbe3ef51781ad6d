"""Changing the type of an expression without any chance of failure."""

from __future__ import annotations

from kanon_pg.queries.check.bind.constants import typed_constant
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, ParameterRef, TypedConstant, number_type
from kanon_pg.queries.check.types import FLOATS, INTEGERS, LABEL, NUMBERS, UNKNOWN, common_type, shown_type


def as_type(expression: Bound, target: str) -> Bound:
    """Return the expression in a type that PostgreSQL would widen it to by itself.

    Parameters
    ----------
    target : str
        The same type or a wider one.

    Returns
    -------
    Bound
        The expression or a cast of it; whole numbers that are computed as numeric stay so.

    Raises
    ------
    Refusal
        Q202 if the types do not meet.
    """
    if expression.type == UNKNOWN and isinstance(expression, TypedConstant | ParameterRef):
        return typed_constant(expression, target)
    if expression.type == target:
        return expression
    if common_type(expression.type, target) != target:
        shown = shown_type(expression.type)
        sentence = f"A value of type {shown} cannot stand where {shown_type(target)} is expected."
        raise Refusal("Q202", expression.span, sentence, _same_type(expression.type, target))
    if expression.as_numeric and target in INTEGERS:
        return AllowedCall(
            type=target,
            as_numeric=True,
            name="cast",
            template="{0}",
            operands=(expression,),
            span=expression.span,
        )
    return cast(expression, target, expression.span)


def _same_type(*types: str) -> str:
    return _LABELS_HINT if LABEL in types else "Compare values of the same type."


_LABELS_HINT = (
    "A label of an enum is equal to a constant, or in a list of them; for all else cast it to text."
)


def check_order(expression: Bound) -> None:
    """Refuse labels of an enum where values are put into an order.

    Raises
    ------
    Refusal
        Q202.
    """
    if expression.type == LABEL:
        hint = "Sort by its text (a cast ::text), or by a CASE with a number for each label."
        raise Refusal("Q202", expression.span, "Queries do not know the order of an enum's labels.", hint)


def in_number_type(expression: Bound, target: str) -> Bound:
    """Return a number that is computed in exactly that type (``numeric`` or ``float8``)."""
    widened = as_type(expression, expression.type if expression.type in NUMBERS else target)
    if number_type(widened) == target:
        return widened
    return cast(widened, target, expression.span)


def cast(expression: Bound, target: str, span: Span) -> Bound:
    """Return a plain cast; only for pairs of types that cannot fail."""
    template = f"CAST({{0}} AS pg_catalog.{target})"
    return AllowedCall(type=target, name="cast", template=template, operands=(expression,), span=span)


def in_common_type(expressions: tuple[Bound, ...], span: Span) -> tuple[Bound, ...]:
    """Return the expressions in their common type.

    Returns
    -------
    tuple of Bound
        All of one type; text if none has a type.

    Raises
    ------
    Refusal
        Q202 if there is no common type.
    """
    target = UNKNOWN
    for expression in expressions:
        meeting = common_type(target, expression.type)
        if meeting is None:
            shown = f"{shown_type(target)} and {shown_type(expression.type)}"
            sentence = f"Values of type {shown} cannot be compared."
            raise Refusal("Q202", span, sentence, _same_type(target, expression.type))
        target = meeting
    if target == UNKNOWN:
        target = "text"
    converted = tuple(as_type(expression, target) for expression in expressions)
    if target in INTEGERS and any(item.as_numeric for item in converted):
        return tuple(
            item
            if item.as_numeric
            else AllowedCall(
                type=target,
                as_numeric=True,
                name="cast",
                template="CAST({0} AS pg_catalog.numeric)",
                operands=(item,),
                span=item.span,
            )
            for item in converted
        )
    return converted


def written_cast(expression: Bound, target: str, span: Span) -> Bound:
    """Return the cast that was written, in a form that cannot fail, or refuse it.

    Whole-number targets of numbers become ``round``, computed as numeric, so that no value is out of range.

    Raises
    ------
    Refusal
        Q203 if the cast can fail.
    """
    source = expression.type
    if source == UNKNOWN and isinstance(expression, TypedConstant | ParameterRef):
        return typed_constant(expression, target)
    if source == target:
        return expression
    if source in NUMBERS and target in {"int4", "int8"}:
        return _rounded(expression, target, span)
    if source == "bool" and target == "int4":
        template = "CAST({0} AS pg_catalog.int4)"
        return AllowedCall(type=target, name="cast", template=template, operands=(expression,), span=span)
    if _cannot_fail(source, target):
        return cast(expression, target, span)
    hint = "Compare as text." if source == "text" else "Leave the cast out."
    shown = f"{shown_type(source)} to {target}"
    raise Refusal("Q203", span, f"A cast from {shown} can fail or depends on settings.", hint)


def _rounded(expression: Bound, target: str, span: Span) -> Bound:
    if expression.type in INTEGERS:
        template = "CAST({0} AS pg_catalog.numeric)"
    elif expression.type in FLOATS:
        template = "CAST(pg_catalog.round(CAST({0} AS pg_catalog.float8)) AS pg_catalog.numeric)"
    else:
        template = "pg_catalog.round({0})"
    return AllowedCall(
        type=target, as_numeric=True, name="round", template=template, operands=(expression,), span=span
    )


def _cannot_fail(source: str, target: str) -> bool:
    if source in NUMBERS and target in NUMBERS:
        return target != "int2" and (target != "float4" or source in INTEGERS)
    if target == "text":
        return source in {*INTEGERS, "numeric", "bool", "date", "timestamp", "uuid", "time", "text", LABEL}
    return (source, target) in {
        ("date", "timestamp"),
        ("timestamp", "date"),
        ("timestamptz", "date"),
        ("timestamptz", "timestamp"),
    }
