"""The client's door: `Database` over a psycopg connection. The only importer of psycopg."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.conninfo import make_conninfo
from psycopg.pq.misc import PGresAttDesc
from psycopg.rows import dict_row, tuple_row

from kanon_pg.db.binary_copy import binary_copy
from kanon_pg.db.failures import database_error
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import PackedColumn, Row, progress_text
from kanon_pg.db.queries import Statement, statement
from kanon_pg.errors import DatabaseError, InputError, LimitExceeded, by_sqlstate

Connection = psycopg.Connection[Any]
"""What `connect` returns and `PsycopgDatabase` takes."""

Column = psycopg.Column
Cursor = psycopg.Cursor[Any]

RowMaker = Callable[[Sequence[Any]], Any]
RowFactory = Callable[[Any], RowMaker]
"""Looks at a cursor of psycopg and returns what makes a row of values, as those of ``psycopg.rows`` do."""

TUPLES: RowFactory = tuple_row
"""The row factory that psycopg has without a choice."""

_CONTACT_SECONDS = 0.2
"""How often the server is spoken to at most while it has nothing to do."""


def connect(dsn: str = "", **parameters: Any) -> Connection:
    """Open a connection; an empty DSN means the standard PG* variables.

    Raises
    ------
    InputError
        If the DSN cannot be read, or a parameter is no part of one.
    DatabaseError
        If the server cannot be reached or refuses the login.
    """
    try:
        address = make_conninfo(dsn, **parameters)
    except psycopg.ProgrammingError as error:
        # libpq's message may quote a password, so it is not passed on
        raise InputError(
            "The DSN cannot be read, or has a part that PostgreSQL does not know.",
            hint="Write it like postgresql://user@host:5432/database or host=... dbname=...",
        ) from error
    try:
        return psycopg.connect(address, application_name="kanon")
    except psycopg.OperationalError as error:
        raise DatabaseError(
            "Cannot connect to the database.",
            detail=_in_one_line(str(error)),
            hint="Check --dsn or the PG* variables; `kanon up` starts a private server.",
        ) from error


def _in_one_line(message: str) -> str:
    """Join the lines of a message of libpq, which wraps and indents the longer ones."""
    return " ".join(line.strip() for line in message.splitlines() if line.strip())


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a connection led to.

    Parameters
    ----------
    host : str
        Name or address; with a leading slash the folder of a Unix socket.
    port : int
        Port.
    database : str
        Name of the database.
    encrypted : bool
        Whether TLS was used.
    mode : str
        libpq's ``sslmode``.
    root_certificate : str or None
        File with the authorities to trust, None for the system's.
    """

    host: str
    port: int
    database: str
    encrypted: bool
    mode: str
    root_certificate: str | None


def endpoint(dsn: str) -> Endpoint:
    """Open a connection and say where it led to.

    Raises
    ------
    DatabaseError
        If the server cannot be reached or refuses the login.
    """
    with connect(dsn) as connection:
        info = connection.info
        given = {option.keyword: option.val for option in connection.pgconn.info}
        root = (given.get(b"sslrootcert") or b"").decode()
        return Endpoint(
            host=info.host,
            port=info.port,
            database=info.dbname,
            encrypted=bool(connection.pgconn.ssl_in_use),
            mode=(given.get(b"sslmode") or b"prefer").decode(),
            root_certificate=root if root and root != "system" else None,
        )


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Raise psycopg's errors as this package's errors; cancellation passes unchanged."""
    try:
        yield
    except psycopg.errors.QueryCanceled:
        raise
    except psycopg.Error as error:
        state, diag = error.sqlstate, error.diag
        if state is not None and state.startswith("KA"):
            kind = by_sqlstate(state)
            raise kind(
                (diag.message_primary or "").removeprefix("kanon: "),
                detail=diag.message_detail,
                hint=diag.message_hint,
            ) from error
        raise database_error(
            state, diag.message_primary or type(error).__name__, diag.message_hint
        ) from error


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
        with self.connection.transaction():
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


@contextmanager
def repeatable_read(connection: Connection) -> Iterator[None]:
    """Run the block in one ``REPEATABLE READ`` transaction of a connection that has none open.

    Raises
    ------
    InputError
        If the connection is inside a transaction already.
    """
    if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        raise InputError(
            "The connection is inside a transaction.", hint="Commit or roll back first, or pass a DSN."
        )
    level = connection.isolation_level
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    try:
        with mapped_errors(), connection.transaction():
            yield
    finally:
        if not connection.closed:
            connection.isolation_level = level


def _time_limit_passed() -> LimitExceeded:
    return LimitExceeded(
        "The time limit passed before the call was complete; nothing was changed.",
        hint="Pass a larger time_limit, for example time_limit => '5 minutes'.",
    )
