"""All distinct disclosed sets, searchable for those that nearly equal a given set.

Every set has a *sketch*: its vector, shortened to a few columns. Sets that differ in few people have sketches
that differ in few columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from kanon_pg.worker.ledger.answers import SET_DIGEST_BYTES, digest_of
from kanon_pg.worker.ledger.field import Vector

SetSketch = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class SketchedSet:
    """A set, what identifies it, and its sketch.

    Parameters
    ----------
    blob : bytes
        Its compressed bytes.
    digest : bytes
        `digest_of` these.
    """

    units: BitMap
    blob: bytes
    digest: bytes
    sketch: SetSketch


_FIRST_CAPACITY = 256


def sketch_width(k: int) -> int:
    """Return how many columns a sketch needs so that sets that differ in many people look different.

    At least twice k, for k up to 128: more columns tell more sets apart, and each set takes as many bytes.
    """
    return 64 if k <= 32 else 256


def sketch_of(vector: Vector, width: int, modulus: int) -> SetSketch:
    """Return the sketch of a set: its vector, shortened to `width` columns.

    Sets that differ in the units of fewer than k people have sketches that differ in fewer than k columns.

    Parameters
    ----------
    vector : array of float
        As `PrimeField.vector` returns it; its length is a multiple of `width`.
    modulus : int
        The field's prime.
    """
    sums = vector.reshape(-1, width).sum(axis=0)
    sketch: SetSketch = np.remainder(sums, modulus).astype(np.uint32)
    return sketch


class DisclosedSets:
    """Distinct sets with their sizes and sketches, in the order of their first disclosure.

    Parameters
    ----------
    width : int
        Columns of a sketch.
    """

    def __init__(self, width: int) -> None:
        self._sizes = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self._sketches = np.zeros((_FIRST_CAPACITY, width), dtype=np.uint32)
        self._blobs: list[bytes | memoryview] = []
        self._places: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._blobs)

    def __iter__(self) -> Iterator[BitMap]:
        return (BitMap.deserialize(bytes(blob)) for blob in self._blobs)

    def has(self, digest: bytes) -> bool:
        """Whether a set of this digest was disclosed."""
        return digest in self._places

    def find(self, digest: bytes) -> BitMap | None:
        """Return the set of a digest, None if none was disclosed."""
        place = self._places.get(digest)
        blob = b"" if place is None else bytes(self._blobs[place])
        return BitMap.deserialize(blob) if digest_of(blob) == digest else None

    def add(self, new: SketchedSet) -> None:
        """Add a set unless it is known."""
        if new.digest in self._places:
            return
        count = len(self._blobs)
        if count == len(self._sizes):
            self._grow()
        self._sizes[count] = len(new.units)
        self._sketches[count] = new.sketch
        self._blobs.append(new.blob)
        self._places[new.digest] = count

    def near(self, new: SketchedSet, k: int, *, by_size: bool) -> Iterator[BitMap]:
        """Yield every disclosed set whose difference to a new one may belong to fewer than `k` people.

        One pass over the sizes (O(disclosed sets)), then over the sketches of those whose size fits.

        Parameters
        ----------
        k : int
            Smallest number of people of a safe difference.
        by_size : bool
            Whether every unit is a person, so that sizes alone rule sets out.
        """
        count = len(self._blobs)
        if by_size:
            fitting = np.flatnonzero(np.abs(self._sizes[:count] - len(new.units)) < k)
            sketches = self._sketches[fitting]
        else:
            fitting, sketches = np.arange(count), self._sketches[:count]
        close = fitting[np.count_nonzero(sketches != new.sketch, axis=1) < k]
        return (BitMap.deserialize(bytes(self._blobs[index])) for index in close.tolist())

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the content as arrays that `from_arrays` understands."""
        count = len(self._blobs)
        return {  # names as in checkpoints of 0.1.0, where sketches were folds
            "sizes": self._sizes[:count],
            "folds": self._sketches[:count],
            "lengths": np.array([len(blob) for blob in self._blobs], dtype=np.int64),
            "blobs": np.frombuffer(b"".join(self._blobs), dtype=np.uint8),
            "digests_in_order": np.frombuffer(b"".join(self._places), dtype=np.uint8),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[np.generic]]) -> DisclosedSets:
        """Rebuild what `arrays` returned."""
        disclosed = cls(arrays["folds"].shape[1])
        # views: most sets are never looked at again
        blobs = arrays["blobs"].data
        ends = np.cumsum(arrays["lengths"]).tolist()
        disclosed._blobs = [blobs[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        digests = arrays["digests_in_order"].tobytes()
        disclosed._places = {
            digests[start : start + SET_DIGEST_BYTES]: place
            for place, start in enumerate(range(0, len(digests), SET_DIGEST_BYTES))
        }
        spare = max(0, _FIRST_CAPACITY - len(ends))
        disclosed._sizes = np.pad(arrays["sizes"].astype(np.int64), (0, spare))
        disclosed._sketches = np.pad(arrays["folds"].astype(np.uint32), ((0, spare), (0, 0)))
        return disclosed

    def _grow(self) -> None:
        self._sizes = np.concatenate((self._sizes, np.zeros_like(self._sizes)))
        self._sketches = np.concatenate((self._sketches, np.zeros_like(self._sketches)))
