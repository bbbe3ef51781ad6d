"""Sizes of the equivalence classes and the spread of the cells in them."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.measure.subject import Subject

SCALES = frozenset(
    {
        "int2", "int4", "int8", "numeric", "float4", "float8", "money",
        "date", "timestamp", "timestamptz", "time", "timetz", "interval",
    }
)  # fmt: skip
"""Types of ``pg_catalog`` whose values lie on a scale, so that they have an order and a distance."""

_ENDS = {
    "int4range": ("{end}::double precision", 1),
    "int8range": ("{end}::double precision", 1),
    "numrange": ("LEAST(GREATEST({end}, -1e300), 1e300)::double precision", 0),
    "daterange": ("(pg_catalog.date_part('epoch', {end}) / 86400)", 1),
    "tsrange": ("pg_catalog.date_part('epoch', {end})", 0),
    "tstzrange": ("pg_catalog.date_part('epoch', {end})", 0),
}
"""How an end of a range becomes a number, and how far its upper end lies above its last value."""


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Sizes of all classes together.

    Parameters
    ----------
    rows, people, classes : int
        Totals; `people` are distinct in the whole relation.
    memberships : int
        Sum of the sizes of all classes: a person in two classes counts twice.
    smallest, largest : int
        Sizes of classes, in people.
    discernibility : int
        Sum of squared numbers of rows.
    diversity : float
        Sum over classes and quasi-identifiers of the attribute diversity.
    """

    rows: int
    people: int
    classes: int
    memberships: int
    smallest: int
    largest: int
    discernibility: int
    diversity: float


def count_classes(db: Database, subject: Subject) -> ClassCounts | None:
    """Count the classes in one statement.

    Parameters
    ----------
    db : Database
        An open database whose role may read the relation.
    subject : Subject
        What to measure.

    Returns
    -------
    ClassCounts or None
        None if the relation has no rows.
    """
    # One key alone has the same groups as the whole key: no grouping set of its own then.
    separate = len(subject.quasi_identifiers) > 1 or subject.suppressed is not None
    marks = (
        Fragment("suppressed")
        if subject.suppressed is not None
        else Fragment(", ".join(map(str, subject.aliases[:2])))
    )
    found = db.row(
        statement(
            "measure_classes",
            **subject.common_parts(),
            columns=[
                common | _parts(column, number)
                for number, (common, column) in enumerate(
                    zip(subject.column_parts(), subject.quasi_identifiers, strict=True), 1
                )
            ],
            marks=marks,
            separate=separate,
        )
    )
    if not found["classes"]:
        return None
    return ClassCounts(
        rows=found["rows"],
        people=found["people"],
        classes=found["classes"],
        memberships=found["memberships"],
        smallest=found["smallest"],
        largest=found["largest"],
        discernibility=int(found["discernibility"]),
        diversity=sum(
            _diversity(column, number, found) for number, column in enumerate(subject.quasi_identifiers, 1)
        ),
    )


def _is_categorical(column: ColumnFacts) -> bool:
    return column.base_type not in SCALES and column.base_type not in _ENDS


def _parts(column: ColumnFacts, number: int) -> dict[str, object]:
    names = ("hidden", "present", "domain", "lowest", "highest", "width", "unbounded")
    parts: dict[str, object] = {name: Identifier.of(f"{name}_{number}") for name in names}
    ends = _ENDS.get(column.base_type)
    if ends is not None:
        number_of, step = ends
        cell = f"q{number}"
        low = number_of.format(end=f"pg_catalog.lower({cell})")
        high = number_of.format(end=f"pg_catalog.upper({cell})") + (f" - {step}" if step else "")
        parts["low"] = Fragment(f"(CASE WHEN pg_catalog.lower_inf({cell}) THEN '-Infinity' ELSE {low} END)")
        parts["high"] = Fragment(f"(CASE WHEN pg_catalog.upper_inf({cell}) THEN 'Infinity' ELSE {high} END)")
    return parts | {"categorical": _is_categorical(column), "low": parts.get("low")}


def _diversity(column: ColumnFacts, number: int, found: Row) -> float:
    hidden: int = found.get(f"hidden_{number}", 0)
    visible = found["classes"] - hidden
    if _is_categorical(column):
        return hidden + (visible / found[f"domain_{number}"] if visible else 0.0)
    if column.base_type not in _ENDS:
        return float(hidden)
    lowest, highest = found[f"lowest_{number}"], found[f"highest_{number}"]
    span = highest - lowest if lowest is not None and highest is not None else 0.0
    spread = found[f"width_{number}"] / span if span > 0 else 0.0
    return float(hidden + found[f"unbounded_{number}"] + spread)
