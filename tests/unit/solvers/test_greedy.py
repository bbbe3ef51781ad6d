"""The greedy heuristic: worked cases, the paper's tight example, the strict rule for the rest."""

import numpy as np
import pytest

from kanon_pg.core.solving import SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import all_patterns, parse_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers import heuristics
from kanon_pg.worker.solvers.bounds.reach import cheapest_reach
from kanon_pg.worker.solvers.greedy.heuristic import greedy
from kanon_pg.worker.solvers.greedy.rest import fill_rest
from kanon_pg.worker.solvers.local_search.improvement import improve
from kanon_pg.worker.solvers.registry import solve
from tests.fixtures.packing import masks, pack
from tests.fixtures.paper_order import paper_order


def tight_example(k):
    """Return the table and patterns of the proof of Theorem 4: m = k columns."""
    rows = [(1,) * k] * k
    for column in range(k):
        rows += [
            tuple(f"unique {column} {number}" if c == column else 1 for c in range(k))
            for number in range(k - 1)
        ]
    names = [f"c{column}" for column in range(k)]
    return pack(rows, names), [[], *([name] for name in names)]


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_theorem_4_is_tight_for_plain_greedy(k):
    packed, patterns = tight_example(k)
    table = RowTypeTable.from_packed(packed)
    vectors = paper_order(parse_patterns(patterns, table.columns))
    assigned = greedy(table, vectors, k, Clock())
    assert Solution.undivided(table, assigned).cost(table.weights) == (k - 1) * k**2


def test_theorem_4_optimum_is_found_when_the_all_1_rows_are_told_apart_by_improvement():
    packed, patterns = tight_example(3)
    outcome = solve(packed, SolveRequest(3, "greedy", patterns=patterns))
    # Row types are not divided, so the 3 equal rows go to one class; the optimum that divides them is 9.
    assert outcome.suppressed_cells < 18
    assert outcome.lower_bound <= 9


def test_rows_that_occur_k_times_stay_as_they_are():
    outcome = solve(pack([("a", 1)] * 3 + [("b", 1)] * 2 + [("b", 2)]), SolveRequest(3, "greedy"))
    assert masks(outcome.patterns).tolist() == [0b00, 0b10, 0b10]
    assert (outcome.suppressed_cells, outcome.classes) == (3, 2)
    assert outcome.optimal


def test_paper_rule_leaves_a_small_rest_and_the_strict_rule_does_not():
    rows = [("a", 1)] * 4 + [("b", 2)]
    paper = solve(pack(rows), SolveRequest(2, "greedy", rest_may_be_small=True))
    strict = solve(pack(rows), SolveRequest(2, "greedy"))
    assert paper.suppressed_cells == 2
    # All rows of ("a", 1) move together, as one row type.
    assert strict.suppressed_cells == 10
    assert strict.classes == 1


def test_rest_is_filled_from_the_class_that_loses_least():
    rows = [("a", 1, 1)] * 2 + [("a", 1, 2)] * 2 + [("b", 2, n) for n in range(4)] + [("c", 9, 9)]
    table = RowTypeTable.from_packed(pack(rows))
    full = 0b111
    start = np.array([0, 0, 0b100, 0b100, 0b100, 0b100, full])
    filled = fill_rest(table, start, 2)
    # One row type of the class of four can go; it pays for one column already.
    assert (filled == full).sum() == 2
    assert filled[:2].tolist() == [0, 0]
    assert classes_of(table, filled).people.min() >= 2


def test_improvement_borrows_what_a_class_can_spare():
    # Greedy serves the 4 rows that agree on the second column; the lonely fifth row needs one of them.
    rows = [(1, "x", 1), (2, "x", 1), (3, "x", 1), (4, "x", 1), (4, "y", 1)]
    table = RowTypeTable.from_packed(pack(rows))
    mask = all_patterns(table.columns)
    start = np.array([0b001, 0b001, 0b001, 0b001, 0b111])
    start = fill_rest(table, start, 2)
    reach = cheapest_reach(table, mask.vectors, 2, Clock())
    improved = improve(table, mask.vectors, start, reach, 2, Clock())
    assert Solution.undivided(table, improved).cost(table.weights) == 5


def test_distinct_people_count_not_rows():
    rows = [("a",), ("a",), ("b",), ("b",)]
    same_person_twice = solve(pack(rows, people=["p", "p", "q", "r"]), SolveRequest(2, "greedy"))
    assert same_person_twice.suppressed_cells == 4
    assert solve(pack(rows, people=["p", "s", "q", "r"]), SolveRequest(2, "greedy")).suppressed_cells == 0


def test_one_person_in_two_row_types_counts_once_in_their_class():
    rows = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    outcome = solve(pack(rows, people=["p", "p", "q", "r"]), SolveRequest(2, "greedy"))
    assert masks(outcome.patterns).tolist() != [0b10, 0b10, 0b10, 0b10]
    assert outcome.suppressed_cells > 4


def test_weights_decide_what_is_suppressed():
    rows = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    cheap_first = solve(pack(rows, ["x", "y"], weights={"x": 0.5, "y": 4.0}), SolveRequest(2, "greedy"))
    assert set(masks(cheap_first.patterns).tolist()) == {0b01}
    assert cheap_first.weighted_cost == 2.0
    assert cheap_first.suppressed_cells == 4


def test_where_memory_ends_local_search_the_greedy_solution_stays(monkeypatch):
    def without_memory(*_arguments, **_options):
        raise MemoryError

    rng = np.random.default_rng(1)
    row_types = pack([tuple(row) for row in rng.integers(0, 4, (60, 4)).tolist()])
    monkeypatch.setattr(heuristics, "improve", without_memory)
    outcome = solve(row_types, SolveRequest(5, "greedy"))
    assert (outcome.method, outcome.termination) == ("greedy", Termination.MEMORY)
    assert any("not enough memory" in note for note in outcome.notes)
    assert outcome.lower_bound is not None
