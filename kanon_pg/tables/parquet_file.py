"""Turns a stream of CSV, as COPY sends it, into a Parquet file whose columns keep the types of PostgreSQL."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as arrow_csv
from pyarrow import parquet

from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import render, statement
from kanon_pg.errors import InputError

NAMES = pa.list_(pa.string())
"""The type of a column of name arrays."""

_BLOCK_BYTES = 8 * 1024 * 1024
_COLUMN_NUMBER = re.compile(r"CSV column #(\d+)")


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """A column of the file to write.

    Parameters
    ----------
    name : str
        Its name.
    type : pyarrow.DataType
        Its type. `NAMES` is read from JSON arrays of strings of which few are distinct.
    """

    name: str
    type: pa.DataType


def write_parquet(file: BinaryIO, columns: Sequence[ParquetColumn], chunks: Iterable[bytes]) -> int:
    """Write a Parquet file from CSV with a header.

    Parameters
    ----------
    file : binary file
        Open for writing.
    columns : sequence of ParquetColumn
        The CSV's columns in order.
    chunks : iterable of bytes
        The CSV text in UTF-8, cut anywhere; an unquoted empty field is NULL.

    Returns
    -------
    int
        Rows written.

    Raises
    ------
    InputError
        If a value does not fit its column's type; it names the column.
    """
    schema = pa.schema([(column.name, column.type) for column in columns])
    rows = 0
    try:
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for batch in _batches(schema, chunks):
                writer.write_batch(batch)
                rows += batch.num_rows
    except pa.ArrowInvalid as error:
        # Arrow's own message quotes the value.
        number = _COLUMN_NUMBER.search(str(error))
        place = f'column "{columns[int(number[1])].name}"' if number else "a column"
        raise InputError(
            f"A value of {place} has no place in a Parquet file (infinity, NaN or a date before the year 1).",
            hint="Export to CSV, which holds every value.",
        ) from None
    return rows


def _batches(schema: pa.Schema, chunks: Iterable[bytes]) -> Iterator[pa.RecordBatch]:
    reader = arrow_csv.open_csv(
        io.BufferedReader(_Chunks(chunks), _BLOCK_BYTES),
        read_options=arrow_csv.ReadOptions(block_size=_BLOCK_BYTES),
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


def parquet_columns(db: Database, relation: RelationFacts) -> tuple[ParquetColumn, ...]:
    """Choose the Parquet type of every column of a relation.

    What Arrow has no match for becomes a string, spelled as PostgreSQL spells it. The digits of a
    ``numeric`` without declared digits are counted in its values.

    Parameters
    ----------
    db : Database
        An open database; the relation must not change until it is read.
    relation : RelationFacts
        The relation.
    """
    return tuple(ParquetColumn(c.name, _arrow_type(db, relation, c)) for c in relation.columns)


def csv_expression(column: ColumnFacts) -> Fragment:
    """Return the select expression whose CSV spelling `write_parquet` reads."""
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
