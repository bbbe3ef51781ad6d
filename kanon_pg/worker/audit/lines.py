"""What is counted when a set of columns is tried: as few lines as tell the same.

Only the columns that may still be added matter to a search. Row types that agree on all of these become one
line, so that a search over columns with few values works on few lines, however long the table is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.audit.grouping import Codes, Grouping, Numbers, People, grouping_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable

_SHRINKS = 2
"""Lines are merged again once this factor fewer would do."""


class Lines(NamedTuple):
    """Combinations of values of some columns with the people who share them.

    Parameters
    ----------
    first : int
        Place of the first of these columns in the order of the search.
    codes : ndarray of int32, shape (c, n)
        Values of the columns from `first` on.
    cardinalities : ndarray of int64, shape (c,)
        Number of different values of each of them, numbered from 0.
    weights : ndarray of int32, shape (n,)
        w > 0: a line of w people who occur in no other line; then, ascending by person, w < 0: a line of
        the one person -1 - w, who occurs in others as well; then 0: a combination in which nobody is known.
    merge_from : ndarray of int64, shape (q,)
        Some later places, ascending, from which on many lines agree.
    merge_as : ndarray of int32, shape (q, n)
        For each of these places: equal numbers are lines that agree on all columns from there on.
    """

    first: int
    codes: Codes
    cardinalities: Numbers
    weights: Codes
    merge_from: Numbers
    merge_as: Codes


def lines_of(table: RowTypeTable, people: People, columns: Sequence[int]) -> Lines:
    """Return the lines of some columns, in the order of a search.

    Parameters
    ----------
    people : People
        Those of the table.
    columns : sequence of int
        At least one.
    """
    return _lines(table, people, columns, 0, grouping_of(table, columns), [])


def lines_of_suffixes(
    table: RowTypeTable, people: People, columns: Sequence[int], clock: Clock | None = None
) -> list[Lines]:
    """Return lines for searches whose first column is the first, second, ... of some columns.

    Parameters
    ----------
    people : People
        Those of the table.
    columns : sequence of int
        In the order of the search, at least one.

    Returns
    -------
    list of Lines
        Ascending by `first`; empty if the time was over before. A search that begins with column j takes the
        last lines with `first` <= j: at most twice as many as need be. All together are at most about twice
        the longest.
    """
    chosen: list[Lines] = []
    later: list[tuple[int, Grouping]] = []
    kept: tuple[int, Grouping] | None = None
    grouping, smallest = Grouping.single(len(table)), 0
    clock = clock or Clock()
    for place in range(len(columns) - 1, -1, -1):
        if clock.is_over():
            return []
        clock.heartbeat()
        column = columns[place]
        divided = grouping.divided(table.codes[column], int(table.cardinalities[column]))
        if kept is not None and divided.count > _SHRINKS * smallest:
            chosen.insert(0, _lines(table, people, columns, *kept, later))
            later.insert(0, kept)
            smallest = 0
        smallest = smallest or divided.count
        kept, grouping = (place, divided), divided
    assert kept is not None  # noqa: S101 - there is at least one column
    return [_lines(table, people, columns, *kept, later), *chosen]


def _lines(
    table: RowTypeTable,
    people: People,
    columns: Sequence[int],
    first: int,
    grouping: Grouping,
    later: Sequence[tuple[int, Grouping]],
) -> Lines:
    line_of, count = grouping.class_of, grouping.count
    own = np.bincount(line_of, weights=people.own, minlength=count).astype(np.int64)
    line, person = _occurrences(line_of[people.place].astype(np.int64), people.person, count)
    own, line, person = _settle(own, line, person)
    is_known = own > 0
    is_known[line] = True
    alone, unknown = np.flatnonzero(own), np.flatnonzero(~is_known)
    origin = np.empty(count, dtype=np.int64)
    origin[line_of] = np.arange(line_of.size)
    place = origin[np.concatenate([alone, line, unknown])]
    codes = np.empty((len(columns) - first, place.size), dtype=np.int32)
    for number, column in enumerate(columns[first:]):
        codes[number] = table.codes[column][place]
    merge_as = np.empty((len(later), place.size), dtype=np.int32)
    for number, (_, merged) in enumerate(later):
        merge_as[number] = merged.class_of[place]
    weights = np.concatenate([own[alone], -1 - person, np.zeros(unknown.size, dtype=np.int64)])
    merge_from = np.array([place for place, _ in later], dtype=np.int64)
    cardinalities = table.cardinalities[columns[first:]]
    return Lines(first, codes, cardinalities, weights.astype(np.int32), merge_from, merge_as)


def unmergeable(codes: Codes) -> Lines:
    """Return lines of one person each that are all different.

    Parameters
    ----------
    codes : ndarray of int32, shape (c, n)
    """
    size = codes.shape[1]
    cardinalities = codes.max(axis=1).astype(np.int64) + 1
    nothing = np.empty((0, size), dtype=np.int32)
    return Lines(0, codes, cardinalities, np.ones(size, dtype=np.int32), np.empty(0, dtype=np.int64), nothing)


def _occurrences(line: Numbers, person: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """Return the different pairs of person and line, ascending by person."""
    pairs = np.unique(person * count + line)
    return pairs % count, pairs // count


def _settle(own: Numbers, line: Numbers, person: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Count people who occur in one line only as that line's own."""
    if not person.size:
        return own, line, person
    times = np.bincount(person)
    is_shared: NDArray[np.bool_] = times[person] > 1
    settled = own + np.bincount(line[~is_shared], minlength=own.size)
    return settled, line[is_shared], person[is_shared]
