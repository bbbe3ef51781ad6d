r"""An append-only file of records that survives the rollback of the calling transaction.

A function inside PostgreSQL runs in its caller's transaction: a row it writes vanishes with ``ROLLBACK``, and
the caller decides about that after having read the answer. A file does not take part in transactions. One
journal belongs to one protected relation; one process at a time may write it, so that reading
what others recorded, checking and recording are one step. A record is durable before `JournalWriter.append`
returns.

::

    header   b"KANONJ1\n" and 16 random bytes: which journal this is
    record   length (4 bytes, big-endian), CRC-32 of these 4 bytes, payload, chain digest (32 bytes)

Every chain digest covers the digest before it, hence all earlier records. A `JournalMark` kept elsewhere (for
example in a table, which travels with backups and replication) shows later that the file was neither
shortened nor exchanged up to there. What a crash can leave of a record whose writing was never confirmed is
cut off by the next writer; everything else that does not fit is damage, and then nothing may be answered.

Why not ``sqlite3``: records are never changed, deleted or searched. Measured for one record of 300 bytes with
its digest, exclusive and durable, on one busy disk (and in memory): this file 4.0 ms (0.064), SQLite with a
write-ahead log and ``synchronous = FULL`` 6.3 ms (0.081), with a rollback journal 23.6 ms (0.30). SQLite
takes a damaged record in its log for the log's end: after one flipped bit it opened with 10 of 20 confirmed
records and called itself whole, where this file reports damage. Reading journals of 0.1.0 would need most of
this module besides.

The file must lie on a local file system (``flock``), below a directory that only the server's account can
enter. This module imports the standard library alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

from kanon_pg.errors import LedgerError, LedgerUnavailable

MAGIC = b"KANONJ1\n"
"""First bytes of every journal."""

HEADER_BYTES = 24
"""Magic and 16 random bytes."""

DIGEST_BYTES = 32
"""Bytes of a chain digest."""

_PREFIX_BYTES = 8


def new_header() -> bytes:
    """Return the header of a new journal, unlike every other."""
    return MAGIC + os.urandom(HEADER_BYTES - len(MAGIC))


def is_header(data: bytes) -> bool:
    """Whether `data` is a complete header."""
    return len(data) == HEADER_BYTES and data.startswith(MAGIC)


def next_digest(digest: bytes, data: bytes) -> bytes:
    """Return the chain digest after `data`, 32 bytes (BLAKE2b).

    Parameters
    ----------
    digest : bytes
        Chain digest of what comes before, empty at the beginning.
    """
    return blake2b(digest + data, digest_size=DIGEST_BYTES).digest()


def frame_of(payload: bytes, digest: bytes) -> tuple[bytes, bytes]:
    """Return the frame of a record, and the chain digest after it."""
    body = _prefix(len(payload)) + payload
    after = next_digest(digest, body)
    return body + after, after


def parse_frame(data: bytes, position: int, digest: bytes) -> tuple[bytes, bytes, int] | None:
    """Return payload, chain digest and end of the frame at `position`; None at the end or a torn end.

    A frame is torn if the data end inside it, or if nothing but zeros follows (some file systems grow a
    file before its content arrives). No confirmed record looks like that.

    Raises
    ------
    LedgerError
        The frame is neither whole nor torn: somebody or something changed the file.
    """
    prefix = data[position : position + _PREFIX_BYTES]
    if len(prefix) < _PREFIX_BYTES:
        return None
    length = int.from_bytes(prefix[:4])
    if prefix != _prefix(length) or length == 0:
        if data.count(0, position) == len(data) - position:
            return None
        raise LedgerError("The ledger's journal is damaged.", detail="A record has no readable length.")
    middle = position + _PREFIX_BYTES + length
    if middle + DIGEST_BYTES > len(data):
        return None
    after = next_digest(digest, data[position:middle])
    if data[middle : middle + DIGEST_BYTES] != after:
        raise LedgerError(
            "The ledger's journal is damaged.", detail="A record differs from what was written."
        )
    return data[position + _PREFIX_BYTES : middle], after, middle + DIGEST_BYTES


def payload_length(prefix: bytes) -> int | None:
    """Return the length of the payload from a frame's first 8 bytes; None if there is no frame yet.

    Raises
    ------
    LedgerError
        They are no frame's.
    """
    length = int.from_bytes(prefix[:4])
    if prefix == _prefix(length) and length:
        return length
    if not any(prefix):
        return None
    raise LedgerError("The ledger's journal is damaged.", detail="A record has no readable length.")


def _prefix(length: int) -> bytes:
    encoded = length.to_bytes(4)
    return encoded + crc32(encoded).to_bytes(4)


def create_journal(path: Path) -> None:
    """Make an empty journal, durably, readable by its owner alone.

    Raises
    ------
    LedgerError
        There is something of that name, or the file cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        descriptor = os.open(
            draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            write_all(descriptor, new_header())
            os.fsync(descriptor)
            # a link, not a rename: it fails if the name is taken, so that no history is ever replaced
            os.link(draft, path)
        finally:
            os.close(descriptor)
            with suppress(FileNotFoundError):
                draft.unlink()
        sync_folder(path.parent)
    except OSError as error:
        raise LedgerUnavailable("The ledger's journal cannot be created.", detail=error.strerror) from error


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes at the end of a file opened for appending, or raise ``OSError``."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def read_span(descriptor: int, start: int, end: int) -> bytes:
    """Return the bytes from `start` up to `end`, fewer if the file ends before."""
    pieces = []
    while start < end:
        piece = os.pread(descriptor, min(end - start, 1 << 24), start)
        if not piece:
            break
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


MAX_PAYLOAD_BYTES = 256 * 1024 * 1024
"""Longest record."""

_POLL_SECONDS = 0.0005
_NOT_THE_ONE = "The ledger's journal is not the one that was written here."


@dataclass(frozen=True, slots=True)
class JournalMark:
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
    start : JournalMark, optional
        Read from here on; everything before it is taken as known. From the beginning unless given.
    anchor : JournalMark, optional
        A mark that the file must contain (at or after `start`), else it is not the file it should be.

    Raises
    ------
    LedgerError
        The file is missing, is no journal, or can be read or written by others.
    """

    def __init__(
        self, path: Path, *, start: JournalMark | None = None, anchor: JournalMark | None = None
    ) -> None:
        self._path = path
        self._anchors = [anchor] if anchor is not None else []
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise LedgerUnavailable(
                "The ledger's journal cannot be opened.", detail=error.strerror
            ) from error
        try:
            self._require_private()
            header = os.pread(self._descriptor, HEADER_BYTES, 0)
            if not is_header(header):
                raise LedgerError("The ledger's journal is damaged.", detail="It does not begin like one.")
            self._mark = start or JournalMark(0, HEADER_BYTES, next_digest(b"", header))
            self._check_anchors()
        except BaseException:
            self.close()
            raise

    @property
    def mark(self) -> JournalMark:
        """How far this view has read."""
        return self._mark

    def expect(self, anchor: JournalMark) -> None:
        """Demand that the file contains a mark.

        Raises
        ------
        LedgerError
            It contains another one; if it is too short, that is noticed when it is read.
        """
        if anchor.records >= self._mark.records:
            self._anchors.append(anchor)
            self._check_anchors()
        elif anchor.records > 0 and not self._has_passed(anchor):
            raise LedgerError(_NOT_THE_ONE)

    def _has_passed(self, anchor: JournalMark) -> bool:
        """Return whether the records before a mark, which this view has read, end with its digest."""
        try:
            found = read_span(self._descriptor, anchor.length - DIGEST_BYTES, anchor.length)
        except OSError as error:
            raise LedgerUnavailable("The ledger's journal cannot be read.", detail=error.strerror) from error
        return anchor.length <= self._mark.length and found == anchor.digest

    def close(self) -> None:
        """Close the file, and release it if it is held."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @contextmanager
    def exclusive(self, checkpoint: Callable[[], None] = lambda: None) -> Iterator[JournalWriter]:
        """Lock the journal for this process; other processes wait.

        Parameters
        ----------
        checkpoint : callable
            Called about every half millisecond while waiting; what it raises ends the waiting (cancel, time
            limit).

        Yields
        ------
        JournalWriter
            Valid inside the ``with`` block only.

        Raises
        ------
        LedgerError
            The file is damaged, or was replaced since it was opened.
        """
        self._lock(checkpoint)
        try:
            self._require_private()
            yield JournalWriter(self)
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
                raise LedgerUnavailable(
                    "The ledger's journal cannot be locked.", detail=error.strerror
                ) from error
            else:
                return

    def _require_private(self) -> None:
        try:
            opened, named = os.fstat(self._descriptor), os.lstat(self._path)
        except OSError as error:
            raise LedgerUnavailable("The ledger's journal is gone.", detail=error.strerror) from error
        if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino):
            raise LedgerError("The ledger's journal was replaced.")
        private = stat.S_ISREG(opened.st_mode) and opened.st_mode & 0o077 == 0 and opened.st_nlink == 1
        if not private or opened.st_uid != os.geteuid():
            raise LedgerError("The ledger's journal must be a file that its owner alone can read and write.")

    def _check_anchors(self) -> None:
        here = [anchor for anchor in self._anchors if anchor.records == self._mark.records]
        if any(anchor != self._mark for anchor in here):
            raise LedgerError(_NOT_THE_ONE)
        if here:
            self._anchors = [anchor for anchor in self._anchors if anchor not in here]

    def _read_new_records(self) -> list[bytes]:
        payloads: list[bytes] = []
        try:
            end = os.fstat(self._descriptor).st_size
            if end < self._mark.length:
                raise LedgerError("The ledger's journal was shortened.")
            data = read_span(self._descriptor, self._mark.length, end)
        except OSError as error:
            raise LedgerUnavailable("The ledger's journal cannot be read.", detail=error.strerror) from error
        position = 0
        while (found := parse_frame(data, position, self._mark.digest)) is not None:
            payload, digest, after = found
            self._mark = JournalMark(self._mark.records + 1, self._mark.length + after - position, digest)
            position = after
            self._check_anchors()
            payloads.append(payload)
        if self._anchors:
            raise LedgerError("The ledger's journal is shorter than what was written here.")
        if position < len(data):
            # a writer died before its record was confirmed, so nothing was answered because of it
            os.ftruncate(self._descriptor, self._mark.length)
        return payloads

    def _append(self, payloads: Sequence[bytes]) -> JournalMark:
        if not all(0 < len(payload) <= MAX_PAYLOAD_BYTES for payload in payloads):
            raise LedgerError("A record of the ledger is empty or too long.")
        frames, digest = [], self._mark.digest
        for payload in payloads:
            frame, digest = frame_of(payload, digest)
            frames.append(frame)
        written = b"".join(frames)
        try:
            write_all(self._descriptor, written)
            os.fdatasync(self._descriptor)
        except OSError as error:
            # after a failed flush nobody knows what is on the disk: this view must not go on
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._mark.length)
            self.close()
            raise LedgerUnavailable(
                "The ledger's journal cannot be written.", detail=error.strerror
            ) from error
        self._mark = JournalMark(self._mark.records + len(frames), self._mark.length + len(written), digest)
        return self._mark


