"""Writes releases to CSV and Parquet files, streaming: memory does not grow with the rows."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import pyarrow as pa
import pyarrow.csv as arrow_csv
from pyarrow import parquet

from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.identifiers import Fragment, derived_name
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import InputError, as_given
from kanon_pg.tables.complete_file import complete_or_absent, complete_or_absent_folder
from kanon_pg.tables.copy_out import CopyOut
from kanon_pg.tables.published import PublishedTable, published

FORMATS = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Size and place of an exported release, and what its file or the file beside it says of it."""

    release: str
    path: str
    format: str
    rows: int
    bytes: int
    seconds: float
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FolderReport:
    """Releases that were exported together."""

    path: str
    releases: tuple[ExportReport, ...]
    seconds: float


MANIFEST = "manifest.json"
"""The file of a folder that says what is in the others."""


def export_release(
    connection: Connection,
    release: str,
    path: Path,
    *,
    bounds: bool = False,
    certificates: Sequence[Path] = (),
) -> ExportReport:
    """Write a release, by its name or that in SQL, to a file that appears complete or not at all.

    What it says of itself is in the metadata of a Parquet file, key ``kanon_pg``, and else in a file beside,
    whose name has ``.json`` added; beside a pipe there is none.

    Parameters
    ----------
    bounds : bool
        Whether each column of ranges is followed by one of lower and one of upper bounds.
    certificates : sequence of Path
        Files that ``kanon certificate`` wrote: the export has their digests.
    """
    kind = file_format(path)
    digests = _digests(certificates)
    with published(connection, [release]) as (db, tables):
        _check(digests, tables)
        report = _export(connection, db, tables[0], path, kind, bounds, digests)
    if kind != ".parquet" and path.is_file():
        _write_json(path.with_name(f"{path.name}.json"), _described(report))
    return report


def export_all(
    connection: Connection,
    folder: Path,
    releases: Sequence[str] = (),
    *,
    kind: str = ".csv",
    bounds: bool = False,
    certificates: Sequence[Path] = (),
) -> FolderReport:
    """Write releases, all that the login may read if none is named, to a folder that appears complete.

    Parameters
    ----------
    folder : Path
        It is made; an empty one may be there.
    kind : str
        One of `FORMATS`.
    """
    begun = time.monotonic()
    digests = _digests(certificates)
    with complete_or_absent_folder(folder) as part, published(connection, releases) as (db, tables):
        _check(digests, tables)
        reports = [
            _export(
                connection, db, table, part / f"{quote(table.name, safe='')}{kind}", kind, bounds, digests
            )
            for table in tables
        ]
        _write_json(part / MANIFEST, {"releases": [_described(report) for report in reports]})
    moved = tuple(replace(report, path=str(folder / Path(report.path).name)) for report in reports)
    return FolderReport(str(folder), moved, time.monotonic() - begun)


def _export(
    connection: Connection,
    db: PsycopgDatabase,
    table: PublishedTable,
    path: Path,
    kind: str,
    bounds: bool,
    digests: Mapping[str, tuple[int, str]],
) -> ExportReport:
    begun = time.monotonic()
    columns = _columns(table, bounds)
    about = {
        "release": table.name,
        "k": table.facts.get("k"),
        "subsets": table.facts.get("subsets"),
        "published_at": table.facts.get("published_at"),
        "refreshed_at": table.facts.get("refreshed_at"),
        "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "counts_people": table.facts.get("counts_people"),
        "certificate_sha256": digests[table.name][1] if table.name in digests else None,
        "columns": [{"name": c.facts.name, "type": c.facts.type, "role": c.role} for c in columns],
    }
    with complete_or_absent(path, f"The file {path}") as file:
        if kind == ".parquet":
            schema = _schema(db, table.view, columns).with_metadata({"kanon_pg": json.dumps(about)})
            rows = _write_parquet(file, schema, _csv(connection, table.view, columns, _csv_expression))
        else:
            content = _csv(connection, table.view, columns, lambda column: column.value)
            rows = _write_csv(content, file, packed=kind == ".csv.gz")
    size = path.stat().st_size
    return ExportReport(table.name, str(path), kind, rows, size, time.monotonic() - begun, about)


def _described(report: ExportReport) -> dict[str, Any]:
    path = Path(report.path)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "file": path.name, "rows": report.rows, "bytes": report.bytes, "sha256": digest, **report.about
    }  # fmt: skip


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    with complete_or_absent(path, f"The file {path}") as file:
        file.write(f"{json.dumps(content, ensure_ascii=False, indent=2)}\n".encode())


