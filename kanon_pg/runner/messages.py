"""How the two processes communicate: small JSON messages on a socket, bulk data beside them in a memfd.

The socket is an ``AF_UNIX`` pair of type ``SOCK_SEQPACKET``: the kernel keeps the bounds of every message,
so that one read is one message, whole, with its file descriptor. Whatever may be large (packed columns,
a long list of patterns) travels as *parts*, one after the other in an anonymous memory file. There is no
pickle: what a worker answers is data and cannot run code in a PostgreSQL backend.
"""

from __future__ import annotations

import array
import json
import mmap
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from types import TracebackType
from typing import Any

from kanon_pg.errors import MemoryExceeded

MAX_MESSAGE_BYTES = 64 * 1024
"""Longest message; parts are not counted."""

CHUNK_BYTES = 32 * 1024 * 1024
"""Bytes copied between two calls of a `tick`: some 10 ms. Also far below the 2 GB of one ``write``."""


class MessageError(ValueError):
    """A message is not what the protocol allows."""


class SharingError(OSError):
    """The system makes no memory file to share data in."""


class Message:
    """One received message; a context manager that closes its file descriptor.

    Parameters
    ----------
    descriptor : int or None
        The memory file that holds the parts.
    """

    def __init__(
        self, kind: str, fields: dict[str, Any], sizes: tuple[int, ...], descriptor: int | None
    ) -> None:
        self.kind = kind
        self.fields = fields
        self.sizes = sizes
        self._descriptor = descriptor

    def __enter__(self) -> Message:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def copy_parts(self, at_most: int, *, tick: Callable[[], None]) -> list[bytes]:
        """Return copies of the parts.

        A PostgreSQL backend copies instead of mapping, because a file that shrinks under a mapping
        would end the backend by a signal, and the whole server with it.

        Parameters
        ----------
        at_most : int
            Bytes that the parts may have together.
        tick : callable
            Called after every `CHUNK_BYTES` that were copied; may raise.

        Raises
        ------
        MessageError
            The parts are longer than `at_most` or not all there.
        """
        file = self._checked_file()
        if sum(self.sizes) > at_most:
            raise MessageError("the parts are too long")
        return [_read(file, size, end - size, tick) for size, end in self._bounds()]

    def map_parts(self) -> list[memoryview]:
        """Return read-only views of the parts, which must all be there, in memory shared with the sender.

        Raises
        ------
        MessageError
            The parts are not all there.
        OSError
            The address space does not hold them.
        """
        file = self._checked_file()
        whole = memoryview(mmap.mmap(file, sum(self.sizes), prot=mmap.PROT_READ))
        return [whole[end - size : end] for size, end in self._bounds()]

    def _bounds(self) -> Iterator[tuple[int, int]]:
        return zip(self.sizes, accumulate(self.sizes), strict=True)

    def _checked_file(self) -> int:
        if self._descriptor is None or os.fstat(self._descriptor).st_size != sum(self.sizes):
            raise MessageError("the parts are not all there")
        return self._descriptor


@dataclass(frozen=True, slots=True)
class Attachment:
    """Parts ready to be sent."""

    file: int
    """Descriptor of the memory file."""
    sizes: tuple[int, ...]


@contextmanager
def attachment(
    parts: Sequence[bytes | memoryview], *, tick: Callable[[], None] = lambda: None
) -> Iterator[Attachment]:
    """Copy parts into a memory file that exists within the block.

    Parameters
    ----------
    parts : sequence of bytes
        Bulk data, of any length.
    tick : callable
        Called after every `CHUNK_BYTES` that were copied; may raise.

    Raises
    ------
    MemoryExceeded
        The system has no memory for them.
    SharingError
        The system opens no more files.
    """
    try:
        file = os.memfd_create("kanon", os.MFD_CLOEXEC)
    except OSError as error:
        raise SharingError(error.errno, error.strerror) from error
    try:
        attached = Attachment(file, _write_all(file, parts, tick))
        del parts  # nor does this frame keep what was copied
        yield attached
    finally:
        os.close(file)


def send(
    channel: socket.socket, kind: str, fields: Mapping[str, Any], attached: Attachment | None = None
) -> None:
    """Send one message.

    Parameters
    ----------
    channel : socket
        One end of the pair.
    kind : str
        What the message is.
    fields : mapping
        Plain JSON values, short.

    Raises
    ------
    OSError
        The other end is closed.
    MessageError
        `fields` are too long.
    """
    sizes = attached.sizes if attached else ()
    text = json.dumps({"kind": kind, "fields": dict(fields), "sizes": sizes}).encode()
    if len(text) > MAX_MESSAGE_BYTES:
        raise MessageError("the message is too long")
    files = array.array("i", [attached.file] if attached else [])
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)] if files else []
    channel.sendmsg([text], ancillary, socket.MSG_NOSIGNAL)


def receive(channel: socket.socket) -> Message | None:
    """Wait for one message and return it; None if the other end is closed.

    Raises
    ------
    MessageError
        What arrived is not a message.
    """
    room = socket.CMSG_LEN(array.array("i").itemsize)
    try:
        # Not socket.recv_fds: in Python 3.11 it drops its flags, and with them close-on-exec.
        text, ancillary, flags, _ = channel.recvmsg(MAX_MESSAGE_BYTES, room, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        return None
    files = _descriptors(ancillary)
    try:
        if not text and not files:
            return None
        return _parse(text, files, flags)
    except BaseException:
        for file in files:
            os.close(file)
        raise


def _parse(text: bytes, files: list[int], flags: int) -> Message:
    if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        raise MessageError("the message is too long")
    try:
        data = json.loads(text)
        kind, fields, sizes = data["kind"], data["fields"], data["sizes"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MessageError("the message is not an object of the protocol") from error
    right_types = isinstance(kind, str) and isinstance(fields, dict) and isinstance(sizes, list)
    if not right_types or not all(type(size) is int and size >= 0 for size in sizes):
        raise MessageError("the message has fields of wrong types")
    if len(files) != bool(sizes):
        raise MessageError("the message and its parts do not belong together")
    return Message(kind, fields, tuple(sizes), files[0] if files else None)


def _descriptors(ancillary: Sequence[tuple[int, int, bytes]]) -> list[int]:
    files = array.array("i")
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    return list(files)


def _write_all(file: int, parts: Sequence[bytes | memoryview], tick: Callable[[], None]) -> tuple[int, ...]:
    for part in parts:
        _write(file, part, tick)
    return tuple(len(part) for part in parts)


def _write(file: int, part: bytes | memoryview, tick: Callable[[], None]) -> None:
    rest = memoryview(part)
    while rest:
        try:
            written = os.write(file, rest[:CHUNK_BYTES])
        except OSError as error:
            raise MemoryExceeded(
                "There is no memory to share data with another process.", detail=error.strerror
            ) from error
        rest = rest[written:]
        tick()


def _read(file: int, size: int, start: int, tick: Callable[[], None]) -> bytes:
    chunks: list[bytes] = []
    while size:
        chunk = os.pread(file, min(size, CHUNK_BYTES), start)
        if not chunk:
            raise MessageError("the parts are not all there")
        chunks.append(chunk)
        size -= len(chunk)
        start += len(chunk)
        tick()
    return b"".join(chunks)
