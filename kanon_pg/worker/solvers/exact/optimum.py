"""The least suppression, proven: integer programs for the independent parts of a table.

The fully suppressed class (the *sink*) joins all parts. First it is left free, so that every component of the
rest is a problem of its own; what they prove together is a lower bound. Usually the sink then is empty or has
k people and everything is proven. If not, or if limits for the number of classes are not met by chance, one
integer program over all components decides.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.solving import SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.errors import InfeasibleError, KanonError, LimitExceeded, SolverError
from kanon_pg.worker.child_processes import WorkFailed, run_in_children
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.compatibility import compatibility_of
from kanon_pg.worker.solvers.exact.granularity import granularity, rounded_up
from kanon_pg.worker.solvers.exact.integer_program import Effort
from kanon_pg.worker.solvers.exact.network import (
    Network,
    components,
    drop_dominated,
    merge_alike,
    network_of,
    prune,
    slices,
)
from kanon_pg.worker.solvers.exact.sub_problem import Demand, SubProblem, solve_sub_problem
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.verification.certificate import PRICE_UNIT

Numbers = NDArray[np.int64]

DemandOf = Callable[[Numbers, Numbers, NDArray[np.bool_]], Demand]
"""Returns further columns and rows for some instances: from where the members of each begin, the row type of
each member, and which instances have to satisfy them."""

_HEAD = "<d??6x"
"""What stands before the numbers of a packed `Piece`."""

MOST_PAIRS = 1_500_000
"""Most pairs of an integer program: about 2 GiB, and far more than can be solved in minutes."""


@dataclass(frozen=True)
class Rules:
    """What all integer programs of one search have in common."""

    table: RowTypeTable
    k: int
    prices: Numbers | None = None
    """Shape (n,). Prices that prove a lower bound, in units of 1 / `PRICE_UNIT`."""
    demand_of: DemandOf | None = None
    """What classes must satisfy besides k people."""

    @property
    def is_divisible(self) -> bool:
        """Whether rows of a row type may join several instances."""
        return not self.table.has_entity


@dataclass(frozen=True)
class Need:
    """What one integer program asks for beyond k people in every open instance but the sink."""

    sink: int = 0
    """People the sink needs if it is used; 0 makes it free."""
    fewest_open: int | None = None
    most_open: int | None = None
    """`fewest_open`, `most_open`: limits for the number of open instances."""


@dataclass(frozen=True)
class Piece:
    """What is known about a network."""

    parts: Solution | None
    """Parts of its row types only, None if no solution is known."""
    bound: float
    """Lower bound on the cost of every solution; infinite if there is none."""
    is_cut: bool = False
    """Whether the time limit ended the search."""

    def packed(self) -> bytes:
        """Return what another process reads with `unpacked`."""
        head = struct.pack(_HEAD, self.bound, self.is_cut, self.parts is not None)
        if self.parts is None:
            return head
        return head + self.parts.to_bytes()

    @classmethod
    def unpacked(cls, data: bytes) -> Piece:
        """Return what `packed` made bytes of."""
        bound, is_cut, is_known = struct.unpack_from(_HEAD, data)
        parts = Solution.from_bytes(memoryview(data)[struct.calcsize(_HEAD) :]) if is_known else None
        return cls(parts, bound, is_cut)


Optima = dict[bytes, Piece]
"""Proven optima of components, by `digest_of` the network, for one table, k and request."""


def digest_of(network: Network) -> bytes:
    """Return what is different for networks that differ in anything."""
    arrays = [getattr(network, one.name) for one in fields(network)]
    sizes = np.array([one.size for one in arrays])
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in (sizes, *arrays))).digest()


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

    Rows costlier than the sink are paid for by others that join them there. These may belong to other
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


METHOD = "integer program"
BY_PROGRAMS = "integer programs of all components"
ALL_PATTERNS_NOT_SEARCHED = (
    "Only some patterns were searched: what the integer program proves holds for them and is not reported."
)


@dataclass(frozen=True)
class ProgramDemands:
    """What classes must satisfy besides k people."""

    rows_of: DemandOf
    """Returns the columns and rows that make an integer program's classes satisfy it."""
    are_met: Callable[[Solution], bool]
    """Returns whether a solution satisfies it."""


