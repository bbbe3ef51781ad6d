"""Row Assignment for given output row types as a minimum-cost flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import SolverError


@dataclass(frozen=True)
class Assignment:
    """Rows of row types in output row types.

    Parameters
    ----------
    row_type, output : ndarray of int64, shape (e,)
        Pairs that hold rows.
    rows : ndarray of int64, shape (e,)
        Rows of each pair, >= 1.
    cost : int
        Whole cost of all rows.
    """

    row_type: NDArray[np.int64]
    output: NDArray[np.int64]
    rows: NDArray[np.int64]
    cost: int


def assign_rows(
    rows: NDArray[np.int64],
    pairs: Sequence[tuple[int, int, int]] | NDArray[np.int64],
    fewest: NDArray[np.int64],
) -> Assignment | None:
    """Distribute the rows of row types at least cost.

    Parameters
    ----------
    rows : ndarray of int64, shape (n,)
        Rows of each row type.
    pairs : sequence of (int, int, int), or ndarray of int64, shape (e, 3)
        Row type, output row type and whole cost of one row for all that are compatible.
    fewest : ndarray of int64, shape (q,)
        Rows that each output row type must get at least.

    Returns
    -------
    Assignment or None
        The cheapest, whole by the integrality of flows; None if there is none.

    Raises
    ------
    SolverError
        Costs or rows are too large for the library.

    Notes
    -----
    The network of Bredereck, Nichterlein, Niedermeier and Philip (2014), Lemma 1: row types supply their
    rows, output row types demand what they need at least, and a sink takes what is left. Polynomial:
    the paper names O(v log v (e + v log v)) for v row types and output row types and e pairs (Orlin 1988);
    the library's cost-scaling takes O(v^2 e log(v c)) for costs of at most c.
    """
    left = int(rows.sum() - fewest.sum())
    if left < 0:
        return None
    from ortools.graph.python import min_cost_flow  # noqa: PLC0415 - needed by few searches

    network = min_cost_flow.SimpleMinCostFlow()
    types, outputs = rows.size, fewest.size
    row_type, output, cost = np.asarray(pairs, dtype=np.int64).T
    arcs = network.add_arcs_with_capacity_and_unit_cost(row_type, types + output, rows[row_type], cost)
    network.add_arcs_with_capacity_and_unit_cost(
        np.arange(types, types + outputs),
        np.full(outputs, types + outputs),
        np.full(outputs, left),
        np.zeros(outputs, dtype=np.int64),
    )
    network.set_nodes_supplies(np.arange(types + outputs + 1), np.concatenate([rows, -fewest, [-left]]))
    status = network.solve()
    if status == network.INFEASIBLE:
        return None
    if status != network.OPTIMAL:
        raise SolverError("The library for flows failed.", detail=f"status {status.name}")
    flow = np.asarray(network.flows(arcs), dtype=np.int64)
    used = flow > 0
    return Assignment(row_type[used], output[used], flow[used], int(network.optimal_cost()))
