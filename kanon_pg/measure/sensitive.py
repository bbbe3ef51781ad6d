"""What the classes tell about sensitive columns."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.measure.classes import SCALES
from kanon_pg.measure.subject import Subject


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
    db: Database, subject: Subject, column: ColumnFacts, *, many_classes: bool
) -> SensitiveFigures:
    """Compute the figures of one sensitive column in one statement.

    Parameters
    ----------
    db : Database
        An open database whose role may read the relation.
    subject : Subject
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
            **subject.common_parts(),
            columns=subject.column_parts(),
            sensitive=column.identifier,
            ordered=column.base_type in SCALES,
            many_classes=many_classes,
            equals=_equality(db, subject, column),
            people_once=False,
        )
    )
    return SensitiveFigures(**found)


def _equality(db: Database, subject: Subject, column: ColumnFacts) -> Fragment:
    """The operator of GROUP BY, spelled so that the search_path cannot replace it.

    A bare ``=`` on a type of an extension that is not on the path would compare something else (citext
    as text).
    """
    own = db.rows(statement("measure_equality"), subject.relation.oid, column.name)
    schema, name = (own[0]["schema"], own[0]["name"]) if own else ("pg_catalog", "=")
    return Fragment(f"OPERATOR({Identifier.of(schema)}.{name})")
