"""The commands ``group``: generalize one column, with proven bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table

from kanon_pg import client
from kanon_pg.cli.arguments import Relation, column_list, fields_in
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
from kanon_pg.grouping.found import Grouped
from kanon_pg.grouping.request import DEFAULT_EPSILON, GROUPS, INTERVALS, RECTANGLES, REGIONS
from kanon_pg.relations.arguments import DEFAULT_SECONDS

K = Annotated[int, typer.Option("-k", "--k", help="Least size of a class, at least 2.")]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Add up this column; people or rows are counted otherwise."),
]
Cost = Annotated[
    str, typer.Option(metavar="max|sum", help="Size of the largest class, or what all have beyond k.")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the classes: .png, .svg or .pdf.")]
TimeLimit = Annotated[float, typer.Option(metavar="SECONDS", help="For the search for better solutions.")]

_HEADINGS = ("class", "size", "values", "label")
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
        column_list("--neighbours", "Its two columns; its first two otherwise.", metavar="COLUMN,COLUMN"),
    ] = None,
    method: Annotated[str, typer.Option(metavar="moves|tree|exact", help="How.")] = "moves",
    on_light: Annotated[
        str, typer.Option(metavar="other|refuse", help="Parts of the map that have less than k.")
    ] = "other",
    weight: Weight = None,
    cost: Cost = "max",
    plot: Plot = None,
    at: Annotated[
        list[str] | None, column_list("--at", "Columns with the place on the map to draw.", metavar="X,Y")
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
    return listing(_HEADINGS, rows, frozenset({"class", "size", "values"}))
