"""Processes that end with their parent, and native code in a process that can be ended at any moment.

The library for integer programs looks at its clock between steps, and a step on a large program can take
minutes. A forked process shares the program that is in memory already, and takes what it holds with it.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import resource
import select
import signal
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_CHUNK = 1 << 20
_DONE, _FAILED = b"+", b"-"

_HEAD = struct.Struct("=QQQ")
"""What precedes a message between processes: its number, length and checksum."""


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


Work = Callable[[], bytes]


def run_in_child(work: Work, seconds: float) -> bytes | None:
    """Return what a piece of work returns, or None if it takes longer than it may (see `run_in_children`)."""
    return run_in_children([(work, seconds)], 1)[0]


def run_in_children(jobs: Iterable[tuple[Work, float]], at_once: int) -> list[bytes | None]:
    """Return what pieces of work return, in their order; None for those that take longer than they may.

    Parameters
    ----------
    jobs : iterable of (callable, float)
        Work, called in a fork of this process, and its time limit in seconds, >= 0. Work must not use threads
        that run in this process. The next job is asked for when its work can begin.
    at_once : int
        Most processes at the same time, >= 1. Each may grow by its part of what this process may grow by.

    Raises
    ------
    WorkFailed
        If some work raised an error or its process ended without an answer; the other processes are ended.
    OSError
        If there can be no further process.
    """
    coming = iter(jobs)
    answers: list[bytes | None] = []
    running: list[_Child] = []
    try:
        while True:
            for work, seconds in islice(coming, at_once - len(running)):
                running.append(_begin(work, seconds, len(answers), at_once))
                answers.append(None)
            if not running:
                return answers
            for child in _ended(running):
                answers[child.number] = child.answer()
                running.remove(child)
                child.end()
    finally:
        for child in running:
            child.end()


class ChildBeside:
    """Work in a fork of this process while this process does something else; what it said last can be read.

    Parameters
    ----------
    work : callable
        Gets a function that takes what there is to say, as often as there is something better; see
        `run_in_children`.
    seconds : float
        How long `wait` waits, from now.
    most : int
        Most bytes that are said at once.

    Raises
    ------
    OSError
        If there can be no further process, or no memory for what it says.

    Notes
    -----
    A process that is ended, or fails, leaves what it said before: it writes to two places in turn, of which
    at most one is torn.
    """

    def __init__(self, work: Callable[[Callable[[bytes], None]], None], seconds: float, most: int) -> None:
        self._place = _HEAD.size + most
        self._shared = mmap.mmap(-1, 2 * self._place)
        self._said = 0

        def answer() -> bytes:
            work(self._say)
            return b""

        self._child: _Child | None = _begin(answer, seconds, 0, 2)

    def _say(self, message: bytes) -> None:
        self._said += 1
        whole = _HEAD.pack(self._said, len(message), zlib.crc32(message)) + message
        begin = self._said % 2 * self._place
        self._shared[begin : begin + len(whole)] = whole

    def latest(self) -> bytes:
        """Return what was said last, nothing if nothing was said."""
        heard = {0: b""}
        for begin in (0, self._place):
            number, length, checksum = _HEAD.unpack_from(self._shared, begin)
            message = self._shared[begin + _HEAD.size : begin + _HEAD.size + length]
            if zlib.crc32(message) == checksum:
                heard[number] = message
        return heard[max(heard)]

    def wait(self, seconds: float) -> bool:
        """Wait until the work is done, or its time over, at most some seconds; return whether it is."""
        if self._child is not None:
            readable = select.select([self._child.reading], [], [], seconds)[0]
            if readable or time.monotonic() >= self._child.ends:
                self.close()
        return self._child is None

    def close(self) -> None:
        """End the process; what it said can still be read."""
        if self._child is not None:
            self._child.end()
            self._child = None


@dataclass
class _Child:
    """A process at work."""

    number: int
    """Position of its answer."""
    process: int
    reading: int
    """Where its answer arrives."""
    ends: float
    """When its time is over, by `time.monotonic`."""
    received: list[bytes] = field(default_factory=list)
    is_whole: bool = False

    def read(self) -> None:
        chunk = os.read(self.reading, _CHUNK)
        self.received.append(chunk)
        self.is_whole = not chunk

    def answer(self) -> bytes | None:
        """Return the answer, None if time was over before it was whole."""
        if not self.is_whole:
            return None
        answer = b"".join(self.received)
        if answer[:1] != _DONE:
            raise WorkFailed(answer[1:].decode(errors="replace") or "no answer")
        return answer[1:]

    def end(self) -> None:
        os.close(self.reading)
        # SIGKILL would be its status, which is process 1's if this process is killed before it has waited
        os.kill(self.process, signal.SIGHUP)
        os.waitpid(self.process, 0)


def _begin(work: Work, seconds: float, number: int, at_once: int) -> _Child:
    ends = time.monotonic() + seconds
    reading, writing = os.pipe()
    parent = os.getpid()
    try:
        process = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    if process == 0:
        _answer(work, writing, parent, at_once)
    os.close(writing)
    return _Child(number, process, reading, ends)


def _ended(running: list[_Child]) -> list[_Child]:
    """Wait for something; return those whose answer is whole or whose time is over."""
    first = min(child.ends for child in running)
    patience = None if first == math.inf else max(0.0, first - time.monotonic())
    readable = select.select([child.reading for child in running], [], [], patience)[0]
    now = time.monotonic()
    ended = []
    for child in running:
        if child.reading in readable:
            child.read()
            if child.is_whole:
                ended.append(child)
        elif now >= child.ends:
            ended.append(child)
    return ended


def _answer(work: Work, writing: int, parent: int, at_once: int) -> NoReturn:
    """Do the work in the forked process, which ends here whatever happens."""
    try:
        with ending_with(parent):
            try:
                _share_memory(at_once)
                left = _DONE + work()
            except Exception as error:
                left = _FAILED + type(error).__name__.encode()
            while left:
                left = left[os.write(writing, left) :]
    finally:
        os._exit(0)


def _share_memory(at_once: int) -> None:
    """Take one part of the address space that the parent has left: a fork would have all of it for itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if at_once > 1 and soft != resource.RLIM_INFINITY:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + max(soft - used, 0) // at_once, hard))
