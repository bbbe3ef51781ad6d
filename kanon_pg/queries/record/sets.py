"""The sets of a record, in SQLite: those that conflict with new ones are found without reading all.

::

    channels    what sets are compared in: the rows of a table, a content, or people beside some tables
    sets        sketches, each once in its channel; `entry` is NULL when it was forgotten
    keys        one integer for each key of a set: the key, then the set's number
    fresh_keys  those of the latest sets. Hashes are random: a thousand of them touch a thousand pages of a
                large index. So they are moved there in their order, a slice of neighbours after each answer
    tiny        sets that are compared without keys
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain

from kanon_pg.errors import InputError, LedgerError
from kanon_pg.queries.record.sketches import KEY_BITS, FigureSet, Keys, Shape, differ

SCHEMA = """
CREATE TABLE channels (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (kind, name));
CREATE TABLE sets (id INTEGER PRIMARY KEY, channel INTEGER NOT NULL, k INTEGER NOT NULL, entry INTEGER,
    sketch BLOB NOT NULL);
CREATE TABLE keys (key INTEGER PRIMARY KEY);
CREATE TABLE fresh_keys (key INTEGER PRIMARY KEY);
CREATE TABLE tiny (channel INTEGER, id INTEGER, PRIMARY KEY (channel, id)) WITHOUT ROWID;
CREATE TABLE shape (seed INTEGER NOT NULL, buckets INTEGER NOT NULL, k INTEGER NOT NULL,
    moved INTEGER NOT NULL, fresh INTEGER NOT NULL);
