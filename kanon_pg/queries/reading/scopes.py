"""What names mean where they stand: relations, columns, and rows of subqueries that merge into a SELECT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kanon_pg.queries.reading.blocks import Source, column_tree, name_tree
from kanon_pg.queries.reading.facts import Facts, Relation
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import words
from kanon_pg.queries.reading.trees import Tree

_NOT_COLUMNS = words(
    "user current_user session_user current_role current_date current_time current_timestamp localtime"
    " localtimestamp current_catalog current_schema"
)
"""Words that PostgreSQL reads as functions where sqlglot reads columns."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A subquery that only returns rows: its outputs, in terms of the sources that it reads."""

    outputs: Mapping[str, Tree]


Item: TypeAlias = "Source | Derived"


@dataclass(slots=True)
class Scope:
    """What one SELECT can name."""

    items: dict[str, Item] = field(default_factory=dict)
    """By alias."""
    merged: dict[str, Tree] = field(default_factory=dict)
    """Columns of USING, which belong to both sides."""
    outer: Scope | None = None
    """Of the SELECT around a subquery in a condition."""

    def add(self, alias: str, item: Item, place: int) -> None:
        """Add an item of FROM."""
        if alias in self.items:
            raise Refusal("Q102", place, "Two tables have the same name here.", "Give one another alias.")
        self.items[alias] = item

    def column(self, tree: Tree) -> Tree:
        """Return what a column stands for."""
        table, name_node = tree.child("table"), tree.child("this")
        if name_node is None or name_node.kind != "Identifier":
            raise Refusal("Q103", tree.place, "Rows as a whole are not read.", "Name the columns.")
        name = folded(name_node)
        if table is None and not name_node.args.get("quoted") and name in _NOT_COLUMNS:
            raise Refusal("Q204", tree.place, f"{name} depends on the session.", "Write a constant.")
        meant = self._find(None if table is None else folded(table), name, tree)
        if meant is None:
            raise Refusal(
                "Q103", tree.place, "There is no such column here.", "Name a column of a table in FROM."
            )
        return meant

    def _find(self, table: str | None, name: str, tree: Tree) -> Tree | None:
        if table is None and name in self.merged:
            return self.merged[name]
        items = [item for alias, item in self.items.items() if table in {None, alias}]
        columns = [one for one in (_column_of(item, name, tree.place) for item in items) if one is not None]
        if len(columns) > 1:
            raise Refusal(
                "Q104", tree.place, "Several tables have this column.", "Write the table before it."
            )
        if columns:
            schema = tree.child("db")
            if schema is not None:
                _require_schema(self.items[table or ""], folded(schema), tree.place)
            return columns[0]
        return self.outer._find(table, name, tree) if self.outer is not None else None


def _require_schema(item: Item, schema: str, place: int) -> None:
    if not isinstance(item, Source) or item.relation.schema != schema:
        raise Refusal("Q103", place, "There is no such column here.", "Name a column of a table in FROM.")


def _column_of(item: Item, name: str, place: int) -> Tree | None:
    if isinstance(item, Derived):
        return item.outputs.get(name)
    column = item.relation.column(name)
    if column is None:
        return None
    if not column.is_built_in:
        raise Refusal(
            "Q201",
            place,
            "The type of this column is not PostgreSQL's own.",
            "Leave it out, or convert it in a view.",
        )
    return column_tree(item.alias, name, place)


def folded(tree: Tree) -> str:
    """Return a name as PostgreSQL folds it."""
    text = tree.text("this")
    if tree.args.get("quoted"):
        return text
    return "".join(one.lower() if one.isascii() else one for one in text)


def relation_named(tree: Tree, facts: Facts) -> Relation | None:
    """Return the relation that a node of the kind 'Table' names, or None."""
    schema, name = tree.child("db"), tree.child("this")
    if name is None or name.kind != "Identifier" or tree.child("catalog") is not None:
        return None
    return facts.find(None if schema is None else folded(schema), folded(name))


def table_tree(source: Source) -> Tree:
    """Return the node that names a source with its schema and alias."""
    return Tree(
        "Table",
        {
            "this": name_tree(source.relation.name),
            "db": name_tree(source.relation.schema),
            "alias": Tree("TableAlias", {"this": name_tree(source.alias)}),
        },
    )
