"""What names mean inside one SELECT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Final

from kanon_pg.queries.check.bind.aggregates import bind_aggregate, bind_window
from kanon_pg.queries.check.bind.case_aggregates import as_filtered, rows_with_both, with_numbers
from kanon_pg.queries.check.bind.columns import UNUSABLE_HINT, why_unusable
from kanon_pg.queries.check.bind.constants_outside import with_constants_outside
from kanon_pg.queries.check.bind.expressions import bind_expression
from kanon_pg.queries.check.catalog import Column
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.functions import PAIRS_COUNT
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, KeyRef
from kanon_pg.queries.check.read.syntax import (
    Call,
    Constant,
    Expression,
    Name,
    Placeholder,
    ScalarQuery,
    Windowed,
)
from kanon_pg.queries.check.types import NUMBERS

GROUPING: Final = "grouping"
"""Name of the function that distinguishes the groupings of a query."""


def at_span(bound: Bound, span: Span) -> Bound:
    """Return the expression with the place where it is named."""
    return replace(bound, span=span)


@dataclass(slots=True)
class VisibleSource:
    """A name in FROM with its columns, and those that cannot be used.

    Parameters
    ----------
    schema : str or None
        Schema of a relation without an alias, by which it may be named, too.
    """

    name: str
    columns: Mapping[str, Bound]
    unusable: Mapping[str, Column] = field(default_factory=dict)
    schema: str | None = None

    def is_named(self, table: Sequence[str]) -> bool:
        """Return whether what stands before a column means this source; nothing means every one."""
        return not table or tuple(table) in {(self.name,), (self.schema, self.name)}


@dataclass(slots=True)
class RowScope:
    """Meaning of names for single rows: WHERE, GROUP BY, arguments of aggregates.

    Parameters
    ----------
    visible : list of VisibleSource
        Names in FROM, in order.
    merged : dict
        Columns of JOIN ... USING, which need no table name.
    protected : bool
        Whether a row may stand for a person.
    scalars : dict
        What stands for the queries in the place of values.
    """

    visible: list[VisibleSource] = field(default_factory=list)
    merged: dict[str, Bound] = field(default_factory=dict)
    protected: bool = False
    scalars: dict[ScalarQuery, Bound] = field(default_factory=dict)

    def matching_key(self, expression: Expression) -> Bound | None:
        """Nothing but single names is known here."""
        del expression
        return None

    def column(self, name: Name) -> Bound:
        """Return the column that the name means, refusing unknown and ambiguous ones."""
        *table, column = name.parts
        if not table and column in self.merged:
            return at_span(self.merged[column], name.span)
        tables = [item for item in self.visible if item.is_named(table)]
        if table and not tables:
            shown = ".".join(table)
            raise Refusal("Q102", name.span, f'There is no table "{shown}" in FROM.', self._tables())
        found = [item.columns[column] for item in tables if column in item.columns]
        if len(found) > 1:
            raise Refusal("Q103", name.span, f'The column "{column}" is ambiguous.', "Write table.column.")
        if not found:
            for item in tables:
                if column in item.unusable:
                    raise _unusable(name, item.unusable[column])
            known = sorted({key for item in tables for key in item.columns})[:12]
            hint = f"Columns here: {', '.join(known)}." if known else ""
            near = get_close_matches(column, [key for item in tables for key in item.columns], n=1)
            hint += f" Perhaps {near[0]}?" if near else " A text stands in single quotes."
            raise Refusal("Q101", name.span, f'There is no column "{column}" that can be used.', hint)
        return at_span(found[0], name.span)

    def _tables(self) -> str:
        names = ", ".join(item.name for item in self.visible)
        return f"Tables here: {names}." if names else ""

    def aggregate(self, call: Call) -> Bound:
        """Refuse aggregates."""
        hint = (
            "Aggregates stand in the list of outputs, in HAVING and in ORDER BY, and not within each other."
        )
        raise Refusal("Q215", call.span, "An aggregate has no place here.", hint)

    def window(self, windowed: Windowed) -> Bound:
        """Refuse window functions."""
        hint = "Group first: sum(count(*)) OVER (ORDER BY ...) with GROUP BY."
        raise Refusal("Q217", windowed.span, "Window functions work on groups, not on rows.", hint)

    def scalar(self, scalar: ScalarQuery) -> Bound:
        """Return the column that holds the answer of a query in the place of a value."""
        found = self.scalars.get(scalar)
        if found is None:
            hint = "Put the query into FROM or WITH, and join it."
            raise Refusal("Q021", scalar.span, "A query has no place as a value here.", hint)
        return at_span(found, scalar.span)

    def star(self, table: tuple[str, ...], span: Span) -> list[tuple[str, Bound]]:
        """Return all columns, or those of one table."""
        tables = [item for item in self.visible if item.is_named(table)]
        if not tables:
            named = f'There is no table "{".".join(table)}" in FROM.'
            raise Refusal("Q102", span, named if table else "The star has no table in FROM.", self._tables())
        found = [] if table else list(self.merged.items())
        skipped = set() if table else set(self.merged)
        found += [
            (key, value) for item in tables for key, value in item.columns.items() if key not in skipped
        ]
        return [(key, at_span(value, span)) for key, value in found]


def _unusable(name: Name, column: Column) -> Refusal:
    sentence = f'The column "{column.name}" cannot be queried: {why_unusable(column)}.'
    return Refusal("Q101", name.span, sentence, UNUSABLE_HINT)


@dataclass(slots=True)
class GroupScope:
    """Meaning of names for groups: outputs, HAVING, ORDER BY.

    Parameters
    ----------
    rows : RowScope
        Meaning inside of aggregates.
    """

    rows: RowScope
    keys: tuple[Bound, ...]
    _known: dict[int, tuple[Expression, Bound | None]] = field(default_factory=dict)

    def matching_key(self, expression: Expression) -> Bound | None:
        """Return the group key that the expression equals, or None."""
        if isinstance(expression, Call) and expression.function == GROUPING:
            return self._grouping(expression)
        if isinstance(expression, Constant | Placeholder) or not self.keys:
            return None
        if id(expression) not in self._known:
            self._known[id(expression)] = (expression, self._key(expression))
        return self._known[id(expression)][1]

    def _key(self, expression: Expression) -> Bound | None:
        try:
            bound = bind_expression(expression, self.rows)
        except Refusal:
            return None
        return self.key(bound)

    def _grouping(self, call: Call) -> Bound:
        keys = tuple(self._key(argument) for argument in call.arguments)
        if not 1 <= len(keys) < 32 or None in keys:
            raise Refusal("Q508", call.span, "grouping takes keys of GROUP BY.", "Write grouping(key).")
        found = tuple(key for key in keys if key is not None)
        return AllowedCall(type="int4", name=GROUPING, template="", operands=found, span=call.span)

    def key(self, bound: Bound) -> Bound | None:
        """Return the group key that a row expression equals, or None."""
        if bound not in self.keys:
            return None
        return KeyRef(
            type=bound.type, as_numeric=bound.as_numeric, position=self.keys.index(bound), span=bound.span
        )

    def column(self, name: Name) -> Bound:
        """Refuse a column that is no group key."""
        found = self.rows.column(name)
        shown = ".".join(name.parts)
        example = "avg" if found.type in NUMBERS else "count"
        hint = f"Add it to GROUP BY, or aggregate it: {example}({shown}). Identifiers cannot be shown."
        raise Refusal("Q216", name.span, f"{shown} is neither grouped nor aggregated.", hint)

    def scalar(self, scalar: ScalarQuery) -> Bound:
        """Refuse a query that is no key of the group."""
        self.rows.scalar(scalar)
        hint = "Put the query into FROM or WITH, and join it."
        raise Refusal("Q021", scalar.span, "A query has no place as a value here.", hint)

    def aggregate(self, call: Call) -> Bound:
        """Bind an aggregate over the rows of a group."""
        if call.function == PAIRS_COUNT:
            call = rows_with_both(call, lambda value: bind_expression(value, self.rows))
        call = with_numbers(call)
        if self.rows.protected:
            filtered = as_filtered(call, lambda value: bind_expression(value, self.rows))
            if filtered is not None:
                return bind_expression(filtered, self)
            return with_constants_outside(bind_aggregate(call, self.rows))
        return bind_aggregate(call, self.rows)

    def window(self, windowed: Windowed) -> Bound:
        """Bind a window function over the groups."""
        return bind_window(windowed, self)


@dataclass(slots=True)
class PublicRowScope:
    """Meaning of names for rows that belong to nobody: what a window function over them sees.

    The level groups by all columns that are named anywhere and returns each tuple as often as it occurs,
    so that windows see the rows as they are.

    Parameters
    ----------
    keys : dict
        Columns named so far.
    """

    rows: RowScope
    keys: dict[Bound, None] = field(default_factory=dict)

    def matching_key(self, expression: Expression) -> Bound | None:
        """Nothing but single names is known here."""
        del expression
        return None

    def column(self, name: Name) -> Bound:
        """Return the group key that the column is."""
        return self.key(self.rows.column(name))

    def scalar(self, scalar: ScalarQuery) -> Bound:
        """Return the group key that the answer of a query is."""
        return self.key(self.rows.scalar(scalar))

    def key(self, bound: Bound) -> Bound:
        """Return the group key that a row expression is from now on."""
        self.keys.setdefault(bound)
        position = list(self.keys).index(bound)
        return KeyRef(type=bound.type, as_numeric=bound.as_numeric, position=position, span=bound.span)

    def aggregate(self, call: Call) -> Bound:
        """Refuse aggregates."""
        return self.rows.aggregate(call)

    def window(self, windowed: Windowed) -> Bound:
        """Bind a window function over rows."""
        return bind_window(windowed, self)
