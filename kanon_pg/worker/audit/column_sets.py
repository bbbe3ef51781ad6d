"""Classes of column sets, and the people and rows in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.row_types import RowTypeTable

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]

_DIRECT = 4
"""Slots per row type up to which classes are numbered through a table of all combinations."""


@dataclass(frozen=True)
class RowTypePartition:
    """Row types divided into classes: the class of each, numbered from 0 without gaps, and their number."""

    class_of: Codes
    count: int

    @classmethod
    def single(cls, size: int) -> RowTypePartition:
        """Return one class with everything: that of the empty set of columns."""
        return cls(np.zeros(size, dtype=np.int32), 1)

    def by(self, table: RowTypeTable, *columns: int) -> RowTypePartition:
        """Return the classes divided further by columns of a table."""
        partition = self
        for column in columns:
            partition = partition.divided(table.codes[column], int(table.cardinalities[column]))
        return partition

    def divided(self, codes: Codes, cardinality: int) -> RowTypePartition:
        """Return the classes divided further by one column.

        Notes
        -----
        O(n) with a table of all combinations or, if these are many, with hashing.
        """
        slots = self.count * cardinality
        if slots <= _DIRECT * max(codes.size, 1024):
            return RowTypePartition(*_directly(self.class_of, codes, cardinality, slots))
        numbers, first = number_values(self.class_of.astype(np.int64) * cardinality + codes)
        return RowTypePartition(numbers.astype(np.int32), first.size)


@kernel
def _directly(class_of: Codes, codes: Codes, cardinality: int, slots: int) -> tuple[Codes, int]:
    number = np.full(slots, -1, dtype=np.int32)
    divided = np.empty(class_of.size, dtype=np.int32)
    count = 0
    for place in range(class_of.size):
        slot = np.int64(class_of[place]) * cardinality + codes[place]
        if number[slot] < 0:
            number[slot] = count
            count += 1
        divided[place] = number[slot]
    return divided, count


def grouping_of(table: RowTypeTable, columns: Iterable[int]) -> RowTypePartition:
    """Return the classes of a set of columns; one class for none."""
    grouping = RowTypePartition.single(len(table))
    for column in columns:
        if grouping.count == len(table):
            break  # no column divides classes of one row type
        grouping = grouping.by(table, column)
    return grouping


def groupings_of(
    table: RowTypeTable, sets: Sequence[tuple[int, ...]]
) -> Iterator[tuple[tuple[int, ...], RowTypePartition]]:
    """Yield the classes of sets of columns in lexicographic order; beginnings are divided once."""
    path: list[tuple[int, RowTypePartition]] = []
    root = RowTypePartition.single(len(table))
    for columns in sets:
        depth = 0
        while depth < min(len(path), len(columns)) and path[depth][0] == columns[depth]:
            depth += 1
        del path[depth:]
        for column in columns[depth:]:
            above = path[-1][1] if path else root
            path.append((column, above.by(table, column)))
        yield columns, path[-1][1] if path else root


@dataclass(frozen=True)
class Persons:
    """Who stands behind the row types, ready for counting per class."""

    own: Numbers
    """Shape (n,). People who occur in one row type only."""
    place: Numbers
    person: Numbers
    """Shape (i,). `place`, `person`: row type and person of each occurrence of the others, ascending by
    person."""

    @classmethod
    def of(cls, table: RowTypeTable) -> Persons:
        """Return the people of a table."""
        place = np.repeat(np.arange(len(table)), np.diff(table.shared_start))
        order = np.argsort(table.shared_people, kind="stable")
        return cls(table.own, place[order], table.shared_people[order])

    def sizes(self, grouping: RowTypePartition) -> Numbers:
        """Return the size of each class: its different people, at least 1."""
        return _sizes(grouping.class_of, grouping.count, self.own, self.place, self.person)

    def within(self, is_inside: NDArray[np.bool_], grouping: RowTypePartition) -> int:
        """Return how many different people occur in some classes; at least one if there are classes."""
        if not is_inside.any():
            return 0
        inside = is_inside[grouping.class_of]
        shared = np.unique(self.person[inside[self.place]]).size if self.place.size else 0
        return max(1, int(self.own[inside].sum()) + shared)

    def greatest(self, numbers: NDArray[Any], grouping: RowTypePartition) -> tuple[NDArray[Any], Numbers]:
        """Return the greatest number among the classes of each person.

        Returns
        -------
        numbers, people : ndarray
            Numbers, and how many people have each; who is in several classes is counted once. They add up to
            `within` of all classes.
        """
        own = np.bincount(grouping.class_of, weights=self.own, minlength=grouping.count).astype(np.int64)
        if not self.place.size and not own.any():
            return numbers.max(keepdims=True), np.ones(1, dtype=np.int64)
        begins = np.flatnonzero(np.diff(self.person, prepend=-1))
        shared = numbers[grouping.class_of[self.place]]
        if begins.size:
            shared = np.maximum.reduceat(shared, begins)
        return np.concatenate([numbers, shared]), np.concatenate([own, np.ones_like(begins)])


@kernel
def _sizes(class_of: Codes, count: int, own: Numbers, place: Numbers, person: Numbers) -> Numbers:
    sizes = np.zeros(count, dtype=np.int64)
    for one in range(class_of.size):
        sizes[class_of[one]] += own[one]
    # occurrences ascend by person, so a class has counted a person if it met them last
    last = np.full(count if place.size else 0, -1, dtype=np.int64)
    for occurrence in range(place.size):
        number = class_of[place[occurrence]]
        if last[number] != person[occurrence]:
            last[number] = person[occurrence]
            sizes[number] += 1
    return np.maximum(sizes, 1)
