"""What the exact search says about itself, and when it loads the solver library."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from kanon_pg.core.patterns import all_patterns
from kanon_pg.core.request import SolveRequest
from kanon_pg.core.row_types import RowTypeTable
from kanon_pg.errors import InfeasibleError
from kanon_pg.solvers.clock import Clock
from kanon_pg.solvers.exact.granularity import granularity, rounded_up
from kanon_pg.solvers.exact.integer_program import solve_sub_problem
from kanon_pg.solvers.exact.search import ALL_PATTERNS_NOT_SEARCHED, search_exactly
from kanon_pg.solvers.exact.sub_problem import Demand, SubProblem
from kanon_pg.solvers.search import TIME_OVER, search_greedily
from tests.fixtures.packing import pack

ROWS = [("a", 1), ("a", 1), ("a", 1), ("a", 2), ("b", 2), ("b", 3)]


@pytest.fixture
def table():
    return RowTypeTable.from_packed(pack(ROWS))


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


def test_a_proven_optimum_does_not_regret_that_time_was_over(table):
    mask = all_patterns(table.columns)
    start = replace(search_greedily(table, mask, SolveRequest(k=2), Clock()), notes=(TIME_OVER,))
    assert search_exactly(table, mask, SolveRequest(k=2), Clock(), start).notes == ()


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


def test_the_solver_library_is_loaded_only_when_it_is_needed():
    program = "import sys, kanon_pg.solvers.exact.search; print('ortools' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
