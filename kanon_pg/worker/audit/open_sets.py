"""The open sets of one size, found by their columns: which sets with one column more are worth a try."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.audit.grouping import Codes, Numbers
from kanon_pg.worker.compiled import kernel

Members = NDArray[np.int64]
Masks = NDArray[np.uint64]


class Level(NamedTuple):
    """All open sets of one size.

    Parameters
    ----------
    members : ndarray of int64, shape (n, size)
        Places of the columns in the order of the search, ascending; sets in lexicographic order.
    classes : ndarray of int64, shape (n,)
        Number of classes of each set.
    masks : ndarray of uint64, shape (n,)
        The places as bits.
    slots : ndarray of int32, shape (a power of 2,)
        Hash table from masks to numbers of sets, -1 where empty.
    """

    members: Members
    classes: Numbers
    masks: Masks
    slots: Codes

    @property
    def size(self) -> int:
        """Columns of each set."""
        return int(self.members.shape[1])


def level_of(members: Members, classes: Numbers) -> Level:
    """Return sets of one size, each with its number of classes, as a level."""
    masks: Masks = np.bitwise_or.reduce(np.uint64(1) << members.astype(np.uint64), axis=1)
    return Level(members, classes, masks, _slots(masks))


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
def share_beginning(level: Level, one: int, other: int) -> bool:
    """Return whether two sets differ in their last columns only."""
    last = level.members.shape[1] - 1
    return bool(np.all(level.members[one, :last] == level.members[other, :last]))


@kernel
def most_classes_below(level: Level, one: int, other: int) -> int:
    """Return the most classes of a subset, with one column fewer, of the union of two sets.

    Parameters
    ----------
    level : Level
    one, other : int
        Sets that differ in their last columns only.

    Returns
    -------
    int
        -1 if a subset is not open.
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
