"""All minimal violating sets of columns of a table, and the smallest of them.

Sets are tried level by level: first those of one column, then of two, and so on. A set of columns can be a
minimal violating set only if all its subsets with one column fewer neither violate nor hold a column that
their other columns determine: a determined column divides no class, so the set without it would violate as
well. Such subsets are called *open* here; they are closed downwards, as the free sets of Boulicaut, Bykowski
and Rigotti (2000), and the next level is built from the open sets of the last one as in Agrawal and Srikant
(1994, Apriori). Sets are visited in lexicographic order along a stack of partitions, so that a set with s
columns costs one division of the classes of its first s - 1 columns.

What the time does not suffice for is made up for by random walks: a walk adds columns in random order until
the set violates, then takes out what is not needed. Each set that is found so is violating and minimal;
nothing follows for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.audit.column_sets import Codes, Numbers, Persons, RowTypePartition
from kanon_pg.worker.audit.projections import (
    Division,
    Projection,
    added_classes,
    descend,
    projections_of_suffixes,
    room_for,
    split,
)
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable

Members = NDArray[np.int64]
Masks = NDArray[np.uint64]


class OpenSets(NamedTuple):
    """All open sets of one size."""

    members: Members
    """Shape (n, size). Places of the columns in the order of the search, ascending; sets in lexicographic
    order."""
    classes: Numbers
    """Shape (n,). Number of classes of each set."""
    masks: Masks
    """Shape (n,). The places as bits."""
    slots: Codes
    """Shape (a power of 2,). Hash table from masks to numbers of sets, -1 where empty."""

    @property
    def size(self) -> int:
        """Columns of each set."""
        return int(self.members.shape[1])


def level_of(members: Members, classes: Numbers) -> OpenSets:
    """Return sets of one size, each with its number of classes, as a level."""
    masks: Masks = np.bitwise_or.reduce(np.uint64(1) << members.astype(np.uint64), axis=1)
    return OpenSets(members, classes, masks, _slots(masks))


@kernel
def _slot(mask: np.uint64, masks: Masks, slots: Codes) -> int:
    """Return the slot of a mask: the one that holds its number, or the empty one where it belongs."""
    last = np.uint64(slots.size - 1)
    mixed = mask * np.uint64(0x9E3779B97F4A7C15)
    slot = (mixed ^ (mixed >> np.uint64(32))) & last
    while slots[slot] >= 0 and masks[slots[slot]] != mask:
        slot = (slot + np.uint64(1)) & last
    return int(slot)


@kernel
def _slots(masks: Masks) -> Codes:
    """Return a hash table from masks to their numbers."""
    size = 4
    while size < 2 * masks.size:
        size *= 2
    slots = np.full(size, -1, dtype=np.int32)
    for number in range(masks.size):
        slots[_slot(masks[number], masks, slots)] = number
    return slots


@kernel
def share_beginning(level: OpenSets, one: int, other: int) -> bool:
    """Return whether two sets differ in their last columns only."""
    last = level.members.shape[1] - 1
    return bool(np.all(level.members[one, :last] == level.members[other, :last]))


@kernel
def most_classes_below(level: OpenSets, one: int, other: int) -> int:
    """Return the most classes of a subset, with one column fewer, of the union of two sets.

    The two differ in their last columns only. -1 if a subset is not open.
    """
    most = max(level.classes[one], level.classes[other])
    union = level.masks[one] | level.masks[other]
    for place in range(level.members.shape[1] - 1):
        mask = union ^ (np.uint64(1) << np.uint64(level.members[one, place]))
        number = level.slots[_slot(mask, level.masks, level.slots)]
        if number < 0:
            return -1
        most = max(most, level.classes[number])
    return int(most)


_WORK = 10_000_000
"""Rows looked at between two looks at the clock: less than a tenth of a second."""

MOST_SETS = 4_000_000
"""Most open sets of one size: some hundred megabytes."""

_ROOM = 1024
"""Sets of each kind found between two looks at the clock."""


class _Tried(NamedTuple):
    """Sets that were tried: the open ones with their classes, and the violating ones."""

    opened: Members
    classes: Numbers
    violating: Members
    counts: Numbers


def next_level(
    level: OpenSets,
    suffixes: Sequence[Projection],
    k: int,
    clock: Clock,
    violating: Callable[[Members], None],
) -> OpenSets | None:
    """Try all sets with one column more than those of a level.

    Parameters
    ----------
    violating : callable
        Receives minimal violating sets, as `OpenSets.members`, while they are found.

    Returns
    -------
    Level or None
        All open sets of the next size; None if the time was over before all sets were tried, or if there are
        more than `MOST_SETS`.

    Notes
    -----
    O(rows) per set tried, mostly far less: small classes are looked at first.
    """
    members = [np.empty((0, level.size + 1), dtype=np.int64)]
    classes = [np.empty(0, dtype=np.int64)]
    opened = 0
    for begin, end, projection in _ranges(level, suffixes):
        position = begin
        division = room_for(projection, level.size + 1)
        while position < end:
            if clock.is_over() or opened > MOST_SETS:
                return None
            clock.report(f"sets of {level.size + 1} columns", position / level.classes.size)
            tried = _room(level.size + 1)
            position = _try_some(level, division, k, position, end, tried)
            opened += int(tried.counts[0])
            members.append(tried.opened[: tried.counts[0]].copy())
            classes.append(tried.classes[: tried.counts[0]].copy())
            violating(tried.violating[: tried.counts[1]])
    return level_of(np.concatenate(members), np.concatenate(classes))


def _ranges(level: OpenSets, suffixes: Sequence[Projection]) -> Iterator[tuple[int, int, Projection]]:
    """Yield ranges of sets with the projection that serves them."""
    firsts = [projection.first for projection in suffixes]
    begins = np.searchsorted(level.members[:, 0], firsts)
    ends = np.append(begins[1:], level.classes.size)
    for begin, end, projection in zip(begins, ends, suffixes, strict=True):
        if begin < end:
            yield int(begin), int(end), projection


def _room(size: int) -> _Tried:
    return _Tried(
        np.empty((_ROOM, size), dtype=np.int64),
        np.empty(_ROOM, dtype=np.int64),
        np.empty((_ROOM, size), dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )


@kernel
def _try_some(level: OpenSets, division: Division, k: int, position: int, end: int, tried: _Tried) -> int:
    """Try the sets that begin with those from `position` on until enough is done; return where that was."""
    work = 0
    room = tried.classes.size - division.projection.codes.shape[0]
    while position < end and work < _WORK and tried.counts.max() <= room:
        work += _try_beginning(level, division, k, position, tried)
        position += 1
    return position


@kernel
def _try_beginning(level: OpenSets, division: Division, k: int, one: int, tried: _Tried) -> int:
    """Try the sets that begin with an open set; return how many rows that took."""
    size = level.members.shape[1]
    work = 0
    other = one + 1
    while other < level.classes.size and share_beginning(level, one, other):
        # with no more classes than a subset, some column is determined by the others: the set is not open
        below = most_classes_below(level, one, other)
        work += size
        if below >= 0:
            work += descend(level.members[one], division)
            column = level.members[other, size - 1]
            added, looked = added_classes(division, column, size, k)
            work += looked
            if added < 0:
                _put(tried.violating, tried.counts, 1, level.members[one], column)
            elif level.classes[one] + added > below:
                tried.classes[tried.counts[0]] = level.classes[one] + added
                _put(tried.opened, tried.counts, 0, level.members[one], column)
        other += 1
    return work


@kernel
def _put(sets: Members, counts: Numbers, kind: int, beginning: Numbers, column: int) -> None:
    """Append a set."""
    sets[counts[kind], : beginning.size] = beginning
    sets[counts[kind], beginning.size] = column
    counts[kind] += 1


ColumnSet = tuple[int, ...]

_LEVELS_SHARE = 0.85
"""Share of the time for whole levels; walks use the rest if it does not suffice."""


@dataclass(frozen=True)
class Violating:
    """Minimal violating sets, and what is proven about those that are not listed."""

    sets: tuple[ColumnSet, ...]
    """Minimal violating sets, each proven: numbers of columns, ascending; fewest columns first."""
    complete_columns: int
    """Every minimal violating set of at most so many columns is listed, so that any other has more."""
    is_complete: bool

    @property
    def minimum(self) -> int | None:
        """Columns of the smallest violating sets if that is proven, else None (no set, or not known)."""
        if not self.sets or len(self.sets[0]) > self.complete_columns + 1:
            return None
        return len(self.sets[0])


def find_violating_sets(
    table: RowTypeTable, k: int, clock: Clock | None = None, *, max_columns: int | None = None
) -> Violating:
    """Find the minimal violating sets of columns, those of few columns first.

    Guarantee: each set returned violates and no proper subset does; all of at most
    `Violating.complete_columns` columns are returned, and all altogether if `Violating.is_complete`.

    Notes
    -----
    One division of at most n rows per open set and column (see the module); the open
    sets can be exponentially many, and finding a smallest violating set is NP-hard (Yuan, Proposition 2). The
    search also ends where a level has more sets than memory should hold. The clock is looked at about every
    tenth of a second, except for some divisions of all rows at the beginning.
    """
    return _SetSearch(table, k, clock or Clock(), max_columns or table.width).run()


class _SetSearch:
    """One search: the sets found so far and what is left to try."""

    def __init__(self, table: RowTypeTable, k: int, clock: Clock, most: int) -> None:
        self._table = table
        self._people = Persons.of(table)
        self._k = k
        self._clock = clock
        self._most = min(most, table.width)
        self._found: set[ColumnSet] = set()
        self._order: list[int] = []

    def run(self) -> Violating:
        if self._is_small(RowTypePartition.single(len(self._table))):
            return Violating(((),), self._table.width, is_complete=True)
        if not self._try_columns():
            return self._result(0, is_complete=False)
        if not self._order or self._is_anonymous():
            return self._result(self._table.width, is_complete=True)
        suffixes = [] if self._most == 1 else self._projections()
        if not suffixes:
            return self._result(1, is_complete=False)
        return self._try_levels(suffixes)

    def _is_anonymous(self) -> bool:
        """Return whether the columns together don't violate; not if the time was over before."""
        grouping = RowTypePartition.single(len(self._table))
        for column in self._order:
            if self._clock.is_over():
                return False
            self._clock.heartbeat()
            grouping = grouping.by(self._table, column)
        return not self._is_small(grouping)

    def _projections(self) -> list[Projection]:
        return projections_of_suffixes(self._table, self._people, self._order, self._clock)

    def _is_small(self, grouping: RowTypePartition) -> bool:
        return bool(self._people.sizes(grouping).min() < self._k)

    def _try_columns(self) -> bool:
        """Try all single columns; put those that may belong to larger sets in order."""
        self._clock.report("sets of 1 column", 0.0)
        cardinalities = self._table.cardinalities
        for column, codes in enumerate(self._table.codes):
            if self._clock.is_over():
                return False
            if self._is_small(RowTypePartition(codes, int(cardinalities[column]))):
                self._found.add((column,))
            elif cardinalities[column] > 1:
                self._order.append(column)
            self._clock.heartbeat()
        # Columns of many values first: what follows them in the order then fits in few rows.
        self._order.sort(key=lambda column: -int(cardinalities[column]))
        return True

    def _try_levels(self, suffixes: list[Projection]) -> Violating:
        width = len(self._order)
        level = level_of(np.arange(width)[:, None], self._table.cardinalities[self._order])
        levels_clock = self._clock.part(_LEVELS_SHARE)
        while level.size < self._most and level.classes.size:
            following = next_level(level, suffixes, self._k, levels_clock, self._add)
            if following is None:
                self._walk(suffixes[0])
                return self._result(level.size, is_complete=False)
            level = following
        if level.classes.size:
            return self._result(level.size, is_complete=False)
        return self._result(self._table.width, is_complete=True)

    def _add(self, members: Members) -> None:
        for places in members:
            self._found.add(tuple(sorted(self._order[place] for place in places)))

    def _walk(self, projection: Projection) -> None:
        """Find single sets beyond the levels in the time that is left; without a limit that would not end."""
        if self._clock.left() is None:
            return
        for places in walks(projection, self._k, self._clock):
            if len(places) <= self._most:
                self._add(np.array([places]))

    def _result(self, complete: int, *, is_complete: bool) -> Violating:
        sets = sorted(self._found, key=lambda columns: (len(columns), columns))
        return Violating(tuple(sets), complete, is_complete)


