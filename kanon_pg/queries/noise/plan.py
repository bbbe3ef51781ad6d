"""The SQL of a block with noise: integers by group, which one person changes by a known distance.

Neighbouring tables differ in one person, with all their rows in all linked tables. The rows of a block
are grouped by person and keys first. A person stays in `groups_per_person` groups, chosen by a hash that
only the record's seed decides, so that the choice depends on nobody else's rows. If the rows in them are
more than `rows_per_person`, R, each weighs R divided by their number: what the person adds to each number
is multiplied by that and cut off towards 0, in integers.

A number adds up an integer for each row, of at most `unit`. So a person adds at most R * unit to the
absolute values over all groups together (L1), and therefore to their Euclidean length (L2): it is
greatest where all rows are in one group. Cutting off makes it smaller. A person is in at most
min(groups_per_person, R) groups, and changes the count of people of each by 1: L2 is the square root of
that.

What a row adds is calculated of its own values alone, as a floating-point number that is rounded and then
brought within its bounds as an integer; only integers are added up. No distance therefore depends
on how floating-point numbers are rounded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_pg.db.identifiers import Identifier
from kanon_pg.queries.counting.block_rows import BlockRows, both, filtered, grouped, record
from kanon_pg.queries.counting.hashes import SEED, text_of
from kanon_pg.queries.noise.numbers import Bounds, bounds_of, require_no_failure
from kanon_pg.queries.noise_settings import NoiseSettings
from kanon_pg.queries.people.people import People
from kanon_pg.queries.reading.blocks import PERCENTILES, SPREADS, Block, Figure, column_name
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import words
from kanon_pg.queries.reading.trees import Tree

ROW = 2**10
"""What a row adds to a count of rows, so that rows can weigh less than one."""

VALUE = 2**20
"""What the value adds that is farthest from the centre."""

CELLS = 2**10
"""Between the candidates of a percentile."""

_EXACT_NUMBERS = ("smallint", "integer", "bigint", "numeric")
_NUMBERS = (*_EXACT_NUMBERS, "real", "double")
_EXACT = words("Column Identifier Literal Paren Add Sub Mul Neg")
"""Nodes of expressions that are numeric where their columns are, or integers."""


@dataclass(frozen=True, slots=True)
class Number:
    """An integer that is added up over the rows of a group."""

    part: str
    """SQL of what the rows of one person in one group add."""
    distance: float
    """Euclidean, over all groups, between neighbouring tables."""


@dataclass(frozen=True, slots=True)
class Cells:
    """How many rows of a group lie in each cell between the bounds of a percentile."""

    value: str
    condition: str
    distance: int
    """How much one person changes the score of a candidate, over all groups together."""
    thousandths: int
    """The fraction."""


@dataclass(frozen=True, slots=True)
class NoisyFigure:
    """How a figure is calculated of noisy numbers."""

    function: str
    """As in `kanon_pg.queries.reading.blocks.Figure`."""
    count: int = -1
    total: int = -1
    squares: int = -1
    """`count`, `total`, `squares`: places of numbers; -1 for none. The count is -1 where it is that of the
    group's people."""
    centre: float = 0.0
    reach: float = 0.0
    """`centre`, `reach`: values are `centre` + share * `reach`, with shares from -1 to 1."""
    cells: int = -1
    """Place of cells; -1 for none."""
    bounds: Bounds | None = None
    """Values outside count as the nearest."""


@dataclass(frozen=True, slots=True)
class NoisyForm:
    """The SQL of a block, and what comes of its numbers."""

    text: str
    """Returns keys ``k1`` ... as text, ``people``, ``numbers`` and ``cells`` as JSON. Takes the seed. If
    there are keys, no group of fewer than k people is returned."""
    keys: int
    rows: int
    groups: int
    """`rows`, `groups`: most of one person."""
    numbers: tuple[Number, ...]
    cells: tuple[Cells, ...]
    figures: tuple[NoisyFigure, ...]


def noisy_form(
    block: Block,
    people: People,
    constants: Sequence[str],
    settings: Mapping[int, NoiseSettings],
    *,
    k: int,
) -> NoisyForm:
    """Return the SQL of a block with noise.

    Parameters
    ----------
    settings : Mapping of int to NoiseSettings
        By the OID of the relation of which these are the rules.
    """
    require_no_failure(block)
    # all columns are secrets here: keys have one spelling
    rows = BlockRows(block, people, constants, spelled=range(len(block.keys)))
    text = rows.select()
    planner = _Planner(rows, settings)
    figures = tuple(planner.figure(number, one) for number, one in enumerate(block.figures, 1))
    return NoisyForm(
        planner.text(text, k),
        len(block.keys),
        planner.most_rows,
        planner.most_groups,
        tuple(planner.numbers),
        tuple(planner.cells),
        figures,
    )


