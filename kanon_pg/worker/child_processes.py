"""Processes that end with their parent, and native code in a process that can be ended at any moment.

The library for integer programs looks at its clock between steps, and a step on a large program can take
minutes. A forked process shares the program that is in memory already, and takes what it holds with it.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_CHUNK = 1 << 20
_DONE, _FAILED = b"+", b"-"


@contextmanager
def ending_with(parent: int) -> Iterator[None]:
    """End this process within the block as soon as its parent ends, whatever native code is doing.

    The signal is not SIGKILL: where PostgreSQL's postmaster is process 1 (in containers), it inherits the
    orphaned process and takes any end but status 0 or 1 for the crash of a backend, upon which it restarts
    all sessions. C's ``_exit``, taken as the handler, is called with the number of the signal: SIGHUP is 1.
    """
    libc = ctypes.CDLL(None)
    with suppress(OSError, AttributeError):  # only Linux has it
        libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        libc.signal.restype = ctypes.c_void_p
        libc.signal(signal.SIGHUP, ctypes.cast(libc._exit, ctypes.c_void_p))
        libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGHUP))
    if os.getppid() != parent:
        os._exit(1)
    try:
        yield
    finally:
        with suppress(OSError, AttributeError):
            libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(0))


class WorkFailed(Exception):
    """The work raised an error, whose class is named."""


def run_in_child(work: Callable[[], bytes], seconds: float) -> bytes | None:
    """Return what a piece of work returns, or None if it takes longer than it may.

    Parameters
    ----------
    work : callable
        Called in a fork of this process. It must not use threads that run in this one.
    seconds : float
        Time limit, >= 0.

    Raises
    ------
    WorkFailed
        If the work raised an error or its process ended without an answer.
    OSError
        If there can be no further process.
    """
    ends = time.monotonic() + seconds
    reading, writing = os.pipe()
    parent = os.getpid()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    if child == 0:
        _answer(work, writing, parent)
    os.close(writing)
    try:
        answer = _read(reading, ends)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if answer is None or answer[:1] == _DONE:
        return None if answer is None else answer[1:]
    raise WorkFailed(answer[1:].decode(errors="replace") or "no answer")


def _answer(work: Callable[[], bytes], writing: int, parent: int) -> NoReturn:
    """Do the work in the forked process, which ends here whatever happens."""
    try:
        with ending_with(parent):
            try:
                left = _DONE + work()
            except Exception as error:
                left = _FAILED + type(error).__name__.encode()
            while left:
                left = left[os.write(writing, left) :]
    finally:
        os._exit(0)


def _read(reading: int, ends: float) -> bytes | None:
    """Return everything that is written until the other end is closed, None if time is over before."""
    chunks: list[bytes] = []
    while select.select([reading], [], [], max(0.0, ends - time.monotonic()))[0]:
        chunk = os.read(reading, _CHUNK)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
    return None
