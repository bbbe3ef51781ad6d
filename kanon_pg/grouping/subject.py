"""Which column is grouped and what its values weigh, with the rights of whoever asks."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe, require_equality, require_readable
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import UnsuitableColumn
from kanon_pg.grouping.request import GroupingCall
from kanon_pg.release.canonical import CanonicalColumn
from kanon_pg.release.declaration import entity_column

WHOLE = frozenset({"int2", "int4", "int8"})
NUMBERS = WHOLE | {"numeric", "float4", "float8"}


@dataclass(frozen=True, slots=True)
class Subject:
    """A relation and how its rows count.

    Parameters
    ----------
    relation : RelationFacts
        Table or view.
    role : str
        Whose rights count.
    entity : CanonicalColumn or None
        What identifies a person; None: each row counts, or has a weight.
    weight : ColumnFacts or None
        What a row weighs.
    """

    relation: RelationFacts
    role: str
    entity: CanonicalColumn | None
    weight: ColumnFacts | None

    @property
    def unit(self) -> str:
        """What sizes count."""
        if self.weight is not None:
            return self.weight.name
        return "rows" if self.entity is None else "people"

    def parts(self) -> dict[str, object]:
        """Return what queries interpolate, but for the values."""
        return {
            "relation": self.relation.identifier,
            "entity": None if self.entity is None else self.entity.expression,
            "weight": None if self.weight is None else self.weight.identifier,
        }


def resolve(db: Database, call: GroupingCall) -> Subject:
    """Find out what a call is about.

    With a declared entity each person counts once, at the value that most of their rows have (the first of
    several), so that no class is taken for larger than it is. A weight column takes the place of that.

    Raises
    ------
    InputError
        If the relation is NULL.
    UnknownName
        If the relation or the weight column does not exist.
    UnsuitableColumn
        If the weight is no whole or decimal number, or people cannot be told apart.
    """
    context = db.row(statement("measure_context"))
    relation = describe(db, call.relation, context["role"])
    if call.weight is not None:
        weight = relation.column(call.weight)
        if weight.base_type not in WHOLE | {"numeric"}:
            raise UnsuitableColumn(
                f"Column {weight.identifier} of type {weight.type} cannot be a weight.",
                hint="A weight is a whole number or a numeric; sums of floating-point numbers are not exact.",
            )
        return Subject(relation, context["role"], None, weight)
    found = db.rows(statement("curve_declared"), relation.oid) if context["declarations"] else []
    name = found[0]["entity"] if found else None
    relation.require_declared([] if name is None else [name])
    entity = None if name is None else entity_column(relation.column(name))
    if entity is not None:
        require_equality(db, relation, (entity.facts,), "identify people")
    return Subject(relation, context["role"], entity, None)


def value_column(db: Database, subject: Subject, name: str) -> CanonicalColumn:
    """Return a column whose values are grouped.

    Raises
    ------
    UnknownName
        If the relation has no such column.
    NotPermitted
        If the caller may not read it.
    UnsuitableColumn
        If its type has no equality or order.
    """
    facts = subject.relation.column(name)
    require_columns(subject, (facts,))
    require_equality(db, subject.relation, (facts,), "be grouped")
    return CanonicalColumn(facts, Identifier.of("value"))


def require_columns(subject: Subject, columns: tuple[ColumnFacts, ...]) -> None:
    """Refuse unless the caller may read some columns, and those by which rows count.

    Raises
    ------
    NotPermitted
        If not.
    """
    counting = () if subject.entity is None else (subject.entity.facts,)
    weight = () if subject.weight is None else (subject.weight,)
    require_readable(subject.relation, columns + counting + weight, subject.role)


def coordinates(subject: Subject, x: str, y: str | None) -> tuple[Fragment, Fragment]:
    """Return expressions for the coordinates of a row: of two columns of numbers, or of one of points.

    Points are PostgreSQL's own, or PostGIS's geometry and geography, wherever that is installed.

    Raises
    ------
    UnknownName, NotPermitted
        As `value_column`.
    UnsuitableColumn
        If a column has neither.
    """
    columns = tuple(subject.relation.column(name) for name in (x, y) if name is not None)
    require_columns(subject, columns)
    if len(columns) == 1:
        found = _of_points(columns[0])
        if found is not None:
            return found
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
