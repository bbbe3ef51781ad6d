"""The people behind an answer, and who is in a relation, as sets of units.

Contract with the database. The owner keeps, per protected relation, a table that gives every row ever seen a
number (its *unit*) and every person ever seen a number:

* numbers are dense, from 0, below 2**32, given in no order an analyst can foresee or read;
* a number is never given again: what is deleted keeps it, what is new gets a new one;
* without an entity column, or if it is unique, unit and person are the same number (``owners`` is None);
* a row whose measured values change is a new unit (for example: numbered by primary key and row version).
  Then the same query before and after the change differs in the old and the new unit, which both belong to
  one person, and the ledger refuses the second. Numbered by primary key alone, updates go unseen.

A row must count once in an answer. If a join repeats rows a varying number of times, sums are weighted by a
number that the analyst may choose, and the sets below do not describe what was disclosed.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from pyroaring import BitMap

from kanon_pg.errors import InputError, LedgerError

DisjointSets = tuple[BitMap, ...]
"""The sets of one grouping of a query: no two share rows."""

_STORED = 2**32 - 1
SET_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class LevelSelection:
    """What known and sensitive columns choose in a level, each by themselves.

    Parameters
    ----------
    known, sensitive : tuple of tuple of BitMap
        The units that known columns choose, whatever sensitive ones say, and the other way round, in levels.
    mixed : tuple of tuple of BitMap, optional
        The sets of the answer, if a part that reads both is not in `sensitive`; else None.
    """

    known: tuple[DisjointSets, ...]
    sensitive: tuple[DisjointSets, ...]
    mixed: tuple[DisjointSets, ...] | None = None


class PackedForms:
    """The compressed bytes and the digests of sets that do not change, each found once."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[BitMap, bytes, bytes]] = {}

    def of(self, units: BitMap) -> tuple[bytes, bytes]:
        """Return the bytes of a set (`packed`) and their digest."""
        if id(units) not in self._found:
            blob = packed(units)
            # with the set, so that no other one is at its place in memory
            self._found[id(units)] = units, blob, digest_of(blob)
        _, blob, digest = self._found[id(units)]
        return blob, digest


