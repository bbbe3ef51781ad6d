"""FROM: relations, derived tables and joins to numbered instances; what a relation must be to be read.

A derived table or common table expression that only selects rows (no grouping, no DISTINCT, no LIMIT) is
dissolved into the level around it, like a view; any other one becomes a level of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kanon_pg.queries.check.bind.columns import column_of, is_usable
from kanon_pg.queries.check.bind.conversion import as_type
from kanon_pg.queries.check.bind.expressions import bind_expression
from kanon_pg.queries.check.bind.operators import bind_operator
from kanon_pg.queries.check.bind.scopes import RowScope, VisibleSource
from kanon_pg.queries.check.catalog import CatalogSnapshot, Relation, RelationKind
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.joins import conjuncts
from kanon_pg.queries.check.plan.levels import Instance, Plan
from kanon_pg.queries.check.plan.typed import Bound, ColumnRef
from kanon_pg.queries.check.read.correlation import written_conjuncts
from kanon_pg.queries.check.read.syntax import (
    Expression,
    InQuery,
    Join,
    NamedTable,
    OrderItem,
    OutputItem,
    Query,
    ScalarQuery,
    Select,
    Star,
    Subquery,
    holds_aggregate,
    scalar_queries,
)


def check_relation(relation: Relation, span: Span) -> None:
    """Refuse a relation that cannot be read safely, or whose people cannot be counted.

    Raises
    ------
    Refusal
        Q105 to Q109.
    """
    name = f"{relation.schema}.{relation.name}"
    if relation.obstacle is not None:
        raise Refusal("Q109", span, relation.obstacle.sentence, relation.obstacle.hint)
    if relation.kind in {RelationKind.FOREIGN, RelationKind.OTHER} or not relation.safe_to_read:
        hint = "Ask ordinary tables and releases."
        raise Refusal("Q105", span, f"{name} cannot be queried: reading it may run code of others.", hint)
    protection = relation.protection
    if protection is None:
        return
    if not protection.declared:
        hint = "Ask the table itself, or let its curator declare this view."
        raise Refusal(
            "Q106", span, f"{name} reads a protected table and has no declaration of its own.", hint
        )
    if protection.k < 2:
        raise Refusal("Q107", span, f"{name} has no valid k.", "Let its curator declare it again.")
    entity = protection.entity
    column = relation.column(entity) if entity is not None else None
    if entity is not None and (column is None or not is_usable(column)):
        raise Refusal(
            "Q108", span, f"The people of {name} cannot be counted.", "Let its curator declare it again."
        )
    if entity is None and relation.kind is RelationKind.VIEW:
        hint = "Let its curator declare the column that names a person."
        raise Refusal("Q108", span, f"The people of the view {name} cannot be counted.", hint)


@dataclass(frozen=True, slots=True)
class CommonTables:
    """Common table expressions in sight, each with those that it may use itself."""

    tables: Mapping[str, tuple[Query, CommonTables]] = field(default_factory=dict)

    def extended(self, query: Query) -> CommonTables:
        """Return the environment inside a query, with its WITH."""
        tables, inner = dict(self.tables), self
        for name, table in query.tables:
            if name in _names(query, table):
                raise Refusal("Q104", table.span, f'WITH names "{name}" twice.', "Choose another name.")
            tables[name] = (table, inner)
            inner = CommonTables(dict(tables))
        return inner


def _names(query: Query, table: Query) -> set[str]:
    return {name for name, other in query.tables if other is not table}


_CORRELATED = (
    "A query in the place of a value cannot read columns of the query around it: join"
    " (SELECT key, avg(x) AS mean FROM ... GROUP BY key) AS q ON q.key = t.key."
)


@dataclass(slots=True)
class FromClause:
    """What FROM of one level has brought together so far."""

    rows: RowScope = field(default_factory=RowScope)
    instances: list[Instance] = field(default_factory=list)
    where: list[Bound] = field(default_factory=list)


@dataclass(slots=True)
class SourceBinder:
    """Binds FROM of one level.

    Parameters
    ----------
    bind_plan : callable
        Binds a query that is a level of its own.
    count : callable
        Called once per instance; refuses when there are too many in the whole query.
    """

    snapshot: CatalogSnapshot
    bind_plan: Callable[[Query, CommonTables], Plan]
    count: Callable[[Span], None]
    found: list[Instance] = field(default_factory=list)

    def bind(self, joins: tuple[Join, ...], environment: CommonTables) -> FromClause:
        """Bind all sources of a SELECT in the order of the text."""
        collected = FromClause(instances=self.found)
        for join in joins:
            before = len(collected.rows.visible)
            visible = self._source(join, environment, collected)
            if any(item.name == visible.name for item in collected.rows.visible):
                raise Refusal("Q104", join.span, f'FROM names "{visible.name}" twice.', "Give one an alias.")
            collected.rows.visible.append(visible)
            self._condition(join, collected, before)
        return collected

    def scalars(
        self, select: Select, order: tuple[OrderItem, ...], environment: CommonTables, collected: FromClause
    ) -> None:
        """Bind the queries that stand for values: each is joined, with the one row that it has.

        That its answer has one row follows from its text: aggregates without GROUP BY, HAVING and LIMIT.
        """
        roots = [item.expression for item in select.items]
        roots += [*select.group, *(part for sets in select.sets for keys in sets for part in keys)]
        roots += [part for part in (select.having,) if part is not None]
        roots += [item.expression for item in order]
        roots += written_conjuncts(select.where)
        for scalar in (found for root in roots for found in scalar_queries(root)):
            if scalar not in collected.rows.scalars:
                collected.rows.scalars[scalar] = self._scalar(scalar, environment)

    def _scalar(self, scalar: ScalarQuery, environment: CommonTables) -> Bound:
        try:
            plan = self.bind_plan(scalar.query, environment)
        except Refusal as refusal:
            if refusal.finding.code not in {"Q101", "Q102"}:
                raise
            found = refusal.finding
            raise Refusal(found.code, Span(found.start, found.end), found.sentence, _CORRELATED) from None
        if not plan.has_one_row() or len(plan.branches[0].outputs) != 1:
            hint = "Return one aggregate, without GROUP BY; or put the query into FROM or WITH, and join it."
            raise Refusal(
                "Q021", scalar.span, "A query in the place of a value has to have one row and column.", hint
            )
        join = Join(
            span=scalar.span,
            kind="cross",
            source=Subquery(span=scalar.span, query=scalar.query, alias="scalar"),
        )
        instance = self._instance(None, plan, join, scalar.span)
        (column,) = self._columns(plan, instance, scalar.span).values()
        return column

    def where(self, condition: Expression, environment: CommonTables, collected: FromClause) -> None:
        """Add WHERE; ``value IN (SELECT ...)`` becomes a join with the different values of the query.

        The values are a group key of a level of their own, so each of them has its people if the query reads
        protected relations, and each row finds at most one of them: the join selects rows and never
        repeats them, whatever the query returns, be it a value twice or NULL.
        """
        for part in written_conjuncts(condition):
            if isinstance(part, InQuery):
                collected.where.append(self._membership(part, environment, collected))
            else:
                collected.where.extend(conjuncts(as_type(bind_expression(part, collected.rows), "bool")))

    def _membership(self, part: InQuery, environment: CommonTables, collected: FromClause) -> Bound:
        value = bind_expression(part.value, collected.rows)
        join = Join(
            span=part.span, kind="cross", source=Subquery(span=part.span, query=part.query, alias="members")
        )
        star = OutputItem(span=part.span, expression=Star(span=part.span), alias=None)
        select = Select(span=part.span, items=(star,), sources=(join,), distinct=True)
        plan = self.bind_plan(Query(span=part.span, branches=(select,)), environment)
        if len(plan.branches[0].outputs) != 1:
            raise Refusal("Q506", part.span, "A query after IN returns one column.", "Name one output.")
        (member,) = self._columns(plan, self._instance(None, plan, join, part.span), part.span).values()
        return bind_operator("=", (value, member), part.span)

    def _source(self, join: Join, environment: CommonTables, collected: FromClause) -> VisibleSource:
        source = join.source
        if isinstance(source, Subquery):
            return self._query(source.query, environment, source.alias, join, collected)
        known = environment.tables.get(source.name) if source.schema is None else None
        if known is not None:
            query, inner = known
            return self._query(query, inner, source.alias or source.name, join, collected)
        return self._relation(source, join)

    def _relation(self, table: NamedTable, join: Join) -> VisibleSource:
        relation = self.snapshot.find(table.schema, table.name)
        shown = f"{table.schema}.{table.name}" if table.schema else table.name
        if relation is None:
            hint = "Check the spelling and the schema; catalogs and other people's tables cannot be queried."
            raise Refusal("Q100", table.span, f'There is no relation "{shown}" that can be queried.', hint)
        check_relation(relation, table.span)
        instance = self._instance(relation, None, join, table.span)
        columns = {
            column.name: column_of(column, instance.number, instance.outer)
            for column in relation.columns
            if is_usable(column)
        }
        unusable = {column.name: column for column in relation.columns if not is_usable(column)}
        schema = relation.schema if table.alias is None else None
        return VisibleSource(table.alias or table.name, columns, unusable, schema)

    def _instance(self, relation: Relation | None, plan: Plan | None, join: Join, span: Span) -> Instance:
        self.count(span)
        outer = join.kind == "left"
        instance = Instance(len(self.found) + 1, relation, plan, None, outer, span)
        self.found.append(instance)
        return instance

    def _query(
        self, query: Query, environment: CommonTables, alias: str, join: Join, collected: FromClause
    ) -> VisibleSource:
        inner = environment.extended(query)
        select = _row_selection(query)
        if select is not None and join.kind != "left":
            return self._dissolved(select, inner, alias, collected)
        plan = self.bind_plan(query, environment)
        instance = self._instance(None, plan, join, join.span)
        return VisibleSource(alias, self._columns(plan, instance, query.span))

    def _columns(self, plan: Plan, instance: Instance, span: Span) -> dict[str, Bound]:
        columns: dict[str, Bound] = {}
        for output in plan.branches[0].outputs:
            if output.name in columns:
                raise Refusal("Q103", span, f'Two outputs are called "{output.name}".', "Name them with AS.")
            columns[output.name] = ColumnRef(
                type=output.expression.type,
                as_numeric=output.expression.as_numeric,
                instance=instance.number,
                name=output.name,
                nullable=True,
                stored_type=output.expression.type,
                span=span,
            )
        return columns

    def _dissolved(
        self, select: Select, inner: CommonTables, alias: str, collected: FromClause
    ) -> VisibleSource:
        binder = SourceBinder(self.snapshot, self.bind_plan, self.count, self.found)
        part = binder.bind(select.sources, inner)
        binder.scalars(select, (), inner, part)
        if select.where is not None:
            binder.where(select.where, inner, part)
        collected.where.extend(part.where)
        columns: dict[str, Bound] = {}
        for name, bound in named_outputs(select, part.rows):
            if name in columns:
                raise Refusal("Q103", select.span, f'Two outputs are called "{name}".', "Name them with AS.")
            columns[name] = bound
        return VisibleSource(alias, columns)

    def _condition(self, join: Join, collected: FromClause, before: int) -> None:
        condition = self._join_condition(join, collected, before)
        if join.kind == "left":
            last = self.found[-1]
            if condition is None:
                raise Refusal("Q400", join.span, "A LEFT JOIN needs a condition.", "Write ON a.key = b.key.")
            self.found[-1] = Instance(last.number, last.relation, last.plan, condition, True, last.span)
        elif condition is not None:
            collected.where.extend(conjuncts(condition))

    def _join_condition(self, join: Join, collected: FromClause, before: int) -> Bound | None:
        if join.condition is not None:
            return as_type(bind_expression(join.condition, collected.rows), "bool")
        condition: Bound | None = None
        newest = collected.rows.visible[-1]
        for name in join.using:
            left = [item.columns[name] for item in collected.rows.visible[:before] if name in item.columns]
            left = [collected.rows.merged[name]] if name in collected.rows.merged else left
            if len(left) != 1 or name not in newest.columns:
                raise Refusal("Q101", join.span, f'USING ("{name}") does not name one column on each side.')
            equal = bind_operator("=", (left[0], newest.columns[name]), join.span)
            condition = equal if condition is None else bind_operator("and", (condition, equal), join.span)
            collected.rows.merged[name] = left[0]
        return condition


def named_outputs(select: Select, rows: RowScope) -> list[tuple[str, Bound]]:
    """Return the outputs of a row selection with their names, stars expanded."""
    found: list[tuple[str, Bound]] = []
    for item in select.items:
        if isinstance(item.expression, Star):
            found.extend(rows.star(item.expression.table, item.span))
        else:
            bound = bind_expression(item.expression, rows)
            found.append((item.name, as_type(bound, _settled(bound))))
    return found


def _settled(bound: Bound) -> str:
    return "text" if bound.type == "unknown" else bound.type


def _row_selection(query: Query) -> Select | None:
    # an order inside the query means nothing where nothing is cut
    if len(query.branches) != 1 or query.limit is not None or query.offset is not None:
        return None
    select = query.branches[0]
    if not isinstance(select, Select) or select.distinct or select.group or select.sets:
        return None
    if select.having is not None:
        return None
    if not select.sources or any(holds_aggregate(item.expression) for item in select.items):
        return None
    return select
