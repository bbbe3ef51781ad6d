"""Figures that weigh or show values, and the classes that make them sums over people.

``avg(cost / days)`` weighs each cost by a number that somebody may know, and the most frequent value is
one. Where all rows with the same ``days`` are a class of people, both are nothing new: the first is a sum
of costs for each number of days, multiplied by constants, and the second is the value of a class. So the
rows of such a level are divided once more, by a level that nobody sees (`unshown_level`): its groups are the
level's groups by what weighs or is shown. They are counted, handed to the ledger, and taken together with
what else the answer says, as if the query had GROUPING SETS with them; only their figures are not returned.

The whole years of an age on a day of the query's choice are such a figure, too: a difference of years, and a
number of people whose birthday is still to come, who are a class then (`plan.steps.birthday`).

A divisor or factor of whole numbers is such a value, and a divisor that is a floating point number, such as
the fraction of full time that somebody works. Other numbers are none: nearly every person would be a class of
their own, and the answer withheld without a word. A column of a public table is one, whatever its numbers:
somebody may have chosen them, so those who share one are counted, in sums of it, too.

An argument that is not linear, but takes few values whatever the data (the month of a moment, a CASE of
constants), is a value itself: its sum is one of numbers of people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from kanon_pg.queries.check.functions import EXTREMES, PAIRS, SUMS, VALUES
from kanon_pg.queries.check.plan.joins import conjuncts, plain_column
from kanon_pg.queries.check.plan.levels import GroupingLevel, Output
from kanon_pg.queries.check.plan.safe_sums import BOUNDED, is_fraction
from kanon_pg.queries.check.plan.steps import birthday, is_linear, parts_above
from kanon_pg.queries.check.plan.typed import (
    PAIR,
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    TypedConstant,
    columns_in,
    has_value,
    is_constant,
    results_of,
)
from kanon_pg.queries.check.types import INTEGERS, MOMENTS, NUMBERS

_FEW_VALUES: Final = frozenset({"int2", "int4", "bool"})
_PASSED: Final = frozenset({"+", "-", "neg", "cast"})


def dividing_expressions(level: GroupingLevel, aggregate: Aggregate) -> tuple[Bound, ...]:
    """Return the expressions by whose values an aggregate's rows have to be divided; mostly none."""
    argument = aggregate.argument
    if argument is None or not level.protected():
        return ()
    if aggregate.function in VALUES:
        return (argument,)
    if aggregate.function in PAIRS and isinstance(argument, AllowedCall):
        few = [side for side in reversed(argument.operands) if _has_few_values(side)]
        # the other side has to be a plain column
        found = tuple(sorted(few, key=lambda side: plain_column(side) is not None)[:1])
        return found if _is_null_by_parts(argument, found) else ()
    if aggregate.function in EXTREMES and _is_public(level, argument):
        return (argument,)
    return _classes_of_sum(level, argument) if aggregate.function in SUMS else ()


def _classes_of_sum(level: GroupingLevel, argument: Bound) -> tuple[Bound, ...]:
    if _is_public(level, argument):
        return (argument,)
    found = tuple(dict.fromkeys(_weights(level, argument)))
    if not _is_null_by_parts(argument, found):
        found = ()
    is_sum = all(is_linear(part, found) for part in parts_above(argument, found))
    return (argument,) if not is_sum and _takes_few_values(argument) else found


def _is_public(level: GroupingLevel, argument: Bound) -> bool:
    columns = columns_in(argument)
    return bool(columns) and all(level.instances[item.instance - 1].protection is None for item in columns)


def _has_few_values(expression: Bound) -> bool:
    """Return whether an expression is computed from whole numbers alone, rounded to one, or a condition."""
    columns = columns_in(expression)
    while isinstance(expression, AllowedCall) and expression.name in {"cast", "nullif"}:
        expression = expression.operands[0]
    made = expression.type == "bool" or getattr(expression, "name", "") == "round"
    return bool(columns) and (made or all(column.type in _FEW_VALUES for column in columns))


def _weights(level: GroupingLevel, item: Bound) -> Iterator[Bound]:
    """Yield the divisors and factors that are no constants, where they have few values, and birthdays."""
    if not isinstance(item, AllowedCall) or is_constant(item):
        return
    moved = birthday(item)
    if moved is not None:
        yield moved
    if item.name in {*_PASSED, "round"}:
        for operand in item.operands:
            yield from _weights(level, operand)
    if item.name not in {"*", "/"} or (item.type in INTEGERS and item.name == "/"):
        return
    left, right = item.operands
    sides = [(right, left)] if item.name == "/" else [(right, left), (left, right)]
    sides.sort(key=lambda pair: not _is_public(level, pair[0]))
    for weight, weighed in sides:
        divides = _has_few_values(weight) or _is_public(level, weight)
        divides = divides or (item.name == "/" and is_fraction(weight))
        if is_constant(weight) or (divides and not is_constant(weighed)):
            yield from (() if is_constant(weight) else (weight,))
            yield from _weights(level, weighed)
            return


