"""How private, and how useful, a relation is: figures of its equivalence classes, counted in SQL.

Through either interface, with the caller's rights; changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_pg.core.shown import Shown
from kanon_pg.db.catalog import ColumnFacts, equality, require_equality
from kanon_pg.db.citus import distribution_of
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.operation import Operation
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError
from kanon_pg.relations.arguments import AnyRelation, QuasiIdentifiers, Sensitive
from kanon_pg.relations.counting import are_many_classes
from kanon_pg.relations.subject import (
    Subject,
    no_quasi_identifier,
    no_rows,
    notice_unknown_roles,
    require_usable,
    resolve,
)


@dataclass(frozen=True, slots=True)
class Measures(Shown):
    """Privacy and loss of a relation, by its equivalence classes.

    Conventions. Rows that agree on all quasi-identifiers, by PostgreSQL's own equality, form an
    *equivalence class* E; in a release the set of suppressed columns belongs to what they agree on.
    NULL is a value of its own, in quasi-identifiers and in sensitive columns. The size |E| is a number of
    people: distinct values of the declared entity, else rows; a class in which nobody is known (entity
    NULL throughout) counts as one person. q(s) and p(E, s) are the shares of value s of a sensitive
    column in the relation and in E, where a person counts once per class and value. With several
    sensitive columns each figure is that of the worst column, each looked at by itself. Figures of
    sensitive columns are None without any. Distances and ratios are exact up to 1e-12. The last four are
    those of a release when it was published, for its own quasi-identifiers; None for other relations, and
    for who may not read the list of releases. ``kanon.measures`` says what is not defined here.
    """

    rows: int
    people: int
    classes: int
    k: int
    average_class: float
    largest_class: int
    distinct_l: int | None
    entropy_l: float | None
    """min over E of exp(-sum_s p(E, s) ln p(E, s)) (Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam
    2006: *entropy l-diverse* for every l up to this)."""
    frequency_l: float | None
    """min over E and s of |E| / (people in E with value s): an attacker's confidence in any value is at
    most 1 / `frequency_l` (Xiao and Tao 2006, *Anatomy*; Wong, Li, Fu and Wang 2006 call the inverse
    alpha). A person with several values counts for each of them, but once in |E|."""
    p: int | None
    t_equal: float | None
    """max over E of half of sum_s |p(E, s) - q(s)|, 0 to 1: the earth mover's distance if all values are
    equally far apart (Li, Li and Venkatasubramanian 2007: *t-closeness*)."""
    t_ordered: float | None
    """The same authors' ordered distance for numbers, dates and times, 0 to 1: with the m values of the
    column in order, NULL last, max over E of sum_{i<m} |sum_{j<=i} (p(E, s_j) - q(s_j))| / (m - 1); 0
    for m = 1; None if no sensitive column has such a type."""
    delta_disclosure: float | None
    """max over E and the values s in E of |ln(p(E, s) / q(s))| (Brickell and Shmatikov 2008; natural
    logarithm; as in other tools a value absent from E does not count, it would make every figure
    infinite)."""
    beta_likeness: float | None
    """max over E and s of (p(E, s) - q(s)) / q(s), at least 0 (Cao and Karras 2012: *basic
    beta-likeness*)."""
    prosecutor_risk: float
    journalist_risk: float
    """Highest chance to find anybody's row through a register of the population (El Emam and Dankar 2008).
    The relation is the only register known here, so this is their upper bound: 1 / k."""
    marketer_risk: float
    """Expected share of correct guesses when every row is linked: classes / sum of |E|, over 0 to 1 (El
    Emam, Dankar, Vaillancourt, Roffey and Lysyk 2009)."""
    discernibility: int
    """Sum over E of (rows of E) squared (Bayardo and Agrawal 2005: *discernibility metric*; no class is
    below the measured k, so none counts as suppressed)."""
    average_class_ratio: float
    usefulness: float
    """Mean over classes of the sum over quasi-identifiers of the attribute diversity, 0 to the number of
    quasi-identifiers, smaller is better (Loukides and Shao 2007, as Definition 5 of Bredereck,
    Nichterlein and Niedermeier 2014), as a reader of this relation can tell it: a suppressed cell may
    stand for any value (1), a visible number or date has no spread (0), a visible category is one of
    the column's visible values (1 / their number), a range type its width as a share of the span of all
    ranges (1 if unbounded). The report of a release has the figure for the cells before suppression,
    which is never above."""
    certainty_penalty: float | None = None
    """Normalized certainty penalty (Xu, Wang, Pei, Wang, Shi and Fu 2006): mean over all quasi-identifier
    cells of (values below the published node - 1) / (values of the hierarchy - 1)."""
    generalization_height: float | None = None
    entropy_loss: float | None = None
    """Non-uniform entropy (Gionis and Tassa 2009): sum over the cells of -log(rows with the value / rows
    with a value below the published node), as a share of that of a table without any value, 0 to 1."""
    marginal_divergence: float | None = None
    """Mean over the quasi-identifiers of the Kullback-Leibler divergence, in bits, from the distribution
    of the column to the one that its published cells tell, if each may stand for every value below it
    with the same chance (after Kifer and Gehrke 2006)."""


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
class MeasuredRelation:
    """A relation with the columns to measure, and the losses of a release with its own columns."""

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
        """Return the parts of all queries, but for the columns."""
        keys = [str(alias) for alias in self.aliases] + ["suppressed"] * self.subject.is_release
        entity = self.subject.entity
        return {
            "relation": self.subject.source,
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
class ClassFigures:
    """Sizes of all classes together."""

    rows: int
    people: int
    classes: int
    """`rows`, `people`, `classes`: totals; `people` are distinct in the whole relation."""
    memberships: int
    """Sum of the sizes of all classes: a person in two classes counts twice."""
    smallest: int
    largest: int
    discernibility: int
    diversity: float
    """Sum over classes and quasi-identifiers of the attribute diversity."""


def count_classes(db: Database, measured: MeasuredRelation) -> ClassFigures | None:
    """Count the classes in one statement; None if the relation has no rows."""
    # One key alone has the same groups as the whole key: no grouping set of its own then.
    separate = len(measured.quasi_identifiers) > 1 or measured.suppressed is not None
    marks = (
        Fragment("suppressed")
        if measured.suppressed is not None
        else Fragment(", ".join(map(str, measured.aliases[:2])))
    )
    command = statement(
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
    with reading(db, measured.subject.relation):
        (row,) = db.read(command)
    if not row["classes"]:
        return None
    columns = enumerate(measured.quasi_identifiers, 1)
    return ClassFigures(
        **{name: row[name] for name in ("rows", "people", "classes", "memberships", "smallest", "largest")},
        discernibility=int(row["discernibility"]),
        diversity=sum(_diversity(column, number, row) for number, column in columns),
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


def _diversity(column: ColumnFacts, number: int, row: Row) -> float:
    hidden: int = row.get(f"hidden_{number}", 0)
    visible = row["classes"] - hidden
    if _is_categorical(column):
        return hidden + (visible / row[f"domain_{number}"] if visible else 0.0)
    if column.base_type not in _ENDS:
        return float(hidden)
    lowest, highest = row[f"lowest_{number}"], row[f"highest_{number}"]
    span = highest - lowest if lowest is not None and highest is not None else 0.0
    spread = row[f"width_{number}"] / span if span > 0 else 0.0
    return float(hidden + row[f"unbounded_{number}"] + spread)


@dataclass(frozen=True, slots=True)
class SensitiveFigures:
    """Worst figures over all classes; see `kanon_pg.measures.Measures` for the definitions."""

    distinct_l: int
    entropy_l: float
    frequency_l: float
    t_equal: float
    t_ordered: float | None
    delta_disclosure: float
    beta_likeness: float


def measure_sensitive(
    db: Database, measured: MeasuredRelation, column: ColumnFacts, *, many_classes: bool
) -> SensitiveFigures:
    """Compute the figures of one sensitive column in one statement.

    With `many_classes` it counts twice rather than to store every class: that changes the time alone.

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
    command = statement(
        "measure_sensitive",
        **measured.common_parts(),
        columns=measured.column_parts(),
        sensitive=column.identifier,
        ordered=column.base_type in SCALES,
        many_classes=many_classes,
        same_value=equality(db, measured.subject.relation, column, "cell.value", "domain.value"),
        people_once=False,
        on_nodes=distribution_of(db, measured.subject.relation.identifier) is not None,
    )
    with reading(db, measured.subject.relation):
        (row,) = db.read(command)
    return SensitiveFigures(**row)


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """The arguments of ``kanon_measure``; an empty list of sensitive columns means none."""

    relation: AnyRelation
    quasi_identifiers: QuasiIdentifiers = None
    sensitive: Sensitive = None


