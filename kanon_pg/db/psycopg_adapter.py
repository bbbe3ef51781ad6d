"""The client's interface: `Database` over a connection of psycopg, and how such connections are opened.

Errors of psycopg become those of this package; packed columns are sent in the binary format of COPY.
"""

from __future__ import annotations

import math
import os
import pwd
import selectors
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.generators import execute
from psycopg.rows import dict_row

from kanon_pg.db.failures import check_encoding, connection_lost, database_error, time_limit_passed
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import PackedColumn, Row, progress_text
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DatabaseError, InputError, KanonError, NotPermitted, by_sqlstate


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Raise psycopg's errors as this package's errors; cancellation passes unchanged."""
    try:
        yield
    except psycopg.errors.QueryCanceled:
        raise
    except (psycopg.DataError, UnicodeEncodeError) as error:
        if getattr(error, "sqlstate", None) is None:
            raise _no_text(error) from error
        raise _of_server(error) from error  # type: ignore[arg-type]
    except psycopg.OperationalError as error:
        raise (connection_lost() if error.sqlstate is None else _of_server(error)) from error
    except psycopg.Error as error:
        raise _of_server(error) from error


def _of_server(error: psycopg.Error) -> KanonError:
    state, diag = error.sqlstate, error.diag
    if state is None or not state.startswith("KA"):
        return database_error(state, diag.message_primary or type(error).__name__, diag.message_hint)
    message = (diag.message_primary or "").removeprefix("kanon: ")
    return by_sqlstate(state)(message, detail=diag.message_detail, hint=diag.message_hint)


def _no_text(error: Exception) -> InputError:
    if isinstance(error, UnicodeEncodeError) and error.encoding not in ("utf-8", "utf8"):
        return InputError(
            "A text has a character that the encoding of the connection does not have.",
            hint="SET client_encoding TO 'UTF8';",
        )
    return InputError(
        "A text has a character that PostgreSQL cannot store: a NUL, or half of one (a surrogate).",
        hint="Leave it out.",
    )


def check_open(connection: Connection) -> None:
    """Refuse a connection that was closed, by its program or because it was lost.

    Raises
    ------
    DatabaseError
        Without a state of the server.
    """
    if connection.closed:
        raise DatabaseError("The connection is closed.", hint="Open another one.")


@contextmanager
def every_error_mapped() -> Iterator[None]:
    """Raise psycopg's errors as this package's errors, cancellation, too: for the edge of a program.

    Raises
    ------
    DatabaseError
        Of state 57014 after a cancellation.
    """
    with mapped_errors():
        try:
            yield
        except psycopg.errors.QueryCanceled as error:
            raise database_error(
                error.sqlstate, error.diag.message_primary or type(error).__name__, _CANCELLED
            ) from error


_CANCELLED = (
    "If it took too long: PGOPTIONS='-c statement_timeout=0' lifts the limit. If somebody cancelled it: "
    "repeat it."
)


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
    InstallError
        If the database has an encoding that kanon does not work with.
    """
    if not isinstance(dsn, str):
        raise InputError("A DSN must be a text.", hint="Write it like host=... dbname=...")
    try:
        address = make_conninfo(dsn, **parameters)
    except psycopg.ProgrammingError as error:
        # libpq's message may quote a password, so it is not passed on
        raise InputError(
            "The DSN cannot be read, or has a part that PostgreSQL does not know.",
            hint="Write it like postgresql://user@host:5432/database or host=... dbname=...",
        ) from error
    try:
        return _in_unicode(psycopg.connect(address, application_name="kanon"))
    except psycopg.OperationalError as error:
        account = _account_of_server(error)
        if as_server and account is not None:
            with suppress(psycopg.OperationalError), _acting_as(account):
                return _in_unicode(psycopg.connect(address, application_name="kanon"))
        raise DatabaseError(
            "Cannot connect to the database.",
            detail=_in_one_line(str(error)),
            hint="Check --dsn or the PG* variables; `kanon up` starts a private server."
            if account is None or as_server
            else _HINT_FOR_ROOT.format(account=_name_of(account)),
        ) from error


