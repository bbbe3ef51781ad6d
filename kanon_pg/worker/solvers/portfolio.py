"""The methods together: a fast solution first, then a bound, then better solutions until the gap is small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.solving import SolveRequest, gap_of
from kanon_pg.core.termination import Termination
from kanon_pg.errors import InfeasibleError, MemoryExceeded, SolverError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.patterns import PatternMask, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.annealing.graph import graph_around
from kanon_pg.worker.solvers.bounds.prices import STEPS, raise_prices
from kanon_pg.worker.solvers.compatibility import MOST_EDGES, Compatibility
from kanon_pg.worker.solvers.exact.model_constraints import search_exactly_with_models
from kanon_pg.worker.solvers.exact.optimum import Optima, search_exactly
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.solvers.refinement.dives import SuppressionDives
from kanon_pg.worker.solvers.refinement.recombination import SolutionPool
from kanon_pg.worker.solvers.refinement.refine import SHARE_OF_ROUND, Rounds, refine


def with_fewer_classes(table: RowTypeTable, solution: Solution, most: int) -> Solution:
    """Suppress all cells of those classes that save least, so that at most `most` classes remain.

    Parameters
    ----------
    most : int
        >= 1.

    Notes
    -----
    Joined classes hold no fewer people than each of them, and every privacy model that holds in each holds in
    all of them together (for t-closeness and entropy by convexity). O(n log n).
    """
    full = (1 << table.width) - 1
    parts = solution.parts_of(table)
    classes = classes_of(parts, solution.vector)
    if len(classes) <= most:
        return solution
    saved = float(table.weights.sum()) - suppression_costs(solution.vector, table.weights)
    worth = np.bincount(classes.class_of, weights=saved * solution.rows, minlength=len(classes))
    is_kept = np.zeros(len(classes), dtype=np.bool_)
    is_kept[np.argsort(-worth, kind="stable")[: most - 1]] = True
    vector = np.where(is_kept[classes.class_of], solution.vector, full)
    return Solution.of_parts(solution.row_type, vector, solution.rows)


GOAL = 0.01
"""'auto' ends with a solution that is proven to cost at most this share more than the optimum."""

BY_PRICES = "prices of rows (Lagrangian dual)"

# How the time is divided; what the stages and these numbers gain was measured (docs/solver-stages.md).

_SHARE_FOR_PRICES = 0.4
"""Share of the time that is left which the bound takes at most."""

_SHARE_FOR_PROGRAMS = 0.2
"""Share of the time that is left which integer programs before the refinement take at most."""

_SHARE_FOR_PROOFS = 0.5
"""The same where the optimum is wanted."""

_STEPS_BEFORE_PROGRAMS = 400
"""Steps of the ascent of prices before integer programs that may make prices superfluous."""

_FEW_PAIRS = 300_000
"""Pairs of a row type and an instance up to which the integer programs come before the refinement."""

_FEW_NODES = 200
"""Most nodes of an integer program's search tree, where a solution near the optimum will do."""

_MANY_PAIRS = 30_000_000
"""Pairs of a row type and a vector beyond which integer programs of all of them are not tried."""

_PAIRS_PER_SECOND = 2_000_000
"""Pairs of a row type and a vector per second that is left, beyond which no integer program is begun: what it
needs is built without a look at the clock."""

_EDGES_PER_SECOND = 1_000_000
"""Pairs that a graph may have per second that is left: larger ones cost more time than they are worth."""

_NEARLY = 1.001
"""Solutions that cost less than so many times their bound are not refined: only a proof is missing."""

_FIRST_ROUND = 5.0
"""Seconds of the first round of refinement, at least."""

_ROWS_PER_SECOND = 500
"""The first round takes a second for so many rows."""

_LONGER_ROUND = 1.0
"""A round of refinement takes at most so many times as long as the longest one before: what rounds find is
put together, so that longer ones are worth no more."""

_LEAST_ROUND = 0.5
"""Share of the longest round that a round takes at least which begins with other solutions."""


Note = Callable[[SearchResult], None]


def _noted_nowhere(found: SearchResult) -> None:
    """Ignore a solution."""


