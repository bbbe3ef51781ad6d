"""k = 2 against constraint programming."""

from itertools import chain, combinations, combinations_with_replacement

import numpy as np
import pytest

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.errors import KanonError, SolverError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.patterns import all_patterns, bounded_patterns, parse_patterns, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import GIVEN_UP
from kanon_pg.worker.solvers import pairs
from kanon_pg.worker.solvers.bounds.reach import BY_REACH
from kanon_pg.worker.solvers.exact.integer_program import solve_linear_model
from kanon_pg.worker.solvers.pairs import (
    BY_ODD_SETS,
    MOST_ROW_TYPES,
    DualPrices,
    PairCosts,
    PairSearch,
    Program,
    search_by_pairs,
)
from kanon_pg.worker.solvers.registry import solve
from kanon_pg.worker.verification.recount import recount
from tests.fixtures.brute_force import brute_force
from tests.fixtures.packing import pack
from tests.instances.known import Known
from tests.instances.optimum import least_cost
from tests.unit.solvers.test_paper_tables import CMC, shared_rows

CENTURY = 100_000


def case(rows, patterns=None, weights=()):
    known = Known(tuple(rows), 2, 0, patterns, tuple(weights))
    packed = known.packed()
    table = RowTypeTable.from_packed(packed)
    if patterns is None:
        return packed, table, all_patterns(table.columns)
    return packed, table, parse_patterns(known.named_patterns, table.columns)


def answer(rows, patterns=None, weights=()):
    """Return the cost of a recounted solution and the bound that was proven."""
    packed, table, mask = case(rows, patterns, weights)
    found = search_by_pairs(table, mask, SolveRequest(2), Clock())
    classes = classes_of(found.solution.parts_of(table), found.solution.vector)
    assert classes.people.min() >= 2
    assert np.isin(found.solution.vector, mask.vectors).all()
    return recount(packed, found.solution, classes.class_of).weighted_cost, found.lower_bound


def random_case(random, most_rows):
    width = int(random.integers(1, 6))
    count = int(random.integers(2, most_rows))
    rows = [
        tuple(row) for row in random.integers(0, int(random.choice([2, 3, 4, 8])), (count, width)).tolist()
    ]
    vectors = list(chain.from_iterable(combinations(range(width), size) for size in range(width)))
    chance = random.choice([0.1, 0.25, 0.5, 1.0])
    weights = [int(weight) for weight in random.integers(1, int(random.choice([2, 5, 20])), width)]
    return rows, [list(vector) for vector in vectors if random.random() < chance], weights


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_that_of_constraint_programming(seed):
    random = np.random.default_rng(seed)
    for _ in range(60):
        rows, patterns, weights = random_case(random, 18)
        everything = [*patterns, list(range(len(rows[0])))]
        cost, bound = answer(rows, patterns, weights)
        assert cost == bound == least_cost(rows, 2, everything, weights)


def triples_that_pay(copies):
    """Return groups of three rows that lie close together and far from everybody else."""
    return [
        tuple(group if column != member else (group, member) for column in range(6))
        for group in range(copies)
        for member in range(3)
    ]


@pytest.mark.parametrize("copies", [1, 2, 3, 5, 6])
def test_triples_are_found_where_pairs_alone_are_bad(copies):
    """Three rows differ pairwise in two columns and together in three: a triple costs 9."""
    assert answer(triples_that_pay(copies)) == (9.0 * copies, 9.0 * copies)


def priced(random, rows):
    """Return the costs of the classes of some rows, and prices as a linear program could return them."""
    _, table, mask = case(rows)
    costs = PairCosts.of(table, mask, Clock())
    inside = random.random((len(table), 4)) < 0.4
    return costs, DualPrices(random.integers(-2, 6, len(table)) / 2, random.integers(0, 4, 4) / 2, inside)


def excess_of(costs, prices, members):
    """Return what a class costs in excess of its prices, from the definition."""
    cost = costs.cost[costs.places_of(np.array([[*members, -1][:3]]))[0]] * len(members)
    odd = prices.inside[list(members)].sum(axis=0) % 2 == 1
    return cost - prices.row[list(members)].sum() - prices.odd[odd].sum()


