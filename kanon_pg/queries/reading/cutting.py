"""Cuts a query into blocks, which are about people, and the rest, which is PostgreSQL's.

A block is a SELECT that reads protected relations, with everything in it that only returns rows. Its keys
and figures become columns of a table, which stands in the query in place of what was read; HAVING becomes a
condition on that table's rows. What is above figures is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanon_pg.queries.reading.aggregates import has_aggregate, is_plain
from kanon_pg.queries.reading.blocks import Block, Computed, Cut, name_tree
from kanon_pg.queries.reading.facts import Facts
from kanon_pg.queries.reading.figures import ARITHMETIC, Figures
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.rows import ChosenRows, Cte, Ctes, RowReader, cte_named
from kanon_pg.queries.reading.scanner import words
from kanon_pg.queries.reading.scopes import folded, relation_named
from kanon_pg.queries.reading.selects import QUERIES, from_items, inner_query, output_name, require_only, star
from kanon_pg.queries.reading.trees import Tree

BLOCK = "kanon_block_"
"""How the names of tables begin that stand for blocks."""

_Output = tuple[str, "Tree | None"]


def cut(tree: Tree, facts: Facts, constants: Sequence[str]) -> Cut:
    """Cut a query, with its constants as SQL, into blocks and the rest."""
    if tree.kind not in QUERIES:
        raise Refusal("Q021", tree.place, "Only SELECT can be answered.", "Write one SELECT.")
    cutter = _Cutter(facts, len(constants))
    rest = cutter.query(tree, {})
    computed = tuple(one.constant for one in cutter.computed)
    return Cut(tuple(cutter.blocks), rest, (*constants, *["NULL"] * len(computed)), computed)


@dataclass(frozen=True, slots=True)
class _ComputedQuery:
    """A subquery that stands for a constant, with what it can name."""

    query: Tree
    ctes: Ctes
    constant: Computed


class _Cutter:
    def __init__(self, facts: Facts, constants: int) -> None:
        self.facts, self.constants = facts, constants
        self.reader = RowReader(facts, self)
        self.blocks: list[Block] = []
        self.computed: list[_ComputedQuery] = []
        # the keys are identities: trees and mappings stay beside them, so that these are not used again
        self.clauses: dict[tuple[int, int], tuple[Tree, Ctes, tuple[Tree, Ctes]]] = {}
        self.names = 0

    # --- the rest ------------------------------------------------------------------------------------------

    def query(self, tree: Tree, ctes: Ctes) -> Tree:
        """Return a query with tables in place of its blocks."""
        if tree.kind not in QUERIES:
            return self.below(tree, ctes)
        tree, ctes = self.within(tree, ctes)
        if tree.kind == "Select" and self.reads_people(tree, ctes):
            return self.block(tree, ctes)
        return self.below(tree, ctes)

    def below(self, tree: Tree, ctes: Ctes) -> Tree:
        """Return a node with tables in place of the blocks below it."""

        def change(node: Tree) -> Tree | None:
            if node is tree:
                return None
            if node.kind in QUERIES:
                return self.query(node, ctes)
            if node.kind == "Table" and cte_named(node, ctes) is None and self.is_protected(node):
                raise Refusal("Q107", node.place, "A table of people has no place here.", "Name it in FROM.")
            return None

        return tree.replaced(change)

    def is_protected(self, table: Tree) -> bool:
        relation = relation_named(table, self.facts)
        return relation is not None and relation.protection is not None

    def within(self, query: Tree, ctes: Ctes) -> tuple[Tree, Ctes]:
        """Return a query without the WITH items that are rows of people, and what can be named in it."""
        clause = query.child("with_")
        if clause is None:
            return query, ctes
        # each is read once, however often it is looked at: its blocks are answered once
        place = id(query), id(ctes)
        if place not in self.clauses:
            self.clauses[place] = query, ctes, self.read_clause(query, clause, ctes)
        return self.clauses[place][2]

    def read_clause(self, query: Tree, clause: Tree, ctes: Ctes) -> tuple[Tree, Ctes]:
        named, left = dict(ctes), []
        for item in clause.arguments:
            inner, alias = item.child("this"), item.child("alias")
            if inner is None or alias is None:
                raise Refusal(
                    "Q010", item.place, "This WITH is not understood.", "Write WITH name AS (SELECT ...)."
                )
            name = "".join(map(folded, alias.children("this")))
            around = dict(named)
            cte = Cte(inner, tuple(map(folded, alias.children("columns"))), around)
            if is_plain(inner) and self.reads_people(inner, around):
                if clause.args.get("recursive"):
                    raise Refusal(
                        "Q110", item.place, "A recursive query cannot read people.", "Leave RECURSIVE out."
                    )
                named[name] = replace(cte, is_about_people=True)
                continue
            left.append(item.having(this=self.query(inner, around)))
            named[name] = cte if is_plain(inner) else replace(cte, query=Tree("Null", {}))
        return query.having(with_=clause.having(expressions=tuple(left)) if left else None), named

    def reads_people(self, select: Tree, ctes: Ctes) -> bool:
        """Return whether a SELECT reads rows of people, itself or in subqueries that only return rows."""
        query = inner_query(select)
        return (
            query is not None
            and query.kind == "Select"
            and any(self.has_people(item, ctes) for item in from_items(query))
        )

    def has_people(self, item: Tree, ctes: Ctes) -> bool:
        if item.kind == "Subquery":
            inner = item.child("this")
            return (
                inner is not None
                and is_plain(inner)
                and self.reads_people(inner, self.within(inner, ctes)[1])
            )
        if item.kind != "Table":
            return False
        cte = cte_named(item, ctes)
        return self.is_protected(item) if cte is None else cte.is_about_people

    # --- subqueries in place of values ---------------------------------------------------------------------

    def constant(self, query: Tree, ctes: Ctes) -> Tree:
        """Return what stands for the one figure of a block of its own, which is answered first."""
        known = self.computed_of(query, ctes)
        if known is not None:
            return known.tree
        inner = inner_query(query)
        select, around = (None, ctes) if inner is None else self.within(inner, ctes)
        clauses = words("group having distinct limit offset order with_")
        if (
            select is None
            or any(map(select.args.get, clauses))
            or is_plain(select)
            or not self.reads_people(select, around)
        ):
            raise Refusal(
                "Q108",
                query.place,
                "A subquery in a condition is EXISTS, or one figure of people.",
                "Run it first, and write its answer as a constant.",
            )
        outputs = self.block(select, around).arguments
        figure = outputs[0].child("this") if len(outputs) == 1 else None
        if figure is None or any(node.kind not in ARITHMETIC for node in figure.walk()):
            raise Refusal(
                "Q108",
                query.place,
                "This subquery is not one figure.",
                "For example: (SELECT avg(cost) ...).",
            )
        constant = Computed(self.constants + len(self.computed), self.blocks[-1].name, figure)
        self.computed.append(_ComputedQuery(query, ctes, constant))
        return constant.tree

    def computed_of(self, query: Tree, ctes: Ctes) -> Computed | None:
        """Return the constant that a subquery stands for, if it was read before."""
        same = (one.constant for one in self.computed if one.query == query and one.ctes == ctes)
        return next(same, None)

    # --- blocks --------------------------------------------------------------------------------------------

    def block(self, select: Tree, ctes: Ctes) -> Tree:
        """Cut a SELECT that reads people, and return what stands for it in the rest."""
        for clause in ("locks", "sample", "into", "kind", "hint", "windows", "qualify", "laterals"):
            if select.args.get(clause):
                raise Refusal("Q501", select.place, f"{clause.upper()} has no place here.", "Leave it out.")
        rows = self.reader.rows(select, ctes)
        items: list[_Output] = [
            (output_name(one), one.child("this") if one.kind == "Alias" else one) for one in select.arguments
        ]
        keys = self.keys(select, items, rows)
        self.names += 1
        figures = Figures(
            f"{BLOCK}{self.names}",
            keys,
            rows,
            self.reader,
            rest_of=lambda query: self.query(query, ctes),
            is_constant=lambda query: self.computed_of(query, ctes) is not None,
        )
        is_grouped = select.child("group") is not None
        if not is_grouped and not any(has_aggregate(tree) for _, tree in items if tree is not None):
            distinct = select.child("distinct")
            if distinct is None or distinct.child("on") is not None:
                raise Refusal(
                    "Q502",
                    select.place,
                    "Rows of single people are not shown.",
                    "Group them: SELECT ..., count(*) FROM ... GROUP BY ...;",
                )
            keys += [self.reader.value(tree, rows) for _, tree in items if tree is not None]
        outputs = []
        for name, tree in items:
            if tree is None or star(tree) is not None:
                raise Refusal(
                    "Q502", select.place, "Rows of single people are not shown.", "Name keys and figures."
                )
            parts = {"this": figures.above(tree), "alias": name_tree(name)}
            outputs.append(Tree("Alias", parts, tree.place))
        having, order = select.child("having"), select.child("order")
        where = None if having is None else figures.above(having.child("this") or having)
        rest = select.having(
            expressions=tuple(outputs),
            joins=None,
            group=None,
            having=None,
            where=None if where is None else Tree("Where", {"this": where}),
            order=None if order is None else figures.order(order, {name for name, _ in items}),
            from_=Tree("From", {"this": Tree("Table", {"this": name_tree(figures.name)})}),
        )
        self.blocks.append(
            Block(
                figures.name,
                tuple(rows.sources),
                tuple(rows.conditions),
                tuple(keys),
                tuple(figures.figures),
                tuple(rows.inner),
                leaves_out_nobody=bool(rows.joined_from),
            )
        )
        return rest

    def keys(self, select: Tree, items: Sequence[_Output], rows: ChosenRows) -> list[Tree]:
        group = select.child("group")
        if group is None:
            return []
        require_only(group, "expressions")
        keys: list[Tree] = []
        for tree in group.arguments:
            if tree.kind in {"Rollup", "Cube", "GroupingSets", "Tuple"}:
                raise Refusal(
                    "Q503",
                    tree.place,
                    "Grouping sets are not answered.",
                    "Write one SELECT for each, with UNION ALL.",
                )
            key = self.reader.value(self.key(tree, items, rows), rows)
            if key not in keys:
                keys.append(key)
        return keys

    def key(self, tree: Tree, items: Sequence[_Output], rows: ChosenRows) -> Tree:
        """Return what a part of GROUP BY means: an output by number or by name, or an expression."""
        if tree.kind == "Literal" and not tree.args.get("is_string"):
            number = int(tree.text("this")) if tree.text("this").isdigit() else 0
            if not 1 <= number <= len(items):
                raise Refusal("Q504", tree.place, "There is no output of this number.", "Count from 1.")
            return items[number - 1][1] or tree
        if tree.kind != "Column" or tree.child("table") is not None:
            return tree
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
