"""An independent check of a solution: nothing here is shared with what found it.

The solvers compare 64-bit hashes of cells. This check takes the classes that they claim and compares the
cells themselves, so that even a collision of hashes cannot pass. Rows of one claimed class must look alike in
the release; then every real class has at least the people of a claimed one. What a column shows at a level of
its hierarchy is read from the packed buffers and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    solution : Solution
        Parts of row types; their vectors hold the level of each column.

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


@dataclass(frozen=True, slots=True)
class Recount:
    """What a solution amounts to.

    Parameters
    ----------
    smallest : int
        Distinct people of the smallest class.
    suppressed_cells : int
        Suppressed cells over all rows.
    weighted_cost : float
        Loss of all cells (1 for a suppressed one) with column weights.
    average : float
        Mean number of distinct people per class.
    """

    smallest: int
    suppressed_cells: int
    weighted_cost: float
    average: float


def recount(
    packed: PackedRowTypes,
    solution: Solution,
    class_of: NDArray[np.int64],
    heartbeat: Callable[[], None] = lambda: None,
) -> Recount:
    """Check claimed classes against the packed cells, and count people and costs.

    Parameters
    ----------
    solution : Solution
        Parts of row types with their pattern vectors.
    class_of : ndarray of int64, shape (q,)
        Claimed class of each part, numbered from 0 without gaps.
    heartbeat : callable, optional
        Called after each column; whatever it raises cancels.

    Raises
    ------
    SolverError
        Two row types of a claimed class do not look alike in the release, rows are lost or invented,
        or row types are divided although people are told apart by an entity.

    Notes
    -----
    O(n m); with an entity one sort of all pairs of row type and person.
    """
    patterns, rows = solution.vector, solution.rows
    _require_all_rows(packed, solution)
    representative = np.zeros(int(class_of.max()) + 1, dtype=np.int64)
    representative[class_of] = np.arange(class_of.size)
    model = representative[class_of]
    alike = patterns == patterns[model]
    cells, cost = 0, 0.0
    for number, column in enumerate(packed.columns):
        shown = shown_by(packed, solution, number)
        cells += int(rows[shown.is_hidden].sum())
        cost += column.weight * float((shown.loss * rows).sum())
        alike &= shown.identity == shown.identity[model]
        heartbeat()
    if not alike.all():
        raise SolverError(
            "Two row types that differ in the release were taken for one class.",
            hint="Nothing was published. Please report this as a defect.",
        )
    people = _people(packed, solution, class_of, representative.size)
    return Recount(int(people.min()), cells, cost, float(people.mean()))


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


def _integers(buffer: bytes) -> NDArray[np.int64]:
    return np.frombuffer(buffer, dtype=">i8").astype(np.int64)


def _require_all_rows(packed: PackedRowTypes, solution: Solution) -> None:
    held = np.zeros(len(packed), dtype=np.int64)
    np.add.at(held, solution.row_type, solution.rows)
    if not np.array_equal(held, _integers(packed.rows)) or solution.rows.min() < 1:
        raise SolverError(
            "The solution does not hold every row exactly once.",
            hint="Nothing was published. Please report this as a defect.",
        )
    if packed.has_entity and solution.is_divided:
        raise SolverError(
            "The solution divides row types whose people are told apart by an entity.",
            hint="Nothing was published. Please report this as a defect.",
        )


def _people(
    packed: PackedRowTypes, solution: Solution, class_of: NDArray[np.int64], classes: int
) -> NDArray[np.int64]:
    people = np.zeros(classes, dtype=np.int64)
    if not packed.has_entity:
        np.add.at(people, class_of, solution.rows)
        return people
    keys = _integers(packed.keys)
    order = np.argsort(keys)
    owner = class_of[order[np.searchsorted(keys[order], _integers(packed.pair_keys))]]
    person = _integers(packed.pair_people)
    sequence = np.lexsort((person, owner))
    owner, person = owner[sequence], person[sequence]
    is_new = np.ones(owner.size, dtype=np.bool_)
    is_new[1:] = (owner[1:] != owner[:-1]) | (person[1:] != person[:-1])
    np.add.at(people, owner[is_new], 1)
    return people