@pytest.mark.parametrize("most", [-2.0, -0.25, 1.0])
def test_every_pair_and_triple_is_priced(most):
    random = np.random.default_rng(6)
    for _ in range(20):
        costs, prices = priced(random, random_case(random, 14)[0])
        types = range(costs.rows.size)
        listed = [members for size in (2, 3) for members in combinations_with_replacement(types, size)]
        possible = [one for one in listed if all(one.count(i) <= costs.rows[i] for i in one)]
        wanted = {one: excess_of(costs, prices, one) for one in possible}
        pairs_found = prices.excess_of_pairs(costs)
        assert all(pairs_found[one] == wanted[one] for one in possible if len(one) == 2)
        triples, excess, is_all = prices.triples(costs, most)
        assert is_all
        found = {}
        for members, over in zip(map(tuple, triples.tolist()), excess, strict=True):
            found[members] = min(over, found.get(members, np.inf))
        assert found == {one: over for one, over in wanted.items() if len(one) == 3 and over <= most}


@pytest.mark.parametrize("stage", ["no odd sets", "an integer program over what a better solution can use"])
def test_every_stage_finds_the_optimum(stage, monkeypatch):
    """Without odd sets the bound is lower than the optimum, so that later stages have to raise it."""
    monkeypatch.setattr(Program, "cut", lambda self, used: False)
    if stage != "no odd sets":
        monkeypatch.setattr(PairSearch, "_is_solved", lambda self, program: False)
    random = np.random.default_rng(77)
    decided = 0
    decide = PairSearch._decide

    def counted(self, program, prices):
        nonlocal decided
        decided += 1
        decide(self, program, prices)

    monkeypatch.setattr(PairSearch, "_decide", counted)
    for _ in range(60):
        rows, patterns, weights = random_case(random, 12)
        cost, bound = answer(rows, patterns, weights)
        everything = [*patterns, list(range(len(rows[0])))]
        assert cost == bound == least_cost(rows, 2, everything, weights)
    assert decided > 10


class Interrupting(Clock):
    """A clock that is over at the n-th sign of life of the search."""

    def __init__(self, turns):
        super().__init__()
        self._turns = turns

    def raising(self):
        return self

    def report(self, phase, share):
        if phase == "search":
            self._turns -= 1
            if self._turns < 0:
                raise TimeOver


def test_a_search_that_is_stopped_proves_no_more_than_the_optimum():
    random = np.random.default_rng(78)
    raised = 0
    for _ in range(15):
        rows, patterns, weights = random_case(random, 16)
        _, table, mask = case(rows, patterns, weights)
        optimum = least_cost(rows, 2, [*patterns, list(range(len(rows[0])))], weights)
        for turns in range(6):
            found = search_by_pairs(table, mask, SolveRequest(2), Interrupting(turns))
            assert found.lower_bound <= optimum <= cost_of(table, found.solution)
            raised += found.bound_method == BY_ODD_SETS and found.lower_bound < optimum
    assert raised


@pytest.mark.parametrize("is_late", [False, True])
def test_an_integer_program_is_tried_while_there_is_time_for_it(is_late, monkeypatch):
    """Without a better bound in sight, but with half of the time over, the solution at hand is taken."""

    class Waning(Interrupting):
        def part(self, share):
            return Clock(0.0 if is_late else None)

    monkeypatch.setattr(Program, "cut", lambda self, used: True)
    monkeypatch.setattr(pairs, "_TRIES", (CENTURY,))
    random = np.random.default_rng(79)
    better = 0
    for _ in range(10):
        rows, patterns, weights = random_case(random, 60)
        _, table, mask = case(rows, patterns, weights)
        better += search_by_pairs(table, mask, SolveRequest(2), Waning(8)).method == pairs.METHOD
    assert (better > 0) == is_late


def test_many_equal_rows_are_paired_among_themselves():
    random = np.random.default_rng(4)
    for _ in range(30):
        rows, patterns, weights = random_case(random, 6)
        copies = random.integers(1, 15, len(rows))
        many = [row for row, times in zip(rows, copies, strict=True) for _ in range(times)]
        everything = [*patterns, list(range(len(rows[0])))]
        cost, bound = answer(many, patterns, weights)
        assert cost == bound == least_cost(many, 2, everything, weights)


