"""The SQL of a block, which counts people and sketches contributions beside every figure.

No row leaves the server. The rows of a block are grouped by person first, then by bucket, then by key.
Sketches are sums modulo 2**31 of hashes over rows, so that those of a roll-up are sums of those of its rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_pg.db.identifiers import Identifier
from kanon_pg.queries.people.failing import COMPARISONS
from kanon_pg.queries.people.people import People
from kanon_pg.queries.reading.blocks import (
    EXTREMES,
    PERCENTILES,
    SPREADS,
    Block,
    Figure,
    Source,
    aliases,
    column_name,
    equal_columns,
)
from kanon_pg.queries.reading.facts import Column, Facts
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import NUMBER_MARK
from kanon_pg.queries.reading.trees import Tree, render

SEED = "$1::pg_catalog.int8"
"""Of all hashes; only the record knows it."""

NOBODY = -1
"""People of a figure without rows."""

_MOST = 2**31 - 1

_HASHES = {
    "smallint": "hashint8extended({}::pg_catalog.int8, {})",
    "integer": "hashint8extended({}::pg_catalog.int8, {})",
    "bigint": "hashint8extended({}, {})",
    "numeric": "hash_numeric_extended({}, {})",
    "text": "hashtextextended({}, {})",
    "character varying": "hashtextextended({}, {})",
    "uuid": "uuid_hash_extended({}, {})",
}
"""By types, without what stands in parentheses: hashes that take a seed, and make no record first."""

_IN_RECORDS = frozenset(
    {
        *("boolean", "character", "date", "double precision", "interval", "real"),
        *("timestamp without time zone", "timestamp with time zone", "time without time zone"),
    }
)
"""Further types whose hashes are those of records; of all others, texts are hashed."""

_ARITHMETIC = frozenset({"Add", "Sub", "Mul", "Div"})
_MOST_ARITHMETIC = 20
_LONGEST_NUMBER = 20
"""Digits of a number beside secrets: twenty products of such numbers are far from the largest number."""

_SAMPLES = {"width_bucket": (0, "1"), "date_trunc": (1, "timestamptz '2000-01-01 00:00:00+00'")}
"""By functions that fail for some constants: which argument is a value, and a value for which they do."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is counted for one figure.

    Parameters
    ----------
    set : int
        Number of the set of known rows in `Guarded.filters`.
    needed : int
        Fewest people.
    is_chosen : bool
        Whether secret columns choose among the known rows.
    """

    set: int
    needed: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Guarded:
    """The SQL of a block.

    Parameters
    ----------
    types : str
        Returns one row with the type of each key ``k1`` ... and figure ``f1`` ...
    text : str
        Returns keys ``k1`` ..., figures ``f1`` ... (as text), people ``n1`` ... (`NOBODY` if there are no
        rows), those of all rows as ``n0``, ``counts`` (of bucket and people of each figure in it) and
        ``sketch``. Takes the seed of hashes; see `typed`.
    channels : tuple of str
        Of each set, in the order of the numbers in ``sketch``.
    measures : tuple of Measure
        One for each figure.
    sets : int
        How many sets of known rows there are; the first is that of all rows.
    rounded : tuple of str or None
        Of each set, the known column of which a rounded mean is shown (E3).
    divides_people : bool
        Whether everybody stands in one row of the answer at most.
    secret_keys : tuple of int
        Positions of keys that are secret columns.
    chooses_secretly : bool
        Whether secret columns choose rows.
    """

    types: str
    text: str
    channels: tuple[str, ...]
    measures: tuple[Measure, ...]
    sets: int
    rounded: tuple[str | None, ...]
    divides_people: bool
    secret_keys: tuple[int, ...]
    chooses_secretly: bool

    def typed(self, kinds: Mapping[str, str]) -> str:
        """Return the text for the types of its keys and figures."""
        return typed(self.text, kinds)


def typed(form: str, kinds: Mapping[str, str]) -> str:
    """Return a form with types in place of ``{f1}`` ..., and what spells keys in place of ``{=k1}`` ..."""
    text = form
    for name, kind in kinds.items():
        text = text.replace("{" + name + "}", kind).replace("{=" + name + "}", _SPELLINGS.get(kind, ""))
    return text


_SPELLINGS = {
    "numeric": "pg_catalog.trim_scale",
    "interval": "pg_catalog.justify_interval",
    "real": "0::pg_catalog.float4 + ",
    "double precision": "0::pg_catalog.float8 + ",
}
"""By types whose equal values can be written in several ways: what writes them in one."""


def guarded(
    block: Block, people: People, facts: Facts, constants: Sequence[str], *, k: int, buckets: int
) -> Guarded:
    """Return the SQL of a block.

    Parameters
    ----------
    k : int
        Fewest people.
    buckets : int
        Of each sketch.
    """
    return _Writer(block, people, facts, constants, k, buckets).written()


class _Writer:
    def __init__(
        self, block: Block, people: People, facts: Facts, constants: Sequence[str], k: int, buckets: int
    ) -> None:
        self.block, self.people, self.facts = block, people, facts
        self.constants, self.k, self.buckets = constants, k, buckets
        self.secret_keys = tuple(
            number for number, key in enumerate(block.keys) if block.depends_on_secrets(key)
        )
        self.secret = [one for one in block.conditions if block.depends_on_secrets(one)]
        self.known = [one for one in block.conditions if not block.depends_on_secrets(one)]
        self.filters: list[tuple[Tree, ...]] = [()]
        self.arguments: dict[int, str] = {}
        self.once = frozenset[int]()
        self.is_person = people.alias == people.finest.alias and any(
            key <= set(people.columns) for key in people.finest.relation.unique_keys
        )
        """Whether everybody has one row at most."""
        self.is_row = self.is_person and people.finest.on is None and not block.chosen_by_secrets
        """Whether every row is somebody's, and the only one: nothing has to be grouped by person."""
        self.people_columns: list[str] = []
        self.row_columns: dict[int, str] = {}
        self.sum_columns: dict[int, str] = {}
        self.whole: dict[str, str] = {}
        self.rounds_means = True
        self.all_are_secret = False
        self.chooses = bool(self.secret or self.secret_keys) or any(
            block.depends_on_secrets(one) for figure in block.figures for one in figure.conditions
        )

    def sql(self, tree: Tree) -> str:
        return render(tree, self.constants)

    def set_of(self, figure: Figure) -> int:
        """Return the number of the set of a figure's known rows."""
        known = tuple(one for one in figure.conditions if not self.block.depends_on_secrets(one))
        if known not in self.filters:
            self.filters.append(known)
        return self.filters.index(known)

    # --- hashes --------------------------------------------------------------------------------------------

    def row_hash(self, source: Source, content: Column | None = None) -> str:
        """Return the hash of a row of a source, or of the row with a value of it."""
        key = [column for column in map(source.relation.column, source.relation.key) if column is not None]
        columns = key or [column for column in source.relation.columns if column.is_built_in]
        cells = [
            _cell(f"{source.alias}.{Identifier.of(column.name)}", column.type_name) for column in columns
        ]
        found = f"pg_catalog.hash_record_extended(ROW({', '.join(cells)}), {SEED})"
        if key and all(_bare(column.type_name) in _HASHES for column in key):
            found = SEED
            for cell, column in zip(cells, key, strict=True):
                found = _hash(cell, column.type_name, found)
        if content is not None:
            value = f"{source.alias}.{Identifier.of(content.name)}"
            hashed = _hash(value, content.type_name, found)
            found = f"CASE WHEN {value} IS NULL THEN {found} ELSE {hashed} END"
        return _folded(found)

    def person_hash(self) -> str:
        """Return the hash of a row's ``person``; 0 for nobody."""
        kinds = self.people.types
        found = _hash("person", kinds[0] if len(kinds) == 1 else "record", SEED)
        return _folded(found if self.is_row else f"coalesce({found}, 0)")

    def is_by_person(self) -> bool:
        """Return whether a row is identified by its person, and hashed alike."""
        names = self.people.finest.relation.key
        kinds = [column.type_name for column in map(self.people.finest.relation.column, names) if column]
        return names == self.people.columns and kinds == list(self.people.types) and len(names) == 1

    def channels(self) -> dict[str, str]:
        """Return the hash of a row in each channel."""
        found: dict[str, str] = {"people": ""}
        finest = self.people.finest
        found[f"table:{finest.relation.oid}"] = self.row_hash(finest)
        for alias, name in sorted(self.block.secrets(self.block.trees)):
            owner = next(source for source in self.block.sources if source.alias == alias)
            column = owner.relation.column(name)
            assert column is not None  # noqa: S101 - the block was checked
            if owner is not finest:
                found[f"content:{owner.relation.oid}:0"] = self.row_hash(owner)
            found[f"content:{owner.relation.oid}:{column.number}"] = self.row_hash(owner, column)
        self.once = frozenset(
            place
            for place, channel in enumerate(found)
            if channel.startswith("content:") and channel.split(":")[1] != str(finest.relation.oid)
        )
        return found

    # --- text ----------------------------------------------------------------------------------------------

    def written(self) -> Guarded:
        block = self.block
        for pattern in self.patterns("Like", "ILike"):
            # one that ends with it fails for some values
            if "\\" in pattern:
                raise Refusal(
                    "Q303",
                    0,
                    "A pattern for a sensitive column has no backslash.",
                    "Write _ for any character.",
                )
        self.require_plain_numbers()
        measures = [
            Measure(self.set_of(figure), self.needed(figure), self.is_chosen(figure))
            for figure in block.figures
        ]
        channels = self.channels()
        keys = [f"k{number}" for number in range(1, len(block.keys) + 1)]
        sums = [f"h{number}" for number in range(len(self.filters) * len(channels))]
        tables = (
            [f"rows AS MATERIALIZED ({self.rows(channels)})"]
            if self.reads_twice()
            else [f"rows AS ({self.rows(channels)})"]
        )
        tables += self.shown_tables(keys, sums if not self.chooses else [], channels)
        if self.chooses:
            tables += self.known_tables(keys, sums, channels)
        tables += self.other_tables(keys)
        result = self.result(keys)
        whole = [f"{name} AS MATERIALIZED ({text})" for text, name in self.whole.items()]
        return Guarded(
            types=self.types(),
            text=f"WITH {', '.join([*whole, *tables])} {result}",
            channels=tuple(channels),
            measures=tuple(measures),
            sets=len(self.filters),
            rounded=tuple(self.rounded_columns()),
            divides_people=self.is_person,
            secret_keys=self.secret_keys,
            chooses_secretly=self.chooses,
        )

    def rounded_columns(self) -> Iterator[str | None]:
        """Yield for each set the known column of which E3 lets the rounded mean be seen."""
        for number in range(len(self.filters)):
            named = [one for one in self.block.figures if self.rounds(one) and self.set_of(one) == number]
            yield self.sql(named[0].argument) if named and named[0].argument is not None else None

    def spelled(self, number: int, key: Tree) -> str:
        """Return SQL of a key; equal values of secrets are written in one way."""
        value = self.sql(self.key(key))
        has_scale = key.kind == "Column" and "(" in self.block.column(key).type_name
        is_secret = self.all_are_secret or number - 1 in self.secret_keys
        return f"{{=k{number}}}({value})" if is_secret and not has_scale else value

    def key(self, tree: Tree) -> Tree:
        """Return a key; of secret numbers, that which is none is missing, so that no function of it fails."""

        def change(node: Tree) -> Tree | None:
            is_number = (
                node.kind == "Column" and self.block.secrets([node]) and self.block.column(node).is_number
            )
            if not is_number or not self.block.column(node).type_name.startswith(
                ("numeric", "real", "double")
            ):
                return None
            none = Tree("Literal", {"this": "NaN", "is_string": True})
            return Tree("Anonymous", {"this": "nullif", "expressions": (node, none)})

        return tree if tree.kind == "Column" else tree.replaced(change)

    def patterns(self, *kinds: str) -> list[str]:
        """Return the patterns that secret columns are compared with."""
        return [
            self.sql(pattern)
            for tree in self.block.trees
            for node in tree.walk()
            if node.kind in kinds and self.block.depends_on_secrets(node)
            for pattern in node.children("expression")
        ]

    def require_plain_numbers(self) -> None:
        """Refuse constants beside secrets by which a sum or product of single values may be too large."""
        for tree in filter(self.block.depends_on_secrets, self.block.trees):
            nodes = [node for node in tree.walk() if aliases(node)]
            arithmetic = [node for node in nodes if node.kind in _ARITHMETIC]
            buckets = [node for node in nodes if node.text("this").lower() == "width_bucket"]
            if not arithmetic and not buckets:
                continue
            constants = [
                node for node in tree.walk(lambda one: one.kind not in COMPARISONS) if node.kind == "Literal"
            ]
            divisors = [
                part for node in arithmetic if node.kind == "Div" for part in node.children("expression")
            ]
            is_plain = (
                len(arithmetic) <= _MOST_ARITHMETIC
                and all(_is_number(one) and self.is_plain(one) for one in constants)
                and not any(_is_number(one) and float(self.sql(one)) == 0 for one in divisors)
                and all(
                    len(self.sql(node.children("expressions")[-1])) < _LONGEST_NUMBER / 2 for node in buckets
                )
            )
            if not is_plain:
                raise Refusal(
                    "Q303",
                    tree.place,
                    "What is calculated of a sensitive column may fail.",
                    "Write fewer and plainer numbers, and none that is 0 as a divisor.",
                )

    def is_plain(self, number: Tree) -> bool:
        text = self.sql(number)
        return len(text) <= _LONGEST_NUMBER and "e" not in text.lower()

    def tried(self) -> list[str]:
        """Return conditions that fail for constants for which what is said of secrets would fail.

        A pattern that is none, a sum that is too large, bounds that are equal: they fail before they meet a
        value, and so for all values.
        """
        found = [f"coalesce('' ~ {pattern}, true)" for pattern in self.patterns("RegexpLike", "RegexpILike")]
        trees = [tree for tree in self.block.trees if self.block.depends_on_secrets(tree)]
        for node in (node for tree in trees for node in tree.walk()):
            if node.kind in _ARITHMETIC and not aliases(node):
                found.append(f"({self.sql(node)}) IS NULL")
            sample = _SAMPLES.get(node.text("this").lower()) if node.kind == "Anonymous" else None
            if sample is not None and aliases(node):
                place, value = sample
                arguments = [self.sql(one) for one in node.children("expressions")]
                arguments[place : place + 1] = [value]
                found.append(f"pg_catalog.{node.text('this').lower()}({', '.join(arguments)}) IS NULL")
        return found

    def needed(self, figure: Figure) -> int:
        return 2 * self.k if figure.function in SPREADS and self.reads_secret(figure) else self.k

    def reads_secret(self, figure: Figure) -> bool:
        """Return whether a figure is a number of a secret column."""
        return figure.argument is not None and bool(self.block.secrets([figure.argument]))

    def reads_twice(self) -> bool:
        return self.chooses or any(self.is_other(figure) for figure in self.block.figures)

    def is_other(self, figure: Figure) -> bool:
        """Return whether a figure is no sum of figures of parts of its rows."""
        return figure.function in SPREADS | PERCENTILES | EXTREMES or (
            figure.function == "count_distinct" and not self.counts_people(figure)
        )

    def counts_people(self, figure: Figure) -> bool:
        argument = figure.argument
        return (
            figure.function == "count_distinct"
            and argument is not None
            and argument.kind == "Column"
            and column_name(argument) in self.people.same
        )

    def from_clause(self) -> str:
        # a row that a secret finds leaves the known rows as they are: it is joined to them, and chosen later
        found = self.block.chosen_by_secrets
        inner = [source for source in self.block.sources if source.on is None and source.alias not in found]
        left = [
            source for source in self.block.sources if source.on is not None and source.alias not in found
        ]
        left += [
            replace(
                source,
                on=tuple(one for one in self.secret if one.kind == "EQ" and named_by(one, source, later)),
            )
            if source.on is None
            else source
            for source, later in self.in_order_of_joins(found)
        ]
        joined = [_table(source) for source in inner]
        text = joined[0] + "".join(f" CROSS JOIN {one}" for one in joined[1:])
        for step in self.people.steps:
            relation = step.parent
            name = Identifier((relation.schema, relation.name))
            on = " AND ".join(
                f"{Identifier.of(step.child)}.{Identifier.of(a)} = {step.alias}.{Identifier.of(b)}"
                for a, b in zip(step.link.columns, step.link.parent_columns, strict=True)
            )
            text += f" INNER JOIN {name} AS {step.alias} ON {on}"
        for source in left:
            on = " AND ".join(f"({self.sql(one)})" for one in source.on or ()) or "true"
            text += f" LEFT JOIN {_table(source)} ON {on}"
        conditions = " AND ".join(f"({self.sql(one)})" for one in self.known)
        return f"FROM {text}{' WHERE ' + conditions if conditions else ''}"

    def in_order_of_joins(self, found: Collection[str]) -> Iterator[tuple[Source, frozenset[str]]]:
        """Yield the sources that secrets find, each after those by which it is found, and what follows it."""
        waiting = {source.alias: source for source in self.block.sources if source.alias in found}
        while waiting:
            ready = [one for one in waiting if self.is_found(waiting[one], frozenset(waiting) - {one})]
            if not ready:
                raise Refusal(
                    "Q404",
                    0,
                    "A table that a sensitive column chooses from is joined by its key.",
                    "Write ON.",
                )
            alias = ready[0]
            source = waiting.pop(alias)
            yield source, frozenset(waiting)

    def is_found(self, source: Source, later: frozenset[str]) -> bool:
        """Return whether a key of a source is given without some others."""
        given = {
            column
            for one in (self.secret if source.on is None else source.on)
            if named_by(one, source, later)
            for alias, column in equal_columns(one)
            if alias == source.alias
        }
        return any(key <= given for key in source.relation.unique_keys)

    def rows(self, channels: dict[str, str]) -> str:
        outputs = [
            f"{self.spelled(number, key)} AS k{number}" for number, key in enumerate(self.block.keys, 1)
        ]
        person = [
            f"{Identifier.of(self.people.alias)}.{Identifier.of(name)}::{kind}"
            for name, kind in zip(self.people.columns, self.people.types, strict=True)
        ]
        outputs.append(f"{person[0] if len(person) == 1 else 'ROW(' + ', '.join(person) + ')'} AS person")
        written: dict[str, str] = {}
        for number, figure in enumerate(self.block.figures, 1):
            if figure.argument is not None and not self.counts_people(figure):
                text = self.number(figure)
                if text not in written:
                    written[text] = f"a{len(written) + 1}"
                    outputs.append(f"{text} AS {written[text]}")
                self.arguments[number] = written[text]
            secret = [one for one in figure.conditions if self.block.depends_on_secrets(one)]
            if secret:
                outputs.append(f"{self.all_of(secret)} AS c{number}")
        for number, conditions in enumerate(self.filters[1:], 1):
            outputs.append(f"{self.all_of(conditions)} AS w{number}")
        if self.secret:
            outputs.append(f"{self.all_of(self.secret)} AS chosen")
        for number, (name, value) in enumerate(channels.items()):
            if name != "people":
                outputs.append(f"{value} AS r{number}")
        return f"SELECT {', '.join(outputs)} {self.from_clause()}"

    def all_of(self, conditions: Sequence[Tree]) -> str:
        return "coalesce(" + " AND ".join(f"({self.sql(one)})" for one in conditions) + ", false)"

    def condition(self, number: int, figure: Figure) -> str:
        """Return the condition of a figure's rows, as FILTER has it; empty if there is none."""
        parts = []
        if self.set_of(figure):
            parts.append(f"w{self.set_of(figure)}")
        if any(self.block.depends_on_secrets(one) for one in figure.conditions):
            parts.append(f"c{number}")
        return " AND ".join(parts)

    def shown_tables(self, keys: list[str], sums: list[str], channels: dict[str, str]) -> list[str]:
        """Return the tables that count people and add up figures of the rows that are chosen."""
        inner, middle, outer = _Columns("i"), _Columns("m"), _Columns("o")

        def rows_with(argument: str, condition: str) -> str:
            """Return how many rows have an argument, and satisfy a condition."""
            if self.is_row:
                return middle.of(f"count({argument}){_filter(condition)}")
            return middle.of(f"sum({inner.of(f'count({argument}){_filter(condition)}')})::pg_catalog.int8")

        def people_with(condition: str, counted: str = "person") -> str:
            """Return how many people have rows that satisfy a condition."""
            if self.is_row:
                return middle.of(f"count(*){_filter(condition)}")
            rows = f" FILTER (WHERE {inner.of(f'count(*){_filter(condition)}')} > 0)" if condition else ""
            return middle.of(f"count({counted}){rows}")

        everybody = people_with("")
        self.people_columns, by_bucket = [outer.of(f"sum({everybody})")], []
        for number, figure in enumerate(self.block.figures, 1):
            condition, argument = self.condition(number, figure), self.arguments.get(number, "*")
            counted = self.counted(number, figure)
            counting = people_with(" AND ".join(filter(None, [condition, counted])))
            by_bucket.append(counting)
            nobody = "false"
            if condition or not keys:  # rows whose person is unknown are rows
                nobody = f"coalesce(sum({people_with(condition, '*')}), 0) = 0"
            self.people_columns.append(outer.of(f"CASE WHEN {nobody} THEN {NOBODY} ELSE sum({counting}) END"))
            if self.is_other(figure) or self.counts_people(figure):
                continue
            self.row_columns[number] = outer.of(
                f"coalesce(sum({rows_with(argument, condition)}), 0)::pg_catalog.int8"
            )
            if figure.function != "count":
                added = f"sum({argument}){_filter(condition)}"
                part = middle.of(added if self.is_row else f"sum({inner.of(added)})")
                self.sum_columns[number] = outer.of(f"sum({part})")
        hashed, bucketed, packed = self.sketch(sums, channels)
        entry = " || ".join(f"pg_catalog.int2send({one}::pg_catalog.int2)" for one in ["bucket", *by_bucket])
        packed = [
            *packed,
            f"coalesce(pg_catalog.string_agg({entry}, ''), '') AS counts",
            f"{_row(self.known_keys(keys))} AS g",
        ]
        group = f"{', '.join(keys)}, " if keys else ""
        chosen = " WHERE chosen" if self.secret else ""
        by_keys = f" GROUP BY {', '.join(keys)}" if keys else ""
        people = f"{', '.join([*keys, 'person', *inner.written(), *hashed])}"
        return [
            f"shown_people AS (SELECT {', '.join(['*', *hashed])} FROM rows AS r{chosen})"
            if self.is_row
            else f"shown_people AS (SELECT {people} FROM rows AS r{chosen} GROUP BY {group}person)",
            f"shown_buckets AS (SELECT {', '.join([*keys, *middle.written(), *bucketed])}, bucket FROM"
            f" (SELECT *, {self.bucket()} AS bucket FROM shown_people) AS r GROUP BY {group}bucket)",
            f"shown AS (SELECT {', '.join([*keys, *outer.written(), *packed])} FROM shown_buckets{by_keys})",
        ]

    def bucket(self) -> str:
        return f"({self.person_hash()} % {self.buckets})::pg_catalog.int2"

    def known_keys(self, keys: list[str]) -> list[str]:
        return [key for number, key in enumerate(keys) if number not in self.secret_keys]

    def known_tables(self, keys: list[str], sums: list[str], channels: dict[str, str]) -> list[str]:
        """Return the tables that sketch the known rows, where secret columns choose among them."""
        known = self.known_keys(keys)
        hashed, bucketed, packed = self.sketch(sums, channels)
        packed = [*packed, f"{_row(known)} AS g"]
        group = f"{', '.join(known)}, " if known else ""
        by_keys = f" GROUP BY {', '.join(known)}" if known else ""
        people, by_person = ", ".join([*known, "person", *hashed]), f" GROUP BY {group}person"
        return [
            f"known_people AS (SELECT {people} FROM rows AS r{'' if self.is_row else by_person})",
            f"known_buckets AS (SELECT {', '.join([*known, 'bucket', *bucketed])} FROM"
            f" (SELECT *, {self.bucket()} AS bucket FROM known_people) AS r GROUP BY {group}bucket)",
            f"known AS (SELECT {', '.join([*known, *packed])} FROM known_buckets{by_keys})",
        ]

    def sketch(self, sums: list[str], channels: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
        """Return the columns that sketches are made of: by person, by bucket, by key."""
        if not sums:
            return [], [], []
        hashed, bucketed = [], []
        for number in range(len(self.filters)):
            condition = f" FILTER (WHERE w{number})" if number else ""
            for channel, name in enumerate(channels):
                place = number * len(channels) + channel
                # a person whose row is the only one is hashed once
                is_person = name == "people" or (channel == 1 and self.is_row and self.is_by_person())
                value = self.person_hash() if is_person else f"r{channel}"
                if self.is_row:
                    added = f"CASE WHEN w{number} THEN {value} ELSE 0 END" if number else value
                    hashed.append(f"{added} AS h{place}")
                else:
                    # a row of a table above counts once, however many rows below it has
                    value = f"DISTINCT {value}" if channel in self.once else value
                    added = f"coalesce(sum({value}){condition}, 0)::pg_catalog.int8"
                    added = f"count(*){condition} * {self.person_hash()}" if is_person else added
                    hashed.append(f"{_folded(f'({added})')} AS h{place}")
                bucketed.append(f"(sum(h{place}) & {_MOST})::pg_catalog.int4 AS h{place}")
        entry = " || ".join(["pg_catalog.int2send(bucket)", *(f"pg_catalog.int4send({one})" for one in sums)])
        return hashed, bucketed, [f"coalesce(pg_catalog.string_agg({entry}, ''), '') AS sketch"]

    def counted(self, number: int, figure: Figure) -> str:
        """Return which rows count people of a figure, beside its conditions."""
        if not self.reads_secret(figure):
            return ""
        argument = self.arguments[number]
        if figure.function in PERCENTILES:
            return f"{argument} IS NOT NULL"
        return f"{argument} IS NOT NULL AND {argument} IS DISTINCT FROM ({self.commonest(figure)})"

    def commonest(self, figure: Figure) -> str:
        """Return SQL of the commonest value of a figure's argument in the whole table."""
        assert figure.argument is not None  # noqa: S101 - callers check
        alias, _ = min(self.block.secrets([figure.argument]))
        source = next(one for one in self.block.sources if one.alias == alias)
        value = self.sql(figure.argument)
        return self.of_whole_table(
            f"SELECT {value} AS v FROM {_table(source)} WHERE {value} IS NOT NULL"
            " GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
        )

    def of_whole_table(self, text: str) -> str:
        """Return SQL of a value that is computed even if no row asks for it: blocks that are read tell."""
        return f"SELECT v FROM {self.whole.setdefault(text, f'whole_{len(self.whole) + 1}')}"

    def other_tables(self, keys: list[str]) -> list[str]:
        """Return the table of figures that need their rows."""
        chosen = " WHERE chosen" if self.secret else ""
        by_keys = f" GROUP BY {', '.join(keys)}" if keys else ""
        found = []
        outputs = []
        for number, figure in enumerate(self.block.figures, 1):
            if not self.is_other(figure) or figure.function in PERCENTILES:
                continue
            argument = self.arguments[number]
            argument = f"DISTINCT {argument}" if figure.function == "count_distinct" else argument
            name = "count" if figure.function == "count_distinct" else figure.function
            outputs.append(f"{name}({argument}){_filter(self.condition(number, figure))} AS o{number}")
        if outputs:
            found.append(
                f"others AS (SELECT {', '.join([_row(keys) + ' AS g', *outputs])} FROM rows{chosen}{by_keys})"
            )
        for number, figure in enumerate(self.block.figures, 1):
            if figure.function in PERCENTILES:
                found += self.percentile(number, figure, keys, chosen)
        return found

    def percentile(self, number: int, figure: Figure, keys: list[str], chosen: str) -> list[str]:
        """Return the tables of a percentile: the mean over the values of k people nearest its rank."""
        argument = self.arguments[number]
        condition = " AND ".join(
            part
            for part in (
                self.condition(number, figure),
                f"{argument} IS NOT NULL",
                "chosen" if chosen else "",
            )
            if part
        )
        by = f"PARTITION BY {', '.join(keys)}" if keys else ""
        fraction = f"({'0' if figure.fraction is None else self.sql(figure.fraction)})::float8"
        rank = f"{fraction} * (n - 1)"
        away = f"greatest(0, floor({rank}) - place, place - ceil({rank}))"
        return [
            f"ranked_{number} AS (SELECT {_row(keys)} AS g, person, {argument} AS a,"
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

    def result(self, keys: list[str]) -> str:
        known = self.known_keys(keys) if self.chooses else []
        shown = [f"{text_of(f'w.{key}' if key in known else f's.{key}')} AS {key}" for key in keys]
        joins = ""
        # what known values let expect and secrets leave empty comes with nobody
        people = [f"coalesce(s.{self.people_columns[0]}, 0)::pg_catalog.int8 AS n0"]
        for number, figure in enumerate(self.block.figures, 1):
            value = self.value(number, figure)
            if figure.function in PERCENTILES:
                joins += f" LEFT JOIN middle_{number} AS x{number} ON x{number}.g = {_row(keys, 's.')}"
                value = f"x{number}.o"
            shown.append(f"{text_of(f'({value})::{{f{number}}}')} AS f{number}")
            people.append(f"coalesce(s.{self.people_columns[number]}, 0)::pg_catalog.int8 AS n{number}")
        if any(self.is_other(figure) and figure.function not in PERCENTILES for figure in self.block.figures):
            joins = f" LEFT JOIN others AS o ON o.g = {_row(keys, 's.')}" + joins
        tables = "known AS w LEFT JOIN shown AS s ON s.g = w.g" if self.chooses else "shown AS s"
        sketches = f"{'w' if self.chooses else 's'}.sketch, coalesce(s.counts, '') AS counts"
        # at the top of the plan, before a row is sought
        first = " AND ".join(f"(SELECT count(*) FROM {name}) >= 0" for name in self.whole.values()) or "true"
        return f"SELECT {', '.join([*shown, *people])}, {sketches} FROM {tables}{joins} WHERE {first}"

    def value(self, number: int, figure: Figure) -> str:
        if self.counts_people(figure):
            return f"greatest(s.{self.people_columns[number]}, 0)"
        if self.is_other(figure):
            return f"o.o{number}"
        if figure.function == "count":
            return f"s.{self.row_columns[number]}"
        rows, total = (f"s.{columns[number]}" for columns in (self.row_columns, self.sum_columns))
        mean = f"{total} / nullif({rows}, 0)"
        if self.rounds(figure):
            mean = self.rounded(number, figure, f"({mean})::numeric")
            mean = mean if figure.function == "avg" else f"{rows} * {mean}"
            is_time = figure.argument is not None and _is_interval(figure.argument, self.block)
            return f"justify_hours(({mean}) * interval '1 second')" if is_time else mean
        return total if figure.function == "sum" else mean

    def rounds(self, figure: Figure) -> bool:
        """Return whether E3 speaks of a figure: a number of a known column, of rows that secrets choose."""
        return (
            self.rounds_means
            and figure.function in {"sum", "avg"}
            and not self.reads_secret(figure)
            and self.is_chosen(figure)
        )

    def number(self, figure: Figure) -> str:
        """Return SQL of what a figure adds up: of a time of which a rounded mean is shown, its seconds."""
        assert figure.argument is not None  # noqa: S101 - callers check
        text = self.sql(figure.argument)
        is_time = self.rounds(figure) and _is_interval(figure.argument, self.block)
        return f"extract(epoch FROM {text})" if is_time else text

    def is_chosen(self, figure: Figure) -> bool:
        """Return whether secrets choose the rows of a figure."""
        return bool(self.secret or self.secret_keys) or any(
            map(self.block.depends_on_secrets, figure.conditions)
        )

    def rounded(self, number: int, figure: Figure, mean: str) -> str:
        """Return a mean, rounded to half its standard error (E3)."""
        assert figure.argument is not None  # noqa: S101 - it is a mean
        tables = " CROSS JOIN ".join(
            _table(source) for source in self.block.sources if source.alias in aliases(figure.argument)
        )
        spread = self.of_whole_table(f"SELECT stddev({self.number(figure)})::float8 AS v FROM {tables}")
        people = f"nullif(greatest(s.{self.people_columns[number]}, 0), 0)"
        step = f"nullif((({spread}) / sqrt({people}) / 2)::numeric, 0)"
        return f"coalesce(round({mean} / {step}) * {step}, {mean})"

    def types(self) -> str:
        outputs = [f"{self.sql(key)} AS k{number}" for number, key in enumerate(self.block.keys, 1)]
        outputs += [
            f"{self.sql(figure.written)} AS f{number}" for number, figure in enumerate(self.block.figures, 1)
        ]
        names = [output.rsplit(" AS ", 1)[1] for output in outputs]
        columns = ", ".join(f"pg_catalog.pg_typeof(t.{name})::pg_catalog.text AS {name}" for name in names)
        group = (
            f" GROUP BY {', '.join(str(n) for n in range(1, len(self.block.keys) + 1))}"
            if self.block.keys
            else ""
        )
        inner = [source for source in self.block.sources if source.on is None]
        left = [source for source in self.block.sources if source.on is not None]
        tables = " CROSS JOIN ".join([_table(source) for source in (*inner, *left)])
        tried = " AND ".join(["true", *(f"({one}) IS NOT NULL" for one in self.tried())])
        chosen = [*self.block.conditions, *(one for source in left for one in source.on or ())]
        conditions = "".join(f" AND ({self.sql(one)})" for one in chosen)
        return (
            f"SELECT {columns} FROM (SELECT 1) AS one LEFT JOIN"
            f" (SELECT {', '.join(outputs)} FROM {tables} WHERE false{conditions}{group}) AS t"
            f" ON true WHERE {tried}"
        )


class BlockWriter(_Writer):
    """Writes what answers of other kinds share with exact ones: the rows of a block."""

    def plain_rows(self) -> str:
        """Return SQL of the rows, with person, keys and arguments, and which conditions hold for them."""
        self.rounds_means, self.all_are_secret = False, True
        for figure in self.block.figures:
            self.set_of(figure)
        return self.rows({})


def _is_number(tree: Tree) -> bool:
    """Return whether a node is a number as it is written."""
    return tree.kind == "Literal" and (
        not tree.args.get("is_string") or tree.text("this").endswith(NUMBER_MARK)
    )


def named_by(condition: Tree, source: Source, later: frozenset[str]) -> bool:
    """Return whether a condition is about a source, and about none that is joined later."""
    return source.alias in aliases(condition) and later.isdisjoint(aliases(condition))


def _is_interval(tree: Tree, block: Block) -> bool:
    """Return whether a column or a difference of two columns is a time."""
    if tree.kind == "Column":
        return block.column(tree).type_name.startswith("interval")
    if tree.kind == "Sub":
        return all(
            part.kind == "Column" and block.column(part).type_name.startswith("timestamp")
            for part in tree.parts
        )
    return tree.kind == "Paren" and all(_is_interval(part, block) for part in tree.parts)


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


def _filter(condition: str) -> str:
    return f" FILTER (WHERE {condition})" if condition else ""


def _row(keys: Sequence[str], before: str = "") -> str:
    """Return a record of keys, which is equal to another one where both have NULL."""
    return f"ROW({', '.join(before + key for key in keys)})" if keys else "true"


def _table(source: Source) -> str:
    name = Identifier((source.relation.schema, source.relation.name))
    return f"{name} AS {Identifier.of(source.alias)}"


def _bare(type_name: str) -> str:
    """Return the name of a type without what stands in parentheses; that of an array as it is."""
    return type_name if type_name.endswith("[]") else type_name.partition("(")[0]


def _cell(value: str, type_name: str) -> str:
    """Return SQL of what is hashed of a value: not every type has a hash."""
    bare = _bare(type_name)
    return value if bare in _HASHES or bare in _IN_RECORDS else text_of(value)


def _hash(value: str, type_name: str, seed: str) -> str:
    """Return SQL of the hash of a value that is not NULL, as a bigint."""
    form = _HASHES.get(_bare(type_name), "hash_record_extended(ROW({}), {})")
    return f"pg_catalog.{form.format(value if type_name == 'record' else _cell(value, type_name), seed)}"


def text_of(value: str) -> str:
    """Return SQL of a value as its type writes it: a cast to text may be somebody's function."""
    return f"CASE WHEN {value} IS NOT NULL THEN pg_catalog.format('%s', {value}) END"


def _folded(value: str) -> str:
    return f"({value} & {_MOST})::pg_catalog.int4"
