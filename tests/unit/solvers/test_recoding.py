"""Tables with hierarchies through the registry: what is refused, what is checked, what is proven."""

import dataclasses
import os
import time

import numpy as np
import pytest

from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest, kernels_for
from kanon_pg.core.termination import Termination
from kanon_pg.errors import InputError, SolverError, UnknownName
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import SearchResult, Solution
from kanon_pg.worker.solvers.bounds import reach
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.solvers.recoding import full_domain, improvement, methods, starts
from kanon_pg.worker.solvers.recoding.starts import Start
from kanon_pg.worker.solvers.registry import solve
from kanon_pg.worker.verification.recount import recount
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.packing import identity, integers, masks, pack
from tests.fixtures.recoding import Tree, with_trees

AGES = Tree({age: (age, age // 10, age // 20) for age in range(20, 60)}, (0.0, 0.25, 0.5, 1.0))
PLACES = Tree({place: (place, place[0]) for place in ("a1", "a2", "b1", "b2")}, (0.0, 0.5, 1.0))


def people(count=120):
    random = np.random.default_rng(5)
    ages = random.integers(20, 60, count).tolist()
    return [(age, random.choice(sorted(PLACES.shown))) for age in ages]


def packed_people(count=120, *, trees=(AGES, PLACES)):
    rows = [(age, str(place)) for age, place in people(count)]
    return with_trees(pack(rows, ["age", "place"]), trees)


def packed_scattered(count=400):
    """Return row types that are mostly unique, so that there is much to choose."""
    random = np.random.default_rng(7)
    rows = [
        (age, str(place), f"{random.choice(list('ab'))}{random.integers(1, 3)}", int(random.integers(0, 6)))
        for age, place in people(count)
    ]
    return with_trees(pack(rows, ["age", "place", "other", "number"]), (AGES, PLACES, PLACES, None))


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"method": "pairs"}, InputError, "Method pairs does not support hierarchies"),
        ({"method": "nothing"}, UnknownName, 'no method "nothing"'),
        ({"patterns": [["age"]]}, InputError, "columns have hierarchies"),
        ({"most_classes": 4}, InputError, "number of classes cannot be limited"),
        ({"rest_may_be_small": True}, InputError, "no class may be small"),
        ({"method": "full_domain", "suppressed_rows": 1.5}, InputError, "not a number from 0 to 1"),
        ({"method": "local", "suppressed_rows": 0.5}, InputError, "cannot limit the suppressed rows"),
    ],
)
def test_what_has_no_meaning_with_hierarchies_is_refused(changes, error, words):
    with pytest.raises(error, match=words):
        solve(packed_people(), SolveRequest(5, **changes))


@pytest.mark.parametrize("method", ["local", "full_domain"])
def test_methods_that_generalize_are_refused_without_hierarchies(method):
    with pytest.raises(InputError, match="no column has a hierarchy"):
        solve(packed_people(trees=(None, None)), SolveRequest(5, method))


def spoiled(**changes):
    """Return row types whose first hierarchy is changed."""
    packed = packed_people()
    broken = dataclasses.replace(packed.hierarchies[0], **changes)
    return dataclasses.replace(packed, hierarchies=(broken, packed.hierarchies[1]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cells": integers([identity(("other", age)) for age in AGES.shown])}, "does not know all values"),
        ({"lowest": 4}, "lowest level"),
        ({"nodes": (AGES.packed().nodes[1], AGES.packed().nodes[0])}, "is no tree"),
        ({"losses": AGES.packed().losses[::-1]}, "not from 0 to 1, or fall"),
        (
            {"losses": (np.arange(40).astype(">f8").tobytes(), *AGES.packed().losses[1:])},
            "not from 0 to 1, or fall",
        ),
        (
            {
                "losses": (
                    AGES.packed().losses[0],
                    np.linspace(0, 0.2, 40).astype(">f8").tobytes(),
                    *AGES.packed().losses[2:],
                )
            },
            "differ within a node of level 1",
        ),
    ],
)
def test_hierarchies_that_cannot_be_used_are_refused_by_column(changes, words):
    with pytest.raises(InputError, match=words) as caught:
        solve(spoiled(**changes), SolveRequest(5, "greedy"))
    assert '"age"' in str(caught.value)