@dataclass(frozen=True)
class Search:
    """One exact search."""

    rules: Rules
    request: SolveRequest
    clock: Clock
    nodes: int | None
    """Most nodes of each integer program's search tree."""
    demands: ProgramDemands | None
    """What classes must satisfy besides k people."""
    gap: float = 0.0
    """Relative gap at which a solution is good enough."""
    optima: Optima = field(default_factory=dict)
    """What earlier searches proved; what this one proves is added."""

    @property
    def may_move_classes(self) -> bool:
        """Whether a class may always join one that has room for all its row types and costs no more.

        Not if there must not be fewer classes, nor where privacy models count people of several row types.
        """
        counts_people = self.demands is not None and self.rules.table.has_entity
        return self.request.fewest_classes is None and not counts_people

    def effort(self, share: float) -> Effort:
        """Return the limits of one call that may use a share of the time that is left."""
        left = self.clock.left()
        return Effort(None if left is None else left * share, self.nodes, self.gap)

    def is_valid(self, solution: Solution) -> bool:
        """Return whether a solution has large classes, as many as requested."""
        table, request = self.rules.table, self.request
        parts = solution.parts_of(table)
        classes = classes_of(parts, solution.vector)
        people = classes.people
        if request.rest_may_be_small:
            people = people[classes.vectors != (1 << table.width) - 1]
        return (
            bool((people >= request.k).all())
            and (request.fewest_classes is None or len(classes) >= request.fewest_classes)
            and (request.most_classes is None or len(classes) <= request.most_classes)
            and (self.demands is None or self.demands.are_met(solution))
        )

    def cost(self, solution: Solution) -> float:
        """Return the weighted cost of a solution."""
        return solution.cost(self.rules.table.weights)


def search_exactly(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    clock: Clock,
    start: SearchResult | None = None,
    prices: Numbers | None = None,
    *,
    demands: ProgramDemands | None = None,
    nodes: int | None = None,
    gap: float = 0.0,
    optima: Optima | None = None,
) -> SearchResult:
    """Find a solution of least cost and prove that it is, or come as close as time allows.

    Parameters
    ----------
    start : SearchResult, optional
        A known solution; without it the greedy heuristic finds one.
    prices : ndarray of int64, shape (n,), optional
        Prices that prove a lower bound (see `kanon_pg.worker.verification.certificate`); they strike out
        pairs of a row type and an instance that no better solution uses.
    nodes : int, optional
        Most nodes of each search tree: a limit that does not depend on the machine.
    gap : float
        Relative gap at which a solution is good enough; 1 takes the first one.
    optima : dict, optional
        What earlier calls with equal table, mask, request and demands proved; what this one proves is added.

    Raises
    ------
    InfeasibleError
        No solution has as many or as few classes as requested.
    LimitExceeded
        No such solution was found in time.
    MemoryExceeded
        There are too many pairs of a row type and an instance.

    Notes
    -----
    Bredereck, Nichterlein and Niedermeier (2013), integer program (5)-(8). Exponential time in the worst
    case. Without a time limit equal requests give equal answers.
    """
    start = start or search_greedily(table, mask, request, clock)
    rules = Rules(table, request.k, prices, None if demands is None else demands.rows_of)
    search = Search(rules, request, clock, nodes, demands, gap, {} if optima is None else optima)
    is_usable = search.is_valid(start.solution)
    cost = search.cost(start.solution) if is_usable else np.inf
    if is_usable and start.lower_bound is not None and start.lower_bound >= cost:
        return start
    network = _network(search, mask, cost)
    if is_usable and demands is not None and clock.is_over():
        return replace(start, termination=Termination.TIME)
    found = _solve(search, network, start.solution if is_usable else None)
    if found.parts is None and not is_usable:
        raise _nothing_found(found.bound)
    return _answer(search, mask, start, cost, found)


def _network(search: Search, mask: PatternMask, cost: float) -> Network:
    """Return the network that solutions cheaper than `cost` may use."""
    rules, may_move = search.rules, search.may_move_classes
    graph = compatibility_of(rules.table, mask.vectors, rules.k, search.clock, keep_equal=not may_move)
    is_strict = not search.request.rest_may_be_small
    network = network_of(rules.table, graph, has_strict_sink=is_strict and may_move)
    if rules.prices is not None and np.isfinite(cost):
        network = prune(network, rules.table, rules.prices, rules.k, cost)
    if rules.is_divisible and search.demands is None:
        network = merge_alike(network)
    search.clock.report("exact", 0.0)
    return drop_dominated(network) if may_move else network


def _solve(search: Search, network: Network, start: Solution | None) -> Piece:
    """Solve the components with a free sink; if the sink or the limits are not right, all of it at once."""
    pieces = _pieces(search, network, start)
    bound = sum(piece.bound for piece in pieces)
    is_cut = any(piece.is_cut for piece in pieces)
    parts = [piece.parts for piece in pieces if piece.parts is not None]
    if len(parts) < len(pieces):
        return Piece(None, bound, is_cut)
    relaxed = _joined(parts)
    if search.is_valid(relaxed):
        return Piece(relaxed, bound, is_cut)
    request = search.request
    sink = 1 if request.rest_may_be_small else request.k
    need = Need(sink, request.fewest_classes, request.most_classes)
    joint = solve_network(network, search.rules, need, search.effort(1.0), start)
    is_valid = joint.parts is not None and search.is_valid(joint.parts)
    return Piece(joint.parts if is_valid else None, max(bound, joint.bound), is_cut or joint.is_cut)


_LEAST_SHARE = 0.25
"""Share of the time that is left which a component may take at least: some small ones take long."""


