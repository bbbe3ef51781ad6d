"""Rows of one row type with different patterns: numbers of rows, drawn by the view with a secret seed."""

from __future__ import annotations

import secrets
import struct
from dataclasses import dataclass
from itertools import groupby

from kanon_pg.core.packed import ITEM_BYTES
from kanon_pg.core.request import SolveOutcome
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, PackedColumn
from kanon_pg.db.queries import statement


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of divided row types, all buffers of signed 64-bit big-endian numbers of equal length.

    Parameters
    ----------
    row_types : bytes
        Hash of the row type of each part.
    first_rows : bytes
        Number of the first row of each part, from 1; the part ends where the next of its row type begins,
        and the last one has all further rows.
    patterns : bytes
        Mask of suppressed columns of each part.
    """

    row_types: bytes
    first_rows: bytes
    patterns: bytes


def parts_of(keys: bytes, outcome: SolveOutcome) -> Parts | None:
    """Number the rows of divided row types; None if the outcome divides nothing.

    Parameters
    ----------
    keys : bytes
        Hash of each row type, packed.
    outcome : SolveOutcome
        A solution for these row types.
    """
    if not outcome.moved_types:
        return None
    moved = zip(
        _numbers(outcome.moved_types),
        _numbers(outcome.moved_patterns),
        _numbers(outcome.moved_rows),
        strict=True,
    )
    row_types, first_rows, patterns = bytearray(), bytearray(), bytearray()
    for row_type, group in groupby(moved, key=lambda part: part[0]):
        start = ITEM_BYTES * row_type
        first = 1
        for _, pattern, rows in group:
            row_types += keys[start : start + ITEM_BYTES]
            first_rows += struct.pack(">q", first)
            patterns += struct.pack(">q", pattern)
            first += rows
        row_types += keys[start : start + ITEM_BYTES]
        first_rows += struct.pack(">q", first)
        patterns += outcome.patterns[start : start + ITEM_BYTES]
    return Parts(bytes(row_types), bytes(first_rows), bytes(patterns))


def write_parts(db: Database, table: Identifier, parts: Parts) -> None:
    """Create the table that says which rows of divided row types have which pattern.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    table : Identifier
        The table to create.
    parts : Parts
        Its content.
    """
    db.execute(statement("create_parts", parts=table))
    db.load(
        table,
        [
            PackedColumn("row_type", parts.row_types),
            PackedColumn("first_row", parts.first_rows),
            PackedColumn("pattern", parts.patterns),
            PackedColumn("seed", secrets.token_bytes(ITEM_BYTES) * (len(parts.patterns) // ITEM_BYTES)),
        ],
    )
    db.execute(statement("analyze", relation=table))


def _numbers(buffer: bytes) -> list[int]:
    return [number for (number,) in struct.iter_unpack(">q", buffer)]
