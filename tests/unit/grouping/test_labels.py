"""The cases of the proof of Theorem 10 by name, and what the sum cost and the bounds come to."""

import numpy as np
import pytest

from kanon_pg.errors import InfeasibleError, InputError
from kanon_pg.worker.grouping.labels import exact_labels, group_labels
from kanon_pg.worker.grouping.result import lower_bound
from kanon_pg.worker.grouping.spread import by_theorem, fold, spread
from tests.fixtures.simplified_spread import simplified_spread

K = 100

CASES = {
    "the last class is full": ([90, 90, 80, 80], [180, 160]),
    "all lighter values are too few": ([150, 120, 30, 20], [150, 170]),
    "case 1, four classes: three parts": ([90, 90, 80, 80, 70, 70, 30, 25, 20, 10], [205, 170, 190]),
    "case 1, three classes": ([80, 60, 60, 50, 50, 40], [180, 160]),
    "case 1, three heavy classes: the second pair is parted": ([99, 98, 97, 96, 48, 47], [197, 144, 144]),
    "case 1, two classes": ([60, 60, 40, 30], [190]),
    "case 1, a heavy pair is parted": ([95, 95, 45, 45], [140, 140]),
    "case 2.1: the heaviest value completes the last class": ([90, 80, 70, 70, 60, 20], [140, 140, 110]),
    "case 2.2: fewer than 3k": ([80, 80, 80], [240]),
}


@pytest.mark.parametrize(("weights", "sizes"), CASES.values(), ids=CASES)
def test_each_case_of_theorem_10(weights: list[int], sizes: list[int]) -> None:
    found = np.bincount(by_theorem(np.array(weights), K), weights=weights)
    assert sorted(found) == sorted(sizes)
    assert min(found) >= K
    assert 2 * max(found) <= 5 * exact_labels(weights, K).cost


def test_the_paper_takes_an_exhaustive_search_where_partition_is_decided() -> None:
    """Two classes of exactly k exist if and only if the values can be halved."""
    weights = [34, 33, 33, 31, 29, 20, 20]
    assert max(np.bincount(by_theorem(np.array(weights), K), weights=weights)) <= 2.5 * K
    assert exact_labels(weights, K).cost == K


def test_what_is_left_of_a_fold_joins_the_smallest_class() -> None:
    assert fold([60, 60, 50, 60, 20], K).sizes.tolist() == [120, 130]


def test_simplified_spread_fills_up_to_the_largest_and_goes_on_in_turn() -> None:
    assert simplified_spread([90, 60, 50, 50, 20, 15, 5], K).sizes.tolist() == [150, 140]


def test_the_order_of_values_matters_to_fold_only() -> None:
    weights = [99, 2, 98, 3, 97, 4]
    assert fold(weights, K, order=range(6)).cost == 101
    assert fold(weights, K, order=[0, 2, 4, 1, 3, 5]).cost > 101
    assert spread(weights, K).cost == 101


def test_the_bound_counts_room_beside_heavy_values() -> None:
    assert lower_bound([500, 120], 100, "max") == (500, "max(k, heaviest value)")
    assert lower_bound([100, 99, 99], 100, "max")[0] == 149
    assert lower_bound([50, 50, 50, 40], 100, "max")[0] == 190
    assert lower_bound([50, 50, 50, 40], 100, "sum")[0] == 190 * 90


def test_large_numbers_stay_exact() -> None:
    weights = [2**60, 2**59, 2**58 + 1]
    assert spread(weights, 2**58).cost == 2**60
    assert spread(weights, 2**58, "sum").cost == sum(w * (w - 2**58) for w in weights)


@pytest.mark.parametrize(
    ("weights", "k", "error"),
    [
        ([1, 2], 4, InfeasibleError),
        ([], 1, InfeasibleError),
        ([1, -1, 5], 2, InputError),
        ([2**61, 2**61, 2**61], 2, InputError),
    ],
)
def test_what_is_refused(weights: list[int], k: int, error: type[Exception]) -> None:
    for method in ("fold", "spread", "exact"):
        with pytest.raises(error):
            group_labels(weights, k, method)


def test_unknown_methods_and_small_epsilons_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="relaxed scheme needs"):
        group_labels([1, 2], 2, "relaxed", epsilon=0.25)
    many = [7 * i % 97 + 20 for i in range(200)]
    with pytest.raises(InputError, match="larger epsilon"):
        group_labels(many, 400, "relaxed", epsilon=0.02)
