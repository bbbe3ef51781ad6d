"""Working arrays of the moves of the local search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.solvers.local_search.partition import Partition


class Scratch(NamedTuple):
    """Working arrays of moves: per class (`seen` to `allowance`), per row type, and a stamp."""

    seen: NDArray[np.int64]
    inside_items: NDArray[np.int32]
    inside_people: NDArray[np.int64]
    inside_rows: NDArray[np.int64]
    allowance: NDArray[np.int64]
    broken: NDArray[np.int64]
    touched: NDArray[np.int32]
    item_seen: NDArray[np.int64]
    taken: NDArray[np.int32]
    stamp: NDArray[np.int64]


def scratch_for(parts: Partition) -> Scratch:
    """Return working arrays for a partition."""
    room, count = parts.vector.size, parts.class_of.size
    return Scratch(
        np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64),
        np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int32),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip
