"""Which rows a SELECT reads: its FROM and WHERE, with subqueries that only return rows merged into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Protocol, TypeAlias

from kanon_pg.queries.reading.aggregates import is_plain
from kanon_pg.queries.reading.blocks import Source, column_tree
from kanon_pg.queries.reading.facts import Facts, Relation
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scopes import Derived, Scope, folded, relation_named, table_tree
from kanon_pg.queries.reading.selects import (
    QUERIES,
    all_of,
    in_parentheses,
    inner_query,
    number,
    output_name,
    require_only,
    star,
)
from kanon_pg.queries.reading.trees import Tree

_MOST_TABLES = 100
_MOST_PARTS = 10_000
"""Of a query, and of an output: subqueries that are named twice would double both."""


@dataclass(frozen=True, slots=True)
class Cte:
    """A common table expression: its text, if it only returns rows, and what it can name itself."""

    query: Tree
    columns: tuple[str, ...]
    around: Ctes
    is_about_people: bool = False


Ctes: TypeAlias = "Mapping[str, Cte]"
"""The common table expressions that a query can name."""


def cte_named(table: Tree, ctes: Ctes) -> Cte | None:
    """Return the common table expression that a node of the kind 'Table' names, or None."""
    name = table.child("this")
    if table.child("db") is not None or name is None or name.kind != "Identifier":
        return None
    return ctes.get(folded(name))


@dataclass(slots=True)
class ChosenRows:
    """What FROM and WHERE choose."""

    ctes: Ctes
    """What subqueries can name."""
    scope: Scope
    sources: list[Source] = field(default_factory=list)
    inner: list[Source] = field(default_factory=list)
    """Those of subqueries in conditions."""
    conditions: list[Tree] = field(default_factory=list)
    joined_from: set[str] = field(default_factory=set)
    """Aliases of public sources whose rows stand beside people by a LEFT JOIN, and without people, too."""


class Subqueries(Protocol):
    """What is done with subqueries that are more than rows."""

    def within(self, query: Tree, ctes: Ctes) -> tuple[Tree, Ctes]:
        """Return a query without the WITH items that are rows of people, and what can be named in it."""
        ...

    def constant(self, query: Tree, ctes: Ctes) -> Tree:
        """Return what stands for the one figure of a query."""
        ...


class RowReader:
    """Reads FROM and WHERE of the SELECTs of one query, whose sources get aliases of their own."""

    def __init__(self, facts: Facts, subqueries: Subqueries) -> None:
        self.facts, self.subqueries = facts, subqueries
        self._sources = 0

    def rows(self, select: Tree, ctes: Ctes, outer: Scope | None = None) -> ChosenRows:
        """Return the rows that a SELECT reads."""
        rows = ChosenRows(ctes, Scope(outer=outer))
        from_ = select.child("from_")
        first = None if from_ is None else from_.child("this")
        if first is None:
            raise Refusal("Q101", select.place, "There is no table in FROM.", "Name one.")
        self._item(first, rows)
        for join in select.children("joins"):
            self._join(join, rows)
        where = select.child("where")
        for condition in () if where is None else where.children("this"):
            rows.conditions += self.conjuncts(condition, rows)
        return rows

    # --- FROM ----------------------------------------------------------------------------------------------

    def _source(self, relation: Relation, place: int) -> Source:
        if relation.obstacle is not None:
            raise Refusal("Q109", place, *relation.obstacle)
        if self._sources == _MOST_TABLES:
            raise Refusal("Q111", place, "There are too many tables in this query.", "Name each once.")
        self._sources += 1
        return Source(f"s{self._sources}", relation)

    def _item(self, tree: Tree, rows: ChosenRows) -> None:
        """Add an item of FROM that is joined by conditions."""
        alias = tree.child("alias")
        name = None if alias is None else alias.child("this")
        columns = () if alias is None else tuple(map(folded, alias.children("columns")))
        if tree.kind == "Table":
            require_only(tree, "this", "db", "alias", "joins")
            cte = cte_named(tree, rows.ctes)
            written = folded(name or tree.child("this") or tree)
            if cte is not None:
                self._derived(cte, written, columns or cte.columns, rows, tree.place)
            else:
                self._table(tree, written, columns, rows)
            for join in tree.children("joins"):
                self._join(join, rows)
        elif tree.kind == "Subquery" and name is not None:
            for inner in tree.children("this"):
                self._derived(Cte(inner, columns, rows.ctes), folded(name), columns, rows, tree.place)
        else:
            raise Refusal("Q101", tree.place, "This cannot stand in FROM beside people.", "Name a table.")

    def _table(self, tree: Tree, alias: str, columns: tuple[str, ...], rows: ChosenRows) -> None:
        relation = relation_named(tree, self.facts)
        if relation is None:
            raise Refusal("Q101", tree.place, "There is no such table, or you may not read it.")
        source = self._source(relation, tree.place)
        if columns:
            raise Refusal("Q105", tree.place, "Columns of a table are not named anew.", "Leave the list out.")
        rows.sources.append(source)
        rows.scope.add(alias, source, tree.place)

    def _derived(
        self, derived: Cte, alias: str, columns: tuple[str, ...], rows: ChosenRows, place: int
    ) -> None:
        """Merge a subquery that only returns rows."""
        if not is_plain(derived.query):
            raise Refusal(
                "Q106",
                place,
                "Rows of people are not joined with answers.",
                "Join answers: SELECT ... FROM (SELECT ... GROUP BY ...) AS a JOIN (...) AS b.",
            )
        query, ctes = self.subqueries.within(derived.query, derived.around)
        inner = self.rows(query, ctes)
        outputs = self._outputs(query, inner)
        names = [*columns, *(name for name, _ in outputs[len(columns) :])]
        rows.sources += inner.sources
        rows.inner += inner.inner
        rows.conditions += inner.conditions
        rows.joined_from |= inner.joined_from
        values = (value for _, value in outputs)
        rows.scope.add(alias, Derived(dict(zip(names, values, strict=False))), place)

    def _outputs(self, select: Tree, rows: ChosenRows) -> list[tuple[str, Tree]]:
        """Return the outputs of a SELECT that only returns rows, by name."""
        outputs: list[tuple[str, Tree]] = []
        for tree in select.arguments:
            alias = star(tree)
            if alias is not None:
                items = rows.scope.items.items()
                named = (_all_columns(item) for name, item in items if alias in ("", name))
                outputs += [output for columns in named for output in columns.items()]
                continue
            value = tree.child("this") if tree.kind == "Alias" else tree
            if value is None:
                raise Refusal("Q010", tree.place, "This output is not understood.")
            output = self.value(value, rows)
            if sum(1 for _ in islice(output.walk(), _MOST_PARTS)) == _MOST_PARTS:
                raise Refusal("Q111", tree.place, "This output has too many parts.", "Name each once.")
            if output.kind != "Column":
                output = Tree("Paren", {"this": output}, tree.place)
            outputs.append((output_name(tree), output))
        return outputs

    def _join(self, join: Tree, rows: ChosenRows) -> None:
        side, kind = join.text("side").upper(), join.text("kind").upper()
        if join.text("method") or side not in {"", "LEFT"} or kind not in {"", "INNER", "CROSS", "OUTER"}:
            raise Refusal(
                "Q401", join.place, "This join is not answered.", "Write JOIN or LEFT JOIN with ON."
            )
        right = join.child("this")
        if right is None:
            raise Refusal("Q401", join.place, "This join is not understood.")
        before, earlier = dict(rows.scope.items), list(rows.sources)
        self._item(right, rows)
        on = join.child("on")
        conditions = [] if on is None else self.conjuncts(on, rows)
        conditions += self._using(join, rows, before)
        added = rows.sources[len(earlier) :]
        if side != "LEFT":
            rows.conditions += conditions
        elif (
            all(source.relation.protection is None for source in earlier)
            and len(added) == 1
            and added[0].relation.protection is not None
        ):
            # no people stand behind the rows without a partner, so that they are left out
            rows.conditions += conditions
            rows.joined_from = {source.alias for source in earlier}
        elif len(added) == 1 and right.kind == "Table" and added[0].relation.protection is None:
            rows.sources[-1] = replace(added[0], on=tuple(conditions))
            alias = next(name for name, item in rows.scope.items.items() if item is added[0])
            rows.scope.items[alias] = rows.sources[-1]
        else:
            raise Refusal(
                "Q401",
                join.place,
                "LEFT JOIN adds a public table to people, or people to public tables.",
                "Join people by JOIN, or turn the sides.",
            )

    def _using(self, join: Tree, rows: ChosenRows, before: Mapping[str, Source | Derived]) -> list[Tree]:
        """Return the conditions of USING, whose columns then have one name."""
        conditions = []
        after = {name: item for name, item in rows.scope.items.items() if name not in before}
        for name in join.children("using"):
            column = Tree("Column", {"this": name}, join.place)
            left, right = (Scope(dict(items)).column(column) for items in (before, after))
            conditions.append(Tree("EQ", {"this": left, "expression": right}, join.place))
            rows.scope.merged[folded(name)] = left
        return conditions

    # --- expressions ---------------------------------------------------------------------------------------

    def conjuncts(self, tree: Tree, rows: ChosenRows) -> list[Tree]:
        """Return the parts of a condition that all must be true."""
        if tree.bare.kind == "And":
            return [part for side in tree.bare.operands for part in self.conjuncts(side, rows)]
        return [self.value(tree.bare, rows)]

    def value(self, tree: Tree, rows: ChosenRows) -> Tree:
        """Return an expression in terms of sources."""

        def change(node: Tree) -> Tree | None:
            if node.kind == "Column":
                return rows.scope.column(node)
            if node.kind == "Exists" or (node.kind == "In" and node.child("query") is not None):
                return self._semi_join(node, rows)
            return self.subqueries.constant(node, rows.ctes) if node.kind in QUERIES else None

        return tree.replaced(change)

    def _semi_join(self, tree: Tree, rows: ChosenRows) -> Tree:
        """Return EXISTS for EXISTS and IN with a subquery that only returns rows."""
        query = inner_query(tree.child("this" if tree.kind == "Exists" else "query"))
        if query is None or not is_plain(query):
            raise Refusal(
                "Q108",
                tree.place,
                "This subquery does not return rows only.",
                "Leave GROUP BY and LIMIT out.",
            )
        query, ctes = self.subqueries.within(query, rows.ctes)
        inner = self.rows(query, ctes, outer=rows.scope)
        if inner.joined_from or any(source.on is not None for source in inner.sources):
            raise Refusal("Q401", tree.place, "LEFT JOIN has no place here.", "Leave it out.")
        conditions = list(inner.conditions)
        if tree.kind == "In":
            left, outputs = tree.child("this"), self._outputs(query, inner)
            if left is None or len(outputs) != 1:
                raise Refusal("Q108", tree.place, "The subquery of IN returns one column.", "Name one.")
            sides = {"this": in_parentheses(self.value(left, rows)), "expression": outputs[0][1]}
            conditions.append(Tree("EQ", sides))
        rows.inner += [*inner.sources, *inner.inner]
        return Tree("Exists", {"this": _select_of(inner.sources, conditions)}, tree.place)


def _select_of(sources: Sequence[Source], conditions: Sequence[Tree]) -> Tree:
    """Return SELECT 1 of sources under conditions."""
    first, *others = map(table_tree, sources)
    return Tree("Select", {"expressions": (number("1"),)}).having(
        from_=Tree("From", {"this": first}),
        joins=tuple(Tree("Join", {"this": table}) for table in others) or None,
        where=Tree("Where", {"this": all_of(conditions)}) if conditions else None,
    )


def _all_columns(item: Source | Derived) -> Mapping[str, Tree]:
    if isinstance(item, Derived):
        return item.outputs
    columns = (column.name for column in item.relation.columns if column.is_built_in)
    return {name: column_tree(item.alias, name) for name in columns}
