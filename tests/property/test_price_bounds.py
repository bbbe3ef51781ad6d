"""No certified bound exceeds the optimum, on random small tables of every kind."""

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import parse_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.solvers.bounds.reach import cheapest_reach
from kanon_pg.worker.verification.certificate import certified_bound
from tests.fixtures.brute_force import brute_force, single_rows
from tests.fixtures.examples import examples
from tests.fixtures.packing import pack

checked = settings(
    max_examples=examples(50),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

ROUNDING = 1e-9


@st.composite
def cases(draw, with_people):
    width = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=2, max_size=5))
    names = [f"c{column}" for column in range(width)]
    weights = {name: draw(st.sampled_from([1.0, 1.0, 0.5, 0.3, 2.0, 3.25])) for name in names}
    people = None
    if with_people:
        who = st.one_of(st.none(), st.integers(0, len(rows)))
        people = draw(st.lists(who, min_size=len(rows), max_size=len(rows)))
    packed = pack(rows, names, people=people, weights=weights)
    table = RowTypeTable.from_packed(packed)
    asked = draw(st.lists(st.lists(st.sampled_from(names), unique=True), min_size=1, max_size=6))
    mask = parse_patterns(draw(st.sampled_from([{}, asked])), table.columns)
    return packed, table, mask.vectors, draw(st.integers(2, 4))


@checked
@given(case=cases(with_people=False))
def test_bounds_do_not_exceed_the_optimum_of_divided_row_types(case):
    packed, table, vectors, k = case
    assume(table.total_people >= k and vectors.size**table.total_rows <= 5_000)
    found = raise_prices(table, vectors, k, Clock(), steps=200)
    bound = certified_bound(packed, vectors, k, found.prices)
    assert bound is not None
    assert bound <= brute_force(single_rows(table), vectors, k) + ROUNDING
    assert bound >= (cheapest_reach(table, vectors, k, Clock()) * table.rows).sum() - 1e-4


@checked
@given(case=cases(with_people=True))
def test_bounds_do_not_exceed_the_optimum_where_people_have_several_rows(case):
    packed, table, vectors, k = case
    assume(table.total_people >= k and vectors.size ** len(table) <= 5_000)
    found = raise_prices(table, vectors, k, Clock(), steps=200)
    bound = certified_bound(packed, vectors, k, found.prices)
    assert bound is not None
    assert bound <= brute_force(table, vectors, k) + ROUNDING


@checked
@given(case=cases(with_people=False), data=st.data())
def test_whatever_prices_are_accepted_prove_no_more_than_the_optimum(case, data):
    packed, table, vectors, k = case
    assume(table.total_people >= k and vectors.size**table.total_rows <= 5_000)
    price = st.integers(0, 12).map(lambda quarters: quarters * 250_000)
    drawn = data.draw(st.lists(price, min_size=len(table), max_size=len(table)))
    prices = np.array(drawn, dtype=np.int64)
    bound = certified_bound(packed, vectors, k, prices)
    optimum = brute_force(single_rows(table), vectors, k)
    assert bound is None or bound <= optimum + ROUNDING
    assert bound is not None or prices.any()
