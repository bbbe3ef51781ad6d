"""Counts values of a column, or points, with the rights of whoever asks, and brings them over in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_pg.core.grouping import Weighed, require_total
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe, require_equality, require_readable
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import InfeasibleError, InputError, MemoryExceeded, UnsuitableColumn
from kanon_pg.grouping.classes import GroupedValue
from kanon_pg.grouping.request import GroupingRequest, RegionsRequest
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.subject import Subject, no_rows, require_usable, resolve

WHOLE = frozenset({"int2", "int4", "int8"})
NUMBERS = WHOLE | {"numeric", "float4", "float8"}


@dataclass(frozen=True, slots=True)
class Weighing:
    """A relation and the column that its rows weigh; without one people count, or rows if nobody is known."""

    subject: Subject
    weight: ColumnFacts | None

    @property
    def relation(self) -> RelationFacts:
        """Table or view."""
        return self.subject.relation

    @property
    def entity(self) -> CanonicalColumn | None:
        """What identifies a person; None: each row counts, or has a weight."""
        return self.subject.entity if self.weight is None else None

    @property
    def unit(self) -> str:
        """Unit of sizes: people, rows, or the weight column."""
        if self.weight is not None:
            return self.weight.name
        return "rows" if self.entity is None else "people"

    def parts(self) -> dict[str, object]:
        """Return the parts of queries, but for the values."""
        return {
            "relation": self.subject.source,
            "entity": None if self.entity is None else self.entity.expression,
            "weight": None if self.weight is None else self.weight.identifier,
        }


def resolve_weighing(db: Database, call: GroupingRequest) -> Weighing:
    """Find out what a call is about.

    With a declared entity each person counts once, at the value that most of their rows have (the first of
    several), so that no class is taken for larger than it is. A weight column takes the place of that.
    """
    subject = resolve(db, call.relation)
    weight = None if call.weight is None else subject.relation.column(call.weight)
    if weight is not None and weight.base_type not in WHOLE | {"numeric"}:
        raise UnsuitableColumn(
            f"Column {weight.identifier} of type {weight.type} cannot be a weight.",
            hint="A weight is a whole number or a numeric; sums of floating-point numbers are not exact.",
        )
    return Weighing(subject, weight)


def value_column(db: Database, weighing: Weighing, name: str) -> CanonicalColumn:
    """Return a column whose values are grouped; refuse one that cannot be read or compared."""
    facts = weighing.relation.column(name)
    _require_counted(db, weighing, (facts,))
    require_equality(db, (facts,), "be grouped")
    return CanonicalColumn(facts, Identifier.of("value"))


def _require_counted(db: Database, weighing: Weighing, columns: tuple[ColumnFacts, ...]) -> None:
    """Refuse unless the caller may read some columns and those by which rows count."""
    if weighing.weight is None:
        require_usable(db, weighing.subject, (), also_read=columns)
    else:
        require_readable(weighing.relation, (*columns, weighing.weight), weighing.subject.role)


def coordinates(db: Database, weighing: Weighing, x: str, y: str | None) -> tuple[Fragment, Fragment]:
    """Return expressions for the coordinates of a row: of two columns of numbers, or of one of points.

    Points are PostgreSQL's own, or PostGIS's geometry and geography, wherever that is installed.
    """
    columns = tuple(weighing.relation.column(name) for name in (x, y) if name is not None)
    _require_counted(db, weighing, columns)
    if len(columns) == 1:
        of_points = _of_points(columns[0])
        if of_points is not None:
            return of_points
    elif all(column.base_type in NUMBERS for column in columns):
        first, second = (Fragment(f"{column.identifier}::double precision") for column in columns)
        return first, second
    raise UnsuitableColumn(
        f"Column {columns[0].identifier} of type {columns[0].type} has no coordinates"
        + (f" together with {columns[1].identifier} of type {columns[1].type}." if y else "."),
        hint="Name two columns of numbers, x and y; or one of type point, geometry or geography.",
    )


def _of_points(column: ColumnFacts) -> tuple[Fragment, Fragment] | None:
    name = str(column.identifier)
    if column.base_type == "point":
        return Fragment(f"{name}[0]"), Fragment(f"{name}[1]")
    schema, _, kind = column.base_type.rpartition(".")
    if not schema or kind not in ("geometry", "geography"):
        return None
    own = Identifier.of(schema)
    cast = f"{name}::{own}.geometry" if kind == "geography" else name
    return Fragment(f"{own}.st_x({cast})"), Fragment(f"{own}.st_y({cast})")


MOST_VALUES = 1_000_000
"""Different values up to which a column is grouped: each is an object here and a row of the answer."""

MOST_EDGES = 10_000_000

_MOST_WEIGHT = 1 << 62


@dataclass(frozen=True, slots=True)
class CountedValues:
    """The values of a column, in its order, and what stands for missing ones."""

    values: tuple[GroupedValue, ...]
    missing: GroupedValue | None

    def weights(self) -> list[int]:
        """Return the weight of each value."""
        return [value.weight for value in self.values]

    def weighed(self) -> list[Weighed]:
        """Return the values with what they weigh."""
        return [(value.value, value.weight) for value in self.values]


def count_values(
    db: Database,
    weighing: Weighing,
    column: CanonicalColumn,
    positions: tuple[Fragment, Fragment] | None = None,
) -> CountedValues:
    """Return the values of a column, with their mean positions if expressions for these are given."""
    x, y = positions or (None, None)
    query = statement(
        "group_values",
        value=column.expression,
        shown=column.facts.text("value"),
        x=x,
        y=y,
        **weighing.parts(),
    )
    values = [
        GroupedValue(row["shown"], 0, _weight(weighing, row), *((row["x"], row["y"]) if positions else ()))
        for row in _rows(db, weighing, query)
    ]
    missing = values.pop() if values[-1].value is None else None
    return CountedValues(tuple(values), missing)


def count_points(db: Database, weighing: Weighing, x: Fragment, y: Fragment) -> CountedValues:
    """Return the different points of a relation; parameters and errors as of `count_values`."""
    rows = _rows(db, weighing, statement("group_points", x=x, y=y, **weighing.parts()))
    values = [GroupedValue(None, 0, _weight(weighing, row), row["x"], row["y"]) for row in rows]
    missing = values.pop() if values[-1].x is None else None
    return CountedValues(tuple(values), missing)


def _rows(db: Database, weighing: Weighing, query: Statement) -> Sequence[Any]:
    db.progress("counting")
    with reading(db, weighing.relation):
        rows = db.read(query, MOST_VALUES + 1)
    if len(rows) > MOST_VALUES:
        raise MemoryExceeded(
            f"The column has more than {MOST_VALUES:,} different values.", hint="Round them first, in a view."
        )
    if not rows:
        raise no_rows(weighing.relation)
    return rows


def _weight(weighing: Weighing, row: Any) -> int:
    text = row["weight"]
    is_whole = text.lstrip("-").isdigit()
    if row["negative"] or not is_whole or int(text) >= _MOST_WEIGHT:
        raise InputError(
            f"Column {Identifier.of(weighing.unit)} has values that cannot be weights.",
            hint="Weights are finite and not negative.",
        )
    return int(text)


def require_enough(counted: CountedValues, k: int, *, missing_alone: bool) -> CountedValues:
    """Refuse values that no classes of k can be made of."""
    missing = counted.missing
    if not missing_alone and missing is not None:
        counted = CountedValues((*counted.values, missing), None)
    require_total(sum(counted.weights()), k)
    if missing_alone and missing is not None and missing.weight < k:
        raise InfeasibleError(
            f"Rows without a value have less than k = {k:,} and fit into no class.",
            hint="Leave them out by a view: WHERE the column IS NOT NULL.",
        )
    return counted


def neighbours(
    db: Database, call: RegionsRequest, weighing: Weighing, counted: CountedValues
) -> tuple[tuple[int, int], ...]:
    """Return the pairs of neighbours as places in the values; others than those are left out."""
    relation = describe(db, call.adjacency, weighing.subject.role)
    names = call.neighbours or [column.name for column in relation.columns[:2]]
    if len(names) < 2:
        raise InputError(
            f"Relation {relation.identifier} has fewer than two columns.",
            hint="An adjacency has a row for each pair of neighbours.",
        )
    columns = tuple(relation.column(name) for name in names)
    require_readable(relation, columns, weighing.subject.role)
    one, other = (CanonicalColumn(facts, Identifier.of("value")).expression for facts in columns)
    query = statement(
        "group_edges",
        relation=relation.identifier,
        one=one,
        other=other,
        one_shown=columns[0].text("one"),
        other_shown=columns[1].text("other"),
    )
    with reading(db, relation):
        rows = db.read(query, MOST_EDGES + 1)
    if len(rows) > MOST_EDGES:
        raise InputError(
            f"The adjacency has more than {MOST_EDGES:,} rows.", hint="Each pair is needed only once."
        )
    place = {value.value: number for number, value in enumerate(counted.values) if value.value is not None}
    pairs = {
        (min(pair), max(pair))
        for row in rows
        if row["one"] in place and row["other"] in place
        for pair in [(place[row["one"]], place[row["other"]])]
        if pair[0] != pair[1]
    }
    if not pairs and len(place) > 1:
        raise InputError(
            f"No row of {relation.identifier} names two values of the column.",
            hint="Compare the spellings; neighbours => '{one,other}' names the columns of the adjacency.",
        )
    return tuple(sorted(pairs))


def numbered(values: Sequence[GroupedValue], classes: Sequence[int]) -> tuple[GroupedValue, ...]:
    """Return values with their classes, numbered from 1."""
    return tuple(
        replace(value, class_number=number + 1) for value, number in zip(values, classes, strict=True)
    )
