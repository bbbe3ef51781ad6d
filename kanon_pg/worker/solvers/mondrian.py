"""Strict multidimensional partitioning (Mondrian), as a baseline to compare with.

References
----------
K. LeFevre, D. J. DeWitt, R. Ramakrishnan: "Mondrian Multidimensional K-Anonymity", ICDE 2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.patterns import PatternMask
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.local_search.partition import Members, distinct_people, members_of

_WORK_PER_STEP = 2_000_000


class Regions(NamedTuple):
    """Regions to be cut: item lists on a stack, and the columns in which finished regions vary.

    `state` holds the height of the stack and the number of finished regions.
    """

    codes: NDArray[np.int32]
    spans: NDArray[np.float64]
    items: NDArray[np.int32]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    varies: NDArray[np.int64]
    region_of: NDArray[np.int32]
    state: NDArray[np.int64]


@kernel
def _widths(regions: Regions, items: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return per column which share of its range of codes the items span."""
    widths = np.zeros(regions.codes.shape[0], dtype=np.float64)
    for column in range(widths.size):
        codes = regions.codes[column]
        low = high = codes[items[0]]
        for item in items:
            low = min(low, codes[item])
            high = max(high, codes[item])
        widths[column] = (high - low) / regions.spans[column]
    return widths


@kernel
def _cut(regions: Regions, members: Members, items: NDArray[np.int32], column: int, k: int) -> int:
    """Order the items by a column and return where its median cuts them, 0 if a part is too small."""
    codes = regions.codes[column]
    items[:] = items[np.argsort(codes[items], kind="mergesort")]
    total = np.int64(0)
    for item in items:
        total += members.people[item]
    before = np.int64(0)
    place = 0
    while place < items.size and 2 * before < total:
        before += members.people[items[place]]
        place += 1
    while place < items.size and codes[items[place]] == codes[items[place - 1]]:
        place += 1
    if place == items.size:
        # Nothing lies above the median's value: cut below it.
        place -= 1
        while place > 0 and codes[items[place - 1]] == codes[items[place]]:
            place -= 1
    left, right = items[:place], items[place:]
    if distinct_people(members, left, left.size) < k or distinct_people(members, right, right.size) < k:
        return 0
    return place


@kernel
def _partition_range(regions: Regions, members: Members, k: int, work: int) -> None:
    """Cut regions until none is left to cut or the work is done."""
    while regions.state[0] > 0 and work > 0:
        top = regions.state[0] - 1
        begin, end = regions.begin[top], regions.end[top]
        items = regions.items[begin:end]
        work -= items.size * regions.codes.shape[0]
        widths = _widths(regions, items)
        place = 0
        for column in np.argsort(-widths, kind="mergesort"):
            if widths[column] > 0.0 and place == 0:
                work -= items.size
                place = _cut(regions, members, items, column, k)
        if place > 0:
            regions.begin[top + 1], regions.end[top + 1] = begin + place, end
            regions.end[top] = begin + place
            regions.state[0] += 1
            continue
        vector = np.int64(0)
        for column in range(widths.size):
            if widths[column] > 0.0:
                vector |= np.int64(1) << column
        regions.varies[regions.state[1]] = vector
        regions.region_of[items] = regions.state[1]
        regions.state[1] += 1
        regions.state[0] -= 1


def mondrian(table: RowTypeTable, mask: PatternMask, k: int, clock: Clock) -> NDArray[np.int64]:
    """Cut the table at medians as long as both parts keep k people; suppress what varies inside a region.

    Parameters
    ----------
    table : RowTypeTable
        With at least k people. Numeric columns are cut in numeric order, the others in that of codes.
    mask : PatternMask
        Each region takes the cheapest vector that suppresses at least the columns in which it varies.
    clock : Clock
        Progress is reported to it; its end is ignored, since this is the first solution.

    Returns
    -------
    ndarray of int64, shape (n,)
        Vector of each row type. Every class has at least k people.

    Notes
    -----
    O(n m log n) per level of cuts. The widest column (by the share of its range) is tried first, then
    the next ones.
    """
    count = len(table)
    spans = np.maximum(table.cardinalities - 1, 1).astype(np.float64)
    # Ordered by content, so that ties between row types do not depend on their position.
    items = np.argsort(table.hashes.sum(axis=0, dtype=np.uint64), kind="stable").astype(np.int32)
    begin, end = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    end[0] = count
    regions = Regions(
        table.codes, spans, items, begin, end, np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int32), np.array([1, 0], dtype=np.int64),
    )  # fmt: skip
    members = members_of(table, np.arange(count))
    while regions.state[0] > 0:
        clock.report("mondrian", None)
        _partition_range(regions, members, k, _WORK_PER_STEP)
    needed, of = np.unique(regions.varies[: regions.state[1]], return_inverse=True)
    covering = np.array([_cheapest_cover(mask, int(vector)) for vector in needed], dtype=np.int64)
    return covering[of][regions.region_of]


def _cheapest_cover(mask: PatternMask, vector: int) -> int:
    """Return the cheapest vector of the mask that suppresses at least some columns."""
    covering = mask.vectors[(mask.vectors & vector) == vector]
    costs = mask.costs()[(mask.vectors & vector) == vector]
    return int(covering[np.argmin(costs)])
