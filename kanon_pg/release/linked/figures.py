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
from typing import Any

from kanon_pg.core.hierarchy import from_levels
from kanon_pg.db.catalog import ColumnFacts, require_equality
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import InputError, UnsuitableColumn, as_given
from kanon_pg.relations.value_forms import SAME_IN_EVERY_SESSION
from kanon_pg.release.linked.tables import LinkedGroup, LinkedTable, linked_rows

GRIDS = (0, 1, 2)
"""Numbers as they are, the grid of 1, 2, 5, 10, 20, 50 ..., and that of 1, 10, 100 ..."""

_STEPS = {1: ((1, 2, 2, 2, 5, 5, 5, 5, 5), (2, 5, 5, 5, 10, 10, 10, 10, 10)), 2: ((1,) * 9, (10,) * 9)}
"""Per grid, by the first digit: where its line begins, and where the next one does."""

_LONGEST = 200
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
    return Fragment(f"CASE WHEN {number} = 0 THEN 0 ELSE {_line(number, _STEPS[grid][0])} END")


def label(number: str, grid: int) -> Fragment:
    """Return the name of the line of a grid on which a number of rows is."""
    if grid == 0:
        return Fragment(f"{number}::text")
    begin, end = kept(number, grid), f"{_line(number, _STEPS[grid][1])} - 1"
    return Fragment(
        f"CASE WHEN {number} = 0 OR {begin} = {end} THEN {number}::text "
        f"ELSE ({begin})::text || ' to ' || ({end})::text END"
    )


def _line(number: str, steps: Sequence[int]) -> str:
    digits = f"pg_catalog.length({number}::text)"
    first = f"pg_catalog.left({number}::text, 1)::integer"
    return f"(10 ^ ({digits} - 1))::bigint * (ARRAY{list(steps)})[{first}]"


def numbers(group: LinkedGroup, table: LinkedTable, grids: Sequence[int] = GRIDS) -> Fragment:
    """Return per row of the parent how many rows it has in a table, and what hangs on these.

    Parameters
    ----------
    grids : sequence of int
        On which the numbers are told; on none, only what changes with them (``state``), which is fast.
    """
    below = [
        {
            "alias": Identifier.of(f"c{number}"),
            "label": Literal(f"{one.name} "),
            "numbers": numbers(group, one, grids),
        }
        for number, one in enumerate(group.known_below(table), 1)
    ]
    told = [
        {
            "name": Identifier.of(f"shape_{grid}"),
            "below": Identifier.of(f"below_{grid}"),
            "rows": Identifier.of(f"rows_{grid}"),
            "own": kept("n", 0 if below else grid),
            "shape": _shape(grid, has_more=bool(below)),
            "kept": Fragment(f"below_{grid}" if below else "0::bigint"),
        }
        for grid in grids
    ]
    return render("linked/numbers", typed=table.typed(), children=below, grids=told, most=table.most)


def _shape(grid: int, *, has_more: bool) -> Fragment:
    own = label("n", grid)
    if not has_more:
        return own
    more = f"shape_{grid}"
    digest = f"pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to({more}, 'UTF8')), 'hex')"
    own = own if grid == 0 else Fragment("n::text")  # the rows of the table itself are on no grid here
    return Fragment(
        f"{own} || ' (' || CASE WHEN pg_catalog.length({more}) > {_LONGEST} THEN {digest} ELSE {more} END || "
        "')'"
    )


@dataclass(frozen=True, slots=True)
class NumbersFigure:
    """The numbers of rows in a child of the person table, and in all tables that hang on it.

    Parameters
    ----------
    table : LinkedTable
        The child.
    number : int
        Its place among the figures of this kind, from 1.
    has_more : bool
        Whether others with known numbers hang on it.
    """

    table: LinkedTable
    number: int
    has_more: bool

    @property
    def name(self) -> str:
        """The quasi-identifier."""
        return "_".join((*self.table.prefix, "rows"))

    @property
    def there(self) -> str:
        """Column of the person table's storage that has a hash of the numbers; no reader sees it."""
        return f"kanon_there_{self.number}"

    def shown(self, table: LinkedTable, level: str, number: str, *, is_end: bool) -> Fragment:
        """Return how many of the rows of one parent are shown, by the level of the person's cell.

        Parameters
        ----------
        is_end : bool
            Whether no others with known numbers hang on the table; of other tables no single rows are left
            out.
        """
        grids = dict(enumerate(GRIDS)) if is_end else dict.fromkeys(range(len(GRIDS)), 0)
        if self.has_more and table.depth == 1:
            grids |= {len(GRIDS) + grid: grid for grid in GRIDS}
        of = number if table.most is None else f"least({number}, {table.most})"
        cases = " ".join(f"WHEN {at} THEN {kept(of, grid)}" for at, grid in grids.items())
        return Fragment(f"CASE {level} {cases} ELSE 0 END")

    def hierarchy(self, found: Sequence[Row]) -> list[list[str]]:
        """Return the rows of its hierarchy, of all numbers that people have."""
        lines = [[row["shape_0"], row["shape_1"], row["shape_2"]] for row in found]
        if self.has_more:
            lines = [
                line + [f"{row[f'own_{grid}']} alone" for grid in GRIDS]
                for line, row in zip(lines, found, strict=True)
            ]
        height = 2 * len(GRIDS) if self.has_more else len(GRIDS)
        values, *levels = zip(*[[NOBODY] * height, *lines], strict=True)
        return from_levels(values, levels, keeps_all=True).rows()

    def losses(self, found: Sequence[Row]) -> tuple[float, ...]:
        """Return the loss per level: the share of all rows that would be left out, in rising steps."""
        own, below = (
            [float(sum(row["people"] * row[f"{kind}_{grid}"] for row in found)) for grid in GRIDS]
            for kind in ("kept", "below")
        )
        shown = [own[grid] if not self.has_more else own[0] + below[grid] for grid in GRIDS]
        if self.has_more:
            shown += own
        everything = max(1.0, own[0] + below[0])
        step = 1 / (10 * (len(shown) + 1))
        scale = [0.0]
        for kept_rows in shown[1:]:
            scale.append(min(1.0, max(1 - kept_rows / everything, scale[-1] + step)))
        return (*scale, 1.0)


def numbers_figures(group: LinkedGroup) -> tuple[NumbersFigure, ...]:
    """Return the figures of all children of the person table whose numbers somebody could know."""
    return tuple(
        NumbersFigure(table, number, has_more=bool(group.known_below(table)))
        for number, table in enumerate(group.known_below(group.people), 1)
    )


@dataclass(frozen=True, slots=True)
class ColumnFigure:
    """What a person's rows of a linked table have in a column that others could know.

    Parameters
    ----------
    table : LinkedTable
        Not the person table.
    column : ColumnFacts
        One of its quasi-identifiers.
    kind : str
        Its only value (``one``), ``first``, ``last``, number of different values (``count``), or the ``set``.
    unit : str or None
        Of a set of moments: what they are cut to.
    """

    table: LinkedTable
    column: ColumnFacts
    kind: str
    unit: str | None = None

    @property
    def name(self) -> str:
        """The quasi-identifier."""
        middle = () if self.kind in ("one", "set") else (self.kind,)
        return "_".join((*self.table.prefix, *middle, self.column.name))

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
                    f"Column {one.column.identifier} of {table.facts.identifier} is a quasi-identifier of "
                    "which "
                    f"{found[f'f{number}']} people have several values.",
                    hint="Make it a figure of the person (first, last, count or set), or declare it with "
                    "another "
                    f"role. {_EXAMPLE}",
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
