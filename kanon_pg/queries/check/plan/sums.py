"""What a sum over people may take, and the form of it that cannot fail or be moved.

A sum may take linear combinations of columns, which weigh all people of a class alike, and steps that nobody
can move. Calendar expressions are one or the other: the seconds between two moments are linear in both; the
day of a timestamp, the year of a date, the whole days between two moments and the whole years of an age are
steps, functions that jump. A step whose place the analyst chooses selects people (the sums of
``age(date '2024-05-09', birth_date)`` and of the day after differ by the number of people with a birthday
between), so nothing but plain columns may be below one. Then it is a value of the row like a column that its
owner could have stored, the same for every query.

The time zone of the session is the analyst's choice, too: below a step, and in differences, there is no cast
that depends on it. In UTC, which is one for all, the day of a moment with a time zone is a step.

What sums calculate with for each row has bounds where it could fail (`with_safe_sums`):

* Somebody may have chosen the numbers of a public table: the largest number that there is would make a
  product fail for exactly those people whose rows meet it. So they have bounds, and are NULL outside of them.
* A divisor that is a floating point number has bounds for the same reason: a quotient may overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from kanon_pg.queries.check.functions import SUMS
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.typed import (
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    TypedConstant,
    constant_value,
    is_constant,
    walk,
)
from kanon_pg.queries.check.types import FLOATS, INTEGERS, NUMBERS

_FIELDS: Final = frozenset({"extract", "date_part"})
_WITHOUT_ZONE: Final = frozenset({"date", "timestamp"})
UTC_DAY: Final = "day in UTC"
"""The day of a moment with a time zone, in a session whose days begin at midnight UTC."""

_LARGEST_WHOLE: Final = 10**5
"""A sum over millions of people, each with a thousand of these added, still is below 2 ** 53."""


def is_linear_in_time(item: AllowedCall) -> bool:
    """Return whether an operation on moments is linear in its operands, whatever these are."""
    if item.name == "cast":
        return (item.operands[0].type, item.type) == ("date", "timestamp")
    return is_epoch_of_difference(item)


def is_epoch_of_difference(item: AllowedCall) -> bool:
    """Return whether an operation gives the seconds between two moments."""
    if item.name not in _FIELDS or _field(item) != "epoch":
        return False
    inner = item.operands[1]
    return isinstance(inner, AllowedCall) and inner.name == "difference"


def is_step(item: Bound) -> bool:
    """Return whether an expression is a step over plain columns."""
    if not isinstance(item, AllowedCall):
        return False
    if item.name == "cast" and item.type == "date":
        return _is_plain(item.operands[0]) and item.operands[0].type == "timestamp"
    if item.name == UTC_DAY:
        return isinstance(item.operands[0], ColumnRef)
    if item.name == "age" and len(item.operands) == 2:
        return all(_is_plain(operand) and operand.type in _WITHOUT_ZONE for operand in item.operands)
    return item.name in _FIELDS and _is_fixed_field(_field(item), item.operands[1])


def _is_fixed_field(field: str, inner: Bound) -> bool:
    if _is_plain(inner):
        return field == "year" and inner.type in _WITHOUT_ZONE
    if not isinstance(inner, AllowedCall) or not all(map(_is_plain, inner.operands)):
        return False
    if inner.name == "age" and len(inner.operands) == 2:
        return field == "year" and all(operand.type in _WITHOUT_ZONE for operand in inner.operands)
    return field == "day" and inner.name == "difference"


def birthday(item: Bound) -> AllowedCall | None:
    """Return what an age on a day of the query's choice has besides differences of years, or of months.

    Of whole years it is -1 for those whose birthday is later in the year, and 0 for others (1 among those not
    born yet), so that the sum of ages is a sum of differences of years, which are steps, and a number of
    people. Of an age as an interval it is the same for those whose day of birth is later in the month, who
    have a month less, and as many days more as the month of their birth has: steps, too.

    Returns
    -------
    Operation or None
        None for everything else.
    """
    if isinstance(item, AllowedCall) and item.name == "age":
        return _day_of_birth(item)
    if not isinstance(item, AllowedCall) or item.name not in _FIELDS or _field(item) != "year":
        return None
    age = item.operands[1]
    if not isinstance(age, AllowedCall) or age.name != "age" or not _is_plain(age.operands[-1]):
        return None
    born = age.operands[-1]
    if born.type not in _WITHOUT_ZONE or (len(age.operands) == 2 and not is_constant(age.operands[0])):
        return None
    day = "CURRENT_DATE" if len(age.operands) == 1 else "{2}"
    years = f"(EXTRACT(year FROM {day}) OPERATOR(pg_catalog.-) EXTRACT(year FROM {{1}}))"
    template = f"(CAST({{0}} AS pg_catalog.numeric) OPERATOR(pg_catalog.-) {years})"
    operands = (item, born, *age.operands[:-1])
    return AllowedCall(type="numeric", name="birthday", template=template, operands=operands, span=item.span)


def _day_of_birth(age: AllowedCall) -> AllowedCall | None:
    *days, born = map(_date_of, age.operands)
    if not isinstance(born, ColumnRef) or (days and not _is_chosen(days[0])):
        return None
    day = "{2}" if days else "CURRENT_DATE"
    months, on_day, at_birth = (
        f"((EXTRACT(year FROM {one}) OPERATOR(pg_catalog.*) 12)"
        f" OPERATOR(pg_catalog.+) EXTRACT(month FROM {one}))"
        for one in ("{0}", day, "{1}")
    )
    template = f"({months} OPERATOR(pg_catalog.-) ({on_day} OPERATOR(pg_catalog.-) {at_birth}))"
    operands = (age, born, *(item for item in days if item is not None))
    return AllowedCall(type="numeric", name="birthday", template=template, operands=operands, span=age.span)


def _date_of(moment: Bound) -> Bound | None:
    """Return the day that begins at a moment, None of other moments."""
    is_day = isinstance(moment, AllowedCall) and moment.name == "cast" and moment.operands[0].type == "date"
    return moment.operands[0] if isinstance(moment, AllowedCall) and is_day else None


def _is_chosen(day: Bound | None) -> bool:
    """Return whether a day is the query's choice, for all, or for those without a value."""
    if isinstance(day, AllowedCall) and day.name == "coalesce":
        first, *others = day.operands
        return isinstance(first, ColumnRef) and all(map(is_constant, others))
    return day is not None and is_constant(day)


