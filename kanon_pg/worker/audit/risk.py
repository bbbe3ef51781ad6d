"""How likely people are found again by their values in some columns, and what that would disclose about them.

Among them are minimal sample uniques: the smallest combinations of values that only one person has. A
person is *unique* on a set of columns if a class of it has that person alone; the set is minimal for that
class if on no subset its people are alone (Elliot, Manning and Ford 2002, SUDA: special uniques). People
with many small ones are easy to find even for an attacker who knows little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.risk import (
    DEEPEST,
    FRACTION,
    POPULATION,
    SAMPLE,
    THRESHOLD,
    AttackerRisk,
    HomogeneousClasses,
    MinimalUniques,
    Risk,
)
from kanon_pg.worker.audit.column_sets import Codes, Numbers, Persons, RowTypePartition, grouping_of
from kanon_pg.worker.audit.differences import Masks
from kanon_pg.worker.audit.projections import (
    Division,
    Projection,
    count_people_per_value,
    descend,
    projection_of,
    room_for,
)
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
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
    people_by_size: Mapping[int, int] | None = None,
) -> Risk:
    """Return the risk of the people in a table by some columns.

    Parameters
    ----------
    threshold : float
        Risk above which a record counts, 0 <= threshold < 1.
    population : ndarray of int64, shape (n,), optional
        People of the population who agree with each row type on these columns. The people of the table
        belong to the population, so that a smaller number (0 where the register lacks a combination) counts
        as the class size.
    people_by_size : mapping of int to int, optional
        How many people have a smallest class of each size, where the table does not tell who is in several;
        not with a population.
    """
    people = Persons.of(table)
    grouping = grouping_of(table, columns)
    sizes = people.sizes(grouping)

    def attacker(risk: NDArray[np.float64]) -> AttackerRisk:
        if people_by_size is None:
            return _attacker(*people.greatest(risk, grouping), risk, threshold)
        by_size = np.zeros(int(sizes.max()) + 1)
        by_size[sizes] = risk  # without a register it depends on the size alone
        known = {size: number for size, number in people_by_size.items() if number} or {int(sizes.min()): 1}
        return _attacker(by_size[list(known)], np.array([*known.values()]), risk, threshold)

    basis, inverse = SAMPLE, 1.0 / sizes
    if population is not None:
        within = sizes.copy()
        np.maximum.at(within, grouping.class_of, population)
        basis, inverse = POPULATION, 1.0 / within
    elif sampling_fraction is not None:
        basis, inverse = FRACTION, expected_inverse_sizes(sizes, sampling_fraction)
    is_alone = sizes == 1
    if people_by_size is None:
        everybody = people.within(np.ones_like(is_alone), grouping)
        alone = people.within(is_alone, grouping)
    else:
        everybody = max(1, sum(people_by_size.values()))
        alone = max(int(is_alone.any()), people_by_size.get(1, 0))
    return Risk(
        people=everybody,
        classes=grouping.count,
        prosecutor=attacker(1.0 / sizes),
        journalist=attacker(inverse),
        journalist_basis=basis,
        marketer=float((inverse * sizes).sum() / sizes.sum()),
        sample_uniques=alone,
        homogeneous=tuple(_homogeneous(table, people, grouping)),
    )


def _attacker(
    greatest: NDArray[np.float64], people: Numbers, risk: NDArray[np.float64], threshold: float
) -> AttackerRisk:
    """Return the risk of people who have the greatest one of their classes."""
    # by level, so that the average does not depend on the order of people or classes
    levels, level_of = np.unique(greatest, return_inverse=True)
    at_level = np.bincount(level_of, weights=people)
    total, above = at_level.sum(), int(at_level[levels > threshold].sum())
    return AttackerRisk(float(risk.max()), float(levels @ at_level / total), above, float(above / total))


def _homogeneous(
    table: RowTypeTable, people: Persons, grouping: RowTypePartition
) -> list[HomogeneousClasses]:
    rows = np.bincount(grouping.class_of, weights=table.rows, minlength=grouping.count)
    columns = []
    for described, cells in zip(table.sensitive_columns, table.sensitive, strict=True):
        example = np.empty(grouping.count, dtype=np.int64)
        example[grouping.class_of] = cells
        is_same = np.ones(grouping.count, dtype=np.bool_)
        is_same[grouping.class_of[cells != example[grouping.class_of]]] = False
        within = people.within(is_same, grouping)
        columns.append(
            HomogeneousClasses(described.name, int(is_same.sum()), within, int(rows[is_same].sum()))
        )
    return columns


class _Known(NamedTuple):
    """Minimal sets per row as linked lists, and the size of the smallest set per person."""

    head: Codes
    following: Codes
    masks: Masks
    total: Numbers
    smallest: NDArray[np.uint8]


def minimal_uniques(
    table: RowTypeTable, columns: Sequence[int], clock: Clock | None = None, *, max_columns: int = DEEPEST
) -> MinimalUniques:
    """Count the minimal sample uniques of some columns.

    Notes
    -----
    O(n) per set of columns, for the people who are not yet unique on its first columns; memory grows with
    the number of minimal sets.
    """
    clock = clock or Clock()
    people = Persons.of(table)
    order = sorted(columns, key=lambda column: -int(table.cardinalities[column]))
    search = _RiskCount(projection_of(table, people, order), min(max_columns, len(order)), clock)
    search.run(is_lonely=people.sizes(RowTypePartition.single(len(table)))[0] == 1)
    return MinimalUniques(tuple(search.sets), search.people(), len(search.sets))


class _RiskCount:
    """Counting size by size."""

    def __init__(self, projection: Projection, most: int, clock: Clock) -> None:
        self._projection = projection
        self._most = most
        self._clock = clock
        self._division = room_for(projection, most)
        count = projection.weights.size
        shared = max(0, -int(projection.weights.min()))
        self._known = _Known(
            np.full(count, -1, dtype=np.int32),
            np.empty(1024, dtype=np.int32),
            np.empty(1024, dtype=np.uint64),
            np.zeros(1, dtype=np.int64),
            np.zeros(count + shared, dtype=np.uint8),
        )
        self.sets: list[int] = []

    def run(self, *, is_lonely: bool) -> None:
        """Count until all is counted or the time is over; a single person needs no column to be unique."""
        for size in range(1, self._most + 1):
            count = 0 if is_lonely else self._try_size(size)
            if count is None:
                return
            self.sets.append(count)

    def _try_size(self, size: int) -> int | None:
        """Return how many sets of a size are minimal uniques, None if the time is over."""
        width, count = self._projection.codes.shape[0], 0
        for beginning in combinations(range(width - 1), size - 1):
            if self._clock.is_over():
                return None
            self._clock.report(f"sample uniques on {size} columns", None)
            begun = np.array(beginning, dtype=np.int64)
            for column in range(begun[-1] + 1 if size > 1 else 0, width):
                self._make_room()
                count += _new_uniques(begun, column, self._division, self._known)
        return count

    def _make_room(self) -> None:
        """Make room for one more set on every row."""
        needed = int(self._known.total[0]) + self._projection.weights.size
        if needed > self._known.masks.size:
            following = np.empty(2 * needed, dtype=np.int32)
            masks = np.empty(2 * needed, dtype=np.uint64)
            following[: self._known.following.size] = self._known.following
            masks[: self._known.masks.size] = self._known.masks
            self._known = self._known._replace(following=following, masks=masks)

    def people(self) -> tuple[int, ...]:
        """Return the people by the size of their smallest set; if nobody is known, all are one person."""
        smallest, is_nobody = self._known.smallest.copy(), np.flatnonzero(self._projection.weights == 0)
        sets_of_nobody = smallest[is_nobody]
        smallest[is_nobody] = 0
        if is_nobody.size == self._projection.weights.size and sets_of_nobody.any():
            smallest[0] = sets_of_nobody[sets_of_nobody > 0].min()
        counts = np.bincount(smallest, minlength=len(self.sets) + 1)
        return tuple(int(count) for count in counts[1 : len(self.sets) + 1])


@kernel
def _new_uniques(beginning: Numbers, column: int, division: Division, known: _Known) -> int:
    """Count the classes for which some columns and one more are a minimal sample unique; note these."""
    projection, partitions, counters = division
    descend(beginning, division)
    depth = beginning.size
    rows, starts = partitions.rows[depth], partitions.starts[depth]
    codes, values = projection.codes[column], projection.cardinalities[column]
    mask = np.uint64(1) << np.uint64(column)
    for other in beginning:
        mask |= np.uint64(1) << np.uint64(other)
    count = 0
    for number in range(partitions.classes[depth]):
        own = rows[starts[number] : starts[number + 1]]
        weights = partitions.weights[depth, starts[number] : starts[number + 1]]
        touched, _ = count_people_per_value(own, weights, codes, values, 2, counters)
        if np.any(counters.people[counters.touched[:touched]] == 1):
            count += _note_class(own, mask, depth + 1, codes, counters.people, projection.weights, known)
        for value in counters.touched[:touched]:
            counters.people[value] = 0
            counters.last[value] = 0
    return count


@kernel
def _note_class(
    own: Codes, mask: np.uint64, size: int, codes: Codes, people: Numbers, weights: Codes, known: _Known
) -> int:
    """Note the sets that are minimal for single people within a class; return how many these are."""
    count = 0
    for row in own:
        value = codes[row]
        if people[value] == 1:
            # The other rows of this person in the class, if any, are treated alike.
            people[value] = 0
            if not _contains_known(row, mask, known):
                count += 1
                people[value] = -1
        if people[value] == -1:
            _note(row, mask, size, weights, known)
    return count


@kernel
def _contains_known(row: int, mask: np.uint64, known: _Known) -> bool:
    """Return whether a set contains a known one of a row."""
    entry = known.head[row]
    while entry >= 0:
        if known.masks[entry] & mask == known.masks[entry]:
            return True
        entry = known.following[entry]
    return False


@kernel
def _note(row: int, mask: np.uint64, size: int, weights: Codes, known: _Known) -> None:
    """Add a set to those of a row."""
    entry = known.total[0]
    known.masks[entry] = mask
    known.following[entry] = known.head[row]
    known.head[row] = entry
    known.total[0] += 1
    person = row if weights[row] >= 0 else weights.size - 1 - weights[row]
    if known.smallest[person] == 0:
        known.smallest[person] = size
