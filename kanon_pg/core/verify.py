"""An independent recount of a solution: nothing here is shared with what found it.

The solvers compare 64-bit hashes of cells; this recount compares the cells themselves, so that even a
collision of hashes cannot pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.errors import SolverError

_MOST_CODES = 1 << 62


@dataclass(frozen=True, slots=True)
class Recount:
    """What a solution amounts to.

    Parameters
    ----------
    classes : int
        Equivalence classes.
    smallest : int
        Distinct people of the smallest class.
    suppressed_cells : int
        Suppressed cells over all rows.
    weighted_cost : float
        The same with column weights.
    """

    classes: int
    smallest: int
    suppressed_cells: int
    weighted_cost: float


def recount(packed: PackedRowTypes, patterns: NDArray[np.int64]) -> Recount:
    """Count classes, people and costs from the packed cells.

    Parameters
    ----------
    packed : PackedRowTypes
    patterns : ndarray of int64, shape (n,)
        Bit mask of suppressed columns of each row type.

    Notes
    -----
    O(m n log n): one sort for as many columns as fit into 62 bits.
    """
    rows = np.frombuffer(packed.rows, dtype=">i8").astype(np.int64)
    _, label = np.unique(patterns, return_inverse=True)
    labels = int(label.max()) + 1
    cells, cost = 0, 0.0
    for bit, column in enumerate(packed.columns):
        hidden = (patterns >> bit) & 1 == 1
        suppressed = int(rows[hidden].sum())
        cells += suppressed
        cost += column.weight * suppressed
        values, code = np.unique(np.frombuffer(packed.cells[bit], dtype=">i8"), return_inverse=True)
        code[hidden] = values.size
        if labels > _MOST_CODES // (values.size + 1):
            _, label = np.unique(label, return_inverse=True)
            labels = int(label.max()) + 1
        label = label * (values.size + 1) + code
        labels *= values.size + 1
    _, label = np.unique(label, return_inverse=True)
    people = _people(packed, label, int(label.max()) + 1)
    return Recount(people.size, int(people.min()), cells, cost)


def _people(packed: PackedRowTypes, label: NDArray[np.intp], classes: int) -> NDArray[np.int64]:
    if not packed.has_entity:
        counts = np.frombuffer(packed.people, dtype=">i8").astype(np.int64)
        people = np.zeros(classes, dtype=np.int64)
        np.add.at(people, label, counts)
        return people
    keys = np.frombuffer(packed.keys, dtype=">i8").astype(np.int64)
    order = np.argsort(keys)
    pair_keys = np.frombuffer(packed.pair_keys, dtype=">i8").astype(np.int64)
    owner = label[order[np.searchsorted(keys[order], pair_keys)]]
    persons, person = np.unique(np.frombuffer(packed.pair_people, dtype=">i8"), return_inverse=True)
    pairs = np.unique(owner * persons.size + person)
    return np.bincount(pairs // persons.size, minlength=classes).astype(np.int64)


def require_k(found: Recount, k: int) -> None:
    """Raise unless every class has at least k people.

    Raises
    ------
    SolverError
        The recount found a smaller class.
    """
    if found.smallest < k:
        raise SolverError(
            f"The recount of the solution found a class of {found.smallest} people, fewer than {k}.",
            hint="Nothing was published. Please report this as a defect.",
        )