MEASURE = Operation(MeasureRequest)


def measure(db: Database, request: MeasureRequest) -> Measures:
    """Measure any table or view, with the caller's own rights, without changing anything.

    For one consistent figure its statements share a snapshot: a STABLE function, or a REPEATABLE READ
    transaction.
    """
    return figures_of(db, resolve_measured(db, request))


def resolve_measured(db: Database, request: MeasureRequest) -> MeasuredRelation:
    """Find out what to measure and check that it can be measured.

    What the call does not name are the known roles; otherwise every column is a quasi-identifier except
    single-column keys. A column named in the call leaves the other role's default.
    """
    subject = resolve(db, request.relation)
    given = None if request.quasi_identifiers is None else subject.columns(request.quasi_identifiers)
    if request.sensitive is not None:
        sensitive = subject.columns(request.sensitive)
    else:
        known = () if subject.roles is None else subject.columns(subject.roles.sensitive)
        sensitive = tuple(column for column in known if column not in (given or ()))
    for column in given or ():
        if column in sensitive:
            raise InputError(
                f"Column {column.identifier} is named both as quasi-identifier and as sensitive.",
                hint="Name each column once.",
            )
    usual = subject.quasi_identifiers()
    if given is None:
        notice_unknown_roles(db, subject)
        given = tuple(column for column in usual if column not in sensitive)
    if not given:
        raise no_quasi_identifier(subject.relation)
    own = () if subject.suppressed is None else (subject.suppressed,)
    require_usable(db, subject, given, also_read=(*sensitive, *own))
    require_equality(db, sensitive, "be measured")
    return MeasuredRelation(subject, given, sensitive, subject.losses if given == usual else {})


