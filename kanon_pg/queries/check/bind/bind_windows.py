"""Window functions over finished groups: running totals, shares, ranks.

Every group is counted before a window looks at it, so a window only rearranges figures that are answered.
Over rows of people there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kanon_pg.queries.check.bind.conversion import as_type
from kanon_pg.queries.check.bind.expressions import Surroundings, bind_expression
from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.functions import AGGREGATES
from kanon_pg.queries.check.plan.typed import Bound, Operation, walk
from kanon_pg.queries.check.read.syntax import OrderItem, Windowed
from kanon_pg.queries.check.types import INTEGERS, UNKNOWN

WINDOW: Final = "window"
"""Name of the operation, for the rules about where it may stand."""

_PLACES: Final = {"row_number": "int8", "rank": "int8", "dense_rank": "int8", "percent_rank": "float8"}
_TAKEN: Final = frozenset({"sum", "avg", "min", "max"})
_NEIGHBOURS: Final = frozenset({"lag", "lead", "first_value", "last_value"})


def bind_window(windowed: Windowed, groups: Surroundings) -> Bound:
    """Bind a window function over groups.

    Parameters
    ----------
    windowed : Windowed
        Syntax.
    groups : Surroundings
        Meaning of keys and aggregates.

    Returns
    -------
    Bound
        An operation over keys and aggregates.

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
    if any(isinstance(item, Operation) and item.name == WINDOW for part in operands for item in walk(part)):
        raise Refusal("Q217", windowed.span, "A window function has no place inside another one.")
    inside = " ".join(
        part for part in (partition and f"PARTITION BY {partition}", order and f"ORDER BY {order}") if part
    )
    wide = kind in INTEGERS and bool(operands) and operands[0].wide and not call.endswith("()")
    template = f"{call} OVER ({inside})"
    return Operation(
        type=kind, wide=wide, name=WINDOW, template=template, operands=tuple(operands), span=windowed.span
    )


def _call(windowed: Windowed, groups: Surroundings, place: Callable[[Bound], str]) -> tuple[str, str]:
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
        raise Refusal("Q218", call.span, "This window function is not allowed.", f"Allowed: {allowed}.")
    argument = bind_expression(call.arguments[0], groups)
    if call.function in _NEIGHBOURS and argument.type != UNKNOWN:
        return argument.type, f"pg_catalog.{call.function}({place(argument)})"
    for summary in AGGREGATES.get(call.function, ()):
        if summary.takes == argument.type:
            return summary.gives, f"pg_catalog.{call.function}({place(argument)})"
    raise Refusal("Q218", call.span, f"{call.function} does not take {argument.type}.", "Aggregate a number.")


def _sorted(item: OrderItem, groups: Surroundings, place: Callable[[Bound], str]) -> str:
    direction = "DESC" if item.descending else "ASC"
    nulls = "FIRST" if item.nulls_first else "LAST"
    return f"{place(bind_expression(item.expression, groups))} {direction} NULLS {nulls}"
