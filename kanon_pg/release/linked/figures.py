"""What others could know of a person's rows in linked tables, as quasi-identifiers of the person.

Joins show how many rows a person has, and how many hang on each of these. So the numbers of all tables that
hang on one child of the person table are one quasi-identifier, with a hierarchy of its own: the numbers as
they are; those of the ends of chains by a grid of 1, 2, 5, 10, 20, 50 ..., by one of 1, 10, 100 ..., without
these tables; then the child's own numbers by the grids. Of a person whose cell is on a grid as many rows are
shown as its line says at least, of one whose cell is suppressed none: so everybody in a class shows the same
numbers.

A column of a linked table that others could know becomes a figure of the person: its only value, its first,
last, number of values, or the set of them. No row of the table shows the column itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from kanon_pg.core.hierarchy import from_levels
from kanon_pg.db.catalog import ColumnFacts, require_equality
from kanon_pg.db.identifiers import Fragment, Identifier, Literal, derived_name
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import InputError, UnsuitableColumn, as_given
from kanon_pg.relations.value_forms import SAME_IN_EVERY_SESSION
from kanon_pg.release.linked.tables import LinkedGroup, LinkedTable, linked_rows

GRIDS = (0, 1, 2)
"""Numbers as they are, the grid of 1, 2, 5, 10, 20, 50 ..., and that of 1, 10, 100 ..."""

_STEPS = {1: ((1, 2, 2, 2, 5, 5, 5, 5, 5), (2, 5, 5, 5, 10, 10, 10, 10, 10)), 2: ((1,) * 9, (10,) * 9)}
"""Per grid, by the first digit: where its line begins, and where the next one does."""

LONGEST = 200
"""Characters of numbers as they are published; longer ones are told apart by a digest."""

NOBODY = "0"
"""The numbers of a person without rows."""

_KINDS = ("one", "first", "last", "count", "set")
_MOMENTS = ("date", "timestamp", "timestamptz")
_ORDERED = ("int2", "int4", "int8", "numeric", "float4", "float8", "text", "varchar", *_MOMENTS)
_UNITS = ("month", "quarter", "year", "decade")
_EXAMPLE = """For example: options => '{"figures": {"admissions": {"admitted": "first"}}}'."""


def kept(number: str, grid: int) -> Fragment:
    """Return how many of some rows a grid shows: where the line begins on which their number is."""
    if grid == 0:
        return Fragment(number)
    tens = f"(10 ^ (pg_catalog.length({number}::text) - 1))::bigint"
    first = f"pg_catalog.left({number}::text, 1)::integer"
    begin = f"{tens} * (ARRAY{list(_STEPS[grid][0])})[{first}]"
    return Fragment(f"CASE WHEN {number} = 0 THEN 0 ELSE {begin} END")


class _Told(NamedTuple):
    """What each grid tells of numbers: a text, and how many rows are shown."""

    texts: tuple[str, ...]
    rows: tuple[int, ...]


@cache
def _on_grids(number: int, most: int | None = None) -> _Told:
    """Return the line of each grid on which a number is, and where it begins.

    Parameters
    ----------
    most : int, optional
        Stands for all larger numbers.
    """
    lines = [(number, number)]
    for begins, ends in map(_STEPS.__getitem__, GRIDS[1:]):
        tens, first = 10 ** (len(str(number)) - 1), int(str(number)[0])
        lines.append((tens * begins[first - 1], tens * ends[first - 1] - 1) if number else (0, 0))
    texts = tuple(
        f"{begin} or more" if most is not None and end >= most
        else str(begin) if begin == end else f"{begin} to {end}"
        for begin, end in lines
    )  # fmt: skip
    return _Told(texts, tuple(begin for begin, _ in lines))


_MARK = "\x01"
"""Begins what separates numbers as long as they are read, which no name of a table has."""

_MORE = " or more"


def _separator(depth: int, mark: str) -> str:
    """Return what separates the numbers of rows (``;``), or of tables below one row (``,``), of a table."""
    return f"{_MARK}{depth}{mark}"


def _separated(depth: int, mark: str) -> Fragment:
    return Fragment(f"pg_catalog.chr(1) || '{depth}{mark}'")


def published(group: LinkedGroup, table: LinkedTable, text: str) -> Fragment:
    """Return numbers as they are published, of a text of ``linked/numbers``."""
    tables = [one for one in group.tables if table.facts.oid in {x.facts.oid for x in (one, *one.above)}]
    for depth in sorted({one.depth for one in tables if group.known_below(one)}):
        for mark in ";,":
            text = f"pg_catalog.replace({text}, {_separated(depth, mark)}, '{mark} ')"
    return Fragment(text)


def numbers(group: LinkedGroup, table: LinkedTable) -> Fragment:
    """Return per row of the parent how many rows it has in a table, and what hangs on these."""
    children = group.known_below(table)
    aliases = {one.facts.oid: f"c{number}" for number, one in enumerate(children, 1)}
    told = [f"{Literal(f'{one.name} ')}, coalesce({aliases[one.facts.oid]}.numbers, '0')" for one in children]
    rows, cells = (_separated(table.depth, mark) for mark in ";,")
    return render(
        "linked/numbers",
        typed=table.typed(),
        children=[
            {"alias": Identifier.of(aliases[one.facts.oid]), "numbers": numbers(group, one)}
            for one in children
        ],
        each=Fragment("pg_catalog.concat(" + f", {cells}, ".join(told) + ")"),
        between=rows,
        most=table.most,
    )


def rows_there(key: str, number: str) -> Fragment:
    """Return a text of how many rows hang on which one of a table above."""
    return render("linked/rows_there", key=Fragment(key), n=Fragment(number))


def there(table: LinkedTable) -> tuple[Fragment, Fragment]:
    """Return what tells how many rows of a table hang on which rows of a person, and what it is of none.

    It is an aggregate of rows ``d``: per row of the table above the keys of all that it hangs on, and how
    many rows hang on it.
    """
    number = "d.siblings" if table.most is None else f"least(d.siblings, {table.most})"
    if table.depth == 1:
        return Fragment(f"pg_catalog.max({number})"), Fragment("0")
    way = range(table.depth - 1, 0, -1)
    order = ", ".join(f'd.kanon_above_{n}::text COLLATE "C"' for n in way)
    rows = " || ".join(str(rows_there(f"d.kanon_above_{n}", number)) for n in way)
    return digest(f"pg_catalog.string_agg({rows}, '' ORDER BY {order})"), digest("''")


def digest(text: str) -> Fragment:
    """Return what stands for a text: whoever writes the rows finds no other text with the same."""
    return Fragment(f"pg_catalog.sha256(pg_catalog.convert_to({text}, 'UTF8'))")


class NumbersReader:
    """Tells on all grids what texts of ``linked/numbers`` say; rows that are alike are told once.

    Parameters
    ----------
    group : LinkedGroup
        All tables.
    table : LinkedTable
        Whose numbers.
    """

    def __init__(self, group: LinkedGroup, table: LinkedTable) -> None:
        self.name, self.most, self.depth = table.name, table.most, table.depth
        self.below = [NumbersReader(group, one) for one in group.known_below(table)]
        self._told: dict[str, _Told] = {}

    def tell(self, text: str) -> _Told:
        """Return what the grids tell; numbers of tables on which others hang are on none."""
        number, _, rows = text.removesuffix(_MORE).partition(" (")
        if not rows:
            return _on_grids(int(number), self.most)
        each = [self._tell_row(row) for row in rows[:-1].split(_separator(self.depth, ";"))]
        told = [[row.texts[grid] for row in each] for grid in GRIDS]
        # what is published as it is has the order of the database, lines of grids one of their own
        joined = ["; ".join(texts if grid == 0 else sorted(texts)) for grid, texts in enumerate(told)]
        return _Told(
            tuple([f"{number} ({one})" for one in joined]),
            tuple([len(each) + sum([row.rows[grid] for row in each]) for grid in GRIDS]),
        )

    def _tell_row(self, row: str) -> _Told:
        if row not in self._told:
            cells = zip(self.below, row.split(_separator(self.depth, ",")), strict=True)
            each = [(one.name, one.tell(cell[len(one.name) + 1 :])) for one, cell in cells]
            self._told[row] = _Told(
                tuple(", ".join(f"{name} {told.texts[grid]}" for name, told in each) for grid in GRIDS),
                tuple(sum(told.rows[grid] for _, told in each) for grid in GRIDS),
            )
        return self._told[row]


@dataclass(frozen=True, slots=True)
class NumbersFigure:
    """The numbers of rows in a child of the person table, and in all tables that hang on it."""

    group: LinkedGroup
    """All tables."""
    table: LinkedTable
    """The child."""

    @property
    def name(self) -> str:
        """The quasi-identifier."""
        return derived_name(*self.table.prefix, "rows")

    def shown(self, table: LinkedTable, level: str, number: str) -> Fragment:
        """Return how many of the rows of one parent are shown, by the level of the person's cell.

        Of a table on which others with known numbers hang, no single rows are left out.
        """
        is_end = not self.group.known_below(table)
        grids = dict(enumerate(GRIDS)) if is_end else dict.fromkeys(range(len(GRIDS)), 0)
        if table.depth == 1 and not is_end:
            grids |= {len(GRIDS) + grid: grid for grid in GRIDS}
        of = number if table.most is None else f"least({number}, {table.most})"
        cases = " ".join(f"WHEN {at} THEN {kept(of, grid)}" for at, grid in grids.items())
        return Fragment(f"CASE {level} {cases} ELSE 0 END")

    def hierarchy(self, found: Sequence[tuple[str, int]]) -> tuple[list[list[str]], tuple[float, ...], int]:
        """Return the rows of its hierarchy, the loss per level, and how many rows people have in all tables.

        The loss is the share of all rows that would be left out, in rising steps.

        Parameters
        ----------
        found : sequence of (str, int)
            The texts of ``linked/numbers``, and how many people have each.
        """
        reader = NumbersReader(self.group, self.table)
        height = len(GRIDS) * (2 if reader.below else 1)
        lines, shown = [[NOBODY] * height], [0] * height
        for text, people in found:
            told, number = reader.tell(text), text.partition(" ")[0]
            line, rows = [_short(number, one) for one in told.texts], [*told.rows]
            if reader.below:
                alone = _on_grids(int(number))
                line += [f"{one} alone" for one in alone.texts]
                rows += alone.rows
            lines.append(line)
            shown = [total + people * more for total, more in zip(shown, rows, strict=True)]
        values, *levels = zip(*lines, strict=True)
        step, scale = 1 / (10 * (height + 1)), [0.0]
        for rows_shown in shown[1:]:
            scale.append(min(1.0, max(1 - rows_shown / max(1, shown[0]), scale[-1] + step)))
        return from_levels(values, levels, keeps_all=True).rows(), (*scale, 1.0), shown[0]


def _short(own: str, text: str) -> str:
    """Return numbers as they are published; of what is too long a digest, as ``linked/people`` makes it."""
    return text if len(text) <= LONGEST else f"{own} ({sha256(text.encode()).hexdigest()})"


def numbers_figures(group: LinkedGroup) -> tuple[NumbersFigure, ...]:
    """Return the figures of all children of the person table whose numbers somebody could know."""
    return tuple(NumbersFigure(group, table) for table in group.known_below(group.people))


@dataclass(frozen=True, slots=True)
class ColumnFigure:
    """What a person's rows of a linked table have in a column that others could know."""

    table: LinkedTable
    """Not the person table."""
    column: ColumnFacts
    """One of its quasi-identifiers."""
    kind: str
    """Its only value (``one``), ``first``, ``last``, number of different values (``count``), or the
    ``set``."""
    unit: str | None = None
    """Of a set of moments: what they are cut to."""

    @property
    def name(self) -> str:
        """The quasi-identifier."""
        middle = () if self.kind in ("one", "set") else (self.kind,)
        return derived_name(*self.table.prefix, *middle, self.column.name)

    def value(self, cell: str) -> Fragment:
        """Return the aggregate."""
        if self.kind == "first":
            return Fragment(f"pg_catalog.min({cell})")
        if self.kind == "last":
            return Fragment(f"pg_catalog.max({cell})")
        if self.kind == "count":
            return Fragment(f"count(DISTINCT {cell})::integer")
        if self.kind == "set":
            return Fragment(f'pg_catalog.array_agg(DISTINCT ({self._text(cell)}) COLLATE "C")::text')
        values = f"pg_catalog.array_agg(DISTINCT {cell})"
        return Fragment(f"CASE WHEN pg_catalog.cardinality({values}) = 1 THEN ({values})[1] END")

    def _text(self, cell: str) -> Fragment:
        """Return the text of a value, the same in every session."""
        base = self.column.base_type
        if base not in _MOMENTS:
            return self.column.text(cell)
        moment = f"{cell} AT TIME ZONE 'UTC'" if base == "timestamptz" else f"{cell}::timestamp"
        if self.unit is not None:
            moment = f"pg_catalog.date_trunc({Literal(self.unit)}, {moment})"
        is_day = base == "date" or self.unit is not None
        form = "YYYY-MM-DD" if is_day else "YYYY-MM-DD HH24:MI:SS.US"
        return Fragment(f"pg_catalog.to_char({moment}, '{form}')")

    def several(self, cell: str) -> Fragment:
        """Return whether a person's rows have several values."""
        return Fragment(f"pg_catalog.cardinality(pg_catalog.array_agg(DISTINCT {cell})) > 1")


