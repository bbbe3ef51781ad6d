"""Points in the plane -> disjoint axis-parallel rectangles (Theorem 4 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import InputError
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.constraint_solver import (
    PROOF,
    Candidate,
    Candidates,
    Partitioning,
    PartitionOutcome,
    best_partition,
)
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

MOST_RECTANGLES = 3_000
"""Rectangles up to which the method is tried: every two of them are compared."""

_MOST_CORNERS = 2_000_000

Box = tuple[int, int, int, int]


def _boxes(
    ranks: NDArray[np.int64], known: Partitioning, largest: int, clock: Clock
) -> tuple[list[Box], list[Candidate]] | None:
    """Return every bounding box of points that has k, up to a size, None if there are too many."""
    boxes: list[tuple[Box, Candidate]] = []
    width, height = (int(ranks[:, axis].max()) + 1 for axis in (0, 1))
    if (width * height) ** 2 > 4 * _MOST_CORNERS:
        return None
    for left in range(width):
        for right in range(left, width):
            if clock.is_over():
                return None
            column = np.flatnonzero((ranks[:, 0] >= left) & (ranks[:, 0] <= right))
            column = column[np.argsort(ranks[column, 1], kind="stable")]
            if {left, right} <= set(ranks[column, 0].tolist()):
                boxes += _in_column(ranks, known, column, (left, right), largest)
            if len(boxes) > MOST_RECTANGLES:
                return None
    return [box for box, _ in boxes], [candidate for _, candidate in boxes]


def _in_column(
    ranks: NDArray[np.int64], known: Partitioning, column: Numbers, ends: tuple[int, int], largest: int
) -> Iterator[tuple[Box, Candidate]]:
    """Yield the boxes that touch the left and the right end of a column of points, from low to high."""
    rows, across = ranks[column, 1].tolist(), ranks[column, 0].tolist()
    for first, bottom in enumerate(rows):
        if first and rows[first - 1] == bottom:
            continue
        size = 0
        for last in range(first, len(rows)):
            size += int(known.weights[column[last]])
            is_last_of_row = last + 1 == len(rows) or rows[last + 1] != rows[last]
            if not is_last_of_row or size < known.k:
                continue
            if size > largest:
                break
            if set(ends) <= set(across[first : last + 1]):
                values = tuple(sorted(column[first : last + 1].tolist()))
                yield (ends[0], bottom, ends[1], rows[last]), Candidate(values, size)


def _overlaps(boxes: Sequence[Box], candidates: Sequence[Candidate]) -> list[tuple[int, int]]:
    """Return the pairs of boxes that meet but have no point in common."""
    sets = [set(candidate.values) for candidate in candidates]
    return [
        (one, other)
        for one, other in combinations(range(len(boxes)), 2)
        if _meet(boxes[one], boxes[other]) and sets[one].isdisjoint(sets[other])
    ]


def _exactly(points: NDArray[np.float64], known: Partitioning, clock: Clock) -> PartitionOutcome:
    """Return the best partition of different points by disjoint bounding boxes, as far as the time allows.

    Two closed boxes are disjoint if some line parallel to an axis parts them without touching either. Says
    nothing new if there are more than `MOST_RECTANGLES` that can be part of a solution.
    """
    ranks = np.stack([np.unique(points[:, axis], return_inverse=True)[1] for axis in (0, 1)], axis=1)

    def candidates(largest: int) -> Candidates | None:
        boxes = _boxes(ranks, known, largest, clock)
        return None if boxes is None else (boxes[1], _overlaps(*boxes))

    return best_partition(candidates, known, clock)


def _meet(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


Coordinates = NDArray[np.float64]
KD = "kd-tree"

_AIMS = (100, 110, 120, 140, 105, 130, 103)
"""Percent of k that cuts aim at, in the order in which they are tried: weights come in lumps, and rectangles
that aim at k itself are often left with a little less than 2k or 3k."""

_TRIES = ((2_000, 7), (10_000, 4), (40_000, 2), (math.inf, 1))
"""How many of them are tried, by the most rectangles there can be."""

_LONG = 1.5
"""How much longer one side may be before it is cut whatever the cut is worth."""


@dataclass(frozen=True, slots=True)
class Rectangles:
    """Points grouped by rectangles."""

    classes: SingleAttribute
    """Class of each point; equal points share one."""
    boxes: Coordinates
    """Shape (m, 4). Rectangle of each class: least x, least y, greatest x, greatest y. Interiors are
    disjoint, and they fill the bounding box of all points, with borders half-way between points."""


def rectangles(
    x: NDArray[np.floating] | Sequence[float],
    y: NDArray[np.floating] | Sequence[float],
    weights: NDArray[np.integer] | Sequence[int],
    k: int,
    cost_kind: CostKind = "max",
    *,
    method: str = "kd",
    clock: Clock | None = None,
) -> Rectangles:
    """Group points into disjoint axis-parallel rectangles of at least k.

    A rectangle is cut in two as long as a vertical or horizontal line leaves k on both sides. One that cannot
    be cut has at most ``kappa + 4 (k - 1)``, ``kappa = max(k, heaviest point)``: some column of points has
    less than k to its left and less to its right, some row less above and less below, and what is in neither
    side lies at their crossing. Hence the ratio 5 of Theorem 4, for every rule by which cuts are chosen. Here
    a cut keeps as many multiples of k (or of a little more: some are tried, the cheapest result is taken) as
    it can on both sides, prefers to shorten the longer side, and halves the weight. O(n log n) for sorting,
    and O(n) for each level of cuts, some log m for m rectangles.

    The paper speaks of partitions of the plane and, in its proofs, of rectangles around points; not every
    set of disjoint rectangles around points can be extended to fill the plane (four in a pinwheel leave a
    hole). 'exact' seeks the best disjoint rectangles and extends them. Where that leaves a hole, what 'kd'
    finds is the answer, beside the bound, which holds for disjoint rectangles and hence for partitions.

    Parameters
    ----------
    x, y : array of float, shape (n,)
        Coordinates, finite. Equal points are kept together.
    method : str
        'kd' or 'exact', which looks for a better solution if there are few enough rectangles.
    """
    array = checked_weights(weights, k)
    points, inverse, merged = _distinct(x, y, array)
    bound, proof = lower_bound(merged, k, cost_kind)
    class_of, boxes = _best_cuts(points, merged, k, cost_kind)
    name = KD
    if method == "exact":
        exact = _exactly(points, Partitioning(merged, class_of, k, cost_kind, bound), clock or Clock())
        if exact.bound > bound:
            bound, proof = exact.bound, PROOF
        filled = None if exact.class_of is None else _filled(points, exact.class_of)
        if exact.class_of is not None and filled is not None:
            class_of, boxes, name = exact.class_of, filled, PROOF
    classes = finished(array, k, class_of[inverse], cost_kind, bound, name, proof)
    order = np.empty(len(boxes), dtype=np.int64)
    order[classes.class_of] = class_of[inverse]
    return Rectangles(classes, boxes[order])


def _distinct(
    x: NDArray[np.floating] | Sequence[float], y: NDArray[np.floating] | Sequence[float], weights: Weights
) -> tuple[Coordinates, Numbers, Weights]:
    """Return the different points, which of them each point is, and their weights."""
    points = np.stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)], axis=1)
    if not np.isfinite(points).all():
        raise InputError("A coordinate is not a finite number.", hint="Leave such rows out by a view.")
    distinct, inverse = np.unique(points + 0.0, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    merged = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(merged, inverse, weights)
    return distinct, inverse, merged


def _filled(points: Coordinates, class_of: Numbers) -> Coordinates | None:
    """Return disjoint bounding boxes of classes, extended until they fill that of all points; None if not."""
    spots = [np.unique(points[:, axis], return_inverse=True) for axis in (0, 1)]
    ranks = np.stack([rank.reshape(-1) for _, rank in spots], axis=1)
    around = np.empty((int(class_of.max()) + 1, 4), dtype=np.int64)
    around[:, :2], around[:, 2:] = ranks.max() + 1, -1
    for axis in (0, 1):
        np.minimum.at(around[:, axis], class_of, ranks[:, axis])
        np.maximum.at(around[:, axis + 2], class_of, ranks[:, axis])
    shape = len(spots[0][0]), len(spots[1][0])
    # A rectangle may be in the way of another one: what grows first matters.
    for sides in permutations(range(4)):
        boxes = _grown(around, shape, sides)
        if boxes is not None:
            ends = [_ends(values) for values, _ in spots]
            corners = [(ends[0][left], ends[1][low], ends[0][right + 1], ends[1][high + 1])
                       for left, low, right, high in boxes.tolist()]  # fmt: skip
            return np.array(corners, dtype=np.float64)
    return None


def _grown(around: Numbers, shape: tuple[int, int], sides: Sequence[int]) -> Numbers | None:
    """Move the sides of boxes of grid cells outwards, one kind of side after the other; None if holes stay.

    Side 0 is the left one, 1 the lower, 2 the right, 3 the upper one. O(cells) for each kind.
    """
    boxes = around.copy()
    is_free = np.ones(shape, dtype=np.bool_)
    for left, low, right, high in boxes.tolist():
        is_free[left : right + 1, low : high + 1] = False
    for side in sides:
        axis, step = side % 2, -1 if side < 2 else 1
        for box in boxes:
            while 0 <= box[side] + step < shape[axis]:
                across = slice(int(box[1 - axis]), int(box[3 - axis]) + 1)
                line = int(box[side]) + step
                strip = (line, across) if axis == 0 else (across, line)
                if not is_free[strip].all():
                    break
                is_free[strip] = False
                box[side] += step
    return None if is_free.any() else boxes


def _ends(values: Coordinates) -> list[float]:
    """Return where the cells of the grid begin along an axis, and where the last one ends."""
    numbers = values.tolist()
    return [numbers[0], *(_between(low, high) for low, high in pairwise(numbers)), numbers[-1]]


def _best_cuts(points: Coordinates, weights: Weights, k: int, kind: CostKind) -> tuple[Numbers, Coordinates]:
    """Return the cheapest of some trees of cuts; of equal ones the one that is cheaper by the sum."""
    rectangles_at_most = int(weights.sum()) // k
    tries = next(count for most, count in _TRIES if rectangles_at_most <= most)
    trees = []
    for percent in _AIMS[:tries]:
        class_of, boxes = _cut(points, weights, k, k * percent // 100)
        sizes = np.zeros(len(boxes), dtype=np.int64)
        np.add.at(sizes, class_of, weights)
        trees.append((cost_of(sizes, k, kind), cost_of(sizes, k, "sum"), class_of, boxes))
    *_, class_of, boxes = min(trees, key=lambda one: one[:2])
    return class_of, boxes


def _cut(points: Coordinates, weights: Weights, k: int, aim: int) -> tuple[Numbers, Coordinates]:
    """Cut the bounding box of different points until no part can be cut; return classes and boxes.

    Cuts are chosen as if classes were to have `aim`, at least k; any cut that leaves k is made in the end.
    """
    class_of = np.empty(len(points), dtype=np.int64)
    boxes: list[Coordinates] = []
    everything = np.concatenate([points.min(axis=0), points.max(axis=0)])
    orders = tuple(np.argsort(points[:, axis], kind="stable") for axis in (0, 1))
    waiting = [(orders, everything)]
    side = np.zeros(len(points), dtype=np.bool_)
    while waiting:
        orders, box = waiting.pop()
        cut = _best_cut(points, weights, orders, box, k, aim)
        if cut is None:
            class_of[orders[0]] = len(boxes)
            boxes.append(box)
            continue
        axis, place = cut
        low, high = orders[axis][:place], orders[axis][place:]
        border = _between(points[low[-1], axis], points[high[0], axis])
        side[low], side[high] = True, False
        other = orders[1 - axis]
        is_low = side[other]
        lower, upper = box.copy(), box.copy()
        lower[axis + 2] = upper[axis] = border
        for part, beside, own in ((low, other[is_low], lower), (high, other[~is_low], upper)):
            waiting.append(((part, beside) if axis == 0 else (beside, part), own))
    return class_of, np.array(boxes)


def _between(low: float, high: float) -> float:
    """Return the middle of two numbers, or the higher one if there is none between them."""
    middle = low + (high - low) / 2
    return middle if low < middle < high else high


def _best_cut(
    points: Coordinates, weights: Weights, orders: tuple[Numbers, ...], box: Coordinates, k: int, aim: int
) -> tuple[int, int] | None:
    """Return the axis of the best cut and how many points are below it, None if there is no cut."""
    best: tuple[tuple[int, bool, float], tuple[int, int]] | None = None
    lengths = box[2] - box[0], box[3] - box[1]
    for axis in (0, 1):
        order = orders[axis]
        sums = np.cumsum(weights[order])
        total = int(sums[-1])
        if total < 2 * k:
            return None
        along = points[order, axis]
        first, last = np.searchsorted(sums, [k, total - k + 1])
        places = np.arange(first, last)
        places = places[along[places] < along[places + 1]] if places.size else places
        if not places.size:
            continue
        below = sums[places]
        kept = np.maximum(1, below // aim) + np.maximum(1, (total - below) // aim)
        classes = int(kept.max())
        places, below = places[kept == classes], below[kept == classes]
        middle = total * (classes // 2) / classes
        nearest = int(np.argmin(np.abs(below - middle)))
        is_short = lengths[axis] * _LONG < lengths[1 - axis]
        score = (-classes, is_short, abs(float(below[nearest]) - middle))
        if best is None or score < best[0]:
            best = score, (axis, int(places[nearest]) + 1)
    return None if best is None else best[1]
