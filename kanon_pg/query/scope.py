"""What names mean inside one SELECT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kanon_pg.query.bind_aggregates import bind_aggregate
from kanon_pg.query.bind_expressions import bind_expression
from kanon_pg.query.bind_windows import bind_window
from kanon_pg.query.bound import Aggregate, Bound, KeyOf
from kanon_pg.query.findings import Refusal, Span
from kanon_pg.query.syntax import Call, Constant, Expression, Name, Placeholder, Windowed


def placed(bound: Bound, span: Span) -> Bound:
    """Return the expression with the place where it is named."""
    return replace(bound, span=span)


@dataclass(slots=True)
class Visible:
    """A name in FROM with its columns."""

    name: str
    columns: Mapping[str, Bound]


@dataclass(slots=True)
class Rows:
    """Meaning of names for single rows: WHERE, GROUP BY, arguments of aggregates.

    Parameters
    ----------
    visible : list of Visible
        Names in FROM, in order.
    merged : dict
        Columns of JOIN ... USING, which need no table name.
    """

    visible: list[Visible] = field(default_factory=list)
    merged: dict[str, Bound] = field(default_factory=dict)

    def known(self, expression: Expression) -> Bound | None:
        """Nothing but single names is known here."""
        del expression
        return None

    def column(self, name: Name) -> Bound:
        """Return the column that the name means, refusing unknown and ambiguous ones."""
        *table, column = name.parts
        if not table and column in self.merged:
            return placed(self.merged[column], name.span)
        tables = [item for item in self.visible if not table or item.name == table[0]]
        if table and not tables:
            raise Refusal("Q102", name.span, f'There is no table "{table[0]}" in FROM.', self._tables())
        found = [item.columns[column] for item in tables if column in item.columns]
        if len(found) > 1:
            raise Refusal("Q103", name.span, f'The column "{column}" is ambiguous.', "Write table.column.")
        if not found:
            known = sorted({key for item in tables for key in item.columns})[:12]
            hint = f"Columns here: {', '.join(known)}." if known else ""
            raise Refusal("Q101", name.span, f'There is no column "{column}" that can be used.', hint)
        return placed(found[0], name.span)

    def _tables(self) -> str:
        names = ", ".join(item.name for item in self.visible)
        return f"Tables here: {names}." if names else ""

    def aggregate(self, call: Call) -> Aggregate:
        """Refuse aggregates."""
        hint = (
            "Aggregates stand in the list of outputs, in HAVING and in ORDER BY, and not within each other."
        )
        raise Refusal("Q215", call.span, "An aggregate has no place here.", hint)

    def window(self, windowed: Windowed) -> Bound:
        """Refuse window functions."""
        hint = "Group first: sum(count(*)) OVER (ORDER BY ...) with GROUP BY."
        raise Refusal("Q217", windowed.span, "Window functions work on groups, not on rows.", hint)

    def star(self, table: str | None, span: Span) -> list[tuple[str, Bound]]:
        """Return all columns, or those of one table."""
        tables = [item for item in self.visible if table is None or item.name == table]
        if not tables:
            raise Refusal("Q102", span, "The star means no table in FROM.", self._tables())
        found = list(self.merged.items()) if table is None else []
        skipped = set(self.merged) if table is None else set()
        found += [
            (key, value) for item in tables for key, value in item.columns.items() if key not in skipped
        ]
        return found


@dataclass(slots=True)
class Groups:
    """Meaning of names for groups: outputs, HAVING, ORDER BY.

    Parameters
    ----------
    rows : Rows
        Meaning inside of aggregates.
    keys : tuple of Bound
        Group keys.
    """

    rows: Rows
    keys: tuple[Bound, ...]
    _known: dict[int, tuple[Expression, Bound | None]] = field(default_factory=dict)

    def known(self, expression: Expression) -> Bound | None:
        """Return the group key that the expression equals, or None."""
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

    def key(self, bound: Bound) -> Bound | None:
        """Return the group key that a row expression equals, or None."""
        if bound not in self.keys:
            return None
        return KeyOf(type=bound.type, wide=bound.wide, position=self.keys.index(bound), span=bound.span)

    def column(self, name: Name) -> Bound:
        """Refuse a column that is no group key."""
        self.rows.column(name)
        shown = ".".join(name.parts)
        hint = f"Add it to GROUP BY, or aggregate it: avg({shown})."
        raise Refusal("Q216", name.span, f"{shown} is neither grouped nor aggregated.", hint)

    def aggregate(self, call: Call) -> Aggregate:
        """Bind an aggregate over the rows of a group."""
        return bind_aggregate(call, self.rows)

    def window(self, windowed: Windowed) -> Bound:
        """Bind a window function over the groups."""
        return bind_window(windowed, self)
