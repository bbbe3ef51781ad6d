"""Answers of psycopg: their columns, what makes rows of them, and values from and to PostgreSQL's texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq.misc import PGresAttDesc
from psycopg.rows import tuple_row

from kanon_pg.db.psycopg_adapter import Connection
from kanon_pg.errors import InputError

Column = psycopg.Column
Cursor = psycopg.Cursor[Any]

RowMaker = Callable[[Sequence[Any]], Any]
RowFactory = Callable[[Any], RowMaker]
"""Looks at a cursor of psycopg and returns what makes a row of values, as those of ``psycopg.rows`` do."""

TUPLES: RowFactory = tuple_row
"""The row factory that psycopg has without a choice."""


def shape(connection: Connection, names: Sequence[str], types: Sequence[int]) -> Cursor:
    """Return a cursor of psycopg that holds an answer with these columns and no rows.

    Parameters
    ----------
    connection : psycopg.Connection
        Nothing is sent to its server.
    names : sequence of str
        Names of the columns.
    types : sequence of int
        Their types' OIDs.
    """
    encoding = connection.info.encoding
    result = connection.pgconn.make_empty_result(psycopg.pq.ExecStatus.TUPLES_OK)
    result.set_attributes(
        [
            PGresAttDesc(name.encode(encoding), 0, 0, psycopg.pq.Format.TEXT, oid, -1, -1)
            for name, oid in zip(names, types, strict=True)
        ]
    )
    cursor = psycopg.Cursor(connection)
    cursor.pgresult = result
    return cursor


def row_maker(answer: Cursor, row_factory: RowFactory) -> RowMaker:
    """Return what makes rows of an answer's values.

    Raises
    ------
    InputError
        The row factory has no rows for such columns.
    """
    try:
        return row_factory(answer)
    except psycopg.Error as error:
        raise InputError(
            "The row factory cannot make rows of these columns.",
            detail=str(error),
            hint="Give each column a name of its own: AS ...",
        ) from error


def checked_factory(row_factory: RowFactory) -> RowFactory:
    """Return a row factory unchanged.

    Raises
    ------
    InputError
        It cannot be called.
    """
    if not callable(row_factory):
        raise InputError("A row factory is a function.", hint="Take one of psycopg.rows, such as dict_row.")
    return row_factory


def as_texts(connection: Connection, values: Sequence[Any]) -> list[str | None]:
    """Return Python values as the texts that PostgreSQL reads, by psycopg's own rules.

    Raises
    ------
    InputError
        psycopg has no rule for the type of a value.
    """
    transformer = Transformer(connection)
    found: list[str | None] = []
    for value in values:
        try:
            dumped = None if value is None else transformer.get_dumper(value, PyFormat.TEXT).dump(value)
        except psycopg.ProgrammingError as error:
            raise InputError(
                f"A parameter of type {type(value).__name__} has no form in SQL.", hint="Give its text."
            ) from error
        found.append(None if dumped is None else bytes(dumped).decode())
    return found


def type_number(connection: Connection, type_name: str) -> int:
    """Return the OID of a type of ``pg_catalog``, 0 if psycopg does not know it."""
    known = connection.adapters.types.get(type_name)
    return 0 if known is None else known.oid


def from_texts(connection: Connection, types: Sequence[int], row: Sequence[str | None]) -> tuple[Any, ...]:
    """Return the texts of a row as Python values, by psycopg's own rules for the types' OIDs."""
    transformer = Transformer(connection)
    return tuple(
        None if text is None else transformer.get_loader(oid, psycopg.pq.Format.TEXT).load(text.encode())
        for oid, text in zip(types, row, strict=True)
    )
