"""The optimum for k = 2: classes of two and three rows, chosen by a linear program with odd-set inequalities.

R. Bredereck, A. Nichterlein, R. Niedermeier: "Pattern-Guided k-Anonymity" (2013), Theorem 2, reduce the case
k = 2 to Simplex Matching, as J. Blocki, R. Williams: "Resolving the Complexity of Some Data Privacy Problems"
(2010), do without patterns. Every class of at least two rows splits into pairs and triples that cost no more,
so what is sought is a cheapest set of pairs and triples with every row in exactly one.

It is found as M. Grötschel, O. Holland: "Solving Matching Problems with Linear Programming" (1985), find
matchings. Rows of a row type are counted, not told apart. Pairs and triples enter a linear program when its
dual prices say that they pay. If a set of row types has an odd number of rows, some class has an odd number
of them (for pairs J. Edmonds: "Maximum Matching and a Polyhedron with 0,1-Vertices", 1965); inequalities that
demand such a class are added where they are violated. Prices prove a bound at every step. An integer program
over the pairs and triples at hand finds a solution that reaches it; where none does, an integer program over
all that a better solution can use decides. So the optimum is that of the theorem, but time is not polynomial.

Libraries for matchings (NetworkX, rustworkx) know no triples and return no prices, hence no bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import MemoryExceeded, SolverError
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.compatibility import Compatibility, compatibility_of
from kanon_pg.worker.solvers.exact.granularity import rounded_up, whole_costs
from kanon_pg.worker.solvers.exact.integer_program import (
    Effort,
    LinearAnswer,
    LinearModel,
    Rows,
    solve_linear_model,
)
from kanon_pg.worker.solvers.exact.network import component_roots
from kanon_pg.worker.solvers.heuristics import search_greedily

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

METHOD = "pairs and triples"
BY_ODD_SETS = "linear program with odd-set inequalities for k = 2"

MOST_ROW_TYPES = 3_000
"""Row types whose pairs are all priced in each round: arrays of 0.1 GiB each."""

_NEAREST = 6
"""Pairs of each row type in the first linear program."""

_PAIRS_PER_ROUND = 3
"""Pairs of each row type that may enter the linear program in a round."""

_TRIPLES_PER_ROUND = 1_000
_MOST_TRIPLES = 1_000_000
"""Triples that are listed at most: what needs more is not decided."""

_TRIES = (2, 10, 40)
"""Rounds without a better bound after which an integer program is tried; the last one is decisive."""

_SHARE_FOR_BOUND = 0.5
"""Share of the time after which an integer program is tried whether or not the bound still gets better."""

_NODES = 5_000
"""Most nodes of an integer program's search tree: a limit that does not depend on the machine."""

_THRESHOLDS = np.arange(9) / 10
"""Classes with a larger share connect the row types whose odd-set inequalities are tried."""

_TOLERANCE = 1e-6
_VIOLATED = 1e-4


