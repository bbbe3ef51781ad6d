"""Known values of people whom sensitive columns choose are added up over plain groups only.

Whoever knows the column that is added up has weights: of 50 people with an even number of days and one with
an odd number, chosen by a list of their days of birth, the sum of the days of those who have the flu is odd
if the one has it. The number of people says nothing of that, because there are 51 of them. In the same way
``count(DISTINCT days)`` tells whether the one who has a number of days of their own is among them.

What such a list does is to choose people one by one. So where sensitive columns choose rows, and a figure
reads the values of known columns, known columns choose by plain conditions: comparisons with constants, and
groups by a column or its steps. Lists, OR, NOT, patterns and CASE are findings. Sums of a range of people
whose values happen to be such are not stopped (`docs/threat-model-queries.md`).

Codes: Q325.

Refused::

    SELECT sum(age) FROM people WHERE income > 40000 AND born IN ('1950-01-01', '1951-02-03')

    SELECT city, avg(age) FILTER (WHERE income > 9) FROM people WHERE born < '1950-01-01' OR sex = 'f'
    GROUP BY city

    SELECT count(DISTINCT age) FROM people WHERE income > 40000 AND NOT born = '1950-01-01'

Accepted::

    SELECT avg(age) FROM people WHERE income > 40000 AND city = 'Berlin' AND born >= '1950-01-01'

    SELECT city, date_trunc('year', born), avg(age) FROM people WHERE income > 40000 GROUP BY 1, 2

    SELECT sum(age) FROM people WHERE born IN ('1950-01-01', '1951-02-03')

    SELECT count(*), sum(income) FROM people WHERE income > 9 AND born IN ('1950-01-01', '1951-02-03')
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.classes import dividing_expressions
from kanon_pg.queries.check.plan.divisions import ColumnKinds, known_conditions
from kanon_pg.queries.check.plan.joins import conjuncts
from kanon_pg.queries.check.plan.known import chooses_by_secrets
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.sums import UTC_DAY
from kanon_pg.queries.check.plan.typed import (
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    columns_in,
    is_constant,
)

_COMPARISONS: Final = frozenset({"=", "<", "<=", ">", ">=", "between"})
_TESTS: Final = frozenset({"is null", "is true", "is false"})
_STEPS: Final = frozenset(
    {
        *("+", "-", "*", "/", "neg", "cast", "difference", "age", UTC_DAY),
        *("floor", "ceil", "ceiling", "round", "trunc"),
        *("extract", "date_part", "date_trunc", "to_char"),
        *("left", "substr", "substring", "lower", "upper", "btrim", "coalesce", "width_bucket"),
    }
)
"""Operations that give values next to each other the same result, or move all by the same."""


def known_values(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every known condition that may list people whose known values are added up."""
    kinds = ColumnKinds(level)
    names = sorted({column.name for item in level.aggregates() for column in _added(level, item, kinds)})
    if not names or not chooses_by_secrets(level):
        return
    shown = ", ".join(names)
    for part in _known_conditions(level, kinds):
        if not _is_plain(part):
            sentence = f"This may list people one by one, of whom {shown} is known."
            hint = (
                "Compare the column with constants (=, BETWEEN, < or >), joined by AND; or group by the"
                f" column; or leave {shown} out and only count."
            )
            yield finding_at("Q325", part, sentence, hint)
    for key in level.keys:
        if "known" in kinds.of(key) and not kinds.are_mixed(key) and not _is_step(key):
            sentence = f"Groups by this may list people one by one, of whom {shown} is known."
            yield finding_at("Q325", key, sentence, "Group by the column, or by date_trunc or floor of it.")


def _added(level: GroupingLevel, aggregate: Aggregate, kinds: ColumnKinds) -> Iterator[ColumnRef]:
    """Yield the known columns of people whose values a figure tells something about."""
    argument = aggregate.argument
    if argument is None or (aggregate.function == "count" and not aggregate.distinct):
        return
    if dividing_expressions(level, aggregate) == (argument,):
        # a sum of numbers of people, each of whom there are enough
        return
    for column in columns_in(argument):
        instance = level.instances[column.instance - 1]
        is_value = instance.protection is not None and not instance.is_personal(column)
        if is_value and not kinds.are_secret(column):
            yield column


def _known_conditions(level: GroupingLevel, kinds: ColumnKinds) -> Iterator[Bound]:
    filters = (item.condition for item in level.aggregates() if item.condition is not None)
    for condition in (*level.conditions(), *filters):
        yield from (part for part in conjuncts(condition) if kinds.of(part) == {"known"})
    yield from known_conditions(level)


def _is_plain(part: Bound) -> bool:
    """Return whether a condition compares steps of columns, with constants or each other."""
    if not isinstance(part, AllowedCall):
        return True
    if part.name == "not":
        return _is_test(part.operands[0])
    return _is_test(part) or (part.name in _COMPARISONS and all(map(_is_step, part.operands)))


def _is_test(part: Bound) -> bool:
    if isinstance(part, AllowedCall) and part.name in _TESTS:
        return _is_step(part.operands[0])
    return isinstance(part, ColumnRef)


def _is_step(item: Bound) -> bool:
    """Return whether an expression is a column, or a step of columns, which constants move and scale."""
    if not isinstance(item, AllowedCall) or is_constant(item):
        return True
    varying = [operand for operand in item.operands if not is_constant(operand)]
    if item.name in {"*", "/", "coalesce"} and len(varying) > 1:
        return False
    return item.name in _STEPS and all(map(_is_step, varying))