def test_a_wrong_solution_is_refused(monkeypatch):
    def nothing(task):
        rows = np.empty_like(task.table.rows)
        rows[task.order] = task.table.rows
        return SearchResult(Solution(np.arange(rows.size), np.zeros_like(rows), rows), "nothing generalized")

    monkeypatch.setitem(methods.RECODINGS, "greedy", nothing)
    with pytest.raises(SolverError, match="fewer than 5"):
        solve(packed_people(), SolveRequest(5, "greedy"))


def test_a_class_that_shows_two_nodes_is_noticed():
    packed = packed_people()
    table = RowTypeTable.from_packed(packed)
    decades = np.full(len(table), packed.level_fields.pattern_of((1, 2)), dtype=np.int64)
    with pytest.raises(SolverError, match="taken for one class"):
        recount(packed, Solution.undivided(table, decades), np.zeros(len(table), dtype=np.int64))


@pytest.mark.parametrize("pattern", [(0, 3), (0, 0)])
def test_a_level_that_is_not_allowed_is_noticed(pattern):
    trees = (AGES, dataclasses.replace(PLACES, lowest=1))
    packed = packed_people(trees=trees)
    table = RowTypeTable.from_packed(packed)
    vector = np.full(len(table), packed.level_fields.pattern_of(pattern), dtype=np.int64)
    with pytest.raises(SolverError, match="level that is not allowed"):
        recount(packed, Solution.undivided(table, vector), np.arange(len(table)))


def test_local_recoding_is_no_dearer_than_greedy_and_that_no_dearer_than_suppression():
    packed = packed_scattered()
    greedy = solve(packed, SolveRequest(5, "greedy"))
    local = solve(packed, SolveRequest(5, "local"))
    plain = solve(dataclasses.replace(packed, hierarchies=()), SolveRequest(5, "greedy"))
    assert local.weighted_cost < greedy.weighted_cost < plain.weighted_cost
    assert 0 < local.lower_bound < local.weighted_cost


def is_start(given):
    return isinstance(given, Start)


def search_and(then):
    """Return a search of suppression alone that says what it has found before it does something else."""

    def search(table, mask, request, clock, note):
        note(dataclasses.replace(search_greedily(table, mask, request, clock), lower_bound=0.0))
        then()

    return search


@pytest.mark.parametrize("then", [lambda: None, lambda: time.sleep(3600), lambda: os._exit(1)])
@pytest.mark.parametrize("models", [PrivacyModels(), PrivacyModels(p=2)], ids=str)
def test_what_suppression_alone_finds_last_counts_however_its_search_ends(models, then, monkeypatch):
    rows = [(age, str(place)) for age, place in people(300)]
    packed = pack_sensitive(rows, [(number % 7,) for number in range(300)])
    alone = solve(packed, SolveRequest(5, "greedy", models=models))

    def suppressing_everything(task):
        return Start(task, np.zeros(len(task.table), dtype=np.int64), "nothing shown")

    monkeypatch.setattr(methods, "start_of", suppressing_everything)
    monkeypatch.setattr(starts, "search_until_good", search_and(then))
    for stage in ("_improved", "_dived", "refined"):
        monkeypatch.setattr(methods, stage, lambda *given, **_: next(filter(is_start, given)))
    outcome = solve(with_trees(packed, (AGES, PLACES)), SolveRequest(5, "auto", models=models, seconds=5.0))
    assert "suppression alone" in outcome.method
    assert outcome.weighted_cost <= alone.weighted_cost


def test_many_columns_are_split_from_the_top(monkeypatch):
    packed = packed_people(300)
    monkeypatch.setattr("kanon_pg.worker.solvers.recoding.starts.is_lattice_small", lambda *_: False)
    assert "along hierarchies" in solve(packed, SolveRequest(5, "local")).method


@pytest.mark.parametrize("method", ["greedy", "local", "mondrian", "full_domain", "exact", "auto"])
def test_time_that_is_over_leaves_a_valid_solution(method):
    outcome = solve(packed_people(400), SolveRequest(5, method, seconds=0.0))
    assert outcome.weighted_cost > 0
    assert outcome.lower_bound is None or outcome.lower_bound <= outcome.weighted_cost


