"""A condition on a column that is aggregated stands by itself.

``sum(cost) WHERE cost BETWEEN 500 AND 501 OR <one person>`` adds the person's cost to numbers that the
condition tells: k people are behind it, and it is one person's value to within a few units. In the same way
``cost < 800 OR cost > 9000 OR <one person>`` puts one person into the middle of a percentile, with k people
on each side. Both need a condition that holds for the one person whatever their value, and for others
because of theirs, so it reads the column together with another one.

If every condition that reads an aggregated column reads nothing else, then WHERE is a part about values and
a part about people: everybody of whom the second part holds is treated alike by the first, and nobody is in
because of who they are while others are because of what they have. The same goes for FILTER and group keys.

Codes: Q322.

Refused::

    SELECT sum(age) FROM people WHERE age BETWEEN 30 AND 31 OR born = '1950-01-01'

Accepted::

    SELECT sum(age) FROM people WHERE age BETWEEN 30 AND 40 AND born > '1950-01-01'

    SELECT count(*) FROM people WHERE age BETWEEN 30 AND 31 OR born = '1950-01-01'
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.catalog import RelationKind
from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.joins import conjuncts
from kanon_pg.queries.check.plan.levels import Level
from kanon_pg.queries.check.plan.typed import Aggregate, Bound, ColumnRef, Operation, columns_in
from kanon_pg.queries.check.types import MOMENTS, NUMBERS

_COPIES = frozenset({RelationKind.VIEW, RelationKind.MATERIALIZED})


def selected_values(level: Level) -> Iterator[Finding]:
    """Yield a finding for every condition that mixes an aggregated column with other columns."""
    for aggregate in level.aggregates():
        measured = _measured(level, aggregate)
        if not measured:
            continue
        for part in _selecting(level, aggregate):
            read = _atoms(level, part, aggregate.argument)
            if len(read) > 1 and any(_is_measured(level, item, measured) for item in read):
                names = ", ".join(sorted(column.name for column in measured))
                sentence = f"A condition on {names}, which is aggregated, may not read another column."
                hint = "Make it a part of WHERE by itself (AND), or only count."
                yield finding_at("Q322", part, sentence, hint)


def _measured(level: Level, aggregate: Aggregate) -> frozenset[ColumnRef]:
    """Return the columns of people whose values an aggregate tells something about."""
    if aggregate.argument is None or aggregate.function == "count":
        return frozenset()
    found = columns_in(aggregate.argument)
    return frozenset(item for item in found if not level.instances[item.instance - 1].is_personal(item))


def _selecting(level: Level, aggregate: Aggregate) -> Iterator[Bound]:
    conditions = [*level.conditions(), *([aggregate.condition] if aggregate.condition is not None else [])]
    for condition in conditions:
        yield from conjuncts(condition)
    yield from level.keys


def _atoms(level: Level, part: Bound, argument: Bound | None) -> set[Bound]:
    """Return what a condition reads: columns, and the aggregated expression as a whole.

    Whether a LEFT JOIN found a row depends on all that its condition reads, and so do that row's columns.
    """
    found: set[Bound] = set()
    waiting = [part]
    while waiting:
        item = waiting.pop()
        if item in found:
            continue
        if item == argument or isinstance(item, ColumnRef):
            found.add(item)
        if isinstance(item, Operation) and item != argument:
            waiting.extend(item.operands)
        if isinstance(item, ColumnRef):
            condition = level.instances[item.instance - 1].condition
            waiting.extend(() if condition is None or condition == part else (condition,))
    return found


def _is_measured(level: Level, item: Bound, measured: frozenset[ColumnRef]) -> bool:
    return any(column in measured or _is_copy(level, column, measured) for column in columns_in(item))


def _is_copy(level: Level, column: ColumnRef, measured: frozenset[ColumnRef]) -> bool:
    """Tell whether a column of another protected instance may hold the values of an aggregated one."""
    instance = level.instances[column.instance - 1]
    if instance.relation is None or instance.protection is None:
        return False
    others = [item for item in measured if item.instance != column.instance]
    if any(item.name == column.name for item in others):
        return True
    relations = [instance.relation, *(level.instances[item.instance - 1].relation for item in others)]
    is_view = any(relation is not None and relation.kind in _COPIES for relation in relations)
    return bool(others) and is_view and column.type in (*NUMBERS, *MOMENTS)
