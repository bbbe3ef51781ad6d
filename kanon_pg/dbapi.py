"""A connection whose cursors run queries on protected and public tables, for programs.

The rules are kept in the server, by the functions behind ``kanon_query``; this module gives their answers the
form that programs expect of a database driver (PEP 249). Each query is a transaction of its own, rows are
psycopg's.

Examples
--------
>>> import kanon_pg
>>> with kanon_pg.connect("dbname=clinic") as connection:  # doctest: +SKIP
...     connection.execute("SELECT count(*) FROM patients WHERE ward = %s", ("Oncology",)).fetchone()
(412,)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from kanon_pg.core.json_numbers import is_whole
from kanon_pg.db import psycopg_adapter
from kanon_pg.db.failures import INSUFFICIENT_PRIVILEGE, UNDEFINED_FUNCTION, UNDEFINED_SCHEMA
from kanon_pg.db.protocol import Row
from kanon_pg.db.psycopg_adapter import (
    TUPLES,
    Column,
    RowFactory,
    RowMaker,
    as_texts,
    checked_factory,
    from_texts,
    row_maker,
    type_number,
)
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InputError, InstallError, NotPermitted, as_given
from kanon_pg.queries.request import given_text

__all__ = ["Connection", "Cursor", "connect"]

Parameters = Sequence[Any] | Mapping[str, Any]

_PLACEHOLDER = re.compile(r"%(?:(%)|([sbt])|\((\w+)\)[sbt]|())")


def with_numbered_parameters(query: str, parameters: Parameters) -> tuple[str, list[Any]]:
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
        Placeholders and values do not belong together, or these are neither a sequence nor a mapping.

    Examples
    --------
    >>> with_numbered_parameters("SELECT %s, %%", [1])
    ('SELECT $1, %', [1])
    >>> with_numbered_parameters("SELECT %(a)s + %(a)s", {"a": 2})
    ('SELECT $1 + $1', [2])
    """
    if isinstance(parameters, Mapping):
        return _numbered_names(query, parameters)
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence):
        raise InputError(
            f"Parameters are a sequence or a mapping, not one {type(parameters).__name__}.",
            hint="Give a single value as [value].",
        )
    return _numbered_places(query, parameters)


def _numbered_names(query: str, parameters: Mapping[str, Any]) -> tuple[str, list[Any]]:
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        percent, _, name, _ = match.groups()
        if percent:
            return "%"
        if not name:
            raise _unfit()
        if name not in parameters:
            raise InputError(f"There is no parameter {as_given(name)}.", hint="Give it in the mapping.")
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    text = _PLACEHOLDER.sub(number, query)
    return text, [parameters[name] for name in numbers]


def _numbered_places(query: str, parameters: Sequence[Any]) -> tuple[str, list[Any]]:
    used = 0

    def number(match: re.Match[str]) -> str:
        nonlocal used
        percent, positional, *_ = match.groups()
        if percent:
            return "%"
        if not positional:
            raise _unfit()
        if used == len(parameters):
            raise InputError("There are more placeholders than parameters.", hint="Give one value for each.")
        used += 1
        return f"${used}"

    text = _PLACEHOLDER.sub(number, query)
    if used < len(parameters):
        raise InputError("There are more parameters than placeholders.", hint="Give one value for each %s.")
    return text, list(parameters)


def _unfit() -> InputError:
    return InputError(
        "A placeholder does not fit the parameters.",
        hint="Write %s for a sequence, %(name)s for a mapping, and %% for a percent sign.",
    )


@dataclass(frozen=True, slots=True)
class _ResultSet:
    """What row factories look at, and the values."""

    shape: psycopg_adapter.Cursor
    rows: Sequence[tuple[Any, ...]]