@dataclass(frozen=True)
class PairCosts:
    """What classes of two and three rows cost.

    A class is three row types, ascending, one for each row; a pair has -1 in the third place.
    """

    rows: Numbers
    """Shape (n,). Rows of each row type."""
    differ: Numbers
    """Shape (n, n). Bit mask of the columns in which two row types differ."""
    vector: Numbers
    cost: Numbers
    """Shape (p,). `vector`, `cost`: pattern vectors and their whole cost per row, the cheapest first."""
    of_pair: Numbers
    """Shape (n, n). Whole cost of each pair; too high to be used for a row type of one row and itself."""
    graph: Compatibility
    """Pattern instances that three rows can share."""
    of_row: Numbers
    """Whole cost per row in each of them."""
    unit: float
    """What one whole cost stands for."""

    @classmethod
    def of(cls, table: RowTypeTable, mask: PatternMask, clock: Clock) -> PairCosts:
        """Compare every row type of a table without an entity with every other."""
        costs, unit = whole_costs(mask.costs())
        graph = compatibility_of(table, mask.vectors, 3, clock)
        differ = np.zeros((len(table), len(table)), dtype=np.int64)
        for column in range(table.width):
            differ |= (table.codes[column][:, None] != table.codes[column]).astype(np.int64) << column
            clock.heartbeat()
        order = np.argsort(costs, kind="stable")
        vector, cost = mask.vectors[order], costs[order]
        of_pair = 2 * cost[_cheapest_of(differ, vector)]
        np.fill_diagonal(of_pair, np.where(table.rows >= 2, of_pair.diagonal(), 4 * cost[-1] + 1))
        of_row = costs[np.searchsorted(mask.vectors, graph.vector)]
        return cls(table.rows, differ, vector, cost, of_pair, graph, of_row, unit)

    @property
    def alone(self) -> int:
        """Cost of a row without a class, which no solution pays: more than three rows cost anywhere."""
        return 4 * int(self.cost[-1]) + 1

    def of_solution(self, solution: Solution) -> int:
        """Return the whole cost of a solution."""
        by_vector = np.argsort(self.vector)
        place = by_vector[np.searchsorted(self.vector, solution.vector, sorter=by_vector)]
        return int((self.cost[place] * solution.rows).sum())

    def places_of(self, classes: Numbers) -> Numbers:
        """Return the place of the cheapest vector under which the rows of each class look alike."""
        first, second, third = classes.T
        differ = self.differ[first, second]
        differ |= np.where(third >= 0, self.differ[first, third], 0)
        return _cheapest_of(differ, self.vector)


def _cheapest_of(differ: Numbers, vectors: Numbers) -> Numbers:
    """Return for each set of columns the first vector that suppresses all of them."""
    different, place = np.unique(differ, return_inverse=True)
    found: Numbers = _cheapest_above(different, vectors)[place.reshape(differ.shape)]
    return found


@kernel
def _cheapest_above(different: Numbers, vectors: Numbers) -> Numbers:
    first = np.empty(different.size, dtype=np.int64)
    for place in range(different.size):
        turn = 0
        while different[place] & ~vectors[turn] != 0:
            turn += 1
        first[place] = turn
    return first


@dataclass(frozen=True)
class DualPrices:
    """Dual prices of the linear program."""

    row: Reals
    """Shape (n,). Price of a row of each row type."""
    odd: Reals
    """Shape (s,). Price of each odd set, >= 0: a class with an odd number of rows in it may cost so much
    more."""
    inside: NDArray[np.bool_]
    """Shape (n, s). Row types of each odd set."""

    def excess_of_pairs(self, costs: PairCosts) -> Reals:
        """Return what each pair costs in excess of its prices, shape (n, n)."""
        row, twice = self._sums()
        excess: Reals = costs.of_pair - row[:, None] - row + twice
        return excess

    def triples(self, costs: PairCosts, most: float) -> tuple[Numbers, Reals, bool]:
        """Return the triples that cost at most so much in excess of their prices.

        Returns
        -------
        tuple of (ndarray of int64, ndarray of float64, bool)
            The excess of each, and whether there are no more than could be listed.
        """
        graph = costs.graph
        return _triples(
            graph.begin, graph.member, costs.of_row, costs.rows, *self._sums(), self.odd, self.inside, most,
            _MOST_TRIPLES,
        )  # fmt: skip

    def _sums(self) -> tuple[Reals, Reals]:
        """Return what a row counts for, and what two rows count for too much.

        A row counts for its own price and those of all odd sets around it, but two in one odd set cancel.
        """
        weighted = self.inside * self.odd
        return self.row + weighted.sum(axis=1), 2.0 * weighted @ self.inside.T.astype(np.float64)


def _cheapest_pairs(excess: Reals, each: int) -> Numbers:
    """Return some pairs of each row type, those with the least excess."""
    each = min(each, len(excess))
    other = np.argpartition(excess, each - 1, axis=1)[:, :each].ravel()
    one = np.repeat(np.arange(len(excess)), each)
    return _as_classes(np.minimum(one, other), np.maximum(one, other))


def _as_classes(first: Numbers, second: Numbers) -> Numbers:
    return np.stack([first, second, np.full(first.size, -1)], axis=1)


