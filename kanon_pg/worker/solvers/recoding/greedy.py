"""Local recoding by the greedy heuristic: level vectors in the order of what they cost.

After Algorithm 1 of R. Bredereck, A. Nichterlein, R. Niedermeier, "Pattern-Guided k-Anonymity" (2013), with
level vectors in place of pattern vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.recoding.demands import Demands
from kanon_pg.worker.solvers.recoding.forest import Forest
from kanon_pg.worker.solvers.recoding.lattice import MOST_VECTORS, cheapest_levels_first, number_of_vectors
from kanon_pg.worker.solvers.recoding.scan import scan_for, scan_levels

MOST_PAIRS = 4_000_000_000
"""Most level vectors times row types for which all level vectors are tried."""

_WORK_PER_STEP = 5_000_000


def is_lattice_small(forest: Forest, table: RowTypeTable) -> bool:
    """Return whether all level vectors can be tried."""
    vectors = number_of_vectors(forest)
    return vectors <= MOST_VECTORS and vectors * len(table) <= MOST_PAIRS


def greedy_classes(
    forest: Forest, codes: NDArray[np.int32], table: RowTypeTable, demands: Demands, clock: Clock
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Form classes of row types that are alike, under one level vector after another.

    Parameters
    ----------
    forest : Forest
        See `is_lattice_small`.
    codes : ndarray of int32, shape (n, m)
    table : RowTypeTable
    demands : Demands
    clock : Clock
        Progress is reported to it; its end is ignored, since this is the first solution.

    Returns
    -------
    class_of : ndarray of int64, shape (n,)
        Class of each row type, -1 if it has none. All classes are allowed.
    rest : ndarray of int32
        Row types without a class.

    Notes
    -----
    O(p n m) for p level vectors at worst; row types with a class are not looked at again.
    """
    levels = cheapest_levels_first(forest, table)
    scan = scan_for(len(table))
    turn = 0
    while turn < levels.shape[0] and scan.state[0] > 0:
        clock.report("greedy", turn / levels.shape[0])
        turn = scan_levels(scan, forest, codes, demands, levels, turn, _WORK_PER_STEP)
    return scan.class_of, scan.waiting[: scan.state[0]].copy()
