"""Finding aggregates in syntax, before anything is bound."""

from __future__ import annotations

from kanon_pg.query.functions import AGGREGATES
from kanon_pg.query.syntax import Apply, Call, Case, Cast, Expression, Windowed


def is_aggregate(function: str) -> bool:
    """Tell whether the function is an aggregate."""
    return function == "count" or function in AGGREGATES


def holds_aggregate(expression: Expression) -> bool:
    """Tell whether an aggregate occurs anywhere in the expression."""
    if isinstance(expression, Call):
        return is_aggregate(expression.function) or any(
            holds_aggregate(item) for item in expression.arguments
        )
    if isinstance(expression, Apply):
        return any(holds_aggregate(item) for item in expression.operands)
    if isinstance(expression, Cast):
        return holds_aggregate(expression.operand)
    if isinstance(expression, Case):
        parts = [part for branch in expression.branches for part in branch]
        parts += [expression.default] if expression.default is not None else []
        return any(holds_aggregate(part) for part in parts)
    if isinstance(expression, Windowed):
        order = tuple(item.expression for item in expression.order)
        return any(map(holds_aggregate, (*expression.call.arguments, *expression.partition, *order)))
    return False
