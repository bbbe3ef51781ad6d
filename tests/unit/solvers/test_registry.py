"""The front function: refusals, cancelling, time, seeds, every method."""

import subprocess
import sys

import numpy as np
import pytest

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import KERNELS, SolveRequest
from kanon_pg.errors import InfeasibleError, InputError, MemoryExceeded, SolverError, UnknownName
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import GIVEN_UP, SearchResult, Solution
from kanon_pg.worker.solvers import portfolio, registry
from kanon_pg.worker.solvers.registry import METHODS, solve
from kanon_pg.worker.verification.recount import recount
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.packing import integers, pack, solution_of

GENERAL = ("auto", "greedy", "exact", "mondrian")
"""Methods for every kind of table."""


def recounted(packed, outcome):
    table = RowTypeTable.from_packed(packed)
    solution = solution_of(packed, outcome)
    classes = classes_of(solution.parts_of(table), solution.vector)
    assert len(classes) == outcome.classes
    return recount(packed, solution, classes.class_of)


def scattered(rows=600, columns=6, seed=1, distinct=7):
    numbers = np.random.default_rng(seed).zipf(1.6, size=(rows, columns)) % distinct
    return [tuple(int(number) for number in row) for row in numbers]


@pytest.mark.parametrize("k", [1, 0, -3, True, 2.5, None])
def test_k_that_cannot_be_used(k):
    with pytest.raises(InputError, match="k is not a whole number of at least 2"):
        solve(pack(scattered()), SolveRequest(k))


def test_unknown_method_names_the_choices():
    with pytest.raises(UnknownName) as caught:
        solve(pack(scattered()), SolveRequest(5, method="magic"))
    assert all(method in caught.value.hint for method in METHODS)


def test_fewer_than_k_people():
    with pytest.raises(InfeasibleError, match="fewer than k = 4"):
        solve(pack([("a",), ("b",), ("c",)]), SolveRequest(4))
    with pytest.raises(InfeasibleError, match="2 people"):
        solve(pack([("a",)] * 4, people=["p", "q", "p", None]), SolveRequest(3))


def test_empty_table_and_no_column():
    with pytest.raises(InputError, match="no rows"):
        solve(PackedRowTypes(pack([("a",)]).columns, b"", b"", b"", (b"",), (None,)), SolveRequest(2))
    with pytest.raises(InputError, match="no quasi-identifier"):
        solve(PackedRowTypes((), integers([1]), integers([5]), integers([5]), (), ()), SolveRequest(2))


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_weights_that_cannot_be_used(weight):
    with pytest.raises(InputError, match="not a positive finite number"):
        solve(pack([("a",)] * 3, ["x"], weights={"x": weight}), SolveRequest(2))


def test_too_many_columns():
    with pytest.raises(InputError, match="63 quasi-identifiers are too many"):
        solve(pack([tuple(range(63))] * 3), SolveRequest(2))


@pytest.mark.parametrize("method", GENERAL)
@pytest.mark.parametrize("people", [None, [number % 400 for number in range(600)]])
def test_every_method_gives_classes_of_k_people(method, people):
    packed = pack(scattered(), people=people)
    outcome = solve(packed, SolveRequest(5, method=method, seconds=2.0))
    counted = recounted(packed, outcome)
    assert counted.smallest >= 5
    assert counted.suppressed_cells == outcome.suppressed_cells
    assert outcome.lower_bound <= outcome.weighted_cost


@pytest.mark.parametrize("method", GENERAL)
def test_progress_that_raises_cancels(method):
    class Cancelled(Exception):
        pass

    phases = []

    def cancel(phase, share):
        phases.append(phase)
        if phase != "prepare":
            raise Cancelled

    with pytest.raises(Cancelled):
        solve(pack(scattered()), SolveRequest(5, method=method), cancel)
    assert set(phases[:-1]) == {"prepare"}


@pytest.mark.parametrize("method", GENERAL)
def test_no_time_at_all_still_gives_a_whole_first_solution(method):
    packed = pack(scattered())
    outcome = solve(packed, SolveRequest(5, method=method, seconds=0.0))
    assert recounted(packed, outcome).smallest >= 5
    assert 0 < outcome.lower_bound <= outcome.weighted_cost
    assert outcome.suppressed_cells < 0.8 * 600 * 6


def test_a_seed_repeats_itself_and_may_differ_from_others():
    packed = pack(scattered())
    costs = [solve(packed, SolveRequest(5, "greedy", seed=seed)).patterns for seed in (1, 1, 2, 3)]
    assert costs[0] == costs[1]
    assert len(set(costs)) > 1


