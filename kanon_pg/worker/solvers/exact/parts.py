"""From networks to integer programs and back to parts of row types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.exact.components import slices
from kanon_pg.worker.solvers.exact.granularity import granularity, rounded_up
from kanon_pg.worker.solvers.exact.integer_program import Effort, solve_sub_problem
from kanon_pg.worker.solvers.exact.network import Network
from kanon_pg.worker.solvers.exact.sub_problem import Demand, SubProblem
from kanon_pg.worker.verification.certificate import PRICE_UNIT

Numbers = NDArray[np.int64]

DemandOf = Callable[[Numbers, Numbers, NDArray[np.bool_]], Demand]
"""Returns further columns and rows for some instances: from where the members of each begin, the row type of
each member, and which instances have to satisfy them."""

MOST_PAIRS = 1_500_000
"""Most pairs of an integer program: about 2 GiB, and far more than can be solved in minutes."""


@dataclass(frozen=True)
class Rules:
    """What all integer programs of one search have in common.

    Parameters
    ----------
    table : RowTypeTable
    k : int
    prices : ndarray of int64, shape (n,), optional
        Prices that prove a lower bound, in units of 1 / `PRICE_UNIT`.
    demand_of : callable, optional
        What classes must satisfy beside k people.
    """

    table: RowTypeTable
    k: int
    prices: Numbers | None = None
    demand_of: DemandOf | None = None

    @property
    def is_divisible(self) -> bool:
        """Whether rows of a row type may join several instances."""
        return not self.table.has_entity


@dataclass(frozen=True)
class Need:
    """What one integer program asks for beyond k people in every open instance but the sink.

    Parameters
    ----------
    sink : int
        People the sink needs if it is used; 0 makes it free.
    fewest_open, most_open : int, optional
        Limits for the number of open instances.
    """

    sink: int = 0
    fewest_open: int | None = None
    most_open: int | None = None


@dataclass(frozen=True)
class Piece:
    """What is known about a network.

    Parameters
    ----------
    parts : Solution or None
        Parts of its row types only, None if no solution is known.
    bound : float
        Lower bound on the cost of every solution; infinite if there is none.
    is_cut : bool
        Whether the time limit ended the search.
    """

    parts: Solution | None
    bound: float
    is_cut: bool = False


def solve_network(
    network: Network, rules: Rules, need: Need, effort: Effort, start: Solution | None
) -> Piece:
    """Solve a network by an integer program, or only bound it if there is no time or it is too large.

    Parameters
    ----------
    start : Solution, optional
        A valid solution of the whole table; used if it is one of this network.
    """
    rows_of_type = rules.table.rows
    if network.cost.size == 1 and need == Need():
        return Piece(
            _parts(network, network.rows, rows_of_type), float(network.cost[-1]) * int(network.rows.sum())
        )
    hint = None if start is None else _pairs_of(network, start, len(rules.table))
    floor = _floor(network, rules, need)
    if network.member.size > MOST_PAIRS or effort.seconds == 0:
        known = None if hint is None else _parts(network, hint, rows_of_type)
        return Piece(known, floor, is_cut=effort.seconds == 0)
    answer = solve_sub_problem(_problem(network, rules, need), effort, hint)
    parts = None if answer.rows is None else _parts(network, answer.rows, rows_of_type)
    return Piece(parts, max(floor, answer.bound), answer.is_cut)


def _floor(network: Network, rules: Rules, need: Need) -> float:
    """Return a lower bound that needs no search: cheapest instances, or prices.

    Rows dearer than the sink are paid for by others that join them there. These may belong to other
    components, so where the sink is free no row may count for more than the sink costs.
    """
    start, instance = network.of_nodes()
    floor = float((network.cost[instance[start[:-1]]] * network.rows).sum())
    if rules.prices is not None:
        price = rules.prices[network.row_type] / PRICE_UNIT
        if need.sink == 0:
            price = np.minimum(price, network.cost[-1])
        floor = max(floor, float((price * rules.table.rows[network.row_type]).sum()))
    return rounded_up(floor, granularity(network.cost))


def _problem(network: Network, rules: Rules, need: Need) -> SubProblem:
    fewest = np.full(network.cost.size, rules.k, dtype=np.int64)
    fewest[-1] = need.sink
    demand = None
    if rules.demand_of is not None:
        demand = rules.demand_of(network.begin, network.row_type[network.member], fewest > 0)
    table, types = rules.table, network.row_type
    if rules.is_divisible:
        return SubProblem(
            network.rows, network.cost, network.begin, network.member, fewest,
            fewest_open=need.fewest_open, most_open=need.most_open, demand=demand,
        )  # fmt: skip
    times = np.diff(table.shared_start)[types]
    return SubProblem(
        network.rows, network.cost, network.begin, network.member, fewest,
        is_divisible=False,
        own=table.own[types],
        shared_begin=np.concatenate([[0], np.cumsum(times)]),
        shared=table.shared_people[slices(table.shared_start, types)],
        fewest_open=need.fewest_open, most_open=need.most_open, demand=demand,
    )  # fmt: skip


def _pairs_of(network: Network, solution: Solution, row_types: int) -> Numbers | None:
    """Return the rows that a solution has on each pair, None if it uses others."""
    node_of = np.full(row_types, -1, dtype=np.int64)
    node_of[network.row_type] = np.repeat(np.arange(len(network)), np.diff(network.first))
    mine = node_of[solution.row_type] >= 0
    vectors, place = np.unique(network.vector, return_inverse=True)
    wanted = np.searchsorted(vectors, solution.vector[mine])
    wanted[wanted == vectors.size] = 0
    if not np.array_equal(vectors[wanted], solution.vector[mine]):
        return None
    keys = network.member * vectors.size + place[network.instance]
    order = np.argsort(keys)
    asked = node_of[solution.row_type[mine]] * vectors.size + wanted
    found = np.searchsorted(keys, asked, sorter=order)
    found[found == keys.size] = 0
    if not np.array_equal(keys[order[found]], asked):
        return None
    rows = np.zeros(keys.size, dtype=np.int64)
    np.add.at(rows, order[found], solution.rows[mine])
    return rows


def _parts(network: Network, rows: Numbers, rows_of_type: Numbers) -> Solution:
    """Hand the rows of each node on each pair out to its row types, one after the other."""
    used = np.flatnonzero(rows)
    used = used[np.argsort(network.member[used], kind="stable")]
    type_end = np.cumsum(rows_of_type[network.row_type])
    part_end = np.cumsum(rows[used])
    end = np.union1d(type_end, part_end)
    row_type = network.row_type[np.searchsorted(type_end, end)]
    vector = network.vector[network.instance[used[np.searchsorted(part_end, end)]]]
    return Solution.of_parts(row_type, vector, np.diff(end, prepend=0))
