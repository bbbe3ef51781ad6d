"""A table with hierarchies as the methods see it, and how their classes become a solution."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.generalization import LevelFields, PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import require_feasible
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.recoding.demands import Demands, demands_of, find_forbidden
from kanon_pg.worker.solvers.recoding.forest import (
    Forest,
    codes_of,
    forest_of,
    levels_of_classes,
    levels_of_vectors,
    published_classes,
    row_costs,
    vectors_of_levels,
)


@dataclass(frozen=True)
class RecodingTask:
    """What a method works on."""

    table: RowTypeTable
    """Row types, or parts of them."""
    order: NDArray[np.intp]
    """Shape (n,). Which row type each of them is, or is a part of."""
    hierarchies: tuple[PackedHierarchy | None, ...]
    """Per column, as they were given."""
    forest: Forest
    codes: NDArray[np.int32]
    """Shape (n, m)."""
    fields: LevelFields
    demands: Demands
    request: SolveRequest
    clock: Clock

    def row_costs_of(self, class_of: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cost of a row of each row type in classes that publish what their members share."""
        level = levels_of_classes(self.forest, self.codes, class_of)
        return row_costs(self.forest, self.codes, level, class_of)

    def row_costs_at(self, vector: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cost of a row of each row type with some vectors."""
        level = levels_of_vectors(self.fields, vector)
        return row_costs(self.forest, self.codes, level, np.arange(vector.size))

    def cost_of(self, class_of: NDArray[np.int64]) -> float:
        """Return the weighted cost of all rows in classes that publish what their members share."""
        return float((self.row_costs_of(class_of) * self.table.rows).sum())

    def divided(self, solution: Solution) -> RecodingTask:
        """Return the task whose row types are the parts of a solution for `table`."""
        if not solution.is_divided:
            return self
        table = solution.parts_of(self.table)
        demands = demands_of(table, self.request.k, self.request.models)
        return replace(
            self,
            table=table,
            order=self.order[solution.row_type],
            codes=np.ascontiguousarray(self.codes[solution.row_type]),
            demands=demands,
        )

    def solution_of(self, class_of: NDArray[np.int64]) -> Solution:
        """Return the solution in which each class publishes the lowest nodes that its members share.

        Parameters
        ----------
        class_of : ndarray of int64, shape (n,)
            Numbered from 0.

        Raises
        ------
        InfeasibleError
            Neither these classes nor one class of everything satisfies the demands.
        """
        level = levels_of_classes(self.forest, self.codes, class_of)
        return self.published(vectors_of_levels(self.fields, level)[class_of])

    def published(self, vector: NDArray[np.int64]) -> Solution:
        """Return the solution with these vectors, in undivided row types.

        Classes that publish the same are one. Where people or models do not add up such a union may violate
        what its parts satisfy; then everything is suppressed.
        """
        classes = published_classes(self.forest, self.codes, self.fields, vector)
        if find_forbidden(self.demands, classes).any():
            vector = np.full_like(vector, self.fields.top)
            if find_forbidden(self.demands, np.zeros_like(classes)).any():
                raise InfeasibleError(
                    "No release of this table was found that satisfies what is demanded.",
                    hint="Demand less of the sensitive columns, or choose a smaller k.",
                )
        return Solution.of_parts(self.order, vector, self.table.rows)


def task_of(packed: PackedRowTypes, table: RowTypeTable, request: SolveRequest, clock: Clock) -> RecodingTask:
    """Return the task of a request.

    Parameters
    ----------
    packed : PackedRowTypes
        With hierarchies.
    table : RowTypeTable
        The same row types.

    Raises
    ------
    InputError
        A hierarchy cannot be used, see `forest_of`, or a model, see `require_feasible`.
    InfeasibleError
        No release can satisfy the models.
    """
    require_feasible(table, request.models)
    forest = forest_of(packed, table)
    clock.heartbeat()
    demands = demands_of(table, request.k, request.models)
    return RecodingTask(
        table, np.arange(len(table)), packed.hierarchies, forest, codes_of(table), packed.level_fields,
        demands, request, clock,
    )  # fmt: skip


def classes_of_solution(packed: PackedRowTypes, parts: RowTypeTable, solution: Solution) -> NDArray[np.int64]:
    """Number the classes of a solution, shape (q,).

    Parameters
    ----------
    parts : RowTypeTable
        One row type per part of the solution.
    """
    forest = forest_of(packed, parts)
    return published_classes(forest, codes_of(parts), packed.level_fields, solution.vector)