@kernel
def _triples(
    begin: Numbers,
    member: NDArray[np.int32],
    cost: Numbers,
    rows: Numbers,
    price: Reals,
    twice: Reals,
    odd: Reals,
    inside: NDArray[np.bool_],
    most: float,
    limit: int,
) -> tuple[Numbers, Reals, bool]:
    """List the triples in each instance with an excess of at most `most`, until there are too many.

    Members are tried from the highest price on; what the odd sets take back is looked at last.
    """
    triples = np.empty((limit, 3), dtype=np.int64)
    excess = np.empty(limit)
    found = 0
    for instance in range(begin.size - 1):
        members = member[begin[instance] : begin[instance + 1]]
        members = members[np.argsort(-price[members])]
        needed = 3 * cost[instance] - most
        for first in range(members.size):
            one = members[first]
            if 3.0 * price[one] < needed:
                break
            for second in range(first if rows[one] > 1 else first + 1, members.size):
                two = members[second]
                if price[one] + 2.0 * price[two] < needed:
                    break
                used = 2 if one == two else 1
                for third in range(second if rows[two] > used else second + 1, members.size):
                    three = members[third]
                    total = price[one] + price[two] + price[three]
                    if total < needed:
                        break
                    total -= twice[one, two] + twice[two, three] + twice[one, three]
                    for number in range(odd.size):
                        if inside[one, number] and inside[two, number] and inside[three, number]:
                            total += 4.0 * odd[number]
                    if total < needed:
                        continue
                    if found == limit:
                        return triples, excess, False
                    low, high = min(one, two, three), max(one, two, three)
                    triples[found, 0], triples[found, 2] = low, high
                    triples[found, 1] = one + two + three - low - high
                    excess[found] = 3 * cost[instance] - total
                    found += 1
    return triples[:found], excess[:found], True