_FEW_PAIRS = 1_500
"""Components with fewer pairs get no process of their own: they take less than 0.1 s."""


def _pieces(search: Search, network: Network, start: Solution | None) -> list[Piece]:
    """Solve the components; those that an earlier search solved are not solved again.

    First the smaller ones one after the other, then the larger ones side by side, as many as this process may
    use processors. All together they are no larger than one program may be.
    """
    pieces: list[Piece] = []
    left: list[Network] = []
    for part in components(network):
        known = search.optima.get(digest_of(part)) if search.optima else None
        if known is None:
            left.append(part)
        else:
            pieces.append(known)
    at_once = len(os.sched_getaffinity(0)) if network.member.size <= MOST_PAIRS else 1
    beside = [part for part in left if part.member.size >= _FEW_PAIRS] if at_once > 1 else []
    if len(beside) > 1:
        left = [part for part in left if part.member.size < _FEW_PAIRS]
    else:
        beside = []
    pieces += _one_by_one(search, left, start, beside)
    return pieces + _side_by_side(search, beside[::-1], start, at_once)


def _one_by_one(
    search: Search, networks: list[Network], start: Solution | None, later: list[Network]
) -> list[Piece]:
    """Solve components, the smallest first; what time one of them leaves goes to the others."""
    left = float(sum(part.member.size for part in (*networks, *later)))
    pieces = []
    for number, part in enumerate(networks):
        search.clock.report("exact", number / (len(networks) + len(later)))
        effort = search.effort(max(_LEAST_SHARE, part.member.size / left))
        pieces.append(_kept(search, part, solve_network(part, search.rules, Need(), effort, start)))
        left -= part.member.size
    return pieces


def _side_by_side(
    search: Search, networks: list[Network], start: Solution | None, at_once: int
) -> list[Piece]:
    """Solve components in processes of their own, the largest first, which end at about the same time then.

    If one of them fails, all are solved one after the other.

    Raises
    ------
    SolverError
        There can be no further process.
    """

    def jobs() -> Iterator[tuple[Callable[[], bytes], float]]:
        left = float(sum(part.member.size for part in networks))
        for part in networks:
            search.clock.report("exact", None)
            share = min(1.0, max(_LEAST_SHARE, at_once * part.member.size / left))
            effort = replace(search.effort(share), is_guarded=True)
            left -= part.member.size
            work = partial(_solved, part, search.rules, effort, start)
            yield work, math.inf if effort.seconds is None else effort.seconds

    try:
        answers = run_in_children(jobs(), at_once)
    except WorkFailed:
        # Mostly for memory, of which each had a part: one after the other they have all of it.
        return _one_by_one(search, networks[::-1], start, [])
    except OSError as error:
        raise SolverError("No further process can begin.", detail=type(error).__name__) from error
    pieces = []
    for part, answer in zip(networks, answers, strict=True):
        if answer is None:
            effort = Effort(seconds=0.0)
            pieces.append(solve_network(part, search.rules, Need(), effort, start))
        else:
            pieces.append(_kept(search, part, Piece.unpacked(answer)))
    return pieces


def _solved(network: Network, rules: Rules, effort: Effort, start: Solution | None) -> bytes:
    return solve_network(network, rules, Need(), effort, start).packed()


def _kept(search: Search, network: Network, piece: Piece) -> Piece:
    """Return what is known about a component, and keep it for later searches if it is an optimum."""
    if piece.parts is not None and piece.bound >= search.cost(piece.parts):
        search.optima[digest_of(network)] = piece
    return piece


def _joined(solutions: list[Solution]) -> Solution:
    return Solution.of_parts(
        np.concatenate([one.row_type for one in solutions]),
        np.concatenate([one.vector for one in solutions]),
        np.concatenate([one.rows for one in solutions]),
    )


def _answer(
    search: Search, mask: PatternMask, start: SearchResult, cost: float, found: Piece
) -> SearchResult:
    if found.is_cut:
        start = replace(start, termination=Termination.TIME)
    is_better = found.parts is not None and search.cost(found.parts) < cost
    if found.parts is not None and is_better:
        start = replace(start, solution=found.parts, method=METHOD)
        cost = search.cost(found.parts)
    if np.isfinite(mask.outside):
        return replace(start, notes=(*start.notes, ALL_PATTERNS_NOT_SEARCHED))
    bound = min(found.bound, cost)
    if start.lower_bound is not None and start.lower_bound > bound:
        return start
    return replace(start, lower_bound=bound, bound_method=BY_PROGRAMS)


def _nothing_found(bound: float) -> KanonError:
    if np.isfinite(bound):
        return LimitExceeded(
            "No solution with the demanded classes was found within the limits of the search.",
            hint="Allow more time, or demand less.",
        )
    return InfeasibleError(
        "No solution satisfies the demands on the classes.",
        hint="Choose a smaller k, allow more patterns, or demand fewer or more classes.",
    )
