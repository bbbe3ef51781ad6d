"""Bytes to and from the disk: making a journal's file, writing and reading it completely."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.frames import new_header


def create_journal(path: Path) -> None:
    """Make an empty journal, durably, readable by its owner alone.

    Parameters
    ----------
    path : Path
        Where; the folder must exist.

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
        raise LedgerError("The ledger's journal cannot be created.", detail=error.strerror) from error


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
