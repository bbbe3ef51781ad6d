"""A pattern mask for tables with too many columns to allow every pattern.

The vectors that a good solution uses are those in which a row and its nearest neighbours differ. They
are sampled: for some row types, the columns in which the nearest 1, 2, ... of a sample of the others
differ from it are united until there are k people.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.patterns import (
    MOST_PATTERNS,
    PatternMask,
    all_patterns,
    bounded_patterns,
    number_of_all,
)
from kanon_pg.worker.row_types import RowTypeTable

MOST_SAMPLED = 8192
"""Most vectors of a bounded mask that come from the sample."""

_SEEDS = 1500
_NEIGHBOURS = 6000
_SEEDS_PER_STEP = 50
_MOST_SMALL = 4096


_MOST_PAIRS = 8_000_000_000
"""Most patterns times row types for which all patterns are searched: about ten seconds."""


def mask_of_all(table: RowTypeTable, k: int, clock: Clock) -> PatternMask:
    """Return the mask of all patterns, or where there are too many, the bounded one that stands for it."""
    patterns = number_of_all(table.columns)
    if patterns <= MOST_PATTERNS and patterns * len(table) <= _MOST_PAIRS:
        return all_patterns(table.columns)
    return bounded_mask(table, k, clock)


def bounded_mask(table: RowTypeTable, k: int, clock: Clock) -> PatternMask:
    """Choose pattern vectors for a table with many columns.

    Returns
    -------
    PatternMask
        All vectors with few suppressed columns, the most frequent vectors of the sample, and chains
        that suppress one column after the other; its note says that the mask is bounded.

    Notes
    -----
    O(s r m) for s seeds and r possible neighbours, both bounded: some tenths of a second.
    """
    most = _most_of_few(table.width)
    few = [
        sum(1 << column for column in chosen)
        for size in range(most + 1)
        for chosen in combinations(range(table.width), size)
    ]
    vectors = np.unique(np.array([*few, *_chains(table), *_sampled(table, k, clock)], dtype=np.int64))
    note = (
        f"The pattern mask is bounded to {vectors.size} of 2^{table.width} patterns: those with at most "
        f"{most} suppressed columns and those in which sampled rows differ from their nearest neighbours. "
        "Name fewer quasi-identifiers, or give patterns, to search another set."
    )
    # Whatever is left out suppresses more columns than `most`.
    outside = float(np.sort(table.weights)[: most + 1].sum())
    return bounded_patterns(vectors, table.columns, note, outside)


def _most_of_few(width: int) -> int:
    """Return up to how many suppressed columns all vectors together are few."""
    count, size = 1, 0
    while size + 1 < width and count + comb(width, size + 1) <= _MOST_SMALL:
        size += 1
        count += comb(width, size)
    return size


def _chains(table: RowTypeTable) -> list[int]:
    """Return vectors that suppress more and more columns, those with the most values per cost first."""
    vectors = []
    for measure in (table.cardinalities / table.weights, _entropies(table) / table.weights):
        vector = 0
        for column in np.argsort(-measure, kind="stable"):
            vector |= 1 << int(column)
            vectors.append(vector)
    return vectors


def _entropies(table: RowTypeTable) -> NDArray[np.float64]:
    entropies = np.zeros(table.width, dtype=np.float64)
    for column in range(table.width):
        shares = np.bincount(table.codes[column], weights=table.rows) / table.total_rows
        entropies[column] = -float((shares * np.log(shares)).sum())
    return entropies


def _sampled(table: RowTypeTable, k: int, clock: Clock) -> list[int]:
    """Return the most frequent vectors of the sample."""
    # The hash of the content decides who is sampled: no position, no chance.
    order = np.argsort(table.hashes.sum(axis=0, dtype=np.uint64), kind="stable")
    pool = order[:_NEIGHBOURS]
    codes, people = np.ascontiguousarray(table.codes[:, pool].T), table.people[pool]
    found: list[NDArray[np.int64]] = []
    for begin in range(0, min(_SEEDS, pool.size), _SEEDS_PER_STEP):
        clock.report("patterns", begin / _SEEDS)
        end = min(begin + _SEEDS_PER_STEP, pool.size)
        found.append(_differences(codes, people, table.weights, begin, end, k))
    vectors, times = np.unique(np.concatenate(found), return_counts=True)
    best = np.lexsort((vectors, -times))[:MOST_SAMPLED]
    return [int(vector) for vector in vectors[best]]


@kernel
def _differences(
    codes: NDArray[np.int32],
    people: NDArray[np.int64],
    weights: NDArray[np.float64],
    begin: int,
    end: int,
    k: int,
) -> NDArray[np.int64]:
    """Return the united differences of some seeds from their nearest neighbours."""
    count, width = codes.shape
    most = min(k, count)
    result = np.zeros((end - begin) * most, dtype=np.int64)
    filled = 0
    distance = np.zeros(count, dtype=np.float64)
    difference = np.zeros(count, dtype=np.int64)
    for seed in range(begin, end):
        for other in range(count):
            cost = 0.0
            vector = np.int64(0)
            for column in range(width):
                if codes[seed, column] != codes[other, column]:
                    cost += weights[column]
                    vector |= np.int64(1) << column
            distance[other], difference[other] = cost, vector
        united = np.int64(0)
        together = people[seed]
        distance[seed] = np.inf
        for _ in range(most):
            if together >= k:
                break
            nearest = np.argmin(distance)
            if distance[nearest] == np.inf:
                break
            distance[nearest] = np.inf
            united |= difference[nearest]
            together += max(people[nearest], 1)
            result[filled] = united
            filled += 1
    return result[:filled]
