"""`Database` on an open connection of psycopg, which takes packed columns in the binary format of COPY."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import dict_row

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import PackedColumn, Row, progress_text
from kanon_pg.db.psycopg_adapter.connections import Connection, mapped_errors, no_statement_left
from kanon_pg.db.queries import Statement, statement
from kanon_pg.errors import LimitExceeded

_ITEM = 8


def binary_copy(columns: Sequence[PackedColumn]) -> bytes:
    """Interleave packed columns into COPY's binary format by strided slices (no object per row).

    Parameters
    ----------
    columns : sequence of PackedColumn
        At least one, of equal length.
    """
    count = len(columns[0].data) // _ITEM
    field = _ITEM + 4
    width = 2 + field * len(columns)
    row = len(columns).to_bytes(2, "big") + (_ITEM.to_bytes(4, "big") + bytes(_ITEM)) * len(columns)
    body = bytearray(row * count)
    for index, column in enumerate(columns):
        start = 2 + index * field + 4
        for byte in range(_ITEM):
            body[start + byte :: width] = column.data[byte::_ITEM]
    return b"PGCOPY\n\xff\r\n\0" + bytes(8) + bytes(body) + b"\xff\xff"


_CONTACT_SECONDS = 0.2
"""How often the server is spoken to at most while it has nothing to do."""


class PsycopgDatabase:
    """A `Database` on an open psycopg connection, inside the caller's transaction.

    Parameters
    ----------
    connection : psycopg.Connection
        Stays open; the caller commits or rolls back.
    on_progress : callable, optional
        Receives (phase, share) of every progress report.
    """

    def __init__(self, connection: Connection, on_progress: Any = None) -> None:
        self.connection = connection
        self._on_progress = on_progress
        self._ends: float | None = None
        self._timeout_before = 0
        self._phase: str | None = None
        self._shown_at = 0.0
        self._heard_at = time.monotonic()

    def _run(self, statement: Statement, arguments: tuple[Any, ...]) -> psycopg.RawCursor[Any]:
        cursor = psycopg.RawCursor(self.connection, row_factory=dict_row)
        with self._within_limits():
            return cursor.execute(statement.text, arguments or None, binary=True)

    @contextmanager
    def _within_limits(self) -> Iterator[None]:
        """Give the statement inside the remaining time, and say so if it took longer."""
        try:
            with mapped_errors():
                if self._ends is not None:
                    psycopg.RawCursor(self.connection).execute(
                        "SELECT set_config('statement_timeout', $1, true)", [self._remaining_setting()]
                    )
                yield
        except psycopg.errors.QueryCanceled as error:
            if self._ends is not None and time.monotonic() >= self._ends:
                raise _time_limit_passed() from error
            raise

    def _remaining_setting(self) -> str:
        assert self._ends is not None  # noqa: S101 - callers check
        remaining = max(1, round((self._ends - time.monotonic()) * 1000))
        if self._timeout_before:
            remaining = min(remaining, self._timeout_before)
        return str(remaining)

    def rows(self, statement: Statement, *arguments: Any) -> Sequence[Row]:
        """See `Database.rows`."""
        return self._run(statement, arguments).fetchall()

    def rows_once(self, statement: Statement, *arguments: Any) -> Sequence[Row]:
        """See `Database.rows_once`."""
        cursor = psycopg.RawCursor(self.connection, row_factory=dict_row)
        with self._within_limits():
            cursor.execute(statement.text, arguments or None, binary=True, prepare=False)
        return cursor.fetchall()

    def row(self, statement: Statement, *arguments: Any) -> Row:
        """See `Database.row`."""
        (row,) = self._run(statement, arguments).fetchall()
        found: Row = row
        return found

    def execute(self, statement: Statement, *arguments: Any) -> int:
        """See `Database.execute`."""
        return max(0, self._run(statement, arguments).rowcount)

    def hold(self, relation: Identifier) -> None:
        """See `Database.hold`."""
        self.execute(statement("lock_base", relation=relation))

    def was_cancelled(self, error: Exception) -> bool:
        """See `Database.was_cancelled`."""
        return isinstance(error, psycopg.errors.QueryCanceled)

    def load(self, table: Identifier, columns: Sequence[PackedColumn]) -> None:
        """See `Database.load`; sends one binary COPY."""
        names = ", ".join(str(Identifier.of(column.name)) for column in columns)
        cursor = self.connection.cursor()
        with (
            self._within_limits(),
            cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT binary)".encode()) as copy,
        ):
            copy.write(binary_copy(columns))

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """See `Database.savepoint`."""
        with self.connection.transaction(), no_statement_left(self.connection):
            yield

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        """See `Database.deadline`; each statement gets the remaining time as its timeout."""
        before = self.row(
            Statement("SELECT setting::bigint AS ms FROM pg_settings WHERE name = 'statement_timeout'")
        )
        self._timeout_before = before["ms"]
        self._ends = time.monotonic() + seconds
        try:
            yield
        finally:
            self._ends = None
            if self.connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS:
                self.execute(
                    Statement("SELECT set_config('statement_timeout', $1::text, true)"),
                    str(self._timeout_before),
                )

    def checkpoint(self) -> None:
        """See `Database.checkpoint`; Ctrl-C arrives by itself as KeyboardInterrupt.

        The server has nothing to do meanwhile, so it ignores a request to cancel; that the session was
        terminated shows when it is spoken to, which also keeps it from being taken for idle.
        """
        now = time.monotonic()
        if self._ends is not None and now >= self._ends:
            raise _time_limit_passed()
        if now - self._heard_at >= _CONTACT_SECONDS:
            self.row(Statement("SELECT 1 AS one"))
            self._heard_at = now

    def progress(self, phase: str, share: float | None = None) -> None:
        """See `Database.progress`; shown as application_name until the transaction ends."""
        if self._on_progress is not None:
            self._on_progress(phase, share)
        now = time.monotonic()
        if phase == self._phase and now - self._shown_at < _CONTACT_SECONDS:
            return
        self.row(statement("set_locally"), "application_name", progress_text(phase, share))
        self._phase, self._shown_at = phase, now

    def notice(self, message: str) -> None:
        """See `Database.notice`; handed to psycopg's notice handlers' place: the progress callback."""
        if self._on_progress is not None:
            self._on_progress(f"notice: {message}", None)


def _time_limit_passed() -> LimitExceeded:
    return LimitExceeded(
        "The time limit passed before the call was complete; nothing was changed.",
        hint="Pass a larger time_limit, for example time_limit => '5 minutes'.",
    )
