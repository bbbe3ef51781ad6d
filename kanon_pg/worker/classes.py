"""Equivalence classes: row types that look alike once their suppressed cells are gone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.row_types import RowTypeTable, mix


@dataclass(frozen=True)
class ClassTable:
    """The classes that an assignment of pattern vectors makes."""

    class_of: NDArray[np.int64]
    """Shape (n,). Class of each row type. Classes are numbered by content, not by position."""
    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    """Shape (c,). `rows`, `people`: rows and distinct people of each class."""
    vectors: NDArray[np.int64]
    """Shape (c,). Pattern vector of each class."""

    def __len__(self) -> int:
        return int(self.rows.size)


def classes_of(table: RowTypeTable, assigned: NDArray[np.int64]) -> ClassTable:
    """Return the classes that arise when every row type is suppressed by its vector.

    Parameters
    ----------
    assigned : ndarray of int64, shape (n,)
        Bit mask of suppressed columns of each row type.
    """
    keys = mix(assigned.view(np.uint64))
    for column in range(table.width):
        keys += np.where((assigned >> column) & 1 == 0, table.hashes[column], np.uint64(0))
    class_of, first = number_values(keys.view(np.int64))
    count = first.size
    rows = np.bincount(class_of, weights=table.rows, minlength=count).astype(np.int64)
    return ClassTable(class_of, rows, people_per_class(table, class_of, count), assigned[first])


def people_per_class(table: RowTypeTable, class_of: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Count the distinct people of each class, shape (count,)."""
    people = np.bincount(class_of, weights=table.own, minlength=count).astype(np.int64)
    if table.has_shared_people:
        owner = np.repeat(class_of, np.diff(table.shared_start))
        pairs = sorted_distinct(owner * table.shared_total + table.shared_people)
        people += np.bincount(pairs // table.shared_total, minlength=count)
    return people


def sorted_distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct numbers of many of which nearly all differ, in ascending order.

    ``numpy.unique`` hashes them and takes twenty times as long.
    """
    ordered = np.sort(numbers)
    is_new = np.ones(ordered.size, dtype=np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]