@dataclass(frozen=True)
class SearchContext:
    """What is searched, and when it is good enough."""

    table: RowTypeTable
    mask: PatternMask
    request: SolveRequest
    clock: Clock
    """`table`, `mask`, `request`, `clock`: as every method gets them."""
    goal: float
    """Gap at which the search ends."""
    note: Note
    """Gets the solution whenever it, or its bound, is better than before."""
    optima: Optima = field(default_factory=dict)
    """What integer programs proved about components: they come twice."""

    def cost(self, found: SearchResult) -> float:
        """Return the weighted cost of a solution."""
        return found.solution.cost(self.table.weights)

    def gap(self, found: SearchResult) -> float:
        """Return the proven share of the cost that may be too much, 1 without a bound."""
        gap = gap_of(self.cost(found), found.lower_bound)
        return 1.0 if gap is None else max(0.0, gap)

    def is_over(self, found: SearchResult) -> bool:
        """Return whether the solution is good enough, or time is over."""
        return self.gap(found) <= self.goal or self.clock.is_over()

    @property
    def is_small(self) -> bool:
        """Whether integer programs of everything can be tried."""
        return self._pairs <= _MANY_PAIRS

    @property
    def _pairs(self) -> int:
        return self.mask.vectors.size * len(self.table)

    def has_time_for_programs(self) -> bool:
        """Return whether an integer program of everything can be built in the time that is left."""
        left = self.clock.left()
        return left is None or self._pairs <= left * _PAIRS_PER_SECOND

    @property
    def first_steps(self) -> int:
        """Steps of the first ascent of prices: few where integer programs may prove an optimum at once."""
        is_plain = self.is_small and not self.request.models and not self.has_limits()
        return _STEPS_BEFORE_PROGRAMS if self.goal == 0.0 and is_plain else STEPS

    @property
    def nodes(self) -> int | None:
        """Most nodes of the search tree of an integer program, None where only the optimum will do."""
        return _FEW_NODES if self.goal > 0.0 else None

    def has_limits(self) -> bool:
        """Return whether the number of classes is limited."""
        return self.request.fewest_classes is not None or self.request.most_classes is not None


def search_until_good(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock, note: Note = _noted_nowhere
) -> SearchResult:
    """Search until a solution is proven to be within `GOAL`, nothing gets better, or time is over.

    Parameters
    ----------
    table, mask, request, clock
        As every method gets them.
    note : callable
        Gets the solution whenever it, or its bound, is better than before.
    """
    return _search(SearchContext(table, mask, request, clock, GOAL, note))


def search_until_optimal(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock, note: Note = _noted_nowhere
) -> SearchResult:
    """Search until a solution is proven to be optimal, nothing better is found any more, or time is over.

    Parameters
    ----------
    table, mask, request, clock, note
        As in `search_until_good`.
    """
    return _search(SearchContext(table, mask, request, clock, 0.0, note))


def _search(context: SearchContext) -> SearchResult:
    """Run the methods one after the other, and say how that ended."""
    table, mask, request = context.table, context.mask, context.request
    found = search_greedily(table, mask, request, context.clock)
    context.note(found)
    if context.is_over(found) and not context.has_limits():
        return _ended(context, found)
    context, found = _with_prices(context, found, steps=context.first_steps)
    if context.has_limits():
        return _ended(context, _with_limits(context, found))
    if not context.is_over(found):
        found = _with_models(context, found) if request.models else _without_models(context, found)
    return _ended(context, found)


def _ended(context: SearchContext, found: SearchResult) -> SearchResult:
    """Return the solution with the reason for which the search for a better one ended."""
    termination = found.termination or Termination.EXHAUSTED
    if 0.0 < context.gap(found) <= context.goal:
        termination = Termination.GOAL
    elif found.termination is None and context.clock.is_over():
        termination = Termination.TIME
    found = replace(found, termination=termination)
    context.note(found)
    return found


