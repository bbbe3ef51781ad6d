"""Opens connections of psycopg, begins their transactions, and maps psycopg's errors to those of ours."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from kanon_pg.db.failures import database_error
from kanon_pg.errors import DatabaseError, InputError, by_sqlstate


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


Connection = psycopg.Connection[Any]
"""What `connect` returns and `PsycopgDatabase` takes."""

_CANCEL_SECONDS = 5.0
_CANCEL_AGAIN_SECONDS = 0.2
_COPYING = {psycopg.pq.ExecStatus.COPY_IN, psycopg.pq.ExecStatus.COPY_OUT, psycopg.pq.ExecStatus.COPY_BOTH}


def connect(dsn: str = "", *, as_server: bool = False, **parameters: Any) -> Connection:
    """Open a connection; an empty DSN means the standard PG* variables.

    Parameters
    ----------
    dsn : str
        The database.
    as_server : bool
        Whether root, if a server on this machine does not know it, connects as the account that runs it,
        as ``sudo -u postgres`` would.
    **parameters
        Parts of a DSN that replace those of `dsn`.

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
        account = _account_of_server(error)
        if as_server and account is not None:
            with suppress(psycopg.OperationalError), _acting_as(account):
                return psycopg.connect(address, application_name="kanon")
        raise DatabaseError(
            "Cannot connect to the database.",
            detail=_in_one_line(str(error)),
            hint="Check --dsn or the PG* variables; `kanon up` starts a private server.",
        ) from error


def _account_of_server(error: psycopg.OperationalError) -> int | None:
    """Return who runs the server whose socket was tried, if root asks: it may act as any account."""
    tried = error.pgconn
    if os.geteuid() != 0 or tried is None or not tried.host.startswith(b"/"):
        return None
    try:
        return os.stat(tried.host + b"/.s.PGSQL." + tried.port).st_uid
    except OSError:
        return None


@contextmanager
def _acting_as(account: int) -> Iterator[None]:
    """Make connections as another account; the server is told who it is when a socket is opened."""
    os.seteuid(account)
    try:
        yield
    finally:
        os.seteuid(0)


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
        with mapped_errors(), connection.transaction(), no_statement_left(connection):
            yield
    finally:
        if not connection.closed:
            connection.isolation_level = level


@contextmanager
def no_statement_left(connection: Connection) -> Iterator[None]:
    """Cancel the statement that still runs when the block raises, so that it can be rolled back.

    psycopg cancels what Ctrl-C interrupts, unless the interrupt falls between two steps of its own.
    """
    try:
        yield
    except BaseException:
        if connection.info.transaction_status == psycopg.pq.TransactionStatus.ACTIVE:
            _end_statement(connection)
        raise


def _end_statement(connection: Connection) -> None:
    """Cancel what runs and read its results, or close the connection where that fails or takes too long."""
    has_ended = False
    try:
        with suppress(psycopg.Error):
            has_ended = _cancelled(connection)
    finally:
        # also where Ctrl-C comes once more
        if not has_ended:
            connection.close()


def _cancelled(connection: Connection) -> bool:
    session = connection.pgconn
    ends = time.monotonic() + _CANCEL_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(session.socket, selectors.EVENT_READ)
        while time.monotonic() < ends:
            if session.is_busy():
                # again and again: a server that has not yet begun with a statement forgets the request
                connection.cancel_safe(timeout=_CANCEL_SECONDS)
                selector.select(_CANCEL_AGAIN_SECONDS)
                session.consume_input()
                continue
            result = session.get_result()
            if result is None:
                return True
            if result.status in _COPYING:
                return False
    return False
