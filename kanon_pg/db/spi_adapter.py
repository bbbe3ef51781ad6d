"""The server's interface: `Database` over PL/Python's SPI. The only importer of plpy.

A time limit cannot be ``SET statement_timeout``, which has no effect on a statement that has started, nor a
Python timer, which does not fire while SQL runs. A POSIX timer that sends SIGINT to the backend does what a
cancel request does.
"""

from __future__ import annotations

import ctypes
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import plpy

from kanon_pg.db.failures import QUERY_CANCELED, check_encoding, database_error, time_limit_passed
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import PackedColumn, Row, progress_text
from kanon_pg.db.settings import created_here
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import InputError, KanonError, by_sqlstate

_CLOCK_MONOTONIC = 1


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _TimerSpec(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class _SignalEvent(ctypes.Structure):
    # glibc's struct sigevent: 64 bytes, the union behind `notify` is unused for SIGEV_SIGNAL (0).
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("number", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("rest", ctypes.c_char * 48),
    )


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Send SIGINT to this process once `seconds` have passed, unless the block ended before.

    Parameters
    ----------
    seconds : float
        > 0; a repeated signal follows every 0.5 s, in case one meets a moment that ignores it.

    Raises
    ------
    OSError
        If the kernel grants no timer.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    timer = ctypes.c_void_p()
    event = _SignalEvent(number=signal.SIGINT, notify=0)
    if libc.timer_create(_CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)):
        raise OSError(ctypes.get_errno(), "timer_create")
    try:
        whole = int(seconds)
        first = _Timespec(whole, max(1, int((seconds - whole) * 1e9)))
        spec = _TimerSpec(interval=_Timespec(0, 500_000_000), value=first)
        if libc.timer_settime(timer, 0, ctypes.byref(spec), None):
            raise OSError(ctypes.get_errno(), "timer_settime")
        yield
    finally:
        libc.timer_delete(timer)


_PROGRESS_SECONDS = 0.2
Answer = TypeVar("Answer")
_plans: dict[tuple[str, tuple[str, ...]], Any] = {}


def _plan(command: Statement) -> Any:
    # What was filled into a text is not kept.
    key = command.text, command.types
    if key not in _plans:
        _plans[key] = plpy.prepare(command.text, list(command.types))
    return _plans[key]


@dataclass(slots=True)
class _Reading:
    """A statement to be run with the rights of a reader, and what came of it."""

    command: Statement
    arguments: tuple[Any, ...]
    rows: Sequence[Row] | None = None
    error: plpy.SPIError | None = None

    def run(self) -> None:
        command = self.command
        found = (
            plpy.prepare(command.text, list(command.types)).execute(list(self.arguments))
            if command.types
            else plpy.execute(command.text)
        )
        self.rows = list(found)


class _TakeBack(Exception):
    """Ends a subtransaction that must not last."""


_readings: list[_Reading] = []


def serve_reading() -> None:
    """Run the pending statement with the rights of the current role, a reader; take back all but its rows.

    A subtransaction that is rolled back undoes what the code of a relation did to settings, cursors and
    temporary tables. No rollback removes a prepared statement.
    """
    if not _readings:  # somebody called the function directly
        return
    # whatever runs now must not find it again
    reading = _readings.pop()
    try:
        known = plpy.execute("SELECT kanon.begin_reading() AS known")[0]["known"]
    except plpy.SPIError as error:
        reading.error = error
        return
    try:
        with plpy.subtransaction():
            reading.run()
            raise _TakeBack
    except _TakeBack:
        pass
    except plpy.SPIError as error:
        reading.error = error
    finally:
        plpy.prepare("SELECT kanon.forget_statements($1)", ["text[]"]).execute([known])


def _state(error: plpy.SPIError) -> str:
    """Return the SQLSTATE, which PL/Python names of PostgreSQL's own errors only: six bits a character."""
    packed: int = error.spidata[0]
    return "".join(chr((packed >> place & 63) + ord("0")) for place in range(0, 30, 6))


