"""The SQL of a block, which counts people and sketches contributions beside every figure.

No row leaves the server. The rows of a block are grouped by person first, then by bucket, then by key.
Sketches are sums modulo 2**31 of hashes over rows, so that those of a roll-up are sums of those of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kanon_pg.queries.counting.block_rows import BlockRows, both, filtered, grouped, record, table, typed
from kanon_pg.queries.counting.checks import require_no_failing_constants, types_of
from kanon_pg.queries.counting.hashes import LARGEST, folded, person_hash, row_hash, text_of
from kanon_pg.queries.people.people import People
from kanon_pg.queries.reading.blocks import EXTREMES, PERCENTILES, SPREADS, Block, Figure, aliases
from kanon_pg.queries.reading.trees import Tree

NOBODY = -1
"""People of a figure without rows."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is counted for one figure: its set of known rows, and the fewest people that it needs."""

    set: int
    needed: int
    is_chosen: bool
    """Whether secret columns choose among the known rows."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """The SQL of a block."""

    types: str
    """Returns one row with the type of each key ``k1`` ... and figure ``f1`` ..."""
    text: str
    """Returns keys ``k1`` ..., figures ``f1`` ... (as text), people ``n1`` ... (`NOBODY` if there are no
    rows), those of all rows as ``n0``, ``counts`` (of bucket and people of each figure in it) and ``sketch``.
    Takes the seed of hashes; see `typed`."""
    channels: tuple[str, ...]
    """Of each set, in the order of the numbers in ``sketch``."""
    measures: tuple[Measure, ...]
    """One for each figure."""
    sets: int
    """How many sets of known rows there are; the first is that of all rows."""
    rounded: tuple[str | None, ...]
    """Of each set, the known column of which a rounded mean is shown (E3)."""
    divides_people: bool
    """Whether everybody stands in one row of the answer at most."""
    secret_keys: tuple[int, ...]
    """Positions of keys that are secret columns."""
    chooses_secretly: bool
    """Whether secret columns choose rows."""

    def typed(self, kinds: Mapping[str, str]) -> str:
        """Return the text for the types of its keys and figures."""
        return typed(self.text, kinds)


def guarded(block: Block, people: People, constants: Sequence[str], *, k: int, buckets: int) -> Guarded:
    """Return the SQL of a block, of fewest people k, with sketches of some buckets."""
    seconds = [
        number
        for number, figure in enumerate(block.figures, 1)
        if _rounds(block, figure) and _is_time(figure, block)
    ]
    rows = BlockRows(block, people, constants, spelled=block.secret_keys, seconds=seconds)
    require_no_failing_constants(rows)
    return _Writer(rows, k, buckets).written()


def _rounds(block: Block, figure: Figure) -> bool:
    """Return whether E3 speaks of a figure: a number of a known column, of rows that secrets choose."""
    return figure.function in {"sum", "avg"} and not block.reads_secret(figure) and block.is_chosen(figure)


def _is_time(figure: Figure, block: Block) -> bool:
    """Return whether a figure is of an interval, or of a difference of two moments."""
    tree = Tree("Null", {}) if figure.argument is None else figure.argument.bare
    types = [block.column(one).type_name for one in (tree, *tree.parts) if one.kind == "Column"]
    if tree.kind == "Column":
        return types[0].startswith("interval")
    return tree.kind == "Sub" and len(types) == 2 and all(one.startswith("timestamp") for one in types)


class _Writer:
    def __init__(self, rows: BlockRows, k: int, buckets: int) -> None:
        self.rows, self.block, self.k, self.buckets = rows, rows.block, k, buckets
        self.keys = rows.keys
        self.chooses = any(map(self.block.is_chosen, self.block.figures)) or bool(
            rows.secret or self.block.secret_keys
        )
        """Whether secrets choose rows of some figure."""
        self.known_keys = [key for place, key in enumerate(self.keys) if place not in self.block.secret_keys]
        self.chosen = " WHERE chosen" if rows.secret else ""
        self.sums = [f"h{number}" for number in range(len(rows.filters) * len(self.channels))]
        self.shown_columns = _ShownColumns()
        self.values: dict[str, str] = {}
        """SQL of values of all rows of a table, with names."""

    def written(self) -> Guarded:
        hashes = list(self.channels.values())[1:]
        tables = [f"rows AS {'MATERIALIZED ' if self.reads_twice() else ''}({self.rows.select(hashes)})"]
        tables += self.shown_tables()
        if self.chooses:
            tables += self.known_tables()
        tables += self.other_tables()
        result = self.result()
        values = [f"{name} AS MATERIALIZED ({text})" for text, name in self.values.items()]
        return Guarded(
            types=types_of(self.rows),
            text=f"WITH {', '.join([*values, *tables])} {result}",
            channels=tuple(self.channels),
            measures=tuple(
                Measure(self.rows.filter_of(figure), self.needed(figure), self.block.is_chosen(figure))
                for figure in self.block.figures
            ),
            sets=len(self.rows.filters),
            rounded=tuple(self.rounded_columns()),
            divides_people=self.rows.is_person,
            secret_keys=self.block.secret_keys,
            chooses_secretly=self.chooses,
        )

    # --- what is counted -----------------------------------------------------------------------------------

    @cached_property
    def channels(self) -> dict[str, str]:
        """The hash of a row in each channel; of people it is that of the person."""
        finest = self.rows.people.finest
        channels = {"people": "", f"table:{finest.relation.oid}": row_hash(finest)}
        for alias, name in sorted(self.block.secrets(self.block.trees)):
            owner = self.block.source(alias)
            column = owner.relation.column(name)
            assert column is not None  # noqa: S101 - the block was checked
            if owner is not finest:
                channels[f"content:{owner.relation.oid}:0"] = row_hash(owner)
            channels[f"content:{owner.relation.oid}:{column.number}"] = row_hash(owner, column)
        return channels

    def rounded_columns(self) -> Iterator[str | None]:
        """Yield for each set the known column of which E3 lets the rounded mean be seen."""
        for number in range(len(self.rows.filters)):
            means = (
                figure.argument
                for figure in self.block.figures
                if _rounds(self.block, figure) and self.rows.filter_of(figure) == number
            )
            argument = next(means, None)
            yield None if argument is None else self.rows.sql(argument)

    def needed(self, figure: Figure) -> int:
        return 2 * self.k if figure.function in SPREADS and self.block.reads_secret(figure) else self.k

    def reads_twice(self) -> bool:
        return self.chooses or any(map(self.is_other, self.block.figures))

    def is_other(self, figure: Figure) -> bool:
        """Return whether a figure is no sum of figures of parts of its rows."""
        return figure.function in SPREADS | PERCENTILES | EXTREMES or (
            figure.function == "count_distinct" and not self.counts_people(figure)
        )

    def counts_people(self, figure: Figure) -> bool:
        return self.rows.people.are_counted_by(figure)

    # --- shown and known rows ------------------------------------------------------------------------------

    def shown_tables(self) -> list[str]:
        """Return the tables that count people and add up figures of the rows that are chosen."""
        is_row, keys = self.rows.is_row, self.keys
        inner, middle, outer = _Columns("i"), _Columns("m"), _Columns("o")

        def rows_with(argument: str, condition: str) -> str:
            """Return how many rows have an argument, and satisfy a condition."""
            counted = f"count({argument}){filtered(condition)}"
            return middle.of(counted if is_row else f"sum({inner.of(counted)})::pg_catalog.int8")

        def people_with(condition: str, counted: str = "person") -> str:
            """Return how many people have rows that satisfy a condition."""
            if is_row:
                return middle.of(f"count(*){filtered(condition)}")
            has_rows = f"{inner.of(f'count(*){filtered(condition)}')} > 0" if condition else ""
            return middle.of(f"count({counted}){filtered(has_rows)}")

        shown = self.shown_columns
        shown.everybody, by_bucket = outer.of(f"sum({people_with('')})"), []
        for number, figure in enumerate(self.block.figures, 1):
            condition, argument = self.rows.condition(number, figure), self.rows.arguments.get(number, "*")
            counting = people_with(both(condition, self.counted(number, figure)))
            by_bucket.append(counting)
            nobody = "false"
            if condition or not keys:  # rows whose person is unknown are rows
                nobody = f"coalesce(sum({people_with(condition, '*')}), 0) = 0"
            shown.people[number] = outer.of(f"CASE WHEN {nobody} THEN {NOBODY} ELSE sum({counting}) END")
            if self.is_other(figure) or self.counts_people(figure):
                continue
            shown.rows[number] = outer.of(
                f"coalesce(sum({rows_with(argument, condition)}), 0)::pg_catalog.int8"
            )
            if figure.function != "count":
                added = f"sum({argument}){filtered(condition)}"
                part = middle.of(added if is_row else f"sum({inner.of(added)})")
                shown.sums[number] = outer.of(f"sum({part})")
        hashed, bucketed, packed = self.sketch([] if self.chooses else self.sums)
        entry = " || ".join(f"pg_catalog.int2send({one}::pg_catalog.int2)" for one in ["bucket", *by_bucket])
        packed = [
            *packed,
            f"coalesce(pg_catalog.string_agg({entry}, ''), '') AS counts",
            f"{record(self.known_keys)} AS g",
        ]
        people = ", ".join([*keys, "person", *inner.written(), *hashed])
        return [
            f"shown_people AS (SELECT {', '.join(['*', *hashed])} FROM rows AS r{self.chosen})"
            if is_row
            else f"shown_people AS (SELECT {people} FROM rows AS r{self.chosen}{grouped([*keys, 'person'])})",
            f"shown_buckets AS (SELECT {', '.join([*keys, *middle.written(), *bucketed])}, bucket FROM"
            f" (SELECT *, {self.bucket()} AS bucket FROM shown_people) AS r{grouped([*keys, 'bucket'])})",
            f"shown AS (SELECT {', '.join([*keys, *outer.written(), *packed])}"
            f" FROM shown_buckets{grouped(keys)})",
        ]

    def known_tables(self) -> list[str]:
        """Return the tables that sketch the known rows, where secret columns choose among them."""
        known = self.known_keys
        hashed, bucketed, packed = self.sketch(self.sums)
        packed = [*packed, f"{record(known)} AS g"]
        people = ", ".join([*known, "person", *hashed])
        by_person = "" if self.rows.is_row else grouped([*known, "person"])
        return [
            f"known_people AS (SELECT {people} FROM rows AS r{by_person})",
            f"known_buckets AS (SELECT {', '.join([*known, 'bucket', *bucketed])} FROM"
            f" (SELECT *, {self.bucket()} AS bucket FROM known_people) AS r{grouped([*known, 'bucket'])})",
            f"known AS (SELECT {', '.join([*known, *packed])} FROM known_buckets{grouped(known)})",
        ]

    def person_hash(self) -> str:
        return person_hash(self.rows.people.types, is_never_null=self.rows.is_row)

    def bucket(self) -> str:
        return f"({self.person_hash()} % {self.buckets})::pg_catalog.int2"

    def is_hashed_as_person(self, channel: int) -> bool:
        """Return whether the hash of a row in a channel is that of its person, the key of its table."""
        people = self.rows.people
        names = people.finest.relation.key
        kinds = [column.type_name for column in map(people.finest.relation.column, names) if column]
        is_key = names == people.columns and kinds == list(people.types) and len(names) == 1
        return channel == 0 or (channel == 1 and self.rows.is_row and is_key)

    def sketch(self, sums: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        """Return the columns that sketches are made of: by person, by bucket, by key."""
        if not sums:
            return [], [], []
        hashed, bucketed = [], []
        finest = f"content:{self.rows.people.finest.relation.oid}:"
        for number in range(len(self.rows.filters)):
            condition = filtered(f"w{number}" if number else "")
            for channel, name in enumerate(self.channels):
                place = number * len(self.channels) + channel
                is_person = self.is_hashed_as_person(channel)
                value = self.person_hash() if is_person else f"r{channel}"
                if self.rows.is_row:
                    added = f"CASE WHEN w{number} THEN {value} ELSE 0 END" if number else value
                    hashed.append(f"{added} AS h{place}")
                else:
                    # a row of a table above counts once, however many rows below it has
                    is_above = name.startswith("content:") and not name.startswith(finest)
                    value = f"DISTINCT {value}" if is_above else value
                    added = f"coalesce(sum({value}){condition}, 0)::pg_catalog.int8"
                    added = f"count(*){condition} * {self.person_hash()}" if is_person else added
                    hashed.append(f"{folded(f'({added})')} AS h{place}")
                bucketed.append(f"(sum(h{place}) & {LARGEST})::pg_catalog.int4 AS h{place}")
        entry = " || ".join(["pg_catalog.int2send(bucket)", *(f"pg_catalog.int4send({one})" for one in sums)])
        return hashed, bucketed, [f"coalesce(pg_catalog.string_agg({entry}, ''), '') AS sketch"]

    def counted(self, number: int, figure: Figure) -> str:
        """Return which rows count people of a figure, beside its conditions."""
        if not self.block.reads_secret(figure):
            return ""
        argument = self.rows.arguments[number]
        if figure.function in PERCENTILES:
            return f"{argument} IS NOT NULL"
        return f"{argument} IS NOT NULL AND {argument} IS DISTINCT FROM ({self.commonest(figure)})"

    def commonest(self, figure: Figure) -> str:
        """Return SQL of the commonest value of a figure's argument in its table."""
        assert figure.argument is not None  # noqa: S101 - callers check
        alias, _ = min(self.block.secrets([figure.argument]))
        value = self.rows.sql(figure.argument)
        return self.of_table(
            f"SELECT {value} AS v FROM {table(self.block.source(alias))} WHERE {value} IS NOT NULL"
            " GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
        )

    def of_table(self, text: str) -> str:
        """Return SQL of a value that is computed even if no row asks for it: blocks that are read tell."""
        return f"SELECT v FROM {self.values.setdefault(text, f'whole_{len(self.values) + 1}')}"

    # --- figures that need their rows ----------------------------------------------------------------------

    def other_tables(self) -> list[str]:
        """Return the tables of figures that need their rows."""
        outputs, tables = [], []
        for number, figure in enumerate(self.block.figures, 1):
            if figure.function in PERCENTILES:
                tables += self.percentile(number, figure)
            elif self.is_other(figure):
                argument = self.rows.arguments[number]
                call = f"{figure.function}({argument})"
                if figure.function == "count_distinct":
                    call = f"count(DISTINCT {argument})"
                outputs.append(f"{call}{filtered(self.rows.condition(number, figure))} AS o{number}")
        if outputs:
            columns = ", ".join([f"{record(self.keys)} AS g", *outputs])
            tables.insert(0, f"others AS (SELECT {columns} FROM rows{self.chosen}{grouped(self.keys)})")
        return tables

    def percentile(self, number: int, figure: Figure) -> list[str]:
        """Return the tables of a percentile: the mean over the values of k people nearest its rank."""
        argument, keys = self.rows.arguments[number], self.keys
        condition = both(
            self.rows.condition(number, figure), f"{argument} IS NOT NULL", "chosen" if self.chosen else ""
        )
        by = f"PARTITION BY {', '.join(keys)}" if keys else ""
        fraction = f"({'0' if figure.fraction is None else self.rows.sql(figure.fraction)})::float8"
        rank = f"{fraction} * (n - 1)"
        away = f"greatest(0, floor({rank}) - place, place - ceil({rank}))"
        return [
            f"ranked_{number} AS (SELECT {record(keys)} AS g, person, {argument} AS a,"
            f" row_number() OVER ({by} ORDER BY {argument}) - 1 AS place,"
            f" count(*) OVER ({by}) AS n FROM rows WHERE {condition})",
            # equal values are as near as the nearest of them
            f"away_{number} AS (SELECT g, person, a, min({away}) OVER (PARTITION BY g, a) AS away"
            f" FROM ranked_{number})",
            f"reach_{number} AS (SELECT g, (array_agg(away ORDER BY away))[{self.k}] AS reach FROM"
            f" (SELECT g, person, min(away) AS away FROM away_{number} GROUP BY g, person) AS r GROUP BY g)",
            f"middle_{number} AS (SELECT g, avg(a) AS o FROM away_{number}"
            f" INNER JOIN reach_{number} USING (g) WHERE away <= reach GROUP BY g)",
        ]

    # --- the result ----------------------------------------------------------------------------------------

    def result(self) -> str:
        known = self.known_keys if self.chooses else []
        shown = [f"{text_of(f'w.{key}' if key in known else f's.{key}')} AS {key}" for key in self.keys]
        joins = ""
        # what known values let expect and secrets leave empty comes with nobody
        people = [f"coalesce(s.{self.shown_columns.everybody}, 0)::pg_catalog.int8 AS n0"]
        for number, figure in enumerate(self.block.figures, 1):
            value = self.value(number, figure)
            if figure.function in PERCENTILES:
                joins += f" LEFT JOIN middle_{number} AS x{number} ON x{number}.g = {record(self.keys, 's.')}"
            shown.append(f"{text_of(f'({value})::{{f{number}}}')} AS f{number}")
            people.append(f"coalesce({self.people(number)}, 0)::pg_catalog.int8 AS n{number}")
        if any(self.is_other(figure) and figure.function not in PERCENTILES for figure in self.block.figures):
            joins = f" LEFT JOIN others AS o ON o.g = {record(self.keys, 's.')}" + joins
        tables = "known AS w LEFT JOIN shown AS s ON s.g = w.g" if self.chooses else "shown AS s"
        sketches = f"{'w' if self.chooses else 's'}.sketch, coalesce(s.counts, '') AS counts"
        # at the top of the plan, before a row is sought
        first = " AND ".join(f"(SELECT count(*) FROM {name}) >= 0" for name in self.values.values()) or "true"
        return f"SELECT {', '.join([*shown, *people])}, {sketches} FROM {tables}{joins} WHERE {first}"

    def people(self, number: int) -> str:
        return f"s.{self.shown_columns.people[number]}"

    def value(self, number: int, figure: Figure) -> str:
        if self.counts_people(figure):
            return f"greatest({self.people(number)}, 0)"
        if self.is_other(figure):
            return f"x{number}.o" if figure.function in PERCENTILES else f"o.o{number}"
        rows = f"s.{self.shown_columns.rows[number]}"
        if figure.function == "count":
            return rows
        total = f"s.{self.shown_columns.sums[number]}"
        mean = f"{total} / nullif({rows}, 0)"
        if _rounds(self.block, figure):
            mean = self.rounded(number, figure, f"({mean})::numeric")
            mean = mean if figure.function == "avg" else f"{rows} * {mean}"
            is_time = _is_time(figure, self.block)
            return f"justify_hours(({mean}) * interval '1 second')" if is_time else mean
        return total if figure.function == "sum" else mean

    def rounded(self, number: int, figure: Figure, mean: str) -> str:
        """Return a mean, rounded to half its standard error (E3)."""
        assert figure.argument is not None  # noqa: S101 - it is a mean
        named = aliases(figure.argument)
        tables = " CROSS JOIN ".join(table(source) for source in self.block.sources if source.alias in named)
        spread = self.of_table(
            f"SELECT stddev({self.rows.number(number, figure)})::float8 AS v FROM {tables}"
        )
        people = f"nullif(greatest({self.people(number)}, 0), 0)"
        step = f"nullif((({spread}) / sqrt({people}) / 2)::numeric, 0)"
        return f"coalesce(round({mean} / {step}) * {step}, {mean})"


class _ShownColumns:
    """Columns of the table ``shown``: people, and by the number of a figure its people, rows and sum."""

    def __init__(self) -> None:
        self.everybody = ""
        self.people: dict[int, str] = {}
        self.rows: dict[int, str] = {}
        self.sums: dict[int, str] = {}


class _Columns:
    """Columns of a table under construction; the same expression is written once."""

    def __init__(self, letter: str) -> None:
        self.letter = letter
        self.names: dict[str, str] = {}

    def of(self, expression: str) -> str:
        """Return the name of a column."""
        return self.names.setdefault(expression, f"{self.letter}{len(self.names) + 1}")

    def written(self) -> list[str]:
        """Return all columns with their names."""
        return [f"{expression} AS {name}" for expression, name in self.names.items()]
