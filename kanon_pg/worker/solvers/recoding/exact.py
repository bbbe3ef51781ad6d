"""The optimum of small tables with hierarchies.

R. Bredereck, A. Nichterlein, R. Niedermeier, G. Philip: "The Effect of Homogeneity on the Computational
Complexity of Combinatorial Data Anonymization" (2014), Theorem 5 and Corollary 2: the algorithms for few row
types carry over when an output row type has the most specific common generalization of its members. Under
privacy models or with an entity, dynamic programming over the sets of row types finds the cheapest partition
into allowed classes.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.recoding.demands import Demands, demands_of, is_allowed
from kanon_pg.worker.solvers.recoding.forest import (
    Forest,
    cheapest_levels_first,
    join_levels,
    levels_of_classes,
    number_of_vectors,
    row_cost,
    vectors_of_levels,
)
from kanon_pg.worker.solvers.recoding.task import RecodingTask
from kanon_pg.worker.solvers.row_assignment import (
    BY_FLOWS,
    METHOD,
    MOST_ROW_TYPES,
    MOST_WORK,
    AssignmentTask,
    OutputType,
    search_sets,
)

MOST_ITEMS = 14
"""Row types of tables for which all partitions are tried: some hundredths of a second."""


@kernel
def _class_costs(
    forest: Forest, codes: NDArray[np.int32], rows: NDArray[np.int64], demands: Demands
) -> NDArray[np.float64]:
    """Return the cost of every set of row types as a class, infinite if it may not be one."""
    count, width = codes.shape
    costs = np.full(1 << count, np.inf)
    items = np.empty(count, dtype=np.int32)
    level = np.empty(width, dtype=np.int16)
    for chosen in range(1, 1 << count):
        length = 0
        total = np.int64(0)
        for item in range(count):
            if (chosen >> item) & 1:
                items[length] = item
                length += 1
                total += rows[item]
        if not is_allowed(demands, items[:length]):
            continue
        for column in range(width):
            level[column] = forest.lowest[column]
        for place in range(length):
            join_levels(forest, codes, level, items[0], items[place], level)
        costs[chosen] = total * row_cost(forest, codes, level, items[0])
    return costs


@kernel
def _best_classes(costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the least cost of a partition of every set, and the class of its first member there."""
    best = np.full(costs.size, np.inf)
    best[0] = 0.0
    chosen = np.zeros(costs.size, dtype=np.int64)
    for whole in range(1, costs.size):
        first = whole & -whole
        others = whole ^ first
        part = others
        while True:
            cost = costs[part | first] + best[others ^ part]
            if cost < best[whole]:
                best[whole] = cost
                chosen[whole] = part | first
            if part == 0:
                break
            part = (part - 1) & others
    return best, chosen


def cheapest_partition(
    forest: Forest, codes: NDArray[np.int32], rows: NDArray[np.int64], demands: Demands
) -> tuple[NDArray[np.int64], float]:
    """Return the classes, from 0, of a cheapest partition of at most `MOST_ITEMS` row types, and its cost.

    The cost is infinite if there is no partition into allowed classes.

    Notes
    -----
    O(3^n + 2^n n m h) for hierarchies of height h.
    """
    best, chosen = _best_classes(_class_costs(forest, codes, rows, demands))
    class_of = np.zeros(rows.size, dtype=np.int64)
    left, number = (1 << rows.size) - 1, 0
    while left and np.isfinite(best[-1]):
        members = int(chosen[left])
        class_of[[item for item in range(rows.size) if members >> item & 1]] = number
        left ^= members
        number += 1
    return class_of, float(best[-1])


PARTITIONS = "all partitions of few row types"
"""What found and proved an optimum under privacy models or with an entity."""

_LARGEST_DENOMINATOR = 100_000
_MOST_UNITS = 10**12
_ROUNDED = 1e-9