def _raise(error: Exception) -> NoReturn:
    raise error


class SpiDatabase:
    """A `Database` inside the calling SQL statement's transaction."""

    def __init__(self) -> None:
        self._ends: float | None = None
        self._name_before: str | None = None
        self._phase: str | None = None
        self._shown_at = 0.0
        self._reader: str | None = None
        self._encoding = ""
        session = self.row(statement("session_settings"))
        self._encoding = session["encoding"]
        check_encoding(self._encoding, self._encoding)
        self._talks = session["progress"] == "on"
        self.on_citus = bool(session["propagation"])

    def _run(self, command: Statement, arguments: tuple[Any, ...]) -> Any:
        self._require_portable(command.text)
        # Texts without parameters are different each time: their plans are worth nothing later. Nor does the
        # server use several processes for what PL/Python prepared.
        if not command.types:
            return self._mapped(lambda: plpy.execute(command.text))
        return self._mapped(lambda: _plan(command).execute(list(arguments)))

    def _require_portable(self, text: str) -> None:
        """Refuse a statement that PL/Python would hand to the server in other characters.

        It hands texts over in UTF-8, whatever the encoding of the database; values of parameters it converts.
        """
        if self._encoding != "UTF8" and not text.isascii():
            raise InputError(
                f"In a database of encoding {self._encoding}, functions in the server take names and "
                "constants in ASCII only.",
                hint="kanon_pg.client takes all names. Or give columns other names in a "
                "view, or use a database of encoding UTF8.",
            )

    def _mapped(self, run: Callable[[], Any]) -> Any:
        try:
            return run()
        except plpy.SPIError as error:
            state = _state(error)
            if state == QUERY_CANCELED:
                if self._ends is not None and time.monotonic() >= self._ends:
                    raise time_limit_passed() from error
                raise
            _, detail, hint, *_ = error.spidata
            if not state.startswith("KA"):
                raise database_error(state, str(error), hint) from error
            message = str(error).removeprefix("kanon: ")
            raise by_sqlstate(state)(message, detail=detail, hint=hint) from error

    def rows(self, command: Statement, *arguments: Any) -> Sequence[Row]:
        """See `Database.rows`."""
        return list(self._run(command, arguments))

    @contextmanager
    def reading_as(self, reader: int | None) -> Iterator[None]:
        """See `Database.reading_as`."""
        before = self._reader
        self._reader = "" if reader is None else f"kanon.read_{reader:d}"
        try:
            yield
        finally:
            self._reader = before

    def read(self, command: Statement, *arguments: Any) -> Sequence[Row]:
        """See `Database.read`; the statement waits in this process's memory for the reader's function."""
        if self._reader is None:
            raise AssertionError("Nothing says with whose rights is read.")
        self._require_portable(command.text)
        reading = _Reading(command, arguments)
        if not self._reader:
            self._mapped(reading.run)
        else:
            _readings.append(reading)
            try:
                # read-only until this statement's subtransaction ends, in which the function's own ones are
                text = (
                    f"select {self._reader}() from pg_catalog.set_config('transaction_read_only', 'on', true)"
                )
                self._mapped(lambda: plpy.execute(text))
            finally:
                # its function has taken it, unless it did not come that far
                _readings.clear()
        if reading.error is not None:
            failed = reading.error
            self._mapped(lambda: _raise(failed))
        if reading.rows is None:
            raise AssertionError("The reader's function has not run the statement.")
        return reading.rows

    def row(self, command: Statement, *arguments: Any) -> Row:
        """See `Database.row`."""
        (row,) = self._run(command, arguments)
        found: Row = row
        return found

    def execute(self, command: Statement, *arguments: Any) -> int:
        """See `Database.execute`."""
        return int(self._run(command, arguments).nrows())

    def lock(self, relation: Identifier) -> None:
        """See `Database.lock`; parsing a statement takes the locks of reading, and nothing runs."""
        text = f"SELECT FROM {relation}"
        self._require_portable(text)
        self._mapped(lambda: plpy.prepare(text))

    def was_cancelled(self, error: Exception) -> bool:
        """See `Database.was_cancelled`."""
        return isinstance(error, plpy.SPIError) and error.sqlstate == QUERY_CANCELED

    def load(self, table: Identifier, columns: Sequence[PackedColumn]) -> None:
        """See `Database.load`; SQL unpacks the buffers."""
        parts = [{"name": Identifier.of(c.name), "number": i + 1} for i, c in enumerate(columns)]
        command = Statement(
            statement("load_packed", table=table, columns=parts).text, ("bytea",) * len(columns)
        )
        self._run(command, tuple(column.data for column in columns))

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """See `Database.savepoint`."""
        with plpy.subtransaction():
            yield

    @contextmanager
    def naming(self) -> Iterator[None]:
        """See `Database.naming`: names come as ``regclass``, and functions have their own search path."""
        yield

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[None]:
        """See `Database.deadline`; a POSIX timer interrupts whatever statement runs then."""
        ends = self._ends = time.monotonic() + seconds
        try:
            with interrupt_after(seconds):
                yield
            # The signal may have come after the last statement.
            if time.monotonic() >= ends:
                raise time_limit_passed()
        finally:
            self._ends = None
            if time.monotonic() >= ends:
                _forget_interrupt()

    def checkpoint(self) -> None:
        """See `Database.checkpoint`.

        PostgreSQL forgets a statement_timeout that passes in the same moment as a lock_timeout, so the
        statement's time is compared here, too.
        """
        if self._ends is not None and time.monotonic() >= self._ends:
            raise time_limit_passed()
        if self.row(statement("statement_timeout_passed"))["passed"]:
            raise plpy.spiexceptions.QueryCanceled("canceling statement due to statement timeout")

    def progress(self, phase: str, share: float | None = None) -> None:
        """See `Database.progress`; shown as application_name, and as NOTICE if kanon.progress is on."""
        now = time.monotonic()
        if phase == self._phase and now - self._shown_at < _PROGRESS_SECONDS:
            return
        text = progress_text(phase, share)
        before = self.row(statement("show_progress"), text)["before"]
        if self._name_before is None:
            self._name_before = before
        self._phase, self._shown_at = phase, now
        if self._talks:
            plpy.notice(text)

    def end_progress(self) -> None:
        """Give the session its application_name back (an error does so by itself)."""
        if self._name_before is not None:
            self.row(statement("show_progress"), self._name_before)
            self._name_before = None

    def notice(self, message: str) -> None:
        """See `Database.notice`."""
        plpy.notice(message)


