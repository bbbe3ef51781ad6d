"""Prices prove bounds as high as the linear relaxation, and are valid whenever the search ends."""

import numpy as np
import pytest

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import all_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.bounds.prices import Collected, collect_and_repair, raise_prices
from kanon_pg.worker.solvers.bounds.reach import cheapest_reach
from kanon_pg.worker.verification.certificate import (
    PRICE_UNIT,
    PricedGroups,
    broken_groups,
    certified_bound,
    formable_classes,
)
from kanon_pg.worker.verification.class_demands import PricedRows, class_demands
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.packing import pack, shared_rows
from tests.fixtures.searching import Ending
from tests.unit.solvers.test_paper_tables import CMC

# The middle row can join either neighbour, not both: three rows cost 4, the cheapest patterns only 3.
CHAIN = [("a", "x"), ("a", "y"), ("b", "y")]


def random_rows(seed=7, count=300, width=4):
    random = np.random.default_rng(seed)
    return [tuple(row) for row in random.integers(0, 6, (count, width)).tolist()]


def table_and_vectors(rows, **options):
    table = RowTypeTable.from_packed(pack(rows, **options))
    return table, all_patterns(table.columns).vectors


def test_prices_prove_more_than_the_cheapest_patterns():
    table, vectors = table_and_vectors(CHAIN)
    found = raise_prices(table, vectors, 2, Clock())
    assert cheapest_reach(table, vectors, 2, Clock()).sum() == 3
    assert found.bound == pytest.approx(4, abs=0.01)
    assert certified_bound(table, vectors, 2, found.prices) == 4.0


@pytest.mark.parametrize(("k", "published"), [(3, 3_072), (5, 3_888)])
def test_bounds_of_cmc_with_all_patterns_reach_those_of_the_linear_relaxation(k, published):
    table, vectors = table_and_vectors(shared_rows("cmc", CMC), names=CMC)
    found = raise_prices(table, vectors, k, Clock())
    bound = certified_bound(table, vectors, k, found.prices)
    assert bound is not None
    assert bound >= published


@pytest.mark.parametrize("k", [2, 5, 20])
def test_the_bound_is_what_the_certificate_says(k):
    table, vectors = table_and_vectors(random_rows())
    found = raise_prices(table, vectors, k, Clock())
    assert found.complete
    assert found.bound == pytest.approx(int((found.prices * table.rows).sum()) / PRICE_UNIT)
    bound = certified_bound(table, vectors, k, found.prices)
    assert bound is not None
    assert found.bound <= bound < found.bound + 1
    assert found.bound >= cheapest_reach(table, vectors, k, Clock()) @ table.rows


def test_prices_of_which_none_can_rise_end_the_ascent():
    """The gradient is 0 from some step on, and what momentum leaves of earlier ones has no square."""
    rows = ["aa", "aa", "ab", "bc", "bc", "ba", "cb", "ac"]
    table, vectors = table_and_vectors([tuple(row) for row in rows], weights={"c0": 0.3, "c1": 0.3})
    found = raise_prices(table, vectors, 4, Clock(), target=3.5999999999999996)
    assert found.complete
    assert (found.prices >= 0).all()
    assert certified_bound(table, vectors, 4, found.prices) is not None


def test_the_same_table_gets_the_same_prices():
    table, vectors = table_and_vectors(random_rows())
    one, other = (raise_prices(table, vectors, 3, Clock(), target=900.0) for _ in range(2))
    assert np.array_equal(one.prices, other.prices)


@pytest.mark.parametrize("steps", [0, 1, 10, 100, 500])
def test_prices_are_valid_after_any_number_of_steps(steps):
    table, vectors = table_and_vectors(random_rows())
    found = raise_prices(table, vectors, 5, Clock(), steps=steps)
    assert certified_bound(table, vectors, 5, found.prices) is not None


def test_more_steps_never_prove_less():
    table, vectors = table_and_vectors(random_rows())
    bounds = [raise_prices(table, vectors, 5, Clock(), steps=steps).bound for steps in (0, 60, 200, 600)]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