def column_figures(db: Database, group: LinkedGroup, asked: Mapping[str, Any]) -> tuple[ColumnFigure, ...]:
    """Return the figures of all quasi-identifiers of linked tables.

    Parameters
    ----------
    asked : mapping
        Per table and column the kind, or ``{"set": unit}``; the only value where nothing is said.
    """
    tables = {table.name: table for table in group.tables}
    for name, columns in asked.items():
        if name not in tables:
            raise InputError(
                f"Option figures names {as_given(name)}, which is none of the tables.",
                hint=f"They are: {', '.join(tables)}.",
            )
        if not isinstance(columns, Mapping):
            raise InputError("Option figures must be an object of tables and columns.", hint=_EXAMPLE)
        for column in columns:
            if column not in tables[name].roles.quasi_identifiers:
                tables[name].facts.column(column)
                raise InputError(
                    f"Column {Identifier.of(column)} of {tables[name].facts.identifier} is no "
                    "quasi-identifier.",
                    hint="Only what others could know is made a figure of the person.",
                )
    found = [
        _figure(table, table.facts.column(column), asked.get(table.name, {}).get(column, "one"))
        for table in group.tables
        for column in table.roles.quasi_identifiers
    ]
    require_equality(db, tuple(one.column for one in found))
    return tuple(found)


