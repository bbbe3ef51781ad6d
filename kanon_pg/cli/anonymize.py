"""The command ``anonymize``: publish a release."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from kanon_pg.cli.arguments import (
    Client,
    Method,
    Patterns,
    Relation,
    Seed,
    column_list,
    fields_in,
    read_patterns,
)
from kanon_pg.cli.connection import Dsn
from kanon_pg.cli.interfaces import opened_interface
from kanon_pg.cli.output import Json, errors_as, progress_bar, show
from kanon_pg.cli.release_tables import report_facts
from kanon_pg.core.request import DISTANCES, DIVERSITIES
from kanon_pg.errors import InputError
from kanon_pg.release.request import ANONYMIZE, DEFAULT_SECONDS

People = Annotated[int, typer.Argument(help="Fewest people per class, at least 2.", metavar="K")]
QuasiIdentifiers = Annotated[
    list[str] | None, column_list("--quasi-identifier", "In place of the declared ones.")
]
Sensitive = Annotated[list[str] | None, column_list("--sensitive", "In place of the declared ones.")]
L = Annotated[int | None, typer.Option("--l", metavar="NUMBER", help="l-diversity of the sensitive columns.")]
Diversity = Annotated[
    str | None, typer.Option(help=f"What l means: {', '.join(DIVERSITIES)}.", show_default="frequency")
]
P = Annotated[
    int | None, typer.Option("--p", metavar="NUMBER", help="Fewest different sensitive values in a class.")
]
T = Annotated[
    float | None, typer.Option("--t", metavar="NUMBER", help="t-closeness of the sensitive columns, 0 to 1.")
]
Distance = Annotated[
    str | None, typer.Option(help=f"Distance of t: {' or '.join(DISTANCES)}.", show_default="equal")
]
FewestClasses = Annotated[int | None, typer.Option(help="Make at least so many classes.")]
MostClasses = Annotated[int | None, typer.Option(help="Make at most so many classes.")]
SuppressedRows = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Suppress at most so many rows, 0 to 1; for method full_domain."),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=NAME",
        help="Generalize a column by a stored hierarchy (or a JSON object). May be given several times.",
    ),
]
TimeLimit = Annotated[float, typer.Option(metavar="SECONDS", help="For the search for better solutions.")]
ReleaseName = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the release, if not that of the table.")
]


def anonymize(
    relation: Relation,
    k: People,
    quasi_identifiers: QuasiIdentifiers = None,
    sensitive: Sensitive = None,
    method: Method = "auto",
    l: L = None,  # noqa: E741 - the parameter's standard name
    diversity: Diversity = None,
    p: P = None,
    t: T = None,
    distance: Distance = None,
    fewest_classes: FewestClasses = None,
    most_classes: MostClasses = None,
    suppressed_rows: SuppressedRows = None,
    patterns: Patterns = None,
    hierarchies: Hierarchies = None,
    time_limit: TimeLimit = DEFAULT_SECONDS,
    release: ReleaseName = None,
    seed: Seed = None,
    client: Client = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Publish a k-anonymous release of a table.

    It is a view in schema safe. Prints what is proven about it. Interrupting it (Ctrl-C) leaves
    everything as it was.
    """
    arguments = fields_in(ANONYMIZE, locals())
    with errors_as(as_json):
        arguments["patterns"] = None if patterns is None else read_patterns(patterns)
        arguments["hierarchies"] = _hierarchies(hierarchies or [])
        with opened_interface(dsn, client) as interface, progress_bar(not as_json) as advance:
            report = interface.anonymize(arguments, advance)
        show(report, as_json, report_facts)


def _hierarchies(given: list[str]) -> dict[str, Any] | None:
    hierarchies: dict[str, Any] = {}
    for text in given:
        column, separator, wish = text.partition("=")
        if not separator or not wish:
            raise InputError(
                "A hierarchy is not written COLUMN=NAME or COLUMN=JSON.",
                hint="For example: --hierarchy age=ages",
            )
        try:
            hierarchies[column] = json.loads(wish) if wish.lstrip().startswith("{") else wish
        except ValueError:
            raise InputError(
                "The JSON object of a hierarchy is not valid.",
                hint='For example: --hierarchy \'age={"hierarchy": "ages", "lowest": 1}\'',
            ) from None
    return hierarchies or None
