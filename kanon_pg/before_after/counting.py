"""Counts a base relation and its release by the same buckets, in SQL.

The base relation is read by its reader, the release by the role that owns it. Which buckets there are, the
values of the base relation decide that enough people have; where it is not read, those of the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from kanon_pg.before_after.buckets import RoundRanges, Size, moment_bins, number_bins
from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import statement
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.counting import HASH_SEED
from kanon_pg.relations.value_forms import SAME_IN_EVERY_SESSION
from kanon_pg.release.plan.generalized import GeneralizedColumn, node_parts
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.plan.record import ReleaseRecord
from kanon_pg.release.publish.remembering import hashed_cells
from kanon_pg.release.publish.storage import storage_parts

MOST_VALUES = 12
"""Values of a column that have a bucket of their own."""

MOST_NODES = 24
"""The same of nodes of a hierarchy."""

MOST_COMPARED = 12
"""Columns of which all pairs are counted."""

_MOST_CELLS = 10_000
"""Of all tables of three columns together, about."""

_MOMENTS = ("date", "timestamp", "timestamptz")
_WHOLE = ("int2", "int4", "int8")


@dataclass(frozen=True, slots=True)
class BucketKeys:
    """Hashes and the number of the bucket that each of them belongs to."""

    identities: tuple[int, ...] = ()
    buckets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A published column."""

    place: int
    """From 1, in the order of the columns of the base relation."""
    facts: ColumnFacts
    role: str
    """Its role, in the singular."""
    position: int | None = None
    """Of a quasi-identifier its place in a pattern, from 0."""
    generalized: GeneralizedColumn | None = None
    """Its hierarchy."""
    nodes: Identifier | None = None
    """What the release has of the hierarchy."""
    source: Identifier | None = None
    """Of a further table what queries call it."""

    @property
    def cell(self) -> Identifier:
        """Its name inside queries."""
        return Identifier.of(f"v{self.place}")

    @property
    def bucket(self) -> Identifier:
        """Name of the number of its bucket inside queries."""
        return Identifier.of(f"b{self.place}")

    @property
    def compared(self) -> CanonicalColumn:
        """The column as queries have it."""
        return CanonicalColumn(self.facts, self.cell)


@dataclass(frozen=True, slots=True)
class Buckets:
    """The buckets of a column, numbered from 1."""

    labels: tuple[str, ...]
    """What each stands for."""
    before: BucketKeys = BucketKeys()
    after: BucketKeys = BucketKeys()
    """`before`, `after`: which values of the base relation, and which values or nodes of the release, are
    in which."""
    bounds: tuple[float, ...] = ()
    """Where buckets of numbers end; then there are no keys."""
    level: int = 0
    """Level to which nodes are lifted, 0 for values."""


@dataclass(frozen=True, slots=True)
class BucketCounts:
    """What one side has."""

    whole: Size
    """All rows."""
    sizes: dict[int, dict[int, Size]] = field(default_factory=dict)
    """By column and bucket."""
    tables: dict[tuple[int, ...], dict[tuple[int, ...], int]] = field(default_factory=dict)
    """Rows by the buckets of two or three columns, by the places of these."""


@dataclass(frozen=True, slots=True)
class SizesOfClasses:
    """How large the classes of people are by the quasi-identifiers."""

    people: Mapping[int, int]
    """Of each size how many people have a class of this size as their smallest."""
    marketer: float
    """Mean of 1 / size over all members of classes."""

    @property
    def highest(self) -> float:
        """Chance of picking the right one in the smallest class."""
        return 1 / min(self.people, default=1)

    @property
    def average(self) -> float:
        """The same, on average over the people."""
        return sum(people / size for size, people in self.people.items()) / sum(self.people.values())