_SEED = 20070


def walks(projection: Projection, k: int, clock: Clock | None = None) -> Iterator[tuple[int, ...]]:
    """Yield minimal violating sets until the time is over, some more than once: places of columns, ascending.

    The columns together must violate, and no single one.

    Notes
    -----
    O(n s^2) per set, for n rows and s columns after the additions; the order of the walks is the same in
    every call.
    """
    generator = np.random.default_rng(_SEED)
    division = room_for(projection, 3)
    clock = clock or Clock()
    while not clock.is_over():
        clock.report("single sets", None)
        order = generator.permutation(projection.codes.shape[0])
        chosen = order[: _first_violation(order, division, k) + 1]
        # Without its last column the set did not violate, so that column stays.
        for column in chosen[:-1]:
            if clock.is_over():
                return
            clock.heartbeat()
            rest = chosen[chosen != column]
            if _first_violation(rest, division, k) >= 0:
                chosen = rest
        yield tuple(int(column) for column in np.sort(chosen))


@kernel
def _first_violation(order: Numbers, division: Division, k: int) -> int:
    """Return the place of the first column with which those before it violate; -1 if all together don't."""
    source = 0
    for place in range(order.size):
        added, _ = added_classes(division, order[place], source, k)
        if added < 0:
            return place
        target = 2 if source == 1 else 1
        split(division, order[place], source, target)
        source = target
    return -1
