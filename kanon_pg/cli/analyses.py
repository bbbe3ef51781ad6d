"""Commands that change nothing: ``measure``, ``curve``, ``risk``, ``identify`` and ``group``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kanon_pg import client
from kanon_pg.audit.findings import IdentifyingSet, RiskFigures
from kanon_pg.audit.request import IDENTIFY, RISK
from kanon_pg.cli.arguments import (
    AnyRelation,
    Method,
    Patterns,
    Relation,
    Seed,
    column_option,
    fields_in,
    k_option,
    read_patterns,
    split_items,
)
from kanon_pg.cli.connection import Dsn, answer_of
from kanon_pg.cli.output import (
    Json,
    check_plot,
    errors_as,
    facts,
    listing,
    show,
    write_plot,
)
from kanon_pg.core.grouping import DEFAULT_EPSILON
from kanon_pg.core.risk import THRESHOLD
from kanon_pg.curves import CURVE, DEFAULT_KS, Curve, CurvePoint
from kanon_pg.errors import InputError
from kanon_pg.grouping.classes import Grouped
from kanon_pg.grouping.request import GROUPS, INTERVALS, RECTANGLES, REGIONS
from kanon_pg.measures import MEASURE, Measures
from kanon_pg.relations.arguments import DEFAULT_SECONDS

K = Annotated[int, k_option("Least size of a class, at least 2.")]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Add up this column; people or rows are counted otherwise."),
]
Cost = Annotated[
    str, typer.Option(metavar="max|sum", help="Size of the largest class, or what all have beyond k.")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the classes: .png, .svg or .pdf.")]
TimeLimit = Annotated[float, typer.Option(metavar="SECONDS", help="For the search for better solutions.")]

_GROUP_HEADINGS = ("class", "size", "values", "label")
_MOST_LINES = 50


def intervals(
    relation: Relation,
    column: Annotated[str, typer.Argument(help="Numbers, dates or moments.", metavar="COLUMN")],
    k: K,
    weight: Weight = None,
    cost: Cost = "max",
    plot: Plot = None,
    time_limit: TimeLimit = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Group the values of an ordered column into intervals, at the least cost there is."""
    _run(client.intervals, fields_in(INTERVALS, locals()), plot, dsn, as_json)


