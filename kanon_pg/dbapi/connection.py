"""Connections whose cursors ask; each question is a transaction of its own."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from kanon_pg.db import psycopg_adapter as driver
from kanon_pg.db.failures import INSUFFICIENT_PRIVILEGE, UNDEFINED_FUNCTION, UNDEFINED_SCHEMA
from kanon_pg.db.placeholders import Parameters
from kanon_pg.db.protocol import Row
from kanon_pg.db.psycopg_adapter import RowFactory
from kanon_pg.db.queries import statement
from kanon_pg.dbapi.cursor import Cursor
from kanon_pg.errors import DatabaseError, InstallError, NotPermitted


def connect(dsn: str = "", *, row_factory: RowFactory = driver.TUPLES, **parameters: Any) -> Connection:
    """Open a connection whose cursors ask questions.

    Parameters
    ----------
    dsn : str
        As for psycopg; empty means the standard PG* variables.
    row_factory : callable
        What the cursors make rows of: ``psycopg.rows.dict_row``, ``class_row(...)`` or another.
    **parameters
        Further parts of the DSN.

    Raises
    ------
    InputError
        A parameter is no part of a DSN, or the row factory cannot be called.
    DatabaseError
        The server cannot be reached or refuses the login.
    """
    driver.checked_factory(row_factory)
    return Connection(driver.connect(dsn, **parameters), row_factory)


class Connection:
    """A connection whose cursors ask; each question is a transaction of its own.

    Parameters
    ----------
    raw : psycopg.Connection
        Its rights are the asker's; it is closed with this one.
    row_factory : callable
        What new cursors make rows of, one of psycopg's or of that kind.
    """

    def __init__(self, raw: driver.Connection, row_factory: RowFactory = driver.TUPLES) -> None:
        self.raw = raw
        self.row_factory = row_factory

    @property
    def row_factory(self) -> RowFactory:
        """The row factory of new cursors; can be set."""
        return self._row_factory

    @row_factory.setter
    def row_factory(self, row_factory: RowFactory) -> None:
        self._row_factory = driver.checked_factory(row_factory)

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return bool(self.raw.closed)

    def cursor(self, *, row_factory: RowFactory | None = None) -> Cursor:
        """Return a new cursor; without a row factory of its own it has the connection's."""
        return Cursor(self, row_factory)

    def execute(self, query: str, parameters: Parameters | None = None) -> Cursor:
        """Ask a question with a new cursor, see `Cursor.execute`."""
        return self.cursor().execute(query, parameters)

    def call(self, name: str, *arguments: Any) -> Sequence[Row]:
        """Run a named statement of this package in a transaction of its own.

        Raises
        ------
        InstallError
            The database has no function for it.
        NotPermitted
            The role may not ask.
        """
        try:
            with driver.mapped_errors(), self.raw.transaction():
                return driver.PsycopgDatabase(self.raw).rows(statement(name), *arguments)
        except DatabaseError as error:
            if error.server_state in (UNDEFINED_FUNCTION, UNDEFINED_SCHEMA):
                raise InstallError(
                    "The database has no functions that answer questions.",
                    hint="Run `kanon install`; the server needs PL/Python.",
                ) from error
            if error.server_state == INSUFFICIENT_PRIVILEGE:
                raise NotPermitted(
                    "This role may not ask questions.",
                    hint="A superuser, or who may grant the role, can allow it: GRANT kanon_analyst TO ...;",
                ) from error
            raise

    def commit(self) -> None:
        """Do nothing: a question that was answered is recorded already."""

    def rollback(self) -> None:
        """Do nothing: nothing takes a question back."""

    def close(self) -> None:
        """Close the connection."""
        self.raw.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
