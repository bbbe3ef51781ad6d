"""Finding aggregates and window functions in syntax, before anything is bound."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.functions import AGGREGATES
from kanon_pg.queries.check.read.syntax import Apply, Call, Case, Cast, Expression, Windowed


def is_aggregate(function: str) -> bool:
    """Tell whether the function is an aggregate."""
    return function == "count" or function in AGGREGATES


def holds_aggregate(expression: Expression) -> bool:
    """Tell whether an aggregate occurs anywhere in the expression."""
    if isinstance(expression, Call) and is_aggregate(expression.function):
        return True
    if isinstance(expression, Windowed):
        # the function of a window is no aggregate of the query
        parts = (
            *expression.call.arguments,
            *expression.partition,
            *(item.expression for item in expression.order),
        )
        return any(map(holds_aggregate, parts))
    return any(map(holds_aggregate, parts_of(expression)))


def holds_window(expression: Expression) -> bool:
    """Tell whether a window function occurs anywhere in the expression."""
    return isinstance(expression, Windowed) or any(map(holds_window, parts_of(expression)))


def parts_of(expression: Expression) -> Iterator[Expression]:
    """Yield the expressions directly inside an expression, those of windows left out."""
    if isinstance(expression, Call):
        yield from expression.arguments
    elif isinstance(expression, Apply):
        yield from expression.operands
    elif isinstance(expression, Cast):
        yield expression.operand
    elif isinstance(expression, Case):
        yield from (part for branch in expression.branches for part in branch)
        if expression.default is not None:
            yield expression.default
