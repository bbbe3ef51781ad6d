"""Cuts a query into blocks, which are about people, and the rest, which is PostgreSQL's.

A block is a SELECT that reads protected relations, with everything in it that only returns rows. Its keys
and figures become columns of a table, which stands in the query in place of what was read; HAVING becomes a
condition on that table's rows. What is above figures is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from kanon_pg.queries.reading.blocks import (
    BIGINT,
    EXTREMES,
    FIGURES,
    PERCENTILES,
    Block,
    Computed,
    Cut,
    Figure,
    Source,
    column_name,
    column_tree,
    name_tree,
)
from kanon_pg.queries.reading.facts import Column, Facts, Relation
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.naming import given_name
from kanon_pg.queries.reading.scanner import scan, take_out_constants
from kanon_pg.queries.reading.scopes import Derived, Scope, folded, relation_named, table_tree
from kanon_pg.queries.reading.trees import Tree, parse

BLOCK = "kanon_block_"
"""How the names of tables begin that stand for blocks."""

TRUTHS = frozenset({"bool_or", "bool_and", "every"})
_SXX = "(n * CAST(xx AS numeric) - CAST(x AS numeric) * x)"
_SYY = "(n * CAST(yy AS numeric) - CAST(y AS numeric) * y)"
_SXY = "(n * CAST(xy AS numeric) - CAST(x AS numeric) * y)"
_PAIRS = {
    "regr_count": "n",
    **{
        name: f"CAST({of} AS double precision)"
        for name, of in {
            "corr": f"{_SXY} / nullif(sqrt({_SXX}) * sqrt({_SYY}), 0)",
            "covar_pop": f"{_SXY} / nullif(CAST(n AS numeric) * n, 0)",
            "covar_samp": f"{_SXY} / nullif(CAST(n AS numeric) * (n - 1), 0)",
            "regr_slope": f"{_SXY} / nullif({_SXX}, 0)",
            "regr_intercept": f"(y - x * {_SXY} / nullif({_SXX}, 0)) / n",
            "regr_r2": f"CASE WHEN {_SXX} <> 0 AND {_SYY} = 0 THEN 1"
            f" ELSE {_SXY} * {_SXY} / nullif({_SXX} * {_SYY}, 0) END",
        }.items()
    },
}
"""What pairs (y, x) of numbers have in common, by their number and sums."""

_AGGREGATES = (FIGURES | TRUTHS | _PAIRS.keys()) - {"count_distinct"}
_OTHER_AGGREGATES = {
    **dict.fromkeys(
        ["mode"], "Group by the column, and take the first of each: count(*) ... ORDER BY count(*) DESC."
    ),
    **dict.fromkeys(["regr_avgx", "regr_avgy", "regr_sxx", "regr_sxy", "regr_syy"], "Ask for regr_slope."),
    **dict.fromkeys(
        ["string_agg", "array_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg", "xmlagg"],
        "Values of single people are not listed. Group by the column.",
    ),
    **dict.fromkeys(["bit_and", "bit_or", "bit_xor", "any_value", "range_agg"], "Group by the column."),
}
"""What to write instead of aggregates that are no figures."""
_QUERIES = frozenset({"Select", "Union", "Intersect", "Except", "Subquery"})
_ARITHMETIC = frozenset({"Column", "Identifier", "Literal", "Paren", "Neg", "Add", "Sub", "Mul", "Div"})
_STRICT = _ARITHMETIC | {"Cast", "DataType", "DataTypeParam", "Extract", "Var"}
"""What is NULL where a column in it is."""


@dataclass(frozen=True, slots=True)
class _Cte:
    """A common table expression: its text, if it only returns rows, and where it stands."""

    query: Tree
    columns: tuple[str, ...]
    around: Mapping[str, _Cte]
    is_about_people: bool = False


_Reach = tuple[Tree, Mapping[str, _Cte]]
"""A query without the WITH items that are rows of people, and what is in reach below it."""

_MOST_TABLES = 100
_MOST_PARTS = 10_000
"""Of a query, and of an output: subqueries that are named twice would double both."""


def cut(tree: Tree, facts: Facts, constants: Sequence[str]) -> Cut:
    """Cut a query into blocks and the rest.

    Parameters
    ----------
    constants : sequence of str
        SQL of the constants in the tree.

    Raises
    ------
    Refusal
        If a block is none that can be answered.
    """
    if tree.kind not in _QUERIES:
        raise Refusal("Q021", tree.place, "Only SELECT can be answered.", "Write one SELECT.")
    cutter = _Cutter(facts, len(constants))
    rest = cutter.query(tree, {})
    computed = tuple(one for _, _, one in cutter.computed)
    return Cut(tuple(cutter.blocks), rest, (*constants, *["NULL"] * len(computed)), computed)


class _Cutter:
    def __init__(self, facts: Facts, written: int) -> None:
        self.facts, self.written = facts, written
        self.blocks: list[Block] = []
        self.computed: list[tuple[Tree, Mapping[str, _Cte], Computed]] = []
        self.clauses: dict[tuple[int, int], tuple[Tree, Mapping[str, _Cte], _Reach]] = {}
        self.aliases = 0
        self.names = 0

    # --- the rest ------------------------------------------------------------------------------------------

    def query(self, tree: Tree, ctes: Mapping[str, _Cte]) -> Tree:
        """Return a query with tables in place of its blocks."""
        if tree.kind not in _QUERIES:
            return self.below(tree, ctes)
        tree, ctes = self.with_clause(tree, ctes)
        if tree.kind == "Select" and self.reads_people(tree, ctes):
            return self.block(tree, ctes)
        return self.below(tree, ctes)

    def below(self, tree: Tree, ctes: Mapping[str, _Cte]) -> Tree:
        """Return a node with tables in place of the blocks below it."""

        def change(node: Tree) -> Tree | None:
            if node is tree:
                return None
            if node.kind in _QUERIES:
                return self.query(node, ctes)
            if node.kind == "Table" and self.cte(node, ctes) is None:
                relation = relation_named(node, self.facts)
                if relation is not None and relation.protection is not None:
                    raise Refusal(
                        "Q107", node.place, "A table of people has no place here.", "Name it in FROM."
                    )
            return None

        return tree.replaced(change)

    def with_clause(self, tree: Tree, ctes: Mapping[str, _Cte]) -> _Reach:
        """Return a query whose WITH has only what is no rows of people, and what is in reach below."""
        clause = tree.child("with_")
        if clause is None:
            return tree, ctes
        # each is read once, however often it is looked at: its blocks are answered once
        place = id(tree), id(ctes)
        if place not in self.clauses:
            self.clauses[place] = tree, ctes, self.read_clause(tree, clause, ctes)
        return self.clauses[place][2]

    def read_clause(self, tree: Tree, clause: Tree, ctes: Mapping[str, _Cte]) -> _Reach:
        reach, left = dict(ctes), []
        for item in clause.children("expressions"):
            name, query, alias = _cte_name(item), item.child("this"), item.child("alias")
            if query is None or alias is None:
                raise Refusal(
                    "Q010", item.place, "This WITH is not understood.", "Write WITH name AS (SELECT ...)."
                )
            columns = tuple(folded(one) for one in alias.children("columns"))
            around = dict(reach)
            found = _Cte(query, columns, around, is_plain(query) and self.reads_people(query, around))
            if found.is_about_people:
                if clause.args.get("recursive"):
                    raise Refusal(
                        "Q110", item.place, "A recursive query cannot read people.", "Leave RECURSIVE out."
                    )
                reach[name] = found
                continue
            left.append(item.having(this=self.query(query, around)))
            if is_plain(query):
                reach[name] = found
            else:
                reach.pop(name, None)
                reach[name] = replace(found, query=Tree("Null", {}))
        return tree.having(with_=clause.having(expressions=tuple(left)) if left else None), reach

    def cte(self, table: Tree, ctes: Mapping[str, _Cte]) -> _Cte | None:
        name = table.child("this")
        if table.child("db") is not None or name is None or name.kind != "Identifier":
            return None
        return ctes.get(folded(name))

    def reads_people(self, select: Tree, ctes: Mapping[str, _Cte]) -> bool:
        """Return whether a SELECT reads rows of people, itself or in subqueries that only return rows."""
        if select.kind == "Subquery":
            inner = select.child("this")
            return inner is not None and self.reads_people(inner, ctes)
        if select.kind != "Select":
            return False
        for item in _from_items(select):
            if item.kind == "Subquery":
                inner = item.child("this")
                if inner is not None and is_plain(inner):
                    reach = self.with_clause(inner, ctes)[1]
                    if self.reads_people(inner, reach):
                        return True
            elif item.kind == "Table":
                cte = self.cte(item, ctes)
                if cte is not None:
                    if cte.is_about_people:
                        return True
                    continue
                relation = relation_named(item, self.facts)
                if relation is not None and relation.protection is not None:
                    return True
        return False

    # --- sources -------------------------------------------------------------------------------------------

    def source(self, relation: Relation, place: int, on: tuple[Tree, ...] | None = None) -> Source:
        if relation.obstacle is not None:
            raise Refusal("Q109", place, *relation.obstacle)
        if self.aliases == _MOST_TABLES:
            raise Refusal("Q111", place, "There are too many tables in this query.", "Name each once.")
        self.aliases += 1
        return Source(f"s{self.aliases}", relation, on)

    def rows(self, select: Tree, ctes: Mapping[str, _Cte], outer: Scope | None = None) -> _Rows:
        """Read FROM and WHERE of a SELECT."""
        found = _Rows([], [], [], Scope(outer=outer))
        from_ = select.child("from_")
        first = None if from_ is None else from_.child("this")
        if first is None:
            raise Refusal("Q101", select.place, "There is no table in FROM.", "Name one.")
        self.item(first, found, ctes)
        for join in select.children("joins"):
            self.join(join, found, ctes)
        where = select.child("where")
        condition = None if where is None else where.child("this")
        if condition is not None:
            found.conditions += self.conjuncts(condition, found, ctes)
        return found

    def item(self, tree: Tree, rows: _Rows, ctes: Mapping[str, _Cte]) -> None:
        """Add an item of FROM that is joined by conditions."""
        alias_tree = tree.child("alias")
        alias_name = None if alias_tree is None else alias_tree.child("this")
        columns = () if alias_tree is None else tuple(folded(one) for one in alias_tree.children("columns"))
        if tree.kind == "Table":
            _only(tree, "this", "db", "alias", "joins")
            cte, name = self.cte(tree, ctes), tree.child("this")
            alias = folded(alias_name or name or tree)
            if cte is not None:
                self.derived(cte.query, alias, columns or cte.columns, rows, cte.around, tree.place)
            else:
                relation = relation_named(tree, self.facts)
                if relation is None:
                    raise Refusal("Q101", tree.place, "There is no such table, or you may not read it.")
                source = self.source(relation, tree.place)
                if columns:
                    raise Refusal(
                        "Q105", tree.place, "Columns of a table are not named anew.", "Leave the list out."
                    )
                rows.sources.append(source)
                rows.scope.add(alias, source, tree.place)
            for join in tree.children("joins"):
                self.join(join, rows, ctes)
        elif tree.kind == "Subquery" and alias_name is not None:
            inner = tree.child("this")
            if inner is not None:
                self.derived(inner, folded(alias_name), columns, rows, ctes, tree.place)
        else:
            raise Refusal("Q101", tree.place, "This cannot stand in FROM beside people.", "Name a table.")

    def derived(
        self,
        query: Tree,
        alias: str,
        columns: tuple[str, ...],
        rows: _Rows,
        ctes: Mapping[str, _Cte],
        place: int,
    ) -> None:
        """Merge a subquery that only returns rows."""
        if not is_plain(query):
            raise Refusal(
                "Q106",
                place,
                "Rows of people are not joined with answers.",
                "Join answers: SELECT ... FROM (SELECT ... GROUP BY ...) AS a JOIN (...) AS b.",
            )
        inner_query, reach = self.with_clause(query, ctes)
        inner = self.rows(inner_query, reach)
        outputs: dict[str, Tree] = {}
        for number, (name, tree) in enumerate(self.outputs(inner_query, inner, ctes)):
            outputs[columns[number] if number < len(columns) else name] = tree
        rows.sources += inner.sources
        rows.inner += inner.inner
        rows.conditions += inner.conditions
        rows.found_by |= inner.found_by
        rows.scope.add(alias, Derived(outputs), place)

    def outputs(self, select: Tree, rows: _Rows, ctes: Mapping[str, _Cte]) -> list[tuple[str, Tree]]:
        """Return the outputs of a SELECT that only returns rows, by name."""
        found: list[tuple[str, Tree]] = []
        for tree in select.children("expressions"):
            star = _star(tree)
            if star is not None:
                found += [
                    (name, value)
                    for alias, item in rows.scope.items.items()
                    if star in ("", alias)
                    for name, value in _all_columns(item)
                ]
                continue
            value = tree.child("this") if tree.kind == "Alias" else tree
            if value is None:
                raise Refusal("Q010", tree.place, "This output is not understood.")
            output = self.value(value, rows, ctes)
            if sum(1 for _ in islice(output.walk(), _MOST_PARTS)) == _MOST_PARTS:
                raise Refusal("Q111", tree.place, "This output has too many parts.", "Name each once.")
            found.append((_output_name(tree), Tree("Paren", {"this": output}, tree.place)))
        return [(name, value.child("this") if _is_column(value) else value) for name, value in found]  # type: ignore[misc]

    def join(self, join: Tree, rows: _Rows, ctes: Mapping[str, _Cte]) -> None:
        side, kind = join.text("side").upper(), join.text("kind").upper()
        if join.text("method") or side not in {"", "LEFT"} or kind not in {"", "INNER", "CROSS", "OUTER"}:
            raise Refusal(
                "Q401", join.place, "This join is not answered.", "Write JOIN or LEFT JOIN with ON."
            )
        right = join.child("this")
        if right is None:
            raise Refusal("Q401", join.place, "This join is not understood.")
        before = dict(rows.scope.items)
        sources = len(rows.sources)
        self.item(right, rows, ctes)
        conditions: list[Tree] = []
        on = join.child("on")
        if on is not None:
            conditions += self.conjuncts(on, rows, ctes)
        for name_node in join.children("using"):
            name = folded(name_node)
            sides = [
                Scope(before),
                Scope({key: item for key, item in rows.scope.items.items() if key not in before}),
            ]
            left_column, right_column = (
                one.column(Tree("Column", {"this": name_node}, join.place)) for one in sides
            )
            conditions.append(Tree("EQ", {"this": left_column, "expression": right_column}, join.place))
            rows.scope.merged[name] = left_column
        if side != "LEFT":
            rows.conditions += conditions
            return
        earlier, added = rows.sources[:sources], rows.sources[sources:]
        is_public = all(source.relation.protection is None for source in earlier)
        if is_public and len(added) == 1 and added[0].relation.protection is not None:
            # no people stand behind the rows that find none, so that they are left out
            rows.conditions += conditions
            rows.found_by = {source.alias for source in earlier}
            return
        if len(added) != 1 or right.kind != "Table" or added[0].relation.protection is not None:
            raise Refusal(
                "Q401",
                join.place,
                "LEFT JOIN adds a public table to people, or people to public tables.",
                "Join people by JOIN, or turn the sides.",
            )
        rows.sources[sources] = replace(added[0], on=tuple(conditions))
        alias = next(key for key, item in rows.scope.items.items() if item is added[0])
        rows.scope.items[alias] = rows.sources[sources]

    # --- expressions ---------------------------------------------------------------------------------------

    def conjuncts(self, tree: Tree, rows: _Rows, ctes: Mapping[str, _Cte]) -> list[Tree]:
        """Return the parts of a condition that all have to hold."""
        if tree.kind == "Paren":
            inner = tree.child("this")
            if inner is not None:
                return self.conjuncts(inner, rows, ctes)
        if tree.kind == "And":
            return [
                part
                for side in (tree.child("this"), tree.child("expression"))
                if side is not None
                for part in self.conjuncts(side, rows, ctes)
            ]
        return [self.value(tree, rows, ctes)]

    def value(self, tree: Tree, rows: _Rows, ctes: Mapping[str, _Cte]) -> Tree:
        """Return an expression in terms of sources."""

        def change(node: Tree) -> Tree | None:
            if node.kind == "Column":
                return rows.scope.column(node)
            if node.kind == "Exists":
                return self.semi_join(node, rows, ctes)
            if node.kind == "In" and node.child("query") is not None:
                return self.semi_join(node, rows, ctes)
            if node.kind in _QUERIES:
                return self.constant(node, ctes)
            return None

        return tree.replaced(change)

    def is_known(self, tree: Tree, ctes: Mapping[str, _Cte]) -> bool:
        """Return whether a subquery was made a constant."""
        return any(written == tree and around == ctes for written, around, _ in self.computed)

    def constant(self, tree: Tree, ctes: Mapping[str, _Cte]) -> Tree:
        """Return what stands for the one figure of a block of its own, which is answered first."""
        for written, around, known in self.computed:
            if written == tree and around == ctes:
                return known.tree
        query: Tree | None = tree
        while query is not None and query.kind == "Subquery":
            query = query.child("this")
        select, reach = (None, ctes) if query is None else self.with_clause(query, ctes)
        clauses = ("group", "having", "distinct", "limit", "offset", "order", "with_")
        if (
            select is None
            or any(map(select.args.get, clauses))
            or is_plain(select)
            or not self.reads_people(select, reach)
        ):
            raise Refusal(
                "Q108",
                tree.place,
                "A subquery in a condition is EXISTS, or one figure of people.",
                "Run it first, and write its answer as a constant.",
            )
        outputs = self.block(select, reach).children("expressions")
        figure = outputs[0].child("this") if len(outputs) == 1 else None
        if figure is None or any(node.kind not in _ARITHMETIC for node in figure.walk()):
            raise Refusal(
                "Q108", tree.place, "This subquery is not one figure.", "For example: (SELECT avg(cost) ...)."
            )
        found = Computed(self.written + len(self.computed), self.blocks[-1].name, figure)
        self.computed.append((tree, ctes, found))
        return found.tree

    def semi_join(self, tree: Tree, rows: _Rows, ctes: Mapping[str, _Cte]) -> Tree:
        """Return EXISTS for EXISTS and IN with a subquery that only returns rows."""
        query = tree.child("this") if tree.kind == "Exists" else tree.child("query")
        while query is not None and query.kind == "Subquery":
            query = query.child("this")
        if query is None or not is_plain(query):
            raise Refusal(
                "Q108",
                tree.place,
                "This subquery does not return rows only.",
                "Leave GROUP BY and LIMIT out.",
            )
        query, reach = self.with_clause(query, ctes)
        inner = self.rows(query, reach, outer=rows.scope)
        if inner.found_by or any(source.on is not None for source in inner.sources):
            raise Refusal("Q401", tree.place, "LEFT JOIN has no place here.", "Leave it out.")
        conditions = list(inner.conditions)
        if tree.kind == "In":
            left, outputs = tree.child("this"), self.outputs(query, inner, reach)
            if left is None or len(outputs) != 1:
                raise Refusal("Q108", tree.place, "The subquery of IN returns one column.", "Name one.")
            conditions.append(
                Tree(
                    "EQ", {"this": _in_parentheses(self.value(left, rows, ctes)), "expression": outputs[0][1]}
                )
            )
        rows.inner += [*inner.sources, *inner.inner]
        first, *others = [table_tree(source) for source in inner.sources]
        select = Tree(
            "Select", {"expressions": (Tree("Literal", {"this": "1", "is_string": False}),)}
        ).having(
            from_=Tree("From", {"this": first}),
            joins=tuple(Tree("Join", {"this": table}) for table in others) or None,
            where=Tree("Where", {"this": all_of(conditions)}) if conditions else None,
        )
        return Tree("Exists", {"this": select}, tree.place)

    # --- blocks --------------------------------------------------------------------------------------------

    def block(self, select: Tree, ctes: Mapping[str, _Cte]) -> Tree:
        """Cut a SELECT that reads people, and return what stands for it in the rest."""
        for clause in ("locks", "sample", "into", "kind", "hint", "windows", "qualify", "laterals"):
            if select.args.get(clause):
                raise Refusal("Q501", select.place, f"{clause.upper()} has no place here.", "Leave it out.")
        rows = self.rows(select, ctes)
        items = [
            (_output_name(one), one.child("this") if one.kind == "Alias" else one)
            for one in select.children("expressions")
        ]
        distinct = select.child("distinct")
        keys = self.keys(select, items, rows, ctes)
        self.names += 1
        collected = _Figures(self, rows, ctes, keys, f"{BLOCK}{self.names}")
        is_grouped = select.child("group") is not None
        if not is_grouped and not any(_has_aggregate(tree) for _, tree in items if tree is not None):
            if distinct is None or distinct.child("on") is not None:
                raise Refusal(
                    "Q502",
                    select.place,
                    "Rows of single people are not shown.",
                    "Group them: SELECT ..., count(*) FROM ... GROUP BY ...;",
                )
            keys += [self.value(tree, rows, ctes) for _, tree in items if tree is not None]
        outputs = []
        for name, tree in items:
            if tree is None or _star(tree) is not None:
                raise Refusal(
                    "Q502", select.place, "Rows of single people are not shown.", "Name keys and figures."
                )
            outputs.append(
                Tree("Alias", {"this": collected.above(tree), "alias": name_tree(name)}, tree.place)
            )
        having, order = select.child("having"), select.child("order")
        names = {name for name, _ in items}
        rest = select.having(
            expressions=tuple(outputs),
            joins=None,
            group=None,
            having=None,
            where=None
            if having is None
            else Tree("Where", {"this": collected.above(having.child("this") or having)}),
            order=None if order is None else collected.order(order, names),
            from_=Tree("From", {"this": Tree("Table", {"this": name_tree(collected.name)})}),
        )
        self.blocks.append(
            Block(
                collected.name,
                tuple(rows.sources),
                tuple(rows.conditions),
                tuple(keys),
                tuple(collected.figures),
                tuple(rows.inner),
                leaves_out_nobody=bool(rows.found_by),
            )
        )
        return rest

    def keys(
        self, select: Tree, items: Sequence[tuple[str, Tree | None]], rows: _Rows, ctes: Mapping[str, _Cte]
    ) -> list[Tree]:
        group = select.child("group")
        if group is None:
            return []
        _only(group, "expressions")
        found: list[Tree] = []
        for tree in group.children("expressions"):
            if tree.kind in {"Rollup", "Cube", "GroupingSets", "Tuple"}:
                raise Refusal(
                    "Q503",
                    tree.place,
                    "Grouping sets are not answered.",
                    "Write one SELECT for each, with UNION ALL.",
                )
            key = self.value(self.key(tree, items, rows), rows, ctes)
            if key not in found:
                found.append(key)
        return found

    def key(self, tree: Tree, items: Sequence[tuple[str, Tree | None]], rows: _Rows) -> Tree:
        """Return what a part of GROUP BY means: an output by number or by name, or an expression."""
        if tree.kind == "Literal" and not tree.args.get("is_string"):
            number = int(tree.text("this")) if tree.text("this").isdigit() else 0
            if not 1 <= number <= len(items):
                raise Refusal("Q504", tree.place, "There is no output of this number.", "Count from 1.")
            found = items[number - 1][1]
            return tree if found is None else found
        if tree.kind == "Column" and tree.child("table") is None:
            try:
                rows.scope.column(tree)
            except Refusal as refusal:
                name = folded(tree.child("this") or tree)
                named = [value for alias, value in items if alias == name and value is not None]
                if not named or refusal.finding.code != "Q103":
                    raise
                if any(one != named[0] for one in named):
                    raise Refusal(
                        "Q104", tree.place, "Several outputs have this name.", "Write out what is meant."
                    ) from None
                return named[0]
        return tree


@dataclass(slots=True)
class _Rows:
    """What FROM and WHERE choose.

    Parameters
    ----------
    found_by : set of str
        Aliases of public sources whose rows stand beside people by a LEFT JOIN, and without people, too.
    """

    sources: list[Source]
    inner: list[Source]
    conditions: list[Tree]
    scope: Scope
    found_by: set[str] = field(default_factory=set)


class _Figures:
    """Collects the aggregates of a block, and writes what is above them."""

    def __init__(
        self, cutter: _Cutter, rows: _Rows, ctes: Mapping[str, _Cte], keys: list[Tree], name: str
    ) -> None:
        self.cutter, self.rows, self.ctes, self.keys, self.name = cutter, rows, ctes, keys, name
        self.figures: list[Figure] = []

    def above(self, tree: Tree) -> Tree:
        """Return an expression of an output in terms of the block's table."""

        def change(node: Tree) -> Tree | None:
            if node.kind in _QUERIES:
                return self.cutter.query(node, self.ctes)
            if node.kind in {"Literal", "Identifier", "DataType", "Star"}:
                return None
            if node.kind == "Window":
                return self.window(node)
            if is_aggregate(node):
                return self.figure(node)
            key = self.key(node)
            if key is not None:
                return key
            hint = _OTHER_AGGREGATES.get(node.text("this").lower()) if node.kind == "Anonymous" else None
            if hint is not None:
                raise Refusal("Q506", node.place, f"{node.text('this').lower()}() is no figure.", hint)
            if node.kind == "Column":
                raise Refusal(
                    "Q505",
                    node.place,
                    "This column is neither in GROUP BY nor in an aggregate.",
                    "Add it to GROUP BY.",
                )
            return None

        return tree.replaced(change)

    def window(self, tree: Tree) -> Tree:
        """Return a window function over the block's rows: its own function is PostgreSQL's."""
        inner = tree.child("this")
        if inner is None:
            return tree
        call = inner.child("this") if inner.kind == "Filter" else inner
        changed = {name: value for name, value in tree.args.items() if name != "this"}
        parts = Tree("Window", changed, tree.place)
        if call is None:
            return tree
        arguments = tuple(self.above(one) for one in call.children("expressions"))
        call = call.having(expressions=arguments or call.args.get("expressions"))
        if inner.kind == "Filter":
            condition = inner.child("expression")
            call = inner.having(this=call, expression=None if condition is None else self.inside(condition))
        return self.inside(parts).having(this=call)

    def inside(self, tree: Tree) -> Tree:
        """Return a node whose parts are expressions of outputs."""

        def change(node: Tree) -> Tree | None:
            return None if node is tree else self.above(node)

        return tree.replaced(change)

    def order(self, tree: Tree, names: set[str]) -> Tree:
        """Return ORDER BY, whose parts may be numbers or names of outputs."""
        parts = []
        for part in tree.children("expressions"):
            value = part.child("this")
            is_name = (
                value is not None
                and value.kind == "Column"
                and value.child("table") is None
                and folded(value.child("this") or value) in names
            )
            is_number = value is not None and value.kind == "Literal"
            parts.append(
                part if value is None or is_name or is_number else part.having(this=self.above(value))
            )
        return tree.having(expressions=tuple(parts))

    def key(self, tree: Tree) -> Tree | None:
        if any(node.kind in _QUERIES and not self.cutter.is_known(node, self.ctes) for node in tree.walk()):
            return None
        try:
            value = self.cutter.value(tree, self.rows, self.ctes)
        except Refusal:
            return None
        if value not in self.keys and self.is_determined(value):
            self.keys.append(value)
        for number, key in enumerate(self.keys, 1):
            if key == value:
                return column_tree(self.name, f"k{number}", tree.place)
        return None

    def is_determined(self, tree: Tree) -> bool:
        """Return whether a column has one value in each row: the key of its table stands in GROUP BY."""
        if tree.kind != "Column":
            return False
        alias, _ = column_name(tree)
        given = {name for of, name in map(column_name, self.keys) if of == alias}
        return any(
            source.alias == alias and source.relation.key and given >= set(source.relation.key)
            for source in self.rows.sources
        )

    def figure(self, tree: Tree) -> Tree:
        """Return what stands for an aggregate above the block: a column, or a multiple of one."""
        call, conditions = self.filtered(tree)
        other = (
            self.multiple(tree, call)
            or self.whether(tree, call)
            or self.several(tree, call)
            or self.products(tree, call)
        )
        if other is not None:
            return other
        written = self.value(tree)
        name, argument, fraction = _percentile(call) if call.kind == "WithinGroup" else _call(call)
        key = None if argument is None or name not in EXTREMES else self.key(argument)
        if key is not None:
            return key  # has one value in each row
        if argument is not None:
            argument = self.calculated(self.value(argument))
        if self.rows.found_by and not self.skips_nobody(argument):
            raise Refusal(
                "Q405",
                tree.place,
                "Beside LEFT JOIN, figures are of columns of people, which rows about nobody do not have.",
                "Count a column of theirs: count(patient_id).",
            )
        if name == "count" and argument is not None:
            # rows that have a value are a condition like others
            if any(node.kind == "Column" for node in argument.walk()) and not self.is_filled(argument):
                conditions = (*conditions, _has_value(argument))
            argument = None
        found = Figure(name, argument, conditions, fraction, written)
        if found not in self.figures:
            self.figures.append(found)
        return column_tree(self.name, f"f{self.figures.index(found) + 1}", tree.place)

    def value(self, tree: Tree) -> Tree:
        return self.cutter.value(tree, self.rows, self.ctes)

    def calculated(self, tree: Tree) -> Tree:
        """Return a number in which no secret fails: whole ones are long, and a quotient by 0 is missing."""
        left, right = tree.child("this"), tree.child("expression")
        if tree.kind == "Cast" or left is None or right is None or tree.kind not in _ARITHMETIC:
            return tree.replaced(lambda node: None if node is tree else self.calculated(node))
        parts = [self.calculated(left), self.calculated(right)]
        if tree.kind == "Div" and self.is_secret(right) and not _is_nullif(right):
            zero = Tree("Literal", {"this": "0", "is_string": False})
            parts[1] = Tree("Anonymous", {"this": "nullif", "expressions": (parts[1], zero)})
        if tree.kind != "Div":
            parts = [
                Tree("Cast", {"this": part, "to": BIGINT}, part.place) if self.is_whole(part) else part
                for part in parts
            ]
        return tree.having(this=parts[0], expression=parts[1])

    def column(self, tree: Tree) -> Column | None:
        alias, name = column_name(tree)
        source = next((one for one in self.rows.sources if one.alias == alias), None)
        return None if source is None else source.relation.column(name)

    def is_secret(self, tree: Tree) -> bool:
        columns = [self.column(node) for node in tree.walk() if node.kind == "Column"]
        return any(column is not None and column.is_secret for column in columns)

    def is_whole(self, tree: Tree) -> bool:
        """Return whether a node is a secret column whose sums and products may be too long for its type."""
        column = self.column(tree) if tree.kind == "Column" else None
        return column is not None and column.is_secret and column.type_name in {"smallint", "integer"}

    def products(self, tree: Tree, call: Tree) -> Tree | None:
        """Return what pairs of numbers have in common as what sums of their products say."""
        template, arguments = _PAIRS.get(call.text("this").lower()), call.children("expressions")
        if template is None or len(arguments) != 2:
            return None
        y, x = arguments
        both = [_has_value(one) for one in arguments]
        if tree.kind == "Filter":
            where = tree.child("expression")
            both += () if where is None else where.children("this")
        chosen = Tree("Where", {"this": all_of(both)})

        def figure(name: str, argument: Tree) -> Tree:
            one = call.having(this=name, expressions=(argument,))
            return self.figure(Tree("Filter", {"this": one, "expression": chosen}, tree.place))

        def product(one: Tree, other: Tree) -> Tree:
            return Tree("Mul", {"this": _in_parentheses(one), "expression": _in_parentheses(other)})

        sums = {"x": x, "y": y, "xx": product(x, x), "yy": product(y, y), "xy": product(x, y)}
        made = {name: figure("sum", one) for name, one in sums.items() if re.search(rf"\b{name}\b", template)}
        made["n"] = figure("count", Tree("Star", {}))
        expression = parse(take_out_constants(scan(f"SELECT {template}"))).children("expressions")[0]
        return _in_parentheses(
            expression.replaced(lambda node: made[column_name(node)[1]] if node.kind == "Column" else None)
        )

    def filtered(self, tree: Tree) -> tuple[Tree, tuple[Tree, ...]]:
        """Return the call of an aggregate, and the conditions of its FILTER."""
        if tree.kind != "Filter":
            return tree, ()
        call, where = tree.child("this"), tree.child("expression")
        condition = None if where is None else where.child("this")
        if call is None:
            raise Refusal("Q010", tree.place, "This aggregate is not understood.")
        if condition is None:
            return call, ()
        return call, tuple(self.cutter.conjuncts(condition, self.rows, self.ctes))

    def multiple(self, tree: Tree, call: Tree) -> Tree | None:
        """Return an aggregate of a constant, or of a column times one, as a multiple of a plainer one."""
        name, arguments = call.text("this").lower(), call.children("expressions")
        if name not in {"sum", "avg"} or len(arguments) != 1:
            return None
        if name == "sum" and arguments[0].kind == "Literal":
            plain = call.having(this="count", expressions=(Tree("Star", {}),))
            kind, number = "Mul", arguments[0]
        else:
            factor = _factor(arguments[0], self)
            if factor is None:
                return None
            # a product of single values may be too large for its type, which would tell of them
            kind, number, scaled = factor
            plain = call.having(expressions=(scaled,))
        figure = self.figure(tree.having(this=plain) if tree.kind == "Filter" else plain)
        return _in_parentheses(Tree(kind, {"this": figure, "expression": number}, tree.place))

    def whether(self, tree: Tree, call: Tree) -> Tree | None:
        """Return a truth about all rows, or about one of them, as what their numbers say."""
        name, arguments = call.text("this").lower(), call.children("expressions")
        if name not in TRUTHS or len(arguments) != 1:
            return None
        (argument,) = arguments
        told = argument if name == "bool_or" else Tree("Not", {"this": _in_parentheses(argument)})
        rows = call.having(this="count", expressions=(Tree("Star", {}),))
        columns = [node for node in argument.walk() if node.kind == "Column"]
        is_strict = len(columns) == 1 and argument.kind in {"EQ", "NEQ", "GT", "GTE", "LT", "LTE"}
        known = call.having(this="count", expressions=(columns[0] if is_strict else argument,))
        conditions = [told]
        if tree.kind == "Filter":
            where = tree.child("expression")
            known = tree.having(this=known)
            conditions += () if where is None else where.children("this")
        chosen = Tree("Where", {"this": all_of(conditions)})
        found = self.figure(Tree("Filter", {"this": rows, "expression": chosen}, tree.place))
        zero = Tree("Literal", {"this": "0", "is_string": False})
        has_some = Tree("GT", {"this": self.figure(known), "expression": zero})
        says = Tree("GT" if name == "bool_or" else "EQ", {"this": found, "expression": zero})
        return Tree("Case", {"ifs": (Tree("If", {"this": has_some, "true": says}),)}, tree.place)

    def several(self, tree: Tree, call: Tree) -> Tree | None:
        """Return an array of percentiles as percentiles."""
        inner = call.child("this") if call.kind == "WithinGroup" else None
        fractions = () if inner is None else inner.children("expressions")
        if inner is None or len(fractions) != 1 or fractions[0].kind != "Array":
            return None
        each = []
        for fraction in fractions[0].children("expressions"):
            one = call.having(this=inner.having(expressions=(fraction,)))
            each.append(self.figure(tree.having(this=one) if tree.kind == "Filter" else one))
        return Tree("Array", {"expressions": tuple(each)}, tree.place)

    def skips_nobody(self, argument: Tree | None) -> bool:
        """Return whether a figure skips rows for which a LEFT JOIN finds no people."""
        if argument is None:
            return False
        nodes = list(argument.walk())
        columns = [column_name(node) for node in nodes if node.kind == "Column"]
        return (
            bool(columns)
            and all(node.kind in _STRICT for node in nodes)
            and not any(alias in self.rows.found_by for alias, _ in columns)
        )

    def is_filled(self, tree: Tree) -> bool:
        """Return whether an expression is a column that is never NULL."""
        alias, name = column_name(tree) if tree.kind == "Column" else ("", "")
        return any(
            source.alias == alias and source.on is None and column.is_filled
            for source in self.rows.sources
            for column in source.relation.columns
            if column.name == name
        )


