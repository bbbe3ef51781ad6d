"""Sets of columns that tell the rows of a table apart as well as all columns do.

They are the sets that hit every difference set (the columns on which two rows differ). Difference sets are
learned on the way: a set that hits all known ones is tried on the table, and pairs of rows that it leaves
together become new ones, as in Birnick, Bläsius, Friedrich, Naumann, Papenbrock and Schirneck (2020,
HPIValid). A minimal set comes from leaving columns out one after the other; a smallest one, with a proof of
how few columns are possible, from integer programs over the known difference sets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from kanon_pg.worker.audit.differences import (
    DistinctRows,
    Masks,
    distinct_rows,
    no_differences,
    separates,
    with_room,
)
from kanon_pg.worker.audit.projections import Division, split
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.exact.integer_program import Effort, Rows, solve_linear_model

ColumnSet = tuple[int, ...]

_PROGRAM = "integer program over pairs of rows"


def minimal_identifying_set(table: RowTypeTable) -> ColumnSet:
    """Return a minimal identifying set by Algorithm 5.1 of Yuan, whatever the time says.

    The algorithm drops, while it can, the last column without which the others still identify, and starts
    over. A column that can't be dropped can't be later (Lemma 1), so one pass from the last column to the
    first does the same: m trials for m columns, each a division of at most n rows by the columns kept so far.
    """
    known = _Differences(distinct_rows(table))
    kept: ColumnSet = tuple(range(table.width))
    for column in reversed(range(table.width)):
        kept = known.without(column, kept)
    return kept


class _Differences:
    """The different rows of a table, and the difference sets that are known."""

    def __init__(self, rows: DistinctRows) -> None:
        self.rows = rows
        self._differences = no_differences()

    @property
    def masks(self) -> Masks:
        """The difference sets."""
        return self._differences.known()

    def identifies(self, columns: Iterable[int]) -> bool:
        """Return whether some columns identify; learn difference sets that they don't meet."""
        self._differences = with_room(self._differences)
        return bool(separates(np.array([*columns], dtype=np.int64), self.rows, self._differences))

    def without(self, column: int, kept: ColumnSet) -> ColumnSet:
        """Leave a column out of an identifying set if the others identify."""
        rest = tuple(other for other in kept if other != column)
        return rest if self.identifies(rest) else kept

    def reduced(self, columns: ColumnSet, clock: Clock) -> ColumnSet:
        """Leave out what an identifying set does not need, as far as the time allows."""
        kept = columns
        for column in reversed(columns):
            if clock.is_over():
                break
            clock.heartbeat()
            kept = self.without(column, kept)
        return kept


@dataclass(frozen=True)
class SmallestIdentifying:
    """An identifying set, in ascending order, and what found it; every other has `lower_bound` columns."""

    columns: ColumnSet
    lower_bound: int
    method: str

    @property
    def is_optimal(self) -> bool:
        """Whether no identifying set has fewer columns."""
        return len(self.columns) == self.lower_bound


def greedy_factor(rows: int) -> float:
    """Return by what factor the greedy set may at most exceed the smallest one, for different rows.

    Columns cover the pairs of rows that differ on them; greedily at most 1 + ln N times as many sets are
    taken as are needed to cover N elements (Johnson 1974, Lovász 1975; for keys of tables Motwani and Xu
    2007). With N = n (n - 1) / 2 that is less than 1 + 2 ln n.
    """
    return 1.0 + math.log(max(1, rows * (rows - 1) // 2))


def smallest_identifying_set(table: RowTypeTable, clock: Clock | None = None) -> SmallestIdentifying:
    """Find an identifying set with as few columns as possible; multiplicities do not matter.

    A smallest set that hits all known difference sets is tried on the table; pairs of rows that it leaves
    together become new difference sets, until it identifies (implicit hitting sets, Moreno-Centeno and Karp
    2013). Each set that hits all known difference sets smallest is a bound for identifying ones.

    Guarantee: exact without a time limit. When the time is over, the smallest set known: at most
    `greedy_factor` times the smallest possible once the greedy set is there, else all columns; and the bound
    that is proven until then. NP-hard (Yuan, Proposition 2): an integer program per round, with a variable
    per column.
    """
    clock = clock or Clock()
    clock.report("greedy", None)
    known = _Differences(distinct_rows(table))
    count = len(known.rows.by_row)
    greedy = greedy_identifying_set(known.rows, clock)
    if greedy is None:
        return SmallestIdentifying(tuple(range(table.width)), int(count > 1), "all columns")
    for column in range(table.width):
        known.identifies([column])
    bound = math.ceil(len(greedy) / greedy_factor(count) - 1e-9)
    best = SmallestIdentifying(known.reduced(greedy, clock), bound, "greedy")
    while not (best.is_optimal or clock.is_over()):
        clock.report("smallest hitting set", None)
        candidate, proven = _smallest_hitting_set(known.masks, table.width, clock)
        best = replace(best, lower_bound=max(best.lower_bound, min(proven, len(best.columns))))
        if candidate is None:
            break
        if known.identifies(candidate):
            columns = known.reduced(candidate, clock)
            if len(columns) < len(best.columns):
                best = replace(best, columns=columns, method=_PROGRAM)
        if len(candidate) > proven:
            break  # the time ended the program
    return best


def _smallest_hitting_set(edges: Masks, width: int, clock: Clock) -> tuple[ColumnSet | None, int]:
    """Return a small set that meets all masks, and how many columns each such set has at least."""
    met = (edges[:, None] >> np.arange(width, dtype=np.uint64)) & np.uint64(1)
    edge, column = np.nonzero(met)
    program = Rows()
    program.open(np.ones(edges.size), np.full(edges.size, np.inf))
    program.put(edge, column, np.ones(edge.size))
    ones = np.ones(width)
    model = program.finish(ones, np.zeros(width), ones, np.ones(width, dtype=np.bool_))
    answer = solve_linear_model(model, Effort(seconds=clock.left()))
    chosen = None if answer.values is None else tuple(np.flatnonzero(answer.values > 0.5).tolist())
    return chosen, max(0, int(answer.bound)) if math.isfinite(answer.bound) else 0


def greedy_identifying_set(rows: DistinctRows, clock: Clock) -> ColumnSet | None:
    """Return columns that leave fewest pairs together, one by one; None if the time is over.

    Guarantee: they identify, and are at most `greedy_factor` times as many as need be. O(n m) per column
    taken, for n distinct rows and m columns.
    """
    chosen: list[int] = []
    partitions = rows.division.partitions
    source = 0
    while partitions.classes[source]:
        left = []
        for column in range(rows.by_row.shape[1]):
            if clock.is_over():
                return None
            clock.heartbeat()
            left.append(_pairs_left(rows.division, column, source))
        column = int(np.argmin(left))
        target = 2 if source == 1 else 1
        split(rows.division, column, source, target)
        source = target
        chosen.append(column)
    partitions.path[:] = -1
    return tuple(sorted(chosen))


@kernel
def _pairs_left(division: Division, column: int, source: int) -> int:
    """Return how many pairs would be together after a division by a column."""
    projection, partitions, counters = division
    members, starts = partitions.rows[source], partitions.starts[source]
    codes, times = projection.codes[column], counters.times
    pairs = 0
    for number in range(partitions.classes[source]):
        touched = 0
        for place in range(starts[number], starts[number + 1]):
            value = codes[members[place]]
            if times[value] == 0:
                counters.touched[touched] = value
                touched += 1
            pairs += times[value]
            times[value] += 1
        for value in counters.touched[:touched]:
            times[value] = 0
    return pairs
