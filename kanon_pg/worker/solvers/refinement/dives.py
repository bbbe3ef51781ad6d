"""Dives under privacy models in turn: a first one, then parts of the solution are taken apart and dived for.

Suppression and generalization differ in how classes are priced and how a dive is finished (`Dives`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.generalization import LevelFields
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import PatternMask, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.heuristics import repair_and_improve
from kanon_pg.worker.solvers.refinement.diving import CLOSE
from kanon_pg.worker.solvers.refinement.diving_under_models import SHARE, DiveTask, dive_under_models
from kanon_pg.worker.solvers.refinement.refine import STALE
from kanon_pg.worker.solvers.sensitive_flow import reassign_diversely, reassign_sensitively
from kanon_pg.worker.verification.certificate import PRICE_UNIT, formable_classes
from kanon_pg.worker.verification.class_demands import class_demands

_TAKEN = (0.03, 0.25)
"""Least and largest share of the rows whose classes are taken apart to dive for them again."""

_MOST_STALE_DIVES = 8
"""Dives without gain, one after the other, after which parts of a solution are no longer taken apart."""

_MOST_TURNS = 30
_LEAST_GAIN = 3e-4
"""Turns of local search and flow, at most, and the share of the cost that one has to gain for another."""


class PricedParts(NamedTuple):
    """Of each part of a solution its class, numbered from 0, and what a row of it costs."""

    class_of: NDArray[np.int64]
    cost: NDArray[np.float64]


class Dives(ABC):
    """A table under privacy models whose solutions come from dives."""

    def __init__(self, task: DiveTask, request: SolveRequest) -> None:
        self.task, self.request = task, request

    @abstractmethod
    def priced(self, solution: Solution) -> PricedParts:
        """Return classes and costs of a solution."""

    @abstractmethod
    def finished(self, solution: Solution) -> Solution:
        """Make all classes of a solution allowed, and improve it.

        Raises
        ------
        InfeasibleError
            Some rows cannot be given a class.
        """

    def cost(self, solution: Solution) -> float:
        """Return the weighted cost of a solution."""
        return float((self.priced(solution).cost * solution.rows).sum())

    def first(self) -> Solution | None:
        """Return a solution from a dive for all rows, None without one."""
        dived = dive_under_models(self.task)
        return None if dived is None else self.finished(dived)

    def again(self, solution: Solution, seed: int) -> Solution | None:
        """Take some classes of a solution apart and dive for their rows, the others staying as they are.

        Parameters
        ----------
        solution : Solution
            All its classes are allowed.
        seed : int
            Chooses the classes: the more a class costs beyond the prices of its rows, the likelier. With odd
            ones that chooses the first class alone; the others are those that show fewest other values.

        Returns
        -------
        Solution or None
            It may be costlier. None if there is nothing to settle, or time is over.

        Notes
        -----
        Shaw 1998, "Using constraint programming and local search methods to solve vehicle routing problems".
        """
        random = np.random.default_rng(seed)
        class_of, cost = self.priced(solution)
        excess = np.maximum(cost - self.task.prices[solution.row_type] / PRICE_UNIT, 0.0) * solution.rows
        of_class = np.bincount(class_of, weights=excess)
        size = np.bincount(class_of, weights=solution.rows)
        # Smallest keys first are a draw in proportion to what is lost per row (Efraimidis, Spirakis 2006).
        order = np.argsort(random.exponential(size=size.size) / np.maximum(of_class / size, CLOSE))
        if seed % 2:
            order = order[np.argsort(self._differing(solution, class_of, order[0])[order], kind="stable")]
        rows = random.uniform(*_TAKEN) * self.task.table.total_rows
        taken = order[: np.searchsorted(np.cumsum(size[order]), rows) + 1]
        stays = ~np.isin(class_of, taken)
        held = Solution(solution.row_type[stays], solution.vector[stays], solution.rows[stays])
        dived = dive_under_models(self.task, held, random.uniform(SHARE / 2, 2 * SHARE))
        return None if dived is None else self.finished(dived)

    def in_turn(self, solution: Solution) -> Iterator[Solution]:
        """Yield ever cheaper solutions until dives are in vain, or time is over."""
        seed, stale, cost = self.request.seed or 0, 0, self.cost(solution)
        while stale < _MOST_STALE_DIVES and not self.task.clock.is_over():
            seed, before = seed + 1, cost
            try:
                dived = self.again(solution, seed)
            except InfeasibleError:
                dived = None  # what was left over could not be given a class
            if dived is not None and self.cost(dived) < cost:
                solution, cost = dived, self.cost(dived)
                yield solution
            stale = stale + 1 if before - cost <= STALE * before else 0

    def _differing(self, solution: Solution, class_of: NDArray[np.int64], one: int) -> NDArray[np.int64]:
        """Return for each class in how many columns it shows another value than one of them."""
        part = np.empty(int(class_of.max()) + 1, dtype=np.int64)
        part[class_of] = np.arange(class_of.size)
        item, vector, fields = solution.row_type[part], solution.vector[part], self.task.fields
        differing = np.zeros(part.size, dtype=np.int64)
        for cells, at, width, top in zip(
            self.task.table.cells, fields.offsets, fields.widths, fields.heights, strict=True
        ):
            shown = (vector >> at) & ((1 << width) - 1) < top
            differing += shown & shown[one] & (cells[item] != cells[item[one]])
        return differing


class SuppressionDives(Dives):
    """Dives whose classes suppress cells."""

    def __init__(
        self,
        table: RowTypeTable,
        mask: PatternMask,
        request: SolveRequest,
        clock: Clock,
        prices: NDArray[np.int64],
    ) -> None:
        classes = formable_classes(table, mask.vectors, request.k, class_demands(table, request.models))
        super().__init__(DiveTask(table, classes, LevelFields((1,) * table.width), prices, clock), request)
        self.mask = mask

    def priced(self, solution: Solution) -> PricedParts:
        """Return classes and costs of a solution."""
        table = self.task.table
        class_of = classes_of(solution.parts_of(table), solution.vector).class_of
        return PricedParts(class_of, suppression_costs(solution.vector, table.weights))

    def finished(self, solution: Solution) -> Solution:
        """Let local search and flow take turns until neither gains, or time is over.

        Parameters
        ----------
        solution : Solution
            Any one of the table; classes that violate something are suppressed fully.
        """
        table, clock = self.task.table, self.task.clock
        for _ in range(_MOST_TURNS):
            before = solution.cost(table.weights)
            parts = solution.parts_of(table)
            found = repair_and_improve(parts, self.mask, self.request, clock, solution.vector, "").solution
            solution = Solution.of_parts(solution.row_type[found.row_type], found.vector, found.rows)
            better = None if clock.is_over() else self._distributed(solution)
            solution = solution if better is None else better
            if clock.is_over() or before - solution.cost(table.weights) <= _LEAST_GAIN * before:
                break
        return solution

    def _distributed(self, solution: Solution) -> Solution | None:
        """Distribute all rows among the classes at least cost, each of which stays allowed.

        Returns None if models demand more than values or shares of one column, or the network would be too
        large.
        """
        table, clock, models, k = self.task.table, self.task.clock, self.request.models, self.request.k
        if len(table.sensitive_columns) != 1:
            return None
        if models == PrivacyModels(p=models.p):
            return reassign_sensitively(table, solution, k, models.p or 1, clock)
        if models == PrivacyModels(l=models.l):
            return reassign_diversely(table, solution, k, models.l or 1, clock)
        return None
