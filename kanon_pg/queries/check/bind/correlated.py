"""Conditions that look up something for each row in another query, written as joins.

    WHERE customer_id IN (SELECT customer_id FROM orders WHERE channel = 'store')

compares people by what names them, which only a join may do. So it becomes a join with these rows of people:
of the row that each person has, or, in a query that counts people, of any number of them, where ``count(*)``
of a table with one row for each person becomes ``count(DISTINCT customer_id)``. EXISTS is read as such a
condition (`read.correlation`).

    WHERE e.salary > (SELECT avg(x.salary) FROM employees x WHERE x.grade = e.grade)

becomes a join with the means of all grades, which is a level of its own, whose groups are counted. In a grade
without rows the value is NULL, the comparison does not hold, and the join finds no partner.

Nothing is allowed here that would not be if it were written so. What is not such a condition is left as it
is, and refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kanon_pg.queries.check.bind.sources import CommonTables
from kanon_pg.queries.check.catalog import CatalogSnapshot, Relation
from kanon_pg.queries.check.functions import PAIRS_COUNT
from kanon_pg.queries.check.read.correlation import (
    correlation,
    joined_by_and,
    single_select,
    written_conjuncts,
)
from kanon_pg.queries.check.read.syntax import (
    Apply,
    Call,
    Case,
    Cast,
    Expression,
    InQuery,
    Join,
    Name,
    NamedTable,
    OrderItem,
    OutputItem,
    Query,
    ScalarQuery,
    Select,
    Star,
    Subquery,
    Windowed,
    holds_aggregate,
    is_aggregate,
    subexpressions,
)

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_STRICT = frozenset({"+", "-", "*", "/", "neg"})


@dataclass(frozen=True, slots=True)
class _Joined:
    """A SELECT with one more join, and what is left of the condition that it stands for."""

    select: Select
    order: tuple[OrderItem, ...]
    condition: Expression | None


def correlated(
    select: Select, order: tuple[OrderItem, ...], environment: CommonTables, snapshot: CatalogSnapshot
) -> tuple[Select, tuple[OrderItem, ...]]:
    """Return a SELECT, and its ORDER BY, with joins in place of conditions that look up something."""
    if select.where is None or any(isinstance(item.expression, Star) for item in select.items):
        return select, order
    names = _Names(select.sources, environment, snapshot)
    kept: list[Expression] = []
    for part in written_conjuncts(select.where):
        joined = (
            _with_people(part, select, order, names)
            if isinstance(part, InQuery)
            else _with_groups(part, select, order)
        )
        if joined is None:
            kept.append(part)
            continue
        select, order = joined.select, joined.order
        kept += [joined.condition] if joined.condition is not None else []
    return replace(select, where=joined_by_and(kept)), order


@dataclass(frozen=True, slots=True)
class _Names:
    """What names of people mean in FROM of a SELECT as it is written."""

    sources: tuple[Join, ...]
    environment: CommonTables
    snapshot: CatalogSnapshot

    def person(self, name: Expression) -> Relation | None:
        """Return the protected relation whose people a name identifies, None if that is not certain."""
        if not isinstance(name, Name):
            return None
        *table, column = name.parts
        relations = [self._relation(join) for join in self.sources]
        if table:
            named = zip(self.sources, relations, strict=True)
            relations = [relation for join, relation in named if _is_called(join, table)]
        found = [item for item in relations if item is not None and item.column(column) is not None]
        if len(found) != 1 or (None in relations and not table):
            return None
        protection = found[0].protection
        return found[0] if protection is not None and protection.entity == column else None

    def _relation(self, join: Join) -> Relation | None:
        source = join.source
        if not isinstance(source, NamedTable):
            return None
        if source.schema is None and source.name in self.environment.tables:
            return None
        return self.snapshot.find(source.schema, source.name)


def _is_called(join: Join, table: list[str]) -> bool:
    source = join.source
    if isinstance(source, NamedTable) and source.alias is None:
        return table in ([source.name], [source.schema, source.name])
    return table == [source.alias]


def _with_people(
    part: InQuery, select: Select, order: tuple[OrderItem, ...], names: _Names
) -> _Joined | None:
    """Join the rows of people after IN, if that selects rows and repeats none that counts."""
    inner = single_select(part.query)
    outside = names.person(part.value)
    if inner is None or outside is None or len(inner.items) != 1 or not isinstance(part.value, Name):
        return None
    member = inner.items[0].expression
    inside = _Names(inner.sources, names.environment, names.snapshot).person(member)
    if inside is None:
        return None
    if len(inner.sources) > 1 or not _has_one_row(inside):
        alone = len(names.sources) == 1 and _is_grouped(select)
        counted = _counting_people(select, order, part.value) if alone else None
        # a count of rows is one of people only where each has one
        if counted is None or not (_has_one_row(outside) or counted == (select, order)):
            return None
        select, order = counted
    alias = f"kanon_people_{len(select.sources)}"
    item = OutputItem(span=part.span, expression=member, alias="kanon_person")
    key = Name(span=part.span, parts=(alias, "kanon_person"))
    equal = Apply(span=part.span, operator="=", operands=(key, part.value))
    rows = replace(inner, items=(item,), distinct=False)
    return _Joined(_joined_with(select, rows, alias, equal), order, None)


def _joined_with(select: Select, rows: Select, alias: str, condition: Expression | None) -> Select:
    span = rows.span
    source = Subquery(span=span, query=Query(span=span, branches=(rows,)), alias=alias)
    join = Join(span=span, kind="inner", source=source, condition=condition)
    return replace(select, sources=(*select.sources, join))


def _has_one_row(relation: Relation) -> bool:
    """Return whether every person has one row at most."""
    protection = relation.protection
    entity = protection.entity if protection is not None else None
    return entity is not None and frozenset({entity}) in relation.unique_keys


def _is_grouped(select: Select) -> bool:
    grouped = select.distinct or select.group or select.sets or select.having is not None
    return bool(grouped) or any(holds_aggregate(item.expression) for item in select.items)


def _counting_people(
    select: Select, order: tuple[OrderItem, ...], person: Name
) -> tuple[Select, tuple[OrderItem, ...]] | None:
    """Return a query whose figures stay the same where rows of a person are repeated, None if some do not."""
    having = () if select.having is None else (select.having,)
    sorting = tuple(item.expression for item in order)
    items = tuple(item.expression for item in select.items)
    found = _all_of_people((*items, *sorting, *having), person)
    if found is None:
        return None
    sorted_by = found[len(items) :]
    return (
        replace(
            select,
            items=tuple(
                replace(item, expression=one) for item, one in zip(select.items, found, strict=False)
            ),
            having=found[-1] if having else None,
        ),
        tuple(replace(item, expression=one) for item, one in zip(order, sorted_by, strict=False)),
    )


def _of_people(expression: Expression, person: Name) -> Expression | None:
    if isinstance(expression, Call) and is_aggregate(expression.function):
        return _count_of_people(expression, person)
    if isinstance(expression, Case):
        return None if holds_aggregate(expression) else expression
    parts = tuple(subexpressions(expression))
    found = _all_of_people(parts, person)
    if found is None or isinstance(expression, Windowed):
        return None
    if isinstance(expression, Cast):
        return replace(expression, operand=found[0])
    if isinstance(expression, Apply):
        return replace(expression, operands=found)
    return replace(expression, arguments=found) if isinstance(expression, Call) else expression


def _all_of_people(expressions: tuple[Expression, ...], person: Name) -> tuple[Expression, ...] | None:
    found = tuple(item for item in (_of_people(one, person) for one in expressions) if item is not None)
    return found if len(found) == len(expressions) else None


def _count_of_people(call: Call, person: Name) -> Call | None:
    if call.distinct and call.function == "count":
        return call
    if call.function != "count" or not (call.star or call.arguments == (person,)):
        return None
    return replace(call, star=False, arguments=(person,), distinct=True)


def _with_groups(part: Expression, select: Select, order: tuple[OrderItem, ...]) -> _Joined | None:
    """Join the groups of a query that a comparison reads for each row."""
    if not isinstance(part, Apply) or part.operator not in _COMPARISONS:
        return None
    scalars = [item for item in part.operands if isinstance(item, ScalarQuery)]
    inner = single_select(scalars[0].query) if len(scalars) == 1 else None
    if inner is None or inner.distinct or len(inner.items) != 1:
        return None
    found = correlation(inner)
    figure = inner.items[0].expression
    if not found.equalities or not _is_null_without_rows(figure):
        return None
    alias = f"kanon_groups_{len(select.sources)}"
    items = [OutputItem(span=part.span, expression=figure, alias="kanon_figure")]
    equal: list[Expression] = []
    for place, (own, row) in enumerate(found.equalities):
        items.append(OutputItem(span=own.span, expression=own, alias=f"kanon_key_{place}"))
        key = Name(span=own.span, parts=(alias, f"kanon_key_{place}"))
        equal.append(Apply(span=own.span, operator="=", operands=(key, row)))
    keys = tuple(dict.fromkeys(own for own, _ in found.equalities))
    groups = replace(found.select, items=tuple(items), group=keys)
    column = Name(span=part.span, parts=(alias, "kanon_figure"))
    operands = tuple(column if item is scalars[0] else item for item in part.operands)
    joined = _joined_with(select, groups, alias, joined_by_and(equal))
    return _Joined(joined, order, replace(part, operands=operands))


def _is_null_without_rows(figure: Expression) -> bool:
    """Return whether an expression over aggregates is NULL for no rows, as in a join that finds none."""
    if isinstance(figure, Call) and is_aggregate(figure.function):
        return figure.function not in {"count", PAIRS_COUNT}
    if isinstance(figure, Cast):
        return _is_null_without_rows(figure.operand)
    if isinstance(figure, Apply) and figure.operator in _STRICT:
        return any(map(_is_null_without_rows, figure.operands))
    return False
