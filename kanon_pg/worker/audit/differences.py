"""Difference sets: on which columns two rows differ. A set of columns identifies if it meets them all.

A pair of different rows is told apart by exactly the columns of its difference set, so that the sets that
identify are those that hit every difference set. There are too many pairs to write all of them down; pairs
that a candidate leaves together are looked up when they are needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.audit.column_sets import Codes, Numbers
from kanon_pg.worker.audit.projections import Division, descend, room_for, unmergeable
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable

Masks = NDArray[np.uint64]

_PAIRS = 256
"""Pairs of rows that are looked at where a candidate leaves rows together."""


class Differences(NamedTuple):
    """Difference sets of some pairs of rows, as bits, none within another one; and their number."""

    masks: Masks
    total: Numbers

    def known(self) -> Masks:
        """Return the difference sets, a copy."""
        return self.masks[: self.total[0]].copy()


class DistinctRows(NamedTuple):
    """The different rows of a table, and room for dividing them."""

    division: Division
    """Of one row for each, over all columns; room for one partition more than columns."""
    by_row: Codes
    """Shape (n, m). The same codes, row by row."""


def distinct_rows(table: RowTypeTable) -> DistinctRows:
    """Return the different rows of a table."""
    rows = _rows_of(table.codes)
    by_many_values_first = np.argsort(-table.cardinalities, kind="stable")
    descend(by_many_values_first, rows.division)
    partitions = rows.division.partitions
    classes = int(partitions.classes[table.width])
    if classes == 0:
        return rows
    members, starts = partitions.rows[table.width], partitions.starts[table.width]
    is_first = np.ones(len(table), dtype=np.bool_)
    is_first[members[: starts[classes]]] = False
    is_first[members[starts[:classes]]] = True
    return _rows_of(table.codes[:, is_first])


def _rows_of(codes: Codes) -> DistinctRows:
    projection = unmergeable(np.ascontiguousarray(codes))
    return DistinctRows(room_for(projection, codes.shape[0] + 1), np.ascontiguousarray(codes.T))


def no_differences(capacity: int = 1024) -> Differences:
    """Return no difference sets, with room for some."""
    return Differences(np.zeros(capacity, dtype=np.uint64), np.zeros(1, dtype=np.int64))


def with_room(differences: Differences) -> Differences:
    """Return the difference sets with room for as many pairs as one look gives."""
    if differences.total[0] + _PAIRS <= differences.masks.size:
        return differences
    larger = no_differences(2 * differences.masks.size + _PAIRS)
    larger.masks[: differences.masks.size] = differences.masks
    larger.total[0] = differences.total[0]
    return larger


@kernel
def separates(columns: Numbers, rows: DistinctRows, differences: Differences) -> bool:
    """Return whether some columns identify; else learn difference sets that they don't meet."""
    descend(columns, rows.division)
    if rows.division.partitions.classes[columns.size] == 0:
        return True
    _learn(columns.size, rows, differences)
    return False


@kernel
def _learn(depth: int, rows: DistinctRows, differences: Differences) -> None:
    """Add difference sets of pairs that a partition leaves together."""
    partitions = rows.division.partitions
    members, starts, classes = partitions.rows[depth], partitions.starts[depth], partitions.classes[depth]
    pairs = starts[classes] - classes
    step = max(1, pairs // _PAIRS)
    number, begin = 0, differences.total[0]
    for looked in range(min(pairs, _PAIRS)):
        pair = looked * step
        # Pair number p of neighbours lies at place p plus the number of classes before it.
        while pair + number + 1 >= starts[number + 1]:
            number += 1
        _add(_difference(rows.by_row, members[pair + number], members[pair + number + 1]), begin, differences)
    _drop_supersets(begin, differences)


@kernel
def _difference(by_row: Codes, one: int, other: int) -> np.uint64:
    mask = np.uint64(0)
    for column in range(by_row.shape[1]):
        if by_row[one, column] != by_row[other, column]:
            mask |= np.uint64(1) << np.uint64(column)
    return mask


@kernel
def _add(mask: np.uint64, begin: int, differences: Differences) -> None:
    """Add a mask unless it contains one of those from `begin` on; drop those that contain it."""
    masks = differences.masks
    for place in range(begin, differences.total[0]):
        if masks[place] & mask == masks[place]:
            return
    end = begin
    for place in range(begin, differences.total[0]):
        if masks[place] & mask != mask:
            masks[end] = masks[place]
            end += 1
    masks[end] = mask
    differences.total[0] = end + 1


@kernel
def _drop_supersets(begin: int, differences: Differences) -> None:
    """Drop masks before `begin` that contain one from there on."""
    masks, count = differences.masks, differences.total[0]
    end = 0
    for place in range(count):
        keep = True
        if place < begin:
            for new in range(begin, count):
                if masks[place] & masks[new] == masks[new]:
                    keep = False
                    break
        if keep:
            masks[end] = masks[place]
            end += 1
    differences.total[0] = end