def search_small(task: RecodingTask) -> SearchResult | None:
    """Find a cheapest solution of a table with few row types, and prove that it is one.

    Returns
    -------
    SearchResult or None
        None if the table is too large, or time is over.

    Notes
    -----
    With k-anonymity alone and no entity rows of a type may be divided: all sets of output row types, a
    flow for each (see `kanon_pg.worker.solvers.row_assignment`). Otherwise all partitions of at most
    `MOST_ITEMS` row types (with an entity) or rows, in O(3^n).
    """
    if task.table.has_entity or task.request.models:
        return _by_partitions(task)
    if len(task.table) > MOST_ROW_TYPES or number_of_vectors(task.forest) * len(task.table) > MOST_WORK:
        return None
    unit = _unit(task.forest.loss)
    outputs = _output_types(task, unit)
    node = search_sets(AssignmentTask(task.table.rows, outputs, 1, len(task.table)), task.clock)
    if node is None:
        return None
    vector = np.array([output.vector for output in outputs], dtype=np.int64)
    chosen = node.assignment
    solution = Solution.of_parts(task.order[chosen.row_type], vector[chosen.output], chosen.rows)
    return SearchResult(solution, METHOD, chosen.cost * unit, BY_FLOWS)


def _unit(losses: NDArray[np.float64]) -> float:
    """Return a number of which all losses are multiples, or a very small one if none is known."""
    divisor = Fraction(0)
    for loss in np.unique(losses).tolist():
        number = Fraction(loss).limit_denominator(_LARGEST_DENOMINATOR)
        if not math.isclose(float(number), loss, rel_tol=1e-12):
            return _ROUNDED
        divisor = Fraction(
            math.gcd(divisor.numerator * number.denominator, number.numerator * divisor.denominator),
            divisor.denominator * number.denominator,
        )
    return float(divisor) if divisor and 1 / divisor <= _MOST_UNITS else _ROUNDED


def _output_types(task: RecodingTask, unit: float) -> list[OutputType]:
    """List the output row types, cheapest first; of those with the same members the cheapest alone."""
    forest, k = task.forest, task.request.k
    levels = cheapest_levels_first(forest, task.table)
    vectors = vectors_of_levels(task.fields, levels).tolist()
    rows = task.table.rows
    found: dict[tuple[int, ...], tuple[float, int]] = {}
    for level, vector in zip(levels, vectors, strict=True):
        place = forest.begin + level * forest.values + task.codes
        shown, group = np.unique(forest.nodes[place], axis=0, return_inverse=True)
        costs = forest.loss[place].sum(axis=1)
        for number in np.flatnonzero(np.bincount(group, weights=rows, minlength=len(shown)) >= k):
            members = np.flatnonzero(group == number)
            key = tuple(members.tolist())
            cost = float(costs[members[0]])
            if key not in found or cost < found[key][0]:
                found[key] = cost, vector
        task.clock.heartbeat()
    whole = [
        # Rounded down unless the cost is a multiple of the unit: the bound may not be too high.
        (math.floor(cost / unit + 1e-6), vector, members)
        for members, (cost, vector) in found.items()
    ]
    return [OutputType(cost, vector, members, k) for cost, vector, members in sorted(whole)]


def _by_partitions(task: RecodingTask) -> SearchResult | None:
    table, row_type = task.table, np.arange(len(task.table))
    if not table.has_entity:
        if table.total_rows > MOST_ITEMS:
            return None
        row_type = np.repeat(row_type, table.rows)
        table = table.divide(row_type, np.ones(row_type.size, dtype=np.int64))
    if len(table) > MOST_ITEMS:
        return None
    demands = demands_of(table, task.request.k, task.request.models)
    codes = np.ascontiguousarray(task.codes[row_type])
    class_of, cost = cheapest_partition(task.forest, codes, table.rows, demands)
    if not np.isfinite(cost):
        return None
    if table.has_entity:
        return SearchResult(task.solution_of(class_of), PARTITIONS, cost, PARTITIONS)
    level = levels_of_classes(task.forest, codes, class_of)
    vector = vectors_of_levels(task.fields, level)[class_of]
    solution = Solution.of_parts(task.order[row_type], vector, table.rows)
    return SearchResult(solution, PARTITIONS, cost, PARTITIONS)
