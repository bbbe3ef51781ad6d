"""Aggregates, computed over single rows, and window functions over finished groups.

Every group is counted before a window looks at it, so a window only rearranges figures that are answered.
Over rows of people there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Final

from kanon_pg.queries.check.bind.conversion import as_type, check_order
from kanon_pg.queries.check.bind.expressions import Scope, bind_expression
from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.functions import AGGREGATES, LIST, LIST_HINT, PAIRS, PERCENTILES, SUMS
from kanon_pg.queries.check.plan.typed import (
    PAIR,
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    TypedConstant,
    constant_value,
    number_type,
    walk,
)
from kanon_pg.queries.check.read.syntax import ArrayLiteral, Call, Constant, Expression, OrderItem, Windowed
from kanon_pg.queries.check.types import INTEGERS, LABEL, MOMENTS, UNKNOWN, common_type, shown_type


def bind_aggregate(call: Call, rows: Scope) -> Bound:
    """Bind an aggregate whose argument and FILTER are computed for single rows.

    Parameters
    ----------
    rows : Scope
        Meaning of names in rows; refuses aggregates.

    Returns
    -------
    Bound
        The aggregate, or an array of several percentiles.

    Raises
    ------
    Refusal
        Q211 to Q219.
    """
    condition = as_type(bind_expression(call.condition, rows), "bool") if call.condition is not None else None
    if call.function in PERCENTILES:
        return _percentiles(call, condition, rows)
    if call.function in _SHOWING:
        return _SHOWING[call.function](call, condition, rows)
    if call.within is not None:
        raise Refusal("Q212", call.span, "WITHIN GROUP belongs to percentiles and mode.")
    if call.function in PAIRS:
        return _pair(call, condition, rows)
    if call.function == "count":
        return _count(call, condition, rows)
    if call.star or len(call.arguments) != 1:
        raise Refusal(
            "Q211", call.span, f"{call.function} takes one column.", f"Write {call.function}(column)."
        )
    if call.distinct:
        raise Refusal("Q213", call.span, "DISTINCT is allowed in count only.", "Leave DISTINCT out.")
    bound = bind_expression(call.arguments[0], rows)
    if bound.type == "interval" and call.function in SUMS:
        return _time_between(call, condition, bound)
    return _of_values(call, bound, condition)


def _of_values(call: Call, bound: Bound, condition: Bound | None, *, descending: bool = False) -> Aggregate:
    """Return an aggregate of the values of a bound argument."""
    kind, argument = _summarized(call, bound)
    return Aggregate(
        type=kind,
        as_numeric=_stays_numeric(kind, argument),
        function=call.function,
        argument=argument,
        condition=condition,
        descending=descending,
        span=call.span,
    )


def _mode(call: Call, condition: Bound | None, rows: Scope) -> Aggregate:
    if call.within is None or call.star or call.distinct or call.arguments:
        raise Refusal(
            "Q212", call.span, "mode needs WITHIN GROUP.", "Write mode() WITHIN GROUP (ORDER BY x)."
        )
    return _of_ordered_set(call, call.within, condition, rows)


def _of_ordered_set(call: Call, within: OrderItem, condition: Bound | None, rows: Scope) -> Aggregate:
    bound = bind_expression(within.expression, rows)
    return _of_values(call, bound, condition, descending=within.descending)


def _list(call: Call, condition: Bound | None, rows: Scope) -> Aggregate:
    """Bind a list of different texts; equal ones would tell how many there are of each in a row."""
    separator = call.arguments[1] if len(call.arguments) == 2 else None
    if not call.distinct or not isinstance(separator, Constant) or separator.kind != "string":
        raise Refusal(
            "Q213", call.span, f"{call.function} takes DISTINCT, a column and a separator.", LIST_HINT
        )
    if call.within is not None and call.within.expression != call.arguments[0]:
        raise Refusal("Q213", call.span, "A list is sorted by the values that it has.", LIST_HINT)
    kind, argument = _summarized(call, bind_expression(call.arguments[0], rows))
    return Aggregate(
        type=kind,
        function=call.function,
        argument=argument,
        condition=condition,
        descending=call.within is not None and call.within.descending,
        separator=separator.text,
        span=call.span,
    )


_SHOWING: Final = {"mode": _mode, LIST: _list}


def _pair(call: Call, condition: Bound | None, rows: Scope) -> Aggregate:
    """Bind an aggregate of two numbers; a row takes part if it has both."""
    if call.star or call.distinct or len(call.arguments) != 2:
        raise Refusal(
            "Q211", call.span, f"{call.function} takes two columns.", f"Write {call.function}(a, b)."
        )
    operands = tuple(as_type(bind_expression(argument, rows), "float8") for argument in call.arguments)
    pair = AllowedCall(type="record", name=PAIR, template="ROW({0}, {1})", operands=operands, span=call.span)
    return Aggregate(
        type="float8", function=call.function, argument=pair, condition=condition, span=call.span
    )


_SECONDS_AS_INTERVAL: Final = (
    "pg_catalog.justify_hours(pg_catalog.make_interval(secs => CAST({0} AS pg_catalog.float8)))"
)


def _time_between(call: Call, condition: Bound | None, bound: Bound) -> Bound:
    """Bind a sum or mean of differences of moments by their seconds, which are linear.

    PostgreSQL adds up days and hours of intervals by themselves, so that its sum also tells how many whole
    days there are. What is returned here equals it, with at most 24 hours beside the days.
    """
    if isinstance(bound, AllowedCall) and bound.name == "age":
        # months and days are added up by themselves, and a month that is left is 30 days
        return Aggregate(
            type="interval", function=call.function, argument=bound, condition=condition, span=call.span
        )
    if not isinstance(bound, AllowedCall) or bound.name != "difference":
        hint = "Write avg(a - b): of dates it is a number of days, of timestamps an interval."
        sentence = f"{call.function} takes an interval as a difference or an age only."
        raise Refusal("Q211", call.span, sentence, hint)
    epoch = TypedConstant(type="text", text="epoch", span=bound.span)
    seconds = AllowedCall(
        type="numeric",
        name="extract",
        template="EXTRACT({0} FROM {1})",
        operands=(epoch, bound),
        span=bound.span,
    )
    total = Aggregate(
        type="numeric", function=call.function, argument=seconds, condition=condition, span=call.span
    )
    return AllowedCall(
        type="interval", name="seconds", template=_SECONDS_AS_INTERVAL, operands=(total,), span=call.span
    )


def _count(call: Call, condition: Bound | None, rows: Scope) -> Aggregate:
    """Bind ``count``; a column without NULL counts rows, as a star does."""
    if len(call.arguments) != (0 if call.star else 1) or (call.star and call.distinct):
        raise Refusal("Q211", call.span, "count takes a column or a star.", "Write count(*).")
    argument = None if call.star else bind_expression(call.arguments[0], rows)
    if argument is not None and not call.distinct and _is_never_null(argument):
        argument = None
    return Aggregate(
        type="int8",
        function="count",
        argument=None if argument is None else as_type(argument, _settled(argument)),
        distinct=call.distinct,
        condition=condition,
        span=call.span,
    )


def _is_never_null(argument: Bound) -> bool:
    if isinstance(argument, ColumnRef):
        return not argument.nullable
    return isinstance(argument, TypedConstant) and argument.text is not None


def _settled(argument: Bound) -> str:
    return "text" if argument.type == UNKNOWN else argument.type


def _stays_numeric(kind: str, argument: Bound) -> bool:
    return argument.as_numeric and kind in INTEGERS


def _summarized(call: Call, argument: Bound) -> tuple[str, Bound]:
    for summary in AGGREGATES[call.function]:
        if summary.takes == argument.type:
            return summary.gives, argument
    for summary in AGGREGATES[call.function]:
        if common_type(argument.type, summary.takes) == summary.takes and argument.type != UNKNOWN:
            return summary.gives, as_type(argument, summary.takes)
    sentence = f"{call.function} does not take {shown_type(argument.type)}."
    hint = _INSTEAD.get(argument.type, "Aggregate a number.")
    raise Refusal("Q211", call.span, sentence, hint)


_INSTEAD: Final = {
    LABEL: "Cast the labels to text, or count them.",
    **dict.fromkeys(
        MOMENTS, "Write percentile_disc(0.5) WITHIN GROUP (ORDER BY column), or avg(age(column))."
    ),
}


def _percentiles(call: Call, condition: Bound | None, rows: Scope) -> Bound:
    """Bind one percentile, or several whose array is one output.

    Every fraction of an array becomes a percentile of its own, so that each is counted and limited as if
    it had been written by itself.
    """
    if call.within is None or call.star or call.distinct or len(call.arguments) != 1:
        hint = f"Write {call.function}(0.5) WITHIN GROUP (ORDER BY column)."
        raise Refusal("Q212", call.span, f"{call.function} needs WITHIN GROUP.", hint)
    whole = _of_ordered_set(call, call.within, condition, rows)
    (fractions,) = call.arguments
    if not isinstance(fractions, ArrayLiteral):
        return replace(whole, fraction=_fraction(fractions, rows))
    if not fractions.items:
        raise Refusal("Q214", call.span, "The array of fractions is empty.", "Write ARRAY[0.25, 0.75].")
    parts = tuple(replace(whole, fraction=_fraction(item, rows)) for item in fractions.items)
    places = ", ".join(f"{{{position}}}" for position in range(len(parts)))
    # the name in pg_catalog, which callers quote
    kind = f"_{number_type(whole)}"
    return AllowedCall(type=kind, name="array", template=f"ARRAY[{places}]", operands=parts, span=call.span)


def _fraction(expression: Expression, rows: Scope) -> str:
    fraction = constant_value(bind_expression(expression, rows))
    if fraction is None or not Decimal("0.01") <= fraction <= Decimal("0.99"):
        sentence = "The fraction of a percentile is a constant from 0.01 to 0.99."
        raise Refusal("Q214", expression.span, sentence, "Write 0.5.")
    return format(fraction, "f")


WINDOW: Final = "window"
"""Name of the operation, for the rules about where it may stand."""

_PLACES: Final = {"row_number": "int8", "rank": "int8", "dense_rank": "int8", "percent_rank": "float8"}
_TAKEN: Final = frozenset({"sum", "avg", "min", "max"})
_NEIGHBOURS: Final = frozenset({"lag", "lead", "first_value", "last_value"})


def bind_window(windowed: Windowed, groups: Scope) -> Bound:
    """Bind a window function over groups.

    Raises
    ------
    Refusal
        Q217 or Q218.
    """
    operands: list[Bound] = []

    def place(bound: Bound) -> str:
        operands.append(as_type(bound, "text") if bound.type == UNKNOWN else bound)
        return f"{{{len(operands) - 1}}}"

    kind, call = _call(windowed, groups, place)
    partition = ", ".join(place(bind_expression(item, groups)) for item in windowed.partition)
    order = ", ".join(_sorted(item, groups, place) for item in windowed.order)
    if any(isinstance(item, AllowedCall) and item.name == WINDOW for part in operands for item in walk(part)):
        raise Refusal("Q217", windowed.span, "A window function has no place inside another one.")
    inside = " ".join(
        part for part in (partition and f"PARTITION BY {partition}", order and f"ORDER BY {order}") if part
    )
    as_numeric = kind in INTEGERS and bool(operands) and operands[0].as_numeric and not call.endswith("()")
    template = f"{call} OVER ({inside})"
    return AllowedCall(
        type=kind,
        as_numeric=as_numeric,
        name=WINDOW,
        template=template,
        operands=tuple(operands),
        span=windowed.span,
    )


def _call(windowed: Windowed, groups: Scope, place: Callable[[Bound], str]) -> tuple[str, str]:
    call = windowed.call
    if call.distinct or call.condition is not None or call.within is not None:
        hint = "Filter inside: sum(count(*) FILTER (WHERE ...)) OVER ()."
        raise Refusal("Q218", call.span, "A window function takes no DISTINCT and no FILTER.", hint)
    if call.function in _PLACES and not call.arguments and not call.star:
        return _PLACES[call.function], f"pg_catalog.{call.function}()"
    if call.function == "count" and call.star:
        return "int8", "pg_catalog.count(*)"
    if call.function not in _TAKEN | _NEIGHBOURS or len(call.arguments) != 1:
        allowed = ", ".join(sorted({*_PLACES, *_TAKEN, *_NEIGHBOURS, "count(*)"}))
        sentence = f"The window function {call.function} is not allowed, or not with these arguments."
        raise Refusal("Q218", call.span, sentence, f"Allowed: {allowed}.")
    argument = bind_expression(call.arguments[0], groups)
    if call.function in _NEIGHBOURS and argument.type != UNKNOWN:
        return argument.type, f"pg_catalog.{call.function}({place(argument)})"
    for summary in AGGREGATES.get(call.function, ()):
        if summary.takes == argument.type:
            return summary.gives, f"pg_catalog.{call.function}({place(argument)})"
    sentence = f"{call.function} does not take {shown_type(argument.type)}."
    raise Refusal("Q218", call.span, sentence, "Aggregate a number.")


def _sorted(item: OrderItem, groups: Scope, place: Callable[[Bound], str]) -> str:
    direction = "DESC" if item.descending else "ASC"
    nulls = "FIRST" if item.nulls_first else "LAST"
    bound = bind_expression(item.expression, groups)
    check_order(bound)
    return f"{place(bound)} {direction} NULLS {nulls}"