"""
_SET_BITS = 63 - KEY_BITS
_MOST_SETS = 2**_SET_BITS - 1
_FRESH_KEYS = 400_000

_Set = tuple[int, bytes]
"""The number of a channel, and a sketch."""


@dataclass(slots=True)
class _Sought:
    """What is known of a set: its number if it is recorded, and the entries whose sets it conflicts with."""

    keys: Keys
    is_compared: bool
    number: int | None = None
    owners: set[int] = field(default_factory=set)


class RecordedSets:
    """The sets of an open record, whose transactions are the caller's."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        buckets, k = db.execute("SELECT buckets, k FROM shape").fetchone()
        try:
            self.shape = Shape(buckets, k)
        except InputError as error:
            raise sqlite3.DatabaseError("the shape of its sketches is impossible") from error
        self._sought: dict[_Set, _Sought] = {}

    def begin(self) -> None:
        """Forget what was found in an earlier transaction."""
        self._sought = {}

    def last(self) -> int:
        """Return the number of the last set, 0 without any."""
        return self._one("SELECT coalesce(max(id), 0) FROM sets")

    def conflicts(self, figures: Sequence[FigureSet], k: int) -> list[set[int]]:
        """Return for each figure the entries that disclosed sets with which it conflicts.

        Two sets are compared by the larger k of both.
        """
        channels = self._channels()
        met = [list(_met(channels, item)) for item in figures]
        self._sought = {one: _Sought(self.shape.keys(*one), True) for one in {*chain(*met)}}
        self._find(self._sought, k)
        return [set().union(*(self._sought[one].owners for one in own)) for own in met]

    def add(self, figures: Sequence[FigureSet], k: int, entry: int) -> list[int]:
        """Add the sets of some figures that are not there yet; return the numbers of all of them."""
        channels, own = self._channels(), list[tuple[_Set, list[_Set]]]()
        for item in figures:
            numbered = []
            for channel, sketch in _own(item):
                if channel not in channels:
                    self._db.execute("INSERT INTO channels (kind, name) VALUES (?, ?)", channel)
                    channels = self._channels()
                numbered.append((channels[channel], sketch))
            own.append((numbered[0], numbered[1:]))
        self._look_up({one for _, others in own for one in others}, k)
        # people beside new rows are new, too, or stored once more
        known = {people for people, rows in own if not rows or any(self._sought[one].number for one in rows)}
        self._look_up(known, k)
        for people, _ in own:
            if people not in self._sought:
                self._sought[people] = _Sought(self.shape.keys(*people, is_compared=False), False)
        new_sets = {one: self._sought[one] for people, others in own for one in (people, *others)}
        number, keys = self.last(), list[int]()
        rows, tiny, raised = [], [], []
        for (channel_number, sketch), new in new_sets.items():
            if new.number is not None:
                raised.append((k, new.number, k))
                continue
            new.number = number = number + 1
            rows.append((number, channel_number, k, entry, self.shape.packed(sketch)))
            keys += _numbered(new.keys, number)
            if new.keys.is_tiny:
                tiny.append((channel_number, number))
        if number > _MOST_SETS:
            raise LedgerError("The record of answers is full.", hint="Begin a new record.")
        self._db.executemany("INSERT INTO sets VALUES (?, ?, ?, ?, ?)", rows)
        self._db.executemany("INSERT INTO tiny VALUES (?, ?)", tiny)
        self._db.executemany("UPDATE sets SET k = ? WHERE id = ? AND k < ?", raised)
        self._store(keys)
        return [one.number for one in new_sets.values() if one.number is not None]

    def forget(self, numbers: Collection[int]) -> None:
        """Compare nothing with some sets any more."""
        for number, channel, _, _, sketch in list(self._read(numbers)):
            keys = [(key,) for key in _numbered(self.shape.keys(channel, sketch), number)]
            self._db.executemany("DELETE FROM keys WHERE key = ?", keys)
            self._db.executemany("DELETE FROM fresh_keys WHERE key = ?", keys)
            self._db.execute("DELETE FROM tiny WHERE channel = ? AND id = ?", (channel, number))
            self._db.execute("UPDATE sets SET entry = NULL WHERE id = ?", (number,))

    def give(self, owners: Mapping[int, int]) -> None:
        """Say which entries disclosed some sets, by the numbers of these."""
        self._db.executemany("UPDATE sets SET entry = ? WHERE id = ?", ((e, n) for n, e in owners.items()))

    def rebuild(self, k: int) -> None:
        """Make all sets comparable by another k."""
        self.shape = Shape(self.shape.buckets, k)
        for table in ("keys", "fresh_keys", "tiny"):
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("UPDATE shape SET k = ?, moved = 0, fresh = 0", (k,))
        for keys, tiny in self._keyed():
            self._insert("keys", keys)
            self._db.executemany("INSERT INTO tiny VALUES (?, ?)", tiny)

    def are_findable(self, numbers: Collection[int]) -> bool:
        """Return whether some sets, and no others, are compared, and have all their keys; reads all."""
        compared = {number for (number,) in self._db.execute("SELECT id FROM sets WHERE entry IS NOT NULL")}
        tiny, wanted, present = set(self._db.execute("SELECT channel, id FROM tiny")), 0, 0
        for keys, own_tiny in self._keyed():
            wanted += len(set(keys))
            for table in ("keys", "fresh_keys"):
                command = f"SELECT count(*) FROM {table} WHERE key IN (SELECT value FROM json_each(?))"
                present += self._one(command, json.dumps(sorted(keys)))
            tiny.symmetric_difference_update(own_tiny)
        stored = self._one("SELECT (SELECT count(*) FROM keys) + (SELECT count(*) FROM fresh_keys)")
        return compared == numbers and wanted == present == stored and not tiny

    def _keyed(self) -> Iterator[tuple[list[int], list[tuple[int, int]]]]:
        """Yield keys of the sets that are compared, and which of these are tiny, some at a time."""
        numbered, tiny = list[int](), list[tuple[int, int]]()
        for number, channel, _, entry, sketch in self._read():
            if entry is not None:
                keys = self.shape.keys(channel, sketch, is_compared=False)
                numbered += _numbered(keys, number)
                tiny += [(channel, number)] * keys.is_tiny
            if len(numbered) > _FRESH_KEYS:
                yield numbered, tiny
                numbered, tiny = [], []
        yield numbered, tiny

    def _one(self, command: str, *values: object) -> int:
        return int(self._db.execute(command, values).fetchone()[0])

    def seal(self, first: int, last: int) -> bytes:
        """Return a digest of the sets from one number to another, empty without any."""
        digest, count = blake2b(digest_size=16), 0
        for *head, sketch in self._db.execute(
            """SELECT s.id, c.kind, c.name, s.sketch FROM sets s JOIN channels c ON c.id = s.channel
               WHERE s.id BETWEEN ? AND ? ORDER BY s.id""",
            (first, last),
        ):
            digest.update(json.dumps([*head, len(sketch)]).encode() + sketch)
            count += 1
        return digest.digest() if count else b""

    def _look_up(self, sets: Collection[_Set], k: int) -> None:
        """Find the numbers of sets of which nothing is known."""
        new = {
            one: _Sought(self.shape.keys(*one, is_compared=False), False)
            for one in sets
            if one not in self._sought
        }
        self._find(new, k)
        self._sought |= new

    def _find(self, sets: Mapping[_Set, _Sought], k: int) -> None:
        """Complete what is known of some sets."""
        wanted = list(sets.items())
        hits = self._hits([one for _, one in wanted])
        for index, ((channel, _), one) in enumerate(wanted):
            if one.keys.is_tiny:
                for (number,) in self._db.execute("SELECT id FROM tiny WHERE channel = ?", (channel,)):
                    hits[number].add(index)
        for number, channel, own_k, owner, sketch in self._read(hits):
            for index in hits[number]:
                (own_channel, own), one = wanted[index]
                # parts of different channels may have the same hash
                different = differ(own, sketch) if own_channel == channel else -1
                if not different:
                    one.number = number
                elif one.is_compared and 0 < different < max(k, own_k) and owner is not None:
                    one.owners.add(owner)

    def _hits(self, wanted: Sequence[_Sought]) -> defaultdict[int, set[int]]:
        """Return by the numbers of recorded sets the positions of those that share enough keys with them."""
        targets, shared = defaultdict[int, list[tuple[int, int]]](list), defaultdict[int, int](int)
        for index, one in enumerate(wanted):
            base = index << _SET_BITS
            # an equal set has its first keys, too
            for key in one.keys.near if one.is_compared else one.keys.stored[:2]:
                targets[key].append((base, 1))
            for key in one.keys.near_single:
                targets[key].append((base, 2))
        probes, span = json.dumps(sorted(targets)), (self.shape.span << _SET_BITS) - 1
        for table in ("keys", "fresh_keys"):
            for key, number in self._db.execute(
                f"""SELECT p.value, k.key & {_MOST_SETS} FROM json_each(?) p CROSS JOIN {table} k
                    ON k.key BETWEEN p.value << {_SET_BITS} AND (p.value << {_SET_BITS}) + {span}""",
                (probes,),
            ):
                for base, weight in targets[key]:
                    shared[base + number] += weight
        hits = defaultdict[int, set[int]](set)
        for hit, weight in shared.items():
            if weight > 1:
                hits[hit & _MOST_SETS].add(hit >> _SET_BITS)
        return hits

    def _read(
        self, numbers: Collection[int] | None = None
    ) -> Iterator[tuple[int, int, int, int | None, bytes]]:
        """Yield number, channel, k, entry and sketch of some sets, or of all."""
        some = "" if numbers is None else "WHERE id IN (SELECT value FROM json_each(?))"
        values = () if numbers is None else (json.dumps(sorted(numbers)),)
        for *row, sketch in self._db.execute(f"SELECT * FROM sets {some} ORDER BY id", values):
            number, channel, k, entry = row
            try:
                yield number, channel, k, entry, self.shape.unpacked(sketch)
            except ValueError as error:
                raise sqlite3.DatabaseError("a set cannot be read") from error

    def _channels(self) -> dict[tuple[str, str], int]:
        return {(kind, name): number for number, kind, name in self._db.execute("SELECT * FROM channels")}

    def _insert(self, table: str, keys: Sequence[int]) -> None:
        rows = ((key,) for key in sorted(keys))
        self._db.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?)", rows)

    def _store(self, keys: Sequence[int]) -> None:
        """Store keys, and move a slice of older ones to the large index."""
        db = self._db
        self._insert("fresh_keys", keys)
        moved, fresh = db.execute("SELECT moved, fresh FROM shape").fetchone()
        fresh += len(keys)
        if fresh > _FRESH_KEYS:
            # more than came, so that they become fewer again
            after = "SELECT key FROM fresh_keys WHERE key >= ? ORDER BY key LIMIT 1 OFFSET ?"
            end = db.execute(after, (moved, 2 * len(keys))).fetchone() or (2**63 - 1,)
            span = (moved, *end)
            db.execute("INSERT OR IGNORE INTO keys SELECT * FROM fresh_keys WHERE key >= ? AND key < ?", span)
            fresh -= db.execute("DELETE FROM fresh_keys WHERE key >= ? AND key < ?", span).rowcount
            moved = 0 if end[0] == 2**63 - 1 else end[0]
        db.execute("UPDATE shape SET moved = ?, fresh = ?", (moved, fresh))


