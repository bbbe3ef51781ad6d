"""Sketches of sets of contributions: how two are compared, and the keys by which close ones are found.

A sketch has N buckets of 4 bytes. Every person falls into one bucket, which holds a sum of hashes of its
people's contributions, 0 if it is empty. Two sets that differ in d people differ in at most d buckets, so
that sets that differ in fewer than k people show fewer than k different buckets.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import compress
from operator import ne
from zlib import crc32

from kanon_pg.errors import InputError

CELL_BYTES = 4
KEY_BITS = 37
"""31 of a hash and 6 of a size."""

_SIZES = 64
_FEWEST_BUCKETS = 128


@dataclass(frozen=True, slots=True)
class FigureSet:
    """The contributions to one figure, as sketches."""

    people: bytes
    """How many rows each person has in it."""
    tables: Mapping[str, bytes] = field(default_factory=dict)
    """The rows of each finest table, by a name of the table."""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    """The values of each secret column that is read, by a name of the column; its table is in `tables`."""

    def named(self) -> dict[str, bytes]:
        """Return all sketches by name."""
        return {"people": self.people, **self.tables, **self.contents}


def differ(a: bytes, b: bytes) -> int:
    """Return in how many buckets two sketches differ.

    Examples
    --------
    >>> differ(b"aaaabbbbcccc", b"aaaaBBBBcccC")
    2
    """
    return 0 if a == b else sum(map(ne, memoryview(a).cast("I"), memoryview(b).cast("I")))


def conflict(a: FigureSet, b: FigureSet, k: int) -> bool:
    """Return whether two figures differ in 1 to k - 1 buckets somewhere.

    They are compared in all tables and contents that they share, and in their people if they share no table.
    """
    pairs = [(a.tables[name], b.tables[name]) for name in a.tables.keys() & b.tables.keys()]
    pairs = pairs or [(a.people, b.people)]
    pairs += [(a.contents[name], b.contents[name]) for name in a.contents.keys() & b.contents.keys()]
    return any(0 < differ(one, other) < k for one, other in pairs)


@dataclass(frozen=True, slots=True)
class Keys:
    """Hashes of parts of a sketch, as `Shape` explains, each with a size behind it."""

    stored: tuple[int, ...]
    near: tuple[int, ...]
    """`stored`, `near`: what a set is stored with, and the first of the `Shape.span` neighbours by which it
    is looked for. Sets that conflict share two."""
    single: tuple[int, ...]
    near_single: tuple[int, ...]
    """`single`, `near_single`: the same of a set of few people; such sets that conflict share one."""
    is_tiny: bool
    """Whether it is of so few people that it has to be compared with all such sets."""


class Shape:
    """The form of the sketches of a record, and of the keys by which close ones are found.

    A *layout* cuts the N buckets into bands of neighbours: the coarsest into m = k + 1, the next ones into
    2 m and 4 m, the finest into N of one bucket. A *part* is a band that is not empty, and its content; the
    more people it stands for, the fewer sets share it. A set's *own* layout is the coarsest in which it has
    at least m parts, or the finest. It is ``stored`` with its first m parts there (all, if it has fewer), and
    looked for (``near``) by its first m parts of each layout that may be the own one of a set which differs
    from it in 1 to k - 1 buckets.

    *No conflict is missed.* Let A, which is looked for, and B, which is stored, differ in 1 to k - 1 buckets.
    Then they differ in at most k - 1 bands of any layout. The own layout L of B is looked at: in each
    coarser one B has at most k parts, so that A has at most k, or emptying all but k bands of A takes at most
    k - 1 buckets; in both cases the next layout is looked at, too. Let P and Q be the first m parts of A and
    B in L.

    1. If both have m parts or more, let the last band of P not lie behind that of Q (else exchange them).
       Parts of P that B has, too, do not lie behind the last band of Q, so they are in Q. B lacks at most
       k - 1 of m parts: P and Q share two.
    2. If one has m parts or more and the other fewer, the other one has two of the first m, and they are
       among its first m, because all are: P and Q share two.
    3. If both have fewer than m parts, L is the finest layout, and neither has more than k buckets that are
       not empty. If one has k, they share one: such sets are stored and looked for by ``single``, too.
    4. If both have fewer than k buckets that are not empty, they may share none. They are ``is_tiny``.

    The numbers of buckets that are not empty differ by at most k - 1, too. So this number, rounded, follows
    each hash: sets are looked for from the least to the largest possible size.

    Parameters
    ----------
    buckets : int
        N, up to 65,536.
    k : int
        Largest k by which sets are compared, at least 2; N >= 4 k.
    """

    def __init__(self, buckets: int, k: int) -> None:
        if not 2 <= k <= buckets // 4:
            raise InputError(
                "A record compares sets by a k of at least 2, and at most a quarter of its buckets."
            )
        self.buckets, self.k = buckets, k
        self.span = self._size(2 * k - 2) + 2
        self._positions = "B" if buckets <= 256 else "H"
        counts = [count for count in (k + 1, 2 * k + 2, 4 * k + 4) if count < buckets]
        self._layouts = [
            [(band * buckets // count, (band + 1) * buckets // count) for band in range(count)]
            for count in (*counts, buckets)
        ]

    @classmethod
    def for_k(cls, k: int) -> Shape:
        """Return a shape with enough buckets that k people show nearly k of them.

        Examples
        --------
        >>> Shape.for_k(5).buckets, Shape.for_k(25).buckets, Shape.for_k(50).buckets
        (128, 128, 256)
        """
        buckets = _FEWEST_BUCKETS
        while 5 * k > buckets:
            buckets *= 2
        return cls(buckets, k)

    def keys(self, channel: int, sketch: bytes, *, is_compared: bool = True) -> Keys:
        """Return the keys of a set in a channel.

        Parameters
        ----------
        is_compared : bool
            Whether all of `near` is needed, not just enough to find an equal set.

        Raises
        ------
        InputError
            The sketch has another length.
        """
        if len(sketch) != self.buckets * CELL_BYTES:
            raise InputError(f"A sketch of this record has {self.buckets * CELL_BYTES} bytes.")
        filled = bytes(map(bool, memoryview(sketch).cast("I").tolist()))
        size = sum(filled)
        own = self._size(size)
        least = max(0, min(self._size(size - self.k + 1), _SIZES - self.span))
        stored, near = None, list[int]()
        for number, layout in enumerate(self._layouts):
            sizes = filled if len(layout) == self.buckets else [filled.count(1, *band) for band in layout]
            parts = list(compress(layout, sizes))
            hashes = self._hashes(channel, number, sketch, parts)
            near += hashes
            is_enough = len(parts) > self.k
            if stored is None and is_enough:
                stored = hashes
            if is_enough and not is_compared:
                break
            if is_enough and sum(sorted(filter(None, sizes))[: len(parts) - self.k]) >= self.k:
                break
        single = self._hashes(channel, len(self._layouts), sketch, parts) if stored is None else []
        return Keys(
            tuple(part | own for part in (hashes if stored is None else stored)),
            tuple(part | least for part in near),
            tuple(part | own for part in single),
            tuple(part | least for part in single),
            size < self.k,
        )

    def _size(self, filled: int) -> int:
        """Return a number of buckets in 6 bits, in the same order."""
        return max(0, filled) * _SIZES // (self.buckets + 1)

    def _hashes(self, channel: int, layout: int, sketch: bytes, parts: list[tuple[int, int]]) -> list[int]:
        """Return hashes of the first parts with room for a size; an equal one only costs a comparison."""
        place = (channel << 20) + (layout << 16)
        return [
            crc32(sketch[CELL_BYTES * start : CELL_BYTES * end], place + start & 0xFFFFFFFF) >> 1 << 6
            for start, end in parts[: self.k + 1]
        ]

    def packed(self, sketch: bytes) -> bytes:
        """Return a sketch as it is stored: without its empty buckets, if that is shorter."""
        cells = memoryview(sketch).cast("I").tolist()
        positions = array(self._positions, compress(range(self.buckets), cells))
        short = positions.tobytes() + array("I", filter(None, cells)).tobytes()
        return short if len(short) < len(sketch) else sketch

    def unpacked(self, stored: bytes) -> bytes:
        """Return the sketch that `packed` stored.

        Raises
        ------
        ValueError
            It is damaged.
        """
        if len(stored) == self.buckets * CELL_BYTES:
            return stored
        positions = array(self._positions)
        cut = len(stored) // (positions.itemsize + CELL_BYTES) * positions.itemsize
        positions.frombytes(stored[:cut])
        values = array("I")
        values.frombytes(stored[cut:])
        cells = array("I", bytes(self.buckets * CELL_BYTES))
        for place, value in zip(positions, values, strict=True):
            if place >= self.buckets:
                raise ValueError("a bucket that does not exist")
            cells[place] = value
        return cells.tobytes()
