"""Searches under privacy models look at the clock by what the models look at, and end soon after it."""

from typing import Any

import numpy as np
import pytest

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.class_counts import ModelEvaluator
from kanon_pg.worker.models.evaluator import evaluator_of, violations
from kanon_pg.worker.patterns import all_patterns, cheapest_first
from kanon_pg.worker.row_types import RowTypeTable, by_content
from kanon_pg.worker.solvers import portfolio, sensitive_flow
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.solvers.bounds.reach import cheapest_reach
from kanon_pg.worker.solvers.exact import optimum
from kanon_pg.worker.solvers.exact.model_constraints import search_exactly_with_models
from kanon_pg.worker.solvers.greedy import heuristic, rest
from kanon_pg.worker.solvers.greedy.heuristic import greedy
from kanon_pg.worker.solvers.greedy.rest import fill_rest
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.solvers.local_search import improvement
from kanon_pg.worker.solvers.local_search.improvement import improve
from kanon_pg.worker.solvers.recoding import rest as recoding_rest
from kanon_pg.worker.solvers.recoding import top_down
from kanon_pg.worker.solvers.recoding.task import RecodingTask, task_of
from kanon_pg.worker.solvers.refinement import dives
from kanon_pg.worker.solvers.refinement import diving_under_models as diving
from kanon_pg.worker.solvers.refinement.dives import SuppressionDives
from kanon_pg.worker.solvers.registry import solve
from kanon_pg.worker.solvers.sensitive_flow import reassign_sensitively
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.recoding import Tree, with_trees
from tests.fixtures.searching import Ending

K = 3
CENTURY = 3e9
STEPS = ((heuristic, 3_000), (rest, 500), (recoding_rest, 3_000), (top_down, 2_000), (diving, 10))
"""Modules, and the work of a step of theirs in these tests."""

MODELS = [
    PrivacyModels(t=0.0),
    PrivacyModels(t=0.3),
    PrivacyModels(t=0.15, distance="ordered"),
    PrivacyModels(l=3, diversity="entropy"),
    PrivacyModels(l=2, p=3, t=0.6),
]


def packed_rows(rows: int = 400, values: int = 20, **options: Any) -> PackedRowTypes:
    draw = np.random.default_rng(3)
    cells = draw.zipf(1.6, size=(rows, 5)) % 6
    secrets = [(int(value), int(value) % 4) for value in draw.integers(0, values, rows)]
    return pack_sensitive([tuple(map(int, row)) for row in cells], secrets, ordered=True, **options)


