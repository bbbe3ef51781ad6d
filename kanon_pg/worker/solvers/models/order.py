"""Row types in an order that depends on their content alone, so that ties are broken by content."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.row_types import RowTypeTable, mix


def by_content(table: RowTypeTable) -> tuple[RowTypeTable, NDArray[np.intp]]:
    """Return the row types in the order of a hash of all their values, and the position of each before."""
    content = table.hashes.sum(axis=0, dtype=np.uint64)
    for number, cells in enumerate(table.sensitive):
        content += mix(cells.view(np.uint64) + np.uint64(number + 1))
    order = np.argsort(content, kind="stable")
    lengths = np.diff(table.shared_start)[order]
    start = np.zeros(len(table) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    places = np.repeat(table.shared_start[:-1][order] - start[:-1], lengths) + np.arange(start[-1])
    return replace(
        table,
        cells=table.cells[:, order],
        rows=table.rows[order],
        people=table.people[order],
        values=tuple(None if one is None else one[order] for one in table.values),
        shared_start=start,
        shared_people=table.shared_people[places],
        sensitive=np.ascontiguousarray(table.sensitive[:, order]),
        sensitive_values=tuple(None if one is None else one[order] for one in table.sensitive_values),
    ), order
