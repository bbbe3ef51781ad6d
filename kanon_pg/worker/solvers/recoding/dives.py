"""Dives under privacy models whose classes generalize."""

from __future__ import annotations

import numpy as np

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.bounds.prices import Prices
from kanon_pg.worker.solvers.recoding.demands import find_forbidden
from kanon_pg.worker.solvers.recoding.forest import published_classes
from kanon_pg.worker.solvers.recoding.improvement import EFFORT_PER_ROW_TYPE, improve_classes
from kanon_pg.worker.solvers.recoding.rest import assign_rest
from kanon_pg.worker.solvers.recoding.starts import Start
from kanon_pg.worker.solvers.recoding.task import RecodingTask
from kanon_pg.worker.solvers.refinement.dives import Dives, PricedParts
from kanon_pg.worker.solvers.refinement.diving_under_models import DiveTask
from kanon_pg.worker.verification.certificate import formable_classes
from kanon_pg.worker.verification.class_demands import class_demands

_WARM = 0.015
"""First temperature of annealing after a dive, in weights of a column times the square root of 2 k."""

_SHARE_OF_EFFORT = 0.05
_SHARE_OF_TIME = 0.2
"""Shares of the usual effort, and of the time that is left, in which a dive is annealed."""


class LevelDives(Dives):
    """Dives whose classes publish the lowest nodes that their members share."""

    def __init__(self, whole: RecodingTask, prices: Prices, clock: Clock) -> None:
        table, request = whole.table, whole.request
        demands = class_demands(table, request.models)
        classes = formable_classes(table, None, request.k, demands, hierarchies=whole.hierarchies)
        super().__init__(DiveTask(table, classes, whole.fields, prices.prices, clock), request)
        self.whole = whole

    def priced(self, solution: Solution) -> PricedParts:
        """Return classes and costs of a solution."""
        parts = self.whole.divided(solution)
        class_of = published_classes(parts.forest, parts.codes, parts.fields, solution.vector)
        return PricedParts(class_of, parts.row_costs_at(solution.vector))

    def finished(self, solution: Solution) -> Solution:
        """Let rows without a place join classes, and anneal what comes of it.

        Parameters
        ----------
        solution : Solution
            Any one of the table; row types of classes that violate something join others.
        """
        parts, clock = self.whole.divided(solution), self.task.clock
        class_of = published_classes(parts.forest, parts.codes, parts.fields, solution.vector)
        is_left = find_forbidden(parts.demands, class_of)[class_of] | (solution.vector == parts.fields.top)
        rest = np.flatnonzero(is_left).astype(np.int32)
        class_of = assign_rest(parts, class_of, rest, clock)
        effort = int(_SHARE_OF_EFFORT * EFFORT_PER_ROW_TYPE * len(parts.table))
        class_of = improve_classes(
            parts, class_of, clock.part(_SHARE_OF_TIME), seed=self.request.seed or 0, effort=effort,
            hottest=_WARM,
        )  # fmt: skip
        return parts.solution_of(class_of)

    def solution_of(self, start: Start) -> Solution:
        """Return classes as a solution of the undivided row types."""
        return start.task.solution_of(start.class_of)

    def start_of(self, solution: Solution, method: str) -> Start:
        """Return a solution as classes."""
        return Start(self.whole.divided(solution), self.priced(solution).class_of, method)
