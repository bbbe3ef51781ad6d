"""Tables and blocks as the reference judge reads them: declared, evaluated on lists, written as SQL.

A block is one SELECT over tables that are joined along links or by equality. It names every table at most
once, so that a column is named by its table. Conditions follow SQL's three-valued logic: True, False and
None for unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Value = int | str | None
Row = Mapping[str, Value]
Rows = Mapping[str, Sequence[Row]]
"""The rows of each table that is no view."""
Combination = Mapping[str, Row | None]
"""One row of each source; None where a left join found none."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    table: str
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


# --- conditions


@dataclass(frozen=True)
class Comparison:
    """A column compared with a constant."""

    column: Column
    operator: str
    constant: Value


@dataclass(frozen=True)
class IsIn:
    """A column that is one of some constants."""

    column: Column
    constants: tuple[Value, ...]


@dataclass(frozen=True)
class IsNull:
    """A column that has no value."""

    column: Column


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    condition: Condition


@dataclass(frozen=True)
class And:
    """Conditions that all hold; true if there are none."""

    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Or:
    """Conditions of which one holds; false if there are none."""

    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Exists:
    """Whether a linked table has a row.

    Parameters
    ----------
    table : str
        The table; the block joins it nowhere.
    on : tuple of (str, Column)
        Columns of the table, and the columns outside that they equal.
    where : Condition
        What else the row fulfils.
    """

    table: str
    on: tuple[tuple[str, Column], ...]
    where: Condition = And()


Condition = Comparison | IsIn | IsNull | Not | And | Or | Exists


# --- tables and blocks


@dataclass(frozen=True)
class Link:
    """Columns that hold the key of a row of another table."""

    columns: tuple[str, ...]
    parent: str


@dataclass(frozen=True)
class Table:
    """A declared table.

    Parameters
    ----------
    name : str
        Its name.
    key : tuple of str
        The columns that tell its rows apart; they are no secret columns.
    known, secret, withheld : tuple of str
        Its columns, by what is declared of them.
    person : tuple of str
        The columns that say whom a row is about: the entity column, or the key where every row is a
        person. A table with neither person nor link is about nobody.
    link : Link or None
        Where its people stand, if it does not say it itself.
    view_of, where : str or None, Condition
        The table of which this is a view, and which rows the view shows.
    """

    name: str
    key: tuple[str, ...]
    known: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    link: Link | None = None
    view_of: str | None = None
    where: Condition = And()

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column once, the key first."""
        return tuple(dict.fromkeys((*self.key, *self.known, *self.secret, *self.withheld)))

    def view(self, name: str, where: Condition) -> Table:
        """Return a view of some of the rows; the condition names the view's columns."""
        return replace(self, name=name, view_of=self.name, where=where)


@dataclass(frozen=True)
class Source:
    """A table that a block reads.

    Parameters
    ----------
    table : str
        Its name.
    on : tuple of (str, Column)
        Columns of the table, and the columns of earlier sources that they equal; empty for the first.
    left : bool
        Whether rows of the earlier sources stay that find none here.
    """

    table: str
    on: tuple[tuple[str, Column], ...] = ()
    left: bool = False


@dataclass(frozen=True)
class Figure:
    """One aggregate.

    Parameters
    ----------
    kind : str
        count, people (distinct), sum, avg, variance, median, min or max.
    column : Column or None
        What is aggregated; none for people, and for a count of rows.
    where : Condition
        Its own condition, FILTER.
    factor : int
        A constant by which the column is multiplied.
    """

    kind: str
    column: Column | None = None
    where: Condition = And()
    factor: int = 1

    @property
    def chosen(self) -> Condition:
        """What its rows fulfil: a count of a column counts the rows that have a value."""
        if self.kind == "count" and self.column is not None:
            return And((self.where, Not(IsNull(self.column))))
        return self.where


@dataclass(frozen=True)
class Block:
    """One SELECT."""

    sources: tuple[Source, ...]
    figures: tuple[Figure, ...]
    keys: tuple[Column, ...] = ()
    where: Condition = And()


