"""Means over people: ``SELECT avg(n) FROM (SELECT person, count(*) AS n FROM ... GROUP BY person)``.

The inner query has a row for each person, which nobody may see, not even as the input of another level.
But the mean of the people's counts is the number of rows divided by the number of people, and their sum
is the number of rows: figures of one level over the table itself. So the query is rewritten to those,
and everything that holds for them holds for it. What is not such an identity is left as it is, and refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kanon_pg.queries.check.bind.sources import CommonTables
from kanon_pg.queries.check.catalog import CatalogSnapshot, Relation
from kanon_pg.queries.check.read.syntax import (
    Apply,
    Call,
    Case,
    Cast,
    Expression,
    Name,
    NamedTable,
    Query,
    Select,
    Subquery,
    is_aggregate,
)
from kanon_pg.queries.check.types import FLOATS, NUMBERS


@dataclass(frozen=True, slots=True)
class _Persons:
    """An inner query with a row for each person.

    Parameters
    ----------
    alias : str
        Its name in the outer one.
    person : Name
        The column that identifies a person.
    figures : dict
        What ``count`` and ``sum`` of the inner query are called.
    floats : frozenset of str
        Names of figures that are floating point numbers.
    """

    select: Select
    alias: str
    person: Name
    figures: dict[str, Call]
    floats: frozenset[str]


def per_person(select: Select, environment: CommonTables, snapshot: CatalogSnapshot) -> Select | None:
    """Return a query about people's counts and sums as a query about the table, or None."""
    if len(select.sources) != 1 or select.where is not None or select.distinct:
        return None
    if select.group or select.sets or select.having is not None:
        return None
    persons = _persons(select, environment, snapshot)
    if persons is None:
        return None
    items = []
    for item in select.items:
        expression = _outside(item.expression, persons)
        if expression is None:
            return None
        items.append(replace(item, expression=expression, alias=item.name))
    return replace(select, items=tuple(items), sources=persons.select.sources, where=persons.select.where)


def _persons(select: Select, environment: CommonTables, snapshot: CatalogSnapshot) -> _Persons | None:
    source = select.sources[0].source
    if isinstance(source, Subquery):
        query, inner, alias = source.query, environment, source.alias
    elif source.schema is None and source.name in environment.tables:
        query, inner = environment.tables[source.name]
        alias = source.alias or source.name
    else:
        return None
    found = _single(query)
    if found is None:
        return None
    table = found.sources[0].source
    if not isinstance(table, NamedTable) or (table.schema is None and table.name in inner.tables):
        return None
    relation = snapshot.find(table.schema, table.name)
    person = found.group[0]
    if relation is None or not isinstance(person, Name) or not _identifies(person, relation):
        return None
    return _with_figures(found, alias, person, relation)


def _single(query: Query) -> Select | None:
    """Return the only SELECT of a query that reads one table and groups by one key, or None."""
    if len(query.branches) != 1 or query.tables or query.order:
        return None
    if query.limit is not None or query.offset is not None:
        return None
    select = query.branches[0]
    if not isinstance(select, Select) or select.distinct or select.sets or select.having is not None:
        return None
    return select if len(select.sources) == 1 and len(select.group) == 1 else None


def _identifies(person: Name, relation: Relation) -> bool:
    protection = relation.protection
    if protection is None or protection.entity != person.parts[-1]:
        return False
    column = relation.column(protection.entity)
    return column is not None and not column.nullable


def _with_figures(select: Select, alias: str, person: Name, relation: Relation) -> _Persons | None:
    figures: dict[str, Call] = {}
    floats = set()
    for item in select.items:
        expression = item.expression
        if expression == person:
            continue
        if not isinstance(expression, Call) or item.name in figures:
            return None
        kind = _type(expression, relation)
        if kind is None:
            return None
        figures[item.name] = expression
        if kind in FLOATS:
            floats.add(item.name)
    return _Persons(select, alias, person, figures, frozenset(floats))


def _type(call: Call, relation: Relation) -> str | None:
    """Return the type of a figure that every person has: a number of rows, or a sum without NULL."""
    if call.distinct or call.condition is not None or call.within is not None:
        return None
    if call.function == "count" and call.star:
        return "int8"
    if call.function != "sum" or len(call.arguments) != 1 or not isinstance(call.arguments[0], Name):
        return None
    column = relation.column(call.arguments[0].parts[-1])
    if column is None or column.nullable or column.type_name not in NUMBERS:
        return None
    return column.type_name


def _outside(expression: Expression, persons: _Persons) -> Expression | None:
    """Return an output of the outer query over the table's rows, None if it is no identity."""
    if isinstance(expression, Call) and is_aggregate(expression.function):
        return _figure(expression, persons)
    if isinstance(expression, Apply):
        operands = [_outside(operand, persons) for operand in expression.operands]
        found = tuple(operand for operand in operands if operand is not None)
        return replace(expression, operands=found) if len(found) == len(operands) else None
    if isinstance(expression, Cast):
        operand = _outside(expression.operand, persons)
        return replace(expression, operand=operand) if operand is not None else None
    if isinstance(expression, Call):
        arguments = [_outside(argument, persons) for argument in expression.arguments]
        given = tuple(argument for argument in arguments if argument is not None)
        return replace(expression, arguments=given) if len(given) == len(arguments) else None
    return None if isinstance(expression, Name | Case) else expression


def _figure(call: Call, persons: _Persons) -> Expression | None:
    if call.distinct or call.condition is not None or call.within is not None:
        return None
    people = Call(span=call.span, function="count", arguments=(persons.person,), distinct=True)
    if call.function == "count" and call.star:
        return people
    name = _figure_name(call, persons)
    if name is None:
        return None
    figure = replace(persons.figures[name], span=call.span)
    exact = figure if name in persons.floats else Cast(span=call.span, operand=figure, type_name="numeric")
    mean = Apply(span=call.span, operator="/", operands=(exact, people))
    rewritten: dict[str, Expression] = {"count": people, "sum": figure, "avg": mean}
    return rewritten.get(call.function)


def _figure_name(call: Call, persons: _Persons) -> str | None:
    if len(call.arguments) != 1 or not isinstance(call.arguments[0], Name):
        return None
    *table, name = call.arguments[0].parts
    return name if name in persons.figures and table in ([], [persons.alias]) else None
