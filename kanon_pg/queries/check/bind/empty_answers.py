"""Questions for the columns of an answer: ``WHERE 1 = 0`` and ``LIMIT 0``, as tools ask them.

Such an answer has no rows whatever the data. What runs instead reads no relation at all, so nothing has to
be counted: names and types of columns are in the catalog that the asker may see.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from kanon_pg.queries.check.plan.levels import Level, Output
from kanon_pg.queries.check.plan.typed import Fixed, Operation, number_type
from kanon_pg.queries.check.read.syntax import Apply, Constant, Expression


def is_never(condition: Expression | None) -> bool:
    """Tell whether the text alone says that a condition of WHERE never holds."""
    if isinstance(condition, Constant):
        return condition.kind == "boolean" and condition.text == "false"
    if not isinstance(condition, Apply):
        return False
    if condition.operator == "and":
        return any(map(is_never, condition.operands))
    return condition.operator == "=" and _differ(*condition.operands)


def _differ(left: Expression, right: Expression) -> bool:
    if not isinstance(left, Constant) or not isinstance(right, Constant):
        return False
    if left.kind != "number" or right.kind != "number":
        return False
    return Decimal(left.text or "0") != Decimal(right.text or "0")


def is_zero(limit: Expression | None) -> bool:
    """Tell whether a LIMIT is the constant 0."""
    return isinstance(limit, Constant) and limit.kind == "number" and limit.text == "0"


def without_rows(level: Level) -> Level:
    """Return a level with the columns of another one, which reads nothing and has no rows."""
    outputs = []
    for output in level.outputs:
        kind = number_type(output.expression)
        template = f"CAST(NULL AS pg_catalog.{kind})"
        null = Operation(type=kind, name="cast", template=template, operands=(), span=level.span)
        outputs.append(Output(output.name, null))
    never = Fixed(type="bool", text="false", span=level.span)
    one = Fixed(type="int4", text="1", span=level.span)
    return replace(
        level,
        instances=(),
        where=(never,),
        keys=(one,),
        outputs=tuple(outputs),
        having=None,
        sorting=(),
        repeated=False,
    )
