"""PostgreSQL's binary COPY format for packed columns."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.protocol import PackedColumn

_ITEM = 8


def binary_copy(columns: Sequence[PackedColumn]) -> bytes:
    """Interleave packed columns into COPY's binary format by strided slices (no object per row).

    Parameters
    ----------
    columns : sequence of PackedColumn
        At least one, of equal length.
    """
    count = len(columns[0].data) // _ITEM
    field = _ITEM + 4
    width = 2 + field * len(columns)
    row = len(columns).to_bytes(2, "big") + (_ITEM.to_bytes(4, "big") + bytes(_ITEM)) * len(columns)
    body = bytearray(row * count)
    for index, column in enumerate(columns):
        start = 2 + index * field + 4
        for byte in range(_ITEM):
            body[start + byte :: width] = column.data[byte::_ITEM]
    return b"PGCOPY\n\xff\r\n\0" + bytes(8) + bytes(body) + b"\xff\xff"
