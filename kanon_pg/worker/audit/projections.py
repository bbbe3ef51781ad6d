"""Projections of a table onto the columns of a search, which are counted when a set of columns is tried.

Only the columns that may still be added matter to a search. Row types that agree on all of these become one
row of the projection, so that a search over columns with few values works on few rows, however long the table
is. Its classes are divided by one column after the other and kept as the rows in them, one class behind the
other. A class of a single row is left out: no column divides it (the stripped partitions of Huhtala,
Kärkkäinen, Porkka and Toivonen 1999, TANE).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.audit.column_sets import Codes, Numbers, Persons, RowTypePartition, grouping_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable

_SHRINKS = 2
"""Rows are merged again once this factor fewer would do."""


class Projection(NamedTuple):
    """Combinations of values of some columns with the people who share them."""

    first: int
    """Place of the first of these columns in the order of the search."""
    codes: Codes
    """Shape (c, n). Values of the columns from `first` on."""
    cardinalities: Numbers
    """Shape (c,). Number of different values of each of them, numbered from 0."""
    weights: Codes
    """Shape (n,). w > 0: a row of w people who occur in no other row; then, ascending by person, w < 0: a row
    of the one person -1 - w, who occurs in others as well; then 0: a combination in which nobody is known."""
    merge_from: Numbers
    """Shape (q,). Some later places, ascending, from which on many rows agree."""
    merge_as: Codes
    """Shape (q, n). For each of these places: equal numbers are rows that agree on all columns from there
    on."""


def projection_of(table: RowTypeTable, people: Persons, columns: Sequence[int]) -> Projection:
    """Return the projection onto some columns, in the order of a search."""
    return _project(table, people, columns, 0, grouping_of(table, columns), [])


def projections_of_suffixes(
    table: RowTypeTable, people: Persons, columns: Sequence[int], clock: Clock | None = None
) -> list[Projection]:
    """Return projections for searches whose first column is the first, second, ... of at least one column.

    A search that begins with column j takes the last projection whose `first` is at most j: it has at most
    twice as many rows as need be. All together are at most about twice the longest. None if the time is over.
    """
    chosen: list[Projection] = []
    later: list[tuple[int, RowTypePartition]] = []
    kept: tuple[int, RowTypePartition] | None = None
    grouping, smallest = RowTypePartition.single(len(table)), 0
    clock = clock or Clock()
    for place in range(len(columns) - 1, -1, -1):
        if clock.is_over():
            return []
        clock.heartbeat()
        divided = grouping.by(table, columns[place])
        if kept is not None and divided.count > _SHRINKS * smallest:
            chosen.insert(0, _project(table, people, columns, *kept, later))
            later.insert(0, kept)
            smallest = 0
        smallest = smallest or divided.count
        kept, grouping = (place, divided), divided
    assert kept is not None  # noqa: S101 - there is at least one column
    return [_project(table, people, columns, *kept, later), *chosen]


def _project(
    table: RowTypeTable,
    people: Persons,
    columns: Sequence[int],
    first: int,
    grouping: RowTypePartition,
    later: Sequence[tuple[int, RowTypePartition]],
) -> Projection:
    row_of, count = grouping.class_of, grouping.count
    own = np.bincount(row_of, weights=people.own, minlength=count).astype(np.int64)
    row, person = _occurrences(row_of[people.place].astype(np.int64), people.person, count)
    own, row, person = _settle(own, row, person)
    is_known = own > 0
    is_known[row] = True
    alone, unknown = np.flatnonzero(own), np.flatnonzero(~is_known)
    origin = np.empty(count, dtype=np.int64)
    origin[row_of] = np.arange(row_of.size)
    place = origin[np.concatenate([alone, row, unknown])]
    codes = np.empty((len(columns) - first, place.size), dtype=np.int32)
    for number, column in enumerate(columns[first:]):
        codes[number] = table.codes[column][place]
    merge_as = np.empty((len(later), place.size), dtype=np.int32)
    for number, (_, merged) in enumerate(later):
        merge_as[number] = merged.class_of[place]
    weights = np.concatenate([own[alone], -1 - person, np.zeros(unknown.size, dtype=np.int64)])
    merge_from = np.array([place for place, _ in later], dtype=np.int64)
    cardinalities = table.cardinalities[columns[first:]]
    return Projection(first, codes, cardinalities, weights.astype(np.int32), merge_from, merge_as)


def unmergeable(codes: Codes) -> Projection:
    """Return the projection of rows of one person each that are all different."""
    size = codes.shape[1]
    cardinalities = codes.max(axis=1).astype(np.int64) + 1
    nothing = np.empty((0, size), dtype=np.int32)
    return Projection(
        0, codes, cardinalities, np.ones(size, dtype=np.int32), np.empty(0, dtype=np.int64), nothing
    )


def _occurrences(row: Numbers, person: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """Return the different pairs of person and row, ascending by person."""
    pairs = np.unique(person * count + row)
    return pairs % count, pairs // count


def _settle(own: Numbers, row: Numbers, person: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Count people who occur in one row only as that row's own."""
    if not person.size:
        return own, row, person
    times = np.bincount(person)
    is_shared: NDArray[np.bool_] = times[person] > 1
    settled = own + np.bincount(row[~is_shared], minlength=own.size)
    return settled, row[is_shared], person[is_shared]


