"""COPY as a stream of bytes in either direction, over a psycopg connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kanon_pg.db.psycopg_adapter import Connection, mapped_errors
from kanon_pg.db.queries import Statement


def copy_in(connection: Connection, command: Statement, chunks: Iterable[bytes]) -> int:
    """Send a stream to ``COPY ... FROM STDIN``.

    Parameters
    ----------
    connection : psycopg.Connection
        Open, inside the caller's transaction.
    command : Statement
        The COPY command, without parameters.
    chunks : iterable of bytes
        Consumed one at a time; an exception it raises ends the COPY and passes through.

    Returns
    -------
    int
        Rows that the server says it stored.

    Raises
    ------
    DatabaseError
        If the server refuses the data; the error does not quote them.
    """
    with mapped_errors(), connection.cursor() as cursor:
        with cursor.copy(command.text.encode()) as copy:
            for chunk in chunks:
                copy.write(chunk)
        return cursor.rowcount


def copy_out(connection: Connection, command: Statement) -> Iterator[bytes]:
    """Yield what ``COPY ... TO STDOUT`` sends, as it arrives.

    Parameters
    ----------
    connection : psycopg.Connection
        Open, inside the caller's transaction.
    command : Statement
        The COPY command, without parameters.

    Raises
    ------
    DatabaseError
        If the server refuses the command.
    """
    with mapped_errors(), connection.cursor() as cursor, cursor.copy(command.text.encode()) as copy:
        for chunk in copy:
            yield bytes(chunk)
