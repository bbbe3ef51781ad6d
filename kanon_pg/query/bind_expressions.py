"""Expressions of the syntax tree to bound expressions: types, overloads, constants."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Protocol

from kanon_pg.query.aggregates import is_aggregate
from kanon_pg.query.bound import Aggregate, Bound, Fixed, Given, Operation
from kanon_pg.query.constant_checks import check_constant
from kanon_pg.query.constants import interval_text, number_constant, unknown_text
from kanon_pg.query.conversion import as_type, constant_value, real, written_cast
from kanon_pg.query.findings import Refusal, Span
from kanon_pg.query.functions import ADVICE, AGGREGATES, FUNCTIONS, PERCENTILES, Overload
from kanon_pg.query.operators import apply, case, coalesce, extreme, nullif
from kanon_pg.query.syntax import (
    Apply,
    Call,
    Case,
    Cast,
    Constant,
    Expression,
    Interval,
    Name,
    Now,
    Placeholder,
)
from kanon_pg.query.types import INTEGERS, UNKNOWN, common_type, written_type

_NOW = {"current_date": "date", "current_timestamp": "timestamptz", "localtimestamp": "timestamp"}


class Surroundings(Protocol):
    """Where an expression stands: what names mean there and whether aggregates may."""

    def known(self, expression: Expression) -> Bound | None:
        """Return the meaning of a whole expression (a group key), or None."""

    def column(self, name: Name) -> Bound:
        """Return the column that a name means."""

    def aggregate(self, call: Call) -> Aggregate:
        """Return the bound aggregate, or refuse it here."""


def bind_expression(expression: Expression, around: Surroundings) -> Bound:
    """Bind an expression.

    Parameters
    ----------
    expression : Expression
        Syntax.
    around : Surroundings
        Meaning of names.

    Returns
    -------
    Bound
        Typed expression.

    Raises
    ------
    Refusal
        Codes Q100 to Q219.
    """
    known = around.known(expression)
    if known is not None:
        return known
    if isinstance(expression, Name):
        return around.column(expression)
    if isinstance(expression, Constant):
        return _constant(expression)
    if isinstance(expression, Placeholder):
        return Given(type=UNKNOWN, number=expression.number, span=expression.span)
    if isinstance(expression, Interval):
        return _interval(expression)
    if isinstance(expression, Now):
        return _now(expression.what, expression.span)
    if isinstance(expression, Apply):
        operands = tuple(bind_expression(operand, around) for operand in expression.operands)
        return apply(expression.operator, operands, expression.span)
    if isinstance(expression, Cast):
        return _cast(expression, around)
    if isinstance(expression, Case):
        return _case(expression, around)
    if isinstance(expression, Call):
        return _call(expression, around)
    raise Refusal("Q021", expression.span, "A star has no place here.", "Name the columns.")


def _constant(constant: Constant) -> Bound:
    if constant.kind == "number":
        return number_constant(constant.text or "", constant.span)
    if constant.kind == "boolean":
        return Fixed(type="bool", text=constant.text, span=constant.span)
    return unknown_text(constant.text, constant.span)


def _interval(interval: Interval) -> Bound:
    text = interval_text(interval.text)
    if text is None:
        hint = "Write interval '30 days' or interval '1 year 2 months'."
        raise Refusal("Q201", interval.span, "This interval is not allowed.", hint)
    return Fixed(type="interval", text=text, span=interval.span)


def _now(what: str, span: Span) -> Bound:
    return Operation(type=_NOW[what], name=what, template=what.upper(), operands=(), span=span)


def _cast(expression: Cast, around: Surroundings) -> Bound:
    target = written_type(expression.type_name)
    if target is None:
        hint = "Allowed are the number types, text, boolean, date, time, timestamp, interval and uuid."
        raise Refusal("Q203", expression.span, "A cast to this type is not allowed.", hint)
    return written_cast(bind_expression(expression.operand, around), target, expression.span)


def _case(expression: Case, around: Surroundings) -> Bound:
    branches = tuple(
        (bind_expression(condition, around), bind_expression(result, around))
        for condition, result in expression.branches
    )
    default = bind_expression(expression.default, around) if expression.default is not None else None
    return case(branches, default, expression.span)


def _call(call: Call, around: Surroundings) -> Bound:
    if is_aggregate(call.function):
        return around.aggregate(call)
    if call.star or call.distinct or call.condition is not None or call.within is not None:
        raise _not_allowed(call)
    arguments = tuple(bind_expression(argument, around) for argument in call.arguments)
    if call.function == "now" and not arguments:
        return _now("current_timestamp", call.span)
    if call.function == "coalesce" and arguments:
        return coalesce(arguments, call.span)
    if call.function == "nullif":
        return nullif(arguments, call.span)
    if call.function in {"greatest", "least"} and arguments:
        return extreme(call.function, arguments, call.span)
    if call.function == "mod" and len(arguments) == 2:
        return apply("%", arguments, call.span)
    return _overloaded(call, arguments)


def _not_allowed(call: Call) -> Refusal:
    name = call.function if re.fullmatch(r"[a-z_0-9]{1,63}", call.function) else "this name"
    hint = ADVICE.get(call.function, "Use a function from the list of allowed functions.")
    return Refusal("Q210", call.span, f"The function {name} is not allowed.", hint)


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
        shown = ", ".join(argument.type for argument in arguments)
        sentence = f"The function {call.function} does not take ({shown})."
        raise Refusal("Q211", call.span, sentence, _signatures(call.function, overloads))
    converted = _convert(chosen, arguments)
    for position, check in chosen.constants.items():
        check_constant(arguments[position], check, call.function)
    kind = chosen.gives
    if chosen.carried:
        kind = arguments[0].type
    return Operation(
        type=kind, wide=chosen.carried, name=call.function, template=chosen.template,
        operands=converted, span=call.span,
    )  # fmt: skip


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
        if overload.carried:
            converted.append(real(argument, "numeric"))
        elif wanted == "int4" and argument.wide:
            value = constant_value(argument)
            if value is None:
                raise Refusal(
                    "Q204", argument.span, "This argument has to be a constant.", "Write it as a constant."
                )
            converted.append(Fixed(type="int4", text=str(value), span=argument.span))
        else:
            converted.append(as_type(argument, wanted))
    return tuple(converted)


def _signatures(name: str, overloads: tuple[Overload, ...]) -> str:
    forms = sorted({f"{name}({', '.join(item.takes)})" for item in overloads})
    return "Allowed: " + "; ".join(forms) + "."


def bind_aggregate(call: Call, rows: Surroundings) -> Aggregate:
    """Bind an aggregate whose argument and FILTER are computed for single rows.

    Parameters
    ----------
    call : Call
        The aggregate.
    rows : Surroundings
        Meaning of names in rows; refuses aggregates.

    Returns
    -------
    Aggregate
        Typed aggregate.

    Raises
    ------
    Refusal
        Q211 to Q219.
    """
    condition = as_type(bind_expression(call.condition, rows), "bool") if call.condition is not None else None
    if call.function in PERCENTILES:
        return _percentile(call, condition, rows)
    if call.within is not None:
        raise Refusal("Q212", call.span, "WITHIN GROUP belongs to percentile_cont and percentile_disc.")
    if call.function == "count" and (call.star or not call.arguments):
        if not call.star or call.distinct:
            raise Refusal("Q211", call.span, "count takes a column or a star.", "Write count(*).")
        return Aggregate(type="int8", function="count", argument=None, condition=condition, span=call.span)
    if call.star or len(call.arguments) != 1:
        raise Refusal(
            "Q211", call.span, f"{call.function} takes one column.", f"Write {call.function}(column)."
        )
    if call.distinct and call.function != "count":
        raise Refusal("Q213", call.span, "DISTINCT is allowed in count only.", "Leave DISTINCT out.")
    argument = bind_expression(call.arguments[0], rows)
    if call.function != "count":
        kind, argument = _summarized(call, argument)
        return Aggregate(
            type=kind, wide=_stays_wide(kind, argument), function=call.function, argument=argument,
            condition=condition, span=call.span,
        )  # fmt: skip
    every_row = isinstance(argument, Fixed) and argument.text is not None and not call.distinct
    return Aggregate(
        type="int8", function="count", argument=None if every_row else as_type(argument, _settled(argument)),
        distinct=call.distinct, condition=condition, span=call.span,
    )  # fmt: skip


def _settled(argument: Bound) -> str:
    return "text" if argument.type == UNKNOWN else argument.type


def _stays_wide(kind: str, argument: Bound) -> bool:
    return argument.wide and kind in INTEGERS


def _summarized(call: Call, argument: Bound) -> tuple[str, Bound]:
    for summary in AGGREGATES[call.function]:
        if summary.takes == argument.type:
            return summary.gives, argument
    for summary in AGGREGATES[call.function]:
        if common_type(argument.type, summary.takes) == summary.takes and argument.type != UNKNOWN:
            return summary.gives, as_type(argument, summary.takes)
    raise Refusal("Q211", call.span, f"{call.function} does not take {argument.type}.", "Aggregate a number.")


def _percentile(call: Call, condition: Bound | None, rows: Surroundings) -> Aggregate:
    if call.within is None or call.star or call.distinct or len(call.arguments) != 1:
        hint = f"Write {call.function}(0.5) WITHIN GROUP (ORDER BY column)."
        raise Refusal("Q212", call.span, f"{call.function} needs WITHIN GROUP.", hint)
    fraction = constant_value(bind_expression(call.arguments[0], rows))
    if fraction is None or not Decimal("0.01") <= fraction <= Decimal("0.99"):
        raise Refusal(
            "Q214", call.span, "The fraction of a percentile is a constant from 0.01 to 0.99.", "Write 0.5."
        )
    kind, argument = _summarized(call, bind_expression(call.within.expression, rows))
    return Aggregate(
        type=kind, wide=_stays_wide(kind, argument), function=call.function, argument=argument, condition=condition,
        fraction=format(fraction, "f"), descending=call.within.descending, span=call.span,
    )  # fmt: skip
