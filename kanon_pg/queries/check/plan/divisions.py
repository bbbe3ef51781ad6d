"""Cells: the finest sets of rows that the figures of one answer tell apart.

A total, its parts, several FILTERs and columns with NULLs are equations about the same rows. Figures over
sets are sums over the cells into which those sets divide a group, so whatever is added and subtracted is a
combination of the cells' own figures. If every cell has nobody or at least k people, and nobody or at least
k people with a value wherever values may be NULL, no such combination isolates fewer than k people. Looking
at pairs of sets would not do: with A and B apart, the sum over everybody minus those over A and over B is
the sum over who is in neither.

What divides a group:

* every FILTER;
* all group keys, if the answer holds groups by some of them (ROLLUP, CUBE, GROUPING SETS);
* what is known about people in a condition that reads their secrets, too
  (`kanon_pg.queries.check.plan.mixed_conditions`);
* "has a value" for columns with NULLs that are counted by themselves, replaced by COALESCE, or added to
  other columns: ``sum(a)`` and ``sum(a + b)`` differ in the rows where b is NULL.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from kanon_pg.queries.check.plan.levels import Instance, Level
from kanon_pg.queries.check.plan.mixed_conditions import known_conditions, mixed_parts
from kanon_pg.queries.check.plan.typed import Aggregate, Bound, Operation, columns, walk


@dataclass(frozen=True, slots=True)
class Cells:
    """How the rows of a level are divided.

    Parameters
    ----------
    level : Level
        One of the levels over these rows, without mixed parts of its WHERE.
    keys : tuple of Bound
        Group keys of all of them.
    divisions : tuple of Bound
        Conditions that divide groups.
    values : tuple of Bound
        Expressions over rows that may be NULL and are aggregated.
    """

    level: Level
    keys: tuple[Bound, ...]
    divisions: tuple[Bound, ...]
    values: tuple[Bound, ...]


def filters(level: Level) -> tuple[Bound, ...]:
    """Return the different FILTER conditions of a level."""
    conditions = (aggregate.condition for aggregate in level.aggregates())
    return tuple(dict.fromkeys(condition for condition in conditions if condition is not None))


def has_value(operand: Bound) -> Operation:
    """Return the condition that an expression over rows is not NULL."""
    return Operation(
        type="bool", name="not null", template="({0} IS NOT NULL)", operands=(operand,), span=operand.span
    )


def both(first: Bound, second: Bound) -> Operation:
    """Return the condition that two conditions hold."""
    return Operation(
        type="bool", name="and", template="({0} AND {1})", operands=(first, second), span=first.span
    )


def cells_of(levels: tuple[Level, ...]) -> Cells | None:
    """Return the cells of levels over the same rows, or None if every figure is counted without them.

    Parameters
    ----------
    levels : tuple of Level
        The levels of one family.

    Returns
    -------
    Cells or None
        None if one level shows all keys and nothing divides its groups, or a single FILTER over values that
        are never NULL does: that filter and its complement are counted with the groups.
    """
    keys = tuple(dict.fromkeys(key for level in levels for key in level.keys))
    known = known_conditions(levels[0])
    divided = tuple(dict.fromkeys((*known, *(part for level in levels for part in divisions(level)))))
    values = tuple(dict.fromkeys(value for level in levels for value in nullable_values(level)))
    shown = any(len(level.keys) == len(keys) for level in levels)
    if shown and (not divided or (len(divided) == 1 and len(levels) == 1 and not values and not known)):
        return None
    mixed = mixed_parts(levels[0])
    level = replace(levels[0], where=tuple(part for part in levels[0].where if part not in mixed))
    return Cells(level, keys, divided, values)


def divisions(level: Level) -> tuple[Bound, ...]:
    """Return the conditions that divide the groups of a level."""
    found = dict.fromkeys(filters(level))
    for aggregate in level.aggregates():
        found.update(dict.fromkeys(map(has_value, _told_apart(aggregate))))
    return tuple(found)


def _told_apart(aggregate: Aggregate) -> list[Bound]:
    argument = aggregate.argument
    if argument is None:
        return []
    nullable = list(dict.fromkeys(column for column in columns(argument) if column.nullable))
    replaced = any(isinstance(item, Operation) and item.name == "coalesce" for item in walk(argument))
    counted = aggregate.function == "count" and not aggregate.distinct
    several = len(set(columns(argument))) > 1
    return list(nullable) if replaced or counted or several else []


def nullable_values(level: Level) -> tuple[Bound, ...]:
    """Return the arguments of aggregates that may be NULL."""
    arguments = (aggregate.argument for aggregate in level.aggregates())
    return tuple(
        dict.fromkeys(argument for argument in arguments if argument is not None and may_be_null(argument))
    )


def may_be_null(argument: Bound) -> bool:
    """Tell whether a value over rows can be NULL, as far as columns and exact arithmetic show."""
    if not isinstance(argument, Operation):
        return bool(getattr(argument, "nullable", getattr(argument, "text", "") is None))
    if argument.name in {"cast", "+", "-", "*", "neg"} and argument.operands:
        return any(may_be_null(operand) for operand in argument.operands)
    return True


def combinations(conditions: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """Return the conditions of all cells, 2 to the power of the number of conditions that divide."""
    found = []
    for signs in product((True, False), repeat=len(conditions)):
        parts = [part if sign else _not(part) for part, sign in zip(conditions, signs, strict=True)]
        whole = parts[0]
        for part in parts[1:]:
            whole = both(whole, part)
        found.append(whole)
    return tuple(found)


def _not(condition: Bound) -> Operation:
    return Operation(
        type="bool",
        name="is not true",
        template="(({0}) IS NOT TRUE)",
        operands=(condition,),
        span=condition.span,
    )


def minimum(instance: Instance) -> int:
    """Return k of a protected instance."""
    return instance.protection.k if instance.protection is not None else 1
