"""COPY as a stream of bytes in either direction, over a psycopg connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kanon_pg.db.psycopg_adapter import Connection, mapped_errors
from kanon_pg.db.queries import Statement

_BLOCK_BYTES = 1024 * 1024


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


class CopyOut:
    """What ``COPY ... TO STDOUT`` sends, as an iterable of blocks of about a megabyte.

    Parameters
    ----------
    connection : psycopg.Connection
        Open, inside the caller's transaction.
    command : Statement
        The COPY command, without parameters.

    Attributes
    ----------
    rows : int
        Rows that the server says it sent; known after the last block, 0 before.
    """

    def __init__(self, connection: Connection, command: Statement) -> None:
        self._connection = connection
        self._command = command
        self.rows = 0

    def __iter__(self) -> Iterator[bytes]:
        """Run the command.

        Raises
        ------
        DatabaseError
            If the server refuses it.
        """
        block = bytearray()
        with mapped_errors(), self._connection.cursor() as cursor:
            with cursor.copy(self._command.text.encode()) as copy:
                for chunk in copy:  # one row each
                    block += chunk
                    if len(block) >= _BLOCK_BYTES:
                        yield bytes(block)
                        block.clear()
            self.rows = cursor.rowcount
        if block:
            yield bytes(block)
