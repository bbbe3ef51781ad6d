"""In which order the greedy heuristic tries pattern vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.patterns import PatternMask, star_counts


def paper_order(mask: PatternMask) -> NDArray[np.int64]:
    """Order vectors by number of stars, then lexicographically, column 0 most significant.

    This is the order that reproduces tables 1 to 4 of Bredereck, Nichterlein and Niedermeier (2013).
    """
    return np.lexsort((_mirrored(mask), star_counts(mask.vectors)))


def cheapest_first(mask: PatternMask, seed: int | None = None) -> NDArray[np.int64]:
    """Order vectors by cost; equal costs lexicographically, or at random with a seed.

    Parameters
    ----------
    mask : PatternMask
    seed : int, optional
        The same seed gives the same order.
    """
    if seed is None:
        return np.lexsort((_mirrored(mask), mask.costs()))
    shuffled = np.random.default_rng(seed).permutation(mask.vectors.size)
    return np.lexsort((shuffled, mask.costs()))


def _mirrored(mask: PatternMask) -> NDArray[np.int64]:
    """Return the vectors as numbers whose most significant bit is column 0."""
    mirrored = np.zeros_like(mask.vectors)
    for column in range(mask.width):
        mirrored = (mirrored << 1) | ((mask.vectors >> column) & 1)
    return mirrored
