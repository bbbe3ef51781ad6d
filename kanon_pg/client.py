"""Python API: the operations of ``kanon_...`` functions over a psycopg connection.

Works with any PostgreSQL that `kanon_pg.install` has prepared, also without PL/Python in the server.
Each operation is one ``REPEATABLE READ`` transaction: a release is counted, solved and written from
one and the same state of the table.

Examples
--------
>>> from kanon_pg import client
>>> report = client.anonymize("dbname=clinic", "patients", 5)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kanon_pg.curves import service as tracing
from kanon_pg.curves.points import Curve
from kanon_pg.curves.request import DEFAULT_KS, CurveRequest
from kanon_pg.db.catalog import caller, describe
from kanon_pg.db.failures import INSUFFICIENT_PRIVILEGE
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Row
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase, connect, repeatable_read
from kanon_pg.db.queries import statement
from kanon_pg.errors import DatabaseError, NotPermitted
from kanon_pg.measure import service as measuring
from kanon_pg.measure.measures import Measures
from kanon_pg.release import declaration, service
from kanon_pg.release.base import OWNER
from kanon_pg.release.report import ReleaseReport
from kanon_pg.release.request import AnonymizeRequest

Progress = Callable[[str, float | None], None]


@contextmanager
def _as_owner(
    target: str | Connection, relation: str | None = None, on_progress: Progress | None = None
) -> Iterator[tuple[PsycopgDatabase, str]]:
    """Open a transaction that acts as the owner role; yields it with the role that asked."""
    connection = connect(target) if isinstance(target, str) else target
    try:
        with repeatable_read(connection):
            db = PsycopgDatabase(connection, on_progress)
            role = caller(db)
            if relation is not None:
                db.row(statement("lend"), describe(db, relation, role).oid)
            _act_as_owner(db, role)
            yield db, role
    finally:
        if isinstance(target, str):
            connection.close()


@contextmanager
def _as_login(target: str | Connection, on_progress: Progress | None) -> Iterator[PsycopgDatabase]:
    """Open a transaction that acts with the rights of the login."""
    connection = connect(target) if isinstance(target, str) else target
    try:
        with repeatable_read(connection):
            yield PsycopgDatabase(connection, on_progress)
    finally:
        if isinstance(target, str):
            connection.close()


def _act_as_owner(db: PsycopgDatabase, role: str) -> None:
    try:
        db.execute(statement("act_as", role=Identifier.of(OWNER)))
    except DatabaseError as error:
        if error.server_state != INSUFFICIENT_PRIVILEGE:
            raise
        raise NotPermitted(
            f"Role {Identifier((role,))} may not act as {OWNER}, which the client's door does.",
            hint=f"GRANT {OWNER} TO {Identifier((role,))}; or call the functions in the server, "
            "which need no such right.",
        ) from error


def anonymize(
    target: str | Connection, relation: str, k: int, *, on_progress: Progress | None = None, **options: Any
) -> ReleaseReport:
    """Publish a k-anonymous release of a relation.

    Parameters
    ----------
    target : str or psycopg.Connection
        A DSN, or an open connection that is not inside a transaction.
    relation : str
        The base relation, as SQL writes it.
    k : int
        Fewest people per class, >= 2.
    on_progress : callable, optional
        Receives (phase, share between 0 and 1 or None).
    **options
        Further fields of `kanon_pg.release.request.AnonymizeRequest`.

    Returns
    -------
    ReleaseReport
        Recounted figures and proven bounds.

    Raises
    ------
    KanonError
        Any error of the tree; nothing is changed then.
    """
    request = AnonymizeRequest(relation, k, **options)
    request.check()
    with _as_owner(target, relation, on_progress) as (db, role):
        return service.anonymize(db, request, role=role)


def declare(
    target: str | Connection,
    relation: str,
    *,
    identifiers: Sequence[str] = (),
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    insensitive: Sequence[str] = (),
    entity: str | None = None,
    weights: Mapping[str, float] | None = None,
) -> None:
    """Record the roles of a relation's columns, see `kanon_pg.release.declaration.declare`."""
    with _as_owner(target, relation) as (db, role):
        declaration.declare(
            db, relation, identifiers, quasi_identifiers, sensitive, insensitive, entity, weights, role=role
        )


def undeclare(target: str | Connection, relation: str) -> None:
    """Forget the roles of a relation's columns."""
    with _as_owner(target) as (db, role):
        declaration.undeclare(db, relation, role=role)


def measure(
    target: str | Connection,
    relation: str,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    *,
    on_progress: Progress | None = None,
) -> Measures:
    """Measure a table, view or release with the rights of the login, see `kanon_pg.measure.service.measure`.

    Works with any PostgreSQL, also one that was never prepared.
    """
    with _as_login(target, on_progress) as db:
        return measuring.measure(db, relation, quasi_identifiers, sensitive)


def curve(
    target: str | Connection,
    relation: str,
    ks: Sequence[int] = DEFAULT_KS,
    *,
    on_progress: Progress | None = None,
    **options: Any,
) -> Curve:
    """Find out what each of several k would cost, with the rights of the login; changes nothing.

    Works with any PostgreSQL, also one that was never prepared.

    Parameters
    ----------
    target : str or psycopg.Connection
        A DSN, or an open connection that is not inside a transaction.
    relation : str
        A table or view, as SQL writes it.
    ks : sequence of int
        Values of k, each >= 2.
    on_progress : callable, optional
        Receives (phase, share between 0 and 1 or None).
    **options
        Further fields of `kanon_pg.curves.request.CurveRequest`.

    Returns
    -------
    Curve
        One point per k, with proven bounds.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    request = CurveRequest(relation, ks, **options)
    request.check()
    with _as_login(target, on_progress) as db:
        return tracing.curve(db, request)


def refresh(target: str | Connection, release: str) -> None:
    """Bring a release up to date with its base relation."""
    with _as_owner(target) as (db, _):
        service.refresh(db, release)


def drop(target: str | Connection, release: str) -> None:
    """Remove a release with everything behind it."""
    with _as_owner(target) as (db, _):
        service.drop(db, release)


def releases(target: str | Connection) -> Sequence[Row]:
    """Return all releases with their certificates, by name."""
    with _as_owner(target) as (db, _):
        return service.releases(db)
