"""How the time of a curve is divided among its values of k."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from kanon_pg import curves
from kanon_pg.core.solving import SolveOutcome, SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.curves import CurveRequest
from kanon_pg.errors import MemoryExceeded, SolverError, SolverUnavailable


@dataclass
class Notes:
    """A database that only keeps its notices and phases."""

    notices: list[str] = field(default_factory=list)
    phases: list[tuple[str, float | None]] = field(default_factory=list)

    def notice(self, message: str) -> None:
        self.notices.append(message)

    def progress(self, phase: str, share: float | None = None) -> None:
        self.phases.append((phase, share))

    def checkpoint(self) -> None:
        """Nobody cancels."""


OUTCOME = SolveOutcome(
    patterns=b"",
    suppressed_cells=8,
    weighted_cost=8.0,
    lower_bound=None,
    optimal=False,
    method="slow",
    bound_method=None,
    classes=1,
    average_class=1.0,
    usefulness=None,
)


@dataclass
class Solver:
    """Takes all the time it is given and some more, on a clock of its own."""

    overrun: float = 0.0
    now: float = 0.0
    notes: dict[int, tuple[str, ...]] = field(default_factory=dict)
    errors: dict[int, SolverError] = field(default_factory=dict)
    later_errors: dict[int, SolverError] = field(default_factory=dict)
    """Errors of the second search."""
    asked: list[SolveRequest] = field(default_factory=list)
    enough: dict[int, float] = field(default_factory=dict)
    """Seconds within which some k are solved, all else is cut; without any, nothing is."""

    def monotonic(self) -> float:
        return self.now

    def solve(self, _row_types: Any, request: SolveRequest, _caller: Any) -> SolveOutcome:
        assert request.seconds is not None
        is_again = any(one.k == request.k for one in self.asked)
        self.asked.append(request)
        enough = self.enough.get(request.k)
        is_cut = enough is not None and enough > request.seconds
        self.now += (request.seconds if is_cut or enough is None else enough) + self.overrun
        if request.k in self.errors:
            raise self.errors[request.k]
        if is_again and request.k in self.later_errors:
            raise self.later_errors[request.k]
        return replace(
            OUTCOME,
            suppressed_cells=request.k,
            weighted_cost=float(request.k),
            notes=self.notes.get(request.k, ()),
            termination=Termination.TIME if is_cut else Termination.EXHAUSTED,
        )


def solve_all(
    monkeypatch: pytest.MonkeyPatch, solver: Solver, ks: list[int], seconds: float
) -> tuple[dict[int, Any], Notes]:
    monkeypatch.setattr(curves, "solve_in_worker", solver.solve)
    monkeypatch.setattr(curves.time, "monotonic", solver.monotonic)
    db = Notes()
    counted: Any = type("Counted", (), {"row_types": None})
    request = CurveRequest("t", ks, time_limit=seconds)
    solved = curves._Solving(db, request, counted, 1).all(ks)  # type: ignore[arg-type]
    monkeypatch.undo()
    return solved, db


def test_each_k_has_an_equal_share_the_largest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver()
    solved, db = solve_all(monkeypatch, solver, [2, 3, 5, 10], 40.0)
    assert [(request.k, request.seconds) for request in solver.asked] == [(k, 10.0) for k in (10, 5, 3, 2)]
    assert set(solved) == {2, 3, 5, 10}
    assert not db.notices


def test_time_that_is_not_used_goes_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver(overrun=-9.0)
    solve_all(monkeypatch, solver, [2, 5], 20.0)
    assert [request.seconds for request in solver.asked] == [10.0, 19.0]


def test_what_all_leave_goes_to_those_that_were_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 30 seconds k = 10 has 10, which is too little; the others leave 18."""
    solver = Solver(enough={10: 15.0, 5: 1.0, 2: 1.0})
    solved, db = solve_all(monkeypatch, solver, [2, 5, 10], 30.0)
    assert [(request.k, request.seconds) for request in solver.asked] == [
        (10, 10.0),
        (5, 10.0),
        (2, 19.0),
        (10, 18.0),
    ]
    assert solved[10].outcome.termination is Termination.EXHAUSTED
    assert solved[10].seconds == 25.0
    assert db.phases[-1] == ("solving for k = 10", 1.0)


