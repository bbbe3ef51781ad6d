"""Bounds by prices that use privacy models never exceed the optimum; gains are those of some class."""

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.models.evaluator import require_feasible
from kanon_pg.worker.patterns import all_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.solvers.bounds.repair import lower_prices_under
from kanon_pg.worker.solvers.refinement.diving_under_models import _whole_rows
from kanon_pg.worker.verification.certificate import PRICE_UNIT, certified_bound
from kanon_pg.worker.verification.class_demands import NO_CLASS, PricedRows, class_demands
from kanon_pg.worker.verification.demanded_classes import greatest_gain
from tests.fixtures.brute_force import brute_force, single_rows
from tests.fixtures.diversity import MODELS, pack_sensitive, violated
from tests.fixtures.examples import examples

checked = settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

EXACT = [models for models in MODELS if models.t is None and models.diversity != "entropy"]
"""Models under which the greatest gain is that of a class, not of one that is nearly allowed."""

ROUNDING = 1e-9
CLOSE = 100
"""What gains differ by, in millionths of a cell, where their program is solved in floating point."""

MOST = 5_000


@st.composite
def tables(draw, sensitive=1, most=7):
    width = draw(st.integers(1, 2))
    size = draw(st.integers(3, most))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=size, max_size=size))
    secret = st.tuples(*[st.sampled_from([0, 1, 5, None])] * sensitive)
    secrets = draw(st.lists(secret, min_size=size, max_size=size))
    return rows, secrets, draw(st.integers(2, 4))


def proven(packed, types, k, models, target=np.inf):
    vectors = all_patterns(types.columns).vectors
    found = raise_prices(types, vectors, k, Clock(), models=models, target=target, steps=200)
    bound = certified_bound(packed, vectors, k, found.prices, models=models)
    assert bound is not None
    return bound


@pytest.mark.parametrize("sensitive", [1, 2], ids=["one column", "two columns"])
@pytest.mark.parametrize("models", MODELS, ids=str)
@checked
@given(data=st.data())
def test_bounds_do_not_exceed_the_optimum_of_divided_row_types(models, sensitive, data):
    rows, secrets, k = data.draw(tables(sensitive))
    packed = pack_sensitive(rows, secrets, ordered=True)
    types = RowTypeTable.from_packed(packed)
    vectors = all_patterns(types.columns).vectors
    assume(types.total_people >= k and vectors.size ** len(rows) <= MOST)
    optimum = brute_force(single_rows(types), vectors, k, models)
    assert np.isinf(optimum) or proven(packed, types, k, models) <= optimum + ROUNDING


@pytest.mark.parametrize("models", MODELS, ids=str)
@checked
@given(table=tables(), data=st.data())
def test_bounds_do_not_exceed_the_optimum_where_people_have_several_rows(models, table, data):
    rows, secrets, k = table
    who = st.one_of(st.none(), st.integers(0, len(rows)))
    people = data.draw(st.lists(who, min_size=len(rows), max_size=len(rows)))
    packed = pack_sensitive(rows, secrets, people=people, ordered=True)
    types = RowTypeTable.from_packed(packed)
    vectors = all_patterns(types.columns).vectors
    assume(types.total_people >= k and vectors.size ** len(types) <= MOST)
    optimum = brute_force(types, vectors, k, models)
    assert np.isinf(optimum) or proven(packed, types, k, models) <= optimum + ROUNDING


def greatest_by_trying(types, members, cost, k, prices, models):
    """Return the greatest gain of all choices of rows that the definitions allow, None if there are none."""
    secrets = [tuple(types.sensitive[:, item].tolist()) for item in range(len(types))]
    gains = []
    for taken in product(*(range(int(types.rows[item]) + 1) for item in members)):
        held = [secrets[item] for item, rows in zip(members, taken, strict=True) for _ in range(rows)]
        if len(held) >= k and not violated(models, list(range(len(held))), held, None):
            gains.append(sum(rows * (int(prices[m]) - cost) for m, rows in zip(members, taken, strict=True)))
    return max(gains, default=None)


