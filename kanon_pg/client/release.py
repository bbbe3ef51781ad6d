"""Declarations, releases, measures and curves over a psycopg connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_pg.client.transactions import Progress, as_login, as_owner, take_back
from kanon_pg.curves import tracing
from kanon_pg.curves.points import Curve
from kanon_pg.curves.request import DEFAULT_KS, CurveRequest
from kanon_pg.db.protocol import Row
from kanon_pg.db.psycopg_adapter import Connection
from kanon_pg.measure import measuring
from kanon_pg.measure.measures import Measures
from kanon_pg.release import declaration, releasing
from kanon_pg.release.report import ReleaseReport
from kanon_pg.release.request import AnonymizeRequest


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
    with as_owner(target, relation, on_progress) as (db, role):
        return releasing.anonymize(db, request, role=role)


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
    on_progress: Progress | None = None,
) -> None:
    """Record the roles of a relation's columns, see `kanon_pg.release.declaration.declare`."""
    with as_owner(target, relation, on_progress) as (db, role):
        declaration.declare(
            db, relation, identifiers, quasi_identifiers, sensitive, insensitive, entity, weights, role=role
        )


def undeclare(target: str | Connection, relation: str) -> None:
    """Forget the roles of a relation's columns, and take back lent rights that nothing needs any more."""
    with as_owner(target) as (db, role):
        declaration.undeclare(db, relation, role=role)
        take_back(db, relation, role)


def measure(
    target: str | Connection,
    relation: str,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    *,
    on_progress: Progress | None = None,
) -> Measures:
    """Measure a table, view or release as the login may, see `kanon_pg.measure.measuring.measure`.

    Works with any PostgreSQL, also one that was never prepared.
    """
    with as_login(target, on_progress) as db:
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
    with as_login(target, on_progress) as db:
        return tracing.curve(db, request)


def refresh(target: str | Connection, release: str, *, on_progress: Progress | None = None) -> None:
    """Bring a release up to date with its base relation."""
    with as_owner(target, on_progress=on_progress) as (db, _):
        releasing.refresh(db, release)


def drop(target: str | Connection, release: str) -> None:
    """Remove a release with everything behind it."""
    with as_owner(target) as (db, _):
        releasing.drop(db, release)


def releases(target: str | Connection) -> Sequence[Row]:
    """Return all releases with their certificates, by name."""
    with as_owner(target) as (db, _):
        return releasing.releases(db)
