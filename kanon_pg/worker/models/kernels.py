"""Kernels that judge whether classes satisfy the privacy models of `kanon_pg.worker.models.evaluator`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel

TOLERANCE = 1e-9
"""Entropies and distances that differ by less are equal: both are sums of rounded numbers."""

MODEL_COUNT = 4
"""Distinct values, frequency, entropy, closeness: the rows of what `evaluate_classes` finds."""

DISTINCT, FREQUENCY, ENTROPY, CLOSENESS = 0, 1, 2, 3
ROWS, PEOPLE = 0, 1
"""What is counted: lines of `ModelEvaluator.shares` and its companions."""


class ModelEvaluator(NamedTuple):
    """Demands on classes, the sensitive values of row types and who stands behind them.

    `codes` numbers the values of each sensitive column from 0; what is known of the values of column
    ``c`` begins at ``first[c]`` in `shares` and `cumulated` (of the whole table; one line in rows, one in
    people) and at ``first[c] + c`` in `areas`, the running sums of `cumulated`. `distinct` and `frequency`
    are 0, `entropy` is 0.0 and `closeness` 1.0 if not demanded. `counts` (all 0 between calls) and
    `touched` are working arrays.
    """

    codes: NDArray[np.int32]
    first: NDArray[np.int64]
    shares: NDArray[np.float64]
    cumulated: NDArray[np.float64]
    areas: NDArray[np.float64]
    distinct: np.int64
    frequency: np.int64
    entropy: float
    closeness: float
    is_ordered: np.int64
    rows: NDArray[np.int64]
    own: NDArray[np.int64]
    shared_start: NDArray[np.int64]
    shared_people: NDArray[np.int64]
    shared_total: np.int64
    has_entity: np.int64
    counts: NDArray[np.int64]
    touched: NDArray[np.int32]


@kernel
def _equal_distance(evaluator: ModelEvaluator, unit: int, column: int, different: int, total: float) -> float:
    """Add up by how much the values of a class have more than their share in the table."""
    begin = evaluator.first[column]
    distance = 0.0
    for place in range(different):
        value = evaluator.touched[place]
        distance += max(0.0, evaluator.counts[value] / total - evaluator.shares[unit, begin + value])
    return distance


@kernel
def _ordered_distance(
    evaluator: ModelEvaluator, unit: int, column: int, different: int, total: float
) -> float:
    """Add up the differences of the cumulated shares, in one step per value that the class has.

    Between two values of the class its own cumulated share stays while that of the table rises: the
    absolute differences are two differences of running sums, parted where the table's passes the class's.
    """
    begin = evaluator.first[column]
    values = evaluator.first[column + 1] - begin
    if values == 1:
        return 0.0
    cumulated = evaluator.cumulated[unit, begin : begin + values]
    areas = evaluator.areas[unit, begin + column : begin + column + values + 1]
    held = np.sort(evaluator.touched[:different])
    distance = areas[held[0]]
    inside = 0
    for place in range(different):
        inside += evaluator.counts[held[place]]
        share = inside / total
        start = held[place]
        end = held[place + 1] if place + 1 < different else values - 1
        turn = start + np.searchsorted(cumulated[start:end], share)
        distance += share * (turn - start) - (areas[turn] - areas[start])
        distance += areas[end] - areas[turn] - share * (end - turn)
    return float(distance / (values - 1))


@kernel
def violated_by_counts(
    evaluator: ModelEvaluator, unit: int, column: int, different: int, size: int, is_hasty: bool
) -> int:
    """Return which models the counts of a class violate, one bit each; in haste one of them suffices.

    `size` is the number of rows or people that a value's share is taken of.
    """
    violated = 0
    if different < evaluator.distinct:
        violated |= 1 << DISTINCT
    total, most = 0, 0
    for place in range(different):
        number = evaluator.counts[evaluator.touched[place]]
        total += number
        most = max(most, number)
    if most * evaluator.frequency > size:
        violated |= 1 << FREQUENCY
    if violated and is_hasty:
        return violated
    if evaluator.entropy > 0.0:
        uncertain = 0.0
        for place in range(different):
            number = evaluator.counts[evaluator.touched[place]]
            uncertain += number * np.log(number)
        if np.log(total) - uncertain / total < evaluator.entropy - TOLERANCE:
            violated |= 1 << ENTROPY
    if evaluator.closeness < 1.0:
        if evaluator.is_ordered == 1:
            distance = _ordered_distance(evaluator, unit, column, different, float(total))
        else:
            distance = _equal_distance(evaluator, unit, column, different, float(total))
        if distance > evaluator.closeness + TOLERANCE:
            violated |= 1 << CLOSENESS
    return violated


@kernel
def count_rows(evaluator: ModelEvaluator, column: int, items: NDArray[np.int32]) -> tuple[int, int]:
    """Count the rows per value in `ModelEvaluator.counts`; return how many there are, and the rows of all.

    The values are listed in `ModelEvaluator.touched`; `forget_counts` must follow.
    """
    different, size = 0, 0
    for item in items:
        value = evaluator.codes[column, item]
        if evaluator.counts[value] == 0:
            evaluator.touched[different] = value
            different += 1
        evaluator.counts[value] += evaluator.rows[item]
        size += evaluator.rows[item]
    return different, size


@kernel
def forget_counts(evaluator: ModelEvaluator, different: int) -> None:
    """Set the counts of the values that were touched to 0."""
    for place in range(different):
        evaluator.counts[evaluator.touched[place]] = 0


@kernel
def _distinct_pairs(evaluator: ModelEvaluator, column: int, items: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the distinct pairs of a value and a shared person, each as one number.

    A negative column takes all values as one.
    """
    entries = 0
    for item in items:
        entries += evaluator.shared_start[item + 1] - evaluator.shared_start[item]
    pairs = np.empty(entries, dtype=np.int64)
    place = 0
    for item in items:
        value = np.int64(evaluator.codes[column, item]) if column >= 0 else np.int64(0)
        for entry in range(evaluator.shared_start[item], evaluator.shared_start[item + 1]):
            pairs[place] = value * evaluator.shared_total + evaluator.shared_people[entry]
            place += 1
    pairs.sort()
    is_new = np.ones(entries, dtype=np.bool_)
    is_new[1:] = pairs[1:] != pairs[:-1]
    return pairs[is_new]