def _percentile(tree: Tree) -> tuple[str, Tree | None, Tree | None]:
    """Return the name, the argument and the fraction of an aggregate WITHIN GROUP."""
    call, order = tree.child("this"), tree.child("expression")
    parts = () if order is None else order.children("expressions")
    if call is None or len(parts) != 1 or parts[0].args.get("desc"):
        raise Refusal("Q301", tree.place, "A percentile is over one column, in ascending order.")
    fraction = next(iter(call.children("expressions")), None)
    return call.text("this").lower(), parts[0].child("this"), fraction


def _call(call: Tree) -> tuple[str, Tree | None, None]:
    """Return the name and the argument of an aggregate, None for a star."""
    name, arguments = call.text("this").lower(), call.children("expressions")
    if len(arguments) != 1 or name in PERCENTILES:
        raise Refusal("Q301", call.place, "This aggregate has one argument.")
    (argument,) = arguments
    if argument.kind == "Star":
        return name, None, None
    if argument.kind == "Distinct":
        parts = argument.children("expressions")
        if name != "count" or len(parts) != 1:
            raise Refusal("Q301", call.place, "DISTINCT stands in count only.", "Leave it out.")
        return "count_distinct", parts[0], None
    return name, argument, None


def is_aggregate(tree: Tree) -> bool:
    """Return whether a node is a call of an aggregate."""
    if tree.kind in {"Filter", "WithinGroup"}:
        inner = tree.child("this")
        return inner is not None and is_aggregate(inner)
    return tree.kind == "Anonymous" and tree.text("this").lower() in _AGGREGATES


