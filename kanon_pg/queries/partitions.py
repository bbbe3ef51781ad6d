"""Which sets of a query are composed of partitions of its table instead of being read with the answer.

Collecting the rows behind an answer takes about as long as the answer. A partition of a table by a column
takes as long once more, and serves every later query about that column while the table has the same rows.
So the partitions that a query could use are read when some earlier ones of the session could have used them
in the same state of the table, or loaded if another session stored them
(`kanon_pg.worker.ledger.partition_files`). Whether one is read depends on the texts of queries, on writes, on
the size of the table and on how many values known columns have; never on the rows that a query chooses. By a
sensitive column a table is divided only if that is the group key of a query. That takes about a microsecond
for each of its values in the whole table, chosen or not. Of conditions only "this column has a value" is
stored: from the time that their queries take others would learn what somebody asked.
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

_WANTED_BEFORE = 2
"""Earlier queries after which a partition is read. Reading one costs as much as some queries save, of all
sessions together; a table that changes before is not read in vain."""

_ROWS_PER_SECOND = 100_000
"""Most rows of a table that is read for partitions, for each second that a query may take: then `_MOST_NEW`
partitions take less than a third of that time."""

_MOST_ROWS_STORED = 1_000_000
"""Most rows of a table whose partitions by sensitive columns are stored, with up to 20 bytes a group."""

_MOST_NEW = 4
_MOST_KEPT = 256
_MOST_TABLES = 32

Send = Callable[["ReadPartition", Sequence[bytes], RowPartition], None]
"""Gets a partition that the worker lacks, what was read, and what it is of."""

Load = Callable[["ReadPartition"], bool]
"""Has the worker load a partition that another session stored; returns whether it could."""

_TRUE = 1
"""Place, in a partition of the kind 'truth', of the rows for which the condition is true."""


@dataclass(frozen=True, slots=True)
class ReadPartition:
    """A partition that the ledger's worker was sent, or loaded.

    Parameters
    ----------
    statement : str
        Digest of its statement, and of the session's time zone if it may depend on that.
    key : str
        As the worker knows it: of the statement and the values.
    values : tuple of (str or None)
        Of the groups, in order; empty unless of the kind 'values'.
    """

    statement: str
    key: str
    values: tuple[str | None, ...]


@dataclass(slots=True)
class _TablePartitions:
    """What is known of the partitions of a table in one state; None for those that could not be used.

    Those of `admitted` may be read for the present query.
    """

    version: str
    wanted: Counter[str] = field(default_factory=Counter)
    admitted: Set[str] = frozenset()
    read: dict[str, ReadPartition | None] = field(default_factory=dict)


class PartitionRegister(threading.local):
    """The partitions that this thread's queries could have used, and those that its worker has."""

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
    seed : int
        Of the ledger; keeps the keys of partitions from telling which values there are.
    zone : str
        Time zone of the session.
    cached : set of str
        Keys that the worker knows.
    stored : set of str
        Statements whose partitions it can load.
    """

    ledger: str
    seed: int
    zone: str
    cached: Set[str]
    stored: Set[str]
    partitions: _TablePartitions

    @classmethod
    def of(cls, ledger: str, zone: str, worker_state: Mapping[str, Any]) -> ComposingTable | None:
        """Return a table by what the worker says of it; None if it says nothing, or its rows have no TIDs."""
        version = None if worker_state["state"] is None else version_of(worker_state["state"])
        if version is None:
            return None
        found = partition_register.table(ledger, version)
        cached, stored = frozenset(worker_state["sets"]), frozenset(worker_state["stored"])
        return cls(ledger, worker_state["seed"], zone, cached, stored, found)

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
        self.partitions.admitted = new
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
            if (read is None or read.key not in self.cached) and key not in self.stored:
                lacking.add(key)
        return lacking

    def may_store(self, partition: RowPartition) -> bool:
        """Return whether other sessions may have a partition: it tells nothing, and is not too large.

        By a sensitive column it can have as many groups as rows, and how many must decide nothing.
        """
        is_bounded = partition.kind == "truth" or partition.most is not None
        rows = json.loads(self.partitions.version)[0]
        return partition.is_shared and (is_bounded or rows <= _MOST_ROWS_STORED)

    def _statement_key(self, partition: RowPartition) -> str:
        return self._digest([partition.sql, self._zone_of(partition)])

    def _zone_of(self, partition: RowPartition) -> str | None:
        """Return the time zone if a partition may depend on it: that by a column alone does not."""
        return None if partition.is_shared else self.zone

    def composed(
        self,
        db: Database,
        composition: SetComposition,
        arguments: Sequence[str | None],
        send: Send,
        load: Load,
    ) -> dict[str, Any] | None:
        """Return how the ledger's worker composes sets; None if a partition has too many values.

        Parameters
        ----------
        db : Database
            In the state that the worker has.
        arguments : sequence of (str or None)
            Of the parameters of the canonical SQL.
        send : callable
            Gets every partition that was read.
        load : callable
            Is asked for those that the worker does not know, but can load.
        """
        partitions = []
        for partition in composition.partitions:
            read = self._partition(db, partition, send, load)
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

    def _partition(
        self, db: Database, partition: RowPartition, send: Send, load: Load
    ) -> ReadPartition | None:
        statement = self._statement_key(partition)
        found = self.partitions.read.get(statement)
        if found is not None and found.key in self.cached:
            return found
        is_stored = statement in self.stored
        if not is_stored and statement not in self.partitions.admitted:
            # what the worker had is gone since the query was planned
            return None
        # should it fail, it is not tried again in this state; should the worker drop it, not at once
        self.partitions.read[statement] = None
        self.partitions.wanted[statement] = 0
        if is_stored:
            values = self._values(db, partition) if found is None else found.values
            stored = self._read(statement, partition, values)
            if not load(stored):
                return None
            self.partitions.read[statement] = stored
            return stored
        (row,) = db.read(Statement(partition.sql, ()))
        if partition.most is not None and row["count"] > partition.most:
            return None
        values = tuple((row["values"] or ()) if partition.kind == "values" else ())
        found = self._read(statement, partition, values)
        send(found, [row[name] for name in ("groups", "leaves", "lengths", "row_ids")], partition)
        self.partitions.read[statement] = found
        return found

    def _values(self, db: Database, partition: RowPartition) -> tuple[str | None, ...]:
        """Read the values of a partition without its rows."""
        if partition.values_sql is None:
            return ()
        (row,) = db.read(Statement(partition.values_sql, ()))
        return tuple(row["values"] or ())

    def _read(self, statement: str, partition: RowPartition, values: tuple[str | None, ...]) -> ReadPartition:
        return ReadPartition(
            statement, self._digest([partition.sql, self._zone_of(partition), values]), values
        )

    def _digest(self, parts: Sequence[Any]) -> str:
        secret = str(self.seed).encode()
        return blake2b(json.dumps(parts).encode(), digest_size=16, key=secret).hexdigest()


def _places(
    db: Database, choice: ChosenValues, partition: ReadPartition, arguments: Sequence[str | None]
) -> list[Any]:
    """Return the key of a partition, and the places of the values for which a condition is true."""
    if choice.sql is None:
        return [partition.key, [_TRUE]]
    types = (*("text",) * len(arguments), "text[]")
    rows = db.read(Statement(choice.sql, types), *arguments, list(partition.values))
    return [partition.key, [row["place"] for row in rows]]
