r"""An append-only file of records that survives the rollback of whoever asked.

A function inside PostgreSQL runs in its caller's transaction: a row it writes vanishes with ``ROLLBACK``, and
the caller decides about that after having read the answer. A file does not take part in transactions. One
journal belongs to one protected relation; a turn on it is exclusive between processes, so that reading what
others recorded, checking and recording are one step. A record is durable before `Turn.append` returns.

::

    header   b"KANONJ1\n" and 16 random bytes: which journal this is
    record   length (4 bytes, big-endian), CRC-32 of these 4 bytes, payload, chain digest (32 bytes)

Every chain digest covers the digest before it, hence all earlier records. A `Mark` kept elsewhere (for
example in a table, which travels with backups and replication) shows later that the file was neither
shortened nor exchanged up to there. What a crash can leave of a record whose writing was never confirmed is
cut off by the next writer; everything else that does not fit is damage, and then nothing may be answered.

The file must lie on a local file system (``flock``), below a directory that only the server's account can
enter. This module imports the standard library alone.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.disk import read_span, write_all
from kanon_pg.worker.ledger.frames import HEADER_BYTES, framed, is_header, next_digest, parse

MAX_PAYLOAD_BYTES = 256 * 1024 * 1024
"""Longest record."""

_POLL_SECONDS = 0.0005


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in a journal, and what stands before it.

    Parameters
    ----------
    records : int
        Records up to here, >= 0.
    length : int
        Bytes up to here, >= 24.
    digest : bytes
        Chain digest of everything up to here, 32 bytes.
    """

    records: int
    length: int
    digest: bytes


class Journal:
    """One process's view of a journal. Not to be shared between threads: each opens its own.

    Parameters
    ----------
    path : Path
        An existing journal.
    start : Mark, optional
        Read from here on; everything before it is taken as known. From the beginning unless given.
    anchor : Mark, optional
        A mark that the file must contain (at or after `start`), else it is not the file it should be.

    Raises
    ------
    LedgerError
        The file is missing, is no journal, or can be read or written by others.
    """

    def __init__(self, path: Path, *, start: Mark | None = None, anchor: Mark | None = None) -> None:
        self._path = path
        self._anchor = anchor
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise LedgerError("The ledger's journal cannot be opened.", detail=error.strerror) from error
        try:
            self._require_private()
            header = os.pread(self._descriptor, HEADER_BYTES, 0)
            if not is_header(header):
                raise LedgerError("The ledger's journal is damaged.", detail="It does not begin like one.")
            self._mark = start or Mark(0, HEADER_BYTES, next_digest(b"", header))
            self._check_anchor()
        except BaseException:
            self.close()
            raise

    @property
    def mark(self) -> Mark:
        """How far this view has read."""
        return self._mark

    def expect(self, anchor: Mark) -> None:
        """Demand that the file contains a mark, unless this view begins behind it.

        Raises
        ------
        LedgerError
            It contains another one; if it is too short, that is noticed when it is read.
        """
        if anchor.records >= self._mark.records:
            self._anchor = anchor
            self._check_anchor()

    def close(self) -> None:
        """Close the file; a turn that is still held ends."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @contextmanager
    def turn(self, checkpoint: Callable[[], None] = lambda: None) -> Iterator[Turn]:
        """Hold the journal for this process alone, other processes wait.

        Parameters
        ----------
        checkpoint : callable
            Called about every half millisecond while waiting; what it raises ends the waiting (cancel, time
            limit).

        Yields
        ------
        Turn
            What can be done meanwhile. Valid inside the ``with`` block only.

        Raises
        ------
        LedgerError
            The file is damaged, or was replaced since it was opened.
        """
        self._lock(checkpoint)
        try:
            self._require_private()
            yield Turn(self)
        finally:
            if self._descriptor >= 0:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def _lock(self, checkpoint: Callable[[], None]) -> None:
        if self._descriptor < 0:
            raise LedgerError("The ledger's journal was closed.")
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                checkpoint()
                time.sleep(_POLL_SECONDS)
            except OSError as error:
                raise LedgerError("The ledger's journal cannot be locked.", detail=error.strerror) from error
            else:
                return

    def _require_private(self) -> None:
        try:
            opened, named = os.fstat(self._descriptor), os.lstat(self._path)
        except OSError as error:
            raise LedgerError("The ledger's journal is gone.", detail=error.strerror) from error
        if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino):
            raise LedgerError("The ledger's journal was replaced.")
        private = stat.S_ISREG(opened.st_mode) and opened.st_mode & 0o077 == 0 and opened.st_nlink == 1
        if not private or opened.st_uid != os.geteuid():
            raise LedgerError("The ledger's journal must be a file that its owner alone can read and write.")

    def _check_anchor(self) -> None:
        anchor = self._anchor
        if anchor is not None and self._mark.records == anchor.records:
            if self._mark != anchor:
                raise LedgerError("The ledger's journal is not the one that was written here.")
            self._anchor = None

    def _read_news(self) -> list[bytes]:
        payloads: list[bytes] = []
        try:
            end = os.fstat(self._descriptor).st_size
            if end < self._mark.length:
                raise LedgerError("The ledger's journal was shortened.")
            data = read_span(self._descriptor, self._mark.length, end)
        except OSError as error:
            raise LedgerError("The ledger's journal cannot be read.", detail=error.strerror) from error
        position = 0
        while (found := parse(data, position, self._mark.digest)) is not None:
            payload, digest, after = found
            self._mark = Mark(self._mark.records + 1, self._mark.length + after - position, digest)
            position = after
            self._check_anchor()
            payloads.append(payload)
        if self._anchor is not None:
            raise LedgerError("The ledger's journal is shorter than what was written here.")
        if position < len(data):
            # a writer died before its record was confirmed, so nothing was answered on its ground
            os.ftruncate(self._descriptor, self._mark.length)
        return payloads

    def _append(self, payload: bytes) -> Mark:
        if not 0 < len(payload) <= MAX_PAYLOAD_BYTES:
            raise LedgerError("A record of the ledger is empty or too long.")
        frame, digest = framed(payload, self._mark.digest)
        try:
            write_all(self._descriptor, frame)
            os.fdatasync(self._descriptor)
        except OSError as error:
            # after a failed flush nobody knows what is on the disk: this view must not go on
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._mark.length)
            self.close()
            raise LedgerError("The ledger's journal cannot be written.", detail=error.strerror) from error
        self._mark = Mark(self._mark.records + 1, self._mark.length + len(frame), digest)
        return self._mark


class Turn:
    """What the holder of a journal may do."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._is_current = False

    def news(self) -> list[bytes]:
        """Return the payloads that were recorded since this journal object last looked, in order.

        Raises
        ------
        LedgerError
            The file is damaged or does not contain the anchor.
        """
        payloads = self._journal._read_news()
        self._is_current = True
        return payloads

    def append(self, payload: bytes) -> Mark:
        """Record something; it is on the disk when this returns.

        Parameters
        ----------
        payload : bytes
            1 to `MAX_PAYLOAD_BYTES` bytes.

        Returns
        -------
        Mark
            The new end of the journal.

        Raises
        ------
        LedgerError
            It could not be made durable; treat it as not recorded and answer nothing.
        """
        if not self._is_current:
            # a decision that overlooked what others recorded is worthless
            raise LedgerError("The ledger's journal must be read before it is written.")
        return self._journal._append(payload)
