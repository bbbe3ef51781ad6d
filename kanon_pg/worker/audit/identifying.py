"""Sets of columns that tell the rows of a table apart as well as all columns do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanon_pg.errors import InputError
from kanon_pg.worker.audit.differences import (
    Differences,
    DistinctRows,
    distinct_rows,
    no_differences,
    sample,
    separates,
    with_room,
)
from kanon_pg.worker.audit.hitting_sets import FINISHED, explore, root
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable

ColumnSet = tuple[int, ...]

_WORK = 20_000_000
"""Lines and difference sets looked at between two looks at the clock: about a tenth of a second."""

_FOUND = 4096
"""Sets found between two looks at the clock."""


@dataclass(frozen=True)
class Identifying:
    """Minimal identifying sets.

    Parameters
    ----------
    sets : tuple of tuple of int
        Each proven to identify and to be minimal: numbers of columns, ascending; fewest columns first.
    is_complete : bool
        Whether all of at most `max_columns` columns are listed.
    """

    sets: tuple[ColumnSet, ...]
    is_complete: bool


def find_identifying_sets(
    table: RowTypeTable, clock: Clock | None = None, *, max_columns: int | None = None
) -> Identifying:
    """Find all minimal identifying sets: the minimal unique column combinations of the distinct rows.

    Guarantee: each set returned identifies and no proper subset does; all are returned if
    `Identifying.is_complete`.

    Parameters
    ----------
    table : RowTypeTable
        Multiplicities do not matter.
    clock : Clock, optional
        When its time is over, the sets found until then are returned.
    max_columns : int, optional
        Most columns of a set, >= 1; any number unless given.

    Raises
    ------
    InputError
        `max_columns` is below 1.

    Notes
    -----
    See `kanon_pg.worker.audit.hitting_sets`; the number of sets can be exponential in the columns.
    """
    if max_columns is not None and max_columns < 1:
        raise InputError(
            "The largest number of columns is below 1.", hint="Leave it out to search sets of any size."
        )
    clock = clock or Clock()
    clock.report("pairs of rows", None)
    rows = distinct_rows(table)
    differences = sample(rows, no_differences())
    tree = root(table.width)
    found = np.empty(_FOUND, dtype=np.uint64)
    masks: list[int] = []
    is_complete = False
    while not is_complete and not clock.is_over():
        clock.report("identifying sets", None)
        differences = with_room(differences)
        status, count = explore(tree, rows, differences, max_columns or table.width, found, _WORK)
        masks += found[:count].tolist()
        is_complete = status == FINISHED
    sets = (tuple(column for column in range(table.width) if mask >> column & 1) for mask in masks)
    return Identifying(tuple(sorted(sets, key=lambda columns: (len(columns), columns))), is_complete)


def minimal_identifying_set(table: RowTypeTable, clock: Clock | None = None) -> ColumnSet:
    """Return a minimal identifying set by Algorithm 5.1 of Yuan.

    The algorithm drops, while it can, the last column without which the others still identify, and starts
    over. A column that can't be dropped can't be later (Lemma 1), so one pass from the last column to the
    first does the same.

    Parameters
    ----------
    table : RowTypeTable
    clock : Clock, optional
        For progress only: its time is not looked at.

    Returns
    -------
    tuple of int
        Numbers of columns, ascending. No proper subset identifies, but smaller sets may.

    Notes
    -----
    m trials for m columns, each a division of at most n rows by the columns kept so far.
    """
    clock = clock or Clock()
    rows = distinct_rows(table)
    kept, differences = list(range(table.width)), no_differences()
    for column in reversed(range(table.width)):
        clock.report("leaving out columns", None)
        kept, differences = without(column, kept, rows, differences)
    return tuple(kept)


def without(
    column: int, kept: list[int], rows: DistinctRows, differences: Differences
) -> tuple[list[int], Differences]:
    """Leave a column out of an identifying set if the others identify.

    Parameters
    ----------
    column : int
        One of those kept.
    kept : list of int
        They identify.
    rows : DistinctRows
    differences : Differences

    Returns
    -------
    kept : list of int
        With or without the column.
    differences : Differences
        With those that were learned.
    """
    rest = [other for other in kept if other != column]
    differences = with_room(differences)
    if separates(np.array(rest, dtype=np.int64), rows, differences):
        return rest, differences
    return kept, differences
