"""Writes releases to CSV and Parquet files, streaming: memory does not grow with the rows."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe
from kanon_pg.db.copy import CopyOut
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError, UnknownName
from kanon_pg.release.record import name_in_sql
from kanon_pg.tables.parquet_file import csv_expression, parquet_columns, write_parquet

FORMATS = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported.

    Parameters
    ----------
    release : str
        Name of the release.
    path : str
        The file.
    format : str
        One of `FORMATS`.
    rows : int
        Rows written.
    bytes : int
        Size of the file.
    seconds : float
        Time taken.
    """

    release: str
    path: str
    format: str
    rows: int
    bytes: int
    seconds: float


def export_release(connection: Connection, release: str, path: Path) -> ExportReport:
    """Write a release to a file; the file appears complete or not at all.

    Parameters
    ----------
    connection : psycopg.Connection
        Open; a transaction is begun, or a savepoint if one is open.
    release : str
        Its name, exactly as in ``kanon.releases``; else ``name`` or ``safe.name`` as SQL writes it.
    path : Path
        The file; its name ends in one of `FORMATS`, which decides the format. It is replaced if it
        exists.

    Raises
    ------
    InputError
        If the format is unknown, the file cannot be written, or a value does not fit the format.
    UnknownName
        If there is no such release.
    """
    begun = time.monotonic()
    kind = file_format(path)
    with connection.transaction():
        db = PsycopgDatabase(connection)
        db.row(statement("export_spelling"))
        view = _find(db, release)
        with _complete_or_absent(path) as file:
            if kind == ".parquet":
                columns = parquet_columns(db, view)
                rows = write_parquet(file, columns, _csv(connection, view, csv_expression))
            else:
                rows = _write_csv(connection, view, file, packed=kind == ".csv.gz")
    return ExportReport(view.name, str(path), kind, rows, path.stat().st_size, time.monotonic() - begun)


def file_format(path: Path) -> str:
    """Return the format that a file's name stands for.

    Raises
    ------
    InputError
        If it stands for none.
    """
    name = path.name.lower()
    for kind in FORMATS:
        if name.endswith(kind) and name != kind:
            return kind
    raise InputError(
        "The file's name does not end in a format that can be written.",
        hint=f"End it in {', '.join(FORMATS)}.",
    )


def _find(db: PsycopgDatabase, release: str) -> RelationFacts:
    for name in (release, release.removeprefix("safe."), name_in_sql(db, release)):
        found = [] if name is None else db.rows(statement("export_find_view"), name)
        if found:
            return describe(db, str(found[0]["oid"]))
    raise UnknownName(
        f"There is no release {Identifier((release,))}.",
        hint="Only releases are exported; `kanon releases` lists them.",
    )


def _csv(
    connection: Connection, view: RelationFacts, expression: Callable[[ColumnFacts], Fragment]
) -> CopyOut:
    columns = [{"value": expression(column), "name": column.identifier} for column in view.columns]
    return CopyOut(connection, statement("copy_csv_out", relation=view.identifier, columns=columns))


def _write_csv(connection: Connection, view: RelationFacts, file: BinaryIO, *, packed: bool) -> int:
    content = _csv(connection, view, lambda column: Fragment(str(column.identifier)))
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) if packed else nullcontext(file) as target:
        for block in content:
            target.write(block)
    return content.rows


@contextmanager
def _complete_or_absent(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside `path` that takes its place if the block succeeds."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with part.open("xb") as file:
                yield file
            part.replace(path)
        except OSError as error:
            raise InputError(f"The file {path} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)
