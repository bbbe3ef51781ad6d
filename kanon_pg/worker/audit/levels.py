"""All minimal violating sets, level by level: first those of one column, then of two, and so on.

A set of columns can be a minimal violating set only if all its subsets with one column fewer neither violate
nor hold a column that their other columns determine: a determined column divides no class, so the set
without it would violate as well. Such subsets are called *open* here; they are closed downwards, as the free
sets of Boulicaut, Bykowski and Rigotti (2000), and the next level is built from the open sets of the last
one as in Agrawal and Srikant (1994, Apriori). Sets are visited in lexicographic order along a stack of
partitions, so that a set with s columns costs one division of the classes of its first s - 1 columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kanon_pg.worker.audit.grouping import Numbers
from kanon_pg.worker.audit.lines import Lines
from kanon_pg.worker.audit.open_sets import (
    Level,
    Members,
    level_of,
    most_classes_below,
    share_beginning,
)
from kanon_pg.worker.audit.splitting import Partitions, Scratch, added_classes, descend, room_for
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel

_WORK = 10_000_000
"""Lines looked at between two looks at the clock: less than a tenth of a second."""

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
    level: Level,
    suffixes: Sequence[Lines],
    k: int,
    clock: Clock,
    violating: Callable[[Members], None],
) -> Level | None:
    """Try all sets with one column more than those of a level.

    Parameters
    ----------
    level : Level
        All open sets of its size, which is at least 1.
    suffixes : sequence of Lines
        As `lines_of_suffixes` returns them.
    k : int
    clock : Clock
    violating : callable
        Receives minimal violating sets, as `Level.members`, while they are found.

    Returns
    -------
    Level or None
        All open sets of the next size; None if the time was over before all sets were tried, or if there are
        more than `MOST_SETS`.

    Notes
    -----
    O(lines) per set tried, mostly far less: small classes are looked at first.
    """
    members = [np.empty((0, level.size + 1), dtype=np.int64)]
    classes = [np.empty(0, dtype=np.int64)]
    opened = 0
    for begin, end, lines in _ranges(level, suffixes):
        position = begin
        partitions, scratch = room_for(lines, level.size + 1)
        while position < end:
            if clock.is_over() or opened > MOST_SETS:
                return None
            clock.report(f"sets of {level.size + 1} columns", position / level.classes.size)
            tried = _room(level.size + 1)
            position = _try_some(level, lines, partitions, scratch, k, position, end, tried)
            opened += int(tried.counts[0])
            members.append(tried.opened[: tried.counts[0]].copy())
            classes.append(tried.classes[: tried.counts[0]].copy())
            violating(tried.violating[: tried.counts[1]])
    return level_of(np.concatenate(members), np.concatenate(classes))


def _ranges(level: Level, suffixes: Sequence[Lines]) -> Iterator[tuple[int, int, Lines]]:
    """Yield ranges of sets with the lines that serve them."""
    firsts = [lines.first for lines in suffixes]
    begins = np.searchsorted(level.members[:, 0], firsts)
    ends = np.append(begins[1:], level.classes.size)
    for begin, end, lines in zip(begins, ends, suffixes, strict=True):
        if begin < end:
            yield int(begin), int(end), lines


def _room(size: int) -> _Tried:
    return _Tried(
        np.empty((_ROOM, size), dtype=np.int64),
        np.empty(_ROOM, dtype=np.int64),
        np.empty((_ROOM, size), dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )


@kernel
def _try_some(
    level: Level,
    lines: Lines,
    partitions: Partitions,
    scratch: Scratch,
    k: int,
    position: int,
    end: int,
    tried: _Tried,
) -> int:
    """Try the sets that begin with those from `position` on until enough is done; return where that was."""
    work = 0
    most_found = tried.classes.size - lines.codes.shape[0]
    while position < end and work < _WORK and tried.counts.max() <= most_found:
        work += _try_beginning(level, lines, partitions, scratch, k, position, tried)
        position += 1
    return position


@kernel
def _try_beginning(
    level: Level, lines: Lines, partitions: Partitions, scratch: Scratch, k: int, one: int, tried: _Tried
) -> int:
    """Try the sets that begin with an open set; return how many lines that took."""
    size = level.members.shape[1]
    work = 0
    other = one + 1
    while other < level.classes.size and share_beginning(level, one, other):
        below = most_classes_below(level, one, other)
        work += size
        if below >= 0:
            work += descend(level.members[one], lines, partitions, scratch)
            column = level.members[other, size - 1]
            added, looked = added_classes(lines, column, partitions, size, k, scratch)
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
