"""Aggregates: their argument and FILTER are computed for single rows, their result for groups."""

from __future__ import annotations

from decimal import Decimal

from kanon_pg.query.bind_expressions import Surroundings, bind_expression
from kanon_pg.query.bound import Aggregate, Bound, Fixed
from kanon_pg.query.conversion import as_type, constant_value
from kanon_pg.query.findings import Refusal
from kanon_pg.query.functions import AGGREGATES, PERCENTILES
from kanon_pg.query.syntax import Call
from kanon_pg.query.types import INTEGERS, UNKNOWN, common_type


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
            type=kind,
            wide=_stays_wide(kind, argument),
            function=call.function,
            argument=argument,
            condition=condition,
            span=call.span,
        )
    every_row = isinstance(argument, Fixed) and argument.text is not None and not call.distinct
    return Aggregate(
        type="int8",
        function="count",
        argument=None if every_row else as_type(argument, _settled(argument)),
        distinct=call.distinct,
        condition=condition,
        span=call.span,
    )


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
        type=kind,
        wide=_stays_wide(kind, argument),
        function=call.function,
        argument=argument,
        condition=condition,
        fraction=format(fraction, "f"),
        descending=call.within.descending,
        span=call.span,
    )
