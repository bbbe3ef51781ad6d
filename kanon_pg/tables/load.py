"""Loads CSV files into tables, streaming, in one transaction."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
import pyarrow.csv as arrow_csv

from kanon_pg.db.catalog import RelationFacts, describe, parsed_name
from kanon_pg.db.failures import DEPENDENT_OBJECTS, UNDEFINED_SCHEMA
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase, mapped_errors
from kanon_pg.db.settings import setting
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InputError, UnknownName, as_given
from kanon_pg.tables.column_types import CsvColumn
from kanon_pg.tables.csv_file import CsvFile

IfExists = Literal["fail", "replace", "append"]
LoadProgress = Callable[[str, int, int], None]
"""Called with the phase, bytes of the file read in it, and bytes in all."""

_TEXT_TYPES = frozenset({"text", "varchar", "bpchar", "name", "public.citext"})


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Size and columns of a loaded table, and what was guessed of the file."""

    table: str
    rows: int
    columns: tuple[CsvColumn, ...]
    seconds: float
    guesses: tuple[str, ...] = ()


def load_csv(
    connection: Connection,
    file: CsvFile,
    table: str,
    *,
    if_exists: IfExists = "fail",
    text_columns: frozenset[str] = frozenset(),
    all_text: bool = False,
    progress: LoadProgress | None = None,
) -> LoadReport:
    """Load a CSV file into a table; on any error the database stays as it was.

    Parameters
    ----------
    table : str
        Name as SQL writes it, with or without schema; quote mixed case.
    if_exists : {'fail', 'replace', 'append'}
        What to do with an existing table. Appending keeps its types; the file's columns must all exist.
    """
    begun = time.monotonic()
    report = progress or (lambda *_: None)

    def layout(as_text: frozenset[str]) -> tuple[CsvColumn, ...]:
        return file.layout(as_text, all_text, lambda done, total: report("reading types", done, total))

    with connection.transaction():
        db = PsycopgDatabase(connection)
        name = _parse_name(db, table)
        existing = _existing(db, name)
        if existing is not None:
            name = existing.identifier
        if existing is not None and if_exists == "append":
            columns, nullable = _existing_columns(existing, file, layout)
        else:
            if existing is not None:
                _drop_existing(db, existing, if_exists)
            columns = layout(text_columns)
            nullable = [column.name for column in columns if column.sql_type != "text"]
            _create(db, name, columns)
        batches = (
            pa.RecordBatch.from_arrays(
                [column.read(batch.column(column.name)) for column in columns], names=list(file.names)
            )
            for batch in file.batches(lambda done, total: report("loading", done, total))
        )
        with setting(db, "DateStyle", "ISO, YMD"):  # whatever the session takes 01/02/03 for
            rows = append_batches(connection, name, file.names, batches, nullable)
        db.execute(statement("analyze", relation=name))
        table = str(describe(db, str(name)).identifier)
        return LoadReport(table, rows, columns, time.monotonic() - begun, file.guesses(columns))


def append_batches(
    connection: Connection,
    table: Identifier,
    names: Sequence[str],
    batches: Iterable[pa.RecordBatch],
    nullable: Sequence[str] = (),
) -> int:
    """Append Arrow batches to a table by COPY; return the rows stored.

    Parameters
    ----------
    nullable : sequence of str
        Columns in which an empty string is NULL.
    """
    sent = 0
    columns = [Identifier.of(name) for name in names]
    forced = [Identifier.of(name) for name in nullable]
    command = statement("copy_csv_in", table=table, names=columns, nullable=forced)
    with mapped_errors(), connection.cursor() as cursor:
        with cursor.copy(command.text.encode()) as copy:
            for batch in batches:
                sent += batch.num_rows
                buffer = io.BytesIO()
                arrow_csv.write_csv(batch, buffer, arrow_csv.WriteOptions(include_header=False))
                copy.write(buffer.getvalue())
        stored = cursor.rowcount
    if stored != sent:
        raise InputError(f"Only {stored} of {sent} records could be stored; the table is as it was.")
    return stored


def _parse_name(db: Database, table: str) -> Identifier:
    parts = parsed_name(db, table)
    if parts is None or len(parts) > 2:
        raise InputError(
            f"{as_given(table)} is not a valid SQL name of a table.",
            hint='Write it as in SQL, for example patients, hospital.patients or "My Table".',
        )
    return Identifier.of(*parts)


def _existing(db: Database, name: Identifier) -> RelationFacts | None:
    if db.row(statement("resolve_relation"), str(name))["oid"] is None:
        return None
    return describe(db, str(name))


def _existing_columns(
    existing: RelationFacts, file: CsvFile, layout: Callable[[frozenset[str]], tuple[CsvColumn, ...]]
) -> tuple[tuple[CsvColumn, ...], list[str]]:
    """Return the columns that a file adds to, and those of them in which an empty string is NULL."""
    known = {column: existing.column(column) for column in file.names}
    as_text = frozenset(name for name, column in known.items() if column.base_type in _TEXT_TYPES)
    columns = layout(as_text)
    for column in columns:
        if column.doubt:
            raise InputError(f"Column {as_given(column.name)} cannot be read: {column.doubt}")
    typed = tuple(replace(column, sql_type=known[column.name].type) for column in columns)
    return typed, [name for name in known if name not in as_text]


def _drop_existing(db: Database, existing: RelationFacts, if_exists: IfExists) -> None:
    if if_exists == "fail":
        raise InputError(
            f"Table {existing.identifier} exists already.",
            hint="Choose another name, or pass --if-exists replace or --if-exists append.",
        )
    if existing.kind not in "rp":
        raise InputError(
            f"{existing.identifier} is not a table, so it is not replaced.", hint="Choose another name."
        )
    try:
        with db.savepoint():
            db.execute(statement("load_drop_table", table=existing.identifier))
    except DatabaseError as error:
        if error.server_state != DEPENDENT_OBJECTS:
            raise
        raise InputError(
            f"Table {existing.identifier} cannot be replaced: a release, a declaration or a view needs it.",
            hint="Remove those first (kanon drop, kanon undeclare), or pass --if-exists append.",
        ) from None


def _create(db: Database, name: Identifier, columns: Sequence[CsvColumn]) -> None:
    parts = [{"name": Identifier.of(c.name), "type": Fragment(c.sql_type)} for c in columns]
    try:
        db.execute(statement("load_create_table", table=name, columns=parts))
    except DatabaseError as error:
        if error.server_state != UNDEFINED_SCHEMA:
            raise
        schema = Identifier(name.parts[:1])
        raise UnknownName(
            f"There is no schema {schema}.", hint=f"Make it first (CREATE SCHEMA {schema};), or name another."
        ) from error
