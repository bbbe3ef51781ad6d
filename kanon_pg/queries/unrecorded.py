"""Withheld queries that the ledger's process could not record, because it was killed again and again.

They were not answered, so nothing has to be compared with them and no budget counts them. But who keeps the
record has to see them: they go, one a line, to a file beside the journal, which `query_log` reads, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from kanon_pg.queries.request import Failure, QueryRecord

_FILE = "unrecorded"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def encoded_query(query_record: QueryRecord) -> str:
    """Return a query as the record stores it."""
    return json.dumps([query_record.text, query_record.parameters, query_record.role])


def note(parent: str, names: Sequence[str], query_record: QueryRecord, failure: Failure) -> None:
    """Write down a query that was withheld, durably, if there is a folder and room on the disk.

    Parameters
    ----------
    parent : str
        Folder of the records of this database.
    names : sequence of str
        The records'.
    """
    head = [query_record.time, query_record.login, encoded_query(query_record), "withheld", failure]
    line = json.dumps(head).encode() + b"\n"
    for name in names:
        # without room nothing can be written anywhere
        with suppress(OSError):
            descriptor = os.open(Path(parent) / name / _FILE, _FLAGS, 0o600)
            with os.fdopen(descriptor, "ab", 0) as file:
                file.write(line)
                os.fsync(descriptor)


def noted(parent: str, names: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the name of the record, time, login, query, outcome and reason of what was written down."""
    for name in names:
        with suppress(OSError):
            text = (Path(parent) / name / _FILE).read_text(encoding="utf-8", errors="replace")
            for line in text.splitlines():
                # the last one may be half written
                with suppress(ValueError):
                    yield [name, *json.loads(line)]
