"""The commands ``health``, ``history`` and ``metrics``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kanon_pg.cli.connection import Dsn, connected, installed
from kanon_pg.cli.output import Json, errors_as, listing, note, show
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.monitoring import states
from kanon_pg.monitoring.states import HealthState, HistoryEntry
from kanon_pg.tables.complete_file import complete_or_absent


def health(dsn: Dsn = None, as_json: Json = False) -> None:
    """Say how each release and each protected table is, and what needs doing.

    Everything is counted now.
    """
    with errors_as(as_json):
        show(_read(dsn), as_json, _health_table)


def _read(dsn: str | None) -> list[HealthState]:
    with connected(dsn) as connection, installed(connection):
        return states.health(PsycopgDatabase(connection))


def history(
    most: Annotated[int, typer.Option(metavar="NUMBER", help="Show so many entries, the last ones.")] = 50,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show who published, refreshed, dropped, erased, declared and protected what, and when.

    A REFRESH MATERIALIZED VIEW by hand is not in it.
    """
    with errors_as(as_json):
        with connected(dsn) as connection, installed(connection):
            found = states.history(PsycopgDatabase(connection), most)
        show(found, as_json, _history_table)


def metrics(
    file: Annotated[
        Path | None, typer.Argument(help="File to write.", show_default="standard output")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Print how releases and protected tables are, in OpenMetrics text for a scraper.

    A file appears complete or not at all.
    """
    with errors_as(as_json):
        from kanon_pg.monitoring.open_metrics import open_metrics

        text = open_metrics(_read(dsn))
        if file is None:
            typer.echo(text, nl=False)
            return
        with complete_or_absent(file, "The file of metrics") as made:
            made.write(text.encode())
        note(f"the metrics are in {file}")


def _health_table(found: Sequence[HealthState]) -> Table | str:
    if not found:
        return "There are no releases and no protected tables yet."
    headings = ("what", "k", "state", "age", "changes", "rows", "missing", "what needs doing")
    rows = [
        (
            one.object,
            str(one.k),
            (one.guard if one.kind == "release" else one.ledger) or "unknown",
            str(timedelta(seconds=int(one.age))),
            _number(one.changes_since),
            _number(one.rows),
            _number(one.missing_rows),
            one.advice or "nothing",
        )
        for one in found
    ]
    return listing(headings, rows, frozenset({"k", "changes", "rows", "missing"}))


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _history_table(found: Sequence[HistoryEntry]) -> Table | str:
    if not found:
        return "Nothing was done yet."
    rows = [
        (
            f"{one.happened_at[:19]}Z",
            one.operation,
            one.object,
            one.role if one.role == one.login else f"{one.role} ({one.login})",
            ", ".join(
                f"{key} {value}" for key, value in one.details.items() if key in ("table", "k", "parent")
            ),
        )
        for one in found
    ]
    return listing(("when", "what", "of", "by", "details"), rows, frozenset())
