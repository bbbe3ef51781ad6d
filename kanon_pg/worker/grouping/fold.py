"""Fold: the simple way to group labels (Theorem 7 of the paper)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.grouping.result import (
    CostKind,
    Numbers,
    SingleAttribute,
    Weights,
    checked_weights,
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

    def close(self) -> Numbers:
        """Return the class of each value; every value has one and every class has k."""
        return self.class_of


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

    Parameters
    ----------
    weights : array of int, shape (n,)
        People per label, each >= 0.
    cost_kind : str
        What the result reports; the algorithm is the same.
    order : sequence of int, optional
        All places of the values, in the order in which to take them; that of `weights` unless given.

    Raises
    ------
    InputError, InfeasibleError
        As `result.checked_weights`.
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
    return finished(array, k, bins.close(), cost_kind, bound, "fold", proof)


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
    """Put values one after the other into whichever class is smallest then.

    Parameters
    ----------
    values : iterable of int
        Places of the values; from heavy to light gives the evenest classes.
    among : iterable of int, optional
        Numbers of the classes; all unless given.
    """
    chosen = range(len(bins.levels)) if among is None else among
    heap = [(bins.levels[number], number) for number in chosen]
    heapq.heapify(heap)
    for value in values:
        _, number = heap[0]
        bins.put(value, number)
        heapq.heapreplace(heap, (bins.levels[number], number))
