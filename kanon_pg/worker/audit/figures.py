"""What a set of columns shows about the people in a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kanon_pg.core.audit import SetFigures
from kanon_pg.worker.audit.grouping import Grouping, Numbers, People, groupings_of
from kanon_pg.worker.row_types import RowTypeTable


def figures_of(
    table: RowTypeTable, sets: Sequence[tuple[int, ...]], k: int
) -> Iterator[tuple[tuple[int, ...], SetFigures]]:
    """Yield sets of columns with their figures.

    Parameters
    ----------
    table : RowTypeTable
    sets : sequence of tuple of int
        Numbers of columns, ascending within a set; best in lexicographic order.
    k : int
        Fewest people of a class that is not at risk.

    Notes
    -----
    O(n) per set and column beyond those shared with the set before it, for n row types.
    """
    people = People.of(table)
    for columns, grouping in groupings_of(table, sets):
        yield columns, _figures(table, people, grouping, k)


def separation(rows: Numbers) -> float:
    """Return the share of pairs of rows that lie in different classes of these sizes, 1 without a pair."""
    total = int(rows.sum())
    if total < 2:
        return 1.0
    sizes, times = np.unique(rows, return_counts=True)
    pairs = sum(int(size) * (int(size) - 1) * int(time) for size, time in zip(sizes, times, strict=True))
    return 1.0 - pairs / (total * (total - 1))


def _figures(table: RowTypeTable, people: People, grouping: Grouping, k: int) -> SetFigures:
    sizes = people.sizes(grouping)
    rows = np.bincount(grouping.class_of, weights=table.rows, minlength=grouping.count).astype(np.int64)
    at_risk = sizes < k
    return SetFigures(
        classes=grouping.count,
        classes_at_risk=int(at_risk.sum()),
        smallest_class=int(sizes.min()),
        people_at_risk=people.within(at_risk, grouping) if at_risk.any() else 0,
        rows_at_risk=int(rows[at_risk].sum()),
        distinction=grouping.count / table.total_rows,
        separation=separation(rows),
    )
