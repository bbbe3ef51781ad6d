"""In which order the greedy heuristic tries pattern vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.patterns import PatternMask, star_counts, suppression_costs


def paper_order(mask: PatternMask) -> NDArray[np.int64]:
    """Return the vectors by number of stars, then lexicographically, column 0 most significant.

    This is the order that reproduces tables 1 to 4 of Bredereck, Nichterlein and Niedermeier (2013).
    """
    return mask.vectors[np.lexsort((_mirrored(mask), star_counts(mask.vectors)))]


def cheapest_first(
    mask: PatternMask, cardinalities: NDArray[np.int64], seed: int | None = None
) -> NDArray[np.int64]:
    """Return the vectors by cost.

    Parameters
    ----------
    cardinalities : ndarray of int64, shape (m,)
        Distinct values per column.
    seed : int, optional
        Vectors of equal cost come in a random order, the same for the same seed. Without it those come
        first that suppress the columns with the most distinct values.

    Notes
    -----
    Of the orders that were tried on Adult, Census-Income, Diabetes and CMC (lexicographic both ways,
    by number of values, entropy, and people in classes of the full table, each both ways, and
    random), falling number of values suppressed least nearly everywhere: 1 to 3 % less than the
    lexicographic order.
    """
    if seed is not None:
        shuffled = np.random.default_rng(seed).permutation(mask.vectors.size)
        return mask.vectors[np.lexsort((shuffled, mask.costs()))]
    values = suppression_costs(mask.vectors, np.log2(np.maximum(cardinalities, 1)))
    return mask.vectors[np.lexsort((_mirrored(mask), -values.round(9), mask.costs()))]


def few_changes(vectors: NDArray[np.int64], costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the vectors by cost, those of equal cost so that neighbours differ in few columns.

    Combinations of one size in the order of the binary reflected Gray code differ in two columns each
    (Tang and Liu 1973, "Distance-2 cyclic chaining of constant-weight codes"), so keys are updated fast.
    """
    rank = vectors.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        rank ^= rank >> shift
    return vectors[np.lexsort((rank, costs))]


def _mirrored(mask: PatternMask) -> NDArray[np.int64]:
    """Return the vectors as numbers whose most significant bit is column 0."""
    mirrored = np.zeros_like(mask.vectors)
    for column in range(mask.width):
        mirrored = (mirrored << 1) | ((mask.vectors >> column) & 1)
    return mirrored