def unshown_level(level: GroupingLevel, number: int) -> GroupingLevel | None:
    """Return the level of the classes that a level's figures need, None if they need none.

    A FILTER divides the rows, too. Where columns besides the classes may be NULL, their sums stand for the
    figure: so the people who have a value are counted in each class, and recorded.

    Parameters
    ----------
    number : int
        Number of the new level within the query.
    """
    found: dict[Bound, None] = dict.fromkeys(level.keys)
    weighed: dict[ColumnRef, None] = {}
    for aggregate in level.aggregates():
        classes = dividing_expressions(level, aggregate)
        if classes:
            parts = () if aggregate.condition is None else conjuncts(aggregate.condition)
            found.update(dict.fromkeys((*classes, *map(_is_true, parts))))
            columns = [item for item in weighed_columns(aggregate, classes) if item.nullable]
            found.update((has_value(item), None) for item in columns if item.type not in NUMBERS)
            weighed.update((item, None) for item in columns if item.type in NUMBERS)
    if len(found) == len(level.keys):
        return None
    sums = [Aggregate(type=item.type, function="sum", argument=item, span=item.span) for item in weighed]
    return replace(
        level,
        number=number,
        keys=tuple(found),
        outputs=tuple(Output("", item) for item in sums),
        having=None,
        sorting=(),
        repeated=False,
    )


def weighed_columns(aggregate: Aggregate, classes: tuple[Bound, ...]) -> tuple[ColumnRef, ...]:
    """Return the columns that an aggregate reads besides its classes."""
    found: dict[ColumnRef, None] = {}
    waiting = [aggregate.argument] if aggregate.argument is not None else []
    while waiting:
        item = waiting.pop()
        if item in classes or birthday(item) in classes:
            continue
        if isinstance(item, ColumnRef):
            found[item] = None
        if isinstance(item, AllowedCall):
            waiting.extend(item.operands)
    return tuple(found)


def _is_true(condition: Bound) -> AllowedCall:
    """Return a condition that is false where another one is NULL: there it holds for nobody."""
    return AllowedCall(
        type="bool", name="is true", template="({0} IS TRUE)", operands=(condition,), span=condition.span
    )


def _is_null_by_parts(item: Bound, classes: tuple[Bound, ...]) -> bool:
    """Return whether an expression is NULL only where a column is, or where rows of one class all are."""
    if not isinstance(item, AllowedCall) or item in classes or birthday(item) in classes:
        return True
    known = item.name in {*_PASSED, "*", "/", "round", PAIR, BOUNDED}
    return known and all(_is_null_by_parts(operand, classes) for operand in item.operands)


_FEW_VALUED_FIELDS: Final = frozenset(
    {"year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "decade", "century"}
)


def _takes_few_values(item: Bound) -> bool:
    """Return whether a number that is no constant takes few values whatever the columns hold."""
    if not isinstance(item, AllowedCall) or is_constant(item) or item.type not in NUMBERS:
        return False
    rule = _FEW_VALUED.get(item.name)
    return rule is not None and rule(item)


def _is_field_of_moment(item: AllowedCall) -> bool:
    field, moment = item.operands
    is_field = isinstance(field, TypedConstant) and (field.text or "").lower() in _FEW_VALUED_FIELDS
    return is_field and (moment.type in MOMENTS or getattr(moment, "name", "") == "age")


def _are_results_few(case: AllowedCall) -> bool:
    return all(is_constant(result) or _takes_few_values(result) for result in results_of(case))


def _are_combined_few(item: AllowedCall) -> bool:
    return all(is_constant(operand) or _takes_few_values(operand) for operand in item.operands)


def _are_changed_few(item: AllowedCall) -> bool:
    first, *others = item.operands
    return _takes_few_values(first) and all(map(is_constant, others))


_FEW_VALUED: Final[dict[str, Callable[[AllowedCall], bool]]] = {
    **dict.fromkeys(("extract", "date_part"), _is_field_of_moment),
    "case": _are_results_few,
    **dict.fromkeys(("cast", "nullif", "coalesce", "/"), _are_changed_few),
    **dict.fromkeys(
        ("+", "-", "*", "neg", "abs", "floor", "ceil", "ceiling", "round", "trunc", "sign"),
        _are_combined_few,
    ),
}
