"""The rows of a relation in one state, by TID or by content, and their form as bytes.

The bytes spare the first query of a session reading the whole relation if nothing changed. They belong to
one epoch of the server, in which a TID that is visible with the same inserting transaction holds the same
row, and say nothing of transactions' snapshots: `fingerprint_sql` asks the database whether the relation is
unchanged.
"""

from __future__ import annotations

import io
import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.row_numbers import MISSING, KeyIndex, Keys, Numbers

_TID = np.dtype([("block", ">u4"), ("offset", ">u2")])
_OFFSETS = 1 << 16
_MAX_EMPTY_PER_ROW = 16

Places = npt.NDArray[np.int64]


def keys_of(data: bytes | memoryview) -> Keys:
    """Return 64-bit hashes from their packed big-endian form."""
    found: Keys = np.frombuffer(data, dtype=">u8").astype(np.uint64)
    return found


_MAX_GAP = 32
"""Mean distance of the numbers of a set up to which marking them is faster than sorting them."""

_BLOCK = 1 << 16
_MOST_LISTED = 4096
_NO_RUNS = 12346
"""Numbers of the serialized form of a set (github.com/RoaringBitmap/RoaringFormatSpec): how many numbers a
block spans, up to how many of them are listed, and how a set begins that has no runs."""