def columns_of(condition: Condition) -> Iterator[Column]:
    """Yield the columns that a condition names, those of its subqueries' conditions too."""
    match condition:
        case Comparison(column=column) | IsIn(column=column) | IsNull(column=column):
            yield column
        case Not(condition=inner) | Exists(where=inner):
            yield from columns_of(inner)
        case And(conditions=inner) | Or(conditions=inner):
            for each in inner:
                yield from columns_of(each)


# --- three-valued logic


@dataclass(frozen=True)
class Open:
    """What known values leave of a condition: a condition on secret ones.

    Two rows are left the same if what is left is equal.
    """

    what: str
    of: frozenset[Any]

    def can(self) -> frozenset[bool | None]:
        """Return the truth values that it may have, as far as its form says."""
        inner = [can(each) for each in self.of]
        match self.what:
            case "not":
                return frozenset(_opposite(truth) for truth in inner[0])
            case "and" | "or":
                ends = self.what == "or"
                truths: set[bool | None] = {not ends}
                for each in inner:
                    truths = {_join(ends, a, b) for a in truths for b in each}
                return frozenset(truths)
            case "exists":
                return (
                    frozenset((True, False)) if any(True in each for each in inner) else frozenset((False,))
                )
        return frozenset((True, False, None))


Left = bool | Open | None


def can(left: Left) -> frozenset[bool | None]:
    """Return the truth values that something left may have."""
    return left.can() if isinstance(left, Open) else frozenset((left,))


def _opposite(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _join(ends: bool, a: bool | None, b: bool | None) -> bool | None:
    """OR ends with the first True, AND with the first False; unknown is weaker than these only."""
    return ends if ends in (a, b) else None if None in (a, b) else not ends


@dataclass(frozen=True)
class Reader:
    """Reads tables at one moment.

    Parameters
    ----------
    tables : mapping of str to Table
        All declared tables, by name.
    rows : Rows
        What they hold now.
    """

    tables: Mapping[str, Table]
    rows: Rows = field(repr=False)

    def rows_of(self, name: str) -> Sequence[Row]:
        """Return the rows of a table or view."""
        table = self.tables[name]
        if table.view_of is None:
            return self.rows[name]
        return [row for row in self.rows_of(table.view_of) if self.left(table.where, {name: row}) is True]

    def matching(self, table: str, on: Sequence[tuple[str, Column]], outside: Combination) -> list[Row]:
        """Return the rows of a table whose columns equal those outside."""
        wanted = {own: (outside[there.table] or {}).get(there.name) for own, there in on}
        return [
            row
            for row in self.rows_of(table)
            if all(value is not None and row[own] == value for own, value in wanted.items())
        ]

    def combinations(self, sources: Sequence[Source]) -> list[dict[str, Row | None]]:
        """Return the joined rows, before any condition."""
        found: list[dict[str, Row | None]] = [{}]
        for source in sources:
            found = [
                {**earlier, source.table: row}
                for earlier in found
                for row in self.matching(source.table, source.on, earlier) or [None] * source.left
            ]
        return found

    def left(self, condition: Condition, at: Combination, hidden: frozenset[Column] = frozenset()) -> Left:
        """Evaluate a condition, but for what it says of hidden columns."""
        match condition:
            case Comparison() | IsIn() | IsNull():
                row = at[condition.column.table]
                # where a left join found no row, everybody who knows the rows knows that there is no value
                if row is not None and condition.column in hidden:
                    return Open("atom", frozenset((condition,)))
                return _atom(condition, None if row is None else row[condition.column.name])
            case Not():
                inner = self.left(condition.condition, at, hidden)
                return Open("not", frozenset((inner,))) if isinstance(inner, Open) else _opposite(inner)
            case And() | Or():
                return self._joined(condition, at, hidden)
            case Exists():
                inners = {left for _, left in self.inside(condition, at, hidden)}
                opened = frozenset(left for left in inners if isinstance(left, Open))
                return True if True in inners else Open("exists", opened) if opened else False

    def _joined(self, condition: And | Or, at: Combination, hidden: frozenset[Column]) -> Left:
        ends = isinstance(condition, Or)
        lefts = {self.left(each, at, hidden) for each in condition.conditions} - {not ends}
        if ends in lefts:
            return ends
        if len(lefts) <= 1:
            return lefts.pop() if lefts else not ends
        return Open("or" if ends else "and", frozenset(lefts))

    def inside(
        self, exists: Exists, at: Combination, hidden: frozenset[Column] = frozenset()
    ) -> Iterator[tuple[Row, Left]]:
        """Yield the rows that a subquery finds for a row outside, with what is left of its condition."""
        for row in self.matching(exists.table, exists.on, at):
            yield row, self.left(exists.where, {**at, exists.table: row}, hidden)

    def person(self, name: str, row: Row) -> tuple[Value, ...] | None:
        """Return whom a row is about, None if it is about nobody."""
        table = self.tables[name]
        if table.link is None:
            return tuple(row[column] for column in table.person) or None
        parent = self.tables[table.link.parent]
        on = [(own, Column(name, here)) for own, here in zip(parent.key, table.link.columns, strict=True)]
        return self.person(parent.name, self.matching(parent.name, on, {name: row})[0])


def _atom(condition: Comparison | IsIn | IsNull, value: Value) -> bool | None:
    match condition:
        case IsNull():
            return value is None
        case IsIn(constants=constants):
            found = any(_compare("=", value, constant) for constant in constants)
            return True if found else None if constants and (value is None or None in constants) else False
        case Comparison(operator=operator, constant=constant):
            return _compare(operator, value, constant)


def _compare(operator: str, value: Any, constant: Any) -> bool | None:
    if value is None or constant is None:
        return None
    return {
        "=": value == constant,
        "<>": value != constant,
        "<": value < constant,
        "<=": value <= constant,
        ">": value > constant,
        ">=": value >= constant,
    }[operator]


# --- SQL


def sql(block: Block, tables: Mapping[str, Table]) -> str:
    """Return a block as PostgreSQL reads it: keys first, then figures."""
    first, *joined = block.sources
    items = [*map(str, block.keys), *(_figure(figure, block, tables) for figure in block.figures)]
    text = f"SELECT {', '.join(items)} FROM {first.table}"
    for source in joined:
        text += f" {'LEFT ' * source.left}JOIN {source.table} ON {_equal(source.table, source.on)}"
    if block.where != And():
        text += f" WHERE {_condition(block.where)}"
    return text + (f" GROUP BY {', '.join(map(str, block.keys))}" if block.keys else "")


def _figure(figure: Figure, block: Block, tables: Mapping[str, Table]) -> str:
    argument = f"{figure.factor} * {figure.column}" if figure.factor != 1 else str(figure.column or "*")
    match figure.kind:
        case "people":
            text = f"count(DISTINCT {person_column(block, tables)})"
        case "median":
            text = f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {argument})"
        case kind:
            text = f"{kind}({argument})"
    return text + (f" FILTER (WHERE {_condition(figure.where)})" if figure.where != And() else "")


