"""Costs as multiples of one number: bounds are rounded up to the next possible cost."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.verification.certificate import PRICE_UNIT

_LARGEST_DENOMINATOR = 1000
_TOLERANCE = 1e-6
"""How far a bound computed with doubles may be wrong, relative to the bound."""


def granularity(costs: NDArray[np.float64]) -> float:
    """Return the greatest number of which all costs are multiples, 0 if it is not known.

    Notes
    -----
    Weights such as 0.1 are taken for the decimal or fraction that they are written as, if its denominator
    is at most 1,000.
    """
    divisor = Fraction(0)
    for cost in np.unique(costs):
        number = Fraction(float(cost)).limit_denominator(_LARGEST_DENOMINATOR)
        if not math.isclose(float(number), float(cost), rel_tol=1e-12):
            return 0.0
        divisor = Fraction(
            math.gcd(divisor.numerator * number.denominator, number.numerator * divisor.denominator),
            divisor.denominator * number.denominator,
        )
    return float(divisor)


def rounded_up(bound: float, step: float) -> float:
    """Return the least possible cost a bound, maybe a millionth too high, allows in steps (0: unknown)."""
    if not math.isfinite(bound):
        return bound
    safe = bound - _TOLERANCE * max(1.0, abs(bound))
    return math.ceil(safe / step) * step if step > 0 else safe


def whole_costs(costs: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Return costs as multiples of a unit, and the unit.

    Returns
    -------
    tuple of (ndarray of int64, float)
        Exact multiples where all costs are multiples of one number (see `granularity`); otherwise they are
        rounded down to millionths, so that what is optimal for them bounds the true costs from below.
    """
    unit = granularity(costs)
    if unit > 0:
        return np.rint(costs / unit).astype(np.int64), unit
    return np.floor(costs * PRICE_UNIT).astype(np.int64), 1.0 / PRICE_UNIT