def test_a_second_search_that_fails_leaves_the_first_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others leave 27 seconds. Half of them, which k = 10 took in vain, k = 5 does not have."""
    solver = Solver(enough={10: 30.0, 5: 12.0, 4: 1.0, 3: 1.0, 2: 1.0})
    solver.later_errors[10] = MemoryExceeded("too many pairs")
    solved, db = solve_all(monkeypatch, solver, [2, 3, 4, 5, 10], 50.0)
    assert [(request.k, request.seconds) for request in solver.asked[5:]] == [(10, 13.5), (5, 13.5)]
    assert set(solved) == {2, 3, 4, 5, 10}
    assert (solved[10].seconds, solved[10].outcome.termination) == (10.0, Termination.TIME)
    assert solved[5].outcome.termination is Termination.EXHAUSTED
    assert db.notices == ["k = 10 has the solution of its first search: too many pairs"]


def test_other_failures_of_a_second_search_end_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver(enough={5: 15.0, 3: 1.0, 2: 1.0}, later_errors={5: SolverUnavailable("it is gone")})
    with pytest.raises(SolverUnavailable):
        solve_all(monkeypatch, solver, [2, 3, 5], 30.0)


@pytest.mark.parametrize("costs", [(8.0, 9.0), (9.0, 8.0), (8.0, 8.0)])
@pytest.mark.parametrize(
    "bounds", [(5.0, 6.0), (6.0, 5.0), (5.0, 5.0), (None, 5.0), (5.0, None), (None, None)]
)
def test_of_two_searches_the_cheaper_solution_stands_with_the_greater_bound_and_its_proof(
    costs: tuple[float, float], bounds: tuple[float | None, float | None]
) -> None:
    both = [
        replace(OUTCOME, weighted_cost=cost, lower_bound=bound, bound_method=f"proof {i}", prices=bytes([i]))
        for i, (cost, bound) in enumerate(zip(costs, bounds, strict=True))
    ]
    better = curves._better(*both)
    assert better.weighted_cost == min(costs)
    assert better.lower_bound == max((bound for bound in bounds if bound is not None), default=None)
    proofs = [(one.lower_bound, one.bound_method, one.prices) for one in both]
    assert (better.lower_bound, better.bound_method, better.prices) in proofs


def test_nothing_is_searched_again_in_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver(enough={5: 100.0, 2: 9.0})
    solve_all(monkeypatch, solver, [2, 5], 20.0)
    assert [request.k for request in solver.asked] == [5, 2]


def test_a_first_solution_that_takes_long_takes_no_time_from_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Starting the worker is part of it."""
    solver = Solver(overrun=100.0)
    solved, _ = solve_all(monkeypatch, solver, [2, 3, 5], 6.0)
    assert [request.seconds for request in solver.asked] == [2.0, 2.0, 2.0]
    assert set(solved) == {2, 3, 5}


def test_notes_are_told_once_with_their_k(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {2: ("bounded",), 5: ("bounded", "hurried"), 9: ()}
    _, db = solve_all(monkeypatch, Solver(notes=notes), [2, 5, 9], 30.0)
    assert db.notices == ["k = 2 and 5: bounded", "k = 5: hurried"]


def test_progress_is_that_of_the_whole_call(monkeypatch: pytest.MonkeyPatch) -> None:
    _, db = solve_all(monkeypatch, Solver(), [2, 5], 30.0)
    assert db.phases == [("solving for k = 5", 0.0), ("solving for k = 2", 0.5)]


def test_a_k_that_fails_does_with_the_solution_of_a_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver(errors={3: MemoryExceeded("too many pairs")})
    solved, db = solve_all(monkeypatch, solver, [2, 3, 5], 30.0)
    assert set(solved) == {2, 5}
    assert db.notices == ["k = 3 has the solution of a larger k: too many pairs"]


@pytest.mark.parametrize(
    ("k", "error"), [(5, MemoryExceeded("too many pairs")), (3, SolverUnavailable("it is gone"))]
)
def test_what_leaves_no_solution_or_no_solver_ends_the_curve(
    monkeypatch: pytest.MonkeyPatch, k: int, error: SolverError
) -> None:
    with pytest.raises(type(error)):
        solve_all(monkeypatch, Solver(errors={k: error}), [2, 3, 5], 30.0)
