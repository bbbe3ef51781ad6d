"""Groups with their people, also those without: ``FROM wards w LEFT JOIN stays s ON ... GROUP BY w.ward``.

A row without people has no place in a level that counts people. But groups of a public table are public,
and the figures of those in which there is somebody are the answer of an inner join. So the query is
rewritten to

    SELECT ... FROM (SELECT DISTINCT keys FROM wards) g LEFT JOIN (SELECT keys, figures FROM wards JOIN stays
        ... GROUP BY keys) n ON g.keys = n.keys

in which a count that is missing is 0. That a group has nobody is said by its absence, too.

Of people LEFT JOINed to rows of theirs, ``FROM patients p LEFT JOIN visits v ON ... GROUP BY p.ward``, both
parts are answers about people: numbers of different people on the left, which no partner repeats, and figures
of those who have partners. They are parts of one query, so that those without are nobody or enough.
What is not such a query, with figures that pass over rows without a partner, is left as it is, and refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kanon_pg.queries.check.bind.sources import CommonTables
from kanon_pg.queries.check.catalog import CatalogSnapshot, Relation
from kanon_pg.queries.check.findings import Span
from kanon_pg.queries.check.read.syntax import (
    Apply,
    Call,
    Case,
    Cast,
    Constant,
    Expression,
    Interval,
    Join,
    Name,
    NamedTable,
    OrderItem,
    OutputItem,
    Query,
    Select,
    Subquery,
    is_aggregate,
    subexpressions,
)

_STRICT = frozenset({"+", "-", "*", "/", "neg"})


@dataclass(frozen=True, slots=True)
class _NamedRelation:
    """A relation of FROM with the names that it has there."""

    names: frozenset[tuple[str, ...]]
    relation: Relation


@dataclass(slots=True)
class _GroupRewriting:
    """What expressions over the groups become.

    Parameters
    ----------
    left : tuple of _NamedRelation
        The tables before LEFT JOIN.
    joined : _NamedRelation
        The protected one after it.
    keys : tuple of Name
        Group keys, each a column of a table on the left.
    figures : dict
        Names of the aggregates over rows with a partner.
    people : dict
        Names of the numbers of different people on the left.
    """

    left: tuple[_NamedRelation, ...]
    joined: _NamedRelation
    merged: frozenset[str]
    keys: tuple[Name, ...]
    figures: dict[Call, str] = field(default_factory=dict)
    people: dict[Call, str] = field(default_factory=dict)

    def of(self, expression: Expression) -> Expression | None:
        """Return an expression over the groups in terms of the rewritten query; None if there is none."""
        if isinstance(expression, Name):
            place = self._place(expression)
            return None if place is None else _column(expression.span, "g", f"k{place}")
        if isinstance(expression, Call) and is_aggregate(expression.function):
            return self._figure(expression)
        return expression if isinstance(expression, Constant | Interval) else self._composed(expression)

    def _composed(self, expression: Expression) -> Expression | None:
        if isinstance(expression, Cast):
            operand = self.of(expression.operand)
            return None if operand is None else replace(expression, operand=operand)
        if isinstance(expression, Apply):
            operands = self._all(expression.operands)
            return None if operands is None else replace(expression, operands=operands)
        if isinstance(expression, Call) and not (expression.condition or expression.within):
            arguments = self._all(expression.arguments)
            return None if arguments is None else replace(expression, arguments=arguments)
        return self._case(expression) if isinstance(expression, Case) else None

    def _case(self, case: Case) -> Case | None:
        parts = self._all(tuple(subexpressions(case)))
        if parts is None:
            return None
        pairs = zip(parts[: 2 * len(case.branches) : 2], parts[1 : 2 * len(case.branches) : 2], strict=True)
        return replace(case, branches=tuple(pairs), default=parts[-1] if case.default is not None else None)

    def _all(self, expressions: tuple[Expression, ...]) -> tuple[Expression, ...] | None:
        found = tuple(item for item in map(self.of, expressions) if item is not None)
        return found if len(found) == len(expressions) else None

    def _place(self, name: Name) -> int | None:
        own = self.column(name)
        places = [place for place, key in enumerate(self.keys) if self.column(key) == own]
        return places[0] if own is not None and places else None

    def _figure(self, call: Call) -> Expression | None:
        taken = call.within.expression if call.within is not None else None
        if taken is None and len(call.arguments) == 1 and not call.star:
            taken = call.arguments[0]
        if taken is not None and self._counts_people(call, taken):
            return _column(call.span, "g", self.people.setdefault(call, f"p{len(self.people)}"))
        if taken is None or not self._is_null_without_partner(taken):
            return None
        name = self.figures.setdefault(call, f"a{len(self.figures)}")
        column = _column(call.span, "n", name)
        if call.function != "count":
            return column
        zero = Constant(span=call.span, kind="number", text="0")
        return Call(span=call.span, function="coalesce", arguments=(column, zero))

    def _counts_people(self, call: Call, taken: Expression) -> bool:
        """Return whether a figure counts different people on the left, however often a join repeats them."""
        column = self.column(taken) if isinstance(taken, Name) else None
        protection = column[0].relation.protection if column is not None else None
        if column is None or column[0] is self.joined or protection is None:
            return False
        plain = call.function == "count" and call.distinct and call.condition is None
        return plain and protection.entity == column[1]

    def _is_null_without_partner(self, expression: Expression) -> bool:
        """Return whether an expression over rows is NULL in a row without people."""
        if isinstance(expression, Name):
            column = self.column(expression)
            return column is not None and column[0] is self.joined
        if isinstance(expression, Cast):
            return self._is_null_without_partner(expression.operand)
        if isinstance(expression, Apply) and expression.operator in _STRICT:
            return any(map(self._is_null_without_partner, expression.operands))
        return False

    def is_left(self, expression: Expression) -> bool:
        """Return whether an expression over rows reads tables on the left only."""
        if isinstance(expression, Name):
            column = self.column(expression)
            return column is not None and column[0] is not self.joined
        parts = tuple(subexpressions(expression))
        known = isinstance(expression, Constant | Apply | Cast | Interval)
        return known and all(map(self.is_left, parts))

    def column(self, name: Name) -> tuple[_NamedRelation, str] | None:
        """Return the source and the column that a name means, None if that is not certain."""
        *table, column = name.parts
        sources = [item for item in (*self.left, self.joined) if item.relation.column(column)]
        if table:
            sources = [item for item in sources if tuple(table) in item.names]
        elif column in self.merged:
            sources = [item for item in sources if item is not self.joined]
        return (sources[0], column) if len(sources) == 1 else None


def empty_groups(
    select: Select, order: tuple[OrderItem, ...], environment: CommonTables, snapshot: CatalogSnapshot
) -> tuple[Select, tuple[OrderItem, ...]] | None:
    """Return a query of a table LEFT JOINed to people as a join of two answers, or None."""
    left = any(join.kind == "left" for join in select.sources)
    rewriting = _matched(select, environment, snapshot) if left else None
    if rewriting is None or not all(map(_is_never_null(rewriting), rewriting.keys)):
        return None
    if select.where is not None and not rewriting.is_left(select.where):
        return None
    return _rewritten(select, order, rewriting)


def _matched(select: Select, environment: CommonTables, snapshot: CatalogSnapshot) -> _GroupRewriting | None:
    """Return the parts of a query that may be one about groups and people, None if it is none."""
    *before, last = select.sources
    kinds = [join.kind for join in select.sources]
    if not select.group or select.sets or select.distinct or kinds.index("left") + 1 != len(kinds):
        return None
    sources = tuple(_source(join, environment, snapshot) for join in before)
    joined = _source(last, environment, snapshot)
    if joined is None or joined.relation.protection is None:
        return None
    left = tuple(item for item in sources if item is not None)
    keys = _keys(select)
    if len(left) != len(sources) or keys is None:
        return None
    return _GroupRewriting(left, joined, frozenset(last.using), keys)


def _is_never_null(rewriting: _GroupRewriting) -> Callable[[Name], bool]:
    def check(key: Name) -> bool:
        found = rewriting.column(key)
        if found is None or found[0] is rewriting.joined:
            return False
        column = found[0].relation.column(found[1])
        return column is not None and not column.nullable

    return check


def _source(join: Join, environment: CommonTables, snapshot: CatalogSnapshot) -> _NamedRelation | None:
    table = join.source
    if not isinstance(table, NamedTable) or (table.schema is None and table.name in environment.tables):
        return None
    relation = snapshot.find(table.schema, table.name)
    if relation is None:
        return None
    if table.alias is not None:
        return _NamedRelation(frozenset({(table.alias,)}), relation)
    return _NamedRelation(frozenset({(table.name,), (relation.schema, table.name)}), relation)


def _keys(select: Select) -> tuple[Name, ...] | None:
    """Return the keys of GROUP BY, also those that it names by number; None unless all are columns."""
    found = []
    for key in select.group:
        item: Expression | None = key
        if isinstance(key, Constant):
            place = int(key.text or "0") if (key.text or "").isdigit() else 0
            item = select.items[place - 1].expression if 1 <= place <= len(select.items) else None
        elif isinstance(key, Name) and len(key.parts) == 1:
            aliases = {item.alias: item.expression for item in select.items if item.alias is not None}
            named = aliases.get(key.parts[0], key)
            # a column of FROM goes before an alias
            item = named if isinstance(named, Name) and named.parts[-1] == key.parts[0] else key
        if not isinstance(item, Name):
            return None
        found.append(item)
    return tuple(dict.fromkeys(found))


def _rewritten(
    select: Select, order: tuple[OrderItem, ...], rewriting: _GroupRewriting
) -> tuple[Select, tuple[OrderItem, ...]] | None:
    items = []
    for item in select.items:
        expression = rewriting.of(item.expression)
        if expression is None:
            return None
        items.append(OutputItem(span=item.span, expression=expression, alias=item.name))
    having = rewriting.of(select.having) if select.having is not None else None
    if select.having is not None and having is None:
        return None
    sorting = tuple(_sorted(item, {item.alias for item in items}, rewriting) for item in order)
    joined = replace(select.sources[-1], kind="inner")
    keys = tuple(
        OutputItem(span=key.span, expression=key, alias=f"k{place}")
        for place, key in enumerate(rewriting.keys)
    )
    figures = tuple(
        OutputItem(span=call.span, expression=call, alias=name) for call, name in rewriting.figures.items()
    )
    groups = replace(select, items=keys, sources=select.sources[:-1], distinct=True, group=(), having=None)
    if any(item.relation.protection is not None for item in rewriting.left):
        people = tuple(
            OutputItem(span=call.span, expression=call, alias=name) for call, name in rewriting.people.items()
        )
        groups = replace(groups, items=(*keys, *people), distinct=False, group=rewriting.keys)
    counted = replace(
        select,
        items=(*keys, *figures),
        sources=(*select.sources[:-1], joined),
        group=rewriting.keys,
        having=None,
    )
    equal: list[Expression] = [
        Apply(
            span=key.span, operator="=", operands=(_column(key.span, "g", name), _column(key.span, "n", name))
        )
        for key, name in ((item, item.alias or "") for item in keys)
    ]
    condition = equal[0]
    for part in equal[1:]:
        condition = Apply(span=part.span, operator="and", operands=(condition, part))
    sources = (
        Join(span=select.span, kind="cross", source=_subquery(groups, "g")),
        Join(span=joined.span, kind="left", source=_subquery(counted, "n"), condition=condition),
    )
    outer = replace(select, items=tuple(items), sources=sources, where=having, group=(), having=None)
    return outer, sorting


def _sorted(item: OrderItem, names: set[str | None], rewriting: _GroupRewriting) -> OrderItem:
    expression = item.expression
    if isinstance(expression, Name) and len(expression.parts) == 1 and expression.parts[0] in names:
        return item
    found = rewriting.of(expression)
    return item if found is None else replace(item, expression=found)


def _subquery(select: Select, alias: str) -> Subquery:
    return Subquery(span=select.span, query=Query(span=select.span, branches=(select,)), alias=alias)


def _column(span: Span, table: str, column: str) -> Name:
    return Name(span=span, parts=(table, column))