def _in_unicode(connection: Connection) -> Connection:
    """Let a new connection carry all texts of its database, whatever the environment or the role says.

    psycopg cannot read some of PostgreSQL's encodings.

    Raises
    ------
    InstallError
        If the database has no characters, but bytes; the connection is closed.
    """
    try:
        connection.pgconn.exec_(b"SET client_encoding TO 'UTF8'")
        _check_encoding(connection)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def connected(dsn: str = "", *, as_server: bool = False) -> Iterator[Connection]:
    """Open a connection for as long as the block lasts; commit at its end, roll back if it fails.

    Parameters
    ----------
    dsn, as_server
        As of `connect`.

    Raises
    ------
    InputError, DatabaseError
        As of `connect`.
    """
    # a connection whose commit fails does not close itself
    with closing(connect(dsn, as_server=as_server)) as connection, connection:
        yield connection


def connected_to(target: Any) -> Connection:
    """Return a connection: the one that is given, or one of a DSN.

    Raises
    ------
    InputError
        If it is neither.
    DatabaseError
        As `connect`.
    """
    if isinstance(target, str):
        return connect(target)
    if not isinstance(target, psycopg.Connection):
        raise InputError(
            f"The target is neither a DSN nor a connection of psycopg, but of type {type(target).__name__}.",
            hint="Give a DSN such as 'dbname=clinic', or what psycopg.connect returns.",
        )
    return target


@contextmanager
def notices(connection: Connection) -> Iterator[list[str]]:
    """Yield a list to which what the server says meanwhile is added, without the mark that it is kanon's."""
    said: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        said.append((notice.message_primary or "").removeprefix("kanon: "))

    connection.add_notice_handler(hear)
    try:
        yield said
    finally:
        connection.remove_notice_handler(hear)


_HINT_FOR_ROOT = (
    "Of the commands, only `kanon install`, `kanon check` and `kanon uninstall` act as the server's account "
    "({account}) where root calls them. Call this as that account, `sudo -u {account} kanon ...`, or name "
    "a role of yours: --dsn 'host=localhost user=...'."
)


def _name_of(account: int) -> str:
    try:
        return pwd.getpwuid(account).pw_name
    except KeyError:
        return f"#{account}"  # as sudo takes the number of an account


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
    """Make connections as another account; the server learns who it is when a socket is opened."""
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
    """Where a connection led to."""

    host: str
    """Name or address; with a leading slash the folder of a Unix socket."""
    port: int
    """Port."""
    database: str
    """Name of the database."""
    encrypted: bool
    """Whether TLS was used."""
    mode: str
    """libpq's ``sslmode``."""
    root_certificate: str | None
    """File with the authorities to trust, None for the system's."""


