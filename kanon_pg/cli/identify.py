"""The command ``identify``: which few columns tell rows apart as well as all columns do."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from kanon_pg import client
from kanon_pg.audit.findings import IdentifyingSet
from kanon_pg.cli.arguments import AnyRelation, column_list
from kanon_pg.cli.connection import Dsn, connected
from kanon_pg.cli.output import Json, errors_as, listing, progress_bar, show, with_notes

_HEADINGS = ("columns", "size", "kind", "at least", "distinct rows", "distinction", "found by", "search")


def identify(
    relation: AnyRelation,
    column: Annotated[
        list[str] | None, column_list("--column", "What to choose from, in place of all but identifiers.")
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="The best set found by then is shown with what is proven."),
    ] = 30.0,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Find few columns that tell rows apart as well as all columns do.

    Two sets: the smallest one, with a proof of how few columns are possible, and the one that is left when
    columns are left out one by one. Needs no more than the right to read; works also where kanon is not
    installed; changes nothing and shows names and counts only.
    """
    with errors_as(as_json):
        with connected(dsn) as connection, progress_bar(not as_json) as advance:
            found = client.identify(
                connection, relation, column, time_limit=time_limit, on_progress=with_notes(advance)
            )
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
    return listing(_HEADINGS, rows, frozenset(_HEADINGS) - {"columns", "kind", "found by", "search"})
