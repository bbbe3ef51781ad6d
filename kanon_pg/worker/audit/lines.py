"""What is counted when a set of columns is tried: the fewest lines with the same information.

Only the columns that may still be added matter to a search. Row types that agree on all of these become one
line, so that a search over columns with few values works on few lines, however long the table is.

Classes of lines are divided by one column after the other and kept as the lines in them, one class behind
the other. A class of a single line is left out: no column divides it (the stripped partitions of Huhtala,
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


def lines_of(table: RowTypeTable, people: Persons, columns: Sequence[int]) -> Lines:
    """Return the lines of some columns, in the order of a search."""
    return _lines(table, people, columns, 0, grouping_of(table, columns), [])


def lines_of_suffixes(
    table: RowTypeTable, people: Persons, columns: Sequence[int], clock: Clock | None = None
) -> list[Lines]:
    """Return lines for searches whose first column is the first, second, ... of some columns.

    Parameters
    ----------
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
    later: list[tuple[int, RowTypePartition]] = []
    kept: tuple[int, RowTypePartition] | None = None
    grouping, smallest = RowTypePartition.single(len(table)), 0
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
    people: Persons,
    columns: Sequence[int],
    first: int,
    grouping: RowTypePartition,
    later: Sequence[tuple[int, RowTypePartition]],
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
    """Return lines of one person each that are all different."""
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


class Partitions(NamedTuple):
    """Several partitions of the same lines, the first with all lines in one class (none with one line).

    Parameters
    ----------
    lines : ndarray of int32, shape (p, n)
        Lines of the classes of more than one line, class by class, in their own order within a class.
    weights : ndarray of int32, shape (p, n)
        The people of each of them, as in `Lines`.
    starts : ndarray of int32, shape (p, n // 2 + 2)
        Where each class begins; after the last one, where it ends.
    classes : ndarray of int64, shape (p,)
        Number of these classes.
    path : ndarray of int64, shape (p,)
        For `descend`: the column by which each partition was made from the one before, -1 before the first.
    """

    lines: Codes
    weights: Codes
    starts: Codes
    classes: Numbers
    path: Numbers


class LineCounters(NamedTuple):
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


