"""Finds few columns that tell rows apart as well as all columns do, through either interface."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.audit.asking import asking
from kanon_pg.audit.findings import IdentifyingSet
from kanon_pg.audit.request import check_time_limit
from kanon_pg.audit.subject import all_columns, look_up
from kanon_pg.core.termination import Termination
from kanon_pg.db.protocol import Database
from kanon_pg.release.request import DEFAULT_SECONDS


def identify(
    db: Database,
    relation: str | None,
    columns: Sequence[str] | None = None,
    time_limit: float = DEFAULT_SECONDS,
) -> tuple[IdentifyingSet, ...]:
    """Return a smallest and a minimal set of columns that identify as much as all columns do.

    Parameters
    ----------
    db : Database
        Acts with the rights of the caller. No statement writes.
    relation : str
        A table or view, as SQL writes it.
    columns : sequence of str, optional
        What to choose from; all columns that are no identifiers unless given.
    time_limit : float
        Seconds for searching, > 0; counting is not part of it.

    Returns
    -------
    tuple of IdentifyingSet
        The smallest set that was found, with what is proven about its size, then the one that Algorithm 5.1
        of Yuan leaves over.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    check_time_limit(time_limit)
    subject = all_columns(db, look_up(db, relation), columns)
    with asking(db, time_limit) as worker:
        counted = worker.count(subject)
        found = worker.ask("identifying", counted.row_types)
    at_least, distinct = found["at_least"], found["distinct_rows"]

    def shown(places: Sequence[int], method: str, *, is_smallest: bool) -> IdentifyingSet:
        is_optimal = len(places) == at_least
        return IdentifyingSet(
            columns=tuple(subject.names[place] for place in places),
            size=len(places),
            kind="minimum" if is_smallest and is_optimal else "minimal",
            at_least=at_least,
            optimal=is_optimal,
            distinct_rows=distinct,
            distinction=distinct / counted.rows,
            method=method,
            termination=_termination(found["termination"], is_optimal=is_optimal, is_smallest=is_smallest),
        )

    if len(found["smallest"]) > at_least:
        db.notice(
            f"The search ended before the smallest set was proven: each has at least {at_least} columns."
        )
    return (
        shown(found["smallest"], found["method"], is_smallest=True),
        shown(found["minimal"], "leaving out columns", is_smallest=False),
    )


def _termination(searched: str, *, is_optimal: bool, is_smallest: bool) -> Termination:
    """Return how a search ended; leaving out columns simply ends."""
    if is_optimal:
        return Termination.OPTIMAL
    return Termination(searched) if is_smallest else Termination.EXHAUSTED
