"""A condition on a column that is aggregated stands by itself.

``sum(cost) WHERE cost BETWEEN 500 AND 501 OR <one person>`` adds the person's cost to numbers that the
condition tells: k people are behind it, and it is one person's value to within a few units. In the same way
``cost < 800 OR cost > 9000 OR <one person>`` puts one person into the middle of a percentile, with k people
on each side. Both need a condition that holds for the one person whatever their value, and for others
because of theirs, so it reads the column together with another one.

A condition on an aggregated number or moment takes one range of it: ``cost BETWEEN 500 AND 501 OR cost >
90000`` adds the value of the one person above to many that it tells, and ``age IN (50, 97)`` says by the
mean of ages whether the one who is 97 is among those whom a secret chooses. So does a group in which two
ranges fall together, and a weight that is 1 for two ranges and 0 for others. There are many ways to write
two ranges, so conditions, groups and weights have one of the forms of `plan.value_ranges`, of which it is
known that they take one. One value may be left out: who has it is known from the count.

A sum of values of which each has k people (`plan.classes`) is one of numbers of people: there is nothing to
select.

If every condition that reads an aggregated column reads nothing else, then WHERE is a part about values and
a part about people: everybody of whom the second part holds is treated alike by the first, and nobody is in
because of who they are while others are because of what they have. The same goes for FILTER and group keys.

Codes: Q322.

Refused::

    SELECT sum(age) FROM people WHERE age BETWEEN 30 AND 31 OR born = '1950-01-01'

    SELECT sum(age) FROM people WHERE age IN (30, 97) AND income > 40000

    SELECT avg(income) FROM people WHERE income BETWEEN 500 AND 501 OR income > 90000

    SELECT sum(income) FROM people WHERE income > 500 AND (income < 510) = (income < 90000)

    SELECT income BETWEEN 510 AND 90000 AS middle, sum(income) FROM people GROUP BY 1

    SELECT sum(age * (age NOT BETWEEN 31 AND 90)::int) FROM people

Accepted::

    SELECT sum(age) FROM people WHERE age BETWEEN 30 AND 40 AND born > '1950-01-01'

    SELECT sum(income) FILTER (WHERE (income - 100) * 2 > 1000) FROM people WHERE income <> 0

    SELECT floor(income / 10000) * 10000 AS band, avg(income) FROM people GROUP BY 1

    SELECT CASE WHEN age < 18 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END, avg(age)
    FROM people GROUP BY 1

    SELECT count(*) FROM people WHERE age BETWEEN 30 AND 31 OR born = '1950-01-01'
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.catalog import RelationKind
from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.classes import dividing_expressions, weighed_columns
from kanon_pg.queries.check.plan.joins import conjuncts
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.sums import duration
from kanon_pg.queries.check.plan.typed import Aggregate, AllowedCall, Bound, ColumnRef, columns_in, walk
from kanon_pg.queries.check.plan.value_ranges import ValueRanges
from kanon_pg.queries.check.types import MOMENTS, NUMBERS

_COPIES = frozenset({RelationKind.VIEW, RelationKind.MATERIALIZED})


_ORDERED = frozenset({*NUMBERS, *MOMENTS, "time", "interval"})

_FILLED = frozenset({"coalesce", "case", "greatest", "least"})
"""What puts a number in the place of NULL."""


def selected_values(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every condition that mixes an aggregated column, or takes ranges of it."""
    if not any(output.name for output in level.outputs):
        # classes that are counted and not shown: their sums stand for figures of the level that they divide
        return
    for aggregate in level.aggregates():
        measured = _measured(level, aggregate)
        if not measured or aggregate.argument is None:
            continue
        names = ", ".join(sorted({column.name for column in measured}))
        value = duration(aggregate.argument) or aggregate.argument
        parts = [(part, _atoms(level, part, value)) for part in _selecting(level, aggregate)]
        parts = [(part, read) for part, read in parts if any(_is_measured(level, x, measured) for x in read)]
        for part, read in parts:
            if len(read) > 1:
                sentence = f"A condition on {names}, which is aggregated, may not read another column."
                hint = "Make it a part of WHERE by itself (AND), or only count."
                yield finding_at("Q322", part, sentence, hint)
        classes = dividing_expressions(level, aggregate)
        if classes != (aggregate.argument,):
            alone = [(part, item) for part, (item, *others) in parts if not others and _has_ranges(item)]
            filled = any(getattr(item, "name", "") in _FILLED for item in walk(aggregate.argument))
            yield from _ranges(level, alone, names, value, filled=filled)
            yield from _weights(level, aggregate, value, classes, filled=filled)