@kernel
def people_of(evaluator: ModelEvaluator, items: NDArray[np.int32]) -> int:
    """Count the distinct people of some row types."""
    people = 0
    for item in items:
        people += evaluator.own[item]
    if evaluator.shared_people.size:
        people += _distinct_pairs(evaluator, -1, items).size
    return people


@kernel
def _count_people(evaluator: ModelEvaluator, column: int, items: NDArray[np.int32], different: int) -> int:
    """Replace the rows per value by distinct people, at least one each; return the people of all."""
    forget_counts(evaluator, different)
    for item in items:
        evaluator.counts[evaluator.codes[column, item]] += evaluator.own[item]
    if evaluator.shared_people.size:
        for pair in _distinct_pairs(evaluator, column, items):
            evaluator.counts[pair // evaluator.shared_total] += 1
    for place in range(different):
        value = evaluator.touched[place]
        evaluator.counts[value] = max(evaluator.counts[value], 1)
    return max(people_of(evaluator, items), 1)


@kernel
def violated_models(evaluator: ModelEvaluator, items: NDArray[np.int32], is_hasty: bool) -> int:
    """Return which models a class of some row types violates, one bit each, 0 if none.

    Parameters
    ----------
    evaluator : ModelEvaluator
    items : ndarray of int32
        Row types of the class, at least one.
    is_hasty : bool
        Whether to stop at the first violation.
    """
    violated = 0
    for column in range(evaluator.codes.shape[0]):
        different, size = count_rows(evaluator, column, items)
        violated |= violated_by_counts(evaluator, ROWS, column, different, size, is_hasty)
        if evaluator.has_entity == 1 and not (violated and is_hasty):
            size = _count_people(evaluator, column, items, different)
            violated |= violated_by_counts(evaluator, PEOPLE, column, different, size, is_hasty)
        forget_counts(evaluator, different)
        if violated and is_hasty:
            return violated
    return violated


@kernel
def is_satisfied(evaluator: ModelEvaluator, items: NDArray[np.int32]) -> bool:
    """Return whether a class of some row types, at least one, satisfies all models."""
    return violated_models(evaluator, items, True) == 0


@kernel
def evaluate_classes(
    evaluator: ModelEvaluator, order: NDArray[np.int32], begin: NDArray[np.int64], found: NDArray[np.bool_]
) -> None:
    """Note for each model and class whether it is violated.

    Parameters
    ----------
    evaluator : ModelEvaluator
    order : ndarray of int32, shape (n,)
        Row types, class by class.
    begin : ndarray of int64, shape (c + 1,)
        Where the row types of each class begin.
    found : ndarray of bool, shape (MODEL_COUNT, c)
        Is filled.
    """
    for number in range(begin.size - 1):
        if begin[number] == begin[number + 1]:
            continue
        violated = violated_models(evaluator, order[begin[number] : begin[number + 1]], False)
        for model in range(MODEL_COUNT):
            found[model, number] = (violated >> model) & 1 == 1