def _field(item: AllowedCall) -> str:
    field = item.operands[0]
    return (field.text or "").lower() if isinstance(field, TypedConstant) else ""


def _is_plain(expression: Bound) -> bool:
    """Return whether an expression is a column, or a day as the moment at which it begins."""
    if isinstance(expression, AllowedCall) and is_linear_in_time(expression) and expression.name == "cast":
        return isinstance(expression.operands[0], ColumnRef)
    return isinstance(expression, ColumnRef)


def is_whole(expression: Bound) -> bool:
    """Return whether a value is a whole number of a size that floating point numbers hold exactly."""
    if isinstance(expression, ColumnRef):
        return expression.type in {"int2", "int4"}
    value = constant_value(expression)
    if value is not None:
        return value == value.to_integral_value() and abs(value) <= _LARGEST_WHOLE
    if not isinstance(expression, AllowedCall):
        return False
    if is_step(expression) or is_constant(expression) or birthday(expression) is not None:
        return expression.name in _FIELDS and _field(expression) in {"year", "day"}
    if expression.name == "difference":
        return expression.type in INTEGERS
    # rounded to tens or to seven digits it would jump where the query wants, by what it adds
    jumps = expression.type == "float4" or (expression.name == "round" and len(expression.operands) > 1)
    exact = not jumps and expression.name in {"+", "-", "neg", "cast", "round"}
    return exact and all(map(is_whole, expression.operands))


def duration(expression: Bound) -> AllowedCall | None:
    """Return the difference of two plain columns of one table behind a factor and a unit, or None."""
    while isinstance(expression, AllowedCall) and expression.name != "difference":
        varying = [operand for operand in expression.operands if not is_constant(operand)]
        scaled = expression.name in {"*", "/", "cast"} or is_linear_in_time(expression)
        if not scaled or len(varying) != 1:
            return None
        expression = varying[0]
    if not isinstance(expression, AllowedCall) or not all(map(_is_plain, expression.operands)):
        return None
    instances = {column.instance for column in map(_column, expression.operands) if column is not None}
    return expression if len(instances) == 1 else None


