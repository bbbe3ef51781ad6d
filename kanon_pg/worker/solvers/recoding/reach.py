"""A lower bound: what each row type costs at least in a class of k people, whatever the others do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.recoding.forest import Forest
from kanon_pg.worker.solvers.recoding.groups import (
    Groups,
    costs_of_groups,
    finest_groups,
    most_of_parts,
    raise_column,
)

BOUND_METHOD = "cheapest levels within reach of each row type"

MOST_WORK = 60_000_000
"""Groups that are looked at at most, in all level vectors: some seconds."""

_WORK_PER_VECTOR = 1_000
_BEATS = 64
_EQUAL = 1e-12


@dataclass
class _Walk:
    """A walk through the lattice of level vectors, each of which is met at most once."""

    forest: Forest
    codes: NDArray[np.int32]
    k: int
    clock: Clock
    visited: int = 0
    work: int = 0

    def reach(
        self, groups: Groups, level: NDArray[np.int16], first: int, known: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return per group the least cost at or above a level vector, infinite where it is not below `known`.

        Only columns from `first` on are raised.
        """
        self._count(groups.rows.size)
        costs = costs_of_groups(self.forest, self.codes, groups, level)
        best = np.where(groups.people >= self.k, costs, np.inf)
        is_open = (groups.people < self.k) & (costs < known - _EQUAL)
        for column in range(first, level.size):
            if level[column] == self.forest.height[column]:
                continue
            if not is_open.any():
                break
            above, into = raise_column(self.forest, self.codes, groups, column, int(level[column]))
            level[column] += 1
            most = most_of_parts(into, np.minimum(known, best), is_open, above.rows.size)
            best = np.where(is_open, np.minimum(best, self.reach(above, level, column, most)[into]), best)
            level[column] -= 1
            is_open &= costs < best - _EQUAL
        return best

    def _count(self, groups: int) -> None:
        self.visited += 1
        self.work += groups + _WORK_PER_VECTOR
        if self.visited % _BEATS == 0:
            self.clock.report("bound", None)
            if self.work > MOST_WORK or self.clock.is_over():
                raise TimeOver


def lower_bound(
    forest: Forest,
    codes: NDArray[np.int32],
    table: RowTypeTable,
    k: int,
    known: NDArray[np.float64],
    clock: Clock,
) -> float | None:
    """Return a lower bound on the cost of every solution, None if it would take too long to prove one.

    Parameters
    ----------
    codes : ndarray of int32, shape (n, m)
    known : ndarray of float64, shape (n,)
        Cost of a row of each row type in some solution; only what is cheaper is looked for.

    Notes
    -----
    A class that publishes a row type at some levels holds only row types that agree on them, so its level
    vector is one at which the group of that row type has k people. The bound adds up the cheapest of these.
    It holds for solutions that divide row types, too. Worst case O(p n) for p level vectors; a branch ends
    where all groups are large enough or dearer than what is known.
    """
    groups, into = finest_groups(forest, codes, table)
    most = most_of_parts(into, known, np.ones(into.size, dtype=np.bool_), groups.rows.size)
    walk = _Walk(forest, codes, k, clock)
    try:
        reach = walk.reach(groups, forest.lowest.astype(np.int16), 0, most)
    except TimeOver:
        return None
    return float((np.minimum(np.minimum(reach, most)[into], known) * table.rows).sum())