def test_a_part_of_a_real_table_is_solved_to_optimality():
    rows = shared_rows("cmc", CMC)[:80]
    patterns = [list(vector) for size in range(3) for vector in combinations(range(len(CMC)), size)]
    cost, bound = answer(rows, patterns)
    assert cost == bound == least_cost(rows, 2, [*patterns, list(range(len(CMC)))])


def cost_of(table, solution):
    return float((suppression_costs(solution.vector, table.weights) * solution.rows).sum())


def assert_bound_of_greedy(found, table, optimum):
    """The bound is true of every solution, and not said to be reached or to come from the matchings."""
    assert found.bound_method == BY_REACH
    assert 0 < found.lower_bound <= optimum
    assert found.lower_bound < cost_of(table, found.solution)
    assert not found.is_best
    assert found.termination is not Termination.OPTIMAL


def test_without_time_a_solution_is_valid_and_nothing_is_claimed_optimal():
    _, table, mask = case(triples_that_pay(4))
    found = search_by_pairs(table, mask, SolveRequest(2), Clock(0.0))
    assert_bound_of_greedy(found, table, optimum=9.0 * 4)
    assert classes_of(found.solution.parts_of(table), found.solution.vector).people.min() >= 2


@pytest.mark.parametrize("calls", [0, 1])
@pytest.mark.parametrize("error", [SolverError("The library failed."), MemoryError()])
def test_a_library_that_fails_leaves_what_is_known(calls, error, monkeypatch):
    """The linear program fails at once, or after it has proven something: the bound is true all the same."""
    rows = [tuple(row) for row in np.random.default_rng(5).integers(0, 3, (40, 5)).tolist()]
    best, _ = answer(rows)
    solved = []

    def fails(model, *arguments, **options):
        if len(solved) == calls:
            raise error
        solved.append(solve_linear_model(model, *arguments, **options))
        return solved[-1]

    monkeypatch.setattr(pairs, "solve_linear_model", fails)
    packed, _, _ = case(rows)
    found = solve(packed, SolveRequest(2, method="pairs"))
    assert found.weighted_cost >= best
    assert found.lower_bound <= best
    assert not found.optimal
    assert found.notes[-1].startswith(GIVEN_UP)
    assert (found.termination == Termination.MEMORY) == isinstance(error, MemoryError)


def test_cancelling_acts_during_the_search():
    class Cancelled(KanonError):
        pass

    def cancel(phase, share):
        if phase == "search":
            raise Cancelled("cancelled")

    _, table, mask = case(triples_that_pay(4))
    with pytest.raises(Cancelled):
        search_by_pairs(table, mask, SolveRequest(2), Clock(progress=cancel))


def test_matchings_prove_nothing_about_the_vectors_that_a_bounded_mask_leaves_out():
    table = RowTypeTable.from_packed(pack([("a", "b"), ("a", "c"), ("d", "b"), ("d", "c")]))
    mask = bounded_patterns(np.array([0], dtype=np.int64), table.columns, "bounded", 1.0)
    found = search_by_pairs(table, mask, SolveRequest(2), Clock())
    assert found.solution.vector.tolist() == [3, 3, 3, 3]
    assert_bound_of_greedy(found, table, brute_force(table, all_patterns(table.columns).vectors, 2))


@pytest.mark.parametrize(
    "request_",
    [
        SolveRequest(3),
        SolveRequest(2, models=PrivacyModels(l=2)),
        SolveRequest(2, fewest_classes=2),
        SolveRequest(2, most_classes=2),
        SolveRequest(2, rest_may_be_small=True),
    ],
    ids=["k = 3", "l-diversity", "fewest classes", "most classes", "small rest"],
)
def test_requests_of_another_kind_are_handed_back(request_):
    _, table, mask = case([("a", "b"), ("a", "c"), ("d", "c")])
    assert search_by_pairs(table, mask, request_, Clock()) is None


def test_entities_and_too_many_row_types_are_handed_back():
    with_people = RowTypeTable.from_packed(pack([("a",), ("a",)], people=[1, 2]))
    assert search_by_pairs(with_people, all_patterns(with_people.columns), SolveRequest(2), Clock()) is None
    _, table, mask = case([(number,) for number in range(MOST_ROW_TYPES + 1)])
    assert search_by_pairs(table, mask, SolveRequest(2), Clock()) is None