def _column(expression: Bound) -> ColumnRef | None:
    while isinstance(expression, AllowedCall) and expression.operands:
        expression = expression.operands[0]
    return expression if isinstance(expression, ColumnRef) else None


def parts_above(argument: Bound, classes: tuple[Bound, ...]) -> Iterator[Bound]:
    """Yield an expression and everything in it, but no class, and nothing below a step over plain columns."""
    waiting = [argument]
    while waiting:
        item = waiting.pop()
        if item in classes:
            continue
        yield item
        if isinstance(item, AllowedCall) and not is_step(item) and birthday(item) not in classes:
            waiting.extend(item.operands)


def is_linear(item: Bound, classes: tuple[Bound, ...]) -> bool:
    """Return whether an operation is linear in its operands where the values of classes are constants."""
    if not isinstance(item, AllowedCall) or is_constant(item):
        return True
    if is_step(item) or is_linear_in_time(item) or birthday(item) in classes:
        return True
    if item.name == "round":
        return is_whole(item)
    if any(operand.type == "interval" for operand in item.operands):
        return False
    if item.name == "cast":
        source, target = item.operands[0].type, item.type
        return source == target or (source in NUMBERS and target in NUMBERS and _widens(source, target))
    fixed = [is_constant(operand) or operand in classes for operand in item.operands]
    allowed = {
        "+": True,
        "-": True,
        "neg": True,
        "difference": True,
        "*": any(fixed),
        "/": fixed[-1] and item.type not in INTEGERS,
        # a constant in place of NULL: who has no value is counted like whoever a filter leaves out
        "coalesce": fixed == [False, True],
    }
    return allowed.get(item.name, False)


def _widens(source: str, target: str) -> bool:
    return NUMBERS.index(source) <= NUMBERS.index(target) or (source == "float4" and target == "numeric")


EXACT_QUOTIENT: Final = (
    f"({{0}} OPERATOR(pg_catalog.*) (CAST('1.{'0' * 40}' AS pg_catalog.numeric) OPERATOR(pg_catalog./)"
    " CAST(CASE WHEN {1} OPERATOR(pg_catalog.<>) 0 THEN {1} END AS pg_catalog.numeric)))"
)
"""The quotient by a number that a class shares: times its reciprocal, which is rounded once for them all."""


def is_exact_quotient(item: Bound) -> bool:
    """Return whether an expression is a quotient whose sum over a class is a product of the values' sum."""
    return isinstance(item, AllowedCall) and item.name == "/" and item.template == EXACT_QUOTIENT


def rounds(item: Bound) -> bool:
    """Return whether one step of a calculation rounds what constants of the query could have changed.

    The sum of such values would be a sum of other functions of them for each constant.
    """
    if not isinstance(item, AllowedCall) or is_constant(item):
        return False
    rule = _ROUNDING.get(item.name)
    return rule is not None and rule(item)


def _is_rounding_cast(item: AllowedCall) -> bool:
    (source,) = item.operands
    if item.type not in NUMBERS or source.type == item.type:
        return False
    if item.type == "float4":
        return True
    if item.type == "numeric":
        return source.type == "float4" and not isinstance(source, ColumnRef)
    if item.type != "float8" or source.type in FLOATS or is_whole(source):
        return False
    computed = any(getattr(part, "name", "") in _COMPUTED for part in walk(source) if not is_constant(part))
    return computed or any(map(_is_moving, walk(source)))


_COMPUTED: Final = frozenset({"*", "/", "+", "-"})


def _is_moving(part: Bound) -> bool:
    """Return whether a part is a constant that moves results: no field, and not zero."""
    return is_constant(part) and part.type != "text" and constant_value(part) != 0


_ROUNDING: Final[dict[str, Callable[[AllowedCall], bool]]] = {
    "/": lambda item: not is_exact_quotient(item),
    "*": lambda item: item.type in FLOATS,
    "coalesce": lambda item: item.type in FLOATS and any(map(_is_moving, item.operands)),
    "date_part": lambda item: is_epoch_of_difference(item) and any(map(_is_moving, walk(item))),
    "cast": _is_rounding_cast,
}


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
