"""Which expressions are in order with one value of a row.

An expression is *in order* with a value if it never falls where the value grows, or never grows. Operations
of PostgreSQL on whole numbers, and sums and products of ``numeric``, are exact, and floating point numbers
are rounded in order. A quotient of ``numeric`` is rounded to sixteen digits or more, and how many depends on
the value: that is in order but for values that differ by their last digits only, if what is divided is the
value times constants, or the value and constants of ordinary size.

Clocks are set back by an hour: two moments with a time zone may have the same hour, and one between them
another one. They are in order here, because what falls together is as close as that.

All these expressions are NULL where the value is, but for `coalesce`, `greatest` and `least`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.sums import UTC_DAY
from kanon_pg.queries.check.plan.typed import (
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    KeyRef,
    TypedConstant,
    constant_value,
    walk,
)
from kanon_pg.queries.check.types import FLOATS, INTEGERS, MOMENTS, NUMBERS

_MOST_ADDED: Final = 10**9
"""Sixteen digits of a value to which less than this is added have seven decimals."""

_FIELDS: Final = frozenset({"extract", "date_part"})
_MONTHS: Final = re.compile(r"y|mon", re.IGNORECASE)

_GROWING_FIELDS: Final = frozenset({"year", "isoyear", "decade", "century", "epoch"})
"""Fields of a moment that do not begin anew. Months do, so those of several years have one number."""


class ValueOrder:
    """The order of one value of each row.

    Parameters
    ----------
    level : GroupingLevel
        Where the expressions stand.
    value : Bound
        A column, or an expression that is aggregated.
    nulls_count : bool
        Whether NULL stands for a number in the figure, which then may not be beside a range.
    """

    def __init__(self, level: GroupingLevel, value: Bound, *, nulls_count: bool) -> None:
        self._level = level
        self._value = value
        self._nulls_count = nulls_count

    def is_constant(self, item: Bound) -> bool:
        """Return whether an expression is the same for every row: also the answer of a query with one row."""
        return not any(
            isinstance(part, Aggregate | KeyRef)
            or (isinstance(part, ColumnRef) and not self._level.is_fixed(part))
            for part in walk(item)
        )

    def is_plain(self, item: Bound) -> bool:
        """Return whether an expression is the value itself."""
        while isinstance(item, AllowedCall) and item != self._value and is_exact_cast(item):
            item = item.operands[0]
        return item == self._value

    def is_in_order(self, item: Bound) -> bool:
        """Return whether the values of an expression are in order with the value."""
        return self.direction(item) != 0

    def direction(self, item: Bound) -> int:
        """Return 1 if an expression never falls where the value grows, -1 if it never grows, 0 if unknown."""
        if item == self._value:
            return 1
        rule = _RULES.get(item.name) if isinstance(item, AllowedCall) else None
        return rule(self, item) if rule is not None and isinstance(item, AllowedCall) else 0

    def _of_sum(self, item: AllowedCall) -> int:
        left, right = item.operands
        if item.type in {"timestamp", "timestamptz"} and left.type != "date" and not _is_even_step(right):
            return 0
        if self.is_constant(right):
            return self.direction(left)
        if not self.is_constant(left):
            return 0
        return self.direction(right) * (1 if item.name == "+" else -1)

    def _of_product(self, item: AllowedCall) -> int:
        left, right = item.operands
        if self.is_constant(left):
            left, right = right, left
        return self.direction(left) * _sign(right)

    def _of_quotient(self, item: AllowedCall) -> int:
        dividend, divisor = item.operands
        is_exact = item.type in {*INTEGERS, *FLOATS}
        if not is_exact and not self._is_scaled(dividend) and self._added(dividend) is None:
            return 0
        return self.direction(dividend) * _sign(divisor)

    def _is_scaled(self, item: Bound) -> bool:
        """Return whether an expression is the value times constants."""
        while isinstance(item, AllowedCall) and not self._is_measure(item):
            varying = [operand for operand in item.operands if not self.is_constant(operand)]
            if len(varying) != 1 or not (item.name in {"*", "/", "neg"} or _is_cast_of_number(item)):
                return False
            item = varying[0]
        return self._is_measure(item)

    def _is_measure(self, item: Bound) -> bool:
        """Return whether an expression is the value, or days or seconds that tell a moment."""
        is_time = getattr(item, "name", "") in {"difference", *_FIELDS}
        return item == self._value or (is_time and self.is_in_order(item))

    def _added(self, item: Bound) -> Decimal | None:
        """Return how much is added to the value or taken from it, None if that is much or not known."""
        total = Decimal(0)
        while isinstance(item, AllowedCall) and not self._is_measure(item):
            varying = [operand for operand in item.operands if not self.is_constant(operand)]
            if len(varying) != 1 or not (item.name in {"+", "-", "neg"} or _is_cast_of_number(item)):
                return None
            amounts = [constant_value(operand) for operand in item.operands if operand is not varying[0]]
            if None in amounts:
                return None
            total += sum((abs(amount) for amount in amounts if amount is not None), Decimal(0))
            item = varying[0]
        return total if self._is_measure(item) and total <= _MOST_ADDED else None

    def _of_negative(self, item: AllowedCall) -> int:
        return -self.direction(item.operands[0])

    def _of_first(self, item: AllowedCall) -> int:
        first, *others = item.operands
        return self.direction(first) if all(map(self.is_constant, others)) else 0

    def _of_second(self, item: AllowedCall) -> int:
        return self.direction(item.operands[1])

    def _of_cast(self, item: AllowedCall) -> int:
        (inner,) = item.operands
        is_of_moment = inner.type in MOMENTS and item.type in MOMENTS
        return self.direction(inner) if is_of_moment or _is_cast_of_number(item) else 0

    def _of_bucket(self, item: AllowedCall) -> int:
        first, low, high, _ = item.operands
        bounds = constant_value(low), constant_value(high)
        if bounds[0] is None or bounds[1] is None:
            return 0
        return self.direction(first) * (1 if bounds[0] <= bounds[1] else -1)

    def _of_field(self, item: AllowedCall) -> int:
        field, inner = item.operands
        name = (field.text or "").lower() if isinstance(field, TypedConstant) else ""
        if inner.type in MOMENTS or inner == self._value:
            is_growing = name in _GROWING_FIELDS and (inner.type in MOMENTS or name == "epoch")
            return self.direction(inner) if is_growing else 0
        if not isinstance(inner, AllowedCall):
            return 0
        if inner.name == "difference":
            return self.direction(inner) if name in {"epoch", "day"} else 0
        return self._of_age(inner) if inner.name == "age" and name == "year" else 0

    def _of_age(self, age: AllowedCall) -> int:
        """Return the direction of whole years; days of an age do not follow each other at ends of months."""
        if age == self._value:
            return 1
        if len(age.operands) == 1:
            return -self.direction(age.operands[0])
        left, right = age.operands
        if self.is_constant(left):
            return -self.direction(right)
        return self.direction(left) if self.is_constant(right) else 0

    def _of_replaced(self, item: AllowedCall) -> int:
        return 0 if self._nulls_count else self._of_first(item)

    def _of_extreme(self, item: AllowedCall) -> int:
        varying = {self.direction(part) for part in item.operands if not self.is_constant(part)}
        return varying.pop() if len(varying) == 1 and not self._nulls_count else 0


_RULES: Final[dict[str, Callable[[ValueOrder, AllowedCall], int]]] = {
    **dict.fromkeys(("+", "-", "difference"), ValueOrder._of_sum),
    "*": ValueOrder._of_product,
    "/": ValueOrder._of_quotient,
    "neg": ValueOrder._of_negative,
    **dict.fromkeys(("floor", "ceil", "ceiling", "round", "trunc", "sign"), ValueOrder._of_first),
    **dict.fromkeys(("cast", UTC_DAY), ValueOrder._of_cast),
    "width_bucket": ValueOrder._of_bucket,
    "date_trunc": ValueOrder._of_second,
    **dict.fromkeys(_FIELDS, ValueOrder._of_field),
    "coalesce": ValueOrder._of_replaced,
    **dict.fromkeys(("greatest", "least"), ValueOrder._of_extreme),
}


def _is_even_step(step: Bound) -> bool:
    """Return whether all moments are moved alike: a month after the 30th and the 31st may be the same day."""
    text = step.text if isinstance(step, TypedConstant) and step.type == "interval" else ""
    return not _MONTHS.search(text or "month")


def _sign(constant: Bound) -> int:
    """Return the sign of a constant number, 0 if it is not known; zero has either."""
    value = constant_value(constant)
    if value is not None:
        return 1 if value >= 0 else -1
    if not isinstance(constant, AllowedCall):
        return 0
    signs = [_sign(operand) for operand in constant.operands]
    if constant.name in {"*", "/"}:
        return signs[0] * signs[1]
    if constant.name == "+":
        return signs[0] if signs[0] == signs[1] else 0
    return signs[0] if constant.name == "cast" else 0


def _is_cast_of_number(item: AllowedCall) -> bool:
    return item.name == "cast" and item.type in NUMBERS and item.operands[0].type in NUMBERS


def is_exact_cast(item: AllowedCall) -> bool:
    """Return whether an operation gives the same whole number in another type."""
    return item.name == "cast" and item.operands[0].type in INTEGERS and item.type in {*INTEGERS, "numeric"}
