"""Writes releases as a script for psql, which makes ordinary tables of them in a database without kanon."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.psycopg_adapter import Connection
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import NotPermitted
from kanon_pg.relations.subject import RELEASE_SCHEMA
from kanon_pg.tables.copy_out import CopyOut
from kanon_pg.tables.published import PublishedTable, published

_MARK = "Release made by kanon_pg"
"""What the comments of tables begin with that a later script may drop."""

_ONLY_HERE = re.compile(r"_?(reg\w+|aclitem)")
"""Built-in types whose values name what only one database has."""


@dataclass(frozen=True, slots=True)
class DumpReport:
    """What a script has."""

    releases: tuple[str, ...]
    rows: int


def dump(connection: Connection, file: BinaryIO, releases: Sequence[str] = ()) -> DumpReport:
    """Write releases, all that the login may read if none is named, as a script for psql.

    With a table of linked ones come all of its release that the login may read: only so do they join.

    Its one transaction makes tables in schema ``safe``, and drops those that an earlier script made: of all
    releases, or of those named. So readers see them as before or as they are now.

    Parameters
    ----------
    file : binary file
        What was written is of no use if an error ends this: without its last line the script changes nothing.
    """
    rows = 0
    prefix = f"kanon_{secrets.token_hex(8)}_"
    with published(connection, releases, together=True) as (_, tables):
        incoming = {
            table.name: Identifier.of(RELEASE_SCHEMA, f"{prefix}{number}")
            for number, table in enumerate(tables)
        }
        for table in tables:
            _require_referred(table, incoming)
        _write(file, "dump_begin")
        for table in tables:
            rows += _write_table(connection, file, table, incoming[table.name])
        for table in tables:
            if table.key:
                key = list(map(Identifier.of, table.key))
                _write(file, "dump_key", incoming=incoming[table.name], key=key)
        for table in tables:
            _write_foreign_keys(file, table, incoming)
        named = [
            {"name": Identifier.of(name), "literal": Literal(name), "incoming": new}
            for name, new in incoming.items()
        ]
        some = int(bool(releases))
        _write(file, "dump_end", tables=named, some=some, mark=Literal(_MARK), prefix=Literal(prefix))
    return DumpReport(tuple(incoming), rows)


def _require_referred(table: PublishedTable, incoming: Mapping[str, Identifier]) -> None:
    for key in table.foreign_keys:
        if key.table not in incoming:
            other = Identifier.of(RELEASE_SCHEMA, key.table)
            raise NotPermitted(
                f"{table.view.identifier} refers to rows of {other}, which you may not read.",
                hint=f"Name only releases without it, or have it granted: GRANT SELECT ON {other} TO ...;",
            )


def _write(file: BinaryIO, name: str, **parts: Any) -> None:
    file.write(f"{render(name, **parts)}\n".encode())


def _write_table(connection: Connection, file: BinaryIO, table: PublishedTable, incoming: Identifier) -> int:
    columns = [(column, _portable(column)) for column in table.view.columns]
    made = [
        {"name": column.identifier, "type": Fragment(column.plain_type if kept else "text")}
        for column, kept in columns
    ]
    values = [
        Fragment(str(column.identifier)) if kept else column.text(str(column.identifier))
        for column, kept in columns
    ]
    _write(file, "dump_table", incoming=incoming, columns=made)
    content = CopyOut(connection, statement("copy_text_out", relation=table.view.identifier, values=values))
    for block in content:
        file.write(block)
    file.write(b"\\.\n")
    roles = [(column.identifier, table.role(column.name)) for column in table.view.columns]
    said = [{"name": name, "role": Literal(role)} for name, role in roles if role is not None]
    _write(file, "dump_comments", incoming=incoming, comment=Literal(_comment(table)), columns=said)
    return content.rows


def _portable(column: ColumnFacts) -> bool:
    """Whether any PostgreSQL has the type below all domains, and can read its values."""
    return "." not in column.base_type and not _ONLY_HERE.fullmatch(column.base_type)


def _comment(table: PublishedTable) -> str:
    facts = table.facts
    if not facts:
        return f"{_MARK}."
    refreshed = f", brought up to date {facts['refreshed_at']}" if facts["refreshed_at"] else ""
    published = f"{_MARK}, published {facts['published_at']}{refreshed}"
    if not facts["quasi_identifiers"]:
        return f"{published}: rows of people who are among at least {facts['k']} in the table of people."
    some = f"any {facts['subsets']} " if facts["subsets"] else ""
    return (
        f"{published}: every combination of {some}quasi-identifiers and suppressed columns is shared by at "
        f"least {facts['k']} people."
    )


def _write_foreign_keys(file: BinaryIO, table: PublishedTable, incoming: dict[str, Identifier]) -> None:
    """Write the keys that lead from a table to others of the script."""
    for key in table.foreign_keys:
        if key.table in incoming:
            _write(
                file, "dump_foreign_key", incoming=incoming[table.name], other=incoming[key.table],
                names=list(map(Identifier.of, key.columns)),
                other_names=list(map(Identifier.of, key.table_columns)),
            )  # fmt: skip