def _digests(certificates: Sequence[Path]) -> dict[str, tuple[int, str]]:
    """Return for the release of each certificate its k and the digest of the file."""
    found = {}
    for path in certificates:
        try:
            text = path.read_bytes()
            content = json.loads(text)
            found[content["release"]] = content["k"], hashlib.sha256(text).hexdigest()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"The file {path} cannot be read as a certificate.",
                hint="`kanon certificate` writes one.",
            ) from error
    return found


def _check(digests: Mapping[str, tuple[int, str]], tables: Sequence[PublishedTable]) -> None:
    """Refuse a certificate of another release, or of another publication of one."""
    facts = {table.name: table.facts for table in tables}
    for release, (k, _) in digests.items():
        if release not in facts:
            raise InputError(f"The certificate of {as_given(release)} is of none of the releases to export.")
        if k != facts[release].get("k", k):
            raise InputError(
                f"The certificate of release {as_given(release)} is of another publication, with k = {k}.",
                hint="Write it anew: kanon certificate.",
            )


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


@dataclass(frozen=True, slots=True)
class _WrittenColumn:
    """A column of a file: its type, its role, and what it has of the release."""

    facts: ColumnFacts
    role: str | None
    value: Fragment


_BOUNDS = {
    "int4range": ("integer", "int4"),
    "int8range": ("bigint", "int8"),
    "numrange": ("numeric", "numeric"),
    "daterange": ("date", "date"),
    "tsrange": ("timestamp without time zone", "timestamp"),
    "tstzrange": ("timestamp with time zone", "timestamptz"),
}
"""Range types, and of their bounds the type as SQL writes it and its bare name."""


def _columns(table: PublishedTable, bounds: bool) -> list[_WrittenColumn]:
    columns = []
    for facts in table.view.columns:
        columns.append(_WrittenColumn(facts, table.role(facts.name), Fragment(str(facts.identifier))))
        if bounds and facts.base_type in _BOUNDS:
            columns += [_bound(facts, end) for end in ("lower", "upper")]
    repeated = [name for name, times in Counter(c.facts.name for c in columns).items() if times > 1]
    if repeated:
        raise InputError(
            f"Column {as_given(repeated[0])} would stand in the file twice, once as the bounds of ranges.",
            hint="Export without bounds, or publish the column under another name.",
        )
    return columns


def _bound(column: ColumnFacts, end: str) -> _WrittenColumn:
    kind, base = _BOUNDS[column.base_type]
    facts = replace(
        column, name=derived_name(column.name, end), type=kind, plain_type=kind, base_type=base, base_kind="b"
    )
    value = render("export_bound", end=Fragment(end), column=column.identifier)
    return _WrittenColumn(facts, f"{end} bounds of {column.name}", value)


def _csv(
    connection: Connection,
    view: RelationFacts,
    columns: Sequence[_WrittenColumn],
    expression: Callable[[_WrittenColumn], Fragment],
) -> CopyOut:
    parts = [{"value": expression(column), "name": column.facts.identifier} for column in columns]
    return CopyOut(connection, statement("copy_csv_out", relation=view.identifier, columns=parts))


def _write_csv(content: CopyOut, file: BinaryIO, *, packed: bool) -> int:
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


def _schema(db: Database, relation: RelationFacts, columns: Sequence[_WrittenColumn]) -> pa.Schema:
    """Choose the Parquet type of every column of a relation.

    What Arrow has no match for becomes a string, spelled as PostgreSQL spells it. The digits of a
    ``numeric`` without declared digits are counted in its values.
    """
    return pa.schema([(c.facts.name, _arrow_type(db, relation, c)) for c in columns])


def _csv_expression(column: _WrittenColumn) -> Fragment:
    """Return the select expression whose CSV spelling Arrow reads."""
    return render("export_names", column=column.value) if column.facts.base_type == "_name" else column.value


def _arrow_type(db: Database, relation: RelationFacts, column: _WrittenColumn) -> pa.DataType:
    if column.facts.base_type != "numeric":
        return _ARROW.get(column.facts.base_type, pa.string())
    fixed = _FIXED_NUMERIC.fullmatch(column.facts.type)
    if fixed is not None:
        precision, scale = int(fixed[1]), int(fixed[2])
    else:
        digits = db.row(statement("export_numeric_digits", column=column.value, relation=relation.identifier))
        precision, scale = digits["whole"] + digits["fraction"], digits["fraction"]
    return pa.decimal128(precision, scale) if precision <= _MOST_DIGITS else pa.string()
