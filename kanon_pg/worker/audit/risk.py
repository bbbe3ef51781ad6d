"""How likely people are found again by their values in some columns, and what that would tell about them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.risk import FRACTION, POPULATION, SAMPLE, THRESHOLD, AttackerRisk, Homogeneous, Risk
from kanon_pg.errors import InputError
from kanon_pg.worker.audit.grouping import Grouping, Numbers, People, grouping_of
from kanon_pg.worker.row_types import RowTypeTable

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


def risk_of(
    table: RowTypeTable,
    columns: Sequence[int],
    *,
    threshold: float = THRESHOLD,
    population: Numbers | None = None,
    sampling_fraction: float | None = None,
) -> Risk:
    """Return the risk of the people in a table by some columns.

    Parameters
    ----------
    table : RowTypeTable
        With the sensitive columns whose homogeneous classes count.
    columns : sequence of int
        Numbers of the columns that an attacker knows.
    threshold : float
        Risk above which a record counts, 0 <= threshold < 1.
    population : ndarray of int64, shape (n,), optional
        People of the population who agree with each row type on these columns. The people of the table
        belong to the population, so that a smaller number (0 where the register lacks a combination) counts
        as the class size.
    sampling_fraction : float, optional
        Share of the population in the table, in (0, 1]: the journalist's risk is then the expectation of
        `expected_inverse_sizes`.

    Raises
    ------
    InputError
        The threshold or the fraction is out of range, or a population and a fraction are given.

    Notes
    -----
    O(n) per column.
    """
    _check(threshold, population, sampling_fraction)
    people = People.of(table)
    grouping = grouping_of(table, columns)
    sizes = people.sizes(grouping)
    prosecutor = _attacker(sizes, 1.0 / sizes, threshold)
    basis, inverse = SAMPLE, 1.0 / sizes
    if population is not None:
        within = sizes.copy()
        np.maximum.at(within, grouping.class_of, population)
        basis, inverse = POPULATION, 1.0 / within
    elif sampling_fraction is not None:
        basis, inverse = FRACTION, expected_inverse_sizes(sizes, sampling_fraction)
    journalist = _attacker(sizes, inverse, threshold)
    return Risk(
        people=int(sizes.sum()),
        classes=grouping.count,
        prosecutor=prosecutor,
        journalist=journalist,
        journalist_basis=basis,
        marketer=journalist.average,
        sample_uniques=int((sizes == 1).sum()),
        homogeneous=tuple(_homogeneous(table, grouping, sizes)),
    )


def _check(threshold: float, population: Numbers | None, sampling_fraction: float | None) -> None:
    if not 0 <= threshold < 1:
        raise InputError("The threshold of the risk is not at least 0 and below 1.", hint="Usual: 0.2.")
    if sampling_fraction is None:
        return
    if population is not None:
        raise InputError(
            "Both a population table and a sampling fraction are given.", hint="Give one of them."
        )
    if not 0 < sampling_fraction <= 1:
        raise InputError(
            "The sampling fraction is not above 0 and at most 1.",
            hint="It is the number of people in the table divided by that in the population.",
        )


def _attacker(sizes: Numbers, risk: NDArray[np.float64], threshold: float) -> AttackerRisk:
    total = int(sizes.sum())
    above = int(sizes[risk > threshold].sum())
    return AttackerRisk(float(risk.max()), float((risk * sizes).sum() / total), above, above / total)


def _homogeneous(table: RowTypeTable, grouping: Grouping, sizes: Numbers) -> list[Homogeneous]:
    rows = np.bincount(grouping.class_of, weights=table.rows, minlength=grouping.count)
    found = []
    for described, cells in zip(table.sensitive_columns, table.sensitive, strict=True):
        example = np.empty(grouping.count, dtype=np.int64)
        example[grouping.class_of] = cells
        is_same = np.ones(grouping.count, dtype=np.bool_)
        is_same[grouping.class_of[cells != example[grouping.class_of]]] = False
        found.append(
            Homogeneous(
                described.name, int(is_same.sum()), int(sizes[is_same].sum()), int(rows[is_same].sum())
            )
        )
    return found
