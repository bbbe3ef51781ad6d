"""Rows distributed anew among the classes of a solution by a minimum-cost flow, under p-sensitivity.

R. Bredereck, A. Nichterlein, R. Niedermeier, G. Philip: "The Effect of Homogeneity on the Computational
Complexity of Combinatorial Data Anonymization" (2014), Lemma 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import sensitive_codes
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.patterns import suppression_costs
from kanon_pg.worker.row_types import RowTypeTable, mix
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.exact.granularity import whole_costs
from kanon_pg.worker.solvers.row_assignment import is_solved

MOST_ARCS = 3_000_000
"""Most arcs of a network: about 0.5 GiB."""

Numbers = NDArray[np.int64]


def reassign_sensitively(
    table: RowTypeTable, solution: Solution, k: int, p: int, clock: Clock
) -> Solution | None:
    """Distribute all rows among the classes of a solution at least cost, p values in each.

    Parameters
    ----------
    table : RowTypeTable
        Without an entity, with one sensitive column.
    solution : Solution
        Names the classes: patterns with the values they keep. All of them stay in use.
    k, p : int
        Fewest rows and fewest different sensitive values of each class.
    clock : Clock
        Reports progress.

    Returns
    -------
    Solution or None
        The cheapest that uses exactly these classes, up to the rounding of `whole_costs`; None if there
        is none, or the network would have more than `MOST_ARCS` arcs.

    Raises
    ------
    SolverError
        The library fails.

    Notes
    -----
    Bredereck, Nichterlein, Niedermeier and Philip (2014), Lemma 3: beside its direct arcs each class gets
    p units through one node per value, each of which lets one row through. The lower bound of p there is a
    demand of its own here. Polynomial, in this library O(v^2 e log(v c)) for v nodes, e arcs and costs up
    to c.
    """
    row_type, output, vectors = compatible_pairs(table, solution, clock)
    if row_type.size * 2 > MOST_ARCS:
        return None
    cost, _ = whole_costs(suppression_costs(vectors, table.weights))
    rows = _flow(table, row_type, output, cost, max(k - p, 0), p)
    return None if rows is None else Solution.of_parts(row_type, vectors[output], rows)


def compatible_pairs(
    table: RowTypeTable, solution: Solution, clock: Clock
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the pairs of a row type and a class that it fits into, and the vector of each class."""
    row_type, output, of_class = [], [], []
    count = 0
    for vector in np.unique(solution.vector):
        clock.heartbeat()
        keys = np.zeros(len(table), dtype=np.uint64)
        for column in range(table.width):
            if (int(vector) >> column) & 1 == 0:
                keys += table.hashes[column]
        numbers, _ = number_values(mix(keys).view(np.int64))
        used = np.unique(numbers[solution.row_type[solution.vector == vector]])
        place = np.searchsorted(used, numbers)
        place[place == used.size] = 0
        fits = np.flatnonzero(used[place] == numbers)
        row_type.append(fits)
        output.append(count + place[fits])
        of_class.append(np.full(used.size, vector))
        count += used.size
    return np.concatenate(row_type), np.concatenate(output), np.concatenate(of_class)


def _flow(
    table: RowTypeTable, row_type: Numbers, output: Numbers, cost: Numbers, direct: int, p: int
) -> Numbers | None:
    """Return the rows on each pair of the cheapest flow, None if there is none."""
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 - needed by few searches

    codes = sensitive_codes(table, 0).astype(np.int64)
    gates, gate = np.unique(output * (int(codes.max()) + 1) + codes[row_type], return_inverse=True)
    types, outputs = len(table), cost.size
    first_gate = types + 2 * outputs
    sink = first_gate + gates.size
    left = table.total_rows - outputs * (direct + p)
    if left < 0:
        return None
    network = min_cost_flow.SimpleMinCostFlow()
    capacity = table.rows[row_type]
    add = network.add_arcs_with_capacity_and_unit_cost
    plain = add(row_type, types + output, capacity, cost[output])
    gated = add(row_type, first_gate + gate, np.ones_like(capacity), cost[output])
    ones, nothing = np.ones_like(gates), np.zeros_like(gates)
    add(first_gate + np.arange(gates.size), types + outputs + gates // (int(codes.max()) + 1), ones, nothing)
    free = np.zeros(outputs, dtype=np.int64)
    add(types + np.arange(outputs), np.full(outputs, sink), np.full(outputs, left), free)
    supply = np.concatenate(
        [table.rows, np.full(outputs, -direct), np.full(outputs, -p), np.zeros(gates.size), [-left]]
    ).astype(np.int64)
    network.set_nodes_supplies(np.arange(sink + 1), supply)
    if not is_solved(network):
        return None
    return np.asarray(network.flows(plain) + network.flows(gated), dtype=np.int64)
