"""Commands that bring tables in and releases out: ``load``, ``export``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kanon_pg.cli.arguments import column_option
from kanon_pg.cli.connection import Dsn, connected
from kanon_pg.cli.output import Json, errors_as, facts, progress_bar, show
from kanon_pg.tables.csv_file import CsvFile
from kanon_pg.tables.export import ExportReport, export_release, file_format
from kanon_pg.tables.load import LoadReport, load_csv

_TAB = ("\\t", "tab")


class IfExists(Enum):
    """What to do with an existing table."""

    FAIL = "fail"
    REPLACE = "replace"
    APPEND = "append"


def load(
    file: Annotated[Path, typer.Argument(help="CSV file with a header, in UTF-8; gzip is recognized.")],
    table: Annotated[str, typer.Argument(help="The table to make, as in SQL: name or schema.name.")],
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="What separates fields; 'tab' for a tabulator.",
            show_default="what separates the header's names",
        ),
    ] = None,
    text: Annotated[list[str] | None, column_option("--text", "Keep these columns as text.")] = None,
    all_text: Annotated[bool, typer.Option("--all-text", help="Keep every column as text.")] = False,
    if_exists: Annotated[IfExists, typer.Option(help="What to do with an existing table.")] = IfExists.FAIL,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Load a CSV file into a table.

    Types are chosen from all values of a column: integer, bigint, numeric, double precision, boolean, date,
    timestamp, else text. Decimals such as 12.50 are numeric; those with exponents or more than nine digits
    after the point are double precision. Codes with leading zeros stay text. An empty field is NULL; '?'
    and 'NA' are values. On an error nothing is changed.
    """
    with errors_as(as_json):
        source = CsvFile(file, "\t" if delimiter in _TAB else delimiter)
        with connected(dsn) as connection, progress_bar(not as_json) as advance:
            report = load_csv(
                connection,
                source,
                table,
                if_exists=if_exists.value,
                text_columns=frozenset(text or ()),
                all_text=all_text,
                progress=lambda phase, done, total: advance(phase, done / total if total else None),
            )
        show(report, as_json, _loaded)


def export(
    release: Annotated[str, typer.Argument(help="Name of the release.")],
    file: Annotated[Path, typer.Argument(help="File to write: .csv, .csv.gz or .parquet.")],
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Write a release to a CSV or Parquet file.

    Parquet keeps the columns' types. The file is replaced if it exists; it appears complete or not at
    all.
    """
    with errors_as(as_json):
        file_format(file)
        with connected(dsn) as connection, progress_bar(not as_json) as advance:
            advance("exporting", None)
            report = export_release(connection, release, file)
        show(report, as_json, _exported)


def _loaded(report: LoadReport) -> Table:
    types = ", ".join(f"{column.name} {column.sql_type}" for column in report.columns)
    return facts(
        [
            ("table", report.table),
            ("rows", f"{report.rows:,}"),
            ("columns", types),
            ("time", f"{report.seconds:.1f} s"),
        ]
    )


def _exported(report: ExportReport) -> Table:
    return facts(
        [
            ("release", report.release),
            ("file", report.path),
            ("rows", f"{report.rows:,}"),
            ("size", f"{report.bytes:,} bytes"),
            ("time", f"{report.seconds:.1f} s"),
        ]
    )
