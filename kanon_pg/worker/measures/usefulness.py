"""Usefulness of a set of classes: how close together the rows of a class were.

References
----------
G. Loukides, J. Shao: "Capturing data usefulness and privacy protection in k-anonymisation", SAC 2007;
as restated in R. Bredereck, A. Nichterlein, R. Niedermeier, "Pattern-Guided k-Anonymity" (2013),
Definitions 3 to 5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable


def usefulness(table: RowTypeTable, class_of: NDArray[np.int64], classes: int) -> float:
    """Return the mean tuple diversity of the classes; smaller is better.

    The tuple diversity of a class is the sum over the columns of the share of the column's range
    (numeric) or of its distinct values (categorical) that the original rows of the class cover.

    Parameters
    ----------
    table : RowTypeTable
    class_of : ndarray of int64, shape (n,)
        Class of each row type, from 0 to ``classes - 1``.
    classes : int

    Returns
    -------
    float
        Between 0 and the number of columns.

    Notes
    -----
    A missing number (NULL) lies outside every range; a class covers the range of its present
    numbers, 0 if it has none. An infinite range counts as covered in full unless it is one value.
    """
    order = np.argsort(class_of, kind="stable")
    begin = np.searchsorted(class_of[order], np.arange(classes))
    total = 0.0
    for column in range(table.width):
        values = table.values[column]
        if values is None:
            distinct = _distinct_pairs(class_of[order], table.codes[column][order])
            total += distinct / float(table.cardinalities[column])
        else:
            total += _range_shares(values[order], begin)
        table.heartbeat()
    return total / classes


@kernel
def _distinct_pairs(classes: NDArray[np.int64], codes: NDArray[np.int32]) -> int:
    """Count the distinct pairs of class and code; the classes are in ascending order."""
    last_class = np.full(codes.max() + 1, -1, dtype=np.int64)
    distinct = 0
    for place in range(classes.size):
        if last_class[codes[place]] != classes[place]:
            last_class[codes[place]] = classes[place]
            distinct += 1
    return distinct


def _range_shares(values: NDArray[np.float64], begin: NDArray[np.intp]) -> float:
    """Add up which share of the whole range each class covers."""
    low = np.minimum.reduceat(np.where(np.isnan(values), np.inf, values), begin)
    high = np.maximum.reduceat(np.where(np.isnan(values), -np.inf, values), begin)
    present = low <= high
    if not present.any():
        return 0.0
    low, high = low[present], high[present]
    varies = high > low
    whole = high.max() - low.min()
    if not np.isfinite(whole):
        return float(varies.sum())
    return float(((high[varies] - low[varies]) / whole).sum()) if whole > 0 else 0.0
