"""Prices of rows that prove a lower bound on the cost of every recoding.

As in `kanon_pg.worker.solvers.bounds.prices`, with groups of row types that share nodes in place of those
that agree on kept columns: the few that matter are collected by passes over all level vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.solvers.bounds.prices import Collected, Prices, ascend, fits
from kanon_pg.worker.solvers.bounds.reach import cheapest_levels
from kanon_pg.worker.solvers.recoding.forest import number_of_vectors
from kanon_pg.worker.solvers.recoding.task import RecodingTask
from kanon_pg.worker.verification.certificate import PRICE_UNIT, formable_classes
from kanon_pg.worker.verification.class_demands import class_demands

_MOST_PAIRS = 1_000_000_000
"""Most level vectors times row types for which prices are searched: a pass over all takes some seconds."""

_UNPROVEN = 0.5
"""Share of the costs of a known solution at which the ascent begins under models."""


@dataclass(frozen=True)
class LevelPrices:
    """What is proven about a table with hierarchies."""

    found: Prices
    """For the row types of the task."""
    collected: Collected
    """The groups of row types that can be classes of good solutions."""


def raise_level_prices(
    task: RecodingTask, known: NDArray[np.float64], target: float, clock: Clock
) -> LevelPrices | None:
    """Search for prices that prove a high lower bound.

    Parameters
    ----------
    task : RecodingTask
        Its row types are not divided.
    known : ndarray of float64, shape (n,)
        Cost of a row of each row type in some solution, the costliest of each type.
    target : float
        Cost of that solution.
    clock : Clock
        Ends the search early; the prices are valid whenever it ends.

    Returns
    -------
    LevelPrices or None
        None if there are too many level vectors, or sums of prices would not fit into 64 bits.
    """
    k = task.request.k
    if number_of_vectors(task.forest) * len(task.table) > _MOST_PAIRS or not fits(task.table, k):
        return None
    demands = class_demands(task.table, task.request.models)
    classes = formable_classes(task.table, None, k, demands, hierarchies=task.hierarchies)
    collected = Collected()
    reach, _ = cheapest_levels(task.forest, task.table, k, known, clock)
    # One unit for each column that was rounded down, and one for rounding here.
    start = np.maximum((reach * PRICE_UNIT).astype(np.int64) - task.table.width - 1, 0)
    wanted = None
    if task.request.models:
        wanted = np.maximum(start, (_UNPROVEN * known * PRICE_UNIT).astype(np.int64))
    found = ascend(task.table, classes, start, clock, target=target, wanted=wanted, collected=collected)
    return LevelPrices(found, collected)