def _own(item: FigureSet) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Yield what a figure is recorded in: people with the tables beside them, so that these can be told."""
    yield ("people", json.dumps(sorted(item.tables))), item.people
    yield from ((("table", name), sketch) for name, sketch in item.tables.items())
    yield from ((("content", name), sketch) for name, sketch in item.contents.items())


def _met(channels: Mapping[tuple[str, str], int], item: FigureSet) -> Iterator[_Set]:
    """Yield what a figure is compared in."""
    for (kind, name), number in channels.items():
        if kind == "people" and _tables(name).isdisjoint(item.tables):
            yield number, item.people
        elif kind == "table" and name in item.tables:
            yield number, item.tables[name]
        elif kind == "content" and name in item.contents:
            yield number, item.contents[name]


@lru_cache(maxsize=1024)
def _tables(name: str) -> frozenset[str]:
    return frozenset(json.loads(name))


def _numbered(keys: Keys, number: int) -> list[int]:
    return [key << _SET_BITS | number for key in (*keys.stored, *keys.single)]


def packed_numbers(numbers: Collection[int]) -> bytes:
    """Return numbers of sets as the log stores them."""
    return array("I", sorted(numbers)).tobytes()


def unpacked_numbers(stored: bytes) -> list[int]:
    """Return what `packed_numbers` stored."""
    return memoryview(stored).cast("I").tolist()