class _Planner:
    def __init__(self, rows: BlockRows, settings: Mapping[int, NoiseSettings]) -> None:
        self.rows, self.block, self.settings = rows, rows.block, settings
        self.most_rows = min(one.rows_per_person for one in settings.values())
        self.most_groups = min(self.most_rows, *(one.groups_per_person for one in settings.values()))
        if rows.is_person:
            self.most_rows = self.most_groups = 1
        if not rows.block.keys:
            self.most_groups = 1
        self.numbers: list[Number] = []
        self.cells: list[Cells] = []

    # --- figures -------------------------------------------------------------------------------------------

    def number(self, part: str, unit: int) -> int:
        return self._place(Number(part, float(self.most_rows * unit)))

    def _place(self, number: Number) -> int:
        if number not in self.numbers:
            self.numbers.append(number)
        return self.numbers.index(number)

    def figure(self, number: int, figure: Figure) -> NoisyFigure:
        condition = self.rows.condition(number, figure)
        if self.rows.people.are_counted_by(figure):
            return self.people_of(condition)
        if figure.argument is None:
            return NoisyFigure(figure.function, count=self.count(condition))
        if figure.function not in {"sum", "avg"} | SPREADS | PERCENTILES:
            raise Refusal(
                "Q601",
                figure.written.place,
                f"There is no noisy form of {figure.function.replace('count_distinct', 'count(DISTINCT)')}.",
                "Least and greatest: percentile_cont(0.05); different values: count(*) ... GROUP BY value.",
            )
        bounds = bounds_of(figure.argument, self.bounds, self.constant)
        if bounds is None or bounds[0] == bounds[1]:
            raise Refusal(
                "Q601", figure.written.place, "This number is the same in every row.", "Write count(*)."
            )
        name = self.rows.arguments[number]
        filled = condition if self.is_filled(figure.argument) else both(condition, f"{name} IS NOT NULL")
        value = f"least(greatest({name}, {bounds[0]!r}), {bounds[1]!r})"
        if figure.function in PERCENTILES:
            return self.percentile(figure, f"{value}::float8", filled, bounds)
        # a sum around 0 needs no count; a mean alone is best told by how far values are from the middle
        centre = 0.0 if self.is_added_up(figure) else (bounds[0] + bounds[1]) / 2
        reach = max(abs(bounds[0] - centre), abs(bounds[1] - centre))
        scale = VALUE / reach
        bounded = name if self.is_never_too_large(figure.argument) else value
        from_centre = f"({bounded} - ({centre!r}))" if centre else bounded
        least, most = (max(-VALUE, min(VALUE, round((one - centre) * scale))) for one in bounds)
        share = f"least(greatest({from_centre} * {scale!r}, {least}), {most})::int4"
        total = self.number(_summed(share, filled), VALUE)
        if figure.function == "sum":
            return NoisyFigure("sum", total=total, reach=reach, bounds=bounds)
        squares = -1
        if figure.function in SPREADS:
            square = f"(({share})::int8 * ({share})::int8 / {VALUE})::int4"
            squares = self.number(_summed(square, filled), VALUE)
        return NoisyFigure(
            figure.function, self.count(filled), total, squares, centre=centre, reach=reach, bounds=bounds
        )

    def is_filled(self, argument: Tree) -> bool:
        """Return whether an argument is a column that has a value in every row."""
        if argument.kind != "Column":
            return False
        source = self.block.source(column_name(argument)[0])
        is_joined = source.on is None and source.alias not in self.block.chosen_by_secrets
        return is_joined and self.block.column(argument).is_filled

    def is_never_too_large(self, argument: Tree) -> bool:
        """Return whether an argument is numeric: what is calculated of it is brought within bounds last."""
        return all(node.kind in _EXACT for node in argument.walk()) and all(
            self.block.column(one).type_name.startswith(_EXACT_NUMBERS) for one in argument.columns
        )

    def is_added_up(self, figure: Figure) -> bool:
        """Return whether the sum of the same values is a figure, too: one number is enough for both."""
        return any(
            (one.function, one.argument, one.conditions) == ("sum", figure.argument, figure.conditions)
            for one in self.block.figures
        )

    def count(self, condition: str) -> int:
        return self.number(f"count(*){filtered(condition)} * {ROW}", ROW)

    def people_of(self, condition: str) -> NoisyFigure:
        if self.block.keys and not condition:
            return NoisyFigure("count_distinct")
        # NULL is nobody for count(DISTINCT)
        is_there = f"count(*){filtered(condition)} > 0 AND person IS NOT NULL"
        part = f"(CASE WHEN {is_there} THEN {ROW} ELSE 0 END)::int8"
        return NoisyFigure(
            "count_distinct", count=self._place(Number(part, ROW * math.sqrt(self.most_groups)))
        )

    def percentile(self, figure: Figure, value: str, filled: str, bounds: Bounds) -> NoisyFigure:
        fraction = 0.0 if figure.fraction is None else self.constant(figure.fraction)
        if not 0 <= fraction <= 1:
            raise Refusal("Q601", figure.written.place, "A fraction is between 0 and 1.", "For example 0.5.")
        thousandths = round(fraction * 1000)
        width = (bounds[1] - bounds[0]) / CELLS
        cell = f"floor(({value} - {bounds[0]!r}::float8) * {1 / width!r}::float8)"
        cell = f"least(greatest({cell}, 0), {CELLS})::int4"
        distance = max(thousandths, 1000 - thousandths) * self.most_rows * ROW
        cells = Cells(cell, filled, distance, thousandths)
        if cells not in self.cells:
            self.cells.append(cells)
        return NoisyFigure(
            figure.function, cells=self.cells.index(cells), centre=bounds[0], reach=width, bounds=bounds
        )

    def bounds(self, tree: Tree) -> Bounds:
        alias, name = column_name(tree)
        protection = self.block.source(alias).relation.protection
        settings = self.settings.get(0 if protection is None else protection.rules)
        bounds = None if settings is None else settings.bounds.get(name)
        if bounds is None or not self.block.column(tree).type_name.startswith(_NUMBERS):
            raise Refusal(
                "Q601",
                tree.place,
                f"Column {Identifier.of(name)} has no bounds, which numbers with noise need.",
                f'A curator declares them: kanon_protect(..., \'{{"noise": {{"bounds": {{{json.dumps(name)}: '
                "[0, 100]}}}').",
            )
        return bounds

    def constant(self, tree: Tree) -> float:
        try:
            number = float(self.rows.sql(tree).strip("'"))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise Refusal("Q601", tree.place, "This constant is no number.", "Write it as a number.")
        return number

    # --- text ----------------------------------------------------------------------------------------------

    def text(self, rows: str, k: int) -> str:
        keys = self.rows.keys
        by_keys = "".join(f"{key}, " for key in keys)
        chosen = " WHERE chosen" if self.rows.secret else ""
        parts = "".join(f", {one.part} AS m{place}" for place, one in enumerate(self.numbers))
        tables = [
            f"rows AS {'MATERIALIZED ' if self.cells else ''}({rows})",
            f"parts AS (SELECT {by_keys}person, count(*) AS n{parts} FROM rows{chosen}"
            f"{grouped([*keys, 'person'])})",
        ]
        total, weighed = "n", "parts"
        if keys and not self.rows.is_person:
            # which groups a person stays in is chosen by a hash, which depends on nobody else
            rank = (
                f"row_number() OVER (PARTITION BY person ORDER BY"
                f" pg_catalog.hash_record_extended({record([*keys, 'person'])}, {SEED}))"
            )
            tables += [
                f"placed AS (SELECT *, {rank} AS place FROM parts)",
                "kept AS (SELECT *, sum(n) OVER (PARTITION BY person) AS total FROM placed"
                f" WHERE place <= {self.most_groups})",
            ]
            total, weighed = "total", "kept"
        numbers = [
            f"coalesce(sum({self.weighed(f'm{place}', total)}), 0)" for place in range(len(self.numbers))
        ]
        packed = f"pg_catalog.jsonb_build_array({', '.join(numbers)})::text AS numbers"
        group = f"{grouped(keys)} HAVING count(*) >= {k}" if keys else ""
        tables.append(
            f"shown AS (SELECT {by_keys}{record(keys)} AS g, count(*) AS people, {packed}"
            f" FROM {weighed}{group})"
        )
        joins, cells = "", []
        for place, one in enumerate(self.cells):
            tables += self.cell_tables(place, one, weighed, total)
            joins += f" LEFT JOIN cells_{place} ON cells_{place}.g = s.g"
            cells.append(f"coalesce(cells_{place}.packed, '[]')")
        shown = "".join(f"{text_of(f's.{key}')} AS {key}, " for key in keys)
        return (
            f"WITH {', '.join(tables)} SELECT {shown}s.people, s.numbers,"
            f" pg_catalog.jsonb_build_array({', '.join(cells)})::text AS cells FROM shown AS s{joins}"
        )

    def cell_tables(self, place: int, cells: Cells, weighed: str, total: str) -> list[str]:
        """Return the tables of the rows in each cell: by person, by group, packed."""
        keys, person = self.rows.keys, [*self.rows.keys, "person"]
        where = both(cells.condition, "chosen" if self.rows.secret else "")
        rows = self.weighed(f"c.n * {ROW}", f"w.{total}")
        return [
            f"person_cells_{place} AS (SELECT {record(person)} AS p, {cells.value} AS cell, count(*) AS n"
            f" FROM rows WHERE {where} GROUP BY 1, 2{''.join(f', {key}' for key in keys)})",
            f"group_cells_{place} AS (SELECT {record(keys, 'w.')} AS g, c.cell,"
            f" sum({rows}) AS n FROM person_cells_{place} AS c INNER JOIN {weighed} AS w"
            f" ON {record(person, 'w.')} = c.p GROUP BY 1, 2)",
            f"cells_{place} AS (SELECT g, pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(cell, n))"
            f" AS packed FROM group_cells_{place} GROUP BY g)",
        ]

    def weighed(self, part: str, total: str) -> str:
        """Return what a part weighs: less than it is, if its person has more rows than count."""
        if self.rows.is_person:
            return part
        most = self.most_rows
        return (
            f"CASE WHEN {total} <= {most} THEN {part}"
            f" ELSE pg_catalog.div(({part})::pg_catalog.numeric * {most}, {total})::pg_catalog.int8 END"
        )


def _summed(value: str, condition: str) -> str:
    return f"coalesce(sum({value}){filtered(condition)}, 0)::int8"
