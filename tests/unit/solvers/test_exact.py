"""What the exact search says about itself, and when it loads the solver library."""

import random
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from kanon_pg.core.solving import SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.child_processes import WorkFailed
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import all_patterns, parse_patterns, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.solvers.exact import optimum
from kanon_pg.worker.solvers.exact.granularity import granularity, rounded_up
from kanon_pg.worker.solvers.exact.optimum import ALL_PATTERNS_NOT_SEARCHED, search_exactly
from kanon_pg.worker.solvers.exact.sub_problem import (
    Demand,
    SubProblem,
    solve_near_relaxation,
    solve_sub_problem,
)
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.verification.certificate import PRICE_UNIT, certified_bound
from tests.fixtures.packing import pack

ROWS = [("a", 1), ("a", 1), ("a", 1), ("a", 2), ("b", 2), ("b", 3)]


@pytest.fixture
def table():
    return RowTypeTable.from_packed(pack(ROWS))


def cost_of(table, solution):
    return float((suppression_costs(solution.vector, table.weights) * solution.rows).sum())


LONG = 3600.0


def monitored(monkeypatch, module, name):
    """Return a list to which every call of a function adds its arguments."""
    calls, original = [], getattr(module, name)

    def counting(*given, **named):
        calls.append(given)
        return original(*given, **named)

    monkeypatch.setattr(module, name, counting)
    return calls


def test_three_equal_rows_give_one_away_to_the_only_row_that_needs_company(table):
    """(a, 1) is divided: two rows stay as they are, one joins (a, 2) at the cost of a cell each."""
    found = search_exactly(table, all_patterns(table.columns), SolveRequest(k=2), Clock())
    costs = np.bitwise_count(found.solution.vector) * found.solution.rows
    assert costs.sum() == found.lower_bound == 4
    assert found.solution.is_divided


@pytest.mark.parametrize(
    ("costs", "step"),
    [([0.0, 1.0, 2.0], 1.0), ([0.0, 0.5, 1.75], 0.25), ([0.3, 0.1 + 0.2, 0.9], 0.3), ([1.0, np.pi], 0.0)],
)
def test_costs_are_multiples_of_their_granularity(costs, step):
    assert granularity(np.array(costs)) == pytest.approx(step)


@pytest.mark.parametrize(
    ("bound", "step", "least"),
    [(7.2, 1.0, 8.0), (8.0000001, 1.0, 8.0), (7.9999999, 1.0, 8.0), (-np.inf, 1.0, -np.inf)],
)
def test_bounds_are_rounded_up_to_possible_costs_but_not_beyond_their_precision(bound, step, least):
    assert rounded_up(bound, step) == least


def test_a_bound_without_granularity_is_rounded_down():
    assert 99.0 < rounded_up(100.0, 0.0) < 100.0


def test_what_is_proven_for_some_patterns_is_not_said_of_all(table):
    mask = replace(all_patterns(table.columns), outside=0.5)
    start = search_greedily(table, mask, SolveRequest(k=2), Clock())
    found = search_exactly(table, mask, SolveRequest(k=2), Clock(), start)
    assert found.lower_bound == start.lower_bound
    assert ALL_PATTERNS_NOT_SEARCHED in found.notes


