"""What a column shows at some levels of its hierarchy, read from the packed buffers and nothing else.

This is the part of `kanon_pg.worker.verification.recount` that knows hierarchies; no solver imports it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.errors import SolverError
from kanon_pg.worker.solution import Solution


class Shown(NamedTuple):
    """What the parts of a solution show in one column.

    Parameters
    ----------
    identity : ndarray of int64, shape (q,)
        Identity of the published value or node among those of its level, 0 for a suppressed cell.
    loss : ndarray of float64, shape (q,)
        Loss of one cell, before the column's weight.
    is_hidden : ndarray of bool, shape (q,)
        Whether the cell is suppressed.
    """

    identity: NDArray[np.int64]
    loss: NDArray[np.float64]
    is_hidden: NDArray[np.bool_]


def shown_by(packed: PackedRowTypes, solution: Solution, column: int) -> Shown:
    """Return what a solution shows in a column.

    Parameters
    ----------
    packed : PackedRowTypes
    solution : Solution
        Parts of row types; their vectors hold the level of each column.
    column : int

    Raises
    ------
    SolverError
        A vector holds a level that the hierarchy does not have or that lies below the lowest allowed
        one, or the hierarchy does not know a value.
    """
    fields = packed.level_fields
    level = (solution.vector >> fields.offsets[column]) & ((1 << fields.widths[column]) - 1)
    cells = np.frombuffer(packed.cells[column], dtype=">i8").astype(np.int64)[solution.row_type]
    height = fields.heights[column]
    hierarchy = packed.hierarchies[column] if packed.hierarchies else None
    is_hidden = level == height
    if hierarchy is None:
        return Shown(np.where(is_hidden, 0, cells), is_hidden.astype(np.float64), is_hidden)
    _require(
        bool(((level >= hierarchy.lowest) & (level <= height)).all()), "uses a level that is not allowed"
    )
    known = np.frombuffer(hierarchy.cells, dtype=">i8").astype(np.int64)
    order = np.argsort(known)
    place = np.searchsorted(known[order], cells)
    place[place == known.size] = 0
    value = order[place]
    _require(np.array_equal(known[value], cells), "has a value that its hierarchy does not know")
    identity = np.where(level == 0, cells, 0)
    for number, nodes in enumerate(hierarchy.nodes, start=1):
        here = level == number
        identity[here] = np.frombuffer(nodes, dtype=">i8")[value[here]]
    losses = np.stack([np.frombuffer(one, dtype=">f8") for one in hierarchy.losses])
    return Shown(identity, losses[level, value].astype(np.float64), is_hidden)


def _require(is_so: bool, problem: str) -> None:
    if not is_so:
        raise SolverError(
            f"The solution {problem}.", hint="Nothing was published. Please report this as a defect."
        )
