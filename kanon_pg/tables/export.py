"""Writes releases to CSV and Parquet files, streaming: memory does not grow with the rows."""

from __future__ import annotations

import gzip
import io
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as arrow_csv
from pyarrow import parquet

from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase, mapped_errors
from kanon_pg.db.statements import Statement, render, statement
from kanon_pg.errors import InputError, UnknownName, as_given
from kanon_pg.release.plan.record import name_in_sql
from kanon_pg.tables.complete_file import complete_or_absent

FORMATS = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Size and place of an exported release."""

    release: str
    path: str
    format: str
    rows: int
    bytes: int
    seconds: float


def export_release(connection: Connection, release: str, path: Path) -> ExportReport:
    """Write a release, by its name or that in SQL, to a file that appears complete or not at all."""
    begun = time.monotonic()
    kind = file_format(path)
    with connection.transaction():
        db = PsycopgDatabase(connection)
        db.row(statement("export_spelling"))
        view = _find(db, release)
        with complete_or_absent(path, f"The file {path}") as file:
            if kind == ".parquet":
                rows = _write_parquet(file, _schema(db, view), _csv(connection, view, _csv_expression))
            else:
                rows = _write_csv(connection, view, file, packed=kind == ".csv.gz")
    return ExportReport(view.name, str(path), kind, rows, path.stat().st_size, time.monotonic() - begun)


def file_format(path: Path) -> str:
    """Return the format that a file's name stands for."""
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
        views = [] if name is None else db.rows(statement("export_find_view"), name)
        if views:
            return describe(db, str(views[0]["oid"]))
    raise UnknownName(
        f"There is no release {as_given(release)}.",
        hint="Only releases are exported; `kanon releases` lists them.",
    )


_COPY_BYTES = 1024 * 1024


class CopyOut:
    """Output of ``COPY ... TO STDOUT``, as an iterable of blocks of about a megabyte.

    `rows` says after the last block how many rows the server sent.
    """

    def __init__(self, connection: Connection, command: Statement) -> None:
        self._connection = connection
        self._command = command
        self.rows = 0

    def __iter__(self) -> Iterator[bytes]:
        """Run the command."""
        block = bytearray()
        with mapped_errors(), self._connection.cursor() as cursor:
            with cursor.copy(self._command.text.encode()) as copy:
                for chunk in copy:  # one row each
                    block += chunk
                    if len(block) >= _COPY_BYTES:
                        yield bytes(block)
                        block.clear()
            self.rows = cursor.rowcount
        if block:
            yield bytes(block)


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


NAMES = pa.list_(pa.string())
"""The type of a column of name arrays, read from JSON of which few texts are distinct."""

_READ_BYTES = 8 * 1024 * 1024
_COLUMN_NUMBER = re.compile(r"CSV column #(\d+)")


def _write_parquet(file: BinaryIO, schema: pa.Schema, chunks: Iterable[bytes]) -> int:
    """Write a Parquet file from CSV with a header, cut anywhere; return the rows written.

    An unquoted empty field is NULL. A value that does not fit is refused by the name of its column.
    """
    rows = 0
    try:
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for batch in _batches(schema, chunks):
                writer.write_batch(batch)
                rows += batch.num_rows
    except pa.ArrowInvalid as error:
        # Arrow's own message quotes the value.
        number = _COLUMN_NUMBER.search(str(error))
        place = f'column "{schema.names[int(number[1])]}"' if number else "a column"
        raise InputError(
            f"A value of {place} has no place in a Parquet file (infinity, NaN or a date before the year 1).",
            hint="Export to CSV, which holds every value.",
        ) from None
    return rows


def _batches(schema: pa.Schema, chunks: Iterable[bytes]) -> Iterator[pa.RecordBatch]:
    reader = arrow_csv.open_csv(
        io.BufferedReader(_Chunks(chunks), _READ_BYTES),
        read_options=arrow_csv.ReadOptions(block_size=_READ_BYTES),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types={field.name: pa.string() if field.type == NAMES else field.type for field in schema},
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    for batch in reader:
        arrays = [
            _name_lists(array) if field.type == NAMES else array
            for field, array in zip(schema, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _name_lists(texts: pa.Array) -> pa.Array:
    encoded = texts.dictionary_encode()
    lists = pa.array([json.loads(text) for text in encoded.dictionary.to_pylist()], NAMES)
    return lists.take(encoded.indices)


class _Chunks(io.RawIOBase):
    """Chunks of bytes as a file to read from."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


_ARROW: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "_name": NAMES,
}
_FIXED_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")
_MOST_DIGITS = 38
"""Of the widest decimal that Arrow reads from CSV."""


def _schema(db: Database, relation: RelationFacts) -> pa.Schema:
    """Choose the Parquet type of every column of a relation.

    What Arrow has no match for becomes a string, spelled as PostgreSQL spells it. The digits of a
    ``numeric`` without declared digits are counted in its values.
    """
    return pa.schema([(c.name, _arrow_type(db, relation, c)) for c in relation.columns])


def _csv_expression(column: ColumnFacts) -> Fragment:
    """Return the select expression whose CSV spelling Arrow reads."""
    if column.base_type == "_name":
        return render("export_names", column=column.identifier)
    return Fragment(str(column.identifier))


def _arrow_type(db: Database, relation: RelationFacts, column: ColumnFacts) -> pa.DataType:
    if column.base_type != "numeric":
        return _ARROW.get(column.base_type, pa.string())
    fixed = _FIXED_NUMERIC.fullmatch(column.type)
    if fixed is not None:
        precision, scale = int(fixed[1]), int(fixed[2])
    else:
        digits = db.row(
            statement("export_numeric_digits", column=column.identifier, relation=relation.identifier)
        )
        precision, scale = digits["whole"] + digits["fraction"], digits["fraction"]
    return pa.decimal128(precision, scale) if precision <= _MOST_DIGITS else pa.string()