def endpoint(dsn: str) -> Endpoint:
    """Open a connection and say where it led to.

    Raises
    ------
    DatabaseError
        If the server cannot be reached or refuses the login.
    """
    with connected(dsn) as connection:
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
    DatabaseError
        If it is closed.
    """
    check_open(connection)
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


_schemas: WeakKeyDictionary[Connection, list[str]] = WeakKeyDictionary()
"""Where logins look names up, of connections in `pinned`."""


@contextmanager
def pinned(connection: Connection) -> Iterator[list[str]]:
    """Look functions and operators up in ``pg_catalog`` alone, in the transaction that is open.

    Somebody else may own a schema of the search path, and what is there fits better where PostgreSQL's own
    takes any type. Yields the schemas of before, in which `PsycopgDatabase.naming` finds relations.
    """
    if connection in _schemas:
        yield _schemas[connection]
        return
    db = PsycopgDatabase(connection)
    schemas = _schemas[connection] = db.row(statement("session_path"))["path"]
    before = db.row(statement("set_locally"), "search_path", _OWN_PATH)["before"]
    try:
        yield schemas
        db.row(statement("set_locally"), "search_path", before)
    finally:
        del _schemas[connection]


_OWN_PATH = "pg_catalog, pg_temp"


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


def _as_text(value: Any) -> str:
    """Spell an argument as the text that a statement casts to the type which it declares."""
    if isinstance(value, list):
        quoted = ('"' + str(one).replace("\\", "\\\\").replace('"', '\\"') + '"' for one in value)
        return "{" + ",".join(quoted) + "}"
    return value if isinstance(value, str) else str(value)


def _check_encoding(connection: Connection) -> None:
    if connection.closed:  # what it is to do fails anyway
        return
    # not by connection.info, which decodes, and cannot in every encoding
    settings = (connection.pgconn.parameter_status(name) for name in (b"server_encoding", b"client_encoding"))
    check_encoding(*((value or b"").decode("ascii") for value in settings))


_CONTACT_SECONDS = 0.2
"""How often the server is contacted at most while it has nothing to do."""


@dataclass(frozen=True, slots=True)
class TextRows:
    """Rows as PostgreSQL writes them."""

    names: Sequence[str]
    types: Sequence[str]
    """`names`, `types`: of the columns."""
    lines: Sequence[Sequence[str | None]]
    """Their values."""

    def json_values(self) -> list[list[Any]]:
        """Return the values as JSON has them; what it has no type for, or is not finite, stays text."""
        readers = [_JSON.get(kind, str) for kind in self.types]
        return [
            [value if value is None else read(value) for read, value in zip(readers, line, strict=True)]
            for line in self.lines
        ]


def _finite(text: str) -> float | str:
    return float(text) if math.isfinite(float(text)) else text


_JSON: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("smallint", "integer", "bigint", "int2", "int4", "int8"), int),
    **dict.fromkeys(("real", "double precision", "float4", "float8"), _finite),
    **dict.fromkeys(("boolean", "bool"), lambda text: text in {"t", "true"}),
}
"""By the type's name, how JSON has a value's text."""


class PsycopgDatabase:
    """A `Database` on an open psycopg connection, inside the caller's transaction.

    Parameters
    ----------
    connection : psycopg.Connection
        Stays open; the caller commits or rolls back.
    on_progress : callable, optional
        Receives (phase, share) of every progress report.

    Raises
    ------
    InstallError, InputError
        If texts of the database or of the connection may be no texts of Python.
    """

    def __init__(self, connection: Connection, on_progress: Any = None) -> None:
        _check_encoding(connection)
        self.connection = connection
        self._on_progress = on_progress
        self._ends: float | None = None
        self._timeout_before = 0
        self._phase: str | None = None
        self._shown_at = 0.0
        self._reader: int | None = None
        self.noted_at = time.monotonic()

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
                raise time_limit_passed() from error
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

    @contextmanager
    def reading_as(self, reader: int | None) -> Iterator[None]:
        """See `Database.reading_as`."""
        before = self._reader
        self._reader = 0 if reader is None else reader
        try:
            yield
        finally:
            self._reader = before

    def read(self, command: Statement, *arguments: Any) -> Sequence[Row]:
        """See `Database.read`; a function of the reader runs the text, once its columns are known."""
        if self._reader is None:
            raise AssertionError("Nothing says with whose rights is read.")
        if not self._reader:
            text, given = command.text, arguments
        else:
            self._require_reader(self._reader)
            columns = self._columns(command)
            text = f"SELECT * FROM kanon.read_rows_{self._reader:d}($1, $2) AS t ({columns})"
            given = (command.text, [None if one is None else _as_text(one) for one in arguments])
        cursor = psycopg.RawCursor(self.connection, row_factory=dict_row)
        with self._within_limits():
            cursor.execute(text, given or None, binary=True, prepare=False)
        return cursor.fetchall()

    def _require_reader(self, reader: int) -> None:
        if not self.row(statement("may_read_as"), reader)["may_read"]:
            raise NotPermitted(
                "Only members of kanon_owner can read tables through the client's interface.",
                hint="Call the functions in the server, which need no such right.",
            )

    def _columns(self, command: Statement) -> str:
        """Return the columns of a statement with their types; it is parsed, and nothing of it runs."""
        session = self.connection.pgconn
        encoding = self.connection.info.encoding
        with mapped_errors():
            session.send_prepare(b"", command.text.encode(encoding))
            # waits so that Ctrl-C ends it
            (result,) = self.connection.wait(execute(session))
            if result.status == psycopg.pq.ExecStatus.COMMAND_OK:
                session.send_describe_prepared(b"")
                (result,) = self.connection.wait(execute(session))
            if result.status != psycopg.pq.ExecStatus.COMMAND_OK:
                raise psycopg.errors.error_from_result(result, encoding=encoding)
        names = [(result.fname(place) or b"").decode(encoding) for place in range(result.nfields)]
        kinds = [result.ftype(place) for place in range(result.nfields)]
        spelled = self.rows(statement("type_names"), kinds)
        return ", ".join(
            f"{Identifier.of(name)} {kind['name']}" for name, kind in zip(names, spelled, strict=True)
        )

    def texts(self, command: Statement, *arguments: Any) -> TextRows:
        """Run a statement that returns rows, and return them as PostgreSQL writes them."""
        with self._within_limits():
            cursor = psycopg.RawCursor(self.connection)
            result = cursor.execute(command.text, arguments or None).pgresult
        if result is None:
            raise AssertionError("A statement was run without a result.")
        encoding = self.connection.info.encoding
        columns = range(result.nfields)
        spelled = self.rows(statement("type_names"), [result.ftype(place) for place in columns])
        values = (result.get_value(row, place) for row in range(result.ntuples) for place in columns)
        lines = [None if value is None else value.decode(encoding) for value in values]
        return TextRows(
            names=[(result.fname(place) or b"").decode(encoding) for place in columns],
            types=[kind["name"] for kind in spelled],
            lines=[lines[start : start + len(columns)] for start in range(0, len(lines), len(columns) or 1)],
        )

    def row(self, statement: Statement, *arguments: Any) -> Row:
        """See `Database.row`."""
        (row,) = self._run(statement, arguments).fetchall()
        found: Row = row
        return found

    def execute(self, statement: Statement, *arguments: Any) -> int:
        """See `Database.execute`."""
        return max(0, self._run(statement, arguments).rowcount)

    def lock(self, relation: Identifier) -> None:
        """See `Database.lock`; parsing a statement takes the locks of reading, and nothing runs."""
        self._columns(Statement(f"SELECT FROM {relation}"))

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
    def naming(self) -> Iterator[None]:
        """See `Database.naming`; only `pinned` changes anything."""
        schemas = _schemas.get(self.connection)
        if schemas is None:
            yield
            return
        path = ", ".join(str(Identifier((schema,))) for schema in schemas)
        self.row(statement("set_locally"), "search_path", path or _OWN_PATH)
        yield
        self.row(statement("set_locally"), "search_path", _OWN_PATH)

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        """See `Database.deadline`; each statement gets the remaining time as its timeout."""
        before = self.row(
            Statement("SELECT setting::bigint AS ms FROM pg_settings WHERE name = 'statement_timeout'")
        )
        self._timeout_before = before["ms"]
        ends = self._ends = time.monotonic() + seconds
        try:
            yield
            # the time may have passed after the last statement
            if time.monotonic() >= ends:
                raise time_limit_passed()
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
        terminated shows when it is contacted, which also keeps it from being taken for idle.
        """
        now = time.monotonic()
        if self._ends is not None and now >= self._ends:
            raise time_limit_passed()
        if now - self.noted_at >= _CONTACT_SECONDS:
            self.row(Statement("SELECT 1 AS one"))
            self.noted_at = now

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
        """See `Database.notice`; given to the progress callback as a phase that begins with ``notice:``."""
        if self._on_progress is not None:
            self._on_progress(f"notice: {message}", None)
