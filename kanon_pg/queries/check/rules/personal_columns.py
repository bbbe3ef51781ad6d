"""Identifiers are not shown, grouped or compared; withheld columns are not used at all.

Codes: Q300, Q301.

Refused::

    SELECT name, count(*) FROM people GROUP BY name

    SELECT count(*) FROM people WHERE id = 7

    SELECT note, count(*) FROM people GROUP BY note

Accepted::

    SELECT city, count(DISTINCT id) FROM people GROUP BY city

    SELECT p.city, count(DISTINCT p.id) FROM people p JOIN orders o ON o.buyer = p.id GROUP BY p.city
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.catalog import ColumnRole
from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.joins import conjuncts, plain_column
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.typed import Aggregate, AllowedCall, Bound, ColumnRef, columns_in


def personal_columns(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every use of a column that names a person or is withheld.

    Identifiers of two protected relations may be equated with each other (a join), and the people of a
    relation may be counted.
    """
    for expression in _inspected(level):
        for column in columns_in(expression):
            yield from _column(level, column)


def _inspected(level: GroupingLevel) -> Iterator[Bound]:
    for condition in level.conditions():
        yield from (part for part in conjuncts(condition) if not _is_key_join(level, part))
    yield from level.keys
    for aggregate in level.aggregates():
        if aggregate.condition is not None:
            yield aggregate.condition
        if aggregate.argument is not None and not _counts_people(level, aggregate):
            yield aggregate.argument


def _is_key_join(level: GroupingLevel, part: Bound) -> bool:
    if not isinstance(part, AllowedCall) or part.name != "=":
        return False
    left, right = (plain_column(operand) for operand in part.operands)
    if left is None or right is None or left.instance == right.instance:
        return False
    return _is_personal(level, left) and _is_personal(level, right)


def _counts_people(level: GroupingLevel, aggregate: Aggregate) -> bool:
    argument = aggregate.argument
    if aggregate.function != "count" or not isinstance(argument, ColumnRef):
        return False
    protection = level.instances[argument.instance - 1].protection
    return protection is not None and protection.entity == argument.name


def _is_personal(level: GroupingLevel, column: ColumnRef) -> bool:
    return level.instances[column.instance - 1].is_personal(column)


def _column(level: GroupingLevel, column: ColumnRef) -> Iterator[Finding]:
    instance = level.instances[column.instance - 1]
    if instance.relation is None or instance.protection is None:
        return
    found = instance.relation.column(column.name)
    if instance.is_personal(column):
        sentence = f"{column.name} names people: it cannot be shown, grouped or compared."
        person = instance.protection.entity
        people = "count(*)" if person is None else f"count(DISTINCT {person})"
        hint = f"Leave it out, count people: {people}; or join what it is compared with, by it alone."
        yield finding_at("Q300", column, sentence, hint)
    elif found is None or found.role is ColumnRole.WITHHELD:
        sentence = f"{column.name} was not declared and cannot be used."
        yield finding_at("Q301", column, sentence, "Ask its curator to declare it.")