class Partitions(NamedTuple):
    """Several partitions of a projection, the first with all its rows in one class (none with one row)."""

    rows: Codes
    """Shape (p, n). Rows of the classes of more than one row, class by class, in their own order within a
    class."""
    weights: Codes
    """Shape (p, n). The people of each of them, as in `Projection`."""
    starts: Codes
    """Shape (p, n // 2 + 2). Where each class begins; after the last one, where it ends."""
    classes: Numbers
    """Shape (p,). Number of these classes."""
    path: Numbers
    """Shape (p,). For `descend`: the column by which each partition was made from the one before, -1 before
    the first."""


class Counters(NamedTuple):
    """Arrays for counting: the first four, of one place per value, are zero between uses, `merged` is -1."""

    times: Numbers
    mass: Numbers
    people: Numbers
    last: Numbers
    place: Numbers
    touched: Numbers
    merged: Codes
    unsorted: Codes
    unsorted_weights: Codes
    begins: Numbers
    lengths: Numbers
    sizes: Numbers


class Division(NamedTuple):
    """A projection that is being divided."""

    projection: Projection
    partitions: Partitions
    counters: Counters


def room_for(projection: Projection, partitions: int) -> Division:
    """Return room for some partitions of rows, the first of them filled."""
    count, values = projection.weights.size, int(projection.codes.max(initial=0)) + 1
    room = Partitions(
        np.empty((partitions, count), dtype=np.int32),
        np.empty((partitions, count), dtype=np.int32),
        np.zeros((partitions, count // 2 + 2), dtype=np.int32),
        np.zeros(partitions, dtype=np.int64),
        np.full(partitions, -1, dtype=np.int64),
    )
    room.rows[0] = np.arange(count)
    room.weights[0] = projection.weights
    room.starts[0, 1] = count
    room.classes[0] = int(count > 1)
    times, mass, people, last, place, touched = np.zeros((6, values), dtype=np.int64)
    merged = np.full(int(projection.merge_as.max(initial=-1)) + 1, -1, dtype=np.int32)
    unsorted, unsorted_weights = np.empty((2, count), dtype=np.int32)
    begins, lengths, sizes = np.empty((3, count // 2 + 1), dtype=np.int64)
    counters = Counters(
        times, mass, people, last, place, touched, merged, unsorted, unsorted_weights, begins, lengths, sizes
    )
    return Division(projection, room, counters)


@kernel
def split(division: Division, column: int, source: int, target: int) -> None:
    """Divide the classes of a partition by a column; those that result have the smallest classes first."""
    projection, partitions, counters = division
    rows, weights = partitions.rows[source], partitions.weights[source]
    starts = partitions.starts[source]
    codes = projection.codes[column - projection.first]
    # Count each value of a class, give those that several rows have a stretch of places, then fill it.
    times, mass, next_place = counters.times, counters.mass, counters.place
    count, end = 0, 0
    for number in range(partitions.classes[source]):
        touched = 0
        for place in range(starts[number], starts[number + 1]):
            value = codes[rows[place]]
            if times[value] == 0:
                counters.touched[touched] = value
                touched += 1
            times[value] += 1
            mass[value] += max(weights[place], 1)
        for value in counters.touched[:touched]:
            next_place[value] = -1
            if times[value] > 1:
                next_place[value] = end
                counters.begins[count], counters.lengths[count] = end, times[value]
                counters.sizes[count] = mass[value]
                end += times[value]
                count += 1
            times[value] = 0
            mass[value] = 0
        for place in range(starts[number], starts[number + 1]):
            value = codes[rows[place]]
            if next_place[value] >= 0:
                counters.unsorted[next_place[value]] = rows[place]
                counters.unsorted_weights[next_place[value]] = weights[place]
                next_place[value] += 1
    _arrange(partitions, target, count, counters)


@kernel
def _arrange(partitions: Partitions, target: int, count: int, counters: Counters) -> None:
    """Write some classes, the smallest first."""
    rows, weights = partitions.rows[target], partitions.weights[target]
    starts = partitions.starts[target]
    order = np.argsort(counters.sizes[:count])
    end = 0
    for rank in range(count):
        starts[rank] = end
        begin = counters.begins[order[rank]]
        for place in range(begin, begin + counters.lengths[order[rank]]):
            rows[end] = counters.unsorted[place]
            weights[end] = counters.unsorted_weights[place]
            end += 1
    starts[count] = end
    partitions.classes[target] = count


@kernel
def _merge(division: Division, column: int, target: int) -> None:
    """Make one row of those in a class that agree on all columns after one, if they share nobody."""
    projection, partitions, counters = division
    which = np.searchsorted(projection.merge_from, column + 1, side="right") - 1
    if which < 0:
        return
    merge_as, merged = projection.merge_as[which], counters.merged
    rows, weights = partitions.rows[target], partitions.weights[target]
    starts = partitions.starts[target]
    # In place: what is written never overtakes what is read. Persons who occur elsewhere, too, stay apart,
    # since a merged row could not tell who of them was counted already.
    count, end, begin = 0, 0, 0
    for number in range(partitions.classes[target]):
        first = end
        stop = starts[number + 1]
        for place in range(begin, stop):
            row = rows[place]
            if weights[place] > 0:
                if merged[merge_as[row]] >= 0:
                    weights[merged[merge_as[row]]] += weights[place]
                    continue
                merged[merge_as[row]] = end
            rows[end] = row
            weights[end] = weights[place]
            end += 1
        begin = stop
        for place in range(first, end):
            merged[merge_as[rows[place]]] = -1
        if end - first < 2:
            end = first
        else:
            starts[count] = first
            count += 1
    starts[count] = end
    partitions.classes[target] = count


@kernel
def added_classes(division: Division, column: int, source: int, k: int) -> tuple[int, int]:
    """Return how many classes a column adds, -1 if one is below k people, and the rows looked at."""
    projection, partitions, counters = division
    rows, starts = partitions.rows[source], partitions.starts[source]
    place = column - projection.first
    codes, values = projection.codes[place], projection.cardinalities[place]
    added, looked = 0, 0
    for number in range(partitions.classes[source]):
        begin, end = starts[number], starts[number + 1]
        touched, seen = count_people_per_value(
            rows[begin:end], partitions.weights[source, begin:end], codes, values, k, counters
        )
        looked += seen
        is_small = False
        # only what was touched is cleared: a column may have far more values than a class has rows
        for value in counters.touched[:touched]:
            is_small |= counters.people[value] < k
            counters.people[value] = 0
            counters.last[value] = 0
        if is_small:
            return -1, looked
        added += touched - 1
    return added, looked


@kernel
def count_people_per_value(
    rows: Codes, weights: Codes, codes: Codes, values: int, k: int, counters: Counters
) -> tuple[int, int]:
    """Count the people of a class per value; return how many values were met, and rows looked at.

    It ends as soon as every value of the column has k people: then the class is large enough throughout.

    Parameters
    ----------
    rows, weights : ndarray of int32
        The rows of the class with their people, as in `Partitions`.
    codes : ndarray of int32
        Value of each row.
    counters : Counters
        `people` and `last` are left as counted, at the values that `touched` lists first.
    """
    people, last = counters.people, counters.last
    touched, lacking = 0, values
    for place in range(rows.size):
        value, weight = codes[rows[place]], weights[place]
        before = people[value]
        if before == 0:
            counters.touched[touched] = value
            touched += 1
        if weight > 0:
            people[value] += weight
        elif weight < 0:  # a person with several rows, which follow each other
            if last[value] != weight:
                last[value] = weight
                people[value] += 1
        elif before == 0:
            people[value] = 1
        if before < k <= people[value]:
            lacking -= 1
            if lacking == 0:
                return touched, place + 1
    return touched, rows.size


@kernel
def descend(columns: Numbers, division: Division) -> int:
    """Make the partitions by the first 0, 1, 2, ... of some columns; return how many rows that took.

    Rows that agree on all columns after the last one are merged.

    The common beginning with the call before costs nothing. Columns ascend if rows can be merged.
    """
    partitions = division.partitions
    depth = 0
    while depth < columns.size and partitions.path[depth + 1] == columns[depth]:
        depth += 1
    partitions.path[depth + 1 :] = -1
    work = 0
    for place in range(depth, columns.size):
        work += partitions.starts[place, partitions.classes[place]]
        split(division, columns[place], place, place + 1)
        _merge(division, columns[place], place + 1)
        partitions.path[place + 1] = columns[place]
    return work
