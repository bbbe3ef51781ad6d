"""The command ``curve``: what each of several k would cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kanon_pg import client
from kanon_pg.cli.arguments import (
    Method,
    Patterns,
    Relation,
    Seed,
    column_list,
    fields_in,
    read_patterns,
    split_items,
)
from kanon_pg.cli.connection import Dsn, answer_of
from kanon_pg.cli.output import (
    Json,
    check_plot,
    errors_as,
    listing,
    show,
    write_plot,
)
from kanon_pg.curves import CURVE, DEFAULT_KS, Curve, CurvePoint
from kanon_pg.errors import InputError
from kanon_pg.relations.arguments import DEFAULT_SECONDS

_HEADINGS = (
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
        list[str] | None, column_list("--quasi-identifier", "In place of the declared ones.")
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

    Publishes nothing and changes nothing. Needs no more than the right to read the table; works also where
    kanon is not installed. Without a declaration every column is a quasi-identifier, except single-column
    keys.
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
    return listing(_HEADINGS, rows, frozenset(_HEADINGS) - {"found by", "search"})


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