def _has_aggregate(tree: Tree) -> bool:
    return any(
        (is_aggregate(node) or (node.kind == "Anonymous" and node.text("this").lower() in _OTHER_AGGREGATES))
        and tree.kind != "Window"
        for node in tree.walk(lambda node: node.kind not in _QUERIES)
    )


def is_plain(query: Tree) -> bool:
    """Return whether a query only returns rows."""
    if query.kind == "Subquery":
        inner = query.child("this")
        return inner is not None and is_plain(inner)
    clauses = (
        "group",
        "having",
        "distinct",
        "limit",
        "offset",
        "windows",
        "locks",
        "sample",
        "qualify",
        "into",
    )
    return (
        query.kind == "Select"
        and not any(query.args.get(clause) for clause in clauses)
        and not any(
            _has_aggregate(tree) or any(node.kind == "Window" for node in tree.walk())
            for tree in query.children("expressions")
        )
    )


def all_of(conditions: Sequence[Tree]) -> Tree:
    """Return one condition for several."""
    found = _in_parentheses(conditions[0])
    for condition in conditions[1:]:
        found = Tree("And", {"this": found, "expression": _in_parentheses(condition)})
    return found


def _factor(tree: Tree, figures: _Figures) -> tuple[str, Tree, Tree] | None:
    """Return by which constant a secret column is multiplied or divided, and the column."""
    while tree.kind == "Paren":
        tree = tree.child("this") or Tree("Null", {})
    left, right = tree.child("this"), tree.child("expression")
    if tree.kind not in {"Mul", "Div"} or left is None or right is None:
        return None
    if tree.kind == "Mul" and left.kind == "Literal":
        left, right = right, left
    if right.kind != "Literal" or right.text("this").strip("0") == "" or left.kind != "Column":
        return None
    column = figures.cutter.value(left, figures.rows, figures.ctes)
    alias, name = column_name(column)
    source = next((one for one in figures.rows.sources if one.alias == alias), None)
    found = None if source is None else source.relation.column(name)
    is_exact = found is not None and (
        tree.kind == "Mul" or not found.type_name.startswith(("int", "small", "big"))
    )
    return (tree.kind, right, left) if found is not None and found.is_secret and is_exact else None