def room_for(lines: Lines, partitions: int) -> tuple[Partitions, LineCounters]:
    """Return room for some partitions of lines, the first of them filled."""
    count, values = lines.weights.size, int(lines.codes.max(initial=0)) + 1
    room = Partitions(
        np.empty((partitions, count), dtype=np.int32),
        np.empty((partitions, count), dtype=np.int32),
        np.zeros((partitions, count // 2 + 2), dtype=np.int32),
        np.zeros(partitions, dtype=np.int64),
        np.full(partitions, -1, dtype=np.int64),
    )
    room.lines[0] = np.arange(count)
    room.weights[0] = lines.weights
    room.starts[0, 1] = count
    room.classes[0] = int(count > 1)
    times, mass, people, last, place, touched = np.zeros((6, values), dtype=np.int64)
    merged = np.full(int(lines.merge_as.max(initial=-1)) + 1, -1, dtype=np.int32)
    unsorted, unsorted_weights = np.empty((2, count), dtype=np.int32)
    begins, lengths, sizes = np.empty((3, count // 2 + 1), dtype=np.int64)
    return room, LineCounters(
        times, mass, people, last, place, touched, merged, unsorted, unsorted_weights, begins, lengths, sizes
    )


@kernel
def split(
    lines: Lines, column: int, partitions: Partitions, source: int, target: int, scratch: LineCounters
) -> None:
    """Divide the classes of a partition by a column; what results has its smallest classes first.

    Parameters
    ----------
    source, target : int
        Which partition to divide, and which one to overwrite.
    """
    held, weights = partitions.lines[source], partitions.weights[source]
    starts = partitions.starts[source]
    codes = lines.codes[column - lines.first]
    times, mass, next_place = scratch.times, scratch.mass, scratch.place
    found, end = 0, 0
    for number in range(partitions.classes[source]):
        touched = 0
        for place in range(starts[number], starts[number + 1]):
            value = codes[held[place]]
            if times[value] == 0:
                scratch.touched[touched] = value
                touched += 1
            times[value] += 1
            mass[value] += max(weights[place], 1)
        for value in scratch.touched[:touched]:
            next_place[value] = -1
            if times[value] > 1:
                next_place[value] = end
                scratch.begins[found], scratch.lengths[found] = end, times[value]
                scratch.sizes[found] = mass[value]
                end += times[value]
                found += 1
            times[value] = 0
            mass[value] = 0
        for place in range(starts[number], starts[number + 1]):
            value = codes[held[place]]
            if next_place[value] >= 0:
                scratch.unsorted[next_place[value]] = held[place]
                scratch.unsorted_weights[next_place[value]] = weights[place]
                next_place[value] += 1
    _arrange(partitions, target, found, scratch)


@kernel
def _arrange(partitions: Partitions, target: int, found: int, scratch: LineCounters) -> None:
    """Write the classes that were found, the smallest first."""
    held, weights = partitions.lines[target], partitions.weights[target]
    starts = partitions.starts[target]
    order = np.argsort(scratch.sizes[:found])
    end = 0
    for rank in range(found):
        starts[rank] = end
        begin = scratch.begins[order[rank]]
        for place in range(begin, begin + scratch.lengths[order[rank]]):
            held[end] = scratch.unsorted[place]
            weights[end] = scratch.unsorted_weights[place]
            end += 1
    starts[found] = end
    partitions.classes[target] = found


@kernel
def _merge(lines: Lines, column: int, partitions: Partitions, target: int, scratch: LineCounters) -> None:
    """Make one line of those in a class that agree on all columns after one, if they share nobody."""
    which = np.searchsorted(lines.merge_from, column + 1, side="right") - 1
    if which < 0:
        return
    merge_as, merged = lines.merge_as[which], scratch.merged
    held, weights = partitions.lines[target], partitions.weights[target]
    starts = partitions.starts[target]
    found, end, begin = 0, 0, 0
    for number in range(partitions.classes[target]):
        first = end
        stop = starts[number + 1]
        for place in range(begin, stop):
            line = held[place]
            if weights[place] > 0:
                if merged[merge_as[line]] >= 0:
                    weights[merged[merge_as[line]]] += weights[place]
                    continue
                merged[merge_as[line]] = end
            held[end] = line
            weights[end] = weights[place]
            end += 1
        begin = stop
        for place in range(first, end):
            merged[merge_as[held[place]]] = -1
        if end - first < 2:
            end = first
        else:
            starts[found] = first
            found += 1
    starts[found] = end
    partitions.classes[target] = found


@kernel
def added_classes(
    lines: Lines, column: int, partitions: Partitions, source: int, k: int, scratch: LineCounters
) -> tuple[int, int]:
    """Return how many classes a column adds, -1 if one is below k people, and the lines looked at."""
    held, starts = partitions.lines[source], partitions.starts[source]
    codes, values = lines.codes[column - lines.first], lines.cardinalities[column - lines.first]
    added, looked = 0, 0
    for number in range(partitions.classes[source]):
        begin, end = starts[number], starts[number + 1]
        touched, seen = count_people_per_value(
            held[begin:end], partitions.weights[source, begin:end], codes, values, k, scratch
        )
        looked += seen
        is_small = False
        for value in scratch.touched[:touched]:
            is_small |= scratch.people[value] < k
            scratch.people[value] = 0
            scratch.last[value] = 0
        if is_small:
            return -1, looked
        added += touched - 1
    return added, looked


@kernel
def count_people_per_value(
    held: Codes, weights: Codes, codes: Codes, values: int, k: int, scratch: LineCounters
) -> tuple[int, int]:
    """Count the people of a class per value; return how many values were met, and lines looked at.

    It ends as soon as every value of the column has k people: then the class is large enough throughout.

    Parameters
    ----------
    held, weights : ndarray of int32
        The lines of the class with their people, as in `Partitions`.
    codes : ndarray of int32
        Value of each line.
    values : int
        Number of values of the column.
    scratch : LineCounters
        `people` and `last` are left as counted, at the values that `touched` lists first.
    """
    people, last = scratch.people, scratch.last
    touched, lacking = 0, values
    for place in range(held.size):
        value, weight = codes[held[place]], weights[place]
        before = people[value]
        if before == 0:
            scratch.touched[touched] = value
            touched += 1
        if weight > 0:
            people[value] += weight
        elif weight < 0:
            if last[value] != weight:
                last[value] = weight
                people[value] += 1
        elif before == 0:
            people[value] = 1
        if before < k <= people[value]:
            lacking -= 1
            if lacking == 0:
                return touched, place + 1
    return touched, held.size


@kernel
def descend(columns: Numbers, lines: Lines, partitions: Partitions, scratch: LineCounters) -> int:
    """Make the partitions by the first 1, 2, ... of some columns; return how many lines that took.

    Parameters
    ----------
    columns : ndarray of int64, shape (s,)
        Columns of which the common beginning with the call before costs nothing; ascending if lines can be
        merged.
    lines, partitions, scratch
        As in `split`; partition number s is the one by all the columns. Lines that agree on all columns
        after the last one are merged.
    """
    depth = 0
    while depth < columns.size and partitions.path[depth + 1] == columns[depth]:
        depth += 1
    partitions.path[depth + 1 :] = -1
    work = 0
    for place in range(depth, columns.size):
        work += partitions.starts[place, partitions.classes[place]]
        split(lines, columns[place], partitions, place, place + 1, scratch)
        _merge(lines, columns[place], partitions, place + 1, scratch)
        partitions.path[place + 1] = columns[place]
    return work