def _figure(table: LinkedTable, column: ColumnFacts, asked: Any) -> ColumnFigure:
    kind, unit = asked, None
    if isinstance(asked, Mapping) and [*asked] == ["set"]:
        kind, unit = "set", asked["set"]
    is_moment = column.base_type in _MOMENTS
    if kind not in _KINDS or (unit is not None and (unit not in _UNITS or not is_moment)):
        raise InputError(
            f"The figure of column {column.identifier} of {table.facts.identifier} is none of those there "
            "are.",
            detail=f'They are: {", ".join(_KINDS)}; of dates also {{"set": "year"}} and the like.',
            hint=_EXAMPLE,
        )
    if kind == "set" and not (is_moment or column.base_type in SAME_IN_EVERY_SESSION):
        raise UnsuitableColumn(
            f"The text of column {column.identifier} of type {column.type} depends on settings of sessions.",
            hint="Take first, last or count, or a view that casts it to text.",
        )
    if kind == "one" and column.base_type.rpartition(".")[2].startswith(("_", "int2vector", "oidvector")):
        raise UnsuitableColumn(
            f"Column {column.identifier} of {table.facts.identifier} is an array, whose only value is not "
            "looked for.",
            hint="Make it another figure of the person (count or set), or declare it with another role.",
        )
    if kind in ("first", "last") and column.base_type not in _ORDERED:
        raise UnsuitableColumn(
            f"Column {column.identifier} of type {column.type} has no first or last value.",
            hint="That is for numbers, dates and texts; take set, count, or a column with one value per "
            "person.",
        )
    return ColumnFigure(table, column, kind, unit)