def _with_limits(context: SearchContext, found: SearchResult) -> SearchResult:
    """Let integer programs search for solutions with as many classes as requested."""
    table, mask, request = context.table, context.mask, context.request
    exactly = search_exactly_with_models if request.models else search_exactly
    if request.most_classes is not None:
        fewer = with_fewer_classes(table, found.solution, request.most_classes)
        found = replace(found, solution=fewer)
    classes = len(classes_of(found.solution.parts_of(table), found.solution.vector))
    if request.fewest_classes is not None and classes < request.fewest_classes:
        # There is nothing to fall back on: a first solution is found, whatever it takes.
        found = exactly(table, mask, request, context.clock.without_end(), found, found.prices, gap=1.0)
    if context.gap(found) == 0.0 or context.clock.is_over():
        return found
    return _trying(found, lambda: exactly(table, mask, request, context.clock, found, found.prices))


def _with_models(context: SearchContext, found: SearchResult) -> SearchResult:
    """Dive from the prices, let integer programs search under privacy models, then dive again for parts."""
    table, mask, request, clock = context.table, context.mask, context.request, context.clock
    dives = None
    if found.prices is not None and not table.has_entity and not request.rest_may_be_small:
        dives = SuppressionDives(table, mask, request, clock, found.prices)
        found = _trying(found, partial(_dived, context, found, dives))
        if context.is_over(found):
            return found
    if context.has_time_for_programs():
        search = partial(search_exactly_with_models, table, mask, request, clock)
        found = _trying(found, partial(search, found, found.prices, nodes=context.nodes))
        context.note(found)
    else:
        found = replace(found, termination=Termination.TIME)
    return found if dives is None else _dived_again(context, found, dives)


def _dived_again(context: SearchContext, found: SearchResult, dives: SuppressionDives) -> SearchResult:
    """Take parts of the solution apart and dive for their rows until that is worth nothing."""
    try:
        for dived in dives.in_turn(found.solution):
            found = _taking(context, found, dived, "refined by flow")
            if context.is_over(found):
                break
    except (SolverError, MemoryError) as error:
        return found.given_up(error)
    return found


def _dived(context: SearchContext, found: SearchResult, dives: SuppressionDives) -> SearchResult:
    """Return the better one of a solution and what dives and flows under privacy models find."""
    try:
        dived, before = dives.first(), context.cost(found)
        found = found if dived is None else _taking(context, found, dived, "refined by flow")
        if context.cost(found) == before:
            found = _taking(context, found, dives.finished(found.solution), "refined by flow")
    except InfeasibleError:
        pass  # what was left over could not be given a class; the solution stays valid
    return found


def _without_models(context: SearchContext, found: SearchResult) -> SearchResult:
    """Run an integer program if the graph is small, then refine in rounds; at the end prove."""
    graph = _graph(context, found)
    if isinstance(graph, Termination):
        # Too many classes to search among; prices need no such graph, so the time goes to the proof.
        _, found = _with_prices(context, found, share=1.0)
        return replace(found, termination=graph)
    if graph.edges <= _FEW_PAIRS and context.is_small:
        share = _SHARE_FOR_PROGRAMS if context.goal > 0.0 else _SHARE_FOR_PROOFS
        found = _exactly(context, found, context.clock.part(share), context.nodes)
    if context.first_steps < STEPS and not context.is_over(found):
        context, found = _with_prices(context, found)
    if found.prices is not None and not _needs_only_proof(context, found):
        found = _refine(context, graph, found, found.prices)
    if not context.is_over(found) and context.goal == 0.0 and context.is_small:
        found = _exactly(context, found, context.clock, None)
    return found


def _needs_only_proof(context: SearchContext, found: SearchResult) -> bool:
    """Whether the optimum is wanted and so near that integer programs are what is left to do."""
    bound = found.lower_bound
    return (
        context.goal == 0.0
        and context.is_small
        and bound is not None
        and context.cost(found) <= bound * _NEARLY
    )


def _exactly(context: SearchContext, found: SearchResult, clock: Clock, nodes: int | None) -> SearchResult:
    """Let integer programs search for better solutions, if there is time for them."""
    if not context.has_time_for_programs():
        return replace(found, termination=Termination.TIME)
    table, mask, request, optima = context.table, context.mask, context.request, context.optima
    return _trying(
        found,
        lambda: search_exactly(table, mask, request, clock, found, found.prices, nodes=nodes, optima=optima),
    )