@dataclass(frozen=True, slots=True)
class AnswerSets:
    """The sets of one answer about one protected relation.

    Parameters
    ----------
    levels : tuple of tuple of BitMap
        One level per hidden count of the canonical query (the rows of a grouping, and each ``FILTER`` over
        them): the units behind each output row. The sets of a level are disjoint, as the groups of a
        ``GROUP BY`` are. Rows that were dropped from the answer are not in it.
    known : tuple of tuple of BitMap, optional
        The units that known columns choose alone, whatever sensitive columns say, in levels, too. None if
        sensitive columns choose nothing: then these are `levels`.
    narrowed : tuple of tuple of BitMap
        Those of `known` among which sensitive columns choose; of no meaning once the answer was given.
    selections : tuple of LevelSelection
        For each level in which known and sensitive columns choose; as `narrowed`.
    spreads : tuple of int
        Positions in `levels` of those whose sums of squares were disclosed, too.
    forms : PackedForms
        Of its sets.

    Raises
    ------
    InputError
        Two sets of one level share a unit.
    """

    levels: tuple[DisjointSets, ...]
    known: tuple[DisjointSets, ...] | None = None
    narrowed: tuple[DisjointSets, ...] = field(default=(), compare=False)
    selections: tuple[LevelSelection, ...] = field(default=(), compare=False)
    spreads: tuple[int, ...] = ()
    forms: PackedForms = field(default_factory=PackedForms, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not all(0 <= place < len(self.levels) for place in self.spreads):
            raise InputError("Sums of squares are disclosed of sets that an answer has.")
        for level in (*self.levels, *(self.known or ())):
            if len(level) > 1 and len(BitMap.union(*level)) != sum(map(len, level)):
                raise InputError("The groups of one answer share rows.")

    @property
    def known_levels(self) -> tuple[DisjointSets, ...]:
        """The units that known columns choose."""
        return self.levels if self.known is None else self.known

    def of_spreads(self) -> AnswerSets:
        """Return the sets whose sums of squares were disclosed."""
        return AnswerSets(tuple(self.levels[place] for place in self.spreads))

    def without_figures(self) -> AnswerSets:
        """Return what is remembered of a query that was withheld: whom its known columns choose."""
        return AnswerSets((), self.known_levels)

    def every_set(self) -> Iterator[BitMap]:
        """Yield the disclosed sets, and those that known columns choose."""
        for level in (*self.levels, *(self.known or ())):
            yield from level

    def with_totals(self) -> Iterator[BitMap]:
        """Yield every disclosed set, and the union of each level, which anybody can add up."""
        for level in self.levels:
            yield from level
            if len(level) > 1:
                yield BitMap.union(*level)

    def to_bytes(self, is_stored: Callable[[bytes], bool] = lambda digest: False) -> bytes:
        """Return the answer's bytes: the same for equal answers, whatever their history.

        The levels of `known` follow the others; how many there are, and `spreads`, are not in the bytes.

        Parameters
        ----------
        is_stored : callable
            Says of which sets the digest is enough, because they are stored already.
        """
        levels = (*self.levels, *(self.known or ()))
        parts = [struct.pack(">I", len(levels))]
        for level in levels:
            parts.append(struct.pack(">I", len(level)))
            for units in level:
                blob, digest = self.forms.of(units)
                if is_stored(digest):
                    parts += (struct.pack(">I", _STORED), digest)
                else:
                    parts += (struct.pack(">I", len(blob)), blob)
        return b"".join(parts)

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        find: Callable[[bytes], BitMap | None] = lambda digest: None,
        known_levels: int | None = None,
    ) -> AnswerSets:
        """Rebuild what `to_bytes` wrote.

        Parameters
        ----------
        known_levels : int or None
            How many levels of `AnswerSets.known` it has.
        find : callable
            Returns the stored set of a digest, None if there is none.

        Raises
        ------
        LedgerError
            The bytes are no answer.
        """
        try:
            position = 4
            levels = []
            for _ in range(_number(data, 0)):
                count, position = _number(data, position), position + 4
                level = []
                for _ in range(count):
                    length, position = _number(data, position), position + 4
                    end = position + (SET_DIGEST_BYTES if length == _STORED else length)
                    part = data[position:end]
                    units = find(part) if length == _STORED else BitMap.deserialize(part)
                    if units is None:
                        raise ValueError("a set that is not stored")
                    level.append(units)
                    position = end
                levels.append(tuple(level))
            if position != len(data):
                raise ValueError("trailing bytes")
            if known_levels is None:
                return cls(tuple(levels))
            if not 0 <= known_levels <= len(levels):
                raise ValueError("more known levels than there are")
            own = len(levels) - known_levels
            return cls(tuple(levels[:own]), tuple(levels[own:]))
        except (struct.error, ValueError) as error:
            raise LedgerError("A recorded answer cannot be read.") from error


def packed(units: BitMap) -> bytes:
    """Return the compressed bytes of a set, equal for equal sets."""
    compact = units.copy()
    compact.run_optimize()
    return compact.serialize()


def sets_of(levels: Iterable[DisjointSets]) -> list[BitMap]:
    """Return the sets of all groupings."""
    return [units for level in levels for units in level]


def digest_of(blob: bytes) -> bytes:
    """Return what identifies the compressed bytes of a set, 16 bytes."""
    return blake2b(blob, digest_size=SET_DIGEST_BYTES).digest()


def _number(data: bytes, position: int) -> int:
    found: int = struct.unpack_from(">I", data, position)[0]
    return found


@dataclass(frozen=True, slots=True)
class Population:
    """The units of a relation in the snapshot that a query sees.

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
        owners = np.frombuffer(self.owners, dtype=np.uint32)
        found = owners[np.frombuffer(units.to_array(), dtype=np.uint32)]
        seen = np.zeros(int(found.max()) + 1 if len(found) else 0, dtype=np.bool_)
        seen[found] = True
        return int(np.count_nonzero(seen))

    def is_few(self, units: BitMap, k: int) -> bool:
        """Whether 1 to k-1 people are behind some units."""
        return bool(units) and not self.is_backed(units, k)

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