def require_single_values(db: Database, figures: Sequence[ColumnFigure]) -> None:
    """Refuse columns of which a person has several values, and that were not made another figure.

    The caller says with whose rights is read.

    Raises
    ------
    UnsuitableColumn
        With what to do.
    """
    for table, columns in _by_table(figures):
        single = [one for one in columns if one.kind == "one"]
        if not single:
            continue
        parts = [
            {"value": one.several(f"t.x{n}"), "alias": Identifier.of(f"f{n}")} for n, one in enumerate(single)
        ]
        person = Identifier.of(f"kanon_above_{table.depth}")
        rows = _rows_of(table, single)
        (found,) = db.read(statement("linked/several", rows=rows, person=person, figures=parts))
        for number, one in enumerate(single):
            if found[f"f{number}"]:
                raise UnsuitableColumn(
                    f"Quasi-identifier {one.column.identifier} of {table.facts.identifier} has several "
                    "values for one person.",
                    detail=f"People who have several values: {found[f'f{number}']}.",
                    hint="Make it a figure of the person (first, last, count or set), or declare it with "
                    f"another role. {_EXAMPLE}",
                )


def _by_table(figures: Sequence[ColumnFigure]) -> Iterator[tuple[LinkedTable, list[ColumnFigure]]]:
    for table in {one.table.facts.oid: one.table for one in figures}.values():
        yield table, [one for one in figures if one.table.facts.oid == table.facts.oid]


def _rows_of(table: LinkedTable, figures: Sequence[ColumnFigure]) -> Fragment:
    """Return a table's rows with the person's key as ``kanon_person``, and the columns of figures."""
    columns = {f"x{n}": Fragment(str(one.column.identifier)) for n, one in enumerate(figures)}
    return linked_rows(table, columns)


def column_parts(figures: Sequence[ColumnFigure]) -> list[dict[str, Any]]:
    """Return what the view of people joins for the figures of columns: one aggregate for each table."""
    return [
        {
            "rows": _rows_of(table, columns),
            "person": Identifier.of(f"kanon_above_{table.depth}"),
            "alias": Identifier.of(f"g{number}"),
            "figures": [
                {"value": one.value(f"t.x{n}"), "name": Identifier.of(one.name)}
                for n, one in enumerate(columns)
            ],
        }
        for number, (table, columns) in enumerate(_by_table(figures), 1)
    ]
