"""The command ``dump``, which needs no library for files of tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kanon_pg.cli.connection import Dsn, connected
from kanon_pg.cli.output import Json, errors_as, facts, note, show
from kanon_pg.tables.complete_file import complete_or_absent
from kanon_pg.tables.dump import DumpReport
from kanon_pg.tables.dump import dump as dump_releases


def dump(
    releases: Annotated[
        list[str] | None,
        typer.Argument(
            help="Releases; all that you may read if none is named.", metavar="RELEASE", show_default=False
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="File to write.", show_default="standard output")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Write releases as a script that makes ordinary tables of them in another database.

    psql runs it, in any PostgreSQL, without kanon. It makes tables in schema safe in one transaction, in
    place of those that an earlier script made there. It holds what the releases show and say of themselves,
    and nothing else. Linked tables are written together, whichever of them is named.
    """
    named = releases or ()
    with errors_as(as_json), connected(dsn) as connection:
        if file is None:
            report = dump_releases(connection, sys.stdout.buffer, named)
        else:
            with complete_or_absent(file, f"The file {file}") as script:
                report = dump_releases(connection, script, named)
            show(report, as_json, _dumped)
        if named and len(report.releases) > len(named):
            note(f"linked tables are written together: {', '.join(report.releases)}")


def _dumped(report: DumpReport) -> Table:
    return facts([("releases", ", ".join(report.releases)), ("rows", f"{report.rows:,}")])
