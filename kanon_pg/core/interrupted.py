"""Queries that ran and were never recorded, because somebody cancelled them or ended their session.

How long a query runs may depend on its data, and whoever cancels it in time learns that. So a query is
written down before it runs, in a file that its backend locks until the query is recorded, and then removes.
A file that nobody locks is an interrupted query's: the next query about the relation finds it, and hands it
on to `kanon_pg.core.unrecorded`, so that it counts like other refusals. Its time is kept, too: a login with
too many of them is locked out before anything runs.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from kanon_pg.core.unrecorded import UnrecordedQuery, note, read_lines

FILE = "interrupted"
"""Times and logins of interrupted queries, one a line."""

_RUNNING = "running-"
_CREATE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_BYTES = 1024 * 1024
"""Size of the file of times from which on the older half is forgotten."""


@contextmanager
def running(folder: Path, query: UnrecordedQuery) -> Iterator[None]:
    """Keep a query written down as interrupted, unless the block ends without an error.

    Raises
    ------
    OSError
        It cannot be written down.
    """
    path = folder / f"{_RUNNING}{secrets.token_hex(8)}"
    descriptor = os.open(path, _CREATE | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        line = query.line()
        if os.write(descriptor, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        yield
        path.unlink()
    finally:
        os.close(descriptor)


def collect(folder: Path, checkpoint: Callable[[], None] = lambda: None) -> None:
    """Hand on the queries that were interrupted.

    Parameters
    ----------
    checkpoint : callable
        As in `kanon_pg.core.unrecorded.note`.

    Raises
    ------
    OSError
        The folder or a file cannot be read or written.
    """
    for path in [path for path in folder.iterdir() if path.name.startswith(_RUNNING)]:
        with _ended(path) as found:
            for query in found:
                note(folder, query, checkpoint)
                _add_time(folder, query)


@contextmanager
def _ended(path: Path) -> Iterator[list[UnrecordedQuery]]:
    """Yield what a file says that its backend has given up, and remove it when the block has ended."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        yield []
        return
    try:
        is_locked, found = _is_locked(descriptor), os.fstat(descriptor)
        # a query that runs has the lock, or is about to take it and has written nothing
        is_ended = is_locked and found.st_size > 0 and found.st_nlink > 0
        yield list(read_lines(os.pread(descriptor, found.st_size, 0))) if is_ended else []
        if is_ended:
            path.unlink()
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _add_time(folder: Path, query: UnrecordedQuery) -> None:
    descriptor = os.open(folder / FILE, _CREATE, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        if size > _MAX_BYTES:
            newer = os.pread(descriptor, size, size // 2)
            os.ftruncate(descriptor, 0)
            size = os.pwrite(descriptor, newer, 0)
        os.pwrite(descriptor, b"\n" + json.dumps([query.time, query.login]).encode() + b"\n", size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def interruptions(folder: Path) -> list[tuple[float, str]]:
    """Return the times of interrupted queries that were handed on, and whose they were; earliest first.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    try:
        lines = (folder / FILE).read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        # half of a line is left where older ones were forgotten
        with suppress(ValueError, RecursionError):
            match json.loads(line):
                case [int() | float() as time, str() as login]:
                    found.append((float(time), login))
    return sorted(found)


def is_locked_out(times: Sequence[float], now: float, *, most: int, period: float, lockout: float) -> bool:
    """Return whether so many interruptions within a period lock out at this moment.

    Parameters
    ----------
    times : sequence of float
        Ascending, in seconds.
    most : int
        Interruptions within `period` that begin a lockout, >= 1.
    period, lockout : float
        Seconds.
    """
    complete = zip(times, times[most - 1 :], strict=False)
    return any(last - first < period and now < last + lockout for first, last in complete)
