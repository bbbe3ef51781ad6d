"""Lower bounds on the cost of classes, whichever values may share one."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.worker.grouping.result import CostKind, Numbers

KAPPA = "max(k, heaviest value)"
VOLUME = "total weight over the most classes there can be"


def lower_bound(weights: Sequence[int] | Numbers, k: int, kind: CostKind) -> tuple[int, str]:
    """Return a proven lower bound on the cost of any classes of at least k, and what proves it.

    O(n log(total weight)). Allows every group of values, so it holds for intervals, regions and rectangles
    too.
    """
    whole = [int(weight) for weight in weights]
    heavy = sorted(weight for weight in whole if weight >= k)
    light = sum(weight for weight in whole if weight < k)
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