def _unavailable(done: str, error: OSError) -> LedgerUnavailable:
    return LedgerUnavailable(f"The ledger's journal cannot be {done}.", detail=error.strerror)


class JournalWriter:
    """Reads and appends records while `Journal.exclusive` holds the journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._is_current = False

    def new_records(self) -> list[bytes]:
        """Return the payloads that were recorded since this journal object last looked, in order.

        Raises
        ------
        LedgerError
            The file is damaged or does not contain the anchor.
        """
        payloads = self._journal._read_new_records()
        self._is_current = True
        return payloads

    def append(self, *payloads: bytes) -> JournalMark:
        """Record something; it is on the disk when this returns.

        Parameters
        ----------
        *payloads : bytes
            1 to `MAX_PAYLOAD_BYTES` bytes each, a record for each.

        Raises
        ------
        LedgerError
            It could not be made durable; treat it as not recorded and answer nothing.
        """
        if not self._is_current:
            # a decision that overlooked what others recorded is worthless
            raise LedgerError("The ledger's journal must be read before it is written.")
        return self._journal._append(payloads)


_CHUNK_BYTES = 1 << 24
_LENGTH_BYTES = 4


def read_heads(path: Path) -> Iterator[list[Any]]:
    """Yield the head of every record, in order; every digest is checked.

    What a writer is just appending, or left half-written, is not there yet.

    Yields
    ------
    list
        Time, analyst, query, outcome, reason, and what else a head has
        (see `kanon_pg.worker.ledger.session.LedgerEntry`).

    Raises
    ------
    LedgerError
        The file cannot be read, or is damaged.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _unavailable("opened", error) from error
    try:
        yield from _heads(descriptor)
    except OSError as error:
        raise LedgerUnavailable("The ledger's journal cannot be read.", detail=error.strerror) from error
    finally:
        os.close(descriptor)