class Cursor:
    """Runs queries and holds the answers to the last call.

    Attributes
    ----------
    rowcount : int
        Rows of the answer, -1 before the first query; after `executemany` that keeps no answers those of
        all together.
    arraysize : int
        Rows that `fetchmany` returns by default.
    closed : bool
        Whether it was closed.
    """

    def __init__(self, connection: Connection, row_factory: RowFactory | None = None) -> None:
        self.connection = connection
        self.rowcount = -1
        self.arraysize = 1
        self.closed = False
        self._result_sets: list[_ResultSet] = []
        self._current: int | None = None
        self._rows: Iterator[tuple[Any, ...]] = iter(())
        self._make_row: RowMaker = tuple
        self.row_factory = connection.row_factory if row_factory is None else row_factory

    @property
    def description(self) -> list[Column] | None:
        """One of psycopg's columns, a sequence of seven, for each column of the answer."""
        return None if self._current is None else self._result_sets[self._current].shape.description

    @property
    def row_factory(self) -> RowFactory:
        """Makes rows of values, as psycopg's row factories do; can be set."""
        return self._row_factory

    @row_factory.setter
    def row_factory(self, row_factory: RowFactory) -> None:
        self._row_factory = checked_factory(row_factory)
        if self._current is not None:
            self._make_row = row_maker(self._result_sets[self._current].shape, row_factory)

    def execute(self, query: str, parameters: Parameters | None = None) -> Cursor:
        """Run a query.

        Parameters
        ----------
        query : str
            One SELECT; ``%s`` and ``%(name)s`` stand for parameters, as in psycopg.
        parameters : sequence or mapping, optional
            Their values. Without them ``%`` is a plain character.

        Raises
        ------
        QueryRefused
            The text of the query is refused, whatever the data.
        AnswerWithheld
            The refusal depends on the data.
        InputError
            The query is no text, parameters do not fit it, or the cursor is closed.
        """
        self._clear()
        self.rowcount = -1
        self._result_sets = [self._run(query, parameters)]
        return self.set_result(0)

    def executemany(
        self, query: str, parameters_seq: Iterable[Parameters], *, returning: bool = False
    ) -> None:
        """Run the same query with one set of parameters after the other.

        Each is a query of its own, checked and recorded like any other. The first that is refused ends the
        call: those before it have been run, and none of the answers can be fetched.

        Parameters
        ----------
        query : str
            See `execute`.
        returning : bool
            Whether the answers are kept, to be fetched one after the other: see `results` and `nextset`.

        Raises
        ------
        QueryRefused, AnswerWithheld
            As `execute`.
        """
        self._clear()
        self.rowcount = -1
        if not isinstance(parameters_seq, Iterable):
            kind = type(parameters_seq).__name__
            raise InputError(
                f"executemany takes a set of parameters for each query, not one {kind}.",
                hint="Give for example [['Oncology'], ['Surgery']].",
            )
        kept, rows = list[_ResultSet](), 0
        for parameters in parameters_seq:
            answer = self._run(query, parameters)
            rows += len(answer.rows)
            if returning:
                kept.append(answer)
        self._result_sets = kept
        if kept:
            self.set_result(0)
        elif not returning:
            self.rowcount = rows

    def _run(self, query: str, parameters: Parameters | None) -> _ResultSet:
        if self.closed:
            raise InputError("The cursor is closed.", hint="Take another one: connection.cursor().")
        text, values = given_text(query), list[Any]()
        if parameters is not None:
            text, values = with_numbered_parameters(query, parameters)
        raw = self.connection.raw
        names, types, *lines = (
            row["line"] for row in self.connection.call("call_query_lines", text, as_texts(raw, values))
        )
        numbers = [type_number(raw, name) for name in types]
        return _ResultSet(
            psycopg_adapter.shape(raw, names, numbers),
            [from_texts(raw, numbers, line) for line in lines],
        )

    def set_result(self, index: int) -> Cursor:
        """Go to the start of one of several answers; negative numbers count from the last.

        Raises
        ------
        IndexError
            There is no such answer.
        """
        chosen = range(len(self._result_sets))[index]
        answer = self._result_sets[chosen]
        self._make_row = row_maker(answer.shape, self._row_factory)
        self._current, self._rows, self.rowcount = chosen, iter(answer.rows), len(answer.rows)
        return self

    def nextset(self) -> bool | None:
        """Go to the next of several answers; returns None if there is none."""
        following = 0 if self._current is None else self._current + 1
        if following >= len(self._result_sets):
            return None
        self.set_result(following)
        return True

    def results(self) -> Iterator[Cursor]:
        """Go to one answer after the other, from the present one on."""
        more: bool | None = self._current is not None
        while more:
            yield self
            more = self.nextset()

    def fetchone(self) -> Any:
        """Return the next row, None at the end."""
        return next(self._remaining(), None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        """Return up to `size` further rows."""
        wanted = self.arraysize if size is None else size
        if not is_whole(wanted) or wanted < 0:
            raise InputError("size must be a whole number of at least 0.", hint="Give for example 100.")
        return [row for _, row in zip(range(wanted), self._remaining(), strict=False)]

    def fetchall(self) -> list[Any]:
        """Return all further rows."""
        return list(self._remaining())

    def __iter__(self) -> Iterator[Any]:
        return self._remaining()

    def _remaining(self) -> Iterator[Any]:
        if self._current is None:
            raise InputError(
                "There is no answer to fetch from.",
                hint="Call execute first; executemany keeps answers with returning=True.",
            )
        return map(self._make_row, self._rows)

    def _clear(self) -> None:
        self._result_sets, self._current, self._rows = [], None, iter(())

    def close(self) -> None:
        """Forget the answers; nothing can be run with this cursor any more."""
        self._clear()
        self.closed = True

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(dsn: str = "", *, row_factory: RowFactory = TUPLES, **parameters: Any) -> Connection:
    """Open a connection whose cursors run queries.

    Parameters
    ----------
    dsn : str
        As for psycopg; empty means the standard PG* variables.
    row_factory : callable
        Row factory of the cursors, such as ``psycopg.rows.dict_row`` or ``class_row(...)``.

    Raises
    ------
    InputError
        A parameter is no part of a DSN, or the row factory cannot be called.
    DatabaseError
        The server cannot be reached or refuses the login.
    """
    checked_factory(row_factory)
    return Connection(psycopg_adapter.connect(dsn, **parameters), row_factory)


class Connection:
    """A connection whose cursors run queries, each in a transaction of its own.

    Parameters
    ----------
    raw : psycopg.Connection
        Its rights are the analyst's; it is closed with this one.
    row_factory : callable
        Row factory of new cursors, as psycopg's.
    """

    def __init__(self, raw: psycopg_adapter.Connection, row_factory: RowFactory = TUPLES) -> None:
        self.raw = raw
        self.row_factory = row_factory

    @property
    def row_factory(self) -> RowFactory:
        """The row factory of new cursors; can be set."""
        return self._row_factory

    @row_factory.setter
    def row_factory(self, row_factory: RowFactory) -> None:
        self._row_factory = checked_factory(row_factory)

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return bool(self.raw.closed)

    def cursor(self, *, row_factory: RowFactory | None = None) -> Cursor:
        """Return a new cursor; without a row factory of its own it has the connection's."""
        return Cursor(self, row_factory)

    def execute(self, query: str, parameters: Parameters | None = None) -> Cursor:
        """Run a query with a new cursor, see `Cursor.execute`."""
        return self.cursor().execute(query, parameters)

    def call(self, name: str, *arguments: Any) -> Sequence[Row]:
        """Run a named statement of this package in a transaction of its own.

        Raises
        ------
        InstallError
            The database has no function for it.
        NotPermitted
            The role may not run queries.
        DatabaseError
            The connection is closed.
        """
        psycopg_adapter.check_open(self.raw)
        try:
            with psycopg_adapter.mapped_errors(), self.raw.transaction():
                return psycopg_adapter.PsycopgDatabase(self.raw).rows(statement(name), *arguments)
        except DatabaseError as error:
            if error.server_state in (UNDEFINED_FUNCTION, UNDEFINED_SCHEMA):
                raise InstallError(
                    "The database has no functions that answer queries.",
                    hint="Run `kanon install`; the server needs PL/Python.",
                ) from error
            if error.server_state == INSUFFICIENT_PRIVILEGE:
                raise NotPermitted(
                    "This role may not run queries.",
                    hint="A superuser, or who may grant the role, can allow it: GRANT kanon_analyst TO ...;",
                ) from error
            raise

    def commit(self) -> None:
        """Do nothing: an answered query is already recorded."""

    def rollback(self) -> None:
        """Do nothing: a recorded query cannot be rolled back."""

    def close(self) -> None:
        """Close the connection."""
        self.raw.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
