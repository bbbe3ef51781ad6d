"""Minimal sample uniques: the smallest combinations of values that only one person has.

A person is *unique* on a set of columns if a class of it has that person alone; the set is minimal for that
class if on no subset its people are alone (Elliot, Manning and Ford 2002, SUDA: special uniques). People with
many small ones are easy to find even for an attacker who knows little.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.risk import DEEPEST, MinimalUniques
from kanon_pg.errors import InputError
from kanon_pg.worker.audit.differences import Masks
from kanon_pg.worker.audit.grouping import Codes, Grouping, Numbers, People
from kanon_pg.worker.audit.lines import Lines, lines_of
from kanon_pg.worker.audit.splitting import Partitions, Scratch, count_people, descend, room_for
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable


class _Known(NamedTuple):
    """Minimal sets per line as linked lists, and the size of the smallest set per person."""

    head: Codes
    following: Codes
    masks: Masks
    total: Numbers
    smallest: NDArray[np.uint8]


def minimal_uniques(
    table: RowTypeTable,
    columns: Sequence[int],
    clock: Clock | None = None,
    *,
    max_columns: int = DEEPEST,
) -> MinimalUniques:
    """Count the minimal sample uniques of some columns.

    Parameters
    ----------
    columns : sequence of int
        Numbers of different columns, at least one.
    clock : Clock, optional
        When its time is over, sizes that were not finished are left out.
    max_columns : int
        Most columns of a set, >= 1.

    Raises
    ------
    InputError
        `max_columns` is below 1.

    Notes
    -----
    O(n) per set of columns, for the people who are not yet unique on its first columns; memory grows with
    the number of minimal sets.
    """
    if max_columns < 1:
        raise InputError("The largest number of columns is below 1.", hint="Usual are 3 or 4.")
    clock = clock or Clock()
    people = People.of(table)
    order = sorted(columns, key=lambda column: -int(table.cardinalities[column]))
    search = _Search(lines_of(table, people, order), min(max_columns, len(order)), clock)
    search.run(is_lonely=people.sizes(Grouping.single(len(table)))[0] == 1)
    return MinimalUniques(
        tuple(search.sets), search.people(), search.by_column(order, columns), len(search.sets)
    )


class _Search:
    """Counting size by size."""

    def __init__(self, lines: Lines, most: int, clock: Clock) -> None:
        self._lines = lines
        self._most = most
        self._clock = clock
        self._partitions, self._scratch = room_for(lines, most)
        count = lines.weights.size
        shared = max(0, -int(lines.weights.min()))
        self._known = _Known(
            np.full(count, -1, dtype=np.int32),
            np.empty(1024, dtype=np.int32),
            np.empty(1024, dtype=np.uint64),
            np.zeros(1, dtype=np.int64),
            np.zeros(count + shared, dtype=np.uint8),
        )
        self._with_column = np.zeros(lines.codes.shape[0], dtype=np.int64)
        self.sets: list[int] = []

    def run(self, *, is_lonely: bool) -> None:
        """Count until all is counted or the time is over; a single person needs no column to be unique."""
        for size in range(1, self._most + 1):
            found = np.zeros_like(self._with_column) if is_lonely else self._try_size(size)
            if found is None:
                return
            self.sets.append(int(found.sum()) // size)
            self._with_column += found

    def _try_size(self, size: int) -> Numbers | None:
        """Return how many sets of a size contain each column, None if the time is over."""
        width = self._lines.codes.shape[0]
        found = np.zeros(width, dtype=np.int64)
        for beginning in combinations(range(width - 1), size - 1):
            if self._clock.is_over():
                return None
            self._clock.report(f"sample uniques on {size} columns", None)
            begun = np.array(beginning, dtype=np.int64)
            first = begun[-1] + 1 if size > 1 else 0
            for column in range(first, width):
                self._make_room()
                new = _new_uniques(begun, column, self._lines, self._partitions, self._scratch, self._known)
                found[begun] += new
                found[column] += new
        return found

    def _make_room(self) -> None:
        """Make room for one more set on every line."""
        needed = int(self._known.total[0]) + self._lines.weights.size
        if needed > self._known.masks.size:
            following = np.empty(2 * needed, dtype=np.int32)
            masks = np.empty(2 * needed, dtype=np.uint64)
            following[: self._known.following.size] = self._known.following
            masks[: self._known.masks.size] = self._known.masks
            self._known = self._known._replace(following=following, masks=masks)

    def people(self) -> tuple[int, ...]:
        """Return the people by the size of their smallest set."""
        counts = np.bincount(self._known.smallest, minlength=len(self.sets) + 1)
        return tuple(int(count) for count in counts[1 : len(self.sets) + 1])

    def by_column(self, order: Sequence[int], columns: Sequence[int]) -> tuple[int, ...]:
        """Return how many sets contain each column."""
        return tuple(int(self._with_column[order.index(column)]) for column in columns)


@kernel
def _new_uniques(
    beginning: Numbers,
    column: int,
    lines: Lines,
    partitions: Partitions,
    scratch: Scratch,
    known: _Known,
) -> int:
    """Count the classes for which some columns and one more are a minimal sample unique; note these."""
    descend(beginning, lines, partitions, scratch)
    depth = beginning.size
    held, starts = partitions.lines[depth], partitions.starts[depth]
    codes, values = lines.codes[column - lines.first], lines.cardinalities[column - lines.first]
    mask = np.uint64(1) << np.uint64(column)
    for other in beginning:
        mask |= np.uint64(1) << np.uint64(other)
    found = 0
    for number in range(partitions.classes[depth]):
        own = held[starts[number] : starts[number + 1]]
        weights = partitions.weights[depth, starts[number] : starts[number + 1]]
        touched, _ = count_people(own, weights, codes, values, 2, scratch)
        if np.any(scratch.people[scratch.touched[:touched]] == 1):
            found += _note_class(own, mask, depth + 1, codes, scratch.people, lines.weights, known)
        for value in scratch.touched[:touched]:
            scratch.people[value] = 0
            scratch.last[value] = 0
    return found


@kernel
def _note_class(
    own: Codes, mask: np.uint64, size: int, codes: Codes, people: Numbers, weights: Codes, known: _Known
) -> int:
    """Note the sets that are minimal for single people within a class; return how many these are."""
    found = 0
    for line in own:
        value = codes[line]
        if people[value] == 1:
            # The other lines of this person in the class, if any, are treated alike.
            people[value] = 0
            if not _contains_known(line, mask, known):
                found += 1
                people[value] = -1
        if people[value] == -1:
            _note(line, mask, size, weights, known)
    return found


@kernel
def _contains_known(line: int, mask: np.uint64, known: _Known) -> bool:
    """Return whether a set contains a known one of a line."""
    entry = known.head[line]
    while entry >= 0:
        if known.masks[entry] & mask == known.masks[entry]:
            return True
        entry = known.following[entry]
    return False


@kernel
def _note(line: int, mask: np.uint64, size: int, weights: Codes, known: _Known) -> None:
    """Add a set to those of a line."""
    entry = known.total[0]
    known.masks[entry] = mask
    known.following[entry] = known.head[line]
    known.head[line] = entry
    known.total[0] += 1
    person = line if weights[line] >= 0 else weights.size - 1 - weights[line]
    if known.smallest[person] == 0:
        known.smallest[person] = size
