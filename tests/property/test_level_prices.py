"""No bound by prices under hierarchies exceeds the optimum, and hierarchies cost no more than suppression."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError, SolverError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import evaluator_of
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.bounds.reach import cheapest_levels
from kanon_pg.worker.solvers.recoding.forest import all_levels
from kanon_pg.worker.solvers.recoding.prices import raise_level_prices
from kanon_pg.worker.solvers.recoding.task import task_of
from kanon_pg.worker.solvers.registry import solve
from kanon_pg.worker.verification.certificate import NO_MODELS, PRICE_UNIT, certified_bound
from tests.fixtures.diversity import pack_sensitive, violated
from tests.fixtures.examples import examples
from tests.fixtures.recoding import Tree, with_trees
from tests.property.test_recoding import VALUES, least_cost, packed_of, people_in, tables

checked = settings(
    max_examples=examples(50),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

ROUNDING = 1e-9


def raised(packed, k, models=NO_MODELS):
    """Return prices per row type, from a solution in which every cell is suppressed."""
    task = task_of(packed, RowTypeTable.from_packed(packed), SolveRequest(k, models=models), Clock())
    known = np.full(len(task.table), task.table.weights.sum())
    found = raise_level_prices(task, known, float((known * task.table.rows).sum()), Clock())
    assert found is not None
    prices = np.empty_like(found.found.prices)
    prices[task.order] = found.found.prices
    return prices


@checked
@given(table=tables(most_rows=7, may_share=False))
def test_prices_prove_no_more_than_the_optimum_and_at_least_the_cheapest_levels_within_reach(table):
    rows, _, chosen, weights, k = table
    assume(len(rows) >= k)
    packed = packed_of(rows, None, chosen, weights)
    bound = certified_bound(packed, None, k, raised(packed, k))
    assert bound is not None
    assert bound <= least_cost(rows, chosen, weights, lambda part: len(part) >= k) + ROUNDING
    assert bound >= solve(packed, SolveRequest(k, "mondrian")).lower_bound - 1e-4


@checked
@given(table=tables(most_rows=6))
def test_prices_prove_no_more_than_the_optimum_where_people_have_several_rows(table):
    rows, people, chosen, weights, k = table
    assume(people_in(rows, people) >= k)

    def has_enough(part):
        who = {number if people is None else people[number] for number in part} - {None}
        return len(who) >= k

    packed = packed_of(rows, people, chosen, weights)
    bound = certified_bound(packed, None, k, raised(packed, k))
    assert bound is not None
    assert bound <= least_cost(rows, chosen, weights, has_enough) + ROUNDING


@checked
@given(table=tables(most_rows=6, may_share=False), data=st.data())
def test_whatever_prices_are_accepted_prove_no_more_than_the_optimum(table, data):
    rows, _, chosen, weights, k = table
    assume(len(rows) >= k)
    packed = packed_of(rows, None, chosen, weights)
    price = st.integers(0, 16).map(lambda parts: parts * 125_000)
    drawn = data.draw(st.lists(price, min_size=len(packed), max_size=len(packed)))
    bound = certified_bound(packed, None, k, np.array(drawn, dtype=np.int64))
    optimum = least_cost(rows, chosen, weights, lambda part: len(part) >= k)
    assert bound is None or bound <= optimum + ROUNDING


def test_a_price_too_many_proves_nothing():
    # Two pairs that differ in a node of level 1 only: together in pairs a row costs a half.
    tree = Tree({value: (value, value // 2) for value in range(4)}, (0.0, 0.5, 1.0))
    packed = packed_of([(value,) for value in range(4)], None, [tree], [1.0])
    prices = np.full(4, PRICE_UNIT // 2, dtype=np.int64)
    assert certified_bound(packed, None, 2, prices) == 2.0
    prices[3] += 1
    assert certified_bound(packed, None, 2, prices) is None
    prices[2] -= 1
    assert certified_bound(packed, None, 2, prices) == 2.0


def test_a_bound_whose_check_fails_is_an_error(monkeypatch):
    monkeypatch.setattr("kanon_pg.worker.solvers.registry.certified_bound", lambda *_, **__: None)
    tree = Tree({value: (value, value // 2) for value in VALUES}, (0.0, 0.5, 1.0))
    packed = packed_of([(value,) for value in VALUES] * 3, None, [tree], [1.0])
    with pytest.raises(SolverError, match="prove nothing"):
        solve(packed, SolveRequest(4, "local"))


@st.composite
def trees_above_values(draw):
    """Draw a hierarchy in which a value itself loses nothing, as under suppression."""
    height = draw(st.integers(1, 3))
    shown = {value: (value, value // 2, value // 4)[:height] for value in VALUES}
    return Tree(shown, (*[0.0] * len(shown[0]), 1.0), by_share=True)


MODELS = st.sampled_from(
    [PrivacyModels(), PrivacyModels(p=2), PrivacyModels(l=2), PrivacyModels(l=3), PrivacyModels(t=0.3)]
)


@checked
@given(data=st.data(), models=MODELS, method=st.sampled_from(["greedy", "local", "auto"]))
def test_hierarchies_cost_no_more_than_suppression(data, models, method):
    width = data.draw(st.integers(2, 3))
    row = st.tuples(*[st.sampled_from(VALUES)] * width)
    rows = data.draw(st.lists(row, min_size=15, max_size=40))
    secrets = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    plain = pack_sensitive(rows, [(secret,) for secret in secrets])
    chosen = [data.draw(trees_above_values()) for _ in range(width)]
    try:
        suppressed = solve(plain, SolveRequest(3, "greedy", models=models))
    except InfeasibleError:
        return
    found = solve(with_trees(plain, chosen), SolveRequest(3, method, models=models))
    assert found.weighted_cost <= suppressed.weighted_cost + ROUNDING


@pytest.mark.parametrize(
    "models",
    [PrivacyModels(p=2), PrivacyModels(l=2), PrivacyModels(l=2, diversity="entropy"), PrivacyModels(t=0.3)],
    ids=str,
)
@checked
@given(table=tables(most_rows=6, may_share=False), data=st.data())
def test_prices_under_models_prove_no_more_than_the_optimum(models, table, data):
    rows, _, chosen, weights, k = table
    assume(len(rows) >= k)
    drawn = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    secrets = [(secret,) for secret in drawn]

    def is_allowed(part):
        return len(part) >= k and not violated(models, part, secrets, None)

    by_name = {f"c{number}": weight for number, weight in enumerate(weights)}
    packed = with_trees(pack_sensitive(rows, secrets, weights=by_name), chosen)
    optimum = least_cost(rows, chosen, weights, is_allowed)
    assume(np.isfinite(optimum))
    bound = certified_bound(packed, None, k, raised(packed, k, models), models=models)
    assert bound is not None
    assert bound <= optimum + ROUNDING


def cheapest_by_trying(task, k):
    """Return what a row of each row type costs at the cheapest level vector that k people agree at."""
    forest, least = task.forest, np.full(len(task.table), np.inf)
    for level in all_levels(forest):
        place = forest.begin + level * forest.values + task.codes
        _, group = np.unique(forest.nodes[place], axis=0, return_inverse=True)
        enough = np.bincount(group, weights=task.table.people)[group] >= k
        least[enough] = np.minimum(least, forest.loss[place].sum(axis=1))[enough]
    return least


@checked
@given(table=tables(most_rows=7, may_share=False), effort=st.integers(1, 60))
def test_some_level_vectors_prove_no_more_than_the_optimum_and_all_of_them_what_trying_finds(table, effort):
    rows, _, chosen, weights, k = table
    assume(len(rows) >= k)
    packed = packed_of(rows, None, chosen, weights)
    task = task_of(packed, RowTypeTable.from_packed(packed), SolveRequest(k), Clock())
    known = np.full(len(task.table), task.table.weights.sum())
    every, _ = cheapest_levels(task.forest, task.table, k, known, Clock())
    assert every == pytest.approx(cheapest_by_trying(task, k))
    part, _ = cheapest_levels(task.forest, task.table, k, known, Clock(), effort)
    assert (part <= every + ROUNDING).all()
    optimum = least_cost(rows, chosen, weights, lambda part: len(part) >= k)
    assert (part * task.table.rows).sum() <= optimum + ROUNDING


@pytest.mark.parametrize("models", [PrivacyModels(p=2), PrivacyModels(l=2), PrivacyModels(t=0.3)], ids=str)
@checked
@given(table=tables(most_rows=6, may_share=False), data=st.data())
def test_levels_within_reach_under_models_prove_no_more_than_the_optimum(models, table, data):
    rows, _, chosen, weights, k = table
    assume(len(rows) >= k)
    drawn = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    secrets = [(secret,) for secret in drawn]
    by_name = {f"c{number}": weight for number, weight in enumerate(weights)}
    packed = with_trees(pack_sensitive(rows, secrets, weights=by_name), chosen)

    def is_allowed(part):
        return len(part) >= k and not violated(models, part, secrets, None)

    optimum = least_cost(rows, chosen, weights, is_allowed)
    assume(np.isfinite(optimum))
    task = task_of(packed, RowTypeTable.from_packed(packed), SolveRequest(k, models=models), Clock())
    known = np.full(len(task.table), task.table.weights.sum())
    evaluator = evaluator_of(task.table, models)
    reach, _ = cheapest_levels(task.forest, task.table, k, known, Clock(), models=evaluator)
    assert (reach * task.table.rows).sum() <= optimum + ROUNDING


def test_an_effort_for_some_level_vectors_proves_less_than_one_for_all_and_more_than_nothing():
    rows = [(value, other) for value in range(8) for other in range(8)]
    tree = Tree({value: (value, value // 2, value // 4) for value in range(8)}, (0.0, 0.25, 0.5, 1.0))
    packed = packed_of(rows, None, [tree, None], [1.0, 1.0])
    task = task_of(packed, RowTypeTable.from_packed(packed), SolveRequest(4), Clock())
    known = np.full(len(rows), 2.0)

    def bound(effort):
        return cheapest_levels(task.forest, task.table, 4, known, Clock(), effort)[0].sum()

    assert bound(1) == pytest.approx(0.25 * len(rows))
    assert bound(1000) == pytest.approx(0.5 * len(rows))
