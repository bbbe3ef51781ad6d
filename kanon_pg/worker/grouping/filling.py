"""Two ways to fill classes of labels that give no guarantee but are often close to the optimum."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np

from kanon_pg.worker.grouping.fold import Bins, level_out, put_heavy_alone
from kanon_pg.worker.grouping.result import Numbers, Weights

_FEWER = 2
"""How many classes fewer than the most are tried when classes are filled evenly."""


def exactly(weights: Weights, k: int) -> Numbers | None:
    """Fill one class after the other to k as exactly as the values left allow.

    A class begins with the heaviest value left and takes the heaviest one that still fits, until it is full
    or none fits; then the lightest one completes it. What is left at the end is levelled out. O(n log n) but
    for the removals from a sorted list, which move memory.

    Parameters
    ----------
    weights : ndarray of int64, shape (n,)
        Checked.
    k : int

    Returns
    -------
    ndarray of int64 or None
        Class of each value; None if there is nothing to fill.
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
    return bins.close()


def evenly(weights: Weights, k: int) -> Numbers | None:
    """Put values, the heaviest first, into the smallest of as many classes as there can be.

    The number of classes is the largest of a few for which every class gets k. O(n log n).

    Parameters
    ----------
    weights : ndarray of int64, shape (n,)
        Checked.
    k : int

    Returns
    -------
    ndarray of int64 or None
        Class of each value; None if none of the numbers of classes works.
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
            return bins.close()
    return None
