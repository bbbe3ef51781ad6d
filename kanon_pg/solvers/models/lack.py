"""Kernels that say how many rows the fully suppressed class lacks to satisfy the privacy models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.compiled import kernel
from kanon_pg.core.privacy_kernels import ROWS, TOLERANCE, Judge


class Rest(NamedTuple):
    """Rows per value of each sensitive column, beginning at `Judge.first`; own people, rows, lack, k."""

    counts: NDArray[np.int64]
    people: NDArray[np.int64]
    rows: NDArray[np.int64]
    lack: NDArray[np.float64]
    k: NDArray[np.int64]


def rest_of(judge: Judge, items: NDArray[np.int32], k: int) -> Rest:
    """Return the counts and the lack of a class."""
    one = np.zeros(1, dtype=np.int64)
    counts = np.zeros(int(judge.first[-1]), dtype=np.int64)
    rest = Rest(counts, one, one.copy(), np.zeros(1), np.full(1, k, dtype=np.int64))
    start_rest(judge, rest, items)
    return rest


@kernel
def start_rest(judge: Judge, rest: Rest, items: NDArray[np.int32]) -> None:
    """Count a class anew."""
    rest.counts[:] = 0
    rest.people[0] = 0
    rest.rows[0] = 0
    _add_all(judge, rest, items, 1)
    rest.lack[0] = _lack(judge, rest)


@kernel
def _add_all(judge: Judge, rest: Rest, items: NDArray[np.int32], times: int) -> None:
    for item in items:
        rest.rows[0] += times * judge.rows[item]
        rest.people[0] += times * judge.own[item]
        for column in range(judge.codes.shape[0]):
            rest.counts[judge.first[column] + judge.codes[column, item]] += times * judge.rows[item]


@kernel
def _lack(judge: Judge, rest: Rest) -> float:
    """Add up what every model and column lacks, in rows; people of several row types are left out."""
    size = rest.rows[0]
    lack = float(max(0, rest.k[0] - rest.people[0]))
    if size == 0:
        return lack
    for column in range(judge.codes.shape[0]):
        begin, end = judge.first[column], judge.first[column + 1]
        different, most = 0, 0
        uncertain, distance, moved = 0.0, 0.0, 0.0
        for place in range(begin, end):
            number = rest.counts[place]
            different += int(number > 0)
            most = max(most, number)
            if number > 0:
                uncertain += number * np.log(number)
            if judge.is_ordered == 1:
                moved += number - judge.shares[ROWS, place] * size
                distance += abs(moved) / max(1, end - begin - 1) if place < end - 1 else 0.0
            else:
                distance += max(0.0, number - judge.shares[ROWS, place] * size)
        lack += max(0, judge.distinct - different) + max(0, most * judge.frequency - size)
        if judge.entropy > 0.0:
            lack += max(0.0, size * (judge.entropy - np.log(size)) + uncertain - TOLERANCE * size)
        if judge.closeness < 1.0:
            lack += max(0.0, distance - judge.closeness * size - TOLERANCE * size)
    return lack


@kernel
def add_to_rest(judge: Judge, rest: Rest, item: int) -> None:
    """Add a row type."""
    _add_all(judge, rest, np.array([item], dtype=np.int32), 1)
    rest.lack[0] = _lack(judge, rest)


@kernel
def lack_after(judge: Judge, rest: Rest, item: int) -> float:
    """Return what the class would lack with one more row type."""
    return lack_with_class(judge, rest, np.array([item], dtype=np.int32))


@kernel
def lack_with_class(judge: Judge, rest: Rest, items: NDArray[np.int32]) -> float:
    """Return what the class would lack with some more row types."""
    _add_all(judge, rest, items, 1)
    lack = _lack(judge, rest)
    _add_all(judge, rest, items, -1)
    return lack
