"""Expressions of the syntax tree to bound expressions: types, overloads, constants."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import Any, Protocol

from kanon_pg.errors import as_given
from kanon_pg.queries.check.bind.constants import (
    check_constant,
    formatted_constant,
    interval_text,
    number_constant,
    unknown_text,
)
from kanon_pg.queries.check.bind.conversion import as_type, in_number_type, written_cast
from kanon_pg.queries.check.bind.operators import (
    bind_case,
    bind_coalesce,
    bind_extreme,
    bind_modulo,
    bind_nullif,
    bind_operator,
)
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.functions import ADVICE, AGGREGATES, FUNCTIONS, Overload
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, ParameterRef, TypedConstant, constant_value
from kanon_pg.queries.check.read.syntax import (
    Apply,
    ArrayLiteral,
    Call,
    Case,
    Cast,
    Constant,
    CurrentTime,
    Expression,
    InQuery,
    Interval,
    Name,
    Placeholder,
    ScalarQuery,
    Star,
    Windowed,
    is_aggregate,
)
from kanon_pg.queries.check.types import UNKNOWN, common_type, shown_type, written_type

_NOW = {"current_date": "date", "current_timestamp": "timestamptz", "localtimestamp": "timestamp"}


class Scope(Protocol):
    """Where an expression stands: what names mean there and whether aggregates may."""

    def matching_key(self, expression: Expression) -> Bound | None:
        """Return the meaning of a whole expression (a group key), or None."""

    def column(self, name: Name) -> Bound:
        """Return the column that a name means."""

    def scalar(self, scalar: ScalarQuery) -> Bound:
        """Return what stands for a query in the place of a value, or refuse it here."""

    def aggregate(self, call: Call) -> Bound:
        """Return the bound aggregate, or refuse it here."""

    def window(self, windowed: Windowed) -> Bound:
        """Return the bound window function, or refuse it here."""


def bind_expression(expression: Expression, scope: Scope) -> Bound:
    """Bind an expression.

    Raises
    ------
    Refusal
        Codes Q100 to Q219.
    """
    known = scope.matching_key(expression)
    if known is not None:
        return known
    binding = _BINDING.get(type(expression))
    if binding is None:
        raise Refusal("Q021", expression.span, *_MISPLACED[type(expression)])
    return binding(expression, scope)


def _name(name: Name, scope: Scope) -> Bound:
    return scope.column(name)


def _placeholder(placeholder: Placeholder, scope: Scope) -> Bound:
    del scope
    return ParameterRef(type=UNKNOWN, number=placeholder.number, span=placeholder.span)


def _scalar(scalar: ScalarQuery, scope: Scope) -> Bound:
    return scope.scalar(scalar)


def _windowed(windowed: Windowed, scope: Scope) -> Bound:
    return scope.window(windowed)


def _apply(expression: Apply, scope: Scope) -> Bound:
    operands = tuple(bind_expression(operand, scope) for operand in expression.operands)
    return bind_operator(expression.operator, operands, expression.span)


def _constant(constant: Constant, scope: Scope) -> Bound:
    del scope
    if constant.kind == "number":
        return number_constant(constant.text or "", constant.span)
    if constant.kind == "boolean":
        return TypedConstant(type="bool", text=constant.text, span=constant.span)
    return unknown_text(constant.text, constant.span)


def _interval(interval: Interval, scope: Scope) -> Bound:
    del scope
    text = interval_text(interval.text)
    if text is None:
        hint = "Write interval '30 days' or interval '1 year 2 months'."
        raise Refusal("Q201", interval.span, "This interval is not allowed.", hint)
    return TypedConstant(type="interval", text=text, span=interval.span)


def _now(now: CurrentTime, scope: Scope) -> Bound:
    del scope
    return _time(now.what, now.span)


def _time(what: str, span: Span) -> Bound:
    return AllowedCall(type=_NOW[what], name=what, template=what.upper(), operands=(), span=span)


def _cast(expression: Cast, scope: Scope) -> Bound:
    target = written_type(expression.type_name)
    if target is None:
        hint = (
            "Allowed are the number types, text, boolean, date, time, timestamp, interval and uuid;"
            " labels of an enum are compared with plain strings."
        )
        sentence = f"A cast to the type {as_given(expression.type_name)} is not allowed."
        raise Refusal("Q203", expression.span, sentence, hint)
    return written_cast(bind_expression(expression.operand, scope), target, expression.span)


def _case(expression: Case, scope: Scope) -> Bound:
    branches = tuple(
        (bind_expression(condition, scope), bind_expression(result, scope))
        for condition, result in expression.branches
    )
    default = bind_expression(expression.default, scope) if expression.default is not None else None
    return bind_case(branches, default, expression.span)


def _call(call: Call, scope: Scope) -> Bound:
    if is_aggregate(call.function):
        return scope.aggregate(call)
    if call.star or call.distinct or call.condition is not None or call.within is not None:
        raise _not_allowed(call)
    if call.function not in {*FUNCTIONS, *_SPECIAL, *_OF_CONSTANTS}:
        # said first, so that a mistyped aggregate is not taken for a column that is not grouped
        raise _not_allowed(call)
    arguments = tuple(bind_expression(argument, scope) for argument in call.arguments)
    if call.function == "now" and not arguments:
        return _time("current_timestamp", call.span)
    formatted = formatted_constant(call.function, arguments, call.span)
    if formatted is not None:
        return formatted
    special = _SPECIAL.get(call.function)
    if special is not None and arguments:
        return special(arguments, call.span)
    return _overloaded(call, arguments)


_OF_CONSTANTS = frozenset({"now", "to_date", "to_timestamp"})

_SPECIAL: dict[str, Callable[[tuple[Bound, ...], Span], Bound]] = {
    "coalesce": bind_coalesce,
    "nullif": bind_nullif,
    "greatest": partial(bind_extreme, "greatest"),
    "least": partial(bind_extreme, "least"),
    "mod": bind_modulo,
}


def _not_allowed(call: Call) -> Refusal:
    name = call.function if re.fullmatch(r"[a-z_0-9]{1,63}", call.function) else "this name"
    hint = ADVICE.get(call.function, _allowed_like(call.function))
    return Refusal("Q210", call.span, f"The function {name} is not allowed.", hint)


def _allowed_like(name: str) -> str:
    near = get_close_matches(name, [*FUNCTIONS, *AGGREGATES], n=3)
    if near:
        return f"Allowed and spelled like it: {', '.join(near)}."
    return "Functions of numbers, texts and dates that cannot fail are allowed; see the page on queries."


def _overloaded(call: Call, arguments: tuple[Bound, ...]) -> Bound:
    overloads = FUNCTIONS.get(call.function)
    if overloads is None:
        raise _not_allowed(call)
    fitting = [item for item in overloads if _fits(item, arguments)]
    exact = [
        item
        for item in fitting
        if all(a.type in {t, UNKNOWN} for a, t in zip(arguments, item.takes, strict=True))
    ]
    chosen = next(iter(exact or fitting), None)
    if chosen is None:
        shown = ", ".join(shown_type(argument.type) for argument in arguments)
        sentence = f"The function {call.function} does not take ({shown})."
        raise Refusal("Q211", call.span, sentence, _signatures(call.function, overloads))
    converted = _convert(chosen, arguments)
    for position, check in chosen.constants.items():
        check_constant(arguments[position], check, call.function)
    if call.function == "width_bucket" and constant_value(arguments[1]) == constant_value(arguments[2]):
        raise Refusal("Q204", call.span, "The bounds of width_bucket are equal.", "Write different bounds.")
    kind = chosen.gives
    if chosen.takes_numeric:
        kind = arguments[0].type
    return AllowedCall(
        type=kind,
        as_numeric=chosen.takes_numeric,
        name=call.function,
        template=chosen.template,
        operands=converted,
        span=call.span,
    )


def _fits(overload: Overload, arguments: tuple[Bound, ...]) -> bool:
    if len(overload.takes) != len(arguments):
        return False
    return all(
        common_type(argument.type, wanted) == wanted
        for argument, wanted in zip(arguments, overload.takes, strict=True)
    )


def _convert(overload: Overload, arguments: tuple[Bound, ...]) -> tuple[Bound, ...]:
    converted = []
    for argument, wanted in zip(arguments, overload.takes, strict=True):
        if overload.takes_numeric:
            converted.append(in_number_type(argument, "numeric"))
        elif wanted == "int4" and argument.as_numeric:
            value = constant_value(argument)
            if value is None:
                raise Refusal(
                    "Q204", argument.span, "This argument has to be a constant.", "Write it as a constant."
                )
            converted.append(TypedConstant(type="int4", text=str(value), span=argument.span))
        else:
            converted.append(as_type(argument, wanted))
    return tuple(converted)


def _signatures(name: str, overloads: tuple[Overload, ...]) -> str:
    forms = sorted({f"{name}({', '.join(item.takes)})" for item in overloads})
    return "Allowed: " + "; ".join(forms) + "."


_MISPLACED: dict[type, tuple[str, str]] = {
    Star: ("A star has no place here.", "Name the columns."),
    InQuery: ("A subquery has no place here.", "Write it as a part of WHERE by itself, joined by AND."),
    ArrayLiteral: ("An array has no place here.", "Compare with IN (...), or write several outputs."),
}

_BINDING: dict[type, Callable[[Any, Scope], Bound]] = {
    Name: _name,
    Constant: _constant,
    Placeholder: _placeholder,
    Interval: _interval,
    CurrentTime: _now,
    Apply: _apply,
    Cast: _cast,
    Case: _case,
    Call: _call,
    ScalarQuery: _scalar,
    Windowed: _windowed,
}
