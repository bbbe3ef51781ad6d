"""Figures of sets of columns and of single ones, and which columns determine others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.audit.grouping import Grouping, Numbers, People, groupings_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable


@dataclass(frozen=True, slots=True)
class SetFigures:
    """Figures of a set of columns for some k.

    Distinction and separation are those of Motwani and Xu ("Efficient Algorithms for Masking and Finding
    Quasi-Identifiers", 2007), for n rows of which d differ on the set: a set is alpha-distinct if it becomes
    a key once a share 1 - alpha of the rows is removed, and alpha-separating if a share alpha of all pairs
    of rows differ on it. Both count rows, also where an entity is declared, as in the paper.

    Parameters
    ----------
    classes : int
        Different combinations of values (d), >= 1.
    classes_at_risk : int
        Those shared by fewer than k people.
    smallest_class : int
        Size of the smallest class, >= 1.
    people_at_risk : int
        Different people with a row in a class of fewer than k people; one in which nobody is known counts
        as one person.
    rows_at_risk : int
        Rows in these classes.
    distinction : float
        d / n, in (0, 1]: the greatest alpha for which the set is alpha-distinct.
    separation : float
        Pairs of rows that differ / (n (n - 1) / 2), in [0, 1]; 1 for a single row.
    """

    classes: int
    classes_at_risk: int
    smallest_class: int
    people_at_risk: int
    rows_at_risk: int
    distinction: float
    separation: float


def figures_of(
    table: RowTypeTable, sets: Sequence[tuple[int, ...]], k: int
) -> Iterator[tuple[tuple[int, ...], SetFigures]]:
    """Yield sets of columns with their figures.

    Parameters
    ----------
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
        yield columns, class_figures(table, people, grouping, k)


def separation(rows: Numbers) -> float:
    """Return the share of pairs of rows that lie in different classes of these sizes, 1 without a pair."""
    total = int(rows.sum())
    if total < 2:
        return 1.0
    sizes, times = np.unique(rows, return_counts=True)
    pairs = sum(int(size) * (int(size) - 1) * int(time) for size, time in zip(sizes, times, strict=True))
    return 1.0 - pairs / (total * (total - 1))


def class_figures(table: RowTypeTable, people: People, grouping: Grouping, k: int) -> SetFigures:
    """Return the figures of classes."""
    sizes = people.sizes(grouping)
    rows = rows_of(table, grouping.class_of, grouping.count)
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


_NEARLY = 0.99
"""Share of the rows from which a column is said to determine another one."""

_BETTER = 0.8
"""Share of the errors of guessing the most frequent value of all that is avoided by knowing the determinant
 (Goodman and Kruskal's lambda), at least; else anything would determine rare values."""

_REPEATED = 0.1
"""Share of the rows whose value others have as well, at least, in a determinant: where nearly all values
are different, what they determine is chance."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column.

    Parameters
    ----------
    distinct : int
        Different values, NULL being one.
    single : int
        Values that one row has.
    separation : float
        Share of the pairs of rows with different values, 0 to 1 (Motwani and Xu 2007).
    """

    distinct: int
    single: int
    separation: float


@dataclass(frozen=True, slots=True)
class Dependency:
    """An exact or approximate functional dependency: one column determines another.

    Parameters
    ----------
    determinant, dependent : int
        Numbers of columns.
    share : float
        Among the rows whose determinant occurs more than once: those in which guessing the most frequent
        dependent value is right, at least 0.99; 1 if it always is.
    """

    determinant: int
    dependent: int
    share: float


def column_profiles(table: RowTypeTable) -> list[ColumnProfile]:
    """Return the profile of each column; O(n) each."""
    found = []
    for codes, cardinality in zip(table.codes, table.cardinalities, strict=True):
        rows = rows_of(table, codes, int(cardinality))
        apart = separation(rows) if table.total_rows > 1 else 0.0
        found.append(ColumnProfile(int(cardinality), int((rows == 1).sum()), apart))
    return found


def dependencies(table: RowTypeTable, clock: Clock) -> tuple[list[Dependency], bool]:
    """Return which columns determine others, exactly or nearly, and whether all pairs were looked at.

    Notes
    -----
    O(n) for each of m² pairs of columns, n row types and m columns; the clock may end it early.
    """
    found: list[Dependency] = []
    for one in range(table.width):
        determinant = _Determinant.of(table, one)
        if determinant.repeated.sum() < _REPEATED * table.total_rows:
            continue
        for dependent in range(table.width):
            if clock.is_over():
                return found, False
            if dependent != one and table.cardinalities[dependent] > 1:
                share = determinant.share_determined(dependent)
                if share is not None:
                    found.append(Dependency(one, dependent, share))
        clock.report("pairs of columns", (one + 1) / table.width)
    return found, True


@dataclass(frozen=True)
class _Determinant:
    """A column with the rows of each of its values, as far as others have the same value."""

    table: RowTypeTable
    column: int
    repeated: NDArray[np.int64]

    @classmethod
    def of(cls, table: RowTypeTable, column: int) -> _Determinant:
        rows = rows_of(table, table.codes[column], int(table.cardinalities[column]))
        return cls(table, column, np.where(rows > 1, rows, 0))

    def share_determined(self, dependent: int) -> float | None:
        """Return the share of the repeated rows in which it determines another column; None if too few."""
        table, count = self.table, int(self.table.cardinalities[self.column])
        codes, values = table.codes[dependent], int(table.cardinalities[dependent])
        total = int(self.repeated.sum())
        wrong = (1 - _NEARLY) * total
        if values - count > wrong:
            return None
        pairs = Grouping(table.codes[self.column], count).divided(codes, values)
        if pairs.count - count > wrong:  # each further pair is at least one wrong guess
            return None
        rows = rows_of(table, pairs.class_of, pairs.count)
        value = np.empty(pairs.count, dtype=np.int64)
        value[pairs.class_of] = table.codes[self.column]
        most = np.zeros(count, dtype=np.int64)
        np.maximum.at(most, value, rows)
        share = float(most[self.repeated > 0].sum() / total)
        blind = float(rows_of(table, codes, values).max() / table.total_rows)
        return share if share >= _NEARLY and share - blind >= _BETTER * (1 - blind) else None


def rows_of(table: RowTypeTable, class_of: NDArray[np.int32], count: int) -> Numbers:
    """Return the rows of each class."""
    return np.bincount(class_of, weights=table.rows, minlength=count).astype(np.int64)
