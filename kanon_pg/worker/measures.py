"""Usefulness and losses of a solution: how close the rows of a class were, and how columns are distributed.

References
----------
G. Loukides, J. Shao: "Capturing data usefulness and privacy protection in k-anonymisation", SAC 2007;
as restated in R. Bredereck, A. Nichterlein, R. Niedermeier, "Pattern-Guided k-Anonymity" (2013),
Definitions 3 to 5.
A. Gionis, T. Tassa: "k-Anonymization with Minimal Loss of Information", IEEE TKDE 21(2), 2009: the
non-uniform entropy measure.
D. Kifer, J. Gehrke: "Injecting Utility into Anonymized Datasets", SIGMOD 2006: the divergence between a
table and what an anonymized one says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.packed_numbers import integers
from kanon_pg.worker.row_types import RowTypeTable


def usefulness(table: RowTypeTable, class_of: NDArray[np.int64], classes: int) -> float:
    """Return the mean tuple diversity of the classes; smaller is better.

    The tuple diversity of a class is the sum over the columns of the share of the column's range
    (numeric) or of its distinct values (categorical) that the original rows of the class cover.

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
    span = high.max() - low.min()
    if not np.isfinite(span):
        return float(varies.sum())
    return float(((high[varies] - low[varies]) / span).sum()) if span > 0 else 0.0


@dataclass(frozen=True)
class Utility:
    """Losses of a solution."""

    entropy_loss: float
    """Non-uniform entropy as a share of the most there is to lose, 0 to 1: the sum over all cells of
    -log(rows with the cell's value / rows whose value is below the published node), divided by the same sum
    for a table in which everything is suppressed (0 if no column has two values)."""
    marginal_divergence: float
    """Mean over the quasi-identifiers of the Kullback-Leibler divergence, in bits, from the shares of the
    column's values to those that a reader infers, for whom each published cell stands for every value below
    it with the same chance; 0 or more."""


def utility(packed: PackedRowTypes, parts: RowTypeTable, vector: NDArray[np.int64]) -> Utility:
    """Measure what a solution tells about each quasi-identifier, NULL being a value like others.

    Parameters
    ----------
    parts : RowTypeTable
        The parts of these row types that the solution has.
    vector : ndarray of int64, shape (n,)
        Pattern vector of each part: the level of each column.

    Notes
    -----
    O(m (n + d h)) for n parts, m columns and hierarchies of height h over d values.
    """
    fields = packed.level_fields
    lost = most = divergence = 0.0
    hierarchies = packed.hierarchies or (None,) * parts.width
    for column, hierarchy in enumerate(hierarchies):
        level = (vector >> fields.offsets[column]) & ((1 << fields.widths[column]) - 1)
        value, nodes = _nodes(parts, column, hierarchy)
        column_loss, column_most, column_divergence = _measure(nodes, value, level, parts.rows)
        lost += column_loss
        most += column_most
        divergence += column_divergence
        parts.heartbeat()
    return Utility(lost / most if most > 0 else 0.0, divergence / parts.width)


def _nodes(
    parts: RowTypeTable, column: int, hierarchy: PackedHierarchy | None
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Return the value of each part, numbered, and per level the node of each value of the column.

    All values of a hierarchy belong to it, also those that no row has.
    """
    numbers, first = number_values(parts.cells[column])
    nodes: list[NDArray[np.int64]] = [np.arange(first.size)]
    if hierarchy is not None:
        known, place = np.unique(integers(hierarchy.cells), return_inverse=True)
        numbers = np.searchsorted(known, parts.cells[column][first])[numbers]
        nodes = [np.arange(known.size), *(_by_value(buffer, place) for buffer in hierarchy.nodes)]
    return numbers, [*nodes, np.zeros(nodes[0].size, dtype=np.int64)]


def _by_value(buffer: bytes, place: NDArray[np.intp]) -> NDArray[np.int64]:
    numbered = np.unique(integers(buffer), return_inverse=True)[1]
    nodes = np.empty(place.size, dtype=np.int64)
    nodes[place] = numbered
    return nodes


def _measure(
    nodes: Sequence[NDArray[np.int64]],
    value: NDArray[np.int64],
    level: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> tuple[float, float, float]:
    """Return the bits lost, the most bits there are to lose, and the divergence in bits."""
    rows_of = np.bincount(value, weights=rows, minlength=nodes[0].size)
    total = rows_of.sum()
    present = rows_of > 0
    shares = rows_of[present] / total
    bits, inferred = np.zeros((2, rows_of.size))
    bits[present] = -np.log2(shares)
    lost = 0.0
    for number, node in enumerate(nodes):
        here = level == number
        if not here.any():
            continue
        published = node[value[here]]
        below = np.bincount(node, weights=rows_of)
        lost += float((rows[here] * (np.log2(below[published] / total) + bits[value[here]])).sum())
        # a reader gives each value below a published node the same chance
        per_value = np.bincount(published, weights=rows[here], minlength=below.size) / np.bincount(node)
        inferred += per_value[node]
    divergence = float((shares * np.log2(rows_of[present] / inferred[present])).sum())
    return lost, float((rows_of * bits).sum()), max(0.0, divergence)
