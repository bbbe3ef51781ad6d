"""Disjoint rectangles at the least cost, for few points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.constraint_solver import fits
from kanon_pg.worker.grouping.result import CostKind, Numbers, Weights, cost_of
from kanon_pg.worker.grouping.set_partition import (
    Candidate,
    Partition,
    best_partition,
    is_affordable,
)

MOST_RECTANGLES = 3_000
"""Rectangles up to which the method is tried: every two of them are compared."""

_MOST_CORNERS = 2_000_000

Box = tuple[int, int, int, int]


def exact_rectangles(
    points: NDArray[np.float64],
    weights: Weights,
    known: Numbers,
    k: int,
    kind: CostKind,
    bound: int,
    clock: Clock,
) -> Partition:
    """Return the best partition of different points by disjoint bounding boxes, as far as the time allows.

    Two closed boxes are disjoint if some line parallel to an axis parts them without touching either. Says
    nothing new if there are more than `MOST_RECTANGLES` that can be part of a solution.

    Parameters
    ----------
    points : ndarray of float64, shape (n, 2)
        Different from each other.
    weights : ndarray of int64, shape (n,)
    known : ndarray of int64, shape (n,)
        Classes numbered from 0, each of at least k and alone in its bounding box.
    k : int
    kind : str
    bound : int
        What is proven already.
    clock : Clock
    """
    sizes = np.zeros(int(known.max()) + 1, dtype=np.int64)
    np.add.at(sizes, known, weights)
    cost = cost_of(sizes, k, kind)
    if cost <= bound or not fits(int(weights.sum()), kind):
        return Partition(None, bound)
    ranks = np.stack([np.unique(points[:, axis], return_inverse=True)[1] for axis in (0, 1)], axis=1)
    found = _boxes(ranks, weights, k, kind, cost, clock)
    if found is None:
        return Partition(None, bound)
    boxes, candidates = found
    return best_partition(candidates, known, sizes, k, kind, bound, clock, _overlaps(boxes, candidates))


def _boxes(
    ranks: NDArray[np.int64], weights: Weights, k: int, kind: CostKind, cost: int, clock: Clock
) -> tuple[list[Box], list[Candidate]] | None:
    """Return every bounding box of points that has k and is affordable, None if there are too many."""
    boxes: list[Box] = []
    candidates: list[Candidate] = []
    width, height = (int(ranks[:, axis].max()) + 1 for axis in (0, 1))
    if (width * height) ** 2 > 4 * _MOST_CORNERS:
        return None
    for left in range(width):
        for right in range(left, width):
            if clock.is_over():
                return None
            column = np.flatnonzero((ranks[:, 0] >= left) & (ranks[:, 0] <= right))
            column = column[np.argsort(ranks[column, 1], kind="stable")]
            if not {left, right} <= set(ranks[column, 0].tolist()):
                continue
            found = _in_column(ranks, weights, column, (left, right), k, kind, cost)
            for box, candidate in found:
                boxes.append(box)
                candidates.append(candidate)
            if len(boxes) > MOST_RECTANGLES:
                return None
    return boxes, candidates


def _in_column(
    ranks: NDArray[np.int64],
    weights: Weights,
    column: Numbers,
    sides: tuple[int, int],
    k: int,
    kind: CostKind,
    cost: int,
) -> list[tuple[Box, Candidate]]:
    """Return the boxes that touch the left and the right side of a column of points, from low to high."""
    found = []
    rows, across = ranks[column, 1].tolist(), ranks[column, 0].tolist()
    for first, bottom in enumerate(rows):
        if first and rows[first - 1] == bottom:
            continue
        size = 0
        for last in range(first, len(rows)):
            size += int(weights[column[last]])
            is_whole_row = last + 1 == len(rows) or rows[last + 1] != rows[last]
            if not is_whole_row or size < k:
                continue
            if not is_affordable(size, k, kind, cost):
                break
            if set(sides) <= set(across[first : last + 1]):
                values = tuple(sorted(column[first : last + 1].tolist()))
                box = (sides[0], bottom, sides[1], rows[last])
                found.append((box, Candidate(values, size)))
    return found


def _overlaps(boxes: Sequence[Box], candidates: Sequence[Candidate]) -> list[tuple[int, int]]:
    """Return the pairs of boxes that meet but have no point in common."""
    sets = [set(candidate.values) for candidate in candidates]
    return [
        (one, other)
        for one, other in combinations(range(len(boxes)), 2)
        if _meet(boxes[one], boxes[other]) and sets[one].isdisjoint(sets[other])
    ]


def _meet(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]
