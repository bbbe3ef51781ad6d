"""Kernels that say how many rows the fully suppressed class lacks to satisfy the privacy models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.kernels import ROWS, TOLERANCE, ModelEvaluator


class Rest(NamedTuple):
    """Rows per value of each sensitive column, from `ModelEvaluator.first` on; own people, rows, lack, k."""

    counts: NDArray[np.int64]
    people: NDArray[np.int64]
    rows: NDArray[np.int64]
    lack: NDArray[np.float64]
    k: NDArray[np.int64]


def rest_of(evaluator: ModelEvaluator, items: NDArray[np.int32], k: int) -> Rest:
    """Return the counts and the lack of a class."""
    one = np.zeros(1, dtype=np.int64)
    counts = np.zeros(int(evaluator.first[-1]), dtype=np.int64)
    rest = Rest(counts, one, one.copy(), np.zeros(1), np.full(1, k, dtype=np.int64))
    start_rest(evaluator, rest, items)
    return rest


@kernel
def start_rest(evaluator: ModelEvaluator, rest: Rest, items: NDArray[np.int32]) -> None:
    """Count a class anew."""
    rest.counts[:] = 0
    rest.people[0] = 0
    rest.rows[0] = 0
    _add_all(evaluator, rest, items, 1)
    rest.lack[0] = _lack(evaluator, rest)


@kernel
def _add_all(evaluator: ModelEvaluator, rest: Rest, items: NDArray[np.int32], times: int) -> None:
    for item in items:
        rest.rows[0] += times * evaluator.rows[item]
        rest.people[0] += times * evaluator.own[item]
        for column in range(evaluator.codes.shape[0]):
            rest.counts[evaluator.first[column] + evaluator.codes[column, item]] += (
                times * evaluator.rows[item]
            )


@kernel
def _lack(evaluator: ModelEvaluator, rest: Rest) -> float:
    """Add up what every model and column lacks, in rows; people of several row types are left out."""
    size = rest.rows[0]
    lack = float(max(0, rest.k[0] - rest.people[0]))
    if size == 0:
        return lack
    for column in range(evaluator.codes.shape[0]):
        begin, end = evaluator.first[column], evaluator.first[column + 1]
        different, most = 0, 0
        uncertain, distance, moved = 0.0, 0.0, 0.0
        for place in range(begin, end):
            number = rest.counts[place]
            different += int(number > 0)
            most = max(most, number)
            if number > 0:
                uncertain += number * np.log(number)
            if evaluator.is_ordered == 1:
                moved += number - evaluator.shares[ROWS, place] * size
                distance += abs(moved) / max(1, end - begin - 1) if place < end - 1 else 0.0
            else:
                distance += max(0.0, number - evaluator.shares[ROWS, place] * size)
        lack += max(0, evaluator.distinct - different) + max(0, most * evaluator.frequency - size)
        if evaluator.entropy > 0.0:
            lack += max(0.0, size * (evaluator.entropy - np.log(size)) + uncertain - TOLERANCE * size)
        if evaluator.closeness < 1.0:
            lack += max(0.0, distance - evaluator.closeness * size - TOLERANCE * size)
    return lack


@kernel
def add_to_rest(evaluator: ModelEvaluator, rest: Rest, item: int) -> None:
    """Add a row type."""
    _add_all(evaluator, rest, np.array([item], dtype=np.int32), 1)
    rest.lack[0] = _lack(evaluator, rest)


@kernel
def lack_after(evaluator: ModelEvaluator, rest: Rest, item: int) -> float:
    """Return what the class would lack with one more row type."""
    return lack_with_class(evaluator, rest, np.array([item], dtype=np.int32))


@kernel
def lack_with_class(evaluator: ModelEvaluator, rest: Rest, items: NDArray[np.int32]) -> float:
    """Return what the class would lack with some more row types."""
    _add_all(evaluator, rest, items, 1)
    lack = _lack(evaluator, rest)
    _add_all(evaluator, rest, items, -1)
    return lack
