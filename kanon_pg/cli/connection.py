"""Which database a command works on, and how it gets there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated, Any, TypeVar

import typer

from kanon_pg.admin.cluster import Cluster, State
from kanon_pg.cli.output import progress_bar, with_notes
from kanon_pg.db import psycopg_adapter
from kanon_pg.db.failures import (
    INSUFFICIENT_PRIVILEGE,
    UNDEFINED_FUNCTION,
    UNDEFINED_SCHEMA,
    UNDEFINED_TABLE,
)
from kanon_pg.db.psycopg_adapter import Connection, pinned
from kanon_pg.errors import ClusterError, DatabaseError, InstallError

Result = TypeVar("Result")

_DEFAULT = (
    "Default: the PG* variables if PGHOST, PGSERVICE or PGDATABASE is set, "
    "else the private server if it runs."
)

Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        metavar="DSN",
        help=f"The database. {_DEFAULT}",
        show_default=False,
    ),
]

DsnArgument = Annotated[
    str | None,
    typer.Argument(metavar="[DSN]", help=f"The database. {_DEFAULT}", show_default=False),
]

_CHOSEN_BY = ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE")
"""Variables of which any one says that the environment names a database."""


def chosen_dsn(dsn: str | None) -> str:
    """Return the DSN to connect to; empty means the PG* variables and libpq's defaults."""
    if dsn is not None:
        return dsn
    if any(os.environ.get(name) for name in _CHOSEN_BY):
        return ""
    try:
        status = Cluster().status()
    except ClusterError:  # no account could run a private server, so none does
        return ""
    return status.dsn or "" if status.state is State.RUNNING else ""


def connected(dsn: str | None, *, as_server: bool = False) -> AbstractContextManager[Connection]:
    """Return what connects to the chosen database, see `kanon_pg.db.psycopg_adapter.connected`."""
    return psycopg_adapter.connected(chosen_dsn(dsn), as_server=as_server)


def answer_of(
    operation: Callable[..., Result], dsn: str | None, as_json: bool, arguments: Mapping[str, Any]
) -> Result:
    """Call an operation of `kanon_pg.client`; notices become notes, progress a bar unless JSON is wanted."""
    with connected(dsn) as connection, progress_bar(not as_json) as advance:
        return operation(connection, on_progress=with_notes(advance), **arguments)


@contextmanager
def installed(connection: Connection) -> Iterator[None]:
    """Look names up as `pinned` does; say what to do if the database, or the role, lacks something.

    Raises
    ------
    InstallError
        If it does not have it.
    """
    try:
        with pinned(connection):
            yield
    except DatabaseError as error:
        if error.server_state == INSUFFICIENT_PRIVILEGE and error.hint is None:
            error.hint = (
                "GRANT kanon_curator TO ...; lets a role publish and monitor, GRANT kanon_analyst TO ...; "
                "ask and read releases."
            )
        if error.server_state not in (UNDEFINED_FUNCTION, UNDEFINED_SCHEMA, UNDEFINED_TABLE):
            raise
        database = connection.info.dbname
        raise InstallError(
            f"kanon is not installed in database {database}, or lacks what this command uses.",
            hint="Run `kanon install DSN` with the same DSN, or name another database with --dsn. A "
            "server without Python has kanon_pg.client instead: `kanon install --client DSN`.",
        ) from error
