"""Python API, the part that generalizes one column: with the rights of the login, changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from kanon_pg.client.transactions import Progress, as_login
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import Connection
from kanon_pg.grouping import classifying
from kanon_pg.grouping.found import Grouped
from kanon_pg.grouping.request import GroupingCall, IntervalsCall, LabelsCall, RectanglesCall, RegionsCall

Call = TypeVar("Call", bound=GroupingCall)


def intervals(
    target: str | Connection,
    relation: str,
    column: str,
    k: int,
    *,
    on_progress: Progress | None = None,
    **options: Any,
) -> Grouped:
    """Group the values of an ordered column into intervals of at least k, at the least cost there is.

    Works with any PostgreSQL, also one that was never prepared.

    Parameters
    ----------
    target : str or psycopg.Connection
        A DSN, or an open connection that is not inside a transaction.
    relation : str
        Table or view, as SQL writes it.
    column : str
        Of numbers, dates or moments.
    k : int
        Least size of an interval, >= 2.
    on_progress : callable, optional
        Receives (phase, share between 0 and 1 or None).
    **options
        Further fields of `kanon_pg.grouping.request.IntervalsCall`.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    call = IntervalsCall(relation=relation, column=column, k=k, **options)
    return _grouped(target, on_progress, classifying.intervals, call)


def groups(
    target: str | Connection,
    relation: str,
    column: str,
    k: int,
    *,
    on_progress: Progress | None = None,
    **options: Any,
) -> Grouped:
    """Group the values of a column without order; options are those of `LabelsCall`, see `intervals`."""
    call = LabelsCall(relation=relation, column=column, k=k, **options)
    return _grouped(target, on_progress, classifying.labels, call)


def regions(
    target: str | Connection,
    relation: str,
    column: str,
    adjacency: str,
    k: int,
    *,
    on_progress: Progress | None = None,
    **options: Any,
) -> Grouped:
    """Group the values of a column into regions of neighbours.

    Parameters
    ----------
    target, relation, column, k, on_progress
        As of `intervals`.
    adjacency : str
        Table or view with a row for each pair of neighbours.
    **options
        Further fields of `kanon_pg.grouping.request.RegionsCall`.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    call = RegionsCall(relation=relation, column=column, adjacency=adjacency, k=k, **options)
    return _grouped(target, on_progress, classifying.regions, call)


def rectangles(
    target: str | Connection,
    relation: str,
    x: str,
    y: str | None,
    k: int,
    *,
    on_progress: Progress | None = None,
    **options: Any,
) -> Grouped:
    """Group points into axis-parallel rectangles.

    Parameters
    ----------
    target, relation, k, on_progress
        As of `intervals`.
    x, y : str
        Columns of numbers; or `x` alone, of points.
    **options
        Further fields of `kanon_pg.grouping.request.RectanglesCall`.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    call = RectanglesCall(relation=relation, x=x, y=y, k=k, **options)
    return _grouped(target, on_progress, classifying.rectangles, call)


def _grouped(
    target: str | Connection,
    on_progress: Progress | None,
    operation: Callable[[Database, Call], Grouped],
    call: Call,
) -> Grouped:
    """Check a call before there is a connection, then have it done with the rights of the login."""
    call.check()
    with as_login(target, on_progress) as db:
        return operation(db, call)
