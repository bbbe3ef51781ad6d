"""Rows that leave the database as text, without an object for each."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.db.psycopg_adapter import Connection, mapped_errors
from kanon_pg.db.statements import Statement

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