@dataclass(frozen=True, slots=True)
class Side:
    """Rows that are counted: of a base relation, or of what a release shows."""

    db: Database
    plan: ReleasePlan
    relation: Identifier | Fragment
    """What has them."""
    entity: Fragment | None
    """What tells people apart in it; None if each row is a person."""
    base: RelationFacts | None = None
    """The base relation of the release, by whose reader its side is read; None for the release."""

    @property
    def is_base(self) -> bool:
        """Whether it is the side of the base relation."""
        return self.base is not None

    def rows(self, name: str, *arguments: Any, **parts: Any) -> Sequence[Row]:
        """Run a named statement about this relation."""
        command = statement(name, relation=self.relation, entity=self.entity, **parts)
        if self.base is None:
            return self.db.rows(command, *arguments)
        with reading(self.db, self.base):
            return self.db.read(command, *arguments)

    def values(
        self, column: ComparedColumn, k: int, but: Sequence[int] = (), most: int = MOST_VALUES
    ) -> tuple[int, list[Row]]:
        """Return how many values a column has, but for some hashes, and the most frequent of k people."""
        found = self.rows(
            "before_after/values", list(but), columns=[self.parts(column, is_plain=True)], k=k, most=most
        )
        return found[0]["different"], [row for row in found if row["identity"] is not None]

    def shown(self, column: ComparedColumn) -> list[int]:
        """Return the hashes of the visible values of a column of a release."""
        (row,) = self.rows("before_after/shown", columns=[self.parts(column, is_plain=True)])
        return list(row["identities"])

    def spread(self, column: ComparedColumn) -> tuple[float, float] | None:
        """Return between which numbers most values of a column are."""
        (row,) = self.rows("before_after/spread", columns=[self.parts(column, is_plain=True)])
        return None if row["ends"] is None else tuple(row["ends"])

    def class_sizes(self) -> SizesOfClasses:
        """Return how large the classes of people are by the quasi-identifiers."""
        columns = [
            {"cell": one.alias, "expression": one.expression if self.is_base else one.output}
            for one in self.plan.quasi_identifiers
        ]
        pattern = None if self.is_base else Fragment("kanon_pattern")
        rows = self.rows("before_after/class_sizes", columns=columns, pattern=pattern)
        sizes = {row["size"]: row["people"] for row in rows}
        return SizesOfClasses(sizes, rows[0]["marketer"] if rows else 0.0)

    def tables(
        self,
        columns: Sequence[ComparedColumn],
        buckets: Sequence[Buckets],
        together: Sequence[tuple[int, ...]],
    ) -> BucketCounts:
        """Count rows and people by buckets, and rows by those of some columns together."""
        places: list[int] = []
        identities: list[int] = []
        numbers: list[int] = []
        bounds: list[float] = []
        parts = []
        for column, one in zip(columns, buckets, strict=True):
            keys = one.before if self.is_base else one.after
            places += [column.place] * len(keys.identities)
            identities += keys.identities
            numbers += keys.buckets
            begins = len(bounds) + 1
            bounds += one.bounds
            ends = len(bounds) if one.bounds else 0
            parts.append(
                {
                    **self.parts(column),
                    "begins": begins,
                    "ends": ends,
                    "known": Identifier.of(f"k{column.place}"),
                }
            )
        asked = [(column.place,) for column in columns] + list(together)
        names = {column.place: column.bucket for column in columns}
        found = self.rows(
            "before_after/tables",
            places,
            identities,
            numbers,
            bounds,
            columns=parts,
            tables=[
                {"number": number, "buckets": [names[place] for place in of]}
                for number, of in enumerate(asked, 1)
            ],
        )
        return _counted(asked, found)

    def parts(self, column: ComparedColumn, *, is_plain: bool = False) -> dict[str, Any]:
        """Return what templates take of a column.

        Parameters
        ----------
        is_plain : bool
            Whether values are looked at, although it has a hierarchy.
        """
        compared, cell = column.compared, f"source.{column.cell}"
        is_numeric = compared.kind == "numeric"
        hidden = column.position is not None and not self.is_base
        level = None
        identity = compared.identity("source")
        if column.generalized is not None and column.position is not None and not self.is_base:
            fields = self.plan.levels
            offset, mask = fields.offsets[column.position], (1 << fields.widths[column.position]) - 1
            level = Fragment(f"((kanon_pattern >> {offset}) & {mask})::integer")
            look = column.generalized.look(cell)
            identity = Fragment(f"pg_catalog.hash_record_extended(ROW(source.l{column.place}, {look}), 0)")
        return {
            "expression": self._expression(column),
            "cell": column.cell,
            "bucket": column.bucket,
            "hidden": self.plan.suppressed_in("kanon_pattern", column.position or 0) if hidden else None,
            "is_hidden": Identifier.of(f"h{column.place}"),
            "level": level,
            "level_alias": Identifier.of(f"l{column.place}"),
            "identity": identity,
            # texts are made of few numbers and moments, but of each value that has no order
            "kept": Fragment(cell) if is_numeric else label_of(column.facts, cell),
            "label": label_of(column.facts, "many.kept") if is_numeric else Fragment("many.kept"),
            "number": compared.value("source") if is_numeric else None,
        }

    def _expression(self, column: ComparedColumn) -> Fragment | Identifier:
        """Return the column as it is compared: quasi-identifiers are published in one spelling."""
        if self.is_base and column.position is not None:
            return column.compared.expression
        below = column.facts.below
        is_node = column.generalized is not None and not self.is_base
        output = column.source or column.facts.identifier
        return Fragment(f"{output}::{below}") if below and not is_node else output


def shows_what_is_there(db: Database, plan: ReleasePlan, record: ReleaseRecord) -> bool | None:
    """Return whether a release is what would be published of its base relation now; None if it is not known.

    Known only of what one materialized view computes of the base relation.
    """
    if (
        record.source is None
        or record.mapping is None
        or record.remember is not None
        or record.secret is not None
    ):
        return None
    masked = [
        CanonicalColumn(column, Identifier.of(f"c{number}")) for number, column in enumerate(plan.carried, 1)
    ]
    would = db.row(
        statement(
            "before_after/would_show",
            **storage_parts(plan, record.nodes),
            source=Fragment(f"{record.source}()"),
            mapping=record.mapping,
            parts=record.parts,
            hash_seed=HASH_SEED,
            looks=[column.look(f"masked.{column.alias}") for column in masked],
        )
    )
    shows = db.row(
        statement(
            "before_after/shows",
            storage=record.stored,
            cells=hashed_cells(plan),
            entity=plan.entity is not None,
            looks=[column.look(f"s.{column.output}") for column in masked],
        )
    )
    return would == shows


