"""The permanent numbers of the rows and people of a protected relation.

Rows and people are known by hashes under the relation's secret seed. Whoever meets a hash for the first time
appends it to a file, in order of the hash, which nobody can foresee; the position in the file is the number.
The file is a `Journal`: append-only, private, every record covered by a digest, and durable before anybody
uses a number of it. Millions of numbers are found by binary search in arrays (`KeyIndex`).

No query can distinguish rows with equal hashes, so they share a hash and are numbered as many
times as they occurred together.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.journal import Journal, JournalMark, JournalWriter

Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint32]

MISSING = np.uint32(2**32 - 1)
"""Stands for a key without a number."""


class KeyIndex:
    """Maps keys to numbers. Occurrences of equal keys are distinguished by their order alone."""

    def __init__(self) -> None:
        self.keys: Keys = np.zeros(0, dtype=np.uint64)
        self.numbers: Numbers = np.zeros(0, dtype=np.uint32)

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, keys: Keys, numbers: Numbers) -> None:
        """Add keys behind their equals; time linear in the size of the index.

        Parameters
        ----------
        keys : array of uint64
            In any order; equal ones are numbered in this order.
        """
        if np.any(keys[1:] < keys[:-1]):  # those of a file's record are in order
            order = np.argsort(keys, kind="stable")
            keys, numbers = keys[order], numbers[order]
        if not len(self.keys):
            self.keys, self.numbers = keys.copy(), numbers.copy()
            return
        places = np.searchsorted(self.keys, keys, "right")
        self.keys = np.insert(self.keys, places, keys)
        self.numbers = np.insert(self.numbers, places, numbers)

    def find(self, keys: Keys) -> Numbers:
        """Return the numbers of keys, of the first, second ... occurrence where keys are equal.

        Returns
        -------
        array of uint32
            In that order; `MISSING` where there is none, or not as many.
        """
        found = np.full(len(keys), MISSING, dtype=np.uint32)
        if not len(keys) or not len(self.keys):
            return found
        order = np.argsort(keys, kind="stable")
        wanted = keys[order]
        places = np.searchsorted(self.keys, wanted, "left") + occurrences(wanted)
        inside = np.minimum(places, len(self.keys) - 1)
        known = (places < len(self.keys)) & (self.keys[inside] == wanted)
        found[order[known]] = self.numbers[inside[known]]
        return found


def occurrences(ordered: Keys) -> npt.NDArray[np.int64]:
    """Return for each of some ordered keys how many equal ones stand before it."""
    if not len(ordered):
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.concatenate((starts, [len(ordered)])))
    found: npt.NDArray[np.int64] = np.arange(len(ordered)) - np.repeat(starts, lengths)
    return found


_HEAD, _ROWS = b"H", b"R"
_ITEM = np.dtype("<u8")
_RECORD_ROWS = 4_000_000

Description = list[list[str]]
"""What a row's content is made of: names and types of columns, then the entity's name if there is one."""


class RowNumbers:
    """The numbers of one relation, as one process knows them.

    Parameters
    ----------
    anchor : JournalMark, optional
        As in `Journal`.

    Raises
    ------
    LedgerError
        The file cannot be used.
    """

    def __init__(self, path: Path, *, anchor: JournalMark | None = None) -> None:
        self.journal = Journal(path, anchor=anchor)
        self.description: Description | None = None
        self._rows = KeyIndex()
        self._people = KeyIndex()
        self._owners: Numbers = np.zeros(0, dtype=np.uint32)
        self._shared: array[int] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def has_people(self) -> bool:
        """Whether several rows may belong to one person."""
        return self.description is not None and bool(self.description) and len(self.description[-1]) == 1

    @property
    def owners(self) -> array[int] | None:
        """Person of each row, as `Population` wants it."""
        if not self.has_people:
            return None
        if self._shared is None or len(self._shared) != len(self._owners):
            self._shared = array("I")
            self._shared.frombytes(self._owners.tobytes())
        return self._shared

    def close(self) -> None:
        """Close the file."""
        self.journal.close()

    @contextmanager
    def exclusive(self, checkpoint: Callable[[], None] = lambda: None) -> Iterator[RowNumbersWriter]:
        """Lock the numbers for this process, and read those that others gave.

        Parameters
        ----------
        checkpoint : callable
            As in `Journal.exclusive`.

        Raises
        ------
        LedgerError
            The file is damaged.
        """
        with self.journal.exclusive(checkpoint) as writer:
            for payload in writer.new_records():
                self._read(payload)
            yield RowNumbersWriter(self, writer)

    def _read(self, payload: bytes) -> None:
        kind, body = payload[:1], payload[1:]
        if kind == _HEAD and self.description is None:
            self.description = json.loads(body)
        elif kind == _ROWS and self.description is not None:
            self._add_rows(np.frombuffer(body, dtype=_ITEM).astype(np.uint64))
        else:
            raise LedgerError("A record of the ledger's numbers cannot be read.")

    def _add_rows(self, numbers: Keys) -> None:
        columns = numbers.reshape(2 if self.has_people else 1, -1)
        count = len(self._rows)
        new = np.arange(count, count + columns.shape[1], dtype=np.uint32)
        self._rows.add(columns[0], new)
        if self.has_people:
            self._owners = np.concatenate((self._owners, self._people_of(columns[1])))

    def _people_of(self, people: Keys) -> Numbers:
        distinct, first, inverse = np.unique(people, return_index=True, return_inverse=True)
        known = self._people.find(distinct)
        unnumbered = np.flatnonzero(known == MISSING)
        # numbered in the order of the file, so that every process numbers alike
        unnumbered = unnumbered[np.argsort(first[unnumbered])]
        start = len(self._people)
        known[unnumbered] = np.arange(start, start + len(unnumbered), dtype=np.uint32)
        self._people.add(distinct[unnumbered], known[unnumbered])
        found: Numbers = known[inverse.reshape(-1)]
        return found

    def find(self, contents: Keys) -> Numbers:
        """Return the numbers of rows; `MISSING` for those that have none."""
        return self._rows.find(contents)


class RowNumbersWriter:
    """Gives numbers while `RowNumbers.exclusive` holds the file."""

    def __init__(self, row_numbers: RowNumbers, writer: JournalWriter) -> None:
        self._row_numbers = row_numbers
        self._writer = writer

    def set_description(self, description: Description) -> None:
        """Store what rows are made of, or compare it with what is stored.

        Raises
        ------
        LedgerError
            It was something else before, so that rows of then and now cannot be compared.
        """
        if self._row_numbers.description is None:
            self._append(_HEAD + json.dumps(description).encode())
        if self._row_numbers.description != description:
            raise LedgerError(
                "The columns that queries may read, or the entity, changed since the ledger began.",
                hint="A curator can begin a new ledger: SELECT kanon.restart_ledger('relation').",
            )

    def number(self, contents: Keys, people: Keys | None) -> npt.NDArray[np.uint32]:
        """Return the numbers of all rows of a relation; rows that have none get one, durably.

        Parameters
        ----------
        people : array of uint64, optional
            Hash of the person of every row, if there is an entity.

        Raises
        ------
        LedgerError
            The numbers are used up, or cannot be stored.
        """
        row_numbers = self._row_numbers
        if (people is not None) != row_numbers.has_people:
            raise LedgerError("Rows came without the people that they belong to.")
        found = row_numbers.find(contents)
        unnumbered = np.flatnonzero(found == MISSING)
        if not len(unnumbered):
            return found
        if len(row_numbers) + len(unnumbered) >= int(MISSING):
            raise LedgerError("All numbers of rows are used up.")
        unnumbered = unnumbered[np.argsort(contents[unnumbered], kind="stable")]
        for start in range(0, len(unnumbered), _RECORD_ROWS):
            part = unnumbered[start : start + _RECORD_ROWS]
            columns = [contents[part]] if people is None else [contents[part], people[part]]
            self._append(_ROWS + np.stack(columns).astype(_ITEM).tobytes())
        return row_numbers.find(contents)

    def _append(self, payload: bytes) -> None:
        self._writer.append(payload)
        self._row_numbers._read(payload)
