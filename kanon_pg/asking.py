"""A connection whose cursors ask: everything they are given is a question about protected or public tables.

The rules are kept in the server, by the functions behind ``kanon_query``; this module gives their answers the
form that programs expect of a database driver (PEP 249).

Examples
--------
>>> import kanon_pg
>>> with kanon_pg.connect("dbname=clinic") as connection:  # doctest: +SKIP
...     connection.execute("SELECT count(*) FROM patients WHERE ward = %s", ("Oncology",)).fetchone()
(412,)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from kanon_pg.db import psycopg_adapter as driver
from kanon_pg.db.failures import INSUFFICIENT_PRIVILEGE, UNDEFINED_FUNCTION, UNDEFINED_SCHEMA
from kanon_pg.db.protocol import Row
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, as_texts, from_texts, type_number
from kanon_pg.db.queries import statement
from kanon_pg.errors import DatabaseError, InputError, InstallError, NotPermitted

Parameters = Sequence[Any] | Mapping[str, Any]

_PLACEHOLDER = re.compile(r"%(?:(%)|([sbt])|\((\w+)\)[sbt]|())")


def connect(dsn: str = "", **parameters: Any) -> Connection:
    """Open a connection whose cursors ask questions.

    Parameters
    ----------
    dsn : str
        As for psycopg; empty means the standard PG* variables.
    **parameters
        Further parts of the DSN.

    Raises
    ------
    DatabaseError
        The server cannot be reached or refuses the login.
    """
    return Connection(driver.connect(dsn, **parameters))


class Cursor:
    """Asks questions and holds the answer to the last one.

    Attributes
    ----------
    description : list of tuple or None
        One tuple of seven per column, of which the name and the type's OID are given.
    rowcount : int
        Rows of the answer, -1 before the first question.
    arraysize : int
        Rows that `fetchmany` returns unless told.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.description: list[tuple[str, int, None, None, None, None, None]] | None = None
        self.rowcount = -1
        self.arraysize = 1
        self._rows: Iterator[tuple[Any, ...]] | None = None

    def execute(self, query: str, parameters: Parameters | None = None) -> Cursor:
        """Ask a question.

        Parameters
        ----------
        query : str
            One SELECT; ``%s`` and ``%(name)s`` stand for parameters, as in psycopg.
        parameters : sequence or mapping, optional
            Their values. Without them ``%`` is a plain character.

        Raises
        ------
        QuestionRefused
            The question cannot be asked, whatever the data.
        AnswerWithheld
            The data had a say in the refusal.
        """
        self.description, self._rows, self.rowcount = None, None, -1
        text, values = query, list[Any]()
        if parameters is not None:
            text, values = numbered(query, parameters)
        raw = self.connection.raw
        names, types, *lines = (
            row["line"] for row in self.connection.call("call_ask", text, as_texts(raw, values))
        )
        numbers = [type_number(raw, name) for name in types]
        self.description = [(name, oid, *[None] * 5) for name, oid in zip(names, numbers, strict=True)]
        self.rowcount = len(lines)
        self._rows = iter([from_texts(raw, numbers, line) for line in lines])
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, None at the end."""
        return next(self._answer(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """Return up to `size` further rows."""
        wanted = self.arraysize if size is None else size
        return [row for _, row in zip(range(wanted), self._answer(), strict=False)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all further rows."""
        return list(self._answer())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._answer()

    def _answer(self) -> Iterator[tuple[Any, ...]]:
        if self._rows is None:
            raise InputError("There is no answer to fetch from.", hint="Call execute first.")
        return self._rows

    def close(self) -> None:
        """Forget the answer."""
        self.description, self._rows = None, None

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Connection:
    """A connection whose cursors ask; each question is a transaction of its own.

    Parameters
    ----------
    raw : psycopg.Connection
        Its rights are the asker's; it is closed with this one.
    """

    def __init__(self, raw: driver.Connection) -> None:
        self.raw = raw

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return bool(self.raw.closed)

    def cursor(self) -> Cursor:
        """Return a new cursor."""
        return Cursor(self)

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
                return PsycopgDatabase(self.raw).rows(statement(name), *arguments)
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


def numbered(query: str, parameters: Parameters) -> tuple[str, list[Any]]:
    """Return a text with numbered parameters in place of psycopg's, and their values in order.

    Parameters
    ----------
    query : str
        With ``%s``, ``%(name)s`` and ``%%``.
    parameters : sequence or mapping
        The values.

    Raises
    ------
    InputError
        Placeholders and values do not belong together.

    Examples
    --------
    >>> numbered("SELECT %s, %%", [1])
    ('SELECT $1, %', [1])
    >>> numbered("SELECT %(a)s + %(a)s", {"a": 2})
    ('SELECT $1 + $1', [2])
    """
    names: dict[str, int] = {}
    values: list[Any] = []

    def number(match: re.Match[str]) -> str:
        percent, positional, name, _ = match.groups()
        if percent:
            return "%"
        if positional and not isinstance(parameters, Mapping):
            if len(values) == len(parameters):
                raise InputError(
                    "There are more placeholders than parameters.", hint="Give one value for each."
                )
            values.append(parameters[len(values)])
            return f"${len(values)}"
        if name and isinstance(parameters, Mapping):
            if name not in parameters:
                raise InputError(f"There is no parameter named {name}.", hint="Give it in the mapping.")
            if name not in names:
                values.append(parameters[name])
                names[name] = len(values)
            return f"${names[name]}"
        raise InputError(
            "A placeholder does not fit the parameters.",
            hint="Write %s for a sequence, %(name)s for a mapping, and %% for a percent sign.",
        )

    text = _PLACEHOLDER.sub(number, query)
    if not isinstance(parameters, Mapping) and len(values) < len(parameters):
        raise InputError("There are more parameters than placeholders.", hint="Give one value for each %s.")
    return text, values
