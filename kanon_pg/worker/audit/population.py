"""How large a class is in the population if only its size in a sample is known."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.audit.grouping import Numbers

_MOST_AHEAD = 1_000_000
"""Most sizes above the largest one at which the descending recurrence starts.

Its first value is wrong by less than 1 / size², and each step divides the error by p / (1 - p).
"""


def expected_inverse_sizes(sizes: Numbers, fraction: float) -> NDArray[np.float64]:
    """Return the expectation of 1 / F for classes of F people of whom some are in the sample.

    F has a negative binomial distribution given the sample (Benedetti and Franconi 1998, the individual risk
    of mu-Argus and sdcMicro): P(F = h) = C(h - 1, f - 1) p^f (1 - p)^(h - f) for f people in a sample that
    holds a share p of the population.

    Parameters
    ----------
    sizes : ndarray of int64
        People of each class in the sample, >= 1.
    fraction : float
        Share of the population in the sample, 0 < fraction <= 1.

    Returns
    -------
    ndarray of float64
        In (0, 1], at most 1 / size; exact to about 1e-12.

    Notes
    -----
    The expectation is the integral of u^(f - 1) p / (p + (1 - p) u) over u from 0 to 1, whence
    J(f + 1) = p / (1 - p) (1 / f - J(f)) with J(1) = -p ln(p) / (1 - p). Upwards this is stable for
    p <= 1/2, downwards for p > 1/2. O(largest size).
    """
    if fraction == 1:
        return 1.0 / sizes
    most = int(sizes.max())
    ratio = fraction / (1 - fraction)
    values = np.empty(most + 1)
    if ratio <= 1:
        values[1] = -ratio * math.log(fraction)
        for size in range(1, most):
            values[size + 1] = ratio * (1 / size - values[size])
    else:
        ahead = min(_MOST_AHEAD, math.ceil(32 / math.log(ratio)))
        value = fraction / (most + ahead)
        for size in range(most + ahead - 1, 0, -1):
            value = 1 / size - value / ratio
            if size <= most:
                values[size] = value
    return values[sizes]