def test_rows_dearer_than_full_suppression_do_not_raise_the_bound_of_their_component():
    """Three lonely rows need one more in the fully suppressed class: 16 cells, a price of 16 / 3 for each."""
    rows = [row for group in range(3) for row in [(group, 1, 1, 1)] + [(group, 0, 0, 0)] * 8]
    packed = pack(rows)
    table = RowTypeTable.from_packed(packed)
    mask = parse_patterns([[], ["c1", "c2", "c3"]], table.columns)
    prices = np.where(table.rows == 1, 16 * PRICE_UNIT // 3, 0)
    assert certified_bound(packed, mask.vectors, 4, prices) == 16.0
    apart, full = mask.vectors[1], mask.vectors[2]
    lonely, first, others = np.array([0, 2, 4]), np.array([1]), np.array([1, 3, 5])
    best = Solution.of_parts(
        np.concatenate([lonely, first, others]),
        np.array([full, full, full, full, 0, 0, 0]),
        np.array([1, 1, 1, 1, 7, 8, 8]),
    )
    assert cost_of(table, best) == 16.0
    dear = Solution.of_parts(
        np.concatenate([lonely, others, others]), np.repeat([apart, apart, 0], 3), np.repeat([1, 3, 5], 3)
    )
    found = search_exactly(table, mask, SolveRequest(k=4), Clock(0.0), SearchResult(dear, "given"), prices)
    assert found.lower_bound is not None
    assert found.lower_bound <= 16.0


def test_a_known_cost_that_the_searched_instances_cannot_have_strikes_out_no_better_solution():
    """Only columns of weight 10 need to be suppressed; whoever suppresses the constant one pays odd costs."""
    rows = [(0, 0)] * 4 + [(2, 0)] * 2 + [(1, 0)]
    table = RowTypeTable.from_packed(pack(rows, weights={"c0": 10.0}))
    mask = all_patterns(table.columns)
    prices = raise_prices(table, mask.vectors, 2, Clock(), target=20.0).prices
    start = Solution.of_parts(np.array([0, 0, 1, 2]), np.array([0, 3, 0, 3]), np.array([3, 1, 2, 1]))
    assert cost_of(table, start) == 22.0
    found = search_exactly(table, mask, SolveRequest(k=2), Clock(), SearchResult(start, "given"), prices)
    assert cost_of(table, found.solution) == found.lower_bound == 20.0


def test_more_classes_than_there_can_be_are_refused(table):
    with pytest.raises(InfeasibleError):
        search_exactly(table, all_patterns(table.columns), SolveRequest(k=2, fewest_classes=4), Clock())


def test_further_rows_and_columns_are_obeyed():
    """Two row types stay apart, unless a further column closes the instance of the first one."""
    problem = SubProblem(
        rows=np.array([2, 2]),
        cost=np.array([0.0, 0.0, 5.0]),
        begin=np.array([0, 1, 2, 4]),
        member=np.array([0, 1, 0, 1]),
        fewest=np.array([2, 2, 2]),
    )
    assert solve_sub_problem(problem).cost == 0.0
    tied = Demand(
        lower=np.zeros(1), upper=np.ones(1), is_integer=np.ones(1, dtype=np.bool_),
        row_lower=np.array([0.0, 1.0]), row_upper=np.array([0.0, 1.0]),
        row=np.array([0, 0, 1]), column=np.array([4, 7, 7]), coefficient=np.array([1.0, -1.0, 1.0]),
    )  # fmt: skip
    assert solve_sub_problem(replace(problem, demand=tied)).cost == 0.0
    never = replace(tied, row_lower=np.array([0.0, 0.0]), row_upper=np.array([0.0, 0.0]))
    answer = solve_sub_problem(replace(problem, demand=never))
    assert answer.cost == answer.bound == 10.0
    assert answer.rows.tolist() == [0, 2, 2, 0]


@pytest.mark.parametrize("is_divisible", [True, False])
def test_solutions_near_the_relaxation_are_between_its_bound_and_what_is_known(is_divisible):
    """Random row types and instances, the last one open to all; with and without a known solution."""
    chance = np.random.default_rng(7)
    as_good, better_than_known = 0, 0
    for _ in range(40):
        types, instances = 12, 10
        fits = [np.sort(chance.choice(types, 5, replace=False)) for _ in range(instances)]
        member = np.concatenate([*fits, np.arange(types)])
        rows = chance.integers(1, 4, types)
        problem = SubProblem(
            rows=rows,
            cost=np.append(np.sort(chance.integers(1, 6, instances)), 6).astype(float),
            begin=np.append(np.arange(instances + 1) * 5, member.size),
            member=member,
            fewest=np.append(np.full(instances, 4), 0),
            is_divisible=is_divisible,
            own=rows,
            shared_begin=np.zeros(types + 1, dtype=np.int64),
        )
        best = solve_sub_problem(problem)
        near = solve_near_relaxation(problem)
        assert near.bound <= best.cost
        if near.rows is not None:
            assert near.cost == problem.cost_of(near.rows) >= best.cost
            people = problem.people_of(near.rows)
            assert ((people >= problem.fewest) | (people == 0)).all()
            assert np.bincount(member, weights=near.rows).tolist() == rows.tolist()
            as_good += near.cost == best.cost
        assert solve_near_relaxation(problem, hint=best.rows).cost == best.cost
        suppressed = np.where(problem.instance == instances, rows[member], 0)
        from_there = solve_near_relaxation(problem, hint=suppressed)
        assert best.cost <= from_there.cost <= problem.cost_of(suppressed)
        better_than_known += from_there.cost < problem.cost_of(suppressed)
    assert as_good >= 10
    assert better_than_known >= 30


def test_a_known_solution_opens_what_the_relaxation_closes_where_nothing_else_is_possible():
    """The relaxation divides each three rows among their three pairs: then one row has no company."""
    pairs = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
    member = np.array([*(row for pair in pairs for row in pair), *range(6)])
    problem = SubProblem(
        rows=np.ones(6, dtype=np.int64), cost=np.array([1.0] * 6 + [3.0]),
        begin=np.array([0, 2, 4, 6, 8, 10, 12, 18]), member=member, fewest=np.full(7, 2),
    )  # fmt: skip
    assert solve_near_relaxation(problem).rows is None
    together = (problem.instance == 6).astype(np.int64)
    found = solve_near_relaxation(problem, hint=together)
    assert (found.cost, found.bound) == (10.0, pytest.approx(6.0))
    assert np.bincount(member, weights=found.rows).tolist() == [1] * 6


def test_answers_whose_costs_are_no_multiples_of_a_number_are_optimal_but_for_rounding():
    costs = np.array([np.sqrt(2.0), np.pi, 9.0])
    problem = SubProblem(
        rows=np.ones(4, dtype=np.int64), cost=costs, begin=np.array([0, 2, 4, 8]),
        member=np.array([0, 1, 2, 3, 0, 1, 2, 3]), fewest=np.array([2, 2, 0]),
    )  # fmt: skip
    found = solve_sub_problem(problem)
    assert found.cost == pytest.approx(2 * np.sqrt(2.0) + 2 * np.pi)
    assert found.is_nearly_optimal
    assert not found.is_optimal
    assert not replace(found, bound=found.cost - 0.01).is_nearly_optimal


def groups_apart():
    """Return a table of three groups that share no value, with what is asked for."""
    chance = random.Random(2)
    rows = [
        (group, *(f"{group}{chance.randrange(4)}" for _ in range(4))) for group in "abc" for _ in range(24)
    ]
    table = RowTypeTable.from_packed(pack(rows))
    return table, parse_patterns({"never": ["c0"]}, table.columns), SolveRequest(k=3)


def test_components_side_by_side_have_the_answers_of_one_after_the_other(monkeypatch):
    table, mask, request = groups_apart()
    monkeypatch.setattr(optimum.os, "sched_getaffinity", lambda _: {0})
    known, optima = {}, {}
    one = search_exactly(table, mask, request, Clock(), optima=known)
    monkeypatch.setattr(optimum.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(optimum, "_FEW_PAIRS", 0)
    calls = monitored(monkeypatch, optimum, "run_in_children")
    other = search_exactly(table, mask, request, Clock(LONG), optima=optima)
    assert calls
    assert {part: piece.bound for part, piece in known.items()} == {
        part: piece.bound for part, piece in optima.items()
    }
    assert cost_of(table, one.solution) == one.lower_bound == other.lower_bound
    for part in ("row_type", "vector", "rows"):
        assert np.array_equal(getattr(one.solution, part), getattr(other.solution, part))


def test_components_that_are_cut_have_their_known_solution_and_bound(monkeypatch):
    table, mask, request = groups_apart()
    monkeypatch.setattr(optimum.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(optimum, "_FEW_PAIRS", 0)
    best = search_exactly(table, mask, request, Clock())
    monkeypatch.setattr(optimum, "run_in_children", lambda jobs, _: [None for _ in jobs])
    start = search_greedily(table, mask, request, Clock())
    found = search_exactly(table, mask, request, Clock(), start)
    assert found.termination is Termination.TIME
    assert 0.0 <= found.lower_bound <= best.lower_bound
    assert cost_of(table, found.solution) == cost_of(table, start.solution)


def test_components_that_fail_side_by_side_are_solved_one_after_the_other(monkeypatch):
    table, mask, request = groups_apart()
    best = search_exactly(table, mask, request, Clock())
    monkeypatch.setattr(optimum.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(optimum, "_FEW_PAIRS", 0)

    def failing(*_):
        raise WorkFailed("MemoryError")

    monkeypatch.setattr(optimum, "run_in_children", failing)
    found = search_exactly(table, mask, request, Clock())
    assert found.lower_bound == best.lower_bound == cost_of(table, found.solution)


def test_components_that_were_solved_are_not_solved_again(monkeypatch):
    table, mask, request = groups_apart()
    calls = monitored(monkeypatch, optimum, "solve_sub_problem")
    monkeypatch.setattr(optimum.os, "sched_getaffinity", lambda _: {0})
    optima = {}
    first = search_exactly(table, mask, request, Clock(), optima=optima)
    solved = len(calls)
    assert solved == len(optima) > 1
    again = search_exactly(table, mask, request, Clock(), optima=optima)
    assert len(calls) == solved
    assert cost_of(table, again.solution) == again.lower_bound == first.lower_bound


def test_what_is_not_proven_of_a_component_is_not_kept(monkeypatch):
    table, mask, request = groups_apart()
    optima = {}
    start = search_greedily(table, mask, request, Clock())
    found = search_exactly(table, mask, request, Clock(0.0), start, optima=optima)
    assert found.lower_bound < cost_of(table, found.solution)
    assert all(piece.bound >= cost_of(table, piece.parts) for piece in optima.values())


def test_the_solver_library_is_loaded_only_when_it_is_needed():
    program = "import sys, kanon_pg.worker.solvers.exact.optimum; print('ortools' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
