"""Where people have several rows no class gains more than is claimed, and no bound exceeds the optimum."""

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import all_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.solvers.registry import solve
from kanon_pg.worker.verification.certificate import PRICE_UNIT, certified_bound
from kanon_pg.worker.verification.class_demands import NO_CLASS, PricedRows, class_demands
from kanon_pg.worker.verification.demanded_classes import greatest_gain
from tests.fixtures.brute_force import brute_force
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.examples import examples
from tests.fixtures.packing import pack

checked = settings(
    max_examples=examples(150),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

COST = np.int64(PRICE_UNIT)


@st.composite
def groups(draw, *, most_people=None):
    """Row types that agree on the first column, with people, prices and k; some further ones do not agree."""
    size = draw(st.integers(2, 8))
    kinds = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
    who = st.one_of(st.none(), st.integers(0, 5))
    people = draw(st.lists(who, min_size=size, max_size=size))
    if most_people == 1:
        people = kinds
    rows = [("group", kind) for kind in kinds] + [("other", 0)]
    types = RowTypeTable.from_packed(pack(rows, people=[*people, 0]))
    quarters = st.integers(0, 8).map(lambda number: number * PRICE_UNIT // 4)
    prices = np.array(draw(st.lists(quarters, min_size=len(types), max_size=len(types))))
    return types, prices, draw(st.integers(2, 4))


def gain_of(types, members, prices, cost, k):
    demands = class_demands(types, PrivacyModels())
    assert demands is not None
    members = np.array(sorted(members, key=lambda item: -prices[item]), dtype=np.int32)
    priced = PricedRows(types.rows, types.people, prices)
    gain = int(greatest_gain(demands, priced, members, np.int64(cost), k))
    return gain, members, demands.taken[: members.size].copy()


def people_of(types):
    """Return the people of each row type by name, those of their own with names of their own."""
    shared = [set(part.tolist()) for part in np.split(types.shared_people, types.shared_start[1:-1])]
    own = [{(item, number) for number in range(int(count))} for item, count in enumerate(types.own)]
    return [some | others for some, others in zip(shared, own, strict=True)]


def greatest_by_trying(types, members, prices, cost, k):
    """Return the greatest gain of all sets of whole row types with k people, None if there are none."""
    people, gains = people_of(types), []
    for chosen in product((False, True), repeat=len(members)):
        inside = [item for item, is_in in zip(members, chosen, strict=True) if is_in]
        if len(set().union(*(people[item] for item in inside))) >= k:
            gains.append(sum(int(types.rows[item]) * (int(prices[item]) - cost) for item in inside))
    return max(gains, default=None)


@checked
@given(group=groups())
def test_no_class_of_k_people_gains_more(group):
    types, prices, k = group
    members = range(len(types) - 1)
    gain, listed, taken = gain_of(types, members, prices, COST, k)
    best = greatest_by_trying(types, members, prices, int(COST), k)
    assert (gain == NO_CLASS) == (best is None)
    if best is not None:
        assert gain >= best
        worth = (taken * (prices[listed] - COST)).sum()
        assert gain - 1e-6 <= worth + k
        assert (taken <= types.rows[listed] + 1e-9).all()


@checked
@given(group=groups(most_people=1))
def test_with_one_person_per_row_type_it_is_the_gain_of_a_class(group):
    """Each kind of row is somebody of their own, with as many rows as there are."""
    types, prices, k = group
    members = range(len(types) - 1)
    gain, _, _ = gain_of(types, members, prices, COST, k)
    best = greatest_by_trying(types, members, prices, int(COST), k)
    assert gain == (NO_CLASS if best is None else best)


@checked
@given(group=groups(), data=st.data())
def test_higher_prices_more_members_and_lower_costs_never_gain_less(group, data):
    types, prices, k = group
    members = list(range(len(types) - 1))
    gain, _, _ = gain_of(types, members, prices, COST, k)
    higher = prices.copy()
    higher[data.draw(st.sampled_from(members))] += data.draw(st.integers(1, PRICE_UNIT))
    assert gain_of(types, members, higher, COST, k)[0] >= gain
    fewer = members[:]
    fewer.pop(data.draw(st.integers(0, len(members) - 1)))
    assert not fewer or gain_of(types, fewer, prices, COST, k)[0] <= gain
    assert gain_of(types, members, prices, COST - data.draw(st.integers(1, PRICE_UNIT)), k)[0] >= gain


@st.composite
def tables(draw, width=2):
    size = draw(st.integers(3, 6))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=size, max_size=size))
    who = st.one_of(st.none(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
    people = draw(st.lists(who, min_size=size, max_size=size))
    return rows, people, draw(st.integers(2, 3))


@checked
@given(table=tables())
def test_bounds_and_answers_enclose_the_optimum(table):
    rows, people, k = table
    packed = pack(rows, people=people)
    types = RowTypeTable.from_packed(packed)
    vectors = all_patterns(types.columns).vectors
    assume(packed.has_entity and types.total_people >= k)
    optimum = brute_force(types, vectors, k)
    found = raise_prices(types, vectors, k, Clock(), steps=200)
    bound = certified_bound(packed, vectors, k, found.prices)
    assert bound is not None
    assert bound <= optimum + 1e-9
    answer = solve(packed, SolveRequest(k=k, method="exact", seconds=5.0))
    assert answer.lower_bound <= optimum + 1e-9 <= answer.weighted_cost + 1e-6
    assert not answer.optimal or answer.weighted_cost == pytest.approx(optimum)


@checked
@given(table=tables(), data=st.data())
def test_whatever_prices_are_accepted_prove_no_more_than_the_optimum(table, data):
    rows, people, k = table
    packed = pack(rows, people=people)
    types = RowTypeTable.from_packed(packed)
    vectors = all_patterns(types.columns).vectors
    assume(packed.has_entity and types.total_people >= k)
    price = st.integers(0, 10).map(lambda quarters: quarters * PRICE_UNIT // 4)
    prices = np.array(data.draw(st.lists(price, min_size=len(types), max_size=len(types))))
    bound = certified_bound(packed, vectors, k, prices)
    assert bound is None or bound <= brute_force(types, vectors, k) + 1e-9


@pytest.mark.parametrize("models", [PrivacyModels(l=2), PrivacyModels(p=2), PrivacyModels(t=0.5)], ids=str)
@checked
@given(table=tables(), data=st.data())
def test_models_and_people_together(models, table, data):
    rows, people, k = table
    secrets = data.draw(st.lists(st.tuples(st.integers(0, 2)), min_size=len(rows), max_size=len(rows)))
    packed = pack_sensitive(rows, secrets, people=people, ordered=True)
    types = RowTypeTable.from_packed(packed)
    vectors = all_patterns(types.columns).vectors
    assume(packed.has_entity and types.total_people >= k)
    optimum = brute_force(types, vectors, k, models)
    assume(np.isfinite(optimum))
    found = raise_prices(types, vectors, k, Clock(), models=models, steps=200)
    bound = certified_bound(packed, vectors, k, found.prices, models=models)
    assert bound is not None
    assert bound <= optimum + 1e-9


def test_rows_of_one_person_are_no_class():
    """Ann's two rows agree on a column, but she is alone there; counted as rows they would be a class."""
    rows = [("a", "x"), ("a", "y"), ("b", "z"), ("c", "w")]
    packed = pack(rows, people=["Ann", "Ann", "Bob", "Cid"])
    types = RowTypeTable.from_packed(packed)
    vectors = all_patterns(types.columns).vectors
    found = raise_prices(types, vectors, 2, Clock(), steps=500)
    assert brute_force(types, vectors, 2) == 8.0
    assert certified_bound(packed, vectors, 2, found.prices) == 8.0
    as_rows = pack(rows)
    found = raise_prices(RowTypeTable.from_packed(as_rows), vectors, 2, Clock(), steps=500)
    assert certified_bound(as_rows, vectors, 2, found.prices) == 6.0
