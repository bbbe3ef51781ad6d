"""Classes of one attribute, their cost, and lower bounds on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.grouping import require_total
from kanon_pg.errors import DEFECT, InputError, SolverError

Weights = NDArray[np.int64]
Numbers = NDArray[np.int64]
CostKind = Literal["max", "sum"]
"""Size of the largest class; or the sum over all people of the size of their class beyond k."""

MOST_WEIGHT = 1 << 62
"""Sums of weights stay below, so that 64 bits hold them."""


@dataclass(frozen=True, slots=True)
class SingleAttribute:
    """Classes of the values of one attribute, and what is proven about them."""

    class_of: Numbers
    """Shape (n,). Class of each value; classes are numbered 0 .. m - 1 by their first value."""
    sizes: Numbers
    """Shape (m,). Sum of the weights of each class, each at least `k`."""
    k: int
    cost_kind: CostKind
    cost: int
    lower_bound: int
    """Proven: no solution of the same problem costs less."""
    method: str
    bound_method: str
    other: int | None = None
    """Number of the class in which values are gathered that belong nowhere else; None if there is none."""
    degree: int | None = None
    """Largest degree of the spanning trees that regions were cut from."""

    @property
    def optimal(self) -> bool:
        """Whether the cost is proven to be the least possible."""
        return self.cost <= self.lower_bound

    @property
    def ratio(self) -> float:
        """Cost divided by the lower bound, >= 1: no solution is better by a greater factor."""
        if self.optimal:
            return 1.0
        return self.cost / self.lower_bound if self.lower_bound else float("inf")


def cost_of(sizes: Sequence[int] | Numbers, k: int, kind: CostKind) -> int:
    """Return the cost of classes of some sizes.

    'max' is the size of the largest class. 'sum' counts for every person how many others beyond k share the
    class: the sum over the classes E of ``|E| (|E| - k)``, which is the paper's "d(x, E) = |E| - k with
    standard addition" and punishes large classes by their square.

    Examples
    --------
    >>> cost_of([3, 5], 3, "max"), cost_of([3, 5], 3, "sum")
    (5, 10)
    """
    numbers = [int(size) for size in sizes]
    return max(numbers) if kind == "max" else sum(size * (size - k) for size in numbers)


def checked_weights(weights: NDArray[np.integer] | Sequence[int], k: int) -> Weights:
    """Return the weights of values as 64-bit numbers; refuse negative ones, and less than k in all."""
    array = np.asarray(weights, dtype=np.int64)
    if array.size and int(array.min()) < 0:
        raise InputError("A weight is negative.", hint="Weights count people.")
    total = sum(array.tolist())
    if total >= MOST_WEIGHT:
        raise InputError("The weights are too large to be added up.", hint="Give them in a larger unit.")
    require_total(total, k)
    return array


def finished(
    weights: Weights,
    k: int,
    class_of: Numbers,
    kind: CostKind,
    lower_bound: int,
    method: str,
    bound_method: str,
    *,
    other: int | None = None,
    degree: int | None = None,
) -> SingleAttribute:
    """Number the classes by their first value, count them again, and return them with their cost.

    Raises
    ------
    SolverError
        If a class is smaller than k, or the bound exceeds the cost: a defect.
    """
    _, first, inverse = np.unique(class_of, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    numbers = rank[inverse]
    sizes = np.zeros(first.size, dtype=np.int64)
    np.add.at(sizes, numbers, weights)
    cost = cost_of(sizes, k, kind)
    if int(sizes.min()) < k or lower_bound > max(cost, 0):
        raise SolverError("The classes of an attribute contradict what is proven about them.", hint=DEFECT)
    place = None if other is None else int(numbers[np.flatnonzero(class_of == other)[0]])
    return SingleAttribute(
        numbers, sizes, k, kind, cost, lower_bound, method, bound_method, other=place, degree=degree
    )


KAPPA = "max(k, heaviest value)"
VOLUME = "total weight over the most classes there can be"


def lower_bound(weights: Sequence[int] | Numbers, k: int, kind: CostKind) -> tuple[int, str]:
    """Return a proven lower bound on the cost of any classes of at least k, and what proves it.

    O(n log(total weight)). Allows every group of values, so it holds for intervals, regions and rectangles
    too.
    """
    numbers = [int(weight) for weight in weights]
    heavy = sorted(weight for weight in numbers if weight >= k)
    light = sum(weight for weight in numbers if weight < k)
    if kind == "sum":
        return _sum_bound(heavy, light, k), VOLUME
    kappa = max(k, heavy[-1] if heavy else 0)
    volume = _volume_bound(heavy, light, k, kappa)
    return volume, KAPPA if volume == kappa else VOLUME


def _volume_bound(heavy: Sequence[int], light: int, k: int, kappa: int) -> int:
    """Return the least size, at least kappa, at which classes have room for all light values.

    The light values fill at most ``light // k`` classes by themselves; the rest has to join heavy values,
    each of which is in some class. So at size K there is room for ``(light // k) K + sum(max(0, K - h))``.
    For a table without heavy values this is the total weight divided by the most classes, rounded up.
    """

    def room(size: int) -> int:
        return light // k * size + sum(max(0, size - one) for one in heavy)

    low, high = kappa, kappa + light
    while low < high:
        middle = (low + high) // 2
        if room(middle) >= light:
            high = middle
        else:
            low = middle + 1
    return low


def _sum_bound(heavy: Sequence[int], light: int, k: int) -> int:
    """Return a lower bound on the sum of ``s (s - k)`` over the classes.

    ``f(s) = s (s - k)`` has ``f(a + b) = f(a) + f(b) + 2ab``, so heavy values in one class cost at least what
    they cost alone, and a weight r that joins a heavy value h costs ``r (2h - k + r) >= k r`` more. Classes
    of light values only cost at least ``k`` for every unit beyond k, and by convexity at least as much as
    classes of equal size.
    """
    alone = sum(one * (one - k) for one in heavy)
    classes, rest = divmod(light, k)
    if not heavy:
        return -(-light * (light - classes * k) // classes)
    if classes == 0 and light:
        return alone + light * (2 * heavy[0] - k) + -(-light * light // len(heavy))
    return alone + k * rest
