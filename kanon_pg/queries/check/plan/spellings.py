"""Equal values that look different: 1.0 and 1.00, 0 and -0, a month and thirty days.

PostgreSQL holds them equal, puts them into one group, and shows the group by the value of one of its rows.
Which row that is follows from the order of the table, and a CASE chooses the spelling by what it likes
(``CASE WHEN cost > 5000 THEN 1.00 ELSE 1.0 END + 0``), so that a group of any size shows whether a condition
is true of one person in it. What is shown of people therefore has one spelling for equal values.

Numbers get it by a function, unless they are a column whose type gives all its numbers the same decimals.
Intervals have none that cannot fail on some value, so the only ones that are shown are differences of
moments, which PostgreSQL itself spells in days and less than a day. The other types that can be read have
one spelling for each value.

A sum of decimals has as many decimals as the longest spelling among its rows, and so has, past sixteen
digits, a mean or a deviation. A sum is written with the decimals that its value needs, a mean as that sum
by the number of values, a deviation over values in one spelling: all are functions of the values then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kanon_pg.queries.check.functions import EXTREMES, PERCENTILES, SUMS, VALUES
from kanon_pg.queries.check.plan.typed import Aggregate, AllowedCall, Bound, ColumnRef, number_type
from kanon_pg.queries.check.types import FLOATS, MOMENTS

_SPELLED: Final = {
    "numeric": "pg_catalog.trim_scale({0})",
    # the sum of -0 and 0 is 0 (IEEE 754, 6.3); NaN has one spelling
    **{name: f"({{0}} OPERATOR(pg_catalog.+) CAST(0 AS pg_catalog.{name}))" for name in FLOATS},
}


def in_one_spelling(expression: Bound) -> Bound:
    """Return an expression whose equal values are spelled the same, and which equals the one given."""
    template = _SPELLED.get(number_type(expression))
    if template is None or _has_one_scale(expression):
        return expression
    return AllowedCall(
        type=expression.type,
        as_numeric=expression.as_numeric,
        name="spelling",
        template=template,
        operands=(expression,),
        span=expression.span,
    )


def _has_one_scale(expression: Bound) -> bool:
    return isinstance(expression, ColumnRef) and expression.one_scale


def shows_one_spelling(aggregate: Aggregate) -> Aggregate:
    """Return an aggregate of the same value that does not show how the values of its argument are spelled."""
    argument, function = aggregate.argument, aggregate.function
    if argument is None or function in {"count", *PERCENTILES}:
        return aggregate
    if function in VALUES | EXTREMES:
        return replace(aggregate, argument=in_one_spelling(argument))
    if argument.type != "numeric" or _has_one_scale(argument):
        return aggregate
    if function in SUMS:
        return replace(aggregate, is_spelled=True)
    return replace(aggregate, argument=in_one_spelling(argument))


def has_several_spellings(expression: Bound) -> bool:
    """Return whether equal values can look different and nothing gives them one spelling."""
    if expression.type != "interval":
        return False
    if not isinstance(expression, AllowedCall) or expression.name != "difference":
        return True
    return any(operand.type not in MOMENTS for operand in expression.operands)
