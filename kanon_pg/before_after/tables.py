"""How two or three columns belong together, before and after: associations, and the error of counts.

Tables are counts by buckets of the columns, see `kanon_pg.before_after.buckets`. Rows in which one of the
cells is suppressed are unknown.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kanon_pg.before_after.buckets import SUPPRESSED

CrossTable = Mapping[tuple[int, ...], int]
"""Rows by the numbers of the buckets of some columns."""


def known(table: CrossTable) -> dict[tuple[int, ...], int]:
    """Return the cells of a table of which nothing is suppressed."""
    return {cell: rows for cell, rows in table.items() if SUPPRESSED not in cell}


def association(table: CrossTable) -> float | None:
    """Return how closely two columns belong together, 0 to 1: Cramer's V (Cramer 1946).

    None if one of them has fewer than two buckets.

    Examples
    --------
    >>> association({(1, 1): 10, (2, 2): 10}), association({(1, 1): 5, (1, 2): 5, (2, 1): 5, (2, 2): 5})
    (1.0, 0.0)
    """
    rows, columns = defaultdict[int, int](int), defaultdict[int, int](int)
    for (row, column), n in table.items():
        rows[row] += n
        columns[column] += n
    fewest = min(len(rows), len(columns))
    if fewest < 2:
        return None
    total = sum(rows.values())
    # chi squared / total + 1
    inertia = sum(n * n / (rows[row] * columns[column]) for (row, column), n in table.items())
    return math.sqrt(min(1.0, max(0.0, (inertia - 1) / (fewest - 1)))) if total else None


@dataclass(frozen=True, slots=True)
class CountError:
    """How wrong the counts of a table are on average, as a share of the count."""

    as_published: float
    """If rows with suppressed cells are left out: sum of the differences / sum of the true counts."""
    scaled: float | None
    """If what is left is scaled up to all rows of the release; None if nothing is left."""


def count_error(before: CrossTable, after: CrossTable) -> CountError:
    """Return the error of the counts of a release against those of its base relation.

    Examples
    --------
    >>> count_error({(1,): 8, (2,): 12}, {(1,): 6, (2,): 9, (SUPPRESSED,): 5})
    CountError(as_published=0.25, scaled=0.0)
    """
    left = known(after)
    total, rows, seen = sum(before.values()), sum(after.values()), sum(left.values())

    def error(factor: float) -> float:
        cells = before.keys() | left.keys()
        return sum(abs(factor * left.get(cell, 0) - before.get(cell, 0)) for cell in cells) / total

    return CountError(error(1.0), error(rows / seen) if seen else None)
