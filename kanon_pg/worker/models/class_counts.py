"""What is counted of a class: rows and people of each sensitive value, while row types join and leave."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import inner_kernel, kernel

TOLERANCE = 1e-9
"""Entropies and distances that differ by less are equal: both are sums of rounded numbers."""

_WORK_PER_SORTED = 16
"""As many values of row types can be looked at while one pair of a value and a person is sorted."""

ROWS, PEOPLE = 0, 1
"""What is counted: lines of `ClassCounts.number`, `ClassCounts.size` and `ModelEvaluator.shares`."""


class ClassCounts(NamedTuple):
    """The counts of one class.

    `number` has the rows and the people of each sensitive value, `size` those of the class. The values of
    column ``c`` that occur are listed in `held` from ``first[c]`` on, ``different[c]`` of them; `place` says
    where each of them stands. Values of all columns are numbered together, see `ModelEvaluator.first`.
    """

    number: NDArray[np.int64]
    held: NDArray[np.int32]
    place: NDArray[np.int32]
    different: NDArray[np.int64]
    size: NDArray[np.int64]


class ModelEvaluator(NamedTuple):
    """What is demanded of classes, the sensitive values of row types, and who stands behind them.

    `codes` numbers the values of each sensitive column from 0. What is known of the values of column ``c``
    in the whole table begins at ``first[c]`` in `shares` and `cumulated` (a line in rows, one in people)
    and at ``first[c] + c`` in `areas`, the running sums of `cumulated`. `demands` has the parameter of each
    privacy model, below 0 if it is not demanded; `in_people` says which count people, too. `counts` are
    working arrays. ``work[0]`` adds up the values of row types and of classes that were looked at, of which
    some hundred million take a second: searches look at the clock by it.
    """

    codes: NDArray[np.int32]
    first: NDArray[np.int64]
    shares: NDArray[np.float64]
    cumulated: NDArray[np.float64]
    areas: NDArray[np.float64]
    demands: NDArray[np.float64]
    in_people: NDArray[np.bool_]
    rows: NDArray[np.int64]
    own: NDArray[np.int64]
    shared_start: NDArray[np.int64]
    shared_people: NDArray[np.int64]
    shared_total: np.int64
    has_entity: np.int64
    counts: ClassCounts
    work: NDArray[np.int64]


def counts_for(columns: int, values: int) -> ClassCounts:
    """Return the counts of a class without row types."""
    return ClassCounts(
        np.zeros((2, values), dtype=np.int64), np.zeros(values, dtype=np.int32),
        np.zeros(values, dtype=np.int32), np.zeros(columns, dtype=np.int64), np.zeros(2, dtype=np.int64),
    )  # fmt: skip


@inner_kernel
def join(evaluator: ModelEvaluator, counts: ClassCounts, item: int) -> None:
    """Add a row type to a class; people of several row types are not counted."""
    rows, own = evaluator.rows[item], evaluator.own[item]
    counts.size[ROWS] += rows
    counts.size[PEOPLE] += own
    for column in range(evaluator.codes.shape[0]):
        begin = evaluator.first[column]
        value = begin + evaluator.codes[column, item]
        if counts.number[ROWS, value] == 0:
            place = begin + counts.different[column]
            counts.held[place] = value
            counts.place[value] = place
            counts.different[column] += 1
        counts.number[ROWS, value] += rows
        counts.number[PEOPLE, value] += own


@inner_kernel
def leave(evaluator: ModelEvaluator, counts: ClassCounts, item: int) -> None:
    """Take a row type away from a class that it has joined."""
    rows, own = evaluator.rows[item], evaluator.own[item]
    counts.size[ROWS] -= rows
    counts.size[PEOPLE] -= own
    for column in range(evaluator.codes.shape[0]):
        value = evaluator.first[column] + evaluator.codes[column, item]
        counts.number[ROWS, value] -= rows
        counts.number[PEOPLE, value] -= own
        if counts.number[ROWS, value] == 0:
            counts.different[column] -= 1
            last = counts.held[evaluator.first[column] + counts.different[column]]
            counts.held[counts.place[value]] = last
            counts.place[last] = counts.place[value]


@inner_kernel
def count_own(evaluator: ModelEvaluator, counts: ClassCounts, items: NDArray[np.int32]) -> None:
    """Count a class anew, as if all row types joined; people of several row types are not counted."""
    size, people = 0, 0
    evaluator.work[0] += items.size * (1 + evaluator.codes.shape[0])
    for item in items:
        size += evaluator.rows[item]
        people += evaluator.own[item]
    counts.size[ROWS], counts.size[PEOPLE] = size, people
    for column in range(evaluator.codes.shape[0]):
        begin = evaluator.first[column]
        for place in range(begin, begin + counts.different[column]):
            counts.number[ROWS, counts.held[place]] = 0
            counts.number[PEOPLE, counts.held[place]] = 0
        end = begin
        for item in items:
            value = begin + evaluator.codes[column, item]
            if counts.number[ROWS, value] == 0:
                counts.held[end] = value
                counts.place[value] = end
                end += 1
            counts.number[ROWS, value] += evaluator.rows[item]
            counts.number[PEOPLE, value] += evaluator.own[item]
        counts.different[column] = end - begin


@inner_kernel
def count_class(evaluator: ModelEvaluator, counts: ClassCounts, items: NDArray[np.int32]) -> None:
    """Count a class anew, with the people of several row types, each once; nobody may leave it then."""
    count_own(evaluator, counts, items)
    if evaluator.shared_people.size > 0:
        _count_shared(evaluator, counts, items)


@kernel
def _count_shared(evaluator: ModelEvaluator, counts: ClassCounts, items: NDArray[np.int32]) -> None:
    """Add the people of several row types."""
    counts.size[PEOPLE] += _distinct_pairs(evaluator, -1, items).size
    for column in range(evaluator.codes.shape[0]):
        for pair in _distinct_pairs(evaluator, column, items):
            counts.number[PEOPLE, evaluator.first[column] + pair // evaluator.shared_total] += 1


@kernel
def _distinct_pairs(evaluator: ModelEvaluator, column: int, items: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the distinct pairs of a value and a shared person, each as one number.

    A negative column takes all values as one.
    """
    entries = 0
    for item in items:
        entries += evaluator.shared_start[item + 1] - evaluator.shared_start[item]
    evaluator.work[0] += items.size + _WORK_PER_SORTED * entries
    pairs = np.empty(entries, dtype=np.int64)
    place = 0
    for item in items:
        value = np.int64(evaluator.codes[column, item]) if column >= 0 else np.int64(0)
        for entry in range(evaluator.shared_start[item], evaluator.shared_start[item + 1]):
            pairs[place] = value * evaluator.shared_total + evaluator.shared_people[entry]
            place += 1
    pairs.sort()
    is_new = np.ones(entries, dtype=np.bool_)
    is_new[1:] = pairs[1:] != pairs[:-1]
    return pairs[is_new]