def _forget_interrupt() -> None:
    """Let the interrupt of a limit that was noticed without it hit this statement, not the caller's next."""
    with suppress(plpy.SPIError):
        plpy.execute("SELECT")


# PL/Python puts the class's qualified name before the message of every uncaught exception; `plpy.error` would
# make that "plpy.Error". It reads the other fields from attributes, and expects all of them to be there.
_SqlError = type("kanon", (plpy.Error,), {"__module__": "builtins"})
_OTHER_FIELDS = ("schema_name", "table_name", "column_name", "datatype_name", "constraint_name")


def _sql_error(error: KanonError) -> Exception:
    shown: Any = _SqlError(error.message)
    shown.sqlstate, shown.detail, shown.hint = error.sqlstate, error.detail, error.hint
    for name in _OTHER_FIELDS:
        setattr(shown, name, None)
    converted: Exception = shown
    return converted


def raise_to_sql(error: KanonError) -> NoReturn:
    """Raise an error of this package as an SQL error with all its fields."""
    raise _sql_error(error) from None


def serve(operation: Callable[[SpiDatabase], Answer]) -> Answer:
    """Run an operation on a database of this statement and map its errors."""
    try:
        database = SpiDatabase()
        with created_here(database) if database.on_citus else nullcontext():
            answer = operation(database)
        database.end_progress()
    except KanonError as error:
        raise_to_sql(error)
    return answer
