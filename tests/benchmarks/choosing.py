"""A release over time in which it is chosen who waits as the server does, without one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import QuasiIdentifier
from kanon_pg.core.waiting import FUTURES
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.waiting.choice import choose_waiting
from tests.benchmarks.series import K, patterns_of

_SECONDS = 5.0
"""Time for solving each batch."""

Ints = NDArray[np.int64]


def cells_by_choice(codes: Ints, batches: int, longest: int, share: float) -> int:
    """Return the suppressed cells of published rows; see `tests.benchmarks.hindsight.least_cells`."""
    draw = np.random.default_rng(1)
    batch = np.repeat(np.arange(1, batches + 1), [len(part) for part in np.array_split(codes, batches)])
    pending, total = np.empty(0, np.int64), 0
    for version in range(1, batches + 1):
        came = np.flatnonzero(batch == version)
        rows, seen = np.concatenate([pending, came]), int((batch <= version).sum())
        known = np.setdiff1d(np.arange(seen), rows)
        earlier = draw.choice(known, min(len(known), FUTURES * len(came)), replace=False)
        waits = _waiting(codes, rows, version - batch[rows], earlier, longest, int(share * seen))
        pending = rows[waits]
        assert len(pending) <= share * seen
        assert (version - batch[pending] < longest).all()
        patterns = patterns_of(codes[rows[~waits]], "auto", _SECONDS)
        total += int(np.bitwise_count(patterns).sum())
    return total


def _waiting(
    codes: Ints, rows: Ints, waited: Ints, earlier: Ints, longest: int, most: int
) -> NDArray[np.bool_]:
    """Return which rows wait."""
    width = codes.shape[1]
    lines = np.column_stack([codes[np.concatenate([rows, earlier])], [*waited, *[-1] * len(earlier)]])
    types, type_of, counts = np.unique(lines, axis=0, return_inverse=True, return_counts=True)
    table = RowTypeTable(
        columns=tuple(QuasiIdentifier(f"c{number}") for number in range(width)),
        cells=tuple(np.ascontiguousarray(column) for column in types[:, :-1].T),
        rows=counts,
        people=counts,
        values=(None,) * width,
        shared_start=np.zeros(len(types) + 1, np.int64),
        shared_people=np.empty(0, np.int64),
    )
    chosen = choose_waiting(
        table, types[:, -1], np.arange(1 << width), K, Clock(), longest=longest, most=most
    )
    waits = np.zeros(len(rows), bool)
    for number in [] if chosen is None else np.flatnonzero(chosen):
        waits[np.flatnonzero(type_of.ravel()[: len(rows)] == number)[: chosen[number]]] = True
    return waits
