"""The least suppression, proven: integer programs for the independent parts of a table.

The fully suppressed class (the *sink*) joins all parts. First it is left free, so that every component of the
rest is a problem of its own; what they prove together is a lower bound. Usually the sink then is empty or has
k people and everything is proven. If not, or if limits for the number of classes are not met by chance, one
integer program over all components decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.errors import InfeasibleError, KanonError, LimitExceeded
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import PatternMask, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.compatibility import compatibility_of
from kanon_pg.worker.solvers.exact.components import components
from kanon_pg.worker.solvers.exact.integer_program import Effort
from kanon_pg.worker.solvers.exact.network import Network, drop_dominated, merge_alike, network_of
from kanon_pg.worker.solvers.exact.parts import DemandOf, Need, Piece, Rules, solve_network
from kanon_pg.worker.solvers.exact.pruning import prune
from kanon_pg.worker.solvers.search import SearchResult, search_greedily

Numbers = NDArray[np.int64]

METHOD = "integer program"
BOUND_METHOD = "integer programs of all components"
ALL_PATTERNS_NOT_SEARCHED = (
    "Only some patterns were searched: what the integer program proves holds for them and is not reported."
)


@dataclass(frozen=True)
class Demands:
    """What classes must satisfy beside k people.

    Parameters
    ----------
    rows_of : callable
        Returns the columns and rows that make an integer program's classes satisfy it.
    are_met : callable
        Returns whether a solution satisfies it.
    """

    rows_of: DemandOf
    are_met: Callable[[Solution], bool]


@dataclass(frozen=True)
class Search:
    """One exact search.

    Parameters
    ----------
    rules : Rules
    request : SolveRequest
    clock : Clock
    nodes : int or None
        Most nodes of each integer program's search tree.
    demands : Demands or None
        What classes must satisfy beside k people.
    gap : float
        Relative gap at which a solution is good enough.
    """

    rules: Rules
    request: SolveRequest
    clock: Clock
    nodes: int | None
    demands: Demands | None
    gap: float = 0.0

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
        """Return whether a solution has large classes, as many as are asked for."""
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
        costs = suppression_costs(solution.vector, self.rules.table.weights)
        return float((costs * solution.rows).sum())


def search_exactly(
    table: RowTypeTable,
    mask: PatternMask,
    request: SolveRequest,
    clock: Clock,
    start: SearchResult | None = None,
    prices: Numbers | None = None,
    *,
    demands: Demands | None = None,
    nodes: int | None = None,
    gap: float = 0.0,
) -> SearchResult:
    """Find a solution of least cost and prove that it is, or come as close as time allows.

    Parameters
    ----------
    start : SearchResult, optional
        A known solution; without it the greedy heuristic finds one.
    prices : ndarray of int64, shape (n,), optional
        Prices that prove a lower bound (see `kanon_pg.worker.verification.certificate`); they strike out
        pairs of a row type and an instance that no better solution uses.
    demands : Demands, optional
        What classes must satisfy beside k people.
    nodes : int, optional
        Most nodes of each search tree: a limit that does not depend on the machine.
    gap : float
        Relative gap at which a solution is good enough; 1 takes the first one.

    Raises
    ------
    InfeasibleError
        No solution has as many or as few classes as asked for.
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
    search = Search(rules, request, clock, nodes, demands, gap)
    is_usable = search.is_valid(start.solution)
    cost = search.cost(start.solution) if is_usable else np.inf
    if is_usable and start.lower_bound is not None and start.lower_bound >= cost:
        return start
    found = _solve(search, _network(search, mask, cost), start.solution if is_usable else None)
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


def _pieces(search: Search, network: Network, start: Solution | None) -> list[Piece]:
    """Solve the components, the smallest first; what time one of them leaves goes to the others."""
    networks = list(components(network))
    left = float(sum(part.member.size for part in networks))
    pieces = []
    for number, part in enumerate(networks):
        search.clock.report("exact", number / len(networks))
        effort = search.effort(part.member.size / left)
        pieces.append(solve_network(part, search.rules, Need(), effort, start))
        left -= part.member.size
    return pieces


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
    return replace(start, lower_bound=bound, bound_method=BOUND_METHOD)


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
