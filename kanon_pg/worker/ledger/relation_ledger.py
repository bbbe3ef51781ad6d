"""The ledger of one protected relation: its files, session, table snapshot and cached sets."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyroaring import BitMap

from kanon_pg.errors import LedgerError, LedgerUnavailable
from kanon_pg.worker.ledger.answers import AnswerSets, DisjointSets, LevelSelection, Population
from kanon_pg.worker.ledger.folder import (
    CHECKPOINT,
    JOURNAL,
    NUMBERS,
    TABLE_SNAPSHOT,
    FileMark,
    existing_folder,
    mark_of,
    read_marks,
    read_sealed,
    read_secret,
    remove_drafts,
    write_marks,
    write_percent_used,
    write_sealed,
)
from kanon_pg.worker.ledger.journal import Journal, JournalMark
from kanon_pg.worker.ledger.partition_files import PartitionFiles, StoredPartition, state_digest
from kanon_pg.worker.ledger.row_numbers import Description, Keys, Numbers, RowNumbers, RowNumbersWriter
from kanon_pg.worker.ledger.rules import LedgerRules, QueryBudget
from kanon_pg.worker.ledger.sent_sets import (
    ComposedSets,
    DerivedSets,
    PackedRows,
    PackedSets,
    SentPartition,
    SentSets,
)
from kanon_pg.worker.ledger.session import LedgerSession
from kanon_pg.worker.ledger.set_cache import ByMask, Parts, SetCache, distinct
from kanon_pg.worker.ledger.table_snapshot import (
    LeafTable,
    TableSnapshot,
    bitmap_of,
    keys_of,
    snapshot_bytes,
    snapshot_from,
)

CHECKPOINT_RECORDS = 256
CHECKPOINT_SECONDS = 0.25
CHECKPOINT_SHARE = 20.0
"""A checkpoint is written after so many entries, or so much work since the last one, that others would
repeat, and so many times the work of writing it."""

_GROUP = np.dtype(">i8")
_OID = np.dtype(">u4")


@dataclass(frozen=True, slots=True)
class RulesAndBudgets:
    """Rules and budgets of a relation."""

    rules: LedgerRules
    per_analyst: QueryBudget
    overall: QueryBudget


def _each_once(found: Iterable[Parts]) -> Parts:
    return distinct(part for parts in found for part in parts)


def verified(parent: Path, name: str, mark: JournalMark | None = None) -> Description | None:
    """Read a whole ledger from its files, as the first query of a session does.

    Parameters
    ----------
    mark : JournalMark, optional
        What the database says of the journal.

    Returns
    -------
    list or None
        What the rows are made of, see `RowNumbersWriter.set_description`; None if no query said it yet.

    Raises
    ------
    LedgerError
        A file is missing, damaged, shorter than it was, or not private.
    """
    ledger = RelationLedger(parent, name)
    try:
        with ledger.row_numbers.exclusive():
            journal = Journal(ledger.folder / JOURNAL, anchor=ledger.anchor)
            try:
                if mark is not None:
                    journal.expect(mark)
                with journal.exclusive() as writer:
                    writer.new_records()
            finally:
                journal.close()
        return ledger.row_numbers.description
    finally:
        ledger.close()


class RelationLedger:
    """The ledger of one relation.

    Parameters
    ----------
    parent : Path
        Where the ledgers of this database are.
    name : str
        The ledger's.

    Raises
    ------
    LedgerError
        A file is missing, damaged, shorter than it was, or not private.
    """

    def __init__(self, parent: Path, name: str) -> None:
        self.folder = existing_folder(parent, name)
        self.secret = read_secret(self.folder)
        self.state: str | None = None
        """What the database said of the state that `table_snapshot` is of."""
        self.table_snapshot: TableSnapshot | None = None
        self._epoch: str | None = None
        self._is_snapshot_new = False
        self._snapshot_file: FileMark | None = None
        """Of the table snapshot, if that is the one of this state."""
        self._cache = SetCache()
        # apart, because what is made of partitions would push them out
        self._partition_cache = SetCache()
        self._partition_files = PartitionFiles(self.folder, self.secret.key)
        self._new_partitions: list[StoredPartition] = []
        # apart until they are used, so that they push out nothing that the same query needs
        self._loaded_partitions: dict[str, DisjointSets] = {}
        self._terms: RulesAndBudgets | None = None
        self._session: LedgerSession | None = None
        self._rank = -1
        self._saved_records, self._unsaved_seconds, self._saving_seconds = 0, 0.0, 0.0
        self.anchor, numbers = read_marks(self.folder)
        self.row_numbers = RowNumbers(self.folder / NUMBERS, anchor=numbers)

    def close(self) -> None:
        """Close all files."""
        self.row_numbers.close()
        if self._session is not None:
            self._session.close()

    def session(self, terms: RulesAndBudgets) -> LedgerSession:
        """Return the session under some terms; other terms than before mean reading the journal again."""
        if self._session is None or self._terms != terms:
            if self._session is not None:
                self.anchor = self._session.journal.mark
                self._session.close()
            self._session, self._terms = self._opened(terms), terms
            self._saved_records, self._unsaved_seconds = self._session.journal.mark.records, 0.0
        return self._session

    def _opened(self, terms: RulesAndBudgets) -> LedgerSession:
        session, start = None, time.monotonic()
        checkpoint = read_sealed(self.folder, CHECKPOINT, self.secret.key)
        if checkpoint is not None:
            # one of other rules is of no use: the journal has everything
            with suppress(LedgerError):
                session = self._open_session(terms, checkpoint)
        # writing it takes as long, or longer
        self._saving_seconds = time.monotonic() - start
        if session is None:
            session = self._open_session(terms, None)
        session.journal.expect(self.anchor)
        return session

    def _open_session(self, terms: RulesAndBudgets, checkpoint: bytes | None) -> LedgerSession:
        return LedgerSession(
            self.folder / JOURNAL,
            terms.rules,
            self.secret.key,
            per_analyst=terms.per_analyst,
            overall=terms.overall,
            checkpoint=checkpoint,
        )

    def load_snapshot(self, epoch: str, *, renew: bool = False) -> None:
        """Load the table snapshot that another process saved in the same epoch, unless this one has one.

        Parameters
        ----------
        epoch : str
            As in `kanon_pg.queries.ledgers.LedgerContext`.
        renew : bool
            Whether the relation is not in the state of this process's table snapshot, so that another one
            is of more use.
        """
        if self._epoch != epoch:
            self._forget()
            self._epoch = epoch
        if self.table_snapshot is not None and not renew:
            return
        found = mark_of(self.folder / TABLE_SNAPSHOT)
        if found is None or found == self._snapshot_file:
            return
        data = read_sealed(self.folder, TABLE_SNAPSHOT, self.secret.key)
        if data is not None:
            # one that cannot be read is of no use: the relation is read again
            with suppress(LedgerError):
                state, table_snapshot = snapshot_from(data, epoch)
                self._forget()
                self.state, self.table_snapshot, self._snapshot_file = state, table_snapshot, found

    def _forget(self) -> None:
        """Forget a state of the relation and what is known of it."""
        self.state, self.table_snapshot = None, None
        self._is_snapshot_new, self._snapshot_file = False, None
        self._cache.clear()
        self._partition_cache.clear()
        self._loaded_partitions.clear()
        self._new_partitions.clear()

    def take_snapshot(
        self, state: str, leaves: Sequence[LeafTable], writer: RowNumbersWriter, epoch: str
    ) -> None:
        """Take a new table snapshot; rows never seen before are numbered, durably."""
        contents = _joined([keys_of(leaf.contents) for leaf in leaves])
        people = _joined([keys_of(leaf.people) for leaf in leaves]) if self.row_numbers.has_people else None
        if people is not None and len(people) != len(contents):
            raise LedgerError("Rows came without the people that they belong to.")
        self._forget()
        self.table_snapshot = TableSnapshot(leaves, writer.number(contents, people))
        self.state, self._epoch, self._is_snapshot_new = state, epoch, True

    def population(self) -> Population:
        """Return the units of the last table snapshot and their owners; no units without a snapshot."""
        units = self.table_snapshot.units if self.table_snapshot is not None else BitMap()
        return Population(units, self.row_numbers.owners)

    def cached_keys(self) -> list[str]:
        """Return the keys of statements whose sets are cached for the present state, and of partitions."""
        return [*self._cache.keys(), *self._partition_cache.keys()]

    def stored_partitions(self) -> list[str]:
        """Return the statements of partitions that have a file in the present state."""
        state = self._state_digest()
        return [] if state is None else self._partition_files.statements(state)

    def load_partition(self, statement: str, key: str) -> bool:
        """Load a partition that has a file, so that sets can be composed of it; return whether it has one.

        Parameters
        ----------
        statement, key
            As in `StoredPartition`: a partition with another key is of other values.
        """
        state = self._state_digest()
        found = None if state is None else self._partition_files.read(state, statement)
        if found is not None and found.key == key and self._is_whole(found.groups):
            self._loaded_partitions[key] = found.groups
            return True
        if state is not None:
            self._partition_files.remove(state, statement)
        return False

    def _state_digest(self) -> str | None:
        if self.state is None or self.table_snapshot is None or self._epoch is None:
            return None
        return state_digest(self.state, self._epoch) if self.table_snapshot.has_tids else None

    def answer(self, sent: Sequence[SentSets], partitions: Sequence[SentPartition] = ()) -> AnswerSets:
        """Return the sets behind an answer.

        Parameters
        ----------
        partitions : sequence of SentPartition
            New ones.

        Raises
        ------
        LedgerError
            They do not fit the table snapshot.
        InputError
            Groups that should not share rows do.
        """
        # fetched first: new sets may push them out of the cache
        cached = {item.sets: self._cache.get(item.sets) for item in sent if isinstance(item.sets, str)}
        used = self._partitions(sent, partitions)
        groups: dict[int, Parts] = {}
        pairs: list[tuple[SentSets, Parts]] = []
        spreads: list[Parts] = []
        for item in sent:
            by_mask = cached[item.sets] if isinstance(item.sets, str) else self._read(item, groups, used)
            found = _each_once(by_mask)
            pairs.append((item, found))
            if item.kind == "groups":
                groups[item.level] = found
                spreads += (by_mask[place] for place in item.spreads)
        figures = _each_once(part for item, part in pairs if item.kind in {"groups", "windows"})
        with_known = {item.level for item in sent if item.kind == "known"}
        known = [
            part
            for item, part in pairs
            if item.kind == "known" or (item.kind != "secret" and item.level not in with_known)
        ]
        narrowed = [part for item, part in pairs if item.narrowed]
        return AnswerSets(
            figures,
            _each_once(known) if with_known else None,
            _each_once(narrowed),
            tuple(self._selections(pairs)),
            tuple(sorted(figures.index(part) for part in _each_once(spreads))),
        )

    @staticmethod
    def _selections(pairs: Sequence[tuple[SentSets, Parts]]) -> Iterator[LevelSelection]:
        """Yield what known and sensitive columns choose in each level in which both do."""
        for level, whole in dict.fromkeys(
            (item.level, item.is_whole) for item, _ in pairs if item.kind == "secret"
        ):
            yield LevelSelection(
                _each_once(part for item, part in pairs if item.level == level and item.narrowed),
                _each_once(part for item, part in pairs if item.level == level and item.kind == "secret"),
                None
                if whole
                else _each_once(
                    part for item, part in pairs if item.level == level and item.kind == "groups"
                ),
            )

    def _partitions(
        self, sent: Sequence[SentSets], packed: Sequence[SentPartition]
    ) -> Mapping[str, DisjointSets]:
        """Return the partitions that composed sets are made of, by their keys; the new ones are cached."""
        new = {item.sets.key: self._partition(item) for item in packed if item.sets.key is not None}
        self._new_partitions += (
            StoredPartition(item.statement, item.sets.key, new[item.sets.key])
            for item in packed
            if item.sets.key is not None and item.statement is not None
        )
        keys = {key for item in sent if isinstance(item.sets, ComposedSets) for key in item.sets.partitions()}
        # the order in which they are used last must not depend on hashes of this process
        wanted = sorted(keys - new.keys())
        loaded = {key: self._loaded_partitions[key] for key in wanted if key in self._loaded_partitions}
        found = {key: self._partition_cache.get(key)[0][0] for key in wanted if key not in loaded}
        self._loaded_partitions.clear()
        for key, parts in (loaded | new).items():
            self._partition_cache.remember(key, ((parts,),), len(self.population().units))
        return found | loaded | new

    def _partition(self, partition: SentPartition) -> DisjointSets:
        groups = self._sets(partition.sets, partition.sets.rows)
        units = self.population().units
        if partition.is_truth:
            others = BitMap().union(*groups.values())
            groups = {1: units - others, 2: others}
        found = tuple(groups[number] for number in sorted(groups))
        if not self._is_whole(found) or sorted(groups) != list(range(1, len(groups) + 1)):
            raise LedgerError("A partition of a relation does not have every row once.")
        return found

    def _is_whole(self, groups: DisjointSets) -> bool:
        """Return whether some groups have every row of the relation once."""
        units = self.population().units
        return sum(map(len, groups)) == len(units) and BitMap().union(*groups) == units

    def _read(
        self, item: SentSets, groups: Mapping[int, Parts], partitions: Mapping[str, DisjointSets]
    ) -> ByMask:
        if isinstance(item.sets, PackedSets):
            return self._parts(item.sets)
        if isinstance(item.sets, ComposedSets):
            levels = item.sets.levels(partitions, self.population().units)
            composed = tuple(distinct([sets]) for sets in levels)
            self._cache.remember(item.sets.key, composed, len(self.population().units))
            return composed
        if item.sets is DerivedSets.EVERYBODY:
            units = self.population().units
        else:
            # without any row there is no group
            units = BitMap.union(*groups[item.level][0]) if groups[item.level] else BitMap()
        return (((units,),),) if units else ((),)

    def _parts(self, packed: PackedSets) -> ByMask:
        # sets that overlap cannot be added up by anybody, each is a figure of its own
        parts = tuple(
            distinct([sets] if packed.disjoint else [(units,) for units in sets])
            for sets in self._levels(packed)
        )
        if packed.key is not None:
            self._cache.remember(packed.key, parts, len(self.population().units))
        return parts

    def _levels(self, packed: PackedSets) -> Iterator[tuple[BitMap, ...]]:
        groups = self._sets(packed, packed.rows)
        yield tuple(groups.values())
        for rows in packed.filters:
            named = self._sets(packed, rows)
            if packed.disjoint:
                named = {
                    group: units - named[group] if group in named else units
                    for group, units in groups.items()
                }
            yield tuple(units for units in named.values() if units)

    def _sets(self, packed: PackedSets, rows: PackedRows) -> dict[int, BitMap]:
        by_group: dict[int, list[Numbers]] = {}
        for group, numbers in self._pieces(packed, rows):
            by_group.setdefault(group, []).append(numbers)
        sets = {}
        for group, parts in by_group.items():
            numbers = np.concatenate(parts)
            sets[group] = bitmap_of(numbers)
            if packed.disjoint and len(sets[group]) != len(numbers):
                raise LedgerError("A row stands twice in a group that a join should not repeat.")
        return sets

    def _pieces(self, packed: PackedSets, rows: PackedRows) -> Iterator[tuple[int, Numbers]]:
        if self.table_snapshot is None:
            raise LedgerError("The rows behind an answer came before the relation was read.")
        groups = np.frombuffer(packed.groups, dtype=_GROUP).tolist()
        leaves = np.frombuffer(packed.leaves, dtype=_OID).tolist()
        lengths = np.frombuffer(rows.lengths, dtype=_GROUP).tolist()
        position = 0
        for group, leaf, length in zip(groups, leaves, lengths, strict=True):
            data = rows.row_ids[position : position + length]
            position += length
            if length:
                yield (
                    group,
                    self.table_snapshot.numbers_of_contents(data)
                    if packed.by_content
                    else self.table_snapshot.numbers_at(leaf, data),
                )
        if position != len(rows.row_ids):
            raise LedgerError("The rows behind an answer did not arrive as a whole.")

    def save_marks(self) -> None:
        """Store the lengths of journal and numbers, so that shorter files are noticed, and the use."""
        if self._session is None:
            return
        write_marks(self.folder, self._session.journal.mark, self.row_numbers.journal.mark)
        rank = self._session.history.rank
        if rank != self._rank and self.table_snapshot is not None:
            write_percent_used(self.folder, self._session.percent_used(self.population()))
            self._rank = rank

    def add_work(self, seconds: float) -> None:
        """Add time that a process which opens the ledger without a new checkpoint would spend again."""
        self._unsaved_seconds += seconds

    def save(self) -> None:
        """Write a checkpoint if one is due, and a new table snapshot and new partitions."""
        self._save_snapshot()
        self._save_partitions()
        session = self._session
        if session is None:
            return
        records = session.journal.mark.records - self._saved_records
        enough = max(CHECKPOINT_SECONDS, CHECKPOINT_SHARE * self._saving_seconds)
        if records >= CHECKPOINT_RECORDS or (records and self._unsaved_seconds >= enough):
            start = time.monotonic()
            write_sealed(self.folder, CHECKPOINT, session.to_bytes(), self.secret.key)
            self._saving_seconds = time.monotonic() - start
            self._saved_records, self._unsaved_seconds = session.journal.mark.records, 0.0

    def _save_snapshot(self) -> None:
        if (
            not self._is_snapshot_new
            or self._epoch is None
            or self.table_snapshot is None
            or self.state is None
        ):
            return
        self._is_snapshot_new = False
        data, digest = snapshot_bytes(self.table_snapshot, self.state, self._epoch), self._state_digest()
        if data is None or digest is None:
            return
        # without the file other sessions read the relation, as this one did
        with suppress(LedgerUnavailable):
            self._snapshot_file = write_sealed(self.folder, TABLE_SNAPSHOT, data, self.secret.key)
            remove_drafts(self.folder)
            if self._is_file_present():
                self._partition_files.keep(digest)

    def _save_partitions(self) -> None:
        state = self._state_digest()
        for partition in self._new_partitions:
            # others load the table snapshot that has a file, and partitions of that alone
            if state is not None and self._is_file_present():
                with suppress(LedgerUnavailable):
                    self._partition_files.write(state, partition)
        self._new_partitions.clear()

    def _is_file_present(self) -> bool:
        """Return whether the table snapshot that has a file is this one."""
        return self._snapshot_file is not None and self._snapshot_file == mark_of(
            self.folder / TABLE_SNAPSHOT
        )


def _joined(parts: Sequence[Keys]) -> Keys:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)
