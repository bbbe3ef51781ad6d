"""Reads who asked what from a journal, without the sets and without holding the file in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.disk import read_span
from kanon_pg.worker.ledger.frames import DIGEST_BYTES, HEADER_BYTES, is_header, next_digest, payload_length

_PREFIX_BYTES = 8
_CHUNK_BYTES = 1 << 24
_LENGTH_BYTES = 4


def heads(path: Path) -> Iterator[list[Any]]:
    """Yield the head of every record, in order; every digest is checked.

    What a writer is just appending, or left half-written, is not there yet.

    Parameters
    ----------
    path : Path
        A journal.

    Yields
    ------
    list
        Time, asker, question, verdict, reason (see `kanon_pg.worker.ledger.entries.Entry`).

    Raises
    ------
    LedgerError
        The file cannot be read, or is damaged.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise LedgerError("The ledger's journal cannot be opened.", detail=error.strerror) from error
    try:
        yield from _heads(descriptor)
    except OSError as error:
        raise LedgerError("The ledger's journal cannot be read.", detail=error.strerror) from error
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