def labels(
    relation: Relation,
    column: Annotated[str, typer.Argument(help="Labels without order.", metavar="COLUMN")],
    k: K,
    method: Annotated[str, typer.Option(metavar="spread|fold|exact|relaxed", help="How.")] = "spread",
    weight: Weight = None,
    cost: Cost = "max",
    epsilon: Annotated[float, typer.Option(help="Of the relaxed scheme, below 1/2.")] = DEFAULT_EPSILON,
    plot: Plot = None,
    time_limit: TimeLimit = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Group the values of a column without order."""
    _run(client.groups, fields_in(GROUPS, locals()), plot, dsn, as_json)


def regions(
    relation: Relation,
    column: Annotated[str, typer.Argument(help="Its values have neighbours.", metavar="COLUMN")],
    adjacency: Annotated[
        str, typer.Argument(help="Table with the pairs of neighbours.", metavar="ADJACENCY")
    ],
    k: K,
    neighbours: Annotated[
        list[str] | None,
        column_option("--neighbours", "Its two columns; its first two otherwise.", metavar="COLUMN,COLUMN"),
    ] = None,
    method: Annotated[str, typer.Option(metavar="moves|tree|exact", help="How.")] = "moves",
    on_light: Annotated[
        str, typer.Option(metavar="other|refuse", help="Parts of the map that have less than k.")
    ] = "other",
    weight: Weight = None,
    cost: Cost = "max",
    plot: Plot = None,
    at: Annotated[
        list[str] | None, column_option("--at", "Columns with the place on the map to draw.", metavar="X,Y")
    ] = None,
    time_limit: TimeLimit = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Group the values of a column into regions of neighbours."""
    arguments = fields_in(REGIONS, locals()) | {"positions": None if at is None else tuple(at)}
    _run(client.regions, arguments, plot, dsn, as_json)


def rectangles(
    relation: Relation,
    x: Annotated[str, typer.Argument(help="Numbers, or points.", metavar="X")],
    k: K,
    y: Annotated[str | None, typer.Argument(help="Numbers, unless X has points.", metavar="[Y]")] = None,
    method: Annotated[str, typer.Option(metavar="kd|exact", help="How.")] = "kd",
    weight: Weight = None,
    cost: Cost = "max",
    plot: Plot = None,
    time_limit: TimeLimit = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Group points into rectangles that do not overlap."""
    _run(client.rectangles, fields_in(RECTANGLES, locals()), plot, dsn, as_json)


def _run(
    call: Callable[..., Grouped],
    arguments: Mapping[str, Any],
    plot: Path | None,
    dsn: str | None,
    as_json: bool,
) -> None:
    with errors_as(as_json):
        check_plot(plot)
        found = answer_of(call, dsn, as_json, arguments)
        if plot is not None:
            from kanon_pg.reports.plots import draw_grouping

            write_plot(draw_grouping(found), plot)
        show(found, as_json, grouped_table)


def grouped_table(found: Grouped) -> Group:
    """Lay out classes, one per line, below what is proven about all of them."""
    head = [
        ("classes", f"{len(found.classes):,} of {len(found.values):,} values"),
        ("sizes", f"{found.unit}, at least k = {found.k:,}"),
        (f"cost ({found.cost_kind})", f"{found.cost:,}: {found.proof}"),
        ("proven", f"at least {found.lower_bound:,} ({found.bound_method})"),
        ("found by", found.method),
    ]
    if found.degree:
        head.append(("trees", f"degree {found.degree}"))
    return Group(facts(head), _classes(found))


def _classes(found: Grouped) -> Table:
    rows = [
        (str(one.number), f"{one.size:,}", f"{one.values:,}", one.label or "(missing values)")
        for one in found.classes[:_MOST_LINES]
    ]
    hidden = len(found.classes) - len(rows)
    if hidden:
        rows.append(("...", "", "", f"{hidden:,} more classes; --json has all of them"))
    return listing(_GROUP_HEADINGS, rows, frozenset({"class", "size", "values"}))


_MOST_NAMED = 8
"""Columns that are named; JSON has all of them."""


def risk(
    relation: AnyRelation,
    columns: Annotated[
        list[str] | None,
        column_option("--column", "What an attacker knows, in place of the quasi-identifiers."),
    ] = None,
    sensitive: Annotated[
        list[str] | None, column_option("--sensitive", "In place of the declared ones.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(metavar="SHARE", help="Risk above which a record counts as being at risk.")
    ] = THRESHOLD,
    population: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE", help="Register of the population, with columns of the same names and types."
        ),
    ] = None,
    sampling_fraction: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Share of the population in the table, if there is no register."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="What is not counted by then is said.")
    ] = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Say how likely people are found again in a table and in its releases.

    Prosecutor, journalist and marketer risk, people above a threshold, unique people, and classes that give
    a sensitive value away. Needs the right to read, changes nothing, and shows counts and column names only.
    """
    arguments = fields_in(RISK, locals())
    with errors_as(as_json):
        found = answer_of(client.risk, dsn, as_json, arguments)
        show(found, as_json, risk_view)


def risk_view(found: tuple[RiskFigures, ...]) -> Group:
    """Lay out the risk of relations, one after the other: of the table, then of its releases."""
    parts: list[RenderableType] = []
    for number, figures in enumerate(found):
        title = figures.relation if number == 0 else f"Release {figures.relation}"
        parts += [Text(("\n" if number else "") + title, style="bold"), facts(list(_lines(figures)))]
    return Group(*parts)


def _lines(figures: RiskFigures) -> Iterator[tuple[str, str]]:
    yield "known to the attacker", _named(figures.columns)
    yield "rows, people", f"{figures.rows:,}, {figures.people:,}"
    yield "classes", f"{figures.classes:,}, the smallest of {_people(figures.smallest_class)}"
    yield "prosecutor risk", _chances(figures.prosecutor_risk, figures.prosecutor_average)
    journalist = _chances(figures.journalist_risk, figures.journalist_average)
    yield "journalist risk", f"{journalist} (from: {figures.journalist_basis})"
    yield "marketer risk", f"{figures.marketer_risk:.2%} of the guesses are right"
    yield (
        f"above {figures.threshold:.1%}",
        f"{_people(figures.people_above)} ({figures.share_above:.1%})",
    )
    yield "alone in their class", _people(figures.sample_uniques)
    for size, (people, sets) in enumerate(
        zip(figures.people_by_unique, figures.minimal_uniques, strict=True), start=1
    ):
        columns = "1 column" if size == 1 else f"{size} columns"
        yield f"alone by {columns}", f"{_people(people)}, {sets:,} minimal combinations of values"
    if figures.termination.is_cut:
        yield "alone by more columns", figures.termination.words
    for one in figures.homogeneous:
        classes = "1 class" if one.classes == 1 else f"{one.classes:,} classes"
        yield f"{one.column} is disclosed", f"of {_people(one.people)}, by {classes} of one value"


def _named(columns: tuple[str, ...]) -> str:
    if len(columns) <= _MOST_NAMED:
        return ", ".join(columns)
    return f"{', '.join(columns[:_MOST_NAMED])} and {len(columns) - _MOST_NAMED} more columns"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _chances(highest: float, average: float) -> str:
    return f"{highest:.2%} at worst, {average:.2%} on average"


_IDENTIFYING_HEADINGS = (
    "columns",
    "size",
    "kind",
    "at least",
    "distinct rows",
    "distinction",
    "found by",
    "search",
)


def identify(
    relation: AnyRelation,
    columns: Annotated[
        list[str] | None, column_option("--column", "What to choose from, in place of all but identifiers.")
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="The best set found by then is shown with what is proven."),
    ] = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Find few columns that tell rows apart as well as all columns do.

    Two sets: the smallest one, with a proof of how few columns are possible, and the one that is left when
    columns are left out one by one. Needs the right to read, changes nothing, and shows
    names and counts only.
    """
    arguments = fields_in(IDENTIFY, locals())
    with errors_as(as_json):
        found = answer_of(client.identify, dsn, as_json, arguments)
        show(found, as_json, _identifying_table)


def _identifying_table(found: tuple[IdentifyingSet, ...]) -> Table:
    rows = [
        (
            ", ".join(one.columns) or "(none)",
            f"{one.size}",
            one.kind,
            f"{one.at_least}",
            f"{one.distinct_rows:,}",
            f"{one.distinction:.4f}",
            one.method,
            one.termination.words,
        )
        for one in found
    ]
    return listing(
        _IDENTIFYING_HEADINGS,
        rows,
        frozenset(_IDENTIFYING_HEADINGS) - {"columns", "kind", "found by", "search"},
    )


_CURVE_HEADINGS = (
    "k",
    "suppressed",
    "share",
    "at least",
    "gap",
    "classes",
    "average class",
    "found by",
    "time",
    "search",
)


def curve(
    relation: Relation,
    ks: Annotated[
        list[str] | None,
        typer.Option(
            "--ks", help="Values of k.", metavar="K,...", show_default=",".join(map(str, DEFAULT_KS))
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the curve: .png, .svg or .pdf.")
    ] = None,
    quasi_identifiers: Annotated[
        list[str] | None, column_option("--quasi-identifier", "In place of the declared ones.")
    ] = None,
    method: Method = "auto",
    patterns: Patterns = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="For all k together.")
    ] = DEFAULT_SECONDS,
    seed: Seed = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show what each of several k would cost a table, with proven bounds.

    Publishes nothing and changes nothing. Needs the right to read the table. Without a declaration
    every column is a quasi-identifier, except single-column keys.
    """
    arguments = fields_in(CURVE, locals())
    with errors_as(as_json):
        arguments["ks"] = DEFAULT_KS if ks is None else _numbers(ks)
        arguments["patterns"] = read_patterns(patterns)
        check_plot(plot)
        found = answer_of(client.curve, dsn, as_json, arguments)
        if plot is not None:
            from kanon_pg.reports.plots import draw_curve

            write_plot(draw_curve(found), plot)
        show(found, as_json, curve_table)


def curve_table(found: Curve) -> Table:
    """Lay out a curve, one k per line."""
    whole = found.rows * found.row_weight
    rows = [_cells(point, whole) for point in found.points]
    return listing(_CURVE_HEADINGS, rows, frozenset(_CURVE_HEADINGS) - {"found by", "search"})


def _cells(point: CurvePoint, whole: float) -> tuple[str, ...]:
    bound, gap = point.lower_bound, point.gap
    return (
        f"{point.k:,}",
        f"{point.suppressed_cells:,}",
        f"{point.weighted_cost / whole:.2%}",
        "nothing proven" if bound is None else f"{bound / whole:.2%}",
        "optimal" if point.optimal else "unknown" if gap is None else f"{gap:.1%}",
        f"{point.classes:,}",
        f"{point.average_class:,.1f}",
        point.method,
        f"{point.elapsed:.2f} s",
        point.termination.words,
    )


def _numbers(given: list[str]) -> list[int]:
    try:
        return [int(number) for number in split_items(given)]
    except ValueError:
        raise InputError(
            "The values of k are not whole numbers with commas between them.", hint="For example: --ks 2,5,10"
        ) from None


def measure(
    relation: AnyRelation,
    quasi_identifiers: Annotated[
        list[str] | None,
        column_option("--quasi-identifier", "In place of the declared ones.", "--qi"),
    ] = None,
    sensitive: Annotated[
        list[str] | None, column_option("--sensitive", "In place of the declared ones.")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Measure how anonymous a table, view or release is.

    Needs the right to read it. Without a declaration
    every column is a quasi-identifier, except single-column keys.
    """
    arguments = fields_in(MEASURE, locals())
    with errors_as(as_json):
        found = answer_of(client.measure, dsn, as_json, arguments)
        show(found, as_json, measures_facts)


def measures_facts(found: Measures) -> Table:
    """Lay out measures, one fact per line."""
    sizes = f"{found.average_class:,.1f} people on average, {found.largest_class:,} at most"
    lines = [
        ("rows, people", f"{found.rows:,}, {found.people:,}"),
        ("k", f"{found.k:,} (people in the smallest class)"),
        ("classes", f"{found.classes:,}, {sizes}"),
        ("prosecutor risk", f"{found.prosecutor_risk:.2%}"),
        ("journalist risk", f"{found.journalist_risk:.2%}"),
        ("marketer risk", f"{found.marketer_risk:.2%}"),
        *_sensitive_facts(found),
        ("discernibility", f"{found.discernibility:,}"),
        ("average class / k", f"{found.average_class_ratio:,.3f}"),
        ("usefulness", f"{found.usefulness:,.3f} (smaller is better)"),
        *_loss_facts(found),
    ]
    return facts(lines)


def _loss_facts(found: Measures) -> list[tuple[str, str]]:
    if found.certainty_penalty is None or found.generalization_height is None:
        return []
    lines = [
        ("certainty penalty", f"{found.certainty_penalty:.2%} (when published; 0 % keeps every value)"),
        ("generalization height", f"{found.generalization_height:.2%}"),
    ]
    if found.entropy_loss is not None and found.marginal_divergence is not None:
        lines.append(("entropy loss", f"{found.entropy_loss:.2%}"))
        lines.append(("divergence of columns", f"{found.marginal_divergence:,.4f} bits"))
    return lines


def _sensitive_facts(found: Measures) -> list[tuple[str, str]]:
    if found.distinct_l is None:
        return [("sensitive columns", "none: l, p, t, delta and beta are not defined")]
    ordered = "" if found.t_ordered is None else f", ordered {found.t_ordered:.4f}"
    counted = f"entropy {found.entropy_l:,.3f}, frequency {found.frequency_l:,.3f}"
    return [
        ("l-diversity", f"distinct {found.distinct_l:,}, {counted}"),
        ("p-sensitivity", f"{found.p:,}"),
        ("t-closeness", f"equal {found.t_equal:.4f}{ordered}"),
        ("delta-disclosure", f"{found.delta_disclosure:,.4f}"),
        ("beta-likeness", f"{found.beta_likeness:,.4f}"),
    ]
