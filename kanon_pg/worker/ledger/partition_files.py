"""Partitions of a relation as files of its ledger, which other sessions read in place of the relation.

Reading a partition takes longer than one query saves by it. In a file it serves every session for as long as
the relation is in the same state. The file's name says which state and which statement; both stand in the
sealed file again, so that no file passes for another one.

A file holds numbers of rows and no value: sessions read the values again, which takes a fraction of the time,
and have to find the same ones. It belongs to the table snapshot that has a file, and is removed with it.
"""

from __future__ import annotations

import json
import os
import struct
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from pyroaring import BitMap

from kanon_pg.worker.ledger.answers import DisjointSets
from kanon_pg.worker.ledger.folder import read_sealed, write_sealed

MOST_STORED = 32
"""Partitions of one relation that have a file, of some two bytes for each row and 20 for each group."""

_PREFIX = "partition"
_HEAD_BYTES = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class StoredPartition:
    """All rows of a relation in one state, in groups.

    Parameters
    ----------
    statement : str
        Digest of the statement that reads it and of whatever else that depends on, in hexadecimal.
    key : str
        Names the partition for `ComposedSets`; another one if the values are others.
    groups : tuple of BitMap
        Numbers of rows; every row is in one.
    """

    statement: str
    key: str
    groups: DisjointSets


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """The files of the partitions of one relation.

    Parameters
    ----------
    folder : Path
        Of the relation's ledger.
    seal : bytes
        The ledger's key.
    """

    folder: Path
    seal: bytes

    def statements(self, state: str) -> list[str]:
        """Return the statements whose partitions in some state have a file.

        Parameters
        ----------
        state : str
            What `state_digest` returned.
        """
        return [path.suffix[1:] for path in self._paths() if _is_of(path, state)]

    def read(self, state: str, statement: str) -> StoredPartition | None:
        """Return the partition of a statement in some state; None if there is none that can be read."""
        name = _name(state, statement)
        data = read_sealed(self.folder, name, self.seal) if statement in self.statements(state) else None
        if data is None:
            return None
        with suppress(ValueError, LookupError, TypeError, struct.error):
            (size,) = _HEAD_BYTES.unpack_from(data)
            start = _HEAD_BYTES.size + size
            head: dict[str, Any] = json.loads(data[_HEAD_BYTES.size : start])
            if head["name"] == name:
                ends = accumulate(head["lengths"], initial=start)
                groups = tuple(BitMap.deserialize(data[begin:end]) for begin, end in pairwise(ends))
                with suppress(OSError):
                    os.utime(self.folder / name)
                return StoredPartition(statement, head["key"], groups)
        return None

    def write(self, state: str, partition: StoredPartition) -> None:
        """Store a partition; the least recently used one may have to go.

        Raises
        ------
        LedgerUnavailable
            It cannot be written.
        """
        name = _name(state, partition.statement)
        bodies = [group.serialize() for group in partition.groups]
        head = json.dumps({"name": name, "key": partition.key, "lengths": [*map(len, bodies)]}).encode()
        write_sealed(self.folder, name, b"".join((_HEAD_BYTES.pack(len(head)), head, *bodies)), self.seal)
        own = []
        for path in self._paths():
            with suppress(OSError):
                if _is_of(path, state):
                    own.append((path.stat().st_mtime_ns, path))
        for _, path in sorted(own)[: max(0, len(own) - MOST_STORED)]:
            _remove(path)

    def remove(self, state: str, statement: str) -> None:
        """Remove a file that is of no use, so that the relation is read."""
        _remove(self.folder / _name(state, statement))

    def keep(self, state: str) -> None:
        """Remove the files of other states."""
        for path in self._paths():
            if not _is_of(path, state):
                _remove(path)

    def _paths(self) -> list[Path]:
        return list(self.folder.glob(f"{_PREFIX}.*.*"))


def state_digest(state: str, epoch: str) -> str | None:
    """Return what names a state of a relation in one epoch of the server, in hexadecimal.

    Parameters
    ----------
    state : str
        As in `RelationLedger.state`.
    epoch : str
        As in `kanon_pg.queries.ledgers.LedgerContext`.

    Returns
    -------
    str or None
        None if a later process could not tell whether the relation is in this state.
    """
    version = json.loads(state)["version"]
    if version is None:
        return None
    return blake2b(json.dumps([epoch, version]).encode(), digest_size=16).hexdigest()


def _is_of(path: Path, state: str) -> bool:
    return path.stem == f"{_PREFIX}.{state}"


def _remove(path: Path) -> None:
    # another process may have removed it
    with suppress(OSError):
        path.unlink()


def _name(state: str, statement: str) -> str:
    return f"{_PREFIX}.{state}.{statement}"
