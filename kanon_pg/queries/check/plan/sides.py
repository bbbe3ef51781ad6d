"""What lies on either side of a range of an aggregated column.

``sum(cost) WHERE cost > 0`` is the sum of everybody's costs, whatever the number of those who have none. So
the sum of all, less ``sum(cost) WHERE cost BETWEEN 1 AND 90000``, is the cost of the one person above: those
who have none hide that it is one. What a condition says of values need not be zero, because a sum of
``cost - 500`` makes it so, and a narrow range will do: whose values a range tells may not count as company
for others.

Therefore a range on an aggregated column divides the people whom everything else chooses into those below,
within and above. They are groups of a level that nobody sees, counted and handed to the ledger as if the
query returned their figures: then whatever is added and subtracted is about k people on one side of a limit.
People without a value are on no side. Where neighbors know everything that a query reads of people, there is
nothing to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from kanon_pg.queries.check.catalog import ColumnRole
from kanon_pg.queries.check.plan.aggregates import is_spread
from kanon_pg.queries.check.plan.classes import dividing_expressions
from kanon_pg.queries.check.plan.joins import conjuncts
from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance, Output
from kanon_pg.queries.check.plan.measured import atoms_of, has_order, is_measured, measured_columns
from kanon_pg.queries.check.plan.sums import duration
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, ColumnRef, columns_in, has_value

_LIMITS: Final = frozenset({"<", "<=", ">", ">="})
_POINTS: Final = frozenset({"=", "<>", "is distinct from", "is not distinct from"})
_CONNECTED: Final = frozenset({"and", "or", "not", "is true", "is false"})


def levels_of_sides(level: GroupingLevel, number: Callable[[], int]) -> tuple[GroupingLevel, ...]:
    """Return a level of groups for each column, or expression, that is aggregated and limited.

    Parameters
    ----------
    number : callable
        Returns the number of a new level within the query.
    """
    if not level.protected() or _is_known(level):
        return ()
    found: dict[Bound, dict[Bound, None]] = {}
    for aggregate in level.aggregates():
        measured = measured_columns(level, aggregate)
        argument = aggregate.argument
        if not measured or argument is None or dividing_expressions(level, aggregate) == (argument,):
            continue
        value = duration(argument) or argument
        own = () if aggregate.condition is None else conjuncts(aggregate.condition)
        for part in (*level.where, *own, *level.keys):
            read = atoms_of(level, part, value)
            item = next(iter(read)) if len(read) == 1 else None
            if item is None or not has_order(item) or not is_measured(level, item, measured):
                continue
            limits = tuple(_points(part) if part in level.keys else _limits(part))
            others = tuple(_is_true(one) for one in own if one != part) if part in own else ()
            found.setdefault(item, {}).update(dict.fromkeys((*limits, *others)))
    return tuple(
        _divided(level, item, keys, number())
        for item, keys in found.items()
        if keys and not _are_filters(level, keys)
    )


def _is_known(level: GroupingLevel) -> bool:
    """Return whether neighbors know all that a level reads of people."""
    if len(level.protected()) > 1:
        # who has rows in several tables is not
        return False
    columns = {column for part in level.row_expressions() for column in columns_in(part)}
    return all(_is_known_column(level.instances[column.instance - 1], column) for column in columns)


def _is_known_column(instance: Instance, column: ColumnRef) -> bool:
    if instance.protection is None:
        return instance.plan is None
    found = instance.relation.column(column.name) if instance.relation is not None else None
    return instance.is_personal(column) or (found is not None and found.role is ColumnRole.QUASI_IDENTIFIER)


def _are_filters(level: GroupingLevel, keys: dict[Bound, None]) -> bool:
    """Return whether limits are whole FILTERs, which divide the groups anyway (`plan.divisions`)."""
    filters = {_is_true(item.condition) for item in level.aggregates() if item.condition is not None}
    selecting = {limit for part in level.where for limit in _limits(part)}
    return keys.keys() <= filters and keys.keys().isdisjoint(selecting)


def _divided(level: GroupingLevel, item: Bound, keys: dict[Bound, None], number: int) -> GroupingLevel:
    """Return a level without the limits of an expression, and with the sides of these as groups."""
    where = [part for part in level.where if atoms_of(level, part, item) != {item} or not any(_limits(part))]
    if not (isinstance(item, ColumnRef) and not item.nullable):
        where.append(has_value(item))
    spreads = [aggregate for aggregate in level.aggregates() if is_spread(aggregate)]
    return replace(
        level,
        number=number,
        family=number,
        where=tuple(where),
        keys=tuple(dict.fromkeys((*level.keys, *keys))),
        outputs=tuple(Output("", replace(aggregate, condition=None)) for aggregate in spreads),
        having=None,
        sorting=(),
        repeated=False,
    )


def _limits(part: Bound) -> Iterator[AllowedCall]:
    """Yield the limits of a condition, each a condition that one side of it meets."""
    if not isinstance(part, AllowedCall):
        return
    if part.name in _CONNECTED or all(operand.type == "bool" for operand in part.operands):
        for operand in part.operands:
            yield from _limits(operand)
    elif part.name in _LIMITS:
        yield _is_true(part)
    elif part.name == "between":
        first, low, high = part.operands
        yield from (_compared(">=", first, low), _compared("<=", first, high))
    else:
        yield from _points(part)


def _points(part: Bound) -> Iterator[AllowedCall]:
    """Yield the limits around a value that a condition takes or leaves out alone."""
    if isinstance(part, AllowedCall) and part.name in {*_POINTS, "in"}:
        first, second, *_ = part.operands
        yield from (_compared(operator, first, second) for operator in ("<", "<="))


def _compared(operator: str, left: Bound, right: Bound) -> AllowedCall:
    template = f"({{0}} OPERATOR(pg_catalog.{operator}) {{1}})"
    span = left.span
    return _is_true(
        AllowedCall(type="bool", name=operator, template=template, operands=(left, right), span=span)
    )


def _is_true(condition: Bound) -> AllowedCall:
    return AllowedCall(
        type="bool", name="is true", template="({0} IS TRUE)", operands=(condition,), span=condition.span
    )
