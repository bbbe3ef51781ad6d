"""Aggregates of CASE, and numbers of pairs, written as aggregates with FILTER.

``sum(CASE WHEN c THEN x ELSE 0 END)`` adds up x over the rows where c holds, which is what
``sum(x) FILTER (WHERE c)`` does. A CASE may not stand inside an aggregate over people, because nobody
would count whom it selects; a FILTER may, because its people, those that it leaves out and those that
several filters distinguish are counted. So the few shapes whose meaning as a FILTER is exact are
rewritten, before anything is bound, and all other ones stay what they are and are refused.

The two differ where the set is empty (0 or NULL). That is never seen: a FILTER without people is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from kanon_pg.queries.check.bind.conversion import as_type
from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.plan.divisions import may_be_null
from kanon_pg.queries.check.plan.typed import Bound
from kanon_pg.queries.check.read.syntax import Apply, Call, Case, Cast, Constant, Expression, Placeholder
from kanon_pg.queries.check.types import FLOATS

Bind = Callable[[Expression], Bound]
_REWRITTEN = frozenset({"sum", "avg", "count"})


def as_filtered(call: Call, bind: Bind) -> Expression | None:
    """Return what an aggregate of CASE means with FILTER.

    Parameters
    ----------
    bind : callable
        Binds an expression over rows, to learn its type and whether it may be NULL.

    Returns
    -------
    Expression or None
        Over aggregates with FILTER; None if the call is no such aggregate.
    """
    if call.function not in _REWRITTEN or len(call.arguments) != 1 or call.within is not None:
        return None
    masked = _masked(call.arguments[0], bind)
    if masked is None:
        return None
    condition, value, empty = masked
    if call.function == "count":
        return _count(call, condition, value) if empty is None else None
    if call.distinct or (empty is not None and not _is_zero(empty)):
        return None
    if isinstance(value, Constant) or _is_parameter(value):
        return _of_constant(call, condition, value, empty)
    filtered = replace(call, arguments=(value,), condition=_both(call.condition, condition))
    return filtered if call.function == "sum" or empty is None else _mean(call, filtered, bind(value))


def with_numbers(call: Call) -> Call:
    """Return a sum or mean of CASE whose parameters are numbers, as nothing else can be added up."""
    if call.function not in {"sum", "avg"} or len(call.arguments) != 1:
        return call
    (argument,) = call.arguments
    if not isinstance(argument, Case):
        return call
    branches = tuple((condition, _as_number(value)) for condition, value in argument.branches)
    default = None if argument.default is None else _as_number(argument.default)
    return replace(call, arguments=(replace(argument, branches=branches, default=default),))


def _as_number(value: Expression) -> Expression:
    is_free = isinstance(value, Placeholder)
    return Cast(span=value.span, operand=value, type_name="numeric") if is_free else value


def _is_parameter(value: Expression) -> bool:
    return isinstance(value, Cast) and isinstance(value.operand, Placeholder) and value.type_name == "numeric"


def rows_with_both(call: Call, bind: Bind) -> Call:
    """Return ``regr_count(a, b)`` as the number of rows in which neither is NULL.

    Raises
    ------
    Refusal
        Q211 for anything but two arguments.
    """
    if call.star or call.distinct or len(call.arguments) != 2:
        raise Refusal(
            "Q211", call.span, f"{call.function} takes two columns.", f"Write {call.function}(a, b)."
        )
    condition = call.condition
    for argument in call.arguments:
        if may_be_null(as_type(bind(argument), "float8")):
            condition = _both(condition, _apply("not", _apply("is null", argument)))
    return _rows(call, condition)


def _mean(call: Call, filtered: Call, value: Bound) -> Expression | None:
    """Divide by the number of all rows; a row with the condition and without a value would not count."""
    if may_be_null(value):
        return None
    total = replace(filtered, function="sum")
    exact = total if value.type in FLOATS else Cast(span=call.span, operand=total, type_name="numeric")
    return _apply("/", exact, _rows(call, call.condition))


def _masked(argument: Expression, bind: Bind) -> tuple[Expression, Expression, Constant | None] | None:
    """Return condition, value, and the constant of all other rows (None for NULL)."""
    if isinstance(argument, Cast) and argument.type_name in {"int", "integer", "int4"}:
        return _truth(argument, bind)
    if not isinstance(argument, Case) or len(argument.branches) != 1:
        return None
    condition, value = argument.branches[0]
    default = argument.default
    if isinstance(default, Constant) and default.text is None:
        default = None
    if default is None or _is_zero(default):
        return condition, value, default  # type: ignore[return-value]
    if _is_zero(value) or (isinstance(value, Constant) and value.text is None):
        opposite = _apply("not", _apply("is true", condition))
        return opposite, default, value if _is_zero(value) else None  # type: ignore[return-value]
    return None


def _truth(argument: Cast, bind: Bind) -> tuple[Expression, Expression, Constant | None] | None:
    """Read ``condition::int``: 1 where it holds and 0 elsewhere, if it is never NULL."""
    operand = argument.operand
    if isinstance(operand, Constant):
        return None
    bound = bind(operand)
    if bound.type != "bool" or may_be_null(bound):
        return None
    one, zero = (Constant(span=argument.span, kind="number", text=text) for text in ("1", "0"))
    return operand, one, zero


def _is_zero(expression: Expression) -> bool:
    if not isinstance(expression, Constant) or expression.kind != "number":
        return False
    return Decimal(expression.text or "1") == 0


def _count(call: Call, condition: Expression, value: Expression) -> Expression | None:
    if not isinstance(value, Constant):
        return replace(call, arguments=(value,), condition=_both(call.condition, condition))
    if value.text is None or call.distinct:
        return None
    return _rows(call, _both(call.condition, condition))


def _of_constant(
    call: Call, condition: Expression, value: Expression, empty: Constant | None
) -> Expression | None:
    """``sum`` is the constant times a number of rows, ``avg`` that divided by the number of all rows."""
    text = value.text if isinstance(value, Constant) and value.kind == "number" else None
    if (text is None and not _is_parameter(value)) or (call.function == "avg" and empty is None):
        return None
    chosen = _rows(call, _both(call.condition, condition))
    if call.function == "sum":
        return chosen if text == "1" else _apply("*", value, chosen)
    exact = Cast(span=call.span, operand=value, type_name="numeric")
    return _apply("/", _apply("*", exact, chosen), _rows(call, call.condition))


def _rows(call: Call, condition: Expression | None) -> Call:
    return Call(span=call.span, function="count", arguments=(), star=True, condition=condition)


def _both(first: Expression | None, second: Expression) -> Expression:
    return second if first is None else _apply("and", first, second)


def _apply(operator: str, *operands: Expression) -> Apply:
    return Apply(span=operands[-1].span, operator=operator, operands=operands)