def _heads(descriptor: int) -> Iterator[list[Any]]:
    header = read_span(descriptor, 0, HEADER_BYTES)
    if not is_header(header):
        raise LedgerError("The ledger's journal is damaged.", detail="It does not begin like one.")
    digest, position, end = next_digest(b"", header), HEADER_BYTES, os.fstat(descriptor).st_size
    while position + _PREFIX_BYTES <= end:
        length = payload_length(read_span(descriptor, position, position + _PREFIX_BYTES))
        middle = position + _PREFIX_BYTES + (length or 0)
        if length is None or middle + DIGEST_BYTES > end:
            return
        digest = _chained(descriptor, digest, position, middle)
        if read_span(descriptor, middle, middle + DIGEST_BYTES) != digest:
            raise LedgerError(
                "The ledger's journal is damaged.", detail="A record differs from what was written."
            )
        yield _head(descriptor, position + _PREFIX_BYTES)
        position = middle + DIGEST_BYTES


def _chained(descriptor: int, digest: bytes, start: int, end: int) -> bytes:
    """Return the chain digest after a record, read in chunks (see `next_digest`)."""
    chain = blake2b(digest, digest_size=DIGEST_BYTES)
    for position in range(start, end, _CHUNK_BYTES):
        chain.update(read_span(descriptor, position, min(end, position + _CHUNK_BYTES)))
    return chain.digest()


def _head(descriptor: int, start: int) -> list[Any]:
    begin = start + _LENGTH_BYTES
    length = int.from_bytes(read_span(descriptor, start, begin))
    try:
        found: list[Any] = json.loads(read_span(descriptor, begin, begin + length))
    except ValueError as error:
        raise LedgerError("A record of the ledger cannot be read.") from error
    return found