class Program:
    """The linear program: classes that may be used, and odd sets.

    Parameters
    ----------
    classes : ndarray of int64, shape (m, 3)
        The first ones, each once.
    """

    def __init__(self, costs: PairCosts, classes: Numbers) -> None:
        self._costs = costs
        self._inside = np.zeros((costs.rows.size, 0), dtype=np.bool_)
        self._classes = np.zeros((0, 3), dtype=np.int64)
        self.add(classes)

    def add(self, classes: Numbers) -> bool:
        """Admit classes; return whether one of them is new."""
        known = len(self._classes)
        self._classes = np.unique(np.concatenate([self._classes, classes]), axis=0)
        self._cost = self._costs.cost[self._costs.places_of(self._classes)] * (self._classes >= 0).sum(axis=1)
        return len(self._classes) > known

    def relaxed(self, effort: Effort) -> tuple[Reals, DualPrices] | None:
        """Return how often an optimum with parts uses each class, and prices; None if time is over."""
        found = solve_linear_model(self._model(is_whole=False), effort, step=0.0)
        if found.values is None or found.prices is None or found.is_cut:
            return None
        types = self._costs.rows.size
        prices = DualPrices(found.prices[:types], np.maximum(found.prices[types:], 0.0), self._inside)
        return found.values[: len(self._classes)], prices

    def whole(self, effort: Effort) -> LinearAnswer:
        """Return the best solution of these classes that can be found, and what is proven about them."""
        return solve_linear_model(self._model(is_whole=True), effort)

    def solution(self, used: Reals) -> Solution:
        """Return the solution that uses each class so often."""
        times = np.rint(used[: len(self._classes)]).astype(np.int64)
        vector = self._costs.vector[self._costs.places_of(self._classes)]
        place, position = np.nonzero(self._classes >= 0)
        return Solution.of_parts(self._classes[place, position], vector[place], times[place])

    def cut(self, used: Reals) -> bool:
        """Add the odd sets that the classes in use violate; return whether there are any.

        An odd set is tried if classes that are used often enough connect it, for several meanings of often.
        """
        types = self._costs.rows.size
        sets = [self._inside]
        for threshold in _THRESHOLDS:
            chosen = self._classes[used > threshold + _VIOLATED]
            begin = np.concatenate([[0], np.cumsum((chosen >= 0).sum(axis=1))])
            label = component_roots(types, begin, chosen[chosen >= 0])
            odd = np.bincount(label, weights=self._costs.rows, minlength=types) % 2 == 1
            label_of = np.append(label, -1)[self._classes]
            crossing = np.zeros(types)
            for place in range(3):
                is_odd = (label_of == label_of[:, [place]]).sum(axis=1) % 2 == 1
                is_first = (label_of[:, :place] != label_of[:, [place]]).all(axis=1)
                counted = is_odd & is_first & (label_of[:, place] >= 0)
                crossing += np.bincount(label_of[counted, place], weights=used[counted], minlength=types)
            violated = np.flatnonzero(odd & (crossing < 1 - _VIOLATED))
            sets.append(label[:, None] == violated)
        before = self._inside.shape[1]
        self._inside = np.unique(np.concatenate(sets, axis=1), axis=1)
        return self._inside.shape[1] > before

    def _model(self, is_whole: bool) -> LinearModel:
        """Return the model: each row in one class, and for each odd set a class that is odd in it.

        A row may stay alone at a cost that no solution pays, so that there are prices from the beginning.
        """
        rows = self._costs.rows
        types, odd, count = rows.size, self._inside.shape[1], len(self._classes)
        classes = np.concatenate([self._classes, np.full((types, 3), -1)])
        classes[count:, 0] = np.arange(types)
        column, place = np.nonzero(classes >= 0)
        (row, column), times = np.unique(
            np.stack([classes[column, place], column]), axis=1, return_counts=True
        )
        padded = np.concatenate([self._inside, np.zeros((1, odd), dtype=np.bool_)])
        crossing, number = np.nonzero(padded[classes].sum(axis=1) % 2)
        model = Rows()
        model.open(rows.astype(np.float64), rows.astype(np.float64))
        model.put(row, column, times.astype(np.float64))
        first = model.open(np.ones(odd), np.full(odd, np.inf))
        model.put(first + number, crossing, np.ones(number.size))
        upper = np.full(len(classes), np.inf)
        upper[count:] = 0.0 if is_whole else np.inf
        cost = np.append(self._cost, np.full(types, self._costs.alone)).astype(np.float64)
        return model.finish(cost, np.zeros(cost.size), upper, np.full(cost.size, is_whole))


