"""The search by any m columns: what its recount refuses, and the order in which its bound tries sets."""

from itertools import combinations

import numpy as np
import pytest

from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import SolverError
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.registry import solve
from kanon_pg.worker.solvers.subsets import _by_cost
from kanon_pg.worker.verification.recount import require_subsets
from tests.fixtures.packing import pack


def require(
    rows: list[tuple[int, ...]], hidden: list[int], size: int, people: list[int] | None = None
) -> None:
    packed = pack(rows, people=people)
    counts = [rows.count(row) for row in dict.fromkeys(rows)]
    vectors = np.array(hidden, dtype=np.int64)
    solution = Solution(np.arange(len(counts)), vectors, np.array(counts, dtype=np.int64))
    require_subsets(packed, solution, 2, size)


def test_a_combination_of_few_people_is_refused() -> None:
    cycle = [(0, 0), (0, 1), (1, 0), (1, 1)]
    require(cycle, [0, 0, 0, 0], 1)
    with pytest.raises(SolverError, match="combination of 2 columns of 1 people"):
        require(cycle, [0, 0, 0, 0], 2)
    require(cycle, [3, 3, 3, 3], 2)


def test_who_knows_that_a_cell_is_none_of_those_shown_is_not_alone_with_its_row() -> None:
    """Whoever knows (1, 7) rules out the rows that show (1, 5) and (1, 6); that with (1, *) would be left."""
    rows = [(1, 5), (1, 5), (1, 6), (1, 6), (1, 7)]
    with pytest.raises(SolverError, match="1 people"):
        require(rows, [0, 0, 0b10], 2)


def test_people_are_counted_not_rows() -> None:
    rows = [(0, 0), (0, 1), (0, 0), (0, 1)]
    require(rows, [0, 0], 2, people=[1, 2, 3, 4])
    with pytest.raises(SolverError, match="1 people"):
        require(rows, [0, 0], 2, people=[1, 2, 1, 4])


def test_all_sets_come_once_and_none_before_a_cheaper_one() -> None:
    weights = [2.0, 0.5, 1.0, 1.0]
    found = list(_by_cost(weights))
    everything = [set(one) for size in range(5) for one in combinations(range(4), size)]
    assert sorted(sorted(chosen) for _, chosen in found) == sorted(map(sorted, everything))
    costs = [cost for cost, _ in found]
    assert costs == sorted(costs) == [sum(weights[place] for place in chosen) for _, chosen in found]


def test_a_bound_looks_at_some_of_too_many_sets() -> None:
    """Of 40 columns all but one can be chosen in 40 ways, any number of them in 2 to the power of 40."""
    rows = [tuple((row >> column % 4) % 2 for column in range(40)) for row in range(16)]
    outcome = solve(pack(rows), SolveRequest(2, subsets=39))
    assert outcome.lower_bound is not None
    assert 0 < outcome.lower_bound <= outcome.weighted_cost
