"""Transactions of the Python API: as the owner role, as the reading role, or with the login's own rights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kanon_pg.db.catalog import caller, describe
from kanon_pg.db.failures import INSUFFICIENT_PRIVILEGE
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase, connect, repeatable_read
from kanon_pg.db.queries import statement
from kanon_pg.db.settings import created_here
from kanon_pg.errors import DatabaseError, NotPermitted
from kanon_pg.queries.load_catalog import READER
from kanon_pg.release.base import OWNER

Progress = Callable[[str, float | None], None]


@contextmanager
def as_owner(
    target: str | Connection,
    relation: str | None = None,
    on_progress: Progress | None = None,
    *,
    granting: str = "grant_read",
) -> Iterator[tuple[PsycopgDatabase, str]]:
    """Open a transaction that acts as the owner role; yields it with the role that asked."""
    connection = connect(target) if isinstance(target, str) else target
    try:
        with repeatable_read(connection):
            db = PsycopgDatabase(connection, on_progress)
            role = caller(db)
            if relation is not None:
                db.row(statement(granting), describe(db, relation, role).oid)
            _act_as(OWNER, db, role)
            with created_here(db):
                yield db, role
    finally:
        if isinstance(target, str):
            connection.close()


@contextmanager
def as_login(target: str | Connection, on_progress: Progress | None) -> Iterator[PsycopgDatabase]:
    """Open a transaction that acts with the rights of the login."""
    connection = connect(target) if isinstance(target, str) else target
    try:
        with repeatable_read(connection):
            yield PsycopgDatabase(connection, on_progress)
    finally:
        if isinstance(target, str):
            connection.close()


def _act_as(actor: str, db: PsycopgDatabase, role: str) -> None:
    try:
        db.execute(statement("act_as", role=Identifier.of(actor)))
    except DatabaseError as error:
        if error.server_state != INSUFFICIENT_PRIVILEGE:
            raise
        raise NotPermitted(
            f"Role {Identifier((role,))} may not act as {actor}, which the client's interface does.",
            hint="Call the functions in the server, which need no such right; to ask, use kanon_pg.connect. "
            f"This interface is for those who may read every base table: members of {OWNER}.",
        ) from error


@contextmanager
def as_reader(target: str | Connection) -> Iterator[tuple[PsycopgDatabase, str, Row]]:
    """Open a transaction that acts as the reading role; yields it with the caller and its session."""
    connection = connect(target) if isinstance(target, str) else target
    try:
        with repeatable_read(connection):
            db = PsycopgDatabase(connection)
            role, session = caller(db), db.row(statement("session_path"))
            _act_as(READER, db, role)
            db.row(statement("pin_query_settings"))
            yield db, role, session
    finally:
        if isinstance(target, str):
            connection.close()


def revoke_read(db: Database, relation: str, role: str) -> None:
    """Revoke rights to read a relation that nothing needs any more; the transaction is the login's then.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    role : str
        The login, who granted and may revoke them.
    """
    oid = describe(db, relation, role).oid
    db.execute(statement("act_as", role=Identifier.of(role)))
    db.row(statement("revoke_read"), oid)
