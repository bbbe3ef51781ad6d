"""The ledger of one protected relation: its files, its session, and the state that the relation is in."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kanon_pg.errors import LedgerError, LedgerUnavailable
from kanon_pg.worker.ledger.answers import Population
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
from kanon_pg.worker.ledger.partition_files import PartitionFiles, state_digest
from kanon_pg.worker.ledger.row_numbers import Description, Keys, RowNumbers, RowNumbersWriter
from kanon_pg.worker.ledger.rules import LedgerRules, QueryBudget
from kanon_pg.worker.ledger.session import LedgerSession
from kanon_pg.worker.ledger.state_sets import StateSets
from kanon_pg.worker.ledger.table_snapshot import (
    LeafTable,
    TableSnapshot,
    keys_of,
    snapshot_bytes,
    snapshot_from,
)

CHECKPOINT_RECORDS = 256
CHECKPOINT_SECONDS = 0.25
CHECKPOINT_SHARE = 20.0
"""A checkpoint is written after so many entries, or so much work since the last one, that others would
repeat, and so many times the work of writing it."""


@dataclass(frozen=True, slots=True)
class RulesAndBudgets:
    """Rules and budgets of a relation."""

    rules: LedgerRules
    per_analyst: QueryBudget
    overall: QueryBudget


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
        """What the database said of the state that `sets` is of."""
        self.sets = StateSets(None)
        self._epoch: str | None = None
        self._is_snapshot_new = False
        self._snapshot_file: FileMark | None = None
        """Of the table snapshot, if that is the one of this state."""
        self._partition_files = PartitionFiles(self.folder, self.secret.key)
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
            self._enter(None, None)
            self._epoch = epoch
        if self.sets.table_snapshot is not None and not renew:
            return
        found = mark_of(self.folder / TABLE_SNAPSHOT)
        if found is None or found == self._snapshot_file:
            return
        data = read_sealed(self.folder, TABLE_SNAPSHOT, self.secret.key)
        if data is not None:
            # one that cannot be read is of no use: the relation is read again
            with suppress(LedgerError):
                state, table_snapshot = snapshot_from(data, epoch)
                self._enter(state, table_snapshot)
                self._snapshot_file = found

    def _enter(self, state: str | None, table_snapshot: TableSnapshot | None) -> None:
        """Forget what is known of the relation's last state: it is in another one, None if not known."""
        self.state, self.sets = state, StateSets(table_snapshot)
        self._is_snapshot_new, self._snapshot_file = False, None

    def take_snapshot(
        self, state: str, leaves: Sequence[LeafTable], writer: RowNumbersWriter, epoch: str
    ) -> None:
        """Take a new table snapshot; rows never seen before are numbered, durably."""
        contents = _joined([keys_of(leaf.contents) for leaf in leaves])
        people = _joined([keys_of(leaf.people) for leaf in leaves]) if self.row_numbers.has_people else None
        if people is not None and len(people) != len(contents):
            raise LedgerError("Rows came without the people that they belong to.")
        self._enter(state, TableSnapshot(leaves, writer.number(contents, people)))
        self._epoch, self._is_snapshot_new = epoch, True

    def population(self) -> Population:
        """Return the units of the last table snapshot and their owners; no units without a snapshot."""
        return Population(self.sets.units, self.row_numbers.owners)

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
        if found is not None and found.key == key and self.sets.load_partition(found):
            return True
        if state is not None:
            self._partition_files.remove(state, statement)
        return False

    def _state_digest(self) -> str | None:
        if self.state is None or self.sets.table_snapshot is None or self._epoch is None:
            return None
        return state_digest(self.state, self._epoch) if self.sets.table_snapshot.has_tids else None

    def save_marks(self) -> None:
        """Store the lengths of journal and numbers, so that shorter files are noticed, and the use."""
        if self._session is None:
            return
        write_marks(self.folder, self._session.journal.mark, self.row_numbers.journal.mark)
        rank = self._session.history.rank
        if rank != self._rank and self.sets.table_snapshot is not None:
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
            or self.sets.table_snapshot is None
            or self.state is None
        ):
            return
        self._is_snapshot_new = False
        data, digest = snapshot_bytes(self.sets.table_snapshot, self.state, self._epoch), self._state_digest()
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
        for partition in self.sets.take_new_partitions():
            # others load the table snapshot that has a file, and partitions of that alone
            if state is not None and self._is_file_present():
                with suppress(LedgerUnavailable):
                    self._partition_files.write(state, partition)

    def _is_file_present(self) -> bool:
        """Return whether the table snapshot that has a file is this one."""
        return self._snapshot_file is not None and self._snapshot_file == mark_of(
            self.folder / TABLE_SNAPSHOT
        )


def _joined(parts: Sequence[Keys]) -> Keys:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)
