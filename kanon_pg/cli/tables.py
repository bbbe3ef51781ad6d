"""Commands that bring tables in and releases out: ``load``, ``export``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table

from kanon_pg.cli.arguments import column_option, split_items
from kanon_pg.cli.connection import Dsn, connected
from kanon_pg.cli.output import Json, errors_as, facts, note, progress_bar, show
from kanon_pg.errors import InputError
from kanon_pg.tables.column_types import Spelling
from kanon_pg.tables.csv_file import CsvFile
from kanon_pg.tables.export import ExportReport, export_all, export_release, file_format
from kanon_pg.tables.load import LoadReport, load_csv

_TAB = ("\\t", "tab")


class FileFormat(Enum):
    """Formats of exported files."""

    CSV = "csv"
    CSV_GZ = "csv.gz"
    PARQUET = "parquet"


class Decimal(Enum):
    """What decimals are written with."""

    POINT = "."
    COMMA = ","


class DateOrder(Enum):
    """Orders of day, month and year."""

    DMY = "DMY"
    MDY = "MDY"
    YMD = "YMD"


class IfExists(Enum):
    """What to do with an existing table."""

    FAIL = "fail"
    REPLACE = "replace"
    APPEND = "append"


def load(
    file: Annotated[Path, typer.Argument(help="CSV file with a header; gzip is recognized.")],
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
    encoding: Annotated[
        str | None,
        typer.Option(help="Of the file: utf-8, latin-1, utf-16 ...", show_default="guessed from all bytes"),
    ] = None,
    nulls: Annotated[
        list[str] | None,
        typer.Option(
            "--null",
            metavar="TEXT,...",
            help="What stands for NULL besides empty fields; '' for nothing.",
            show_default="NA, ? and the like among numbers and dates",
        ),
    ] = None,
    decimal: Annotated[
        Decimal | None, typer.Option(help="What decimals are written with.", show_default="guessed")
    ] = None,
    date_format: Annotated[
        DateOrder | None,
        typer.Option(help="Order of day, month and year, if not ISO's.", show_default="guessed"),
    ] = None,
    if_exists: Annotated[IfExists, typer.Option(help="What to do with an existing table.")] = IfExists.FAIL,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Load a CSV file into a table.

    Types are chosen from all values of a column: integer, bigint, numeric, double precision, boolean, date,
    timestamp, else text. Decimals such as 12.50 are numeric; those with exponents or more than nine digits
    after the point are double precision. Codes with leading zeros stay text. An empty field is NULL. The
    encoding, decimal commas, dates such as 31.12.1980 and marks for NULL are guessed from all values, and a
    note says so; what could be read in two ways stays text. On an error nothing is changed.
    """
    spelling = Spelling(
        nulls=None if nulls is None else tuple(filter(None, split_items(nulls))),
        decimal=None if decimal is None else decimal.value,
        dates=None if date_format is None else date_format.value,
    )
    with errors_as(as_json):
        source = CsvFile(file, "\t" if delimiter in _TAB else delimiter, encoding=encoding, spelling=spelling)
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
        if not as_json:
            for guess in report.guesses:
                note(guess)
        show(report, as_json, _loaded)


def export(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="A release, and the file to write: .csv, .csv.gz or .parquet. With --all: releases; "
            "all that you may read if none is named.",
            metavar="RELEASE FILE",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--all", metavar="FOLDER", help="Write releases into a folder that is not there."),
    ] = None,
    kind: Annotated[
        FileFormat, typer.Option("--format", help="Format of the files in the folder.")
    ] = FileFormat.CSV,
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Add columns of the lower and upper bounds of ranges.")
    ] = False,
    certificates: Annotated[
        list[Path] | None,
        typer.Option("--certificate", metavar="FILE", help="Note the digest of a release's certificate."),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Write releases to CSV or Parquet files.

    Parquet keeps the columns' types. With the rows goes what the release says of itself: k, when it was
    published, what each column is. That is metadata of a Parquet file, a file beside a CSV file, whose name
    has .json added, and manifest.json in a folder. A file is replaced if it exists; files and folders appear
    complete or not at all.
    """
    with errors_as(as_json):
        given, proofs = what or [], certificates or []
        if folder is None:
            if len(given) != 2:
                raise InputError(
                    "A release and a file are needed, or --all and a folder.",
                    hint="kanon export patients patients.csv; kanon export --all releases",
                )
            file_format(Path(given[1]))
        with connected(dsn) as connection, progress_bar(not as_json) as advance:
            advance("exporting", None)
            if folder is None:
                name, file = given
                one = export_release(connection, name, Path(file), bounds=bounds, certificates=proofs)
            else:
                several = export_all(
                    connection, folder, given, kind=f".{kind.value}", bounds=bounds, certificates=proofs
                )
        if folder is None:
            show(one, as_json, _exported)
        else:
            show(several, as_json, lambda report: Group(*map(_exported, report.releases)))


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
