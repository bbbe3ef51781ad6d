"""How likely people are found again by their values in some columns, and what that would tell about them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.risk import FRACTION, POPULATION, SAMPLE, THRESHOLD, AttackerRisk, Homogeneous, Risk
from kanon_pg.errors import InputError
from kanon_pg.worker.audit.grouping import Grouping, Numbers, People, grouping_of
from kanon_pg.worker.audit.population import expected_inverse_sizes
from kanon_pg.worker.row_types import RowTypeTable


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