@kernel
def people_of(evaluator: ModelEvaluator, items: NDArray[np.int32]) -> int:
    """Count the distinct people of some row types."""
    people = 0
    for item in items:
        people += evaluator.own[item]
    if evaluator.shared_people.size:
        people += _distinct_pairs(evaluator, -1, items).size
    return people


@inner_kernel
def end_of(evaluator: ModelEvaluator, counts: ClassCounts, column: int) -> int:
    """Return where the list of values of a column ends in `ClassCounts.held`."""
    return int(evaluator.first[column] + counts.different[column])


@inner_kernel
def number_of(counts: ClassCounts, unit: int, value: int) -> int:
    """Return the rows or people of a value that occurs: one person if nobody is known (entity NULL)."""
    return max(1, int(counts.number[unit, value]))


@inner_kernel
def size_of(counts: ClassCounts, unit: int) -> int:
    """Return the rows or people of a class, one if nobody is known."""
    return max(1, int(counts.size[unit]))


@inner_kernel
def most_frequent(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int) -> tuple[int, int]:
    """Return the most frequent value of a class, the first of several, and its number."""
    found, most = -1, 0
    for place in range(evaluator.first[column], end_of(evaluator, counts, column)):
        value = counts.held[place]
        number = number_of(counts, unit, value)
        if number > most or (number == most and value < found):
            found, most = value, number
    return found, most
