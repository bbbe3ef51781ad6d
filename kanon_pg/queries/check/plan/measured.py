"""Which columns of people a figure tells something about, and what conditions read of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kanon_pg.queries.check.catalog import RelationKind
from kanon_pg.queries.check.plan.joins import conjuncts
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.typed import Aggregate, AllowedCall, Bound, ColumnRef, columns_in
from kanon_pg.queries.check.types import MOMENTS, NUMBERS

_COPIES: Final = frozenset({RelationKind.VIEW, RelationKind.MATERIALIZED})
_ORDERED: Final = frozenset({*NUMBERS, *MOMENTS, "time", "interval"})


def measured_columns(level: GroupingLevel, aggregate: Aggregate) -> frozenset[ColumnRef]:
    """Return the columns of people whose values an aggregate tells something about."""
    if aggregate.argument is None or aggregate.function == "count":
        return frozenset()
    found = columns_in(aggregate.argument)
    return frozenset(item for item in found if not level.instances[item.instance - 1].is_personal(item))


def selecting_parts(level: GroupingLevel, aggregate: Aggregate) -> Iterator[Bound]:
    """Yield the conditions that choose the rows of an aggregate, and the keys of their groups."""
    conditions = [*level.conditions(), *([aggregate.condition] if aggregate.condition is not None else [])]
    for condition in conditions:
        yield from conjuncts(condition)
    yield from level.keys


def atoms_of(level: GroupingLevel, part: Bound, argument: Bound | None) -> set[Bound]:
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


def is_measured(level: GroupingLevel, item: Bound, measured: frozenset[ColumnRef]) -> bool:
    """Return whether an expression reads an aggregated column, or one that may hold its values."""
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


def has_order(value: Bound) -> bool:
    """Return whether values are added, or stand in an order: texts and truth values are not."""
    return any(column.type in _ORDERED for column in columns_in(value))
