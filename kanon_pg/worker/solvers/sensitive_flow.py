"""Rows distributed anew among the classes of a solution by a minimum-cost flow, under one demand on values.

That is p-sensitivity, by R. Bredereck, A. Nichterlein, R. Niedermeier, G. Philip: "The Effect of Homogeneity
on the Computational Complexity of Combinatorial Data Anonymization" (2014), Lemma 3, or frequency
l-diversity, which its network serves, too: with at most m rows of each sensitive value and at least l m rows,
a class satisfies it whatever else joins it, so that limits of values and of classes are capacities and
demands.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import SolverError
from kanon_pg.worker.child_processes import WorkFailed, run_in_child
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

_MANY_ARCS = 50_000
"""Arcs from which a network is solved in a process of its own, which is ended when time is over: the library
looks at no clock. With fewer it takes less than 0.1 s."""

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

    Returns
    -------
    Solution or None
        The cheapest that uses exactly these classes, up to the rounding of `whole_costs`; None if there
        is none, time is over, or the network would have more than `MOST_ARCS` arcs.

    Raises
    ------
    SolverError
        The library fails.

    Notes
    -----
    Bredereck, Nichterlein, Niedermeier and Philip (2014), Lemma 3: besides its direct arcs each class gets
    p units through one node per value, each of which lets one row through. The lower bound of p there is a
    demand of its own here. Polynomial, in this library O(v^2 e log(v c)) for v nodes, e arcs and costs up
    to c.
    """
    pairs = _compatible_pairs(table, solution, clock)
    if pairs is None or pairs[0].size * 2 > MOST_ARCS:
        return None
    row_type, output, vectors = pairs
    cost, _ = whole_costs(suppression_costs(vectors, table.weights))
    once = np.ones_like(cost)
    rows = _cheapest_flow(table, row_type, output, cost, once, p * once, clock, max(k - p, 0) * once)
    return None if rows is None else Solution.of_parts(row_type, vectors[output], rows)


def reassign_diversely(
    table: RowTypeTable, solution: Solution, k: int, share: int, clock: Clock
) -> Solution | None:
    """Distribute all rows among the classes of a solution at least cost, no value in more than 1/l of one.

    Parameters
    ----------
    table, solution, k, clock
        As in `reassign_sensitively`.
    share : int
        l.

    Returns
    -------
    Solution or None
        The cheapest that uses exactly these classes and in each has no more rows of one value than now; None
        if there is none, a class has too few rows now, time is over, or the network would have more than
        `MOST_ARCS` arcs.
    """
    pairs = _compatible_pairs(table, solution, clock)
    if pairs is None or pairs[0].size > MOST_ARCS:
        return None
    row_type, output, vectors = pairs
    limit = _limits(table, solution, row_type, output, vectors, k, share)
    if not limit.all():
        return None
    cost, _ = whole_costs(suppression_costs(vectors, table.weights))
    rows = _cheapest_flow(table, row_type, output, cost, limit, np.maximum(k, limit * share), clock)
    return None if rows is None else Solution.of_parts(row_type, vectors[output], rows)


def _compatible_pairs(
    table: RowTypeTable, solution: Solution, clock: Clock
) -> tuple[Numbers, Numbers, Numbers] | None:
    """Return the pairs of a row type and a class that it fits into, and the vector of each class.

    Returns None if time is over.
    """
    row_type, output, of_class = [], [], []
    count = 0
    for vector in np.unique(solution.vector):
        clock.heartbeat()
        if clock.is_over():
            return None
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


def _limits(
    table: RowTypeTable,
    solution: Solution,
    row_type: Numbers,
    output: Numbers,
    vectors: Numbers,
    k: int,
    share: int,
) -> Numbers:
    """Return for each class how many rows of one value the largest part of it has that is allowed, 0 if none.

    With so many rows of each value at most, it has enough rows.
    """
    codes = sensitive_codes(table, 0).astype(np.int64)
    pairs = np.unique(vectors[output] * len(table) + row_type, return_index=True)
    place = pairs[1][np.searchsorted(pairs[0], solution.vector * len(table) + solution.row_type)]
    held = np.zeros((vectors.size, int(codes.max()) + 1), dtype=np.int64)
    np.add.at(held, (output[place], codes[solution.row_type]), solution.rows)
    limit = np.zeros(vectors.size, dtype=np.int64)
    for number, of_class in enumerate(held):
        most = int(of_class.sum()) // share
        while most and np.minimum(of_class, most).sum() < share * most:
            most -= 1
        limit[number] = most if np.minimum(of_class, most).sum() >= k else 0
    return limit


def _cheapest_flow(
    table: RowTypeTable,
    row_type: Numbers,
    output: Numbers,
    cost: Numbers,
    limit: Numbers,
    gated: Numbers,
    clock: Clock,
    direct: Numbers | None = None,
) -> Numbers | None:
    """Return the rows on each pair of the cheapest flow into classes through one gate for each of its values.

    Parameters
    ----------
    limit : ndarray of int64, shape (q,)
        Rows that each gate of a class lets through.
    direct : ndarray of int64, shape (q,), optional
        Fewest rows that come past the gates. All come through one if it is missing.

    Returns
    -------
    ndarray of int64, shape (e,), or None
        None if there is none, or time is over.
    """
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 - needed by few searches

    codes = sensitive_codes(table, 0).astype(np.int64)
    width = int(codes.max()) + 1
    gates, gate = np.unique(output * width + codes[row_type], return_inverse=True)
    demands = gated if direct is None else np.concatenate([direct, gated])
    types, outputs = len(table), cost.size
    first_gate = types + demands.size
    sink = first_gate + gates.size
    free_rows = table.total_rows - int(demands.sum())
    if free_rows < 0:
        return None
    network = min_cost_flow.SimpleMinCostFlow()
    add = network.add_arcs_with_capacity_and_unit_cost
    capacity, free = table.rows[row_type], np.zeros(max(outputs, gates.size), dtype=np.int64)
    past = None if direct is None else add(row_type, types + output, capacity, cost[output])
    # Gates limit these arcs anyway; of equal flows the library finds the one that earlier versions found.
    most = capacity if direct is None else np.minimum(capacity, limit[output])
    through = add(row_type, first_gate + gate, most, cost[output])
    behind = first_gate - outputs + gates // width
    add(first_gate + np.arange(gates.size), behind, limit[gates // width], free[: gates.size])
    add(types + np.arange(outputs), np.full(outputs, sink), np.full(outputs, free_rows), free[:outputs])
    supply = np.concatenate([table.rows, -demands, free[: gates.size], [-free_rows]])
    network.set_nodes_supplies(np.arange(sink + 1), supply)

    def flow() -> bytes:
        """Return the rows on each pair, nothing if there is no flow."""
        if not is_solved(network):
            return b""
        rows = network.flows(through) if past is None else network.flows(past) + network.flows(through)
        return np.asarray(rows, dtype=np.int64).tobytes()

    found = _found_in_time(flow, row_type.size, clock)
    return np.frombuffer(found, dtype=np.int64).copy() if found else None


def _found_in_time(flow: Callable[[], bytes], arcs: int, clock: Clock) -> bytes | None:
    """Return what a library finds that looks at no clock, None if time is over."""
    left = clock.left()
    if left is None or arcs < _MANY_ARCS:
        return flow()
    try:
        found = run_in_child(flow, left)
    except WorkFailed as error:
        raise SolverError("The library for flows failed.", detail=str(error)) from error
    except OSError as error:
        raise SolverError("No further process can begin.", detail=type(error).__name__) from error
    if found is None:
        clock.cut()
    return found
