"""How the figures of one answer divide the rows behind them: cells, and mixed conditions.

Cells are the finest sets of rows that the figures of one answer distinguish.
A total, its parts, several FILTERs and columns with NULLs are equations about the same rows. Figures over
sets are sums over the cells into which those sets divide a group, so whatever is added and subtracted is a
combination of the cells' own figures. If every cell has nobody or at least k people, and nobody or at least
k people with a value wherever values may be NULL, no such combination isolates fewer than k people. Pairs
of sets are not enough: if A and B are disjoint, the sum over everybody minus those over A and over B is the
sum over everybody in neither.

What divides a group:

* every FILTER;
* all group keys, if the answer holds groups by some of them (ROLLUP, CUBE, GROUPING SETS);
* what is known about people in a condition that reads their secrets, too;
* "has a value" for columns with NULLs that are counted by themselves, replaced by COALESCE, or added to
  other columns: ``sum(a)`` and ``sum(a + b)`` differ in the rows where b is NULL.

A condition is *mixed* if it reads sensitive columns and others.
``(<one person> AND ward = 'oncology') OR born < '1950-01-01'`` has many people behind it. But who was born
when is known, so the number of people says whether the one person is one of them: the condition treats them
by their secret, and all others by what is known anyway. A part of WHERE, of a FILTER or of a group key that
reads sensitive columns alone, or none, treats alike everybody whom the other parts leave. What a mixed part
says about people by known columns divides them, and each of these divisions, with the group keys, has to hold
nobody or at least k people, counted before the mixed part of WHERE is applied: so no secret of fewer than k
people enters in a way of its own. Where known and secret columns meet in anything but AND, OR, NOT, CASE and
``||`` there is nothing to count, and the condition is refused (Q323).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

from kanon_pg.queries.check.catalog import ColumnRole
from kanon_pg.queries.check.plan.classes import dividing_expressions, weighed_columns
from kanon_pg.queries.check.plan.joins import conjuncts, determined_columns
from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance
from kanon_pg.queries.check.plan.typed import (
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    columns_in,
    has_value,
    present_column,
    walk,
)

_CONNECTING = frozenset({"and", "or", "not", "is null", "is true", "is false", "case", "||", "cast"})


def mixed_parts(level: GroupingLevel) -> tuple[Bound, ...]:
    """Return the parts of WHERE that are mixed."""
    kinds = ColumnKinds(level)
    return tuple(part for part in level.where if kinds.are_mixed(part))


def known_conditions(level: GroupingLevel) -> tuple[Bound, ...]:
    """Return the conditions on known columns inside all mixed parts of a level.

    Returns
    -------
    tuple of Bound
        Conditions, each as large as it can be without reading a sensitive column.
    """
    kinds = ColumnKinds(level)
    found: dict[Bound, None] = {}
    for part in _selecting(level):
        waiting = [part] if kinds.are_mixed(part) else []
        while waiting:
            item = waiting.pop()
            if kinds.are_mixed(item) and isinstance(item, AllowedCall):
                waiting.extend(item.operands)
            elif item.type == "bool" and "known" in kinds.of(item):
                found[item] = None
    return tuple(found)


def uncountable_mixtures(level: GroupingLevel) -> tuple[Bound, ...]:
    """Return the expressions in which known and sensitive columns meet so that nothing can be counted."""
    kinds = ColumnKinds(level)
    found: dict[Bound, None] = {}
    for instance in level.instances:
        parts = conjuncts(instance.condition) if instance.condition is not None else ()
        found.update((part, None) for part in parts if kinds.are_mixed(part))
    for part in _selecting(level):
        waiting = [part]
        while waiting:
            item = waiting.pop()
            if not isinstance(item, AllowedCall) or not kinds.are_mixed(item):
                continue
            if item.name in _CONNECTING:
                waiting.extend(item.operands)
            else:
                found[item] = None
    return tuple(found)


def _selecting(level: GroupingLevel) -> tuple[Bound, ...]:
    conditions = [
        *level.where,
        *(item.condition for item in level.aggregates() if item.condition is not None),
    ]
    return (*(part for condition in conditions for part in conjuncts(condition)), *level.keys)


class ColumnKinds:
    """Says whether expressions of a level read known columns of people, sensitive ones, or both.

    A public relation or an answer says nothing about people by itself, but which of its rows a person is
    joined with tells the columns that it is joined by. These are found by a fixed point: each round
    passes kinds on over every equality, and there are two kinds.
    """

    def __init__(self, level: GroupingLevel) -> None:
        self._level = level
        self._propagated: dict[int, frozenset[str]] = {}
        links = [
            (own.instance, other)
            for own, other in (determined_columns(level) if len(level.instances) > 1 else ())
        ]
        links += [(item.number, item.condition) for item in level.instances if item.condition is not None]
        links = [(number, read) for number, read in links if self._propagates(number)]
        changed = True
        while changed:
            before = dict(self._propagated)
            for number, read in links:
                self._propagated[number] = self._propagated.get(number, frozenset()) | self.of(read)
            changed = self._propagated != before

    def _propagates(self, number: int) -> bool:
        instance = self._level.instances[number - 1]
        return instance.protection is None or instance.outer

    def are_mixed(self, expression: Bound) -> bool:
        """Return whether an expression reads known columns and sensitive ones."""
        return len(self.of(expression)) > 1

    def are_secret(self, expression: Bound) -> bool:
        """Return whether an expression reads sensitive columns."""
        return "sensitive" in self.of(expression)

    def of(self, expression: Bound) -> frozenset[str]:
        """Return ``known`` and ``sensitive`` as they are read."""
        return frozenset[str]().union(*map(self._of_column, columns_in(expression)))

    def _of_column(self, column: ColumnRef) -> frozenset[str]:
        instance = self._level.instances[column.instance - 1]
        propagated = self._propagated.get(instance.number, frozenset())
        if instance.relation is None or instance.protection is None or instance.is_personal(column):
            return propagated
        found = instance.relation.column(column.name)
        kind = "sensitive" if found is not None and found.role is ColumnRole.SENSITIVE else "known"
        return propagated | {kind}


@dataclass(frozen=True, slots=True)
class Cells:
    """How the rows of a level are divided.

    Parameters
    ----------
    level : GroupingLevel
        One of the levels over these rows, without mixed parts of its WHERE.
    keys : tuple of Bound
        Group keys of all of them.
    divisions : tuple of Bound
        Conditions that divide groups.
    values : tuple of Bound
        Expressions over rows that may be NULL and are aggregated.
    """

    level: GroupingLevel
    keys: tuple[Bound, ...]
    divisions: tuple[Bound, ...]
    values: tuple[Bound, ...]


def filters(level: GroupingLevel) -> tuple[Bound, ...]:
    """Return the different FILTER conditions of a level."""
    conditions = (aggregate.condition for aggregate in level.aggregates())
    return tuple(dict.fromkeys(condition for condition in conditions if condition is not None))


def conjoin(first: Bound, second: Bound) -> AllowedCall:
    """Return the condition that two conditions hold."""
    return AllowedCall(
        type="bool", name="and", template="({0} AND {1})", operands=(first, second), span=first.span
    )


def cells_of(levels: tuple[GroupingLevel, ...]) -> Cells | None:
    """Return the cells of levels over the same rows, or None if every figure is counted without them.

    Returns
    -------
    Cells or None
        None if one level shows all keys and nothing divides its groups, or a single FILTER over values that
        are never NULL does: that filter and its complement are counted with the groups.
    """
    keys = tuple(dict.fromkeys(key for level in levels for key in level.keys))
    known = tuple(dict.fromkeys(part for level in levels for part in known_conditions(level)))
    divided = tuple(dict.fromkeys((*known, *(part for level in levels for part in divisions(level)))))
    values = tuple(dict.fromkeys(value for level in levels for value in nullable_values(level)))
    shown = any(len(level.keys) == len(keys) for level in levels)
    if shown and (not divided or (len(divided) == 1 and len(levels) == 1 and not values and not known)):
        return None
    mixed = mixed_parts(levels[0])
    level = replace(levels[0], where=tuple(part for part in levels[0].where if part not in mixed))
    return Cells(level, keys, divided, values)


def divisions(level: GroupingLevel) -> tuple[Bound, ...]:
    """Return the conditions that divide the groups of a level."""
    found = dict.fromkeys(filters(level))
    for aggregate in level.aggregates():
        found.update(
            dict.fromkeys(
                map(has_value, _dividing_columns(aggregate, dividing_expressions(level, aggregate)))
            )
        )
    return tuple(found)


def _dividing_columns(aggregate: Aggregate, classes: tuple[Bound, ...]) -> list[Bound]:
    argument = aggregate.argument
    if argument is None:
        return []
    # where a class has no value is a class, too
    read = weighed_columns(aggregate, classes) if classes else columns_in(argument)
    nullable = list(dict.fromkeys(column for column in read if column.nullable))
    replaced = any(isinstance(item, AllowedCall) and item.name == "coalesce" for item in walk(argument))
    counted = aggregate.function == "count" and not aggregate.distinct
    several = len(set(read)) > 1
    return list(nullable) if replaced or counted or several else []


def nullable_values(level: GroupingLevel) -> tuple[Bound, ...]:
    """Return the arguments of aggregates that may be NULL."""
    arguments = (aggregate.argument for aggregate in level.aggregates())
    return tuple(
        dict.fromkeys(argument for argument in arguments if argument is not None and may_be_null(argument))
    )


def may_be_null(argument: Bound) -> bool:
    """Return whether a value over rows can be NULL, as far as columns and exact arithmetic show."""
    if not isinstance(argument, AllowedCall):
        return bool(getattr(argument, "nullable", getattr(argument, "text", "") is None))
    if argument.name in {"cast", "+", "-", "*", "neg"} and argument.operands:
        return any(may_be_null(operand) for operand in argument.operands)
    return True


def cell_conditions(conditions: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """Return the conditions of all cells, 2 to the power of the number of conditions that divide."""
    found = []
    for signs in product((True, False), repeat=len(conditions)):
        parts = [part if sign else negation(part) for part, sign in zip(conditions, signs, strict=True)]
        found.append(reduce(conjoin, parts))
    return tuple(found)


def negation(condition: Bound) -> AllowedCall:
    """Return the condition that another one is false or unknown."""
    name, template, of = "is not true", "(({0}) IS NOT TRUE)", condition
    column = present_column(condition)
    if column is not None:
        # the server tests it faster; of a pair with one value neither IS NULL nor IS NOT NULL is true
        name, template, of = "is null", "({0} IS NULL)", column
    return AllowedCall(type="bool", name=name, template=template, operands=(of,), span=condition.span)


def k_of(instance: Instance) -> int:
    """Return k of a protected instance."""
    return instance.protection.k if instance.protection is not None else 1