def person_column(block: Block, tables: Mapping[str, Table]) -> Column:
    """Return a column that names the person of each row of a block.

    A link to a table whose key is its person names the person, too. Only single columns are written.
    """
    for source in block.sources:
        table = tables[source.table]
        if table.person:
            return Column(table.name, table.person[0])
        if table.link and tables[table.link.parent].person == tables[table.link.parent].key:
            return Column(table.name, table.link.columns[0])
    raise ValueError("the block names nobody")


def _equal(table: str, on: Sequence[tuple[str, Column]]) -> str:
    return " AND ".join(f"{table}.{own} = {there}" for own, there in on)


def _condition(condition: Condition) -> str:
    match condition:
        case Comparison(column=column, operator=operator, constant=constant):
            return f"{column} {operator} {literal(constant)}"
        case IsIn(column=column, constants=constants):
            return f"{column} IN ({', '.join(map(literal, constants))})" if constants else "FALSE"
        case IsNull(column=column):
            return f"{column} IS NULL"
        case Not(condition=inner):
            return f"NOT ({_condition(inner)})"
        case And(conditions=inner) | Or(conditions=inner):
            word, empty = (" AND ", "TRUE") if isinstance(condition, And) else (" OR ", "FALSE")
            return word.join(f"({_condition(each)})" for each in inner) or empty
        case Exists(table=table, on=on, where=where):
            also = f" AND ({_condition(where)})" if where != And() else ""
            return f"EXISTS (SELECT 1 FROM {table} WHERE {_equal(table, on)}{also})"


def literal(value: Value) -> str:
    """Return a constant as SQL."""
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
