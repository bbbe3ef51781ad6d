"""Annealing, flows and integer programs one after the other: what makes a solution good near known prices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.row_types import RowTypeTable
from kanon_pg.core.solution import Solution
from kanon_pg.solvers.annealing.search import EFFORT_PER_SECOND, anneal
from kanon_pg.solvers.annealing.thinning import thin
from kanon_pg.solvers.clock import Clock
from kanon_pg.solvers.compatibility import Compatibility
from kanon_pg.solvers.refinement.flow import reassign
from kanon_pg.solvers.refinement.regions import improve_by_regions

_NEAR = 1.8
_NEAR_POWER = 0.35
"""Annealing may use classes that exceed their prices by `_NEAR` usual costs times k to this power."""

_CORE = 0.3
"""Integer programs may use classes that exceed their prices by this share of a usual cost."""

_SMALL_CORE = 15_000
"""Pairs up to which integer programs are worth more time than annealing."""

_ANNEALING_SHARE = 0.85
_ANNEALING_SHARE_SMALL = 0.3
_ROUNDS_PER_SECOND = 1.0


def refine(
    table: RowTypeTable,
    graph: Compatibility,
    solution: Solution,
    k: int,
    clock: Clock,
    *,
    prices: NDArray[np.int64],
    seconds: float,
    seed: int | None = None,
    rest_may_be_small: bool = False,
) -> Solution:
    """Lower the weighted cost of a solution with the help of prices that prove a lower bound.

    Parameters
    ----------
    table : RowTypeTable
    graph : Compatibility
        The graph of this table and k.
    solution : Solution
        Every class has at least k people.
    k : int
    clock : Clock
        Ends the search when time is over.
    prices : ndarray of int64, shape (n,)
        Valid prices in units of 1 / `PRICE_UNIT`.
    seconds : float
        How long the search should take, > 0. It is turned into effort that does not depend on the
        machine, so that the same input gives the same result unless time runs out.
    seed : int, optional
        Seed of the random choices.
    rest_may_be_small : bool
        Whether the fully suppressed class may have fewer than k people.

    Returns
    -------
    Solution
        Never dearer than `solution`.
    """
    unit = float(table.weights.mean())
    core = thin(table, graph, solution, k, prices, _CORE * unit)
    share = _ANNEALING_SHARE_SMALL if core.edges <= _SMALL_CORE else _ANNEALING_SHARE
    near = thin(table, graph, solution, k, prices, _NEAR * unit * k**_NEAR_POWER)
    effort = int(seconds * share * EFFORT_PER_SECOND)
    solution = anneal(
        table, near, solution, k, clock,
        effort=effort, prices=prices, seed=seed, rest_may_be_small=rest_may_be_small,
    )  # fmt: skip
    solution = reassign(table, graph, solution, k, rest_may_be_small=rest_may_be_small)
    core = thin(table, graph, solution, k, prices, _CORE * unit)
    rounds = max(1, int(seconds * (1 - share) * _ROUNDS_PER_SECOND))
    solution = improve_by_regions(
        table, core, solution, k, clock,
        rounds=rounds, prices=prices, seed=seed, rest_may_be_small=rest_may_be_small,
    )  # fmt: skip
    return reassign(table, graph, solution, k, rest_may_be_small=rest_may_be_small)
