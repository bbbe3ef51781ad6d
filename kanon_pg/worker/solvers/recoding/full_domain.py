"""Full-domain recoding: one level per column for all rows but the suppressed ones, the best there is.

After the lattice searches of P. Samarati (2001), "Protecting Respondents' Identities in Microdata Release",
and LeFevre, DeWitt and Ramakrishnan (2005), "Incognito: Efficient Full-Domain K-Anonymity".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.recoding.demands import Demands, find_forbidden
from kanon_pg.worker.solvers.recoding.forest import Forest, marginal_costs
from kanon_pg.worker.solvers.recoding.groups import (
    NodeGroups,
    costs_of_groups,
    finest_groups,
    project,
    raise_column,
)
from kanon_pg.worker.solvers.recoding.task import RecodingTask

_VECTORS_PER_REPORT = 32


@dataclass(frozen=True)
class FullDomain:
    """A full-domain recoding."""

    levels: tuple[int, ...]
    """Level of each column."""
    is_suppressed: NDArray[np.bool_]
    """Shape (n,). Row types whose cells are all suppressed instead."""
    cost: float
    """Weighted cost of all rows."""
    complete: bool
    """Whether all level vectors had their turn; else time was over."""
    bound: float
    """If complete: no full-domain recoding costs less, see `best_full_domain`."""

    @property
    def is_best(self) -> bool:
        """Whether it is proven that no full-domain recoding costs less."""
        return self.complete and self.bound >= self.cost


@dataclass
class _NodeSearch:
    forest: Forest
    codes: NDArray[np.int32]
    table: RowTypeTable
    demands: Demands
    clock: Clock
    most_rows: float
    marginal: list[NDArray[np.float64]]
    max_cost_per_row: float
    columns: NDArray[np.int64]
    finest: list[NodeGroups]
    cost: float = np.inf
    bound: float = np.inf
    levels: tuple[int, ...] = ()
    hidden: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    visited: int = 0
    complete: bool = True
    hopeless: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def climb(self, groups: NodeGroups, of: NDArray[np.int32], level: NDArray[np.int16]) -> None:
        """Look at the level vectors around one way up, whatever the time: a first recoding to fall back on.

        Each step raises the column after which rows cost least. O(n m) for each of at most h m steps.
        """
        self._weigh(groups, of, level)
        while (level < self.forest.height).any():
            self.clock.report("search", None)
            steps = []
            for column in np.flatnonzero(level < self.forest.height):
                raised = level.copy()
                raised[column] += 1
                above, into = raise_column(self.forest, self.codes, groups, int(column), int(level[column]))
                steps.append((self._weigh(above, into[of], raised), above, into[of], raised))
            _, groups, of, level = min(steps, key=lambda step: step[0])

    def visit(self, groups: NodeGroups, of: NDArray[np.int32], level: NDArray[np.int16], first: int) -> None:
        """Look at a level vector and at those that raise columns from place `first` on."""
        self.visited += 1
        if self.visited % _VECTORS_PER_REPORT == 0:
            self.clock.report("search", None)
            self.complete = self.complete and not self.clock.is_over()
        if not self.complete:
            return
        self._weigh(groups, of, level)
        for place in range(first, level.size):
            column = int(self.columns[place])
            if self._is_hopeless(place, level):
                break
            if level[column] == self.forest.height[column]:
                continue
            level[column] += 1
            if self._base(level) < self.cost:
                below = int(level[column]) - 1
                above, into = raise_column(self.forest, self.codes, groups, column, below)
                self.visit(above, into[of], level, place)
            level[column] -= 1

    def _is_hopeless(self, place: int, level: NDArray[np.int16]) -> bool:
        """Return whether the columns before a place alone make too many rows to suppress."""
        if self.most_rows >= self.table.total_rows:
            return False
        fixed = tuple(level[self.columns[:place]].tolist())
        if fixed not in self.hopeless:
            groups, _ = project(self.forest, self.codes, self.finest[place], self.columns[:place], level)
            small = groups.people < self.demands.k
            self.hopeless[fixed] = bool(groups.rows[small].sum() > self.most_rows)
        return self.hopeless[fixed]

    def _base(self, level: NDArray[np.int16]) -> float:
        """Return the cost of all rows at a level vector; it is no less at any vector above."""
        return sum(float(costs[at]) for costs, at in zip(self.marginal, level.tolist(), strict=True))

    def _weigh(self, groups: NodeGroups, of: NDArray[np.int32], level: NDArray[np.int16]) -> float:
        """Keep a level vector if it is the best so far; return what it costs."""
        costs = costs_of_groups(self.forest, self.codes, groups, level)
        hidden = self._forbidden(groups, of)
        rises = (self.max_cost_per_row - costs) * groups.rows
        cost = float((costs * groups.rows).sum() + rises[hidden].sum())
        if cost >= self.cost or groups.rows[hidden].sum() > self.most_rows:
            return cost
        # What must be suppressed costs no less, whatever is suppressed beside it.
        must = cost
        if hidden.any():
            hidden = self._filled(hidden, groups.rows, rises, of)
            cost = float((costs * groups.rows).sum() + rises[hidden].sum())
        is_allowed = groups.rows[hidden].sum() <= self.most_rows
        if not self.demands.is_simple:
            self.bound = min(self.bound, must)
        elif is_allowed:
            self.bound = min(self.bound, cost)
        if cost < self.cost and is_allowed:
            self.cost, self.levels, self.hidden = cost, tuple(level.tolist()), hidden[of]
        return cost

    def _forbidden(self, groups: NodeGroups, of: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which groups may not be classes."""
        if self.demands.is_simple == 1:
            small: NDArray[np.bool_] = groups.people < self.demands.k
            return small
        return find_forbidden(self.demands, of.astype(np.int64))

    def _filled(
        self,
        hidden: NDArray[np.bool_],
        rows: NDArray[np.int64],
        rises: NDArray[np.float64],
        of: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Suppress further groups, cheapest first, until the suppressed rows are allowed as a class.

        One is enough for k people; for privacy models their number is doubled until it is. Nodes of one level
        may lose different amounts, so the cheapest group can have too many rows where a costlier one has not.
        """
        too_many = rows > self.most_rows - rows[hidden].sum()
        order = np.lexsort((rises, too_many, hidden))
        more, further = hidden, 0
        while find_forbidden(self.demands, np.where(more[of], 0, 1))[0] and further < order.size:
            further = max(1, 2 * further)
            more = hidden.copy()
            more[order[:further]] = True
        return more


def best_full_domain(task: RecodingTask, *, most_suppressed: float = 1.0) -> FullDomain:
    """Find the cheapest full-domain recoding with suppressed rows.

    Parameters
    ----------
    most_suppressed : float
        Largest share of the rows whose cells may all be suppressed, 0 to 1.

    Notes
    -----
    Depth-first over the lattice of level vectors; costs of all rows follow from the marginals alone and only
    rise on the way up, so a vector that is costlier than the best recoding known ends its branch. So do
    columns that by themselves, at levels that the branch does not raise any more, make too many rows to
    suppress. Rows of groups that are too small are suppressed; if they are too few for a class, the cheapest
    group that the limit allows is, too, which with k-anonymity alone is the best choice. Groups are made from
    those of the vector below.

    The bound is over all recodings of this kind: a level vector, and groups of rows that are alike there
    suppressed as a whole. Where models demand something of the suppressed rows, the groups that must be
    suppressed at each vector count alone, so that the bound may lie below the cost.
    """
    forest, codes, table = task.forest, task.codes, task.table
    groups, of = finest_groups(forest, codes, table)
    marginal = marginal_costs(forest, table)
    max_cost_per_row = sum(float(weight) for weight in table.weights)
    columns = np.argsort(-forest.values, kind="stable").astype(np.int64)
    lowest = forest.lowest.astype(np.int16)
    finest = [project(forest, codes, groups, columns[:place], lowest)[0] for place in range(table.width)]
    search = _NodeSearch(
        forest, codes, table, task.demands, task.clock, most_suppressed * table.total_rows + 1e-9, marginal,
        max_cost_per_row, columns, finest,
    )  # fmt: skip
    search.climb(groups, of, lowest)
    search.visit(groups, of, lowest.copy(), 0)
    if not search.levels:
        everything = np.zeros(len(table), dtype=np.bool_)
        top = tuple(forest.height.tolist())
        return FullDomain(top, everything, max_cost_per_row * table.total_rows, search.complete, search.bound)
    return FullDomain(search.levels, search.hidden, search.cost, search.complete, search.bound)