@dataclass
class PairSearch:
    """The best solution and bound so far, in whole costs."""

    costs: PairCosts
    clock: Clock
    """Raises when time is over."""
    cost: int
    """Cost of the best solution."""
    solution: Solution | None = None
    """None as long as it is the one that the search began with."""
    bound: float = 0.0

    def run(self) -> None:
        """Search until the bound is reached, effort is spent, or time is over.

        Raises
        ------
        TimeOver
            Time is over; what was found stays.
        """
        program = Program(self.costs, _cheapest_pairs(self.costs.of_pair.astype(np.float64), _NEAREST))
        last, stalled = 0.0, 0
        early: Clock | None = self.clock.part(_SHARE_FOR_BOUND)
        while True:
            used, prices = self._relaxed(program)
            if self.bound >= self.cost:
                return
            is_last = not program.cut(used) or stalled == _TRIES[-1]
            is_late = early is not None and early.left() == 0
            if (stalled in _TRIES or is_last or is_late) and self._is_solved(program):
                return
            early = None if is_late else early
            if is_last:
                self._decide(program, prices)
                return
            stalled, last = (stalled + 1 if self.bound <= last else 0), self.bound

    def _relaxed(self, program: Program) -> tuple[Reals, DualPrices]:
        """Solve the linear program with all classes that pay."""
        least_gain = _TOLERANCE * float(self.costs.cost[-1])
        while True:
            self.clock.report("search", None)
            found = program.relaxed(self._effort())
            if found is None:
                self.clock.cut()
                raise TimeOver
            used, prices = found
            excess = prices.excess_of_pairs(self.costs)
            triples, over, is_all = prices.triples(self.costs, -least_gain)
            if is_all:
                self._prove(self._proven(prices, min(excess.min(), over.min(initial=-least_gain))))
            pairs = _cheapest_pairs(excess, _PAIRS_PER_ROUND)
            pairs = pairs[excess[pairs[:, 0], pairs[:, 1]] < -least_gain]
            triples = triples[np.argsort(over, kind="stable")[:_TRIPLES_PER_ROUND]]
            if not program.add(np.concatenate([pairs, triples])):
                return used, prices

    def _proven(self, prices: DualPrices, least: float) -> float:
        """Return the bound that prices prove if no class has an excess below the least."""
        rows = self.costs.rows
        return float(rows @ prices.row + prices.odd.sum() + min(0.0, least) * (rows.sum() / 2))

    def _prove(self, bound: float) -> None:
        self.bound = max(self.bound, min(rounded_up(bound, 1.0), self.cost))

    def _is_solved(self, program: Program) -> bool:
        """Look for a solution among the classes of the program; return whether it reaches the bound."""
        self._take(program, program.whole(self._effort()))
        return self.bound >= self.cost

    def _decide(self, program: Program, prices: DualPrices) -> None:
        """Look for a solution among all classes that one cheaper than the best can use.

        Every solution costs what the prices prove and the excess of all its classes.
        """
        excess = prices.excess_of_pairs(self.costs)
        bound = self._proven(prices, 0.0)
        most = self.cost - 1 - bound + _TOLERANCE * max(1.0, self.cost)
        triples, _, is_all = prices.triples(self.costs, most)
        if not is_all:
            return
        pairs = np.argwhere(np.triu(excess <= most))
        program.add(np.concatenate([_as_classes(*pairs.T), triples]))
        known = self.cost
        answer = program.whole(self._effort())
        self._take(program, answer)
        self.bound = max(self.bound, min(known, answer.bound))
        if self.bound < self.cost:
            self.clock.is_over()  # so that it is known what ended the search

    def _take(self, program: Program, answer: LinearAnswer) -> None:
        """Keep a solution that is better than the best."""
        if answer.values is None:
            return
        solution = program.solution(answer.values)
        cost = self.costs.of_solution(solution)
        if cost < self.cost:
            self.solution, self.cost = solution, cost

    def _effort(self) -> Effort:
        return Effort(self.clock.left(), _NODES)


def search_by_pairs(
    table: RowTypeTable, mask: PatternMask, request: SolveRequest, clock: Clock
) -> SearchResult | None:
    """Find a cheapest solution for k = 2, and prove that it is one.

    Returns
    -------
    SearchResult or None
        None if the request is of another kind (k > 2, an entity, a privacy model, a limit for the number
        of classes, the papers' rule for the rest) or there are too many row types. If effort or time were
        over, or the library or memory failed, the best solution until then, maybe that of the greedy
        heuristic, with the best bound: that is computed from prices here, whatever the library does later.
    """
    if not _is_suitable(table, request):
        return None
    known = search_greedily(table, mask, request, clock)
    try:
        costs = PairCosts.of(table, mask, clock.raising())
    except TimeOver:
        return known
    except (MemoryExceeded, MemoryError) as error:
        return known.given_up(error)
    search = PairSearch(costs, clock.raising(), costs.of_solution(known.solution))
    try:
        search.run()
    except TimeOver:
        pass
    except (SolverError, MemoryError) as error:
        known = known.given_up(error)
    found = known if search.solution is None else replace(known, solution=search.solution, method=METHOD)
    bound = search.bound * costs.unit
    if np.isfinite(mask.outside) or (known.lower_bound is not None and known.lower_bound >= bound):
        return found
    return replace(found, lower_bound=bound, bound_method=BY_ODD_SETS)


def _is_suitable(table: RowTypeTable, request: SolveRequest) -> bool:
    has_limits = request.fewest_classes is not None or request.most_classes is not None
    is_plain = not (table.has_entity or request.models or has_limits or request.rest_may_be_small)
    return request.k == 2 and is_plain and len(table) <= MOST_ROW_TYPES
