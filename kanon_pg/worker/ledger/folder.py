"""The files of one relation's ledger: made, opened, and marked.

::

    journal     queries and what was disclosed (`Journal`)
    numbers     numbers of rows and people (`RowNumbers`)
    secret      key and seed, and a digest of them and of the journal's header
    marks       how long both files are at least: what is shorter was tampered with
    checkpoint  what reading the journal would otherwise have to rebuild; may be missing
    census      the last table snapshot; may be missing
    partition.* rows of the relation by a column (`PartitionFiles`); may be missing

The folder has a random name that stands in the database. A copy of the database that comes without the
folder, or a folder that was removed, is therefore noticed, and nothing is answered.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

from kanon_pg.errors import LedgerError, LedgerUnavailable
from kanon_pg.worker.ledger.journal import (
    DIGEST_BYTES,
    HEADER_BYTES,
    Journal,
    JournalMark,
    create_journal,
    sync_folder,
)

JOURNAL, NUMBERS, SECRET, MARKS = "journal", "numbers", "secret", "marks"
CHECKPOINT, TABLE_SNAPSHOT, USE = "checkpoint", "census", "use"

FileMark = tuple[int, int, int]

_UNUSED_SECONDS = 86_400.0
_DRAFT_SECONDS = 3_600.0
_KEY_BYTES = 16
_SECRET_BYTES = _KEY_BYTES + 8
_NAME = re.compile(r"[0-9a-f]{32}")
_MARK = struct.Struct(f">QQ{DIGEST_BYTES}s")
_CRC = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class LedgerSecret:
    """The secret numbers of a ledger.

    Parameters
    ----------
    key : bytes
        For `DisclosureHistory`.
    seed : int
        Of the hashes of rows and people, a signed 64-bit number.
    """

    key: bytes
    seed: int


def create_folder(parent: Path) -> str:
    """Make the files of a new ledger, durably, readable by their owner alone.

    Parameters
    ----------
    parent : Path
        Where; made if it does not exist.

    Returns
    -------
    str
        The new folder's name, 32 hexadecimal digits.

    Raises
    ------
    LedgerError
        The files cannot be written.
    """
    name = secrets.token_hex(16)
    folder = parent / name
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        marks = [_created(folder / journal) for journal in (JOURNAL, NUMBERS)]
        write_whole(folder / MARKS, _marked(*marks))
        write_whole(folder / SECRET, _bound(secrets.token_bytes(_SECRET_BYTES), folder))
        for made in (folder, parent, parent.parent):
            sync_folder(made)
    except OSError as error:
        raise LedgerUnavailable("The ledger's files cannot be created.", detail=error.strerror) from error
    return name


def remove_unused(parent: Path, names: Sequence[str]) -> None:
    """Remove ledgers that no query was written to and that the database does not know.

    A transaction that began one and rolled back leaves its folder behind. A day passes first, because one
    that still runs is not seen.

    Parameters
    ----------
    names : sequence of str
        Those that the database knows.
    """
    latest = time.time() - _UNUSED_SECONDS
    for folder in parent.iterdir() if parent.is_dir() else ():
        if folder.name in names or not _NAME.fullmatch(folder.name):
            continue
        # another process may remove it meanwhile
        with suppress(OSError):
            journal = (folder / JOURNAL).stat()
            if journal.st_size <= HEADER_BYTES and journal.st_mtime < latest:
                shutil.rmtree(folder)


def existing_folder(parent: Path, name: str) -> Path:
    """Return the folder of a ledger.

    Raises
    ------
    LedgerError
        It is not there, or others may enter it.
    """
    folder = parent / name
    try:
        found = folder.lstat() if _NAME.fullmatch(name) else None
    except OSError as error:
        raise LedgerError(
            "The ledger of queries is missing.",
            detail=error.strerror,
            hint="Restore the folder kanon_ledger, or begin a new ledger: "
            "SELECT kanon.restart_ledger('relation').",
        ) from error
    if found is None or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise LedgerError("The folder of the ledger of queries must be private.")
    return folder


def read_secret(folder: Path) -> LedgerSecret:
    """Return the secret of a ledger.

    A changed seed would give every row another hash, so that nothing would be compared with earlier answers:
    the file ends with a digest, which also covers the header of the journal it was made with. A secret of
    a version without the digest gets it here, as it is.

    Raises
    ------
    LedgerError
        It cannot be read, was changed, or belongs to another journal.
    """
    try:
        data = (folder / SECRET).read_bytes()
        whole = _bound(data[:_SECRET_BYTES], folder)
    except OSError as error:
        raise LedgerUnavailable("The ledger's secret cannot be read.", detail=error.strerror) from error
    if len(data) == _SECRET_BYTES:
        _replace(folder, SECRET, whole)
    elif data != whole:
        raise LedgerError("The ledger's secret is damaged, or belongs to another journal.")
    return LedgerSecret(data[:_KEY_BYTES], int.from_bytes(data[_KEY_BYTES:_SECRET_BYTES], signed=True))


def read_marks(folder: Path) -> tuple[JournalMark, JournalMark]:
    """Return how long journal and numbers are at least.

    Raises
    ------
    LedgerError
        The file was tampered with.
    """
    try:
        data = (folder / MARKS).read_bytes()
    except OSError as error:
        raise LedgerUnavailable("The ledger's marks cannot be read.", detail=error.strerror) from error
    body = data[: 2 * _MARK.size]
    if len(body) < 2 * _MARK.size or data[2 * _MARK.size :] != _CRC.pack(crc32(body)):
        raise LedgerError("The ledger's marks are damaged.")
    return JournalMark(*_MARK.unpack_from(body)), JournalMark(*_MARK.unpack_from(body, _MARK.size))


def write_marks(folder: Path, journal: JournalMark, numbers: JournalMark) -> None:
    """Store how long the files are at least; not flushed, because older marks are still true."""
    try:
        descriptor = os.open(folder / MARKS, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.pwrite(descriptor, _marked(journal, numbers), 0)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise LedgerUnavailable("The ledger's marks cannot be written.", detail=error.strerror) from error


def read_sealed(folder: Path, name: str, key: bytes) -> bytes | None:
    """Return what `write_sealed` wrote last; None if there is nothing that can be trusted."""
    try:
        data = (folder / name).read_bytes()
    except OSError:
        return None
    body = data[DIGEST_BYTES:]
    return body if data[:DIGEST_BYTES] == _sealed(body, key) else None


def write_sealed(folder: Path, name: str, body: bytes, key: bytes) -> FileMark:
    """Replace the file of a checkpoint, a table snapshot or a partition in one step; return its mark."""
    return _replace(folder, name, _sealed(body, key) + body)


def mark_of(path: Path) -> FileMark | None:
    """Return what tells a file from another one that is put in its place; None without a file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def remove_drafts(folder: Path) -> None:
    """Remove what processes that were killed began to write."""
    latest = time.time() - _DRAFT_SECONDS
    for draft in folder.glob(".*"):
        # another process may remove it meanwhile
        with suppress(OSError):
            if draft.stat().st_mtime < latest:
                draft.unlink()


