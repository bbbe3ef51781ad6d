"""Withheld queries that the ledger's process could not record, because it was killed again and again.

Whether a process is killed may depend on the query and its data, so these queries count like other refusals.
The backend writes them, one a line, to a file beside the journal; the next process that decides moves
them into the journal. A crash in between leaves some in both, which only refuses more. While the file is full
no query is run, so that none is forgotten.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

FILE = "unrecorded"

_READ_WRITE = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_BYTES_WITH_TEXTS = 1024 * 1024
"""Size of the file from which on the texts of queries are left out."""
_MAX_BYTES = 2 * _BYTES_WITH_TEXTS
_ROOM_BYTES = 256 * 1024
"""What is left of the file for queries that run at once when no others are run (`has_room`): hundreds."""
_POLL_SECONDS = 0.0005


@dataclass(frozen=True, slots=True)
class UnrecordedQuery:
    """A query that was withheld and is not in the journal.

    Parameters
    ----------
    time : float
        Seconds since 1970, by the server's clock.
    query : str
        As the journal stores it: JSON of the text, the parameters and the role.
    """

    time: float
    login: str
    query: str
    reason: str

    def line(self) -> bytes:
        """Return it as a line of a file, after one that may be half written."""
        return b"\n" + json.dumps([self.time, self.login, self.query, self.reason]).encode() + b"\n"


def note(folder: Path, query: UnrecordedQuery, checkpoint: Callable[[], None] = lambda: None) -> None:
    """Write down a query, durably; when there are many of them without its text, at last not at all.

    Parameters
    ----------
    checkpoint : callable
        Called about every half millisecond while another process has the file; what it raises ends the
        waiting (cancel, time limit).

    Raises
    ------
    OSError
        There is no such folder, or no room.
    """
    line = query.line()
    with _locked(folder, os.O_CREAT, checkpoint) as descriptor:
        size = os.fstat(descriptor).st_size
        if size + len(line) > _BYTES_WITH_TEXTS:
            _, _, role = json.loads(query.query)
            short = json.dumps([None, None, role])
            line = UnrecordedQuery(query.time, query.login, short, query.reason).line()
        if size + len(line) <= _MAX_BYTES and os.write(descriptor, line):
            os.fsync(descriptor)


def has_room(folder: Path) -> bool:
    """Return whether queries that run now could be written down, should they not be recorded."""
    try:
        return (folder / FILE).stat().st_size <= _MAX_BYTES - _ROOM_BYTES
    except FileNotFoundError:
        return True
    except OSError:
        return False


def noted(folder: Path) -> list[UnrecordedQuery]:
    """Return what was written down and not yet moved; lines that were half written are left out."""
    with suppress(OSError):
        return list(read_lines((folder / FILE).read_bytes()))
    return []


@contextmanager
def moved(folder: Path) -> Iterator[list[UnrecordedQuery]]:
    """Yield what was written down, and forget it when the block has ended without an error.

    Raises
    ------
    OSError
        The file is there and cannot be read or emptied.
    """
    with ExitStack() as stack:
        try:
            descriptor = stack.enter_context(_locked(folder))
        except FileNotFoundError:
            yield []
            return
        yield list(read_lines(os.pread(descriptor, 2 * _MAX_BYTES, 0)))
        if os.fstat(descriptor).st_size:
            os.ftruncate(descriptor, 0)
            os.fsync(descriptor)


@contextmanager
def _locked(folder: Path, flags: int = 0, checkpoint: Callable[[], None] = lambda: None) -> Iterator[int]:
    """Open the file, and keep others from writing it; closing it unlocks it."""
    descriptor = os.open(folder / FILE, _READ_WRITE | flags, 0o600)
    try:
        _lock(descriptor, checkpoint)
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, checkpoint: Callable[[], None]) -> None:
    while True:
        # in the backend nothing interrupts a call that waits
        with suppress(BlockingIOError):
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        checkpoint()
        time.sleep(_POLL_SECONDS)


def read_lines(data: bytes) -> Iterator[UnrecordedQuery]:
    """Yield the queries in the content of a file; lines that were half written are left out."""
    for line in data.split(b"\n"):
        with suppress(ValueError, RecursionError):
            match json.loads(line):
                case [int() | float() as time, str() as login, str() as query, str() as reason] if (
                    math.isfinite(time) and _is_encoded(query)
                ):
                    yield UnrecordedQuery(float(time), login, query, reason)


def _is_encoded(query: str) -> bool:
    """Whether a query is text, parameters and role, as whoever reads the journal expects it."""
    match json.loads(query):
        case [str() | None, list() | None, str()]:
            return True
    return False
