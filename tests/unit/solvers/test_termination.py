"""Every search says how it ended, and finishes its first solution whatever the time."""

import json
from typing import Any

import numpy as np
import pytest

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveOutcome, SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers import portfolio
from kanon_pg.worker.solvers.registry import solve
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.packing import pack, solution_of
from tests.fixtures.recoding import Tree, with_trees


def scattered(rows: int = 600, columns: int = 6, distinct: int = 7) -> list[tuple[int, ...]]:
    numbers = np.random.default_rng(1).zipf(1.6, size=(rows, columns)) % distinct
    return [tuple(int(number) for number in row) for row in numbers]


PACKED = pack(scattered())


def ended(packed: PackedRowTypes = PACKED, **wishes: Any) -> Termination:
    return solve(packed, SolveRequest(**{"k": 5, **wishes})).termination


@pytest.mark.parametrize(
    ("method", "termination"),
    [
        ("auto", Termination.TIME),
        ("greedy", Termination.TIME),
        ("exact", Termination.TIME),
        ("mondrian", Termination.EXHAUSTED),
    ],
)
def test_without_time(method: str, termination: Termination) -> None:
    """Mondrian is done with its first solution."""
    assert ended(method=method, seconds=0.0) is termination


def test_a_heuristic_that_simply_ends() -> None:
    assert ended(method="greedy") is Termination.EXHAUSTED


def test_a_proven_optimum() -> None:
    assert ended(pack(scattered(40, 3)), method="exact") is Termination.OPTIMAL
    assert ended(pack([("a", "b")] * 9), seconds=0.0) is Termination.OPTIMAL


def test_within_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "GOAL", 0.9)
    outcome = solve(PACKED, SolveRequest(5))
    assert not outcome.optimal
    assert outcome.termination is Termination.GOAL


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_no_integer_program_is_begun_that_cannot_be_built_in_time(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Once, a call with a limit of one second took 13 on 200,000 rows."""
    begun = []
    monkeypatch.setattr(portfolio, "search_exactly", lambda *given, **_: begun.append(given) or given[4])
    monkeypatch.setattr(portfolio, "GOAL", 0.0)
    ended(method=method, seconds=2.0)
    assert begun
    begun.clear()
    monkeypatch.setattr(portfolio, "_PAIRS_PER_SECOND", 1)
    assert ended(method=method, seconds=2.0) is Termination.TIME
    assert not begun


def test_memory_that_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(portfolio, "raise_prices", fails)
    monkeypatch.setattr(portfolio, "graph_around", fails)
    assert ended() is Termination.MEMORY


@pytest.mark.parametrize("most", [1, 3, 20])
@pytest.mark.parametrize("models", [PrivacyModels(), PrivacyModels(l=2)], ids=["plain", "models"])
def test_a_limit_of_classes_is_met_without_time(most: int, models: PrivacyModels) -> None:
    rows = scattered(200, 4, 4)
    packed = pack_sensitive(rows, [(number % 5,) for number in range(len(rows))])
    outcome = solve(packed, SolveRequest(3, "exact", seconds=0.0, most_classes=most, models=models))
    assert 1 <= outcome.classes <= most
    assert outcome.termination is not Termination.GOAL


def test_enough_classes_are_found_whatever_it_takes() -> None:
    packed = pack(scattered(60, 3, 3))
    plain = solve(packed, SolveRequest(3, "greedy"))
    outcome = solve(packed, SolveRequest(3, "exact", seconds=0.0, fewest_classes=plain.classes + 1))
    assert outcome.classes > plain.classes


def test_pairs_fall_back_on_the_greedy_solution() -> None:
    packed = pack(scattered(101, 4, 5))
    outcome = solve(packed, SolveRequest(2, "pairs", seconds=0.0))
    assert outcome.termination is Termination.TIME
    assert outcome.method.startswith("greedy")
    assert outcome.lower_bound is not None
    table = RowTypeTable.from_packed(packed)
    solution = solution_of(packed, outcome)
    assert classes_of(solution.parts_of(table), solution.vector).people.min() >= 2
    assert ended(packed, k=2, method="pairs") is Termination.OPTIMAL


AGES = Tree({age: (age, age // 10, age // 20) for age in range(20, 60)}, (0.0, 0.25, 0.5, 1.0))
PLACES = Tree({place: (place, place[0]) for place in ("a1", "a2", "b1", "b2")}, (0.0, 0.5, 1.0))


@pytest.mark.parametrize("method", ["auto", "greedy", "local", "mondrian", "exact", "full_domain"])
@pytest.mark.parametrize("models", [PrivacyModels(), PrivacyModels(l=2)], ids=["plain", "models"])
def test_with_hierarchies_the_first_solution_is_a_reasonable_one(method: str, models: PrivacyModels) -> None:
    """Once, every cell was suppressed."""
    random = np.random.default_rng(5)
    ages, places = random.integers(20, 60, 400).tolist(), random.choice(sorted(PLACES.shown), 400)
    rows = [(age, str(place)) for age, place in zip(ages, places, strict=True)]
    sensitive = [(number % 4,) for number in range(400)] if models else [()] * 400
    packed = with_trees(pack_sensitive(rows, sensitive), (AGES, PLACES))
    hurried = solve(packed, SolveRequest(5, method, seconds=0.0, models=models))
    usual = solve(packed, SolveRequest(5, method, models=models))
    assert hurried.weighted_cost < 2 * usual.weighted_cost
    assert usual.termination in (Termination.OPTIMAL, Termination.EXHAUSTED)


def test_a_status_that_nobody_knows_is_refused() -> None:
    outcome = solve(pack([("a",)] * 4), SolveRequest(2))
    told = json.loads(json.dumps(outcome.to_json()))
    assert SolveOutcome.from_json(told, outcome.buffers()) == outcome
    with pytest.raises(ValueError, match="perhaps"):
        SolveOutcome.from_json({**told, "termination": "perhaps"}, outcome.buffers())