def test_a_seed_repeats_itself():
    packed = packed_scattered()
    outcomes = [solve(packed, SolveRequest(4, "local", seed=seed)) for seed in (1, 1, 2)]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0].patterns != outcomes[2].patterns


def test_a_class_larger_than_the_bench_gives_row_types_away(monkeypatch):
    monkeypatch.setattr(improvement, "_LEAST_ROOM", 0)
    monkeypatch.setattr(improvement, "_ROOM_PER_PERSON", 2)
    rows = [(age, place) for age in range(20, 60) for place in sorted(PLACES.shown)]
    packed = with_trees(pack(rows, ["age", "place"]), (AGES, PLACES))
    outcome = solve(packed, SolveRequest(4, "local"))
    levels = {packed.level_fields.levels_of(int(pattern)) for pattern in masks(outcome.patterns)}
    assert (3, 2) not in levels


def test_every_method_with_hierarchies_needs_one_set_of_kernels():
    assert kernels_for("auto", PrivacyModels(), has_hierarchies=True) == "recoding"
    assert kernels_for("auto", PrivacyModels(p=2), has_hierarchies=True) == "recoding"
    assert kernels_for("auto", PrivacyModels(p=2)) == "models"


def test_suppression_is_a_hierarchy_only_at_the_usual_price():
    tree = Tree({value: (value,) for value in range(3)}, (0.0, 1.0))
    assert tree.packed().is_suppression
    assert not dataclasses.replace(tree, losses=(0.5, 1.0)).packed().is_suppression
    assert not dataclasses.replace(tree, lowest=1).packed().is_suppression
    assert not PackedHierarchy(2, b"", (b"",), (b"", b"", b"")).is_suppression


def test_models_are_kept_on_a_table_with_many_classes():
    rows = people(300)
    secrets = [(number % 3,) for number in range(300)]
    packed = with_trees(pack_sensitive([(a, str(b)) for a, b in rows], secrets), (AGES, PLACES))
    free = solve(packed, SolveRequest(3, "local"))
    bound = solve(packed, SolveRequest(3, "local", models=PrivacyModels(p=3)))
    assert free.weighted_cost < bound.weighted_cost
    assert free.classes > bound.classes


def test_a_table_of_too_many_level_vectors_has_the_bound_of_first_steps(monkeypatch):
    every = solve(packed_scattered(), SolveRequest(5, "greedy"))
    monkeypatch.setattr(reach, "MOST_VECTORS", 1)
    outcome = solve(packed_scattered(), SolveRequest(5, "greedy"))
    assert (every.bound_method, outcome.bound_method) == (reach.BY_REACH_OF_LEVELS, reach.BY_FIRST_STEPS)
    assert 0 < outcome.lower_bound <= every.lower_bound
    assert not outcome.optimal


def test_full_domain_suppresses_a_dearer_group_where_the_cheapest_has_too_many_rows() -> None:
    # Four rows in a node that loses much, two in one that loses nothing, and one row alone. With that row
    # one more group has to go: of the four rows it would cost less, but they are more than may be suppressed.
    shares = Tree(
        {value: (value, "few" if value < 4 else value) for value in range(6)}, (0, 0.5, 1), 1, by_share=True
    )
    rows = [(value,) for value in (0, 1, 2, 3, 4, 4, 5)]
    outcome = solve(
        with_trees(pack(rows, ["value"]), [shares]), SolveRequest(2, "full_domain", suppressed_rows=3 / 7)
    )
    assert outcome.weighted_cost == pytest.approx(4 * 3 / 5 + 3)
    assert outcome.optimal
    assert outcome.lower_bound == outcome.weighted_cost
    assert outcome.bound_method == methods.FULL_DOMAIN_BOUND


def test_full_domain_without_time_for_all_level_vectors_claims_no_optimum(monkeypatch) -> None:
    monkeypatch.setattr(full_domain, "_VECTORS_PER_REPORT", 1)
    outcome = solve(packed_scattered(), SolveRequest(5, "full_domain", seconds=0.0))
    assert outcome.termination is Termination.TIME
    assert not outcome.optimal
    assert outcome.bound_method != methods.FULL_DOMAIN_BOUND