def figures_of(db: Database, measured: MeasuredRelation) -> Measures:
    """Measure what was resolved before; refuse a relation without rows."""
    db.progress("counting classes")
    counts = count_classes(db, measured)
    if counts is None:
        raise no_rows(measured.subject.relation, "Without an equivalence class no measure is defined.")
    many_classes = are_many_classes(counts.classes, counts.rows)
    figures = []
    for number, column in enumerate(measured.sensitive):
        db.progress("measuring sensitive columns", number / len(measured.sensitive))
        figures.append(measure_sensitive(db, measured, column, many_classes=many_classes))
    return replace(combine(counts, figures), **measured.losses)


def combine(counts: ClassFigures, figures: Sequence[SensitiveFigures]) -> Measures:
    """Put the counts of all classes and the worst sensitive column together."""
    average = counts.memberships / counts.classes

    def worst(of: Callable[..., Any], name: str) -> Any:
        values = (getattr(one, name) for one in figures)
        return of((value for value in values if value is not None), default=None)

    return Measures(
        rows=counts.rows,
        people=counts.people,
        classes=counts.classes,
        k=counts.smallest,
        average_class=average,
        largest_class=counts.largest,
        distinct_l=worst(min, "distinct_l"),
        entropy_l=worst(min, "entropy_l"),
        frequency_l=worst(min, "frequency_l"),
        p=worst(min, "distinct_l"),
        t_equal=worst(max, "t_equal"),
        t_ordered=worst(max, "t_ordered"),
        delta_disclosure=worst(max, "delta_disclosure"),
        beta_likeness=worst(max, "beta_likeness"),
        prosecutor_risk=1 / counts.smallest,
        journalist_risk=1 / counts.smallest,
        marketer_risk=counts.classes / counts.memberships,
        discernibility=counts.discernibility,
        average_class_ratio=average / counts.smallest,
        usefulness=counts.diversity / counts.classes,
    )
