"""The outputs of a block: aggregates become figures, and what is above them names columns of its table."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kanon_pg.queries.reading.aggregates import OTHER_AGGREGATES, calculated_of_others, call_of, is_aggregate
from kanon_pg.queries.reading.blocks import BIGINT, EXTREMES, Figure, column_name, column_tree
from kanon_pg.queries.reading.facts import Column
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.rows import ChosenRows, RowReader
from kanon_pg.queries.reading.scanner import words
from kanon_pg.queries.reading.scopes import folded
from kanon_pg.queries.reading.selects import QUERIES, has_value, number
from kanon_pg.queries.reading.trees import Tree

ARITHMETIC = words("Column Identifier Literal Paren Neg Add Sub Mul Div")
_STRICT = ARITHMETIC | words("Cast DataType DataTypeParam Extract Var")
"""What is NULL where a column in it is."""


class Figures:
    """Collects the figures of a block, and writes what is above them.

    Parameters
    ----------
    name : str
        Of the block.
    keys : list of Tree
        Columns that these determine are added.
    rest_of : callable
        Returns a subquery of an output with tables in place of its blocks.
    is_constant : callable
        Returns whether a subquery stands for a constant.
    """

    def __init__(
        self,
        name: str,
        keys: list[Tree],
        rows: ChosenRows,
        reader: RowReader,
        *,
        rest_of: Callable[[Tree], Tree],
        is_constant: Callable[[Tree], bool],
    ) -> None:
        self.name, self.keys, self.rows, self.reader = name, keys, rows, reader
        self.rest_of, self.is_constant = rest_of, is_constant
        self.figures: list[Figure] = []

    # --- above the block -----------------------------------------------------------------------------------

    def above(self, tree: Tree) -> Tree:
        """Return an expression of an output in terms of the block's table."""

        def change(node: Tree) -> Tree | None:
            if node.kind in QUERIES:
                return self.rest_of(node)
            if node.kind in {"Literal", "Identifier", "DataType", "Star"}:
                return None
            if node.kind == "Window":
                return self._window(node)
            if is_aggregate(node):
                return self._figure(node)
            key = self._key(node)
            if key is not None:
                return key
            if node.called in OTHER_AGGREGATES:
                hint = OTHER_AGGREGATES[node.called]
                raise Refusal("Q506", node.place, f"{node.called}() is no figure.", hint)
            if node.kind == "Column":
                raise Refusal(
                    "Q505",
                    node.place,
                    "This column is neither in GROUP BY nor in an aggregate.",
                    "Add it to GROUP BY.",
                )
            return None

        return tree.replaced(change)

    def _inside(self, tree: Tree) -> Tree:
        """Return a node whose parts are expressions of outputs."""
        return tree.replaced(lambda node: None if node is tree else self.above(node))

    def _window(self, tree: Tree) -> Tree:
        """Return a window function over the block's rows: its own function is PostgreSQL's."""
        inner = tree.child("this")
        call = inner.child("this") if inner is not None and inner.kind == "Filter" else inner
        if inner is None or call is None:
            return tree
        parts = tree.having(this=None)
        arguments = tuple(map(self.above, call.arguments))
        call = call.having(expressions=arguments or call.args.get("expressions"))
        if inner.kind == "Filter":
            condition = inner.child("expression")
            call = inner.having(this=call, expression=None if condition is None else self._inside(condition))
        return self._inside(parts).having(this=call)

    def order(self, tree: Tree, names: Collection[str]) -> Tree:
        """Return ORDER BY, whose parts may be numbers or names of outputs."""
        parts = []
        for part in tree.arguments:
            value = part.child("this")
            is_name = (
                value is not None
                and value.kind == "Column"
                and value.child("table") is None
                and folded(value.child("this") or value) in names
            )
            is_as_written = value is None or is_name or value.kind == "Literal"
            parts.append(part if value is None or is_as_written else part.having(this=self.above(value)))
        return tree.having(expressions=tuple(parts))

    def _key(self, tree: Tree) -> Tree | None:
        """Return the column of a key, if an expression is one, or is determined by some."""
        if any(node.kind in QUERIES and not self.is_constant(node) for node in tree.walk()):
            return None
        try:
            value = self._value(tree)
        except Refusal:
            return None
        if value not in self.keys:
            if not self._is_determined(value):
                return None
            self.keys.append(value)
        return column_tree(self.name, f"k{self.keys.index(value) + 1}", tree.place)

    def _is_determined(self, tree: Tree) -> bool:
        """Return whether a column has one value in each row: the key of its table stands in GROUP BY."""
        if tree.kind != "Column":
            return False
        alias, _ = column_name(tree)
        given = {name for of, name in map(column_name, self.keys) if of == alias}
        return any(
            source.alias == alias and source.relation.key and given >= set(source.relation.key)
            for source in self.rows.sources
        )

    # --- figures -------------------------------------------------------------------------------------------

    def _figure(self, tree: Tree) -> Tree:
        """Return what stands for an aggregate above the block: a column, or what is calculated of some."""
        call, conditions = self._filtered(tree)
        other = calculated_of_others(tree, self._column_written)
        if other is not None:
            return other.replaced(lambda node: self._figure(node) if is_aggregate(node) else None)
        written = self._value(tree)
        name, argument, fraction = call_of(call)
        key = None if argument is None or name not in EXTREMES else self._key(argument)
        if key is not None:
            return key  # has one value in each row
        if argument is not None:
            argument = self._calculated(self._value(argument))
        if self.rows.joined_from and not self._skips_nobody(argument):
            raise Refusal(
                "Q405",
                tree.place,
                "Beside LEFT JOIN, figures are of columns of people, which rows about nobody do not have.",
                "Count a column of theirs: count(patient_id).",
            )
        if name == "count" and argument is not None:
            # rows that have a value are a condition like others
            if argument.columns and not self._is_filled(argument):
                conditions = (*conditions, has_value(argument))
            argument = None
        figure = Figure(name, argument, conditions, fraction, written)
        if figure not in self.figures:
            self.figures.append(figure)
        return column_tree(self.name, f"f{self.figures.index(figure) + 1}", tree.place)

    def _filtered(self, tree: Tree) -> tuple[Tree, tuple[Tree, ...]]:
        """Return the call of an aggregate, and the conditions of its FILTER."""
        if tree.kind != "Filter":
            return tree, ()
        call, where = tree.child("this"), tree.child("expression")
        if call is None:
            raise Refusal("Q010", tree.place, "This aggregate is not understood.")
        conditions = () if where is None else where.children("this")
        return call, tuple(part for one in conditions for part in self.reader.conjuncts(one, self.rows))

    def _value(self, tree: Tree) -> Tree:
        return self.reader.value(tree, self.rows)

    def _calculated(self, tree: Tree) -> Tree:
        """Return a number in which no secret fails: integers are long, and a quotient by 0 is missing."""
        if tree.kind == "Cast" or tree.kind not in ARITHMETIC or len(tree.operands) != 2:
            return tree.replaced(lambda node: None if node is tree else self._calculated(node))
        right = tree.operands[1]
        parts = list(map(self._calculated, tree.operands))
        if tree.kind == "Div":
            if self._is_secret(right) and right.bare.called != "nullif":
                parts[1] = Tree("Anonymous", {"this": "nullif", "expressions": (parts[1], number("0"))})
        else:
            parts = [
                Tree("Cast", {"this": part, "to": BIGINT}, part.place) if self._is_whole(part) else part
                for part in parts
            ]
        return tree.having(this=parts[0], expression=parts[1])

    def _column(self, tree: Tree) -> Column | None:
        alias, name = column_name(tree)
        source = next((one for one in self.rows.sources if one.alias == alias), None)
        return None if source is None else source.relation.column(name)

    def _column_written(self, tree: Tree) -> Column | None:
        return self._column(self._value(tree))

    def _is_secret(self, tree: Tree) -> bool:
        return any(column is not None and column.is_secret for column in map(self._column, tree.columns))

    def _is_whole(self, tree: Tree) -> bool:
        """Return whether a node is a secret column whose sums and products may be too long for its type."""
        column = self._column(tree) if tree.kind == "Column" else None
        return column is not None and column.is_secret and column.type_name in {"smallint", "integer"}

    def _skips_nobody(self, argument: Tree | None) -> bool:
        """Return whether a figure skips rows in which a LEFT JOIN has no people."""
        return (
            argument is not None
            and bool(argument.columns)
            and all(node.kind in _STRICT for node in argument.walk())
            and self.rows.joined_from.isdisjoint(column_name(node)[0] for node in argument.columns)
        )

    def _is_filled(self, tree: Tree) -> bool:
        """Return whether an expression is a column that is never NULL."""
        alias, name = column_name(tree) if tree.kind == "Column" else ("", "")
        source = next((one for one in self.rows.sources if one.alias == alias), None)
        column = None if source is None or source.on is not None else source.relation.column(name)
        return column is not None and column.is_filled
