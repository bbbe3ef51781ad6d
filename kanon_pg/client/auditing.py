"""Python API, the part that audits: with the rights of the login, also where kanon was never installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanon_pg.audit import anonymous as testing
from kanon_pg.audit import auditing
from kanon_pg.audit import identify as identifying
from kanon_pg.audit import risk as assessing
from kanon_pg.audit import suggest as suggesting
from kanon_pg.audit.findings import AuditResult, IdentifyingSet, Suggestion
from kanon_pg.audit.request import AuditCall, RiskCall
from kanon_pg.audit.risk_findings import RiskFigures
from kanon_pg.client.transactions import Progress, as_login
from kanon_pg.db.psycopg_adapter import Connection
from kanon_pg.release.request import DEFAULT_SECONDS


def audit(
    target: str | Connection, relation: str, k: int, *, on_progress: Progress | None = None, **options: Any
) -> AuditResult:
    """Find the sets of columns that single out fewer than k people, with the rights of the login.

    Works with any PostgreSQL, also one that was never prepared; changes nothing.

    Parameters
    ----------
    target : str or psycopg.Connection
        A DSN, or an open connection that is not inside a transaction.
    relation : str
        A table or view, as SQL writes it.
    k : int
        Fewest people per class, >= 2.
    on_progress : callable, optional
        Receives (phase, share between 0 and 1 or None).
    **options
        Further fields of `kanon_pg.audit.request.AuditCall`; ``details=True`` adds what a report shows.

    Returns
    -------
    AuditResult
        Sets, each proven, and what is open.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    call = AuditCall(relation, k, **options)
    call.check()
    with as_login(target, on_progress) as db:
        return auditing.audit(db, call)


def is_anonymous(
    target: str | Connection, relation: str, k: int, columns: Sequence[str] | None = None
) -> bool:
    """Return whether every combination of quasi-identifier values is shared by at least k people.

    See `kanon_pg.audit.anonymous.is_anonymous`.
    """
    with as_login(target, None) as db:
        return testing.is_anonymous(db, relation, k, columns)


def identify(
    target: str | Connection,
    relation: str,
    columns: Sequence[str] | None = None,
    *,
    time_limit: float = DEFAULT_SECONDS,
    on_progress: Progress | None = None,
) -> tuple[IdentifyingSet, ...]:
    """Find few columns that tell rows apart as well as all do, see `kanon_pg.audit.identify.identify`."""
    with as_login(target, on_progress) as db:
        return identifying.identify(db, relation, columns, time_limit)


def suggest(
    target: str | Connection,
    relation: str,
    *,
    time_limit: float = DEFAULT_SECONDS,
    on_progress: Progress | None = None,
) -> tuple[Suggestion, ...]:
    """Propose roles of columns; declares nothing, see `kanon_pg.audit.suggest.suggest`."""
    with as_login(target, on_progress) as db:
        return suggesting.suggest(db, relation, time_limit)


def risk(
    target: str | Connection, relation: str, *, on_progress: Progress | None = None, **options: Any
) -> tuple[RiskFigures, ...]:
    """Say how likely people are found again in a relation and its releases.

    Parameters
    ----------
    target : str or psycopg.Connection
        A DSN, or an open connection that is not inside a transaction.
    relation : str
        A table, view or release, as SQL writes it.
    on_progress : callable, optional
        Receives (phase, share between 0 and 1 or None).
    **options
        Further fields of `kanon_pg.audit.risk.RiskCall`.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    call = RiskCall(relation, **options)
    call.check()
    with as_login(target, on_progress) as db:
        return assessing.risk(db, call)
