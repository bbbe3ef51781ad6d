"""Tasks of an audit in a worker: read packed row types, call the searches, answer in plain JSON values.

Columns are numbers in requests and answers, as the row types have them; the caller knows their names. The
terms (class, violating, minimal, minimum, identifying) are those of `kanon_pg.worker.audit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.risk import DEEPEST
from kanon_pg.core.termination import Termination
from kanon_pg.errors import DEFECT, SolverError
from kanon_pg.worker.audit.column_sets import Numbers, Persons, RowTypePartition, grouping_of, groupings_of
from kanon_pg.worker.audit.identifying import minimal_identifying_set, smallest_identifying_set
from kanon_pg.worker.audit.risk import minimal_uniques, risk_of
from kanon_pg.worker.audit.violating import find_violating_sets
from kanon_pg.worker.clock import Clock, Progress
from kanon_pg.worker.row_types import RowTypeTable

Arguments = Mapping[str, Any]
Answer = dict[str, Any]

_SEARCH_SHARE = 0.7
"""Share of the time for the search; figures of the sets get the rest, and what the search leaves."""

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
"""Sizes at which bars of the histogram begin; above, each bar has ten times the size of the one before."""


def work(task: str, tables: Sequence[PackedRowTypes], arguments: Arguments, progress: Progress) -> Answer:
    """Do a task: 'violating', 'identifying', 'risk' or 'columns', with arguments in plain JSON values."""
    if task not in _TASKS:
        raise SolverError("The worker does not know this task of an audit.", hint=DEFECT)
    clock = Clock(arguments["seconds"], progress)
    read = [RowTypeTable.from_packed(table, clock.heartbeat) for table in tables]
    return _TASKS[task](read, arguments, clock)


def _violating(tables: Sequence[RowTypeTable], arguments: Arguments, clock: Clock) -> Answer:
    """Answer with the minimal violating sets; arguments k, max_columns, quasi_identifiers, details."""
    (table,), k = tables, arguments["k"]
    details = _details(table, k, arguments["quasi_identifiers"], clock) if arguments["details"] else None
    violating = find_violating_sets(table, k, clock.part(_SEARCH_SHARE), max_columns=arguments["max_columns"])
    most = arguments["max_columns"]
    is_as_requested = violating.is_complete or (most is not None and violating.complete_columns >= most)
    ended = _ended(is_as_requested, clock)
    figures: list[Answer | None] = []
    for _, one in figures_of(table, violating.sets, k):
        figures.append(asdict(one))
        if clock.is_over():
            break
        clock.report("figures", len(figures) / len(violating.sets))
    figures += [None] * (len(violating.sets) - len(figures))
    return {
        "sets": [list(columns) for columns in violating.sets],
        "figures": figures,
        "complete_columns": violating.complete_columns,
        "is_complete": violating.is_complete,
        "minimum": violating.minimum,
        "details": details,
        "termination": ended,
    }


def _ended(is_complete: bool, clock: Clock) -> Termination:
    """Return how a search ended."""
    if is_complete:
        return Termination.OPTIMAL
    return Termination.TIME if clock.has_cut else Termination.EXHAUSTED


def _details(table: RowTypeTable, k: int, quasi_identifiers: Sequence[int], clock: Clock) -> Answer | None:
    """Return figures of each column and of all together; None if the time was over before."""
    people = Persons.of(table)
    every = range(table.width)
    clock.report("columns", 0.0)
    alone = [asdict(figures) for _, figures in figures_of(table, [(column,) for column in every], k)]
    without: list[int] = [0] * table.width

    def leave_out(columns: Sequence[int], grouping: RowTypePartition) -> bool:
        """Count for each of some columns what the others show; these are in the grouping already."""
        if clock.is_over():
            return False
        clock.heartbeat()
        if len(columns) == 1:
            is_small = people.sizes(grouping) < k
            without[columns[0]] = people.within(is_small, grouping)
            return True
        half = len(columns) // 2
        halves = columns[:half], columns[half:]
        return all(leave_out(one, grouping.by(table, *other)) for one, other in (halves, halves[::-1]))

    if not leave_out(every, RowTypePartition.single(len(table))):
        return None
    return {
        "alone": alone,
        "without": without,
        "audited": _combined(table, people, every, k),
        "quasi_identifiers": _combined(table, people, quasi_identifiers, k),
    }


def _combined(table: RowTypeTable, people: Persons, columns: Sequence[int], k: int) -> Answer:
    """Return the classes of some columns together, with the histogram of their sizes."""
    grouping = grouping_of(table, columns)
    sizes, rows = people.sizes(grouping), rows_of(table, grouping.class_of, grouping.count)
    bars = []
    edges = _edges(int(sizes.max()), k)
    smallest_of, persons = people.greatest(-sizes, grouping)
    for smallest, after in pairwise(edges):
        inside = (sizes >= smallest) & (sizes < after)
        if inside.any():
            met = (-smallest_of >= smallest) & (-smallest_of < after)
            bars.append(
                [smallest, after - 1, int(inside.sum()), int(persons[met].sum()), int(rows[inside].sum())]
            )
    figures = asdict(class_figures(table, people, grouping, k))
    del figures["distinction"], figures["separation"]
    return {**figures, "sizes": bars}


def _edges(largest: int, k: int) -> list[int]:
    """Return where bars of the histogram begin, k among them, and one beyond the last.

    Examples
    --------
    >>> _edges(30, 4)
    [1, 2, 3, 4, 5, 10, 20, 50]
    """
    edges = sorted({*_EDGES, k})
    while edges[-1] <= largest:
        edges.append(10 * edges[-1])
    return edges[: next(place for place, edge in enumerate(edges) if edge > largest) + 1]


def _identifying(tables: Sequence[RowTypeTable], arguments: Arguments, clock: Clock) -> Answer:
    """Answer with a minimal and a smallest identifying set; no arguments."""
    del arguments
    (table,) = tables
    clock.report("leaving out columns", None)
    minimal = minimal_identifying_set(table)
    smallest = smallest_identifying_set(table, clock)
    return {
        "minimal": list(minimal),
        "smallest": list(smallest.columns),
        "at_least": smallest.lower_bound,
        "method": smallest.method,
        "termination": _ended(smallest.is_optimal, clock),
        "distinct_rows": grouping_of(table, range(table.width)).count,
    }


def _risk(tables: Sequence[RowTypeTable], arguments: Arguments, clock: Clock) -> Answer:
    """Answer with `Risk` and `MinimalUniques` of `kanon_pg.core.risk`.

    Arguments are threshold, sampling_fraction, uniques_seconds (most time for minimal uniques, None for all
    there is), and people_by_size where the classes do not tell who is in several of them. The tables
    are the one at risk and, if there is a register of the population, that by the same columns.
    """
    table, *population = tables
    columns, by_size = range(table.width), arguments.get("people_by_size")
    clock.report("risk", None)
    risk = risk_of(
        table,
        columns,
        threshold=arguments["threshold"],
        sampling_fraction=arguments["sampling_fraction"],
        people_by_size=None if by_size is None else {int(size): people for size, people in by_size},
        population=_people_in(population[0], table) if population else None,
    )
    most, left = arguments["uniques_seconds"], clock.left()
    within = clock if most is None or left is None or left <= most else clock.without(left - most)
    uniques = minimal_uniques(table, columns, within)
    is_complete = uniques.complete_columns >= min(DEEPEST, table.width)
    return {"risk": asdict(risk), "uniques": asdict(uniques), "termination": _ended(is_complete, clock)}


def _people_in(population: RowTypeTable, table: RowTypeTable) -> NDArray[np.int64]:
    """Return the people of the population who agree with each row type on all columns."""
    theirs, ours = population.hashes.sum(axis=0), table.hashes.sum(axis=0)
    order = np.argsort(theirs)
    place = order[np.minimum(np.searchsorted(theirs, ours, sorter=order), len(population) - 1)]
    return np.where(theirs[place] == ours, population.people[place], 0)


def _columns(tables: Sequence[RowTypeTable], arguments: Arguments, clock: Clock) -> Answer:
    """Answer with the profile of each column and which columns determine others; no arguments."""
    del arguments
    (table,) = tables
    clock.report("columns", None)
    profiles = [asdict(profile) for profile in column_profiles(table)]
    known, is_complete = dependencies(table, clock)
    return {"profiles": profiles, "dependencies": [asdict(one) for one in known], "is_complete": is_complete}


_TASKS: dict[str, Callable[[Sequence[RowTypeTable], Arguments, Clock], Answer]] = {
    "violating": _violating,
    "identifying": _identifying,
    "risk": _risk,
    "columns": _columns,
}


@dataclass(frozen=True, slots=True)
class SetFigures:
    """Figures of a set of columns for some k.

    Distinction and separation are those of Motwani and Xu ("Efficient Algorithms for Masking and Finding
    Quasi-Identifiers", 2007), for n rows of which d differ on the set: a set is alpha-distinct if it becomes
    a key once a share 1 - alpha of the rows is removed, and alpha-separating if a share alpha of all pairs
    of rows differ on it. Both count rows, also where an entity is declared, as in the paper.
    """

    classes: int
    """Different combinations of values (d), >= 1."""
    classes_at_risk: int
    smallest_class: int
    people_at_risk: int
    """Different people with a row in a class of fewer than k people, at least one if there is such a
    class."""
    rows_at_risk: int
    distinction: float
    """d / n, in (0, 1]: the greatest alpha for which the set is alpha-distinct."""
    separation: float
    """Pairs of rows that differ / (n (n - 1) / 2), in [0, 1]; 1 for a single row."""


def figures_of(
    table: RowTypeTable, sets: Sequence[tuple[int, ...]], k: int
) -> Iterator[tuple[tuple[int, ...], SetFigures]]:
    """Yield sets of columns with their figures.

    Notes
    -----
    O(n) per set and column beyond those shared with the set before it, for n row types.
    """
    people = Persons.of(table)
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


def class_figures(table: RowTypeTable, people: Persons, grouping: RowTypePartition, k: int) -> SetFigures:
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
    """One column."""

    distinct: int
    """Different values, NULL being one."""
    single: int
    separation: float
    """Share of the pairs of rows with different values, 0 to 1 (Motwani and Xu 2007)."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """= An exact or approximate functional dependency: one column determines another.

    The share is that of the rows, among those whose determinant occurs more than once, in which guessing the
    most frequent dependent value is right: at least 0.99; 1 if it always is.
    """

    determinant: int
    dependent: int
    share: float


def column_profiles(table: RowTypeTable) -> list[ColumnProfile]:
    """Return the profile of each column; O(n) each."""
    profiles = []
    for codes, cardinality in zip(table.codes, table.cardinalities, strict=True):
        rows = rows_of(table, codes, int(cardinality))
        separated = separation(rows) if table.total_rows > 1 else 0.0
        profiles.append(ColumnProfile(int(cardinality), int((rows == 1).sum()), separated))
    return profiles


def dependencies(table: RowTypeTable, clock: Clock) -> tuple[list[Dependency], bool]:
    """Return which columns determine others, exactly or nearly, and whether all pairs were looked at.

    O(n) for each of m² pairs of columns, n row types and m columns; the clock may end it early.
    """
    known: list[Dependency] = []
    for one in range(table.width):
        rows = rows_of(table, table.codes[one], int(table.cardinalities[one]))
        repeated = np.where(rows > 1, rows, 0)
        if repeated.sum() < _REPEATED * table.total_rows:
            continue
        for dependent in range(table.width):
            if clock.is_over():
                return known, False
            if dependent != one and table.cardinalities[dependent] > 1:
                share = _share_determined(table, one, repeated, dependent)
                if share is not None:
                    known.append(Dependency(one, dependent, share))
        clock.report("pairs of columns", (one + 1) / table.width)
    return known, True


def _share_determined(table: RowTypeTable, one: int, repeated: Numbers, dependent: int) -> float | None:
    """Return the share of the repeated rows in which a column determines another; None if too few."""
    codes, count = table.codes[one], repeated.size
    values = int(table.cardinalities[dependent])
    total = int(repeated.sum())
    wrong = (1 - _NEARLY) * total
    if values - count > wrong:
        return None
    pairs = RowTypePartition(codes, count).by(table, dependent)
    if pairs.count - count > wrong:  # each further pair is at least one wrong guess
        return None
    value = np.empty(pairs.count, dtype=np.int64)
    value[pairs.class_of] = codes
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, value, rows_of(table, pairs.class_of, pairs.count))
    share = float(most[repeated > 0].sum() / total)
    blind = float(rows_of(table, table.codes[dependent], values).max() / table.total_rows)
    return share if share >= _NEARLY and share - blind >= _BETTER * (1 - blind) else None


def rows_of(table: RowTypeTable, class_of: NDArray[np.int32], count: int) -> Numbers:
    """Return the rows of each class."""
    return np.bincount(class_of, weights=table.rows, minlength=count).astype(np.int64)