def test_without_time_the_prices_are_those_of_the_start():
    table, vectors = table_and_vectors(random_rows())
    start = np.full(len(table), PRICE_UNIT // 10)
    start[(table.rows >= 5)] = 0
    found = raise_prices(table, vectors, 5, Clock(0.0), start=start)
    assert np.array_equal(found.prices, start)
    assert not found.complete


def test_what_a_start_proves_is_never_lost():
    table, vectors = table_and_vectors(random_rows())
    high = raise_prices(table, vectors, 5, Clock())
    again = raise_prices(table, vectors, 5, Clock(), start=high.prices, steps=30)
    assert again.bound >= high.bound


def test_prices_for_a_small_k_are_valid_for_a_larger_one():
    table, vectors = table_and_vectors(random_rows())
    small = raise_prices(table, vectors, 2, Clock())
    assert certified_bound(table, vectors, 4, small.prices) is not None
    assert raise_prices(table, vectors, 4, Clock(), start=small.prices).bound > small.bound


def test_a_target_far_too_high_or_low_changes_no_validity():
    table, vectors = table_and_vectors(random_rows())
    for target in (1.0, 1e9):
        found = raise_prices(table, vectors, 5, Clock(), target=target)
        assert certified_bound(table, vectors, 5, found.prices) is not None


def test_weights_beyond_all_measure_prove_nothing():
    table, vectors = table_and_vectors(CHAIN, weights={"c0": 1e300})
    assert raise_prices(table, vectors, 2, Clock()).bound == 0


@pytest.mark.parametrize("people", [None, [number // 2 for number in range(300)]])
@pytest.mark.parametrize("rest_may_be_small", [False, True])
@pytest.mark.parametrize("outside", [np.inf, 1.2])
def test_prices_keep_to_the_rules_of_the_request(people, rest_may_be_small, outside):
    table, vectors = table_and_vectors(random_rows(), people=people, weights={"c0": 0.7, "c1": 2.5})
    found = raise_prices(
        table, vectors, 6, Clock(), rest_may_be_small=rest_may_be_small, outside=outside, steps=300
    )
    bound = certified_bound(
        table, vectors, 6, found.prices, rest_may_be_small=rest_may_be_small, outside=outside
    )
    assert bound is not None
    assert bound > 0


def test_a_search_can_be_cancelled():
    table, vectors = table_and_vectors(random_rows())

    def cancel(phase, share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        raise_prices(table, vectors, 5, Clock(None, cancel), start=np.zeros(len(table), dtype=np.int64))


def test_progress_is_reported_all_the_time():
    table, vectors = table_and_vectors(random_rows())
    phases = []
    raise_prices(table, vectors, 5, Clock(None, lambda phase, share: phases.append(phase)))
    assert set(phases) == {"bound"}
    assert len(phases) > 100


def test_broken_prices_are_repaired_in_one_pass():
    table, vectors = table_and_vectors(random_rows())
    demand = formable_classes(table, vectors, 5)
    broken = np.full(len(table), 3 * PRICE_UNIT)
    area = collect_and_repair(table, demand, broken, 0.2, Collected(), Clock())
    assert certified_bound(table, vectors, 5, broken) is None
    assert certified_bound(table, vectors, 5, area.repaired) is not None
    assert (area.repaired <= broken).all()


def test_every_group_that_prices_up_to_the_highest_break_is_collected_once():
    table, vectors = table_and_vectors(random_rows(count=60))
    demand = formable_classes(table, vectors, 3)
    prices = np.full(len(table), PRICE_UNIT)
    collected = Collected()
    area = collect_and_repair(table, demand, prices, 0.5, collected, Clock())
    pool = collected.pool()
    known = {}
    for number, cost in enumerate(pool.cost.tolist()):
        members = tuple(sorted(pool.member[pool.begin[number] : pool.begin[number + 1]].tolist()))
        assert known.get(members, cost + 1) > cost
        known[members] = cost
    for vector in vectors.tolist():
        kept = [column for column in range(table.width) if not vector >> column & 1]
        cost = vector.bit_count() * PRICE_UNIT
        groups = {}
        for item in range(len(table)):
            groups.setdefault(tuple(int(table.cells[column][item]) for column in kept), []).append(item)
        for group in groups.values():
            rows = np.sort(np.repeat(area.highest[group], table.rows[group]))[::-1]
            if rows.size >= 3 and rows[:3].sum() > 3 * cost:
                assert known[tuple(group)] <= cost
    before = collected.members
    collect_and_repair(table, demand, prices, 0.5, collected, Clock())
    assert collected.members == before


@pytest.mark.parametrize("models", [PrivacyModels(), PrivacyModels(p=2)])
def test_groups_that_stay_keep_their_own_costs(models):
    """The first of two groups breaks no prices, or has one sensitive value; the second breaks them."""
    prices = [9, 9, 5, 5] if not models else [19, 19, 5, 5]
    table = pack_sensitive([("a",), ("b",), ("c",), ("d",)], ["x", "x", "x", "y"])
    one = np.ones(4, dtype=np.int64)
    groups = PricedGroups(np.arange(4, dtype=np.int32), np.array([0, 0, 1, 1], dtype=np.int32), 2)
    counts = PricedRows(one, one, np.array(prices, dtype=np.int64))
    left, costs = broken_groups(groups, np.array([10, 3]), 0, counts, 2, class_demands(table, models))
    assert left.groups == 1
    assert left.items.tolist() == [2, 3]
    assert costs.tolist() == [3]


@pytest.mark.parametrize("reports", [0, 1, 5, 9, 14, 20, 40])
@pytest.mark.parametrize("weights", [None, {"c0": 0.7, "c1": 2.5, "c3": 0.7}])
def test_prices_are_valid_when_time_ends_within_a_pass(reports, weights):
    table, vectors = table_and_vectors(random_rows(), weights=weights)
    clock = Ending(reports)
    found = raise_prices(table, vectors, 5, clock)
    assert certified_bound(table, vectors, 5, found.prices) is not None
    assert not found.complete
    assert clock.counted <= reports + len(vectors)  # it stops at its next report, not after the pass