def bitmap_of(numbers: Numbers) -> BitMap:
    """Return the set of some numbers."""
    if not len(numbers):
        return BitMap()
    highest = int(numbers.max())
    if highest < _MAX_GAP * len(numbers):
        marked = np.zeros((highest // _BLOCK + 1) * _BLOCK, dtype=np.bool_)
        # as indices of another type they would be checked and converted piece by piece
        marked[numbers.astype(np.intp)] = True
        return _marked_numbers(marked)
    ordered = array("I")
    ordered.frombytes(np.sort(numbers).tobytes())
    return BitMap(ordered)


def _marked_numbers(marked: npt.NDArray[np.bool_]) -> BitMap:
    """Return the set of the places that are marked in whole blocks, written in its serialized form.

    That takes a third of the time of listing the places and adding them.
    """
    heads: list[tuple[int, int]] = []
    bodies: list[bytes] = []
    for key, block in enumerate(marked.reshape(-1, _BLOCK)):
        count = int(np.count_nonzero(block))
        if not count:
            continue
        heads.append((key, count - 1))
        if count > _MOST_LISTED:
            bodies.append(np.packbits(block, bitorder="little").tobytes())
        else:
            bodies.append(np.flatnonzero(block).astype("<u2").tobytes())
    start = 8 + 8 * len(heads)
    places = [start, *(start + size for size in accumulate(map(len, bodies[:-1])))]
    head = np.array([_NO_RUNS, len(heads)], dtype="<u4").tobytes()
    keys = np.array(heads, dtype="<u2").tobytes()
    found: BitMap = BitMap.deserialize(
        b"".join((head, keys, np.array(places, dtype="<u4").tobytes(), *bodies))
    )
    return found


@dataclass(frozen=True, slots=True)
class LeafTable:
    """One table of a relation as the database sent it.

    Parameters
    ----------
    oid : int
        Of the table, 0 for a view.
    tids : bytes
        6 bytes a row; empty for a view.
    contents : bytes
        8 bytes a row.
    people : bytes
        8 bytes a row, or empty.
    """

    oid: int
    tids: bytes | memoryview
    contents: bytes | memoryview
    people: bytes | memoryview


class TableSnapshot:
    """One state of a relation.

    Parameters
    ----------
    numbers : array of uint32
        Of all rows, leaf by leaf.
    """

    def __init__(self, leaves: Sequence[LeafTable], numbers: Numbers) -> None:
        self.units = bitmap_of(numbers)
        self._tables: dict[int, TidIndex] = {}
        self._contents = KeyIndex()
        start = 0
        for leaf in leaves:
            count = len(leaf.contents) // 8
            part = numbers[start : start + count]
            start += count
            if len(leaf.tids):
                self._tables[leaf.oid] = TidIndex.of(leaf.tids, part)
            elif count:
                self._contents.add(keys_of(leaf.contents), part)

    def tables(self) -> dict[int, TidIndex]:
        """Return the index of each table; rows without TIDs are not in it."""
        return dict(self._tables)

    @classmethod
    def of_tables(cls, units: BitMap, tables: dict[int, TidIndex]) -> TableSnapshot:
        """Rebuild the table snapshot of tables whose rows all have TIDs."""
        found = cls((), np.zeros(0, dtype=np.uint32))
        found.units, found._tables = units, tables
        return found

    @property
    def has_tids(self) -> bool:
        """Whether every row has a TID."""
        return not len(self._contents)

    def numbers_at(self, oid: int, data: bytes | memoryview) -> Numbers:
        """Return the numbers of rows by their TIDs.

        Raises
        ------
        LedgerError
            There is no row at a TID.
        """
        table = self._tables.get(oid)
        numbers = None if table is None else table.numbers_at(data)
        if numbers is None or np.any(numbers == MISSING):
            raise LedgerError("An answer has rows that were not there when the table was read.")
        return numbers

    def numbers_of_contents(self, data: bytes | memoryview) -> Numbers:
        """Return the numbers of rows by their contents; rows that a join repeats count once.

        Raises
        ------
        LedgerError
            There is no row of such content.
        """
        keys = keys_of(data)
        numbers = self._contents.find(keys)
        missing = numbers == MISSING
        if np.any(missing) and np.any(self._contents.find(np.unique(keys[missing])) == MISSING):
            raise LedgerError("An answer has rows that were not there when the view was read.")
        found: Numbers = numbers[~missing]
        return found


@dataclass(frozen=True, slots=True)
class TidIndex:
    """Numbers by TID: in a dense array unless most of it would be empty, else in sorted order.

    Parameters
    ----------
    stride : int
        Offsets of a block.
    places : array of int64
        Block times `stride` plus offset, in order; empty if `numbers` is the dense array.
    numbers : array of uint32
        One for each TID, `MISSING` where there is no row.
    """

    stride: int
    places: Places
    numbers: Numbers

    @classmethod
    def of(cls, tids: bytes | memoryview, numbers: Numbers) -> TidIndex:
        """Return the index of some rows, at least one, by TIDs of 6 bytes in any order."""
        blocks, offsets = _parts_of(tids)
        stride = int(offsets.max()) + 1
        dense = blocks * stride + offsets
        size = int(dense.max()) + 1
        if size > _MAX_EMPTY_PER_ROW * len(dense) + _OFFSETS:
            order = np.argsort(dense)
            return cls(stride, dense[order], numbers[order])
        direct = np.full(size, MISSING, dtype=np.uint32)
        direct[dense] = numbers
        return cls(stride, np.zeros(0, dtype=np.int64), direct)

    def numbers_at(self, tids: bytes | memoryview) -> Numbers:
        """Return the numbers at some TIDs of 6 bytes, `MISSING` where there is no row."""
        dense, offsets = _parts_of(tids)
        dense *= self.stride
        dense += offsets
        if not len(self.places):
            if len(dense) and offsets.max() < self.stride and dense.max() < len(self.numbers):
                return self.numbers[dense]
            inside = (offsets < self.stride) & (dense < len(self.numbers))
            found = np.full(len(dense), MISSING, dtype=np.uint32)
            found[inside] = self.numbers[dense[inside]]
            return found
        position = np.minimum(np.searchsorted(self.places, dense), len(self.places) - 1)
        matches = (self.places[position] == dense) & (offsets < self.stride)
        ordered: Numbers = np.where(matches, self.numbers[position], MISSING).astype(np.uint32)
        return ordered


def _parts_of(tids: bytes | memoryview) -> tuple[Places, npt.NDArray[np.uint16]]:
    """Return blocks and offsets of TIDs of 6 bytes."""
    packed = np.frombuffer(tids, dtype=_TID)
    return packed["block"].astype(np.int64), packed["offset"].astype(np.uint16)


def snapshot_bytes(table_snapshot: TableSnapshot, state: str, epoch: str) -> bytes | None:
    """Return a table snapshot with the state of the relation that it is of.

    Parameters
    ----------
    epoch : str
        As in `kanon_pg.queries.ledgers.LedgerContext`.

    Returns
    -------
    bytes or None
        None if a later process could not tell whether the relation is unchanged.
    """
    version = json.loads(state)["version"]
    if version is None or not table_snapshot.has_tids:
        return None
    tables = table_snapshot.tables()
    head = {
        "epoch": epoch,
        "version": version,
        "tables": [[oid, table.stride] for oid, table in tables.items()],
    }
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8),
        "units": np.frombuffer(table_snapshot.units.serialize(), dtype=np.uint8),
    }
    for index, table in enumerate(tables.values()):
        arrays[f"places{index}"], arrays[f"numbers{index}"] = table.places, table.numbers
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def snapshot_from(data: bytes, epoch: str) -> tuple[str, TableSnapshot]:
    """Rebuild what `snapshot_bytes` returned.

    Raises
    ------
    LedgerError
        It is of another epoch, or cannot be read.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
            arrays = {name: loaded[name] for name in loaded.files}
        head = json.loads(arrays["head"].tobytes())
        if head["epoch"] != epoch:
            raise LedgerError("The table snapshot is of another epoch.")
        tables = {
            int(oid): TidIndex(int(stride), arrays[f"places{index}"], arrays[f"numbers{index}"])
            for index, (oid, stride) in enumerate(head["tables"])
        }
        state = json.dumps({"snapshot": None, "version": head["version"]})
        return state, TableSnapshot.of_tables(BitMap.deserialize(arrays["units"].tobytes()), tables)
    except LedgerError:
        raise
    except Exception as error:  # whatever a damaged archive makes its reader raise
        raise LedgerError("The table snapshot cannot be read.") from error
