"""What the solutions for some k say about the others."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.core.solving import SolveOutcome
from kanon_pg.core.termination import Termination
from kanon_pg.curves import CurvePoint, SolvedPoint, points_of
from kanon_pg.errors import SolverError

CELLS = 1000


def solved(
    cost: float, bound: float | None = None, *, method: str = "greedy", classes: int = 3
) -> SolvedPoint:
    outcome = SolveOutcome(
        patterns=b"",
        suppressed_cells=int(cost),
        weighted_cost=float(cost),
        lower_bound=bound,
        optimal=bound == cost,
        method=method,
        bound_method=None,
        classes=classes,
        average_class=7.5,
        usefulness=None,
    )
    return SolvedPoint(outcome, 0.5)


def by_k(points: tuple[CurvePoint, ...]) -> dict[int, CurvePoint]:
    return {point.k: point for point in points}


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[int], dict[int, SolvedPoint], dict[int, int]]:
    """True optima that never decrease with k, and for some k a solution above and a bound below."""
    ks = sorted(draw(st.sets(st.integers(2, 60), min_size=1, max_size=8)))
    optima = sorted(draw(st.lists(st.integers(0, 200), min_size=len(ks), max_size=len(ks))))
    found = {}
    for k, optimum in zip(ks, optima, strict=True):
        if k == ks[-1] or draw(st.booleans()):
            bound = draw(st.none() | st.integers(0, optimum).map(float))
            found[k] = solved(optimum + draw(st.integers(0, 100)), bound, method=f"for {k}")
    return ks, found, dict(zip(ks, optima, strict=True))


@given(answers())
def test_costs_and_bounds_never_decrease_and_enclose_the_optimum(
    drawn: tuple[list[int], dict[int, SolvedPoint], dict[int, int]],
) -> None:
    ks, found, optima = drawn
    points = points_of(ks, found, CELLS)
    assert [point.k for point in points] == ks
    for point in points:
        assert point.weighted_cost >= optima[point.k]
        assert point.lower_bound is None or point.lower_bound <= optima[point.k]
        assert point.optimal == (point.lower_bound == point.weighted_cost)
        assert point.suppressed_share == point.suppressed_cells / CELLS
    for one, next_one in pairwise(points):
        assert one.weighted_cost <= next_one.weighted_cost
        assert one.lower_bound is None or next_one.lower_bound is not None
        assert (one.lower_bound or 0) <= (next_one.lower_bound or 0)


@given(answers())
def test_nothing_is_worse_than_what_was_found_for_this_k(
    drawn: tuple[list[int], dict[int, SolvedPoint], dict[int, int]],
) -> None:
    ks, found, _ = drawn
    points = by_k(points_of(ks, found, CELLS))
    for k, one in found.items():
        assert points[k].weighted_cost <= one.outcome.weighted_cost
        assert (points[k].lower_bound or 0) >= (one.outcome.lower_bound or 0)


def test_a_better_solution_for_a_larger_k_serves_and_is_named() -> None:
    points = by_k(points_of([2, 5, 9], {2: solved(80), 5: solved(70, classes=4), 9: solved(90)}, CELLS))
    assert [points[k].suppressed_cells for k in (2, 5, 9)] == [70, 70, 90]
    assert (points[2].method, points[2].classes) == ("greedy, for k = 5", 4)
    assert points[5].method == "greedy"


def test_of_equal_solutions_the_own_one_is_shown() -> None:
    points = by_k(points_of([2, 5], {2: solved(70, method="own"), 5: solved(70)}, CELLS))
    assert points[2].method == "own"


def test_a_k_that_had_no_turn_has_the_next_solution_and_no_time() -> None:
    point = by_k(points_of([2, 5], {5: solved(70, 60.0)}, CELLS))[2]
    assert (point.suppressed_cells, point.lower_bound, point.gap, point.elapsed) == (70, None, None, 0.0)


def test_a_bound_for_a_smaller_k_can_prove_a_solution_optimal() -> None:
    points = by_k(points_of([2, 5], {2: solved(70, 70.0), 5: solved(70, 10.0)}, CELLS))
    assert points[5].optimal
    assert points[5].gap == 0.0


def test_a_solution_without_any_cost_has_no_gap() -> None:
    (point,) = points_of([2], {2: solved(0, 0.0)}, CELLS)
    assert (point.gap, point.optimal) == (0.0, True)


def test_a_bound_that_a_larger_k_disproves_is_not_shown() -> None:
    with pytest.raises(SolverError, match="for k = 5 costs less than what was proven for k = 2"):
        points_of([2, 5], {2: solved(80, 75.0), 5: solved(70, 70.0)}, CELLS)


@pytest.mark.parametrize(("cost", "bound", "gap"), [(80, 60.0, 0.25), (80, 0.0, 1.0)])
def test_gap_is_the_share_of_the_cost_that_may_be_avoidable(cost: int, bound: float, gap: float) -> None:
    (point,) = points_of([2], {2: solved(cost, bound)}, CELLS)
    assert point.gap == gap


def test_each_point_says_how_its_own_search_ended() -> None:
    """A solution of a larger k does not change that; a bound of a smaller one that is reached does."""
    ended = [Termination.TIME, Termination.EXHAUSTED, Termination.GOAL]
    costs = {2: (30.0, None), 3: (20.0, None), 5: (40.0, 30.0)}
    found = {
        k: SolvedPoint(replace(solved(*costs[k]).outcome, termination=one), 0.1)
        for k, one in zip(costs, ended, strict=True)
    }
    points = by_k(points_of([2, 3, 5], found, CELLS))
    assert [points[k].termination for k in (2, 3, 5)] == ended
    found[2] = solved(20.0, 20.0)
    points = by_k(points_of([2, 3, 5], found, CELLS))
    assert points[3].termination is Termination.OPTIMAL
    del found[3]
    found[2] = solved(20.0, 5.0)
    assert by_k(points_of([2, 3, 5], found, CELLS))[3].termination is Termination.MEMORY