def label_of(facts: ColumnFacts, value: str) -> Fragment:
    """Return the text of a value for people, which no session's setting changes."""
    if facts.base_kind == "e":
        return Fragment(facts.label(value))
    if facts.base_type in SAME_IN_EVERY_SESSION and facts.base_type != "bpchar":
        return Fragment(f'{value}::pg_catalog.text COLLATE "C"')
    return Fragment(f'kanon.spelled({value}) COLLATE "C"')


def _counted(asked: Sequence[tuple[int, ...]], found: Sequence[Row]) -> BucketCounts:
    sizes: dict[int, dict[int, Size]] = {}
    tables: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    whole = Size()
    for row in found:
        if not row["number"]:
            whole = Size(row["rows"][0], row["people"][0], row["most"][0])
            continue
        of = asked[row["number"] - 1]
        cells = zip(*[row[name] or () for name in ("first", "second", "third")[: len(of)]], strict=True)
        if len(of) == 1:
            found_sizes = zip(row["rows"] or (), row["people"] or (), row["most"] or (), strict=True)
            sizes[of[0]] = {cell[0]: Size(*size) for cell, size in zip(cells, found_sizes, strict=True)}
        else:
            tables[of] = dict(zip(cells, row["rows"] or (), strict=True))
    return BucketCounts(whole, sizes, tables)


def buckets_of(column: ComparedColumn, source: Side, release: Side, k: int, level: int) -> Buckets:
    """Return the buckets of a column.

    Parameters
    ----------
    source : Side
        Whose values decide.
    level : int
        The highest level at which the release shows cells of it.
    """
    if column.generalized is not None and column.nodes is not None:
        return _buckets_of_nodes(column, release, level)
    different, found = source.values(column, k)
    if different > len(found) and column.compared.kind == "numeric":
        bins = _bins(column, source)
        if bins.bounds:
            return Buckets(bins.labels, bounds=bins.bounds)
    numbers = tuple(range(1, len(found) + 1))
    if column.compared.kind == "numeric":
        moment = column.facts.base_type in _MOMENTS
        found.sort(key=lambda row: row["label"] if moment else float(row["label"]))
    keys = BucketKeys(tuple(row["identity"] for row in found), numbers)
    return Buckets(tuple(row["label"] for row in found), keys, keys)


def _bins(column: ComparedColumn, source: Side) -> RoundRanges:
    ends = source.spread(column)
    if ends is None:
        return RoundRanges((), ())
    if column.facts.base_type in _MOMENTS:
        return moment_bins(*ends)
    return number_bins(*ends, whole=column.facts.base_type in _WHOLE)


def _buckets_of_nodes(column: ComparedColumn, release: Side, level: int) -> Buckets:
    """Return the nodes of one level as buckets: the most frequent ones, in the order of their type."""
    assert column.generalized is not None  # noqa: S101 - the caller looked
    value = CanonicalColumn(column.facts, Identifier.of("value"))
    levels = node_parts(column.generalized)[: level + 1]
    found = release.db.rows(
        statement(
            "before_after/nodes",
            table=column.nodes,
            nodes=levels,
            top=levels[-1],
            identity=value.identity("known"),
        )
    )
    if len(found) > MOST_NODES:
        shown = {
            row["node"]: row["rows"]
            for row in release.rows("before_after/nodes_shown", columns=[release.parts(column)])
        }
        often = [sum(shown.get(node, 0) for node in row["nodes"]) for row in found]
        places = sorted(range(len(found)), key=lambda place: (-often[place], place))[:MOST_NODES]
        found = [found[place] for place in sorted(places)]
    return Buckets(
        tuple(row["label"] for row in found),
        _keys([row["cells"] for row in found]),
        _keys([row["nodes"] for row in found]),
        level=level,
    )


def _keys(lists: Sequence[Sequence[int]]) -> BucketKeys:
    pairs = [(identity, number) for number, found in enumerate(lists, 1) for identity in found]
    return BucketKeys(tuple(identity for identity, _ in pairs), tuple(number for _, number in pairs))


def sets_to_count(
    columns: Sequence[ComparedColumn], buckets: Sequence[Buckets]
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the pairs of columns that are counted together, and the sets of three, the smallest first.

    Quasi-identifiers and sensitive columns with at least two buckets, the first ones if they are many.
    """
    sizes = {
        column.place: max(len(one.labels), 1) + 1
        for column, one in zip(columns, buckets, strict=True)
        if column.role != "insensitive" and len(one.labels) > 0
    }
    places = list(sizes)[:MOST_COMPARED]
    pairs: list[tuple[int, ...]] = list(combinations(places, 2))
    triples: list[tuple[int, ...]] = []
    left = _MOST_CELLS
    cells = {three: sizes[three[0]] * sizes[three[1]] * sizes[three[2]] for three in combinations(places, 3)}
    for three in sorted(cells, key=lambda three: (cells[three], three)):
        left -= cells[three]
        if left < 0:
            break
        triples.append(three)
    return pairs, triples
