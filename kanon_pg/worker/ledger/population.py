"""Who is in a protected relation at the time of a question: units, and the people they belong to.

Contract with the database. The owner keeps, per protected relation, a table that gives every row ever seen a
number (its *unit*) and every person ever seen a number:

* numbers are dense, from 0, below 2**32, given in no order an analyst can foresee or read;
* a number is never given again: what is deleted keeps it, what is new gets a new one;
* without an entity column, or if it is unique, unit and person are the same number (``owners`` is None);
* a row whose measured values change is a new unit (for example: numbered by primary key and row version).
  Then the same question before and after the change differs in the old and the new unit, which both belong to
  one person, and the ledger refuses the second. Numbered by primary key alone, updates go unseen.

A row must count once in an answer. If a join repeats rows a varying number of times, sums are weighted by a
number that the analyst may choose, and the sets below do not describe what was told.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from pyroaring import BitMap


@dataclass(frozen=True, slots=True)
class Population:
    """The units of a relation in the snapshot that a question sees.

    Parameters
    ----------
    units : BitMap
        Every unit now in the relation.
    owners : array of unsigned 32-bit numbers, optional
        ``owners[unit]`` is the person's number, for every unit ever given. None if every unit is a person.
    """

    units: BitMap
    owners: array[int] | None = None

    def knows(self, units: BitMap) -> bool:
        """Whether the person of each unit is known."""
        return self.owners is None or not units or units.max() < len(self.owners)

    def people(self, units: BitMap) -> int:
        """Return the number of distinct people behind some units."""
        if self.owners is None:
            return len(units)
        return len({self.owners[unit] for unit in units})

    def is_backed(self, units: BitMap, k: int) -> bool:
        """Whether at least `k` people are behind some units; stops counting at `k`."""
        if self.owners is None or len(units) < k:
            return len(units) >= k
        seen: set[int] = set()
        for unit in units:
            seen.add(self.owners[unit])
            if len(seen) >= k:
                return True
        return False
