"""Ordered values -> intervals, optimally.

The paper says in passing (section 4) that "a simple greedy algorithm" is optimal. The obvious one, which
closes an interval as soon as it has k, is not: eight values of weight 1 and k = 3 become 3 + 5, and the
optimum is 4 + 4. What is below is optimal, in the same running time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.grouping.result import (
    CostKind,
    Numbers,
    SingleAttribute,
    checked_weights,
    cost_of,
    finished,
)

OPTIMAL = "dynamic programming over all intervals"


def intervals(
    weights: NDArray[np.integer] | Sequence[int], k: int, cost_kind: CostKind = "max"
) -> SingleAttribute:
    """Group ordered values into intervals of at least k at the least cost.

    Exact for both costs; O(n) for values in order, O(n log n) with sorting. Of all solutions with the least
    largest interval the one with most intervals is taken.
    """
    array = checked_weights(weights, k)
    sums = [0, *np.cumsum(array).tolist()]
    if cost_kind == "max":
        largest = _least_largest(sums, k)
        before = _most_intervals(sums, k, largest)
    else:
        before = _least_sum(sums, k)
    class_of = _numbered(before)
    sizes = np.zeros(int(class_of[-1]) + 1, dtype=np.int64)
    np.add.at(sizes, class_of, array)
    cost = cost_of(sizes, k, cost_kind)
    return finished(array, k, class_of, cost_kind, cost, OPTIMAL, OPTIMAL)


def _least_largest(sums: Sequence[int], k: int) -> int:
    """Return the least size of the largest interval.

    ``best[j] = min over i with sums[j] - sums[i] >= k of max(best[i], sums[j] - sums[i])``. A start i is of
    use only if every later start is worse, so the queue holds starts with ``best`` increasing. The first
    start whose successor costs no more than its own length will never be the best again, because lengths
    grow with j. What is left: the best start is the first or the second of the queue. O(n).
    """
    best: list[int | None] = [0, *[None] * (len(sums) - 1)]
    starts: deque[int] = deque()
    entering = 0
    for end, total in enumerate(sums):
        while entering < end and total - sums[entering] >= k:
            value = best[entering]
            if value is not None:
                while starts and _value(best, starts[-1]) >= value:
                    starts.pop()
                starts.append(entering)
            entering += 1
        while len(starts) > 1 and _value(best, starts[1]) <= total - sums[starts[1]]:
            starts.popleft()
        if starts:
            first = max(_value(best, starts[0]), total - sums[starts[0]])
            second = _value(best, starts[1]) if len(starts) > 1 else first
            best[end] = min(first, second)
    return _value(best, -1)


def _value(best: Sequence[int | None], place: int) -> int:
    value = best[place]
    assert value is not None  # noqa: S101 - only places that can be reached are looked up
    return value


def _most_intervals(sums: Sequence[int], k: int, largest: int) -> list[int]:
    """Return for each end where its interval starts, in a solution with most intervals of k to `largest`.

    A sliding window over the starts, the one with most intervals before it at the front. O(n).
    """
    count = [0, *[-1] * (len(sums) - 1)]
    before = [-1] * len(sums)
    starts: deque[int] = deque()
    entering = 0
    for end, total in enumerate(sums):
        while entering < end and total - sums[entering] >= k:
            if count[entering] >= 0:
                while starts and count[starts[-1]] <= count[entering]:
                    starts.pop()
                starts.append(entering)
            entering += 1
        while starts and total - sums[starts[0]] > largest:
            starts.popleft()
        if starts:
            before[end], count[end] = starts[0], count[starts[0]] + 1
    return before


def _least_sum(sums: Sequence[int], k: int) -> list[int]:
    """Return for each end where its interval starts, in a solution of least sum.

    ``cost[j] = min over i of cost[i] + s (s - k)`` with ``s = sums[j] - sums[i] >= k`` is, for each i, a line
    in ``sums[j]``: ``cost[i] + sums[i] (sums[i] + k) - 2 sums[i] x``, plus ``x (x - k)``. Slopes fall and x
    grows, so the lower envelope is a queue. O(n), in whole numbers of any size.
    """
    cost: list[int | None] = [0, *[None] * (len(sums) - 1)]
    before = [-1] * len(sums)
    lines: deque[tuple[int, int, int]] = deque()
    entering = 0
    for end, x in enumerate(sums):
        while entering < end and x - sums[entering] >= k:
            paid = cost[entering]
            if paid is not None:
                start = sums[entering]
                _add_line(lines, (-2 * start, paid + start * (start + k), entering))
            entering += 1
        while len(lines) > 1 and _at(lines[1], x) <= _at(lines[0], x):
            lines.popleft()
        if lines:
            before[end], cost[end] = lines[0][2], _at(lines[0], x) + x * (x - k)
    return before


def _at(line: tuple[int, int, int], x: int) -> int:
    return line[0] * x + line[1]


def _add_line(lines: deque[tuple[int, int, int]], line: tuple[int, int, int]) -> None:
    """Append a line of least slope to a lower envelope, dropping those that it makes useless."""
    while lines and lines[-1][0] == line[0]:
        if lines[-1][1] <= line[1]:
            return
        lines.pop()
    while len(lines) > 1:
        (slope_a, constant_a, _), (slope_b, constant_b, _) = lines[-2], lines[-1]
        # the middle line is nowhere lowest if its neighbours cross at or before where it takes over
        crossing_with_new = (line[1] - constant_a) * (slope_a - slope_b)
        crossing_with_last = (constant_b - constant_a) * (slope_a - line[0])
        if crossing_with_new > crossing_with_last:
            break
        lines.pop()
    lines.append(line)


def _numbered(before: Sequence[int]) -> Numbers:
    """Return the class of each value from where the interval of each end starts."""
    ends = []
    end = len(before) - 1
    while end > 0:
        ends.append(end)
        end = before[end]
    cuts = np.zeros(len(before) - 1, dtype=np.int64)
    cuts[ends[1:]] = 1
    return np.cumsum(cuts)