def test_many_columns_bound_the_mask_and_say_so():
    packed = pack(scattered(rows=300, columns=20))
    outcome = solve(packed, SolveRequest(3, "greedy"))
    assert any("bounded to" in note and "2^20" in note for note in outcome.notes)
    assert recounted(packed, outcome).smallest >= 3
    assert 0 < outcome.lower_bound <= outcome.weighted_cost


def test_a_wrong_solution_is_refused(monkeypatch):
    packed = pack(scattered())
    none = np.zeros(len(packed), dtype=np.int64)
    monkeypatch.setitem(
        registry.METHODS,
        "greedy",
        lambda table, *_: SearchResult(Solution.undivided(table, none), "nothing suppressed"),
    )
    with pytest.raises(SolverError, match="class of 1 people, fewer than 5"):
        solve(packed, SolveRequest(5, method="greedy"))
    monkeypatch.setitem(
        registry.METHODS,
        "greedy",
        lambda table, *_: SearchResult(Solution.undivided(table, none + 1), "outside the mask"),
    )
    with pytest.raises(SolverError, match="not in the mask"):
        solve(packed, SolveRequest(5, method="greedy", patterns=[["c1"]]))


def test_colliding_hashes_are_noticed():
    packed = pack([("a",), ("b",), ("c",), ("d",)])
    table = RowTypeTable.from_packed(packed)
    table.__dict__["hashes"] = np.zeros_like(table.hashes)
    nothing_suppressed = np.zeros(4, dtype=np.int64)
    classes = classes_of(table, nothing_suppressed)
    assert len(classes) == 1
    with pytest.raises(SolverError, match="taken for one class"):
        recount(packed, Solution.undivided(table, nothing_suppressed), classes.class_of)


_WARM_UP = """
import sys
from kanon_pg.worker.compiled import watched
from kanon_pg.worker.warm_up import warm_up
ready = []
with watched(ready.append):
    warm_up(sys.argv[1])
print(*ready)
"""

OF_A_SET = {
    "plain": {"greedy", "mondrian", "local_search", "bounds", "exact", "annealing", "refinement"},
    "models": {"models"},
    "recoding": {"recoding"},
    "audit": {"audit"},
    "pairs": {"pairs"},
}
"""Folders and modules of the solvers whose kernels each set has, beside those that they share."""


@pytest.mark.parametrize("kernels", KERNELS)
def test_warm_up_makes_every_kernel_of_a_set_ready(kernels):
    # a process of its own: in this one, kernels are ready that other tests have used
    done = subprocess.run(
        [sys.executable, "-c", _WARM_UP, kernels], capture_output=True, text=True, check=True
    )
    parts = {part for name in done.stdout.split() for part in name.split(".")}
    assert parts >= OF_A_SET[kernels]


@pytest.mark.parametrize("stage", ["raise_prices", "search_exactly", "refine", "graph_around"])
@pytest.mark.parametrize("error", [MemoryExceeded("too many pairs"), MemoryError()])
def test_a_stage_that_fails_leaves_the_solution_that_is_known(monkeypatch, stage, error):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(portfolio, stage, fails)
    packed = pack(scattered(rows=60))
    outcome = solve(packed, SolveRequest(3, seconds=2.0))
    assert recounted(packed, outcome).smallest >= 3
    if stage in ("raise_prices", "search_exactly"):
        assert any(note.startswith(GIVEN_UP) for note in outcome.notes)


def test_integer_programs_that_fail_under_models_leave_the_solution_that_is_known(monkeypatch):
    def fails(*_, **__):
        raise SolverError("The library for integer programs failed.")

    monkeypatch.setattr(portfolio, "search_exactly_with_models", fails)
    rows = scattered(rows=60)
    packed = pack_sensitive(rows, [(number % 4,) for number in range(60)])
    outcome = solve(packed, SolveRequest(3, models=PrivacyModels(l=2)))
    assert outcome.notes == (f"{GIVEN_UP} The library for integer programs failed.",)


def test_an_unmet_limit_of_classes_is_no_reason_to_return_another_solution(monkeypatch):
    def fails(*_, **__):
        raise MemoryExceeded("too many pairs")

    monkeypatch.setattr(portfolio, "search_exactly", fails)
    with pytest.raises(MemoryExceeded):
        solve(pack(scattered(rows=60)), SolveRequest(3, fewest_classes=20))
