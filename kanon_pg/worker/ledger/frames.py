"""The bytes of a journal: header, frames, and the difference between a torn end and damage."""

from __future__ import annotations

import os
from hashlib import blake2b
from zlib import crc32

from kanon_pg.errors import LedgerError

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
    data : bytes
        What is added.
    """
    return blake2b(digest + data, digest_size=DIGEST_BYTES).digest()


def framed(payload: bytes, digest: bytes) -> tuple[bytes, bytes]:
    """Return the frame of a record, and the chain digest after it.

    Parameters
    ----------
    payload : bytes
        What is recorded.
    digest : bytes
        Chain digest of what comes before.
    """
    body = _prefix(len(payload)) + payload
    after = next_digest(digest, body)
    return body + after, after


def parse(data: bytes, position: int, digest: bytes) -> tuple[bytes, bytes, int] | None:
    """Return payload, chain digest and end of the frame at `position`; None at the end or a torn end.

    A frame is torn if the data end inside it, or if nothing but zeros follows (some file systems grow a
    file before its content arrives). No confirmed record looks like that.

    Parameters
    ----------
    data : bytes
        Part of a journal.
    position : int
        Where the frame begins.
    digest : bytes
        Chain digest of what comes before.

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
    """Return the length that a frame's first 8 bytes tell; None if there is no frame yet.

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
