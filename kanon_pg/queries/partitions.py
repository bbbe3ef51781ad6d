"""Which sets of a query are composed of partitions of its table instead of being read with the answer.

Collecting the rows behind an answer takes about as long as the answer. A partition of a table by a column
takes as long once more, and serves every later query about that column while the table has the same rows.
So the partitions that a query could use are read when some earlier ones of the session could have used them
in the same state of the table. Whether one is read depends on the texts of queries, on writes, on the size of
the table and on how many values known columns have; never on the rows that a query chooses. By a sensitive
column a table is divided only if that is the group key of a query. That takes about a microsecond for each of
its values in the whole table, chosen or not.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import Statement
from kanon_pg.queries.check.verdict import ChosenValues, RowPartition, SetComposition
from kanon_pg.queries.outcome_cache import reads_clock, version_of

_WANTED_BEFORE = 3
"""Earlier queries after which a partition is read. Reading one costs as much as some queries save."""

_ROWS_PER_SECOND = 100_000
"""Most rows of a table that is read for partitions, for each second that a query may take: then `_MOST_NEW`
partitions take less than a third of that time."""

_MOST_NEW = 4
_MOST_KEPT = 256
_MOST_TABLES = 32

Send = Callable[[str, Sequence[bytes], bool], None]
"""Gets the key of a partition that the worker lacks, what was read, and whether it is of the kind 'truth'."""

_TRUE = 1
"""Place, in a partition of the kind 'truth', of the rows for which the condition is true."""


@dataclass(frozen=True, slots=True)
class ReadPartition:
    """A partition that the ledger's worker was sent.

    Parameters
    ----------
    key : str
        As the worker knows it: of the statement and the values.
    values : tuple of (str or None)
        Of the groups, in order; empty unless of the kind 'values'.
    """

    key: str
    values: tuple[str | None, ...]


@dataclass(slots=True)
class _TablePartitions:
    """What is known of the partitions of a table in one state; None for those of too many values."""

    version: str
    wanted: Counter[str] = field(default_factory=Counter)
    read: dict[str, ReadPartition | None] = field(default_factory=dict)


class PartitionRegister(threading.local):
    """The partitions that this thread's queries could have used and that its worker was sent."""

    def __init__(self) -> None:
        self._tables: dict[str, _TablePartitions] = {}

    def table(self, ledger: str, version: str) -> _TablePartitions:
        """Return what is known of the table of a ledger in its present state."""
        found = self._tables.pop(ledger, None)
        if found is None or found.version != version or len(found.read) > _MOST_KEPT:
            found = _TablePartitions(version)
        self._tables[ledger] = found
        while len(self._tables) > _MOST_TABLES:
            del self._tables[next(iter(self._tables))]
        return found


partition_register = PartitionRegister()


@dataclass(frozen=True, slots=True)
class ComposingTable:
    """A table whose sets may be composed, in the state that the ledger's worker has.

    Parameters
    ----------
    ledger : str
        Name of its ledger.
    zone : str
        Time zone of the session.
    cached : set of str
        Keys that the worker knows.
    """

    ledger: str
    zone: str
    cached: Set[str]
    partitions: _TablePartitions

    @classmethod
    def of(cls, ledger: str, zone: str, worker_state: Mapping[str, Any]) -> ComposingTable | None:
        """Return a table by what the worker says of it; None if it says nothing, or its rows have no TIDs."""
        version = None if worker_state["state"] is None else version_of(worker_state["state"])
        if version is None:
            return None
        found = partition_register.table(ledger, version)
        return cls(ledger, zone, frozenset(worker_state["sets"]), found)

    def composable(self, compositions: Mapping[int, SetComposition], seconds: float) -> frozenset[int]:
        """Return which of some sets are to be composed for a new query, which is counted.

        Parameters
        ----------
        compositions : mapping
            Of the sets, by any numbers.
        seconds : float
            That the query may take.
        """
        found = {number: self._lacking(item) for number, item in compositions.items()}
        rows = json.loads(self.partitions.version)[0]
        is_small = rows <= _ROWS_PER_SECOND * seconds
        ready, new = [], set[str]()
        for number, lacking in found.items():
            if lacking is None or len(new | lacking) > (_MOST_NEW if is_small else 0):
                continue
            if all(self.partitions.wanted[key] >= _WANTED_BEFORE for key in lacking):
                ready.append(number)
                new |= lacking
        self.partitions.wanted.update({key for lacking in found.values() for key in lacking or ()})
        if len(self.partitions.wanted) > _MOST_KEPT:
            self.partitions.wanted.clear()
        return frozenset(ready)

    def _lacking(self, composition: SetComposition) -> Set[str] | None:
        """Return the keys of statements of partitions that have to be read; None if one cannot be used."""
        lacking = set()
        for partition in composition.partitions:
            key = self._statement_key(partition)
            if reads_clock(partition.sql) or self.partitions.read.get(key, partition) is None:
                return None
            read = self.partitions.read.get(key)
            if read is None or read.key not in self.cached:
                lacking.add(key)
        return lacking

    def _statement_key(self, partition: RowPartition) -> str:
        return _digest([partition.sql, self.zone])

    def composed(
        self,
        db: Database,
        composition: SetComposition,
        arguments: Sequence[str | None],
        send: Send,
    ) -> dict[str, Any] | None:
        """Return how the ledger's worker composes sets; None if a partition has too many values.

        Parameters
        ----------
        db : Database
            In the state that the worker has.
        arguments : sequence of (str or None)
            Of the parameters of the canonical SQL.
        send : callable
            Gets every partition that the worker lacks.
        """
        partitions = []
        for partition in composition.partitions:
            read = self._partition(db, partition, send)
            if read is None:
                return None
            partitions.append(read)

        def chosen(choices: Sequence[ChosenValues]) -> list[list[Any]]:
            return [_places(db, choice, partitions[choice.partition], arguments) for choice in choices]

        return {
            "groups": None if composition.groups is None else partitions[composition.groups].key,
            "where": chosen(composition.where),
            "filters": [chosen(choices) for choices in composition.filters],
        }

    def _partition(self, db: Database, partition: RowPartition, send: Send) -> ReadPartition | None:
        key = self._statement_key(partition)
        found = self.partitions.read.get(key)
        if found is not None and found.key in self.cached:
            return found
        # should it fail, it is not tried again in this state; should the worker drop it, not at once
        self.partitions.read[key] = None
        self.partitions.wanted[key] = 0
        (row,) = db.rows_once(Statement(partition.sql, ()))
        if partition.most is not None and row["count"] > partition.most:
            return None
        values = tuple((row["values"] or ()) if partition.kind == "values" else ())
        found = ReadPartition(_digest([partition.sql, self.zone, values]), values)
        parts = [row[name] for name in ("groups", "leaves", "lengths", "row_ids")]
        send(found.key, parts, partition.kind == "truth")
        self.partitions.read[key] = found
        return found


def _places(
    db: Database, choice: ChosenValues, partition: ReadPartition, arguments: Sequence[str | None]
) -> list[Any]:
    """Return the key of a partition, and the places of the values for which a condition is true."""
    if choice.sql is None:
        return [partition.key, [_TRUE]]
    types = (*("text",) * len(arguments), "text[]")
    rows = db.rows_once(Statement(choice.sql, types), *arguments, list(partition.values))
    return [partition.key, [row["place"] for row in rows]]


def _digest(parts: Sequence[Any]) -> str:
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()
