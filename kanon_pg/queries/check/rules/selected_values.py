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

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.classes import dividing_expressions, weighed_columns
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.measured import (
    atoms_of,
    has_order,
    is_measured,
    measured_columns,
    selecting_parts,
)
from kanon_pg.queries.check.plan.sums import duration
from kanon_pg.queries.check.plan.typed import Aggregate, Bound, ColumnRef, columns_in, walk
from kanon_pg.queries.check.plan.value_ranges import ValueRanges

_FILLED = frozenset({"coalesce", "case", "greatest", "least"})
"""What puts a number in the place of NULL."""


def selected_values(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every condition that mixes an aggregated column, or takes ranges of it."""
    if not any(output.name for output in level.outputs):
        # classes that are counted and not shown: their sums stand for figures of the level that they divide
        return
    for aggregate in level.aggregates():
        measured = measured_columns(level, aggregate)
        if not measured or aggregate.argument is None:
            continue
        names = ", ".join(sorted({column.name for column in measured}))
        value = duration(aggregate.argument) or aggregate.argument
        parts = [(part, atoms_of(level, part, value)) for part in selecting_parts(level, aggregate)]
        parts = [(part, read) for part, read in parts if any(is_measured(level, x, measured) for x in read)]
        for part, read in parts:
            if len(read) > 1:
                sentence = f"A condition on {names}, which is aggregated, may not read another column."
                hint = "Make it a part of WHERE by itself (AND), or only count."
                yield finding_at("Q322", part, sentence, hint)
        classes = dividing_expressions(level, aggregate)
        if classes != (aggregate.argument,):
            alone = [(part, item) for part, (item, *others) in parts if not others and has_order(item)]
            filled = any(getattr(item, "name", "") in _FILLED for item in walk(aggregate.argument))
            yield from _ranges(level, alone, measured, value, filled=filled)
            yield from _weights(level, aggregate, value, classes, filled=filled)


def _ranges(
    level: GroupingLevel,
    parts: list[tuple[Bound, Bound]],
    measured: frozenset[ColumnRef],
    value: Bound,
    *,
    filled: bool,
) -> Iterator[Finding]:
    """Yield a finding for each condition or group that may take several ranges of what it reads."""
    names = ", ".join(sorted({column.name for column in measured}))
    excluded: dict[str, set[tuple[Bound | None, Bound]]] = {}
    for part, read in parts:
        found = ValueRanges(level, read, nulls_count=filled and read != value)
        is_key = part in level.keys
        left_out = found.excluded(part) or (found.only(part) if is_key else None)
        if left_out is not None:
            # of a column and of its copy in another table, which a join makes the same value, it is one
            one = (None if isinstance(read, ColumnRef) else read, left_out)
            found_in = [excluded.setdefault(name, set()) for name in _names_held(read, measured)]
            for values in found_in:
                values.add(one)
            if any(len(values) > 1 for values in found_in):
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


def _names_held(read: Bound, measured: frozenset[ColumnRef]) -> set[str]:
    """Return the aggregated columns whose values an expression may hold, by name."""
    names = {column.name for column in measured}
    found = {column.name for column in columns_in(read)}
    return found & names or names


def _weights(
    level: GroupingLevel, aggregate: Aggregate, value: Bound, classes: tuple[Bound, ...], *, filled: bool
) -> Iterator[Finding]:
    """Yield a finding for each weight that is computed from what it weighs: a weight of 0 or 1 selects.

    A birthday is none: it is added to what it is computed from.
    """
    weighed = frozenset(weighed_columns(aggregate, classes))
    for item in classes:
        read = atoms_of(level, item, value)
        if getattr(item, "name", "") == "birthday" or not any(is_measured(level, x, weighed) for x in read):
            continue
        if len(read) > 1 or not ValueRanges(level, *read, nulls_count=filled).has_ranges(item):
            sentence = "A whole number that weighs a column may take several ranges of this column."
            yield finding_at("Q322", item, sentence, "Round the column: corr(round(a, -3)::int, a).")
