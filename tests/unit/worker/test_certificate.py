"""Prices are accepted exactly if no class that could be formed costs less than its rows' prices."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from kanon_pg.errors import SolverError
from kanon_pg.worker.patterns import all_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.verification.certificate import (
    PRICE_UNIT,
    certified_bound,
    formable_classes,
    price_cap,
)
from tests.fixtures.packing import pack

# Rows 0 and 1 agree on the first column, rows 1 and 2 on the second; nothing else agrees.
CHAIN = [("a", "x"), ("a", "y"), ("b", "y")]


def price(*numbers):
    return np.array([round(number * PRICE_UNIT) for number in numbers], dtype=np.int64)


def vectors_of(packed):
    return all_patterns(packed.columns).vectors


def random_case(seed):
    """Return a small table of rows without an entity, and prices that are often just valid or just not."""
    random = np.random.default_rng(seed)
    width = int(random.integers(1, 4))
    rows = [tuple(row) for row in random.integers(0, 3, (int(random.integers(2, 8)), width)).tolist()]
    weights = {f"c{column}": float(random.choice([1, 1, 0.5, 0.3, 2.25])) for column in range(width)}
    packed = pack(rows, weights=weights)
    prices = random.choice([0, 0.3, 0.5, 1, 1.25, 1.5, 2], len(packed)) * PRICE_UNIT
    return packed, int(random.integers(2, 4)), prices.astype(np.int64)


def is_valid(packed, k, prices):
    """Try every number of rows of every row type of every group."""
    table = RowTypeTable.from_packed(packed)
    units = [int(Fraction(column.weight) * PRICE_UNIT // 1) for column in packed.columns]
    for vector in vectors_of(packed).tolist():
        kept = [column for column in range(table.width) if not vector >> column & 1]
        cost = sum(unit for column, unit in enumerate(units) if vector >> column & 1)
        groups = {}
        for item in range(len(table)):
            groups.setdefault(tuple(int(table.cells[column][item]) for column in kept), []).append(item)
        for group in groups.values():
            for taken in product(*(range(int(table.rows[item]) + 1) for item in group)):
                paid = sum(rows * int(prices[item]) for rows, item in zip(taken, group, strict=True))
                if sum(taken) >= k and paid > cost * sum(taken):
                    return False
    return True


@pytest.mark.parametrize("seed", range(300))
def test_the_verdict_is_that_of_trying_every_class(seed):
    packed, k, prices = random_case(seed)
    assert (certified_bound(packed, vectors_of(packed), k, prices) is not None) == is_valid(packed, k, prices)


def test_random_cases_hold_valid_and_invalid_prices():
    verdicts = [is_valid(*random_case(seed)) for seed in range(300)]
    assert 50 < sum(verdicts) < 250


def test_packed_row_types_and_tables_get_the_same_verdict():
    packed = pack(CHAIN)
    table = RowTypeTable.from_packed(packed)
    for prices in (price(1, 1, 1), price(1.5, 1, 1), price(2, 2, 2)):
        verdict = certified_bound(packed, vectors_of(packed), 2, prices)
        assert verdict == certified_bound(table, vectors_of(packed), 2, prices)
        assert verdict == certified_bound(table, None, 2, prices)


def test_a_tight_price_cannot_be_raised():
    packed = pack(CHAIN)
    tight = price(1.5, 0.5, 1.5)
    assert certified_bound(packed, vectors_of(packed), 2, tight) == 4.0
    for item in range(3):
        raised = tight.copy()
        raised[item] += 1
        assert certified_bound(packed, vectors_of(packed), 2, raised) is None


def test_a_group_without_enough_people_breaks_nothing():
    packed = pack([("a",), ("b",), ("b",)])
    assert certified_bound(packed, vectors_of(packed), 2, price(3, 0)) is None
    assert certified_bound(packed, vectors_of(packed), 3, price(3, 0)) == 3.0


def test_many_rows_of_a_row_type_fill_a_class_alone():
    packed = pack([("a",)] * 5 + [("b",)])
    vectors = vectors_of(packed)
    assert certified_bound(packed, vectors, 5, price(0, 5)) == 5.0
    assert certified_bound(packed, vectors, 5, price(0.1, 0)) is None


def test_two_visits_of_one_person_do_not_count_as_two_people():
    rows = [("a", "x"), ("a", "x"), ("b", "x")]
    packed = pack(rows, people=[1, 1, 2])
    # With all three rows in one class of cost 1 each; the two visits alone are no class.
    assert certified_bound(packed, vectors_of(packed), 2, price(1, 1)) == 3.0
    assert certified_bound(packed, vectors_of(packed), 2, price(1.5, 0)) == 3.0
    assert certified_bound(packed, vectors_of(packed), 2, price(1.5, 0.1)) is None


def test_rows_of_nobody_make_no_class_larger():
    packed = pack([("a",), ("b",), ("c",)], people=[None, 1, 2])
    assert certified_bound(packed, vectors_of(packed), 2, price(3, 0, 0)) == 3.0
    assert certified_bound(packed, vectors_of(packed), 2, price(3, 0.1, 0)) is None


def test_a_fully_suppressed_class_of_any_size_limits_every_price():
    packed = pack([("a",), ("b",)])
    assert certified_bound(packed, vectors_of(packed), 2, price(2, 0)) == 2.0
    assert certified_bound(packed, vectors_of(packed), 2, price(2, 0), rest_may_be_small=True) is None
    assert certified_bound(packed, vectors_of(packed), 2, price(1, 1), rest_may_be_small=True) == 2.0


def test_vectors_that_are_not_listed_limit_every_price():
    packed = pack(CHAIN)
    listed = np.array([0b00, 0b11])
    assert certified_bound(packed, listed, 2, price(2, 2, 2)) == 6.0
    assert certified_bound(packed, listed, 2, price(2, 2, 2), outside=1.0) is None
    assert certified_bound(packed, listed, 2, price(1, 1, 1), outside=1.0) == 3.0
    assert price_cap(packed.columns, True, 1.0) == PRICE_UNIT
    assert price_cap(packed.columns, True, np.inf) == 2 * PRICE_UNIT


@pytest.mark.parametrize(
    ("weights", "prices", "bound"),
    [
        ((1.0, 1.0), (0.4, 0.3, 0.4), 2.0),
        ((2.0, 4.0), (0.4, 0.3, 0.4), 2.0),
        ((0.5, 0.75), (0.4, 0.3, 0.4), 1.25),
        ((1.0, 1.0), (0, 0, 0), 0.0),
    ],
)
def test_bounds_are_rounded_up_to_what_sums_of_weights_can_be(weights, prices, bound):
    packed = pack(CHAIN, weights=dict(zip(("c0", "c1"), weights, strict=True)))
    assert certified_bound(packed, vectors_of(packed), 2, price(*prices)) == bound


def test_weights_that_are_no_binary_fractions_are_rounded_down():
    packed = pack([("a",), ("b",)], weights={"c0": 0.7})
    # 0.7 is stored as a little less: 699999 whole millionths.
    assert formable_classes(packed, None, 2).full_cost == 699_999
    assert certified_bound(packed, vectors_of(packed), 2, price(0.7, 0.7)) is None
    bound = certified_bound(packed, vectors_of(packed), 2, price(0.699999, 0.699999))
    assert bound is not None
    assert 1.399998 <= Fraction(bound) <= 2 * Fraction(0.7)


def test_numbers_that_do_not_fit_prove_nothing():
    packed = pack([("a",), ("b",)], weights={"c0": 1e300})
    assert certified_bound(packed, vectors_of(packed), 2, price(1, 1)) is None


@pytest.mark.parametrize("prices", [price(1, 1), price(1, 1, 1, 1), np.ones(3)])
def test_a_certificate_has_one_price_per_row_type(prices):
    packed = pack(CHAIN)
    with pytest.raises(SolverError, match="one price"):
        certified_bound(packed, vectors_of(packed), 2, prices)


def test_whoever_waits_can_cancel():
    packed = pack(CHAIN)

    def cancel():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        certified_bound(packed, vectors_of(packed), 2, price(1, 1, 1), cancel)