def _trying(found: SearchResult, stage: Callable[[], SearchResult]) -> SearchResult:
    """Return what a stage makes of a valid solution, or the solution if the stage fails."""
    try:
        return stage()
    except (SolverError, MemoryError) as error:
        return found.given_up(error)


def _with_prices(
    context: SearchContext, found: SearchResult, share: float = _SHARE_FOR_PRICES, steps: int = STEPS
) -> tuple[SearchContext, SearchResult]:
    """Prove a better bound in a share of the time that is left; keep time for checking its certificate."""
    try:
        raised = raise_prices(
            context.table, context.mask.vectors, context.request.k, context.clock.part(share),
            models=context.request.models, target=context.cost(found), outside=context.mask.outside,
            start=found.prices, known=_cost_per_row(context, found), steps=steps,
            rest_may_be_small=context.request.rest_may_be_small,
        )  # fmt: skip
    except (SolverError, MemoryError) as error:
        return context, found.given_up(error)
    if found.lower_bound is not None and raised.bound <= found.lower_bound:
        return context, found
    context = replace(context, clock=context.clock.without(raised.pass_seconds))
    found = replace(found, lower_bound=raised.bound, bound_method=BY_PRICES, prices=raised.prices)
    context.note(found)
    return context, found


def _cost_per_row(context: SearchContext, found: SearchResult) -> NDArray[np.float64]:
    """Return what the most expensive row of each row type costs."""
    cost = np.zeros(len(context.table))
    costs = suppression_costs(found.solution.vector, context.table.weights)
    np.maximum.at(cost, found.solution.row_type, costs)
    return cost


def _graph(context: SearchContext, found: SearchResult) -> Compatibility | Termination:
    """Return who can be in which class, or what fits of it around the solution; if nothing fits, why."""
    left = context.clock.left()
    most = MOST_EDGES if left is None else min(MOST_EDGES, int(left * _EDGES_PER_SECOND))
    try:
        return graph_around(
            context.table, context.mask.vectors, found.solution, context.request.k, context.clock.raising(),
            prices=found.prices, most_edges=most,
        )  # fmt: skip
    except TimeOver:
        return Termination.TIME
    except (MemoryExceeded, MemoryError):
        return Termination.MEMORY if most == MOST_EDGES else Termination.TIME


def _refine(
    context: SearchContext, graph: Compatibility, found: SearchResult, prices: NDArray[np.int64]
) -> SearchResult:
    """Search in rounds until that is worth nothing.

    Each round makes other solutions, as long as there is time for about as many as before; beside that, and
    alone when there is not, it searches the classes of those of earlier rounds.
    """
    left = context.clock.left()
    first = max(_FIRST_ROUND, context.table.total_rows / _ROWS_PER_SECOND)
    rounds = Rounds(first if left is None else min(first, left * SHARE_OF_ROUND), _LONGER_ROUND)
    seed = context.request.seed or 0
    request = context.request
    pool = SolutionPool(GraphSearch(context.table, graph, request.k, prices, request.rest_may_be_small))
    while not context.is_over(found) and not rounds.are_stale:
        before, seconds = context.cost(found), rounds.seconds(context.clock)
        try:
            pool.add(found.solution)
            anew = seconds >= _LEAST_ROUND * rounds.longest
            better = refine(pool, context.clock, seconds=seconds, seed=seed, anew=anew, goes_on=True)
        except (SolverError, MemoryError) as error:
            return found.given_up(error)
        found = _taking(context, found, better)
        rounds.note(seconds, before, context.cost(found))
        seed += 1
    return found


def _taking(
    context: SearchContext, found: SearchResult, solution: Solution, how: str = "annealed and refined"
) -> SearchResult:
    better = replace(found, solution=solution)
    if context.cost(better) >= context.cost(found):
        return found
    better = replace(better, method=found.method if how in found.method else f"{found.method}, {how}")
    context.note(better)
    return better