@pytest.mark.parametrize("models", EXACT, ids=str)
@checked
@given(table=tables(), data=st.data())
def test_the_greatest_gain_is_that_of_trying_every_class(models, table, data):
    _, secrets, k = table
    types = RowTypeTable.from_packed(pack_sensitive([("a",)] * len(secrets) + [("b",)], [*secrets, (9,)]))
    quarters = st.integers(-8, 8).map(lambda number: number * PRICE_UNIT // 4)
    prices = np.array(data.draw(st.lists(quarters, min_size=len(types), max_size=len(types))))
    members = [item for item in range(len(types)) if types.cells[0][item] == types.cells[0][0]]
    members.sort(key=lambda item: -prices[item])
    demands = class_demands(types, models)
    assert demands is not None
    priced = PricedRows(types.rows, types.people, prices)
    gain = greatest_gain(demands, priced, np.array(members, dtype=np.int32), np.int64(PRICE_UNIT), k)
    expected = greatest_by_trying(types, members, PRICE_UNIT, k, prices, models)
    assert gain == (NO_CLASS if expected is None else expected)
    if expected is not None:
        taken = demands.taken[: len(members)].astype(int).tolist()
        held = [
            tuple(types.sensitive[:, m].tolist())
            for m, t in zip(members, taken, strict=True)
            for _ in range(t)
        ]
        assert len(held) >= k
        assert not violated(models, list(range(len(held))), held, None)
        assert gain == sum(t * (int(prices[m]) - PRICE_UNIT) for m, t in zip(members, taken, strict=True))


@pytest.mark.parametrize("models", MODELS, ids=str)
@checked
@given(table=tables(), data=st.data())
def test_whatever_prices_are_accepted_prove_no_more_than_the_optimum(models, table, data):
    rows, secrets, k = table
    packed = pack_sensitive(rows, secrets, ordered=True)
    types = RowTypeTable.from_packed(packed)
    vectors = all_patterns(types.columns).vectors
    assume(types.total_people >= k and vectors.size ** len(rows) <= MOST)
    prices = [PRICE_UNIT // 2 * data.draw(st.integers(-6, 6)) for _ in range(len(types))]
    bound = certified_bound(packed, vectors, k, np.array(prices), models=models)
    assume(bound is not None and bound > 0)
    assert bound <= brute_force(single_rows(types), vectors, k, models) + ROUNDING


@pytest.mark.parametrize("models", MODELS, ids=str)
@checked
@given(table=tables(), data=st.data())
def test_lowered_prices_leave_no_class_that_gains(models, table, data):
    _, secrets, k = table
    types = RowTypeTable.from_packed(pack_sensitive([("a",)] * len(secrets) + [("b",)], [*secrets, (9,)]))
    quarters = st.integers(-8, 12).map(lambda number: number * PRICE_UNIT // 4)
    before = np.array(data.draw(st.lists(quarters, min_size=len(types), max_size=len(types))))
    members = np.array([m for m in range(len(types)) if types.cells[0][m] == types.cells[0][0]], np.int32)
    demands = class_demands(types, models)
    assert demands is not None
    priced = PricedRows(types.rows, types.people, before.copy())
    begin, cost = np.array([0, members.size]), np.array([PRICE_UNIT])
    lower_prices_under(demands, begin, members, cost, k, priced)
    assert (priced.prices <= before).all()
    members = members[np.argsort(-priced.prices[members], kind="stable")]
    assert greatest_gain(demands, priced, members, cost[0], k) <= 0


@pytest.mark.parametrize("t", [0.2, 0.4])
@checked
@given(table=tables(), data=st.data())
def test_whole_rows_of_a_dive_are_near_enough_to_the_whole_table(t, table, data):
    _, secrets, k = table
    types = RowTypeTable.from_packed(pack_sensitive([("a",)] * len(secrets) + [("b",)], [*secrets, (0,)]))
    quarters = st.integers(-8, 8).map(lambda number: number * PRICE_UNIT // 4)
    prices = np.array(data.draw(st.lists(quarters, min_size=len(types), max_size=len(types))))
    members = np.array([m for m in range(len(types)) if types.cells[0][m] == types.cells[0][0]], np.int32)
    members = members[np.argsort(-prices[members], kind="stable")]
    demands, taken = class_demands(types, PrivacyModels(t=t)), np.zeros(members.size, dtype=np.int64)
    assert demands is not None
    priced, cost = PricedRows(types.rows, types.people, prices), np.int64(PRICE_UNIT)
    gain = _whole_rows(demands, priced, members, cost, k, taken)
    assume(gain > NO_CLASS)
    assert (taken <= types.rows[members]).all()
    assert taken.sum() >= k
    assert (
        gain
        == ((prices[members] - PRICE_UNIT) * taken).sum()
        <= greatest_gain(demands, priced, members, cost, k)
    )
    secret = types.sensitive[0]
    shares = {one: types.rows[secret == one].sum() / types.total_rows for one in secret.tolist()}
    found = {one: taken[secret[members] == one].sum() / taken.sum() for one in shares}
    assert sum(abs(found[one] - share) for one, share in shares.items()) / 2 <= t + ROUNDING


def test_rows_without_which_others_cannot_stay_have_prices_below_0():
    """In each place one row has to be suppressed; with prices of at least 0 nothing is proven."""
    rows = [("a",), ("a",), ("a",), ("b",), ("b",), ("b",)]
    secrets = [(0,), (0,), (1,), (0,), (1,), (1,)]
    packed = pack_sensitive(rows, secrets)
    types = RowTypeTable.from_packed(packed)
    vectors = all_patterns(types.columns).vectors
    found = raise_prices(types, vectors, 2, Clock(), models=PrivacyModels(l=2), target=2.0)
    assert found.prices.min() < 0
    assert certified_bound(packed, vectors, 2, found.prices, models=PrivacyModels(l=2)) == 2.0
    assert brute_force(single_rows(types), vectors, 2, PrivacyModels(l=2)) == 2.0


def test_a_distance_that_is_ignored_proves_less():
    """Half of the table has each value: only classes with both are near enough, so that no row can stay."""
    rows = [("a",), ("a",), ("a",), ("b",), ("b",), ("b",)]
    secrets = [(0,), (0,), (0,), (1,), (1,), (1,)]
    packed = pack_sensitive(rows, secrets)
    types = RowTypeTable.from_packed(packed)
    assert proven(packed, types, 2, PrivacyModels(t=0.6), 6.0) == 0.0
    assert proven(packed, types, 2, PrivacyModels(t=0.4), 6.0) > 3.0


def test_a_model_that_is_ignored_proves_less():
    rows = [("a", "x"), ("a", "x"), ("b", "y"), ("b", "y")]
    secrets = [(0,), (0,), (1,), (1,)]
    packed = pack_sensitive(rows, secrets)
    types = RowTypeTable.from_packed(packed)
    models = PrivacyModels(l=2)
    require_feasible(types, models)
    assert proven(packed, types, 2, PrivacyModels()) == 0.0
    assert proven(packed, types, 2, models) == 8.0


def test_no_model_allows_a_class_that_it_has_not():
    packed = pack_sensitive([("a",), ("b",)], [(0,), (0,)])
    types = RowTypeTable.from_packed(packed)
    with pytest.raises(InfeasibleError):
        require_feasible(types, PrivacyModels(l=2))
