"""Blocks: what a query asks about people, cut out of its text.

In the trees of a block every column is ``"source"."column"`` with the alias of one of its sources.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kanon_pg.queries.reading.facts import Column, Relation
from kanon_pg.queries.reading.scanner import PLACE, words
from kanon_pg.queries.reading.trees import Tree


@dataclass(frozen=True, slots=True)
class Source:
    """A relation in FROM, by an alias that is unique in the query."""

    alias: str
    relation: Relation
    on: tuple[Tree, ...] | None = None
    """The conditions of a LEFT JOIN that adds it, None if it is joined by the block's conditions."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One aggregate."""

    function: str
    """A name of `FIGURES`."""
    argument: Tree | None
    """What is aggregated; None for ``count(*)``."""
    conditions: tuple[Tree, ...]
    """All of them hold for the rows that enter (FILTER)."""
    fraction: Tree | None
    """The constant of a percentile."""
    written: Tree
    """The aggregate as PostgreSQL would compute it, for its type and its errors."""


SPREADS = words("variance var_samp var_pop stddev stddev_samp stddev_pop")
PERCENTILES = words("percentile_cont percentile_disc")
EXTREMES = words("min max")
FIGURES = SPREADS | PERCENTILES | EXTREMES | words("count count_distinct sum avg")


@dataclass(frozen=True)
class Block:
    """One SELECT about people."""

    name: str
    """Of the table that stands in the rest for the block's rows."""
    sources: tuple[Source, ...]
    conditions: tuple[Tree, ...]
    """All of them hold; links and other joins are among them."""
    keys: tuple[Tree, ...]
    """Columns ``k1``, ``k2`` ... of the rows."""
    figures: tuple[Figure, ...]
    """Columns ``f1``, ``f2`` ..."""
    inner: tuple[Source, ...] = ()
    """Those of subqueries in conditions (EXISTS, IN)."""
    leaves_out_nobody: bool = False
    """Whether rows about nobody are left out, that the query as written has."""

    @property
    def on(self) -> tuple[Tree, ...]:
        """The conditions of its LEFT JOINs."""
        return tuple(one for source in self.sources for one in source.on or ())

    @property
    def trees(self) -> tuple[Tree, ...]:
        """All expressions."""
        figures = [one for figure in self.figures for one in (*figure.conditions, figure.argument)]
        return (*self.conditions, *self.on, *self.keys, *filter(None, figures))

    def source(self, alias: str) -> Source:
        """Return the source with an alias."""
        return next(source for source in (*self.sources, *self.inner) if source.alias == alias)

    def column(self, tree: Tree) -> Column:
        """Return the column that a node of the kind 'Column' names."""
        alias, name = column_name(tree)
        column = self.source(alias).relation.column(name)
        if column is None:
            raise AssertionError("A block names a column that its source does not have.")
        return column

    def secrets(self, trees: Iterable[Tree]) -> frozenset[tuple[str, str]]:
        """Return alias and name of the secret columns in expressions."""
        own = {source.alias for source in (*self.sources, *self.inner)}
        return frozenset(
            column_name(node)
            for tree in trees
            for node in tree.columns
            if column_name(node)[0] in own and self.column(node).is_secret
        )

    @cached_property
    def chosen_by_secrets(self) -> frozenset[str]:
        """Aliases of public sources of which secrets choose the row: their columns are secrets of people."""
        public = {source.alias for source in self.sources if source.relation.protection is None}
        chosen = set[str]()

        def is_secret(condition: Tree) -> bool:
            return bool(self.secrets([condition])) or not chosen.isdisjoint(aliases(condition))

        while True:
            conditions = filter(is_secret, (*self.conditions, *self.on))
            more = {alias for one in conditions for alias in aliases(one) & public}
            # what decides a LEFT JOIN is not in its columns alone
            more |= {source.alias for source in self.sources if any(map(is_secret, source.on or ()))}
            if more <= chosen:
                return frozenset(chosen)
            chosen |= more

    def depends_on_secrets(self, tree: Tree) -> bool:
        """Return whether an expression says something of secrets."""
        return bool(self.secrets([tree])) or not self.chosen_by_secrets.isdisjoint(aliases(tree))

    @cached_property
    def secret_keys(self) -> tuple[int, ...]:
        """Positions of the keys that depend on secrets."""
        return tuple(place for place, key in enumerate(self.keys) if self.depends_on_secrets(key))

    def is_chosen(self, figure: Figure) -> bool:
        """Return whether secrets choose the rows of a figure."""
        conditions = (*self.conditions, *figure.conditions)
        return bool(self.secret_keys) or any(map(self.depends_on_secrets, conditions))

    def reads_secret(self, figure: Figure) -> bool:
        """Return whether a figure is a number of secret columns."""
        return figure.argument is not None and bool(self.secrets([figure.argument]))

    def divided(self, conditions: Iterable[Tree]) -> tuple[tuple[Tree, ...], tuple[Tree, ...]]:
        """Return the conditions on known columns alone, and those that depend on secrets."""
        parts: tuple[list[Tree], list[Tree]] = [], []
        for one in conditions:
            parts[self.depends_on_secrets(one)].append(one)
        return tuple(parts[0]), tuple(parts[1])


@dataclass(frozen=True, slots=True)
class Computed:
    """A figure of one block that is a constant in others."""

    place: int
    """Its place among the constants."""
    block: str
    figure: Tree
    """An expression of the one row of the block."""

    @property
    def tree(self) -> Tree:
        """What stands for it in other blocks."""
        return constant_tree(self.place)

    def is_in(self, block: Block) -> bool:
        """Return whether it stands in a block."""
        return any(node == self.tree for tree in block.trees for node in tree.walk())


@dataclass(frozen=True, slots=True)
class Cut:
    """A query as blocks and the rest."""

    blocks: tuple[Block, ...]
    rest: Tree
    """The query with tables of the blocks' names in place of the blocks."""
    constants: tuple[str, ...] = ()
    """SQL of the constants in all trees; NULL for those that are computed."""
    computed: tuple[Computed, ...] = ()
    """Each is of a block that stands before those in which it is a constant."""


def aliases(tree: Tree) -> frozenset[str]:
    """Return the aliases of the sources that an expression names."""
    return frozenset(column_name(node)[0] for node in tree.columns)


def column_name(tree: Tree) -> tuple[str, str]:
    """Return the alias and the name of a column of a block."""
    table, name = tree.child("table"), tree.child("this")
    return ("" if table is None else table.text("this")), ("" if name is None else name.text("this"))


def column_tree(alias: str, name: str, place: int = 0) -> Tree:
    """Return the tree of a column."""
    return Tree("Column", {"this": name_tree(name), "table": name_tree(alias)}, place)


def constant_tree(place: int) -> Tree:
    """Return what stands for a constant of a query, by its place among them."""
    return Tree("Literal", {"this": f"{PLACE}{place}", "is_string": True})


BIGINT = Tree("DataType", {"this": "BIGINT", "nested": False})
"""The type that secret integers are added and multiplied in."""


def name_tree(name: str) -> Tree:
    """Return the tree of a name, quoted."""
    return Tree("Identifier", {"this": name, "quoted": True})


def equal_columns(condition: Tree) -> tuple[tuple[str, str], ...]:
    """Return the columns that a condition demands to be equal, none if it says something else."""
    sides = condition.bare.operands
    if condition.bare.kind != "EQ" or [side.kind for side in sides] != ["Column", "Column"]:
        return ()
    return tuple(map(column_name, sides))
