"""An audit as a page: what ``kanon audit --html`` adds to the audit, and where it goes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from kanon_pg import client
from kanon_pg.audit.findings import AuditResult, Suggestion
from kanon_pg.cli.output import note
from kanon_pg.client.transactions import Progress
from kanon_pg.curves.points import Curve
from kanon_pg.curves.request import DEFAULT_KS
from kanon_pg.db.psycopg_adapter import Connection
from kanon_pg.errors import InputError, KanonError

_CURVE_SHARE = 1 / 3
"""What a curve may take in addition, as a share of the time limit."""


def check_page(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is counted.

    Raises
    ------
    InputError
        If its folder does not exist, or it is a folder itself.
    """
    if not path.parent.is_dir():
        raise InputError("The page's folder does not exist.", hint="Make it first.")
    if path.is_dir():
        raise InputError("The page's name is that of a folder.", hint="Name a file in it.")


def page_of(
    connection: Connection,
    found: AuditResult,
    *,
    with_curve: bool,
    time_limit: float,
    on_progress: Progress,
) -> str:
    """Return the page of an audit.

    Parameters
    ----------
    connection : psycopg.Connection
        Not inside a transaction.
    found : AuditResult
        With details.
    with_curve : bool
        Whether to find out what each k would cost.
    time_limit : float
        Seconds: a third of it for the curve, and all of it for suggesting roles if none are declared.
    on_progress : callable
        Receives phases and notices.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    from kanon_pg.reports.assemble import report
    from kanon_pg.reports.page import html_page

    suggestions = _suggestions(connection, found, time_limit)
    curve = _curve(connection, found, time_limit, on_progress) if with_curve else None
    return html_page(report(found, curve=curve, suggestions=suggestions, made=datetime.now(UTC)))


def _curve(
    connection: Connection, found: AuditResult, time_limit: float, on_progress: Progress
) -> Curve | None:
    """Return what each k would cost; None for a release, or if it is not known, which is then said."""
    ks = sorted({k for k in (*DEFAULT_KS, found.k) if k <= found.people})
    if found.release is not None or not ks:
        return None
    try:
        return client.curve(
            connection,
            found.relation,
            ks,
            time_limit=time_limit * _CURVE_SHARE,
            on_progress=on_progress,
        )
    except KanonError as error:
        note(f"the page does not show what each k would cost: {error.message}")
        return None


def _suggestions(connection: Connection, found: AuditResult, time_limit: float) -> tuple[Suggestion, ...]:
    """Return proposed roles, unless columns have roles or it is not known whether they have."""
    if not found.column_figures or any(column.role is not None for column in found.column_figures):
        return ()
    return client.suggest(connection, found.relation, time_limit=time_limit)


def write_page(page: str, path: Path) -> None:
    """Write a page to a file; one that exists is replaced.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"The page cannot be written: {error.strerror}.", hint="Name another file."
        ) from error
