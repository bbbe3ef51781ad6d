"""A condition on a column that is aggregated stands by itself.

``sum(cost) WHERE cost BETWEEN 500 AND 501 OR <one person>`` adds the person's cost to numbers that the
condition tells: k people are behind it, and it is one person's value to within a few units. In the same way
``cost < 800 OR cost > 9000 OR <one person>`` puts one person into the middle of a percentile, with k people
on each side. Both need a condition that holds for the one person whatever their value, and for others
because of theirs, so it reads the column together with another one.

A condition on an aggregated number or moment takes one range of it: ``cost BETWEEN 500 AND 501 OR cost >
90000`` adds the value of the one person above to many that it tells, and ``age IN (50, 97)`` says by the
mean of ages whether the one who is 97 is among those whom a secret chooses.

If every condition that reads an aggregated column reads nothing else, then WHERE is a part about values and
a part about people: everybody of whom the second part holds is treated alike by the first, and nobody is in
because of who they are while others are because of what they have. The same goes for FILTER and group keys.

Codes: Q322.

Refused::

    SELECT sum(age) FROM people WHERE age BETWEEN 30 AND 31 OR born = '1950-01-01'

    SELECT sum(age) FROM people WHERE age IN (30, 97) AND income > 40000

    SELECT avg(income) FROM people WHERE income BETWEEN 500 AND 501 OR income > 90000

Accepted::

    SELECT sum(age) FROM people WHERE age BETWEEN 30 AND 40 AND born > '1950-01-01'

    SELECT count(*) FROM people WHERE age BETWEEN 30 AND 31 OR born = '1950-01-01'
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.catalog import RelationKind
from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.joins import conjuncts
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.sums import duration
from kanon_pg.queries.check.plan.typed import Aggregate, AllowedCall, Bound, ColumnRef, columns_in, walk
from kanon_pg.queries.check.types import MOMENTS, NUMBERS

_SEVERAL_RANGES = frozenset({"or", "in", "any", "case", "%", "abs", "not", "like", "ilike", "~", "~*"})
"""What can make one condition hold for a far value beside a narrow range."""

_COPIES = frozenset({RelationKind.VIEW, RelationKind.MATERIALIZED})


def selected_values(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every condition that mixes an aggregated column with other columns."""
    for aggregate in level.aggregates():
        measured = _measured(level, aggregate)
        if not measured or aggregate.argument is None:
            continue
        measured_whole = duration(aggregate.argument) or aggregate.argument
        for part in _selecting(level, aggregate):
            read = _atoms(level, part, measured_whole)
            if len(read) > 1 and any(_is_measured(level, item, measured) for item in read):
                names = ", ".join(sorted(column.name for column in measured))
                sentence = f"A condition on {names}, which is aggregated, may not read another column."
                hint = "Make it a part of WHERE by itself (AND), or only count."
                yield finding_at("Q322", part, sentence, hint)
            elif part not in level.keys and any(_is_measured(level, item, measured) for item in read):
                yield from _ranges(part, measured)


def _ranges(part: Bound, measured: frozenset[ColumnRef]) -> Iterator[Finding]:
    """Yield a finding if a condition on aggregated numbers or moments leaves more than one range of them."""
    if not any(column.type in (*NUMBERS, *MOMENTS) for column in measured):
        return
    for item in walk(part):
        if not isinstance(item, AllowedCall) or item.name not in _SEVERAL_RANGES:
            continue
        inner = item.operands[0] if item.operands else None
        if item.name == "not" and isinstance(inner, AllowedCall) and inner.name in {"is null", "="}:
            continue
        names = ", ".join(sorted(column.name for column in measured))
        sentence = f"A condition on {names}, which is aggregated, takes one range."
        yield finding_at(
            "Q322", item, sentence, "Write BETWEEN, < or >; or group by the ranges; or only count."
        )
        return


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
