"""Who is in a relation in one state of it, which row stands where, and both as bytes.

The bytes spare the first query of a session reading the whole relation if nothing changed. They belong to
one epoch of the server, in which a place that is visible with the same writer holds the same row, and say
nothing of transactions' snapshots: whether the relation is still what it was, the database is asked
(`fingerprint_sql` of the checker).
"""

from __future__ import annotations

import io
import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.row_numbers import MISSING, KeyIndex, Keys, Numbers

_PLACE = np.dtype([("block", ">u4"), ("line", ">u2")])
_LINE_BITS = 16
_LINES = 1 << _LINE_BITS
_SPARSE = 16

Places = npt.NDArray[np.int64]


def keys_of(data: bytes | memoryview) -> Keys:
    """Return 64-bit hashes from their packed big-endian form."""
    found: Keys = np.frombuffer(data, dtype=">u8").astype(np.uint64)
    return found


def bitmap_of(numbers: Numbers) -> BitMap:
    """Return the set of some numbers."""
    ordered = array("I")
    ordered.frombytes(np.sort(numbers).tobytes())
    return BitMap(ordered)


@dataclass(frozen=True, slots=True)
class LeafTable:
    """One table of a relation as the database sent it.

    Parameters
    ----------
    oid : int
        Of the table, 0 for a view.
    places : bytes
        6 bytes a row; empty for a view.
    contents : bytes
        8 bytes a row.
    people : bytes
        8 bytes a row, or empty.
    """

    oid: int
    places: bytes | memoryview
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
        self._tables: dict[int, PlaceIndex] = {}
        self._contents = KeyIndex()
        start = 0
        for leaf in leaves:
            count = len(leaf.contents) // 8
            part = numbers[start : start + count]
            start += count
            if len(leaf.places):
                self._tables[leaf.oid] = PlaceIndex.of(_places(leaf.places), part)
            elif count:
                self._contents.add(keys_of(leaf.contents), part)

    def tables(self) -> dict[int, PlaceIndex]:
        """Return the numbers by place of each table; not all rows, if some have no place."""
        return dict(self._tables)

    @classmethod
    def of_tables(cls, units: BitMap, tables: dict[int, PlaceIndex]) -> TableSnapshot:
        """Rebuild the table snapshot of tables whose rows all have places."""
        found = cls((), np.zeros(0, dtype=np.uint32))
        found.units, found._tables = units, tables
        return found

    @property
    def has_places(self) -> bool:
        """Whether every row has a place."""
        return not len(self._contents)

    def at(self, oid: int, data: bytes | memoryview) -> Numbers:
        """Return the numbers of rows by their places.

        Raises
        ------
        LedgerError
            There is no row at a place.
        """
        table = self._tables.get(oid)
        numbers = None if table is None else table.at(_places(data))
        if numbers is None or np.any(numbers == MISSING):
            raise LedgerError("An answer has rows that were not there when the table was read.")
        return numbers

    def like(self, data: bytes | memoryview) -> Numbers:
        """Return the numbers of rows by their contents; rows that a join repeats count once.

        Raises
        ------
        LedgerError
            There is no row of such content.
        """
        keys = keys_of(data)
        numbers = self._contents.find(keys)
        lost = numbers == MISSING
        if np.any(lost) and np.any(self._contents.find(np.unique(keys[lost])) == MISSING):
            raise LedgerError("An answer has rows that were not there when the view was read.")
        found: Numbers = numbers[~lost]
        return found


@dataclass(frozen=True, slots=True)
class PlaceIndex:
    """Numbers by place: in a table if it is not much larger than the rows are many, else in order.

    Parameters
    ----------
    stride : int
        Lines of a block.
    places : array of int64
        In order, without gaps between blocks; empty if `numbers` is indexed by place.
    numbers : array of uint32
        One for each place, `MISSING` where there is no row.
    """

    stride: int
    places: Places
    numbers: Numbers

    @classmethod
    def of(cls, places: Places, numbers: Numbers) -> PlaceIndex:
        """Return the table of some rows, at least one.

        Parameters
        ----------
        places : array of int64
            Block times 65,536 plus line, in any order.
        """
        stride = int((places & (_LINES - 1)).max()) + 1
        dense, _ = _dense(places, stride)
        size = int(dense.max()) + 1
        if size > _SPARSE * len(dense) + _LINES:
            order = np.argsort(dense)
            return cls(stride, dense[order], numbers[order])
        direct = np.full(size, MISSING, dtype=np.uint32)
        direct[dense] = numbers
        return cls(stride, np.zeros(0, dtype=np.int64), direct)

    def at(self, places: Places) -> Numbers:
        """Return the numbers at some places, `MISSING` where there is no row."""
        dense, lines = _dense(places, self.stride)
        if not len(self.places):
            if len(dense) and lines.max() < self.stride and dense.max() < len(self.numbers):
                return self.numbers[dense]
            inside = (lines < self.stride) & (dense < len(self.numbers))
            found = np.full(len(places), MISSING, dtype=np.uint32)
            found[inside] = self.numbers[dense[inside]]
            return found
        position = np.minimum(np.searchsorted(self.places, dense), len(self.places) - 1)
        right = (self.places[position] == dense) & (lines < self.stride)
        ordered: Numbers = np.where(right, self.numbers[position], MISSING).astype(np.uint32)
        return ordered


def _places(data: bytes | memoryview) -> Places:
    packed = np.frombuffer(data, dtype=_PLACE)
    found: Places = packed["block"].astype(np.int64)
    found <<= _LINE_BITS
    found |= packed["line"]
    return found


def _dense(places: Places, stride: int) -> tuple[Places, Places]:
    """Return places without gaps between blocks, and the lines alone."""
    lines = places & (_LINES - 1)
    dense = places >> _LINE_BITS
    dense *= stride
    dense += lines
    return dense, lines


def snapshot_bytes(table_snapshot: TableSnapshot, state: str, epoch: str) -> bytes | None:
    """Return a table snapshot with the state of the relation that it is of.

    Parameters
    ----------
    epoch : str
        As in `kanon_pg.queries.ledgers.LedgerContext`.

    Returns
    -------
    bytes or None
        None if nobody could disclose later whether the relation is still the same.
    """
    version = json.loads(state)["version"]
    if version is None or not table_snapshot.has_places:
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
            raise LedgerError("The census is of another time.")
        tables = {
            int(oid): PlaceIndex(int(stride), arrays[f"places{index}"], arrays[f"numbers{index}"])
            for index, (oid, stride) in enumerate(head["tables"])
        }
        state = json.dumps({"snapshot": None, "version": head["version"]})
        return state, TableSnapshot.of_tables(BitMap.deserialize(arrays["units"].tobytes()), tables)
    except LedgerError:
        raise
    except Exception as error:  # whatever a damaged archive makes its reader raise
        raise LedgerError("The census cannot be read.") from error
