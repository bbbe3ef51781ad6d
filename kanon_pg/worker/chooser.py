"""What a worker does to choose who waits for the next version of a release over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.waiting import Waiting, WaitingTask
from kanon_pg.errors import MemoryExceeded
from kanon_pg.worker.clock import Clock, Progress
from kanon_pg.worker.packed_numbers import buffer_of
from kanon_pg.worker.patterns import all_patterns, parse_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.waiting.choice import choose_waiting


def choose(row_types: PackedRowTypes, task: WaitingTask, progress: Progress) -> Waiting | None:
    """Choose who waits.

    Parameters
    ----------
    row_types : PackedRowTypes
        Of the rows that may enter and of earlier ones, without an entity. The last column is numeric, see
        `kanon_pg.core.waiting.WaitingTask`.
    progress : callable
        Receives phases and shares.

    Returns
    -------
    Waiting or None
        None if nothing was chosen, as `choose_waiting` says, or memory does not hold what is looked at.

    Raises
    ------
    KanonError
        Patterns that are not understood, or too many.
    """
    table = RowTypeTable.from_packed(row_types)
    waited = table.values[-1]
    assert waited is not None  # noqa: S101 - the column is numeric
    table = replace(table, columns=table.columns[:-1], cells=table.cells[:-1], values=table.values[:-1])
    mask = (
        all_patterns(table.columns) if task.patterns is None else parse_patterns(task.patterns, table.columns)
    )
    try:
        rows = choose_waiting(
            table,
            waited.astype(np.int64),
            mask.vectors,
            task.k,
            Clock(task.seconds, progress),
            longest=task.longest,
            most=task.most,
            seed=task.seed,
        )
    except (MemoryExceeded, MemoryError):
        return None
    if rows is None:
        return None
    keys = np.frombuffer(row_types.keys, dtype=">i8")
    return Waiting(keys[rows > 0].tobytes(), buffer_of(rows[rows > 0]))
