"""What equivalence classes tell: their sizes, the spread of the cells in them, their sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kanon_pg.db.catalog import ColumnFacts, equality_operator
from kanon_pg.db.citus import distribution_of
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.relations.subject import Subject

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
class Measured:
    """What is measured: a relation by some of its columns.

    Parameters
    ----------
    quasi_identifiers : tuple of ColumnFacts
        At least one; their types have an equality.
    sensitive : tuple of ColumnFacts
        None of them a quasi-identifier.
    losses : mapping of str to (float or None)
        What a release with its own quasi-identifiers lost when it was published.
    """

    subject: Subject
    quasi_identifiers: tuple[ColumnFacts, ...]
    sensitive: tuple[ColumnFacts, ...]
    losses: Mapping[str, Any] = field(default_factory=dict)

    @property
    def aliases(self) -> tuple[Identifier, ...]:
        """Names of the quasi-identifiers inside queries, free of the user's names."""
        return tuple(Identifier.of(f"q{number}") for number in range(1, len(self.quasi_identifiers) + 1))

    @property
    def suppressed(self) -> Identifier | None:
        """In a release the column that lists the suppressed columns of a row."""
        return None if self.subject.suppressed is None else self.subject.suppressed.identifier

    def common_parts(self) -> dict[str, object]:
        """Return what all queries interpolate, but for the columns."""
        keys = [str(alias) for alias in self.aliases] + ["suppressed"] * self.subject.is_release
        entity = self.subject.entity
        return {
            "relation": self.subject.relation.identifier,
            "keys": Fragment(", ".join(keys)),
            "suppressed": self.suppressed,
            "entity": None if entity is None else entity.output,
        }

    def column_parts(self) -> list[dict[str, object]]:
        """Return name, alias and quoted text of each quasi-identifier."""
        return [
            {"column": column.identifier, "alias": alias, "label": Literal(column.name)}
            for column, alias in zip(self.quasi_identifiers, self.aliases, strict=True)
        ]


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


def count_classes(db: Database, measured: Measured) -> ClassCounts | None:
    """Count the classes in one statement.

    Returns
    -------
    ClassCounts or None
        None if the relation has no rows.
    """
    # One key alone has the same groups as the whole key: no grouping set of its own then.
    separate = len(measured.quasi_identifiers) > 1 or measured.suppressed is not None
    marks = (
        Fragment("suppressed")
        if measured.suppressed is not None
        else Fragment(", ".join(map(str, measured.aliases[:2])))
    )
    found = db.row(
        statement(
            "measure_classes",
            **measured.common_parts(),
            columns=[
                common | _parts(column, number)
                for number, (common, column) in enumerate(
                    zip(measured.column_parts(), measured.quasi_identifiers, strict=True), 1
                )
            ],
            marks=marks,
            separate=separate,
            on_nodes=distribution_of(db, measured.subject.relation.identifier) is not None,
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
            _diversity(column, number, found) for number, column in enumerate(measured.quasi_identifiers, 1)
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


@dataclass(frozen=True, slots=True)
class SensitiveFigures:
    """Worst figures over all classes; see `kanon_pg.measure.measures.Measures` for the definitions.

    Parameters
    ----------
    distinct_l : int
        >= 1.
    entropy_l, frequency_l : float
        >= 1.
    t_equal : float
        0 to 1.
    t_ordered : float or None
        0 to 1; None for types without a scale.
    delta_disclosure, beta_likeness : float
        >= 0.
    """

    distinct_l: int
    entropy_l: float
    frequency_l: float
    t_equal: float
    t_ordered: float | None
    delta_disclosure: float
    beta_likeness: float


def measure_sensitive(
    db: Database, measured: Measured, column: ColumnFacts, *, many_classes: bool
) -> SensitiveFigures:
    """Compute the figures of one sensitive column in one statement.

    Parameters
    ----------
    measured : Measured
        What to measure; at least one row.
    column : ColumnFacts
        One of its sensitive columns.
    many_classes : bool
        Whether to count twice rather than to store every class; changes the time, never the result.

    Notes
    -----
    Let p be the distribution of the column's values in a class, q the one in the relation. Everything
    but the two earth mover's distances is a sum, minimum or maximum over the values that occur in the
    class. The distances also depend on the values that do not, but can be bounded from the same sums:

    - equal: 1 - sum_{s in E} q(s) <= t <= 1 - 1 / max_s(p(s) / q(s)). Left: at least the mass of the
      absent values has to move. Right: t = 1 - sum_s min(p, q), and min(p, q) >= p / max(1, max p/q).
      Both are the distance itself if the class has one value.
    - ordered, before the division by m - 1: |mean place in E - mean place| <= t <= the mean over E of the
      distance of a class that has only that one value. Left: triangle inequality; right: the distance is
      convex in p (it is an L1 norm of differences of cumulated shares). Both are exact for one value
      at an end of the scale.

    Only classes whose upper bound is above the largest lower bound can be the worst; for these the
    distance is computed exactly. Between two neighbouring places of a class its cumulated share P is
    constant while that of the relation, Q, rises, so sum |P - Q_j| splits where Q passes P, which a
    binary search finds, into two differences of the prefix sums of Q. Time: O(c) for c (class, value)
    pairs and the bounds, O(d log m) for a class with d of m values examined exactly.
    """
    found = db.row(
        statement(
            "measure_sensitive",
            **measured.common_parts(),
            columns=measured.column_parts(),
            sensitive=column.identifier,
            ordered=column.base_type in SCALES,
            many_classes=many_classes,
            equals=equality_operator(db, measured.subject.relation, column),
            people_once=False,
            on_nodes=distribution_of(db, measured.subject.relation.identifier) is not None,
        )
    )
    return SensitiveFigures(**found)
