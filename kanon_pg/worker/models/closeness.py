"""t-closeness: the values of a class are distributed nearly as those of the whole table.

N. Li, T. Li, S. Venkatasubramanian: "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity" (2007). The
earth mover's distance between the shares p(E, .) of a class and the shares q of the whole table is at most t.
With the *equal* ground distance it is half of ``sum_s |p(E, s) - q(s)|``; with the *ordered* one, for the m
values of the column in ascending order, ``sum_{i<m} |sum_{j<=i} (p(E, s_j) - q(s_j))| / (m - 1)``, and 0 for
m = 1. The whole table satisfies it for every t.
"""

from __future__ import annotations

import numpy as np

from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.models.class_counts import (
    TOLERANCE,
    ClassCounts,
    ModelEvaluator,
    end_of,
    number_of,
)
from kanon_pg.worker.models.privacy_model import SHARE_LEFT_OUT, Kernels, LinearProgram, Numbers, PrivacyModel

_WORK_PER_PLACED = 32
"""As many values can be looked at while one is put in order and found among those of the table."""


@inner_kernel
def _total(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int) -> int:
    total = 0
    for place in range(evaluator.first[column], end_of(evaluator, counts, column)):
        value = counts.held[place]
        total += number_of(counts, unit, value)
    return total


@inner_kernel
def _lack_equal(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, t: float) -> float:
    """Add up by how much the values of a class have more than their share in the table."""
    total = _total(evaluator, counts, unit, column)
    distance = 0.0
    for place in range(evaluator.first[column], end_of(evaluator, counts, column)):
        value = counts.held[place]
        distance += max(0.0, number_of(counts, unit, value) / total - evaluator.shares[unit, value])
    return (distance - t - TOLERANCE) * total


@kernel
def _lack_ordered(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, t: float) -> float:
    """Add up the differences of the cumulated shares, in one step per value that the class has.

    Between two values of the class its own cumulated share stays while that of the table rises: the
    absolute differences are two differences of running sums, parted where the table's passes the class's.
    """
    begin = evaluator.first[column]
    values = evaluator.first[column + 1] - begin
    if values == 1:
        return -1.0
    total = _total(evaluator, counts, unit, column)
    cumulated = evaluator.cumulated[unit, begin : begin + values]
    areas = evaluator.areas[unit, begin + column : begin + column + values + 1]
    held = np.sort(counts.held[begin : end_of(evaluator, counts, column)])
    evaluator.work[0] += _WORK_PER_PLACED * held.size
    distance = areas[held[0] - begin]
    inside = 0
    for place in range(held.size):
        inside += number_of(counts, unit, held[place])
        share = inside / total
        start = held[place] - begin
        end = held[place + 1] - begin if place + 1 < held.size else values - 1
        turn = start + np.searchsorted(cumulated[start:end], share)
        distance += share * (turn - start) - (areas[turn] - areas[start])
        distance += areas[end] - areas[turn] - share * (end - turn)
    return float((distance / (values - 1) - t - TOLERANCE) * total)


@inner_kernel
def _surplus(
    evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, t: float
) -> tuple[int, int]:
    """Return the value that is most above its share in the table, and a part of what it has too many."""
    found, highest = -1, -np.inf
    for place in range(evaluator.first[column], end_of(evaluator, counts, column)):
        value = counts.held[place]
        above = counts.number[unit, value] - evaluator.shares[unit, value] * counts.size[unit]
        if above > highest or (above == highest and value < found):
            found, highest = value, above
    return found, max(1, int(highest) // SHARE_LEFT_OUT)


class EqualCloseness(PrivacyModel):
    """At most the distance t to the whole table, with all values equally far from each other."""

    name = "equal"
    kernels = Kernels(_lack_equal, surplus=_surplus)

    def write(self, program: LinearProgram, demand: float) -> None:
        """Add ``z_s >= n_s - q_s N`` and ``sum z_s <= t N``."""
        held, total = program.held, program.total
        excess = program.new_columns(held.owner.size)
        row = program.at_least_0(held.owner.size)
        program.put(row, excess, np.ones(row.size))
        program.put(row, total[held.owner], program.shares[held.value])
        program.put(row[held.of_pair], program.pair, -program.weight)
        row = program.at_least_0(total.size)
        program.put(row, total, np.full(row.size, demand + TOLERANCE))
        program.put(row[held.owner], excess, -np.ones(excess.size))


class OrderedCloseness(PrivacyModel):
    """At most the distance t to the whole table, with values as far from each other as their ranks."""

    name = "ordered"
    kernels = Kernels(_lack_ordered, surplus=_surplus)
    needs_order = True

    def write(self, program: LinearProgram, demand: float) -> None:
        """Add ``d_r >= |sum_{s<=r} n_s - Q_r N|`` and ``sum d_r <= t (m - 1) N``, value by value."""
        steps = program.cumulated.size - 1
        if steps == 0:
            return
        total = program.total
        whole = program.at_least_0(total.size)
        program.put(whole, total, np.full(total.size, (demand + TOLERANCE) * steps))
        before: Numbers | None = None
        for step in range(steps):
            inside = program.new_columns(total.size)
            row = program.exactly_0(total.size)
            program.put(row, inside, -np.ones(total.size))
            if before is not None:
                program.put(row, before, np.ones(total.size))
            here = program.values == step
            program.put(row[program.owner[here]], program.pair[here], program.weight[here])
            apart = program.new_columns(total.size)
            for sign in (1.0, -1.0):
                row = program.at_least_0(total.size)
                program.put(row, apart, np.ones(total.size))
                program.put(row, inside, np.full(total.size, sign))
                program.put(row, total, np.full(total.size, -sign * program.cumulated[step]))
            program.put(whole, apart, -np.ones(total.size))
            before = inside
