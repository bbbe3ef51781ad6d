"""Costs as whole numbers, for algorithms that are exact on integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.solvers.exact.granularity import granularity
from kanon_pg.worker.verification.certificate import PRICE_UNIT


def whole_costs(costs: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Return costs as multiples of a unit, and the unit.

    Parameters
    ----------
    costs : ndarray of float64
        Costs of one row, >= 0.

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