def _ranges(
    level: GroupingLevel, parts: list[tuple[Bound, Bound]], names: str, value: Bound, *, filled: bool
) -> Iterator[Finding]:
    """Yield a finding for each condition or group that may take several ranges of what it reads."""
    excluded: dict[Bound, set[Bound]] = {}
    for part, read in parts:
        found = ValueRanges(level, read, nulls_count=filled and read != value)
        is_key = part in level.keys
        left_out = found.excluded(part) or (found.only(part) if is_key else None)
        if left_out is not None:
            excluded.setdefault(read, set()).add(left_out)
            if len(excluded[read]) > 1:
                sentence = f"Conditions on {names}, which is aggregated, leave out several values."
                hint = "Leave out one value, or write BETWEEN, < or >; or only count."
                yield finding_at("Q322", part, sentence, hint)
        elif is_key and not found.has_ranges(part):
            sentence = f"A group by {names}, which is aggregated, may take several ranges of it."
            hint = (
                "Group by the column, floor(column / 10), date_trunc, width_bucket or column < 10,"
                " or by a CASE with one range for each label; or only count."
            )
            yield finding_at("Q322", part, sentence, hint)
        elif not is_key and not found.takes_one_range(part):
            sentence = f"A condition on {names}, which is aggregated, takes one range."
            hint = (
                "Compare the column with constants: BETWEEN, < or >, joined by AND; or group by the ranges;"
                " or only count."
            )
            yield finding_at("Q322", part, sentence, hint)


def _weights(
    level: GroupingLevel, aggregate: Aggregate, value: Bound, classes: tuple[Bound, ...], *, filled: bool
) -> Iterator[Finding]:
    """Yield a finding for each weight that is computed from what it weighs: a weight of 0 or 1 selects.

    A birthday is none: it is added to what it is computed from.
    """
    weighed = frozenset(weighed_columns(aggregate, classes))
    for item in classes:
        read = _atoms(level, item, value)
        if getattr(item, "name", "") == "birthday" or not any(_is_measured(level, x, weighed) for x in read):
            continue
        if len(read) > 1 or not ValueRanges(level, *read, nulls_count=filled).has_ranges(item):
            sentence = "A whole number that weighs a column may take several ranges of this column."
            yield finding_at("Q322", item, sentence, "Round the column: corr(round(a, -3)::int, a).")


def _has_ranges(value: Bound) -> bool:
    """Return whether values are added, or stand in an order: texts and truth values are not."""
    return any(column.type in _ORDERED for column in columns_in(value))


def _measured(level: GroupingLevel, aggregate: Aggregate) -> frozenset[ColumnRef]:
    """Return the columns of people whose values an aggregate tells something about."""
    if aggregate.argument is None or aggregate.function == "count":
        return frozenset()
    found = columns_in(aggregate.argument)
    return frozenset(item for item in found if not level.instances[item.instance - 1].is_personal(item))


def _selecting(level: GroupingLevel, aggregate: Aggregate) -> Iterator[Bound]:
    conditions = [*level.conditions(), *([aggregate.condition] if aggregate.condition is not None else [])]
    for condition in conditions:
        yield from conjuncts(condition)
    yield from level.keys


def _atoms(level: GroupingLevel, part: Bound, argument: Bound | None) -> set[Bound]:
    """Return what a condition reads: columns, and the aggregated expression as a whole.

    Whether a LEFT JOIN found a row depends on all that its condition reads, and so do that row's columns.
    The answer of a query that has one row is the same for everybody, as a constant is.
    """
    found: set[Bound] = set()
    waiting = [part]
    while waiting:
        item = waiting.pop()
        if item in found:
            continue
        if item == argument or (isinstance(item, ColumnRef) and not level.is_fixed(item)):
            found.add(item)
        if isinstance(item, AllowedCall) and item != argument:
            waiting.extend(item.operands)
        if isinstance(item, ColumnRef):
            condition = level.instances[item.instance - 1].condition
            waiting.extend(() if condition is None or condition == part else (condition,))
    return found


def _is_measured(level: GroupingLevel, item: Bound, measured: frozenset[ColumnRef]) -> bool:
    return any(column in measured or _is_copy(level, column, measured) for column in columns_in(item))


def _is_copy(level: GroupingLevel, column: ColumnRef, measured: frozenset[ColumnRef]) -> bool:
    """Return whether a column of another protected instance may hold the values of an aggregated one."""
    instance = level.instances[column.instance - 1]
    if instance.relation is None or instance.protection is None:
        return False
    others = [item for item in measured if item.instance != column.instance]
    if any(item.name == column.name for item in others):
        return True
    relations = [instance.relation, *(level.instances[item.instance - 1].relation for item in others)]
    is_view = any(relation is not None and relation.kind in _COPIES for relation in relations)
    return bool(others) and is_view and column.type in (*NUMBERS, *MOMENTS)