def _replace(folder: Path, name: str, data: bytes) -> FileMark:
    draft = folder / f".{name}.{os.getpid()}"
    try:
        write_whole(draft, data)
        found = draft.stat()
        draft.replace(folder / name)
        return found.st_ino, found.st_mtime_ns, found.st_size
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise LedgerUnavailable(f"The ledger's {name} cannot be written.", detail=error.strerror) from error


def read_percent_used(folder: Path) -> int | None:
    """Return how much of what can be compared was taken when somebody wrote it last, in percent, if known."""
    try:
        return int((folder / USE).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def write_percent_used(folder: Path, percent: int | None) -> None:
    """Store how much of what can be compared is taken; only curators read it."""
    draft = folder / f".{USE}.{os.getpid()}"
    try:
        write_whole(draft, b"" if percent is None else str(percent).encode())
        draft.replace(folder / USE)
    except OSError as error:
        raise LedgerUnavailable("The ledger's use cannot be written.", detail=error.strerror) from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a private file and flush it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sealed(body: bytes, key: bytes) -> bytes:
    return blake2b(body, key=key, digest_size=DIGEST_BYTES).digest()


def _bound(secret: bytes, folder: Path) -> bytes:
    """Return the secret with a digest of it and of the header of the folder's journal."""
    with (folder / JOURNAL).open("rb") as journal:
        header = journal.read(HEADER_BYTES)
    return secret + blake2b(header + secret, digest_size=DIGEST_BYTES).digest()


def _created(path: Path) -> JournalMark:
    create_journal(path)
    journal = Journal(path)
    journal.close()
    return journal.mark


def _marked(journal: JournalMark, numbers: JournalMark) -> bytes:
    body = b"".join(_MARK.pack(mark.records, mark.length, mark.digest) for mark in (journal, numbers))
    return body + _CRC.pack(crc32(body))
