"""Labels grouped within a factor of the optimum: Fold within 3 (Theorem 7), Spread within 5/2 (Theorem 10).

The proof of Theorem 10 is repaired. What the paper leaves open or states too strongly, and what is done
here (sizes divided by k as there; f is the heaviest value of the last class of the greedy filling, r the
weight of its others, b the number of classes):

- *At most three classes (b <= 3).* The paper searches "exhaustively for the optimum in O(n^4)". The number of
  values is not bounded there, and an optimum for two classes decides Partition, which no polynomial algorithm
  does unless P = NP (the paper's own Theorem 6). The search is not needed:

  - f > 1/2: Case 2 applies as it is; it uses of b only that there is a full class.
  - f <= 1/2 and b = 3: spread the last class over the two others, always into the smaller one. The larger
    then has at most max(2, (total + f) / 2), which is at most 5/2 if the total is at most 4.5. If it is more,
    both full classes have more than 1.5, which only two values above 1/2 can give. Then leave the first pair
    alone and part the second: two classes begun by x3 and x4 and levelled out with the last class, whose
    values are at most 1/2, both end between 1 and 1.75, since their total is above 2.5 and below 3.
  - f <= 1/2 and b = 2: one class of everything has at most 5/2 unless the total is more; then, as before, the
    full class is a pair above 1/2 and parting it gives two classes between 1 and 1.75.

- *Values of at least 1* are set aside "without loss of generality". Case 2.2 argues with the number of
  values above 1/2 in a class, which such values change: in the optimum one may join a value of at least 1.
  That class has more than 3/2 as well, so the bound on the optimum stays true.
- If all lighter values together are below 1, the paper puts them into one class with a heavy value. Always
  taking the smallest class is within twice the optimum (list scheduling), which is better.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.grouping.result import (
    CostKind,
    Numbers,
    SingleAttribute,
    Weights,
    checked_weights,
    cost_of,
    finished,
    lower_bound,
)


class Bins:
    """Classes that are being filled."""

    def __init__(self, weights: Weights, k: int) -> None:
        self.weights: list[int] = weights.tolist()
        self.k = k
        self.class_of = np.full(len(self.weights), -1, dtype=np.int64)
        self.levels: list[int] = []

    def open(self) -> int:
        """Begin a class and return its number."""
        self.levels.append(0)
        return len(self.levels) - 1

    def put(self, value: int, number: int) -> None:
        """Put a value into a class."""
        self.class_of[value] = number
        self.levels[number] += self.weights[value]

    def take_apart(self, number: int) -> list[int]:
        """Empty the last class and return its values, the heaviest first."""
        assert number == len(self.levels) - 1  # noqa: S101 - numbers stay without gaps
        values: list[int] = np.flatnonzero(self.class_of == number).tolist()
        self.levels.pop()
        return sorted(values, key=lambda value: -self.weights[value])


def fold(
    weights: NDArray[np.integer] | Sequence[int],
    k: int,
    cost_kind: CostKind = "max",
    order: Sequence[int] | None = None,
) -> SingleAttribute:
    """Group labels greedily, in linear time.

    Values of k or more are classes of their own. The others fill one class after the other; what is left
    joins the smallest class, which the paper leaves open.

    Guarantee (Theorem 7): the largest class has at most ``max(k - 1 + heaviest value, 3k - 3)``, which is at
    most three times the optimum.

    `order` has all places of the values, as they are to be taken; that of `weights` unless given.
    """
    array = checked_weights(weights, k)
    bins = Bins(array, k)
    light = put_heavy_alone(bins, range(array.size) if order is None else order)
    fill(bins, light)
    if bins.levels[-1] < k:
        rest = bins.take_apart(len(bins.levels) - 1)
        smallest = min(range(len(bins.levels)), key=bins.levels.__getitem__)
        for value in rest:
            bins.put(value, smallest)
    bound, proof = lower_bound(array, k, cost_kind)
    return finished(array, k, bins.class_of, cost_kind, bound, "fold", proof)


def put_heavy_alone(bins: Bins, order: Iterable[int]) -> list[int]:
    """Make each value of at least k a class and return the others in order."""
    light = []
    for value in order:
        if bins.weights[value] >= bins.k:
            bins.put(value, bins.open())
        else:
            light.append(value)
    return light


def fill(bins: Bins, light: Iterable[int]) -> None:
    """Fill new classes with values in order, each until it has k; the last one may have less."""
    current: int | None = None
    for value in light:
        if current is None or bins.levels[current] >= bins.k:
            current = bins.open()
        bins.put(value, current)


def level_out(bins: Bins, values: Iterable[int], among: Iterable[int] | None = None) -> None:
    """Put values one after the other into whichever of some classes (all unless given) is smallest then."""
    chosen = range(len(bins.levels)) if among is None else among
    heap = [(bins.levels[number], number) for number in chosen]
    heapq.heapify(heap)
    for value in values:
        _, number = heap[0]
        bins.put(value, number)
        heapq.heapreplace(heap, (bins.levels[number], number))


def spread(
    weights: NDArray[np.integer] | Sequence[int], k: int, cost_kind: CostKind = "max"
) -> SingleAttribute:
    """Group labels into classes of at least k, the largest at most 5/2 of the optimum.

    The construction of Theorem 10 and two heuristics, one that fills classes exactly and one that fills them
    evenly; the cheapest of the three. The guarantee is for the largest class; the sum has none. O(n log n).
    """
    array = checked_weights(weights, k)
    bound, proof = lower_bound(array, k, cost_kind)
    best: tuple[int, str, Numbers] | None = None
    for name, construct in (("theorem 10", by_theorem), ("exact filling", exactly), ("levelling", evenly)):
        class_of = construct(array, k)
        if class_of is None:
            continue
        sizes = np.zeros(int(class_of.max()) + 1, dtype=np.int64)
        np.add.at(sizes, class_of, array)
        cost = cost_of(sizes, k, cost_kind)
        if best is None or cost < best[0]:
            best = cost, name, class_of
        if cost == bound:
            break
    assert best is not None  # noqa: S101 - the theorem's construction always gives classes
    return finished(array, k, best[2], cost_kind, bound, f"spread: {best[1]}", proof)


def by_theorem(weights: Weights, k: int) -> Numbers:
    """Return classes by the case analysis of Theorem 10, as the module describes it."""
    bins = Bins(weights, k)
    light = put_heavy_alone(bins, np.argsort(-weights, kind="stable").tolist())
    heavy = len(bins.levels)
    if sum(bins.weights[value] for value in light) < k:
        level_out(bins, light)
        return bins.class_of
    fill(bins, light)
    if bins.levels[-1] >= k:
        return bins.class_of
    last = len(bins.levels) - 1
    rest = bins.take_apart(last)
    if 2 * bins.weights[rest[0]] > k:
        _with_a_large_rest(bins, heavy, rest, light)
    else:
        _with_a_small_rest(bins, heavy, rest)
    return bins.class_of


def _with_a_large_rest(bins: Bins, heavy: int, rest: Sequence[int], light: Sequence[int]) -> None:
    """Case 2: the last class has a value above k/2, so all full classes are pairs of such values."""
    largest, left_over = light[0], rest[0]
    beside = sum(bins.weights[value] for value in rest[1:])
    if bins.weights[largest] + beside >= bins.k:
        # Case 2.1: the largest value completes the last class, and what it leaves is full with the other
        first = int(bins.class_of[largest])
        last = bins.open()
        bins.levels[first] -= bins.weights[largest]
        bins.put(left_over, first)
        for value in (largest, *rest[1:]):
            bins.put(value, last)
        return
    # Case 2.2: some class of every solution has more than 3k/2, so that less than 3k is within twice of it
    smallest = min(range(heavy, len(bins.levels)), key=bins.levels.__getitem__)
    for value in rest:
        bins.put(value, smallest)


def _with_a_small_rest(bins: Bins, heavy: int, rest: Sequence[int]) -> None:
    """Case 1, for any number of classes: no class gets more than 5k/2."""
    k, full = bins.k, list(range(heavy, len(bins.levels)))
    total = sum(bins.levels[number] for number in full) + sum(bins.weights[value] for value in rest)
    if len(full) >= 3:
        _in_three(bins, rest, sorted(full, key=bins.levels.__getitem__)[:3])
    elif 2 * total > (5 if len(full) == 1 else 9) * k:
        _part_the_last_pair(bins, rest)
    else:
        level_out(bins, rest, full)


def _in_three(bins: Bins, rest: Sequence[int], chosen: Sequence[int]) -> None:
    """Lemma 9: three parts of at most k/2 each: the heaviest value, and the others cut in two (Lemma 8)."""
    parts: list[list[int]] = [[rest[0]], [], []]
    total = sum(bins.weights[value] for value in rest[1:])
    before = 0
    for value in rest[1:]:
        weight = bins.weights[value]
        # the value that passes the middle goes to the side where most of it is
        parts[1 if 2 * before + weight <= total else 2].append(value)
        before += weight
    parts.sort(key=lambda part: -sum(bins.weights[value] for value in part))
    for number, part in zip(chosen, parts, strict=True):
        for value in part:
            bins.put(value, number)


def _part_the_last_pair(bins: Bins, rest: Sequence[int]) -> None:
    """Make two classes of the last full one, a pair of values above k/2, and level them out with the rest."""
    last = len(bins.levels) - 1
    pair = bins.take_apart(last)
    numbers = [bins.open(), bins.open()]
    for value, number in zip(pair, numbers, strict=True):
        bins.put(value, number)
    level_out(bins, rest, numbers)


_FEWER = 2
"""How many classes fewer than the most are tried when classes are filled evenly."""


def exactly(weights: Weights, k: int) -> Numbers | None:
    """Fill one class after the other to k as exactly as the values left allow.

    A class begins with the heaviest value left and takes the heaviest one that still fits, until it is full
    or none fits; then the lightest one completes it. What is left at the end is levelled out. O(n log n) but
    for the removals from a sorted list, which move memory.
    """
    bins = Bins(weights, k)
    ascending = put_heavy_alone(bins, np.argsort(weights, kind="stable").tolist())
    if not ascending:
        return None
    sizes = [bins.weights[value] for value in ascending]
    left = sum(sizes)
    while left >= k:
        number = bins.open()
        while bins.levels[number] < k:
            place = max(0, bisect_right(sizes, k - bins.levels[number]) - 1)
            left -= sizes.pop(place)
            bins.put(ascending.pop(place), number)
    level_out(bins, reversed(ascending))
    return bins.class_of


def evenly(weights: Weights, k: int) -> Numbers | None:
    """Put values, the heaviest first, into the smallest of as many classes as there can be.

    The number of classes is the largest of a few for which every class gets k. O(n log n).
    """
    order = np.argsort(-weights, kind="stable").tolist()
    descending = weights[order]
    heavy = bisect_left((-descending).tolist(), -k + 1)
    most = heavy + int(descending[heavy:].sum()) // k
    for classes in range(most, max(0, most - _FEWER - 1), -1):
        bins = Bins(weights, k)
        for _ in range(classes):
            bins.open()
        level_out(bins, order)
        if min(bins.levels) >= k:
            return bins.class_of
    return None