def _is_nullif(tree: Tree) -> bool:
    inner = tree.child("this") if tree.kind == "Paren" else None
    is_call = tree.kind == "Anonymous" and tree.text("this").lower() == "nullif"
    return is_call or (inner is not None and _is_nullif(inner))


def _has_value(tree: Tree) -> Tree:
    return Tree(
        "Is", {"this": _in_parentheses(tree), "expression": Tree("Null", {}), "negate": True}, tree.place
    )


def _in_parentheses(tree: Tree) -> Tree:
    return tree if tree.kind in {"Column", "Paren"} else Tree("Paren", {"this": tree}, tree.place)


def _is_column(tree: Tree) -> bool:
    inner = tree.child("this")
    return tree.kind == "Paren" and inner is not None and inner.kind == "Column"


def _from_items(select: Tree) -> list[Tree]:
    from_ = select.child("from_")
    first = None if from_ is None else from_.child("this")
    joins = [join.child("this") for join in select.children("joins")]
    nested = [] if first is None else [join.child("this") for join in first.children("joins")]
    return [item for item in (first, *joins, *nested) if item is not None]


def _cte_name(tree: Tree) -> str:
    alias = tree.child("alias")
    name = None if alias is None else alias.child("this")
    return "" if name is None else folded(name)


def _star(tree: Tree) -> str | None:
    """Return the alias before a star, "" for a star alone; None if it is none."""
    if tree.kind == "Star":
        return ""
    inner, table = tree.child("this"), tree.child("table")
    if tree.kind == "Column" and inner is not None and inner.kind == "Star":
        return "" if table is None else folded(table)
    return None


def _all_columns(item: Source | Derived) -> list[tuple[str, Tree]]:
    if isinstance(item, Derived):
        return list(item.outputs.items())
    return [
        (column.name, column_tree(item.alias, column.name))
        for column in item.relation.columns
        if column.is_built_in
    ]


def _output_name(tree: Tree) -> str:
    alias = tree.child("alias") if tree.kind == "Alias" else None
    return folded(alias) if alias is not None else given_name(tree)


def _only(tree: Tree, *names: str) -> None:
    """Refuse a node that has other arguments."""
    for name, value in tree.args.items():
        if value and name not in names:
            raise Refusal(
                "Q020", tree.place, f"{name.upper().replace('_', ' ')} has no place here.", "Leave it out."
            )