def with_hierarchies(packed: PackedRowTypes) -> PackedRowTypes:
    tree = Tree({value: (value, value // 2) for value in range(6)}, (0.0, 0.4, 1.0))
    return with_trees(packed, [tree] * 3 + [None] * 2)


def ordered(packed: PackedRowTypes, models: PrivacyModels) -> tuple[RowTypeTable, ModelEvaluator]:
    table, _ = by_content(RowTypeTable.from_packed(packed))
    return table, evaluator_of(table, models)


class Watching(Clock):
    """A clock that notes how much the models have looked at when it is looked at."""

    def __init__(self, models: ModelEvaluator, seconds: float | None = None) -> None:
        super().__init__(seconds, self.note)
        self.models, self.seen = models, [int(models.work[0])]

    def note(self, phase: str, share: float | None) -> None:
        self.seen.append(int(self.models.work[0]))

    @property
    def longest(self) -> int:
        """The most that was looked at between two looks at the clock, and after the last."""
        return int(np.diff([*self.seen, self.models.work[0]]).max())


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, work in STEPS:
        monkeypatch.setattr(module, "_WORK_PER_STEP", work)
    monkeypatch.setattr(improvement, "_PATIENCE", 700)


@pytest.mark.parametrize("people", [None, [number % 50 for number in range(120)]], ids=["rows", "people"])
@pytest.mark.parametrize("models", MODELS, ids=str)
@pytest.mark.parametrize("is_generalized", [False, True], ids=["suppressed", "generalized"])
def test_small_steps_change_no_result(
    is_generalized: bool, models: PrivacyModels, people: list[int] | None, request: pytest.FixtureRequest
) -> None:
    """A group, a move, a row type of the rest: each goes on where the step before ended, or begins anew."""
    packed = packed_rows(120, people=people)
    packed = with_hierarchies(packed) if is_generalized else packed
    asked = SolveRequest(K, "greedy", models=models)
    usual = solve(packed, asked)
    request.getfixturevalue("small_steps")
    assert solve(packed, asked) == usual


@pytest.mark.usefixtures("small_steps")
def test_a_step_of_the_greedy_heuristic_ends_within_the_groups_of_a_vector() -> None:
    """Once, a step with t-closeness and many values took seconds: thinning out did not count."""
    table, models = ordered(packed_rows(values=200), PrivacyModels(t=0.0))
    clock = Watching(models)
    greedy(table, all_patterns(table.columns).vectors, K, clock, models)
    assert len(clock.seen) > 20
    # a step, and what one group is looked at beyond it: evaluated and thinned out once
    assert clock.longest <= 1_000 + 10 * len(table)
    assert models.work[0] > 20 * clock.longest


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("models", MODELS[1:3], ids=str)
def test_a_step_of_the_local_search_ends_within_the_groups_of_a_vector(models: PrivacyModels) -> None:
    table, evaluator = ordered(packed_rows(values=200), models)
    vectors = all_patterns(table.columns).vectors
    full = np.full(len(table), (1 << table.width) - 1)
    reach = cheapest_reach(table, vectors, K, Clock(), models=evaluator)
    looked = Watching(evaluator)
    improved = improve(table, vectors, full, reach, K, looked, models=evaluator)
    assert (improved != full).any()
    # moves that take more than patience begin anew with twice as much
    assert len(looked.seen) > 100
    assert np.median(np.diff(looked.seen)) < 6 * 700


class Waning(Clock):
    """A clock with a little more than a second left, whatever happened, of which each step takes one."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    def left(self) -> float:
        self.looks += 1
        return 2.0 if self.looks % 2 else 1.0


@pytest.mark.usefixtures("small_steps")
def test_a_move_for_which_there_is_no_time_is_passed_over() -> None:
    table, models = ordered(packed_rows(values=200), PrivacyModels(t=0.3))
    vectors = all_patterns(table.columns).vectors
    full = np.full(len(table), (1 << table.width) - 1)
    reach = cheapest_reach(table, vectors, K, Clock(), models=models)
    costs = {}
    for clock in (Clock(), Waning()):
        found = improve(table, vectors, full, reach, K, clock, models=models)
        classes = classes_of(table, found)
        assert classes.people.min() >= K
        assert not violations(models, classes.class_of, len(classes)).any.any()
        costs[clock.has_cut] = len(classes)
    assert costs[True] < costs[False]


@pytest.mark.parametrize("models", MODELS, ids=str)
@pytest.mark.parametrize("method", ["auto", "greedy", "mondrian", "exact"])
@pytest.mark.parametrize("is_generalized", [False, True], ids=["suppressed", "generalized"])
def test_a_solution_without_time_satisfies_everything(
    is_generalized: bool, method: str, models: PrivacyModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not there is work left for it; `solve` recounts k and the models."""
    packed = packed_rows()
    packed = with_hierarchies(packed) if is_generalized else packed
    for work in (1_000_000, 0):
        for module in (heuristic, top_down):
            monkeypatch.setattr(module, "_WORK_WHEN_LATE", work)
        outcome = solve(packed, SolveRequest(K, method, models=models, seconds=0.0))
        assert outcome.termination in (Termination.TIME, Termination.OPTIMAL)
        assert outcome.lower_bound is not None


@pytest.mark.usefixtures("small_steps")
def test_little_is_done_once_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heuristic, "_WORK_WHEN_LATE", 9_000)
    table, models = ordered(packed_rows(values=200), PrivacyModels(t=0.0))
    vectors = all_patterns(table.columns).vectors
    clock = Watching(models, 0.0)
    greedy(table, vectors, K, clock, models)
    assert clock.has_cut
    assert models.work[0] <= 3 * (1_000 + 10 * len(table))
    before = int(models.work[0])
    greedy(table, vectors, K, Watching(models), models)
    assert models.work[0] - before > 10 * before


def test_classes_are_suppressed_ever_more_at_once_when_time_is_over() -> None:
    """A class after the other took as many rounds as there are classes."""
    rows = [(number // 2, number % 2) for number in range(256)]
    table, models = ordered(pack_sensitive(rows, [(row[1],) for row in rows]), PrivacyModels(t=0.0))
    assigned = np.full(len(table), 0b10)
    assigned[(table.cells[0] == table.cells[0][0]) & (models.codes[0] == 0)] = 0b11
    one_left = np.flatnonzero((assigned == 0b10) & (table.cells[0] == table.cells[0][0]))
    assigned[one_left] = 0b11
    assigned[np.flatnonzero(models.codes[0] == 1)[:100]] = 0b11
    rounds = {}
    for seconds in (None, 0.0):
        clock = Watching(models, seconds)
        found = fill_rest(table, assigned, 2, models, clock)
        classes = classes_of(table, found)
        assert not violations(models, classes.class_of, len(classes)).any[classes.vectors == 0b11].any()
        rounds[seconds] = len(clock.seen)
    assert rounds[0.0] <= 3 + 2 * np.log2(256)


def recoded(packed: PackedRowTypes, models: PrivacyModels) -> RecodingTask:
    request = SolveRequest(K, models=models)
    return task_of(packed, RowTypeTable.from_packed(packed), request, Clock())


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("reports", [0, 2])
def test_a_rest_that_time_ends_is_merged_ever_more_at_once(reports: int) -> None:
    """Once, a call with a limit of one second took 17: each row type tried to join a class."""
    packed = with_hierarchies(packed_rows(values=200))
    task = recoded(packed, PrivacyModels(t=0.1))
    count = len(task.table)
    class_of, others = np.arange(count) // 2, np.arange(count // 2, count, dtype=np.int32)
    clock = Ending(reports)
    found = recoding_rest.assign_rest(task, class_of, others, clock)
    assert clock.counted <= reports + 4 + np.log2(count)
    rest_of = found[others[-1]]
    members = np.flatnonzero(found == rest_of)
    alone = violations(task.demands.evaluator, np.where(found == rest_of, 0, 1), 2)
    assert members.size > others.size / 2
    assert not alone.any[0]


@pytest.mark.usefixtures("small_steps")
def test_regions_that_are_left_when_time_is_over_become_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_down, "_WORK_WHEN_LATE", 2_000)
    task = recoded(with_hierarchies(packed_rows()), PrivacyModels(l=2))
    classes = {}
    for clock in (Clock(), Ending(1)):
        found = top_down.top_down_classes(task, clock)
        assert np.unique(found).tolist() == list(range(int(found.max()) + 1))
        assert not violations(task.demands.evaluator, found, int(found.max()) + 1).any.any()
        classes[clock.is_over()] = int(found.max()) + 1
    assert classes[True] < classes[False]


def sensitive_case() -> tuple[RowTypeTable, Any]:
    draw = np.random.default_rng(4)
    rows = [tuple(map(int, row)) for row in draw.integers(0, 3, size=(80, 3))]
    table = RowTypeTable.from_packed(pack_sensitive(rows, [(int(one),) for one in draw.integers(0, 4, 80)]))
    request = SolveRequest(K, models=PrivacyModels(p=2))
    return table, search_greedily(table, all_patterns(table.columns), request, Clock()).solution


def test_a_flow_in_a_process_of_its_own_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table, solution = sensitive_case()
    here = reassign_sensitively(table, solution, K, 2, Clock())
    called = []
    run = sensitive_flow.run_in_child
    monkeypatch.setattr(sensitive_flow, "run_in_child", lambda *given: called.append(given) or run(*given))
    monkeypatch.setattr(sensitive_flow, "_MANY_ARCS", 0)
    there = reassign_sensitively(table, solution, K, 2, Clock(CENTURY))
    assert len(called) == 1
    assert here is not None
    assert there is not None
    assert here.to_bytes() == there.to_bytes()


def test_a_flow_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, it ended 6 seconds after a limit of one second: the library looks at no clock."""
    table, solution = sensitive_case()
    monkeypatch.setattr(sensitive_flow, "_MANY_ARCS", 0)
    monkeypatch.setattr(sensitive_flow, "run_in_child", lambda work, seconds: None)
    clock = Clock(CENTURY)
    assert reassign_sensitively(table, solution, K, 2, clock) is None
    assert clock.has_cut
    monkeypatch.setattr(sensitive_flow, "_cheapest_flow", None)
    assert reassign_sensitively(table, solution, K, 2, Clock(0.0)) is None


def test_no_integer_program_under_models_is_begun_that_cannot_be_built_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = []
    monkeypatch.setattr(
        portfolio, "search_exactly_with_models", lambda *given, **_: begun.append(given) or given[4]
    )
    monkeypatch.setattr(portfolio, "GOAL", 0.0)
    monkeypatch.setattr(dives, "_MOST_STALE_DIVES", 0)
    packed, request = packed_rows(60), SolveRequest(K, models=PrivacyModels(t=0.3), seconds=600.0)
    solve(packed, request)
    assert begun
    begun.clear()
    monkeypatch.setattr(portfolio, "_PAIRS_PER_SECOND", 0)
    assert solve(packed, request).termination is Termination.TIME
    assert not begun


def test_an_integer_program_under_models_is_not_solved_when_building_it_took_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = RowTypeTable.from_packed(packed_rows(60))
    mask, request = all_patterns(table.columns), SolveRequest(K, models=PrivacyModels(t=0.3))
    start = search_greedily(table, mask, request, Clock())
    monkeypatch.setattr(optimum, "_solve", None)
    found = search_exactly_with_models(table, mask, request, Clock(0.0), start)
    assert found.solution.to_bytes() == start.solution.to_bytes()
    assert found.termination is Termination.TIME


@pytest.mark.parametrize("models", [PrivacyModels(l=2), PrivacyModels(t=0.4)], ids=str)
def test_dives_end_with_the_time(models: PrivacyModels, request: pytest.FixtureRequest) -> None:
    draw = np.random.default_rng(5)
    rows = [tuple(map(int, row)) for row in draw.integers(0, 3, size=(120, 4))]
    table = RowTypeTable.from_packed(pack_sensitive(rows, [(int(one),) for one in draw.integers(0, 5, 120)]))
    mask, asked = all_patterns(table.columns), SolveRequest(K, models=models)
    prices = raise_prices(table, mask.vectors, K, Clock(), models=models, steps=100).prices
    usual = SuppressionDives(table, mask, asked, Clock(), prices).first()
    request.getfixturevalue("small_steps")
    clock = Ending(10**9)
    again = SuppressionDives(table, mask, asked, clock, prices).first()
    assert usual is not None
    assert again is not None
    assert again.to_bytes() == usual.to_bytes()
    for reports in range(0, clock.counted, max(1, clock.counted // 12)):
        ending = Ending(reports)
        SuppressionDives(table, mask, asked, ending, prices).first()
        # what is left is one repaired and improved solution
        assert ending.counted <= reports + 12


def test_vectors_are_tried_without_thinning_once_time_is_over() -> None:
    """A first solution in no time is a reasonable one where groups satisfy the models as they are."""
    table, models = ordered(packed_rows(), PrivacyModels(p=2))
    vectors = cheapest_first(all_patterns(table.columns), table.cardinalities, None)
    late = greedy(table, vectors, K, Clock(0.0), models)
    unhurried = greedy(table, vectors, K, Clock(), models, is_thinned=False)
    assert np.array_equal(late, unhurried)
