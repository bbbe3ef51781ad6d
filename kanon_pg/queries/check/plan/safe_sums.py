"""What sums calculate with for each row, in a form that cannot fail or be moved.

* Somebody may have chosen the numbers of a public table: the largest number that there is would make a
  product fail for exactly those people whose rows meet it. So they have bounds, and are NULL outside of them.
* A divisor that is a floating point number has bounds for the same reason: a quotient may overflow.
* The day of a moment with a time zone, in a session whose zone is UTC, is what everybody calls its day
  (`plan.steps`); in others it is the query's choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from kanon_pg.queries.check.functions import SUMS
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.steps import UTC_DAY
from kanon_pg.queries.check.plan.typed import Aggregate, AllowedCall, Bound, ColumnRef
from kanon_pg.queries.check.types import FLOATS, INTEGERS

BOUNDED: Final = "bounded"
"""Name of the operation around a number that is NULL outside of its bounds."""

_LARGEST: Final = 10**12
_IN_BOUNDS: Final = (
    f"CASE WHEN {{0}} OPERATOR(pg_catalog.>=) -{_LARGEST} AND {{0}} OPERATOR(pg_catalog.<=) {_LARGEST}"
    " THEN {0} END"
)
_FAR_FROM_ZERO: Final = (
    f"CASE WHEN pg_catalog.abs({{0}}) OPERATOR(pg_catalog.>=) 1e-12"
    f" AND pg_catalog.abs({{0}}) OPERATOR(pg_catalog.<=) {_LARGEST} THEN {{0}} END"
)


def with_safe_sums(level: GroupingLevel, *, in_utc: bool) -> GroupingLevel:
    """Return a level whose sums calculate with numbers in bounds, and with days that are steps.

    Parameters
    ----------
    in_utc : bool
        Whether the time zone of the session is UTC.
    """
    if not level.protected():
        return level
    sums = _SafeSums(level, in_utc=in_utc)
    outputs = tuple(replace(output, expression=sums.safe(output.expression)) for output in level.outputs)
    sorting = tuple(
        item if isinstance(item.expression, int) else replace(item, expression=sums.safe(item.expression))
        for item in level.sorting
    )
    having = None if level.having is None else sums.safe(level.having)
    return replace(level, outputs=outputs, having=having, sorting=sorting)


def is_fraction(divisor: Bound) -> bool:
    """Return whether a divisor is a column of floating point numbers."""
    while isinstance(divisor, AllowedCall) and divisor.name in {BOUNDED, "cast", "nullif"}:
        divisor = divisor.operands[0]
    return isinstance(divisor, ColumnRef) and divisor.type in FLOATS


def is_bounded(item: Bound) -> bool:
    """Return whether a number has bounds."""
    return isinstance(item, AllowedCall) and item.name == BOUNDED


class _SafeSums:
    def __init__(self, level: GroupingLevel, *, in_utc: bool) -> None:
        self._level = level
        self._in_utc = in_utc

    def safe(self, item: Bound) -> Bound:
        """Return an expression over groups with its sums changed."""
        if isinstance(item, Aggregate) and item.function in SUMS and isinstance(item.argument, AllowedCall):
            return replace(item, argument=self._inside(item.argument))
        return _over(item, self.safe)

    def _inside(self, item: Bound) -> Bound:
        if isinstance(item, ColumnRef):
            instance = self._level.instances[item.instance - 1]
            is_chosen = item.type in {*INTEGERS, "numeric"} and instance.protection is None
            return _bounded(item, _IN_BOUNDS) if is_chosen else item
        if isinstance(item, AllowedCall) and item.name == "cast" and item.type == "date":
            is_day = self._in_utc and isinstance(item.operands[0], ColumnRef)
            return replace(item, name=UTC_DAY) if is_day and item.operands[0].type == "timestamptz" else item
        found = _over(item, self._inside)
        if isinstance(found, AllowedCall) and found.name == "/" and is_fraction(found.operands[1]):
            dividend, divisor = found.operands
            return replace(found, operands=(dividend, _bounded(divisor, _FAR_FROM_ZERO)))
        return found


def _over(item: Bound, change: Callable[[Bound], Bound]) -> Bound:
    if not isinstance(item, AllowedCall):
        return item
    operands = tuple(map(change, item.operands))
    return replace(item, operands=operands) if operands != item.operands else item


def _bounded(number: Bound, template: str) -> AllowedCall:
    return AllowedCall(
        type=number.type, name=BOUNDED, template=template, operands=(number,), span=number.span
    )
