"""An independent check of the privacy models: plain counting on the packed buffers, no kernel, no judge.

The definitions are those of `kanon_pg.worker.models.evaluator`; nothing but the tolerance is shared with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.request import PrivacyModels
from kanon_pg.errors import SolverError
from kanon_pg.worker.solution import Solution

_TOLERANCE = 1e-9
_MOST_AT_ONCE = 4_000_000


class _Counts(NamedTuple):
    """How often each value occurs in each class, for pairs that occur, by class; and class sizes."""

    owner: NDArray[np.int64]
    value: NDArray[np.int64]
    number: NDArray[np.float64]
    size: NDArray[np.float64]
    whole: NDArray[np.float64]


def require_models(
    packed: PackedRowTypes,
    solution: Solution,
    class_of: NDArray[np.int64],
    models: PrivacyModels,
    heartbeat: Callable[[], None] = lambda: None,
) -> None:
    """Raise unless every class satisfies every privacy model in every sensitive column.

    Parameters
    ----------
    solution : Solution
        Parts of row types with their pattern vectors.
    class_of : ndarray of int64, shape (q,)
        Class of each part, numbered from 0 without gaps, as `kanon_pg.worker.verification.recount`
        confirmed.
    heartbeat : callable, optional
        Called now and then; whatever it raises cancels.

    Raises
    ------
    SolverError
        A class violates a model.

    Notes
    -----
    O(q log q) per sensitive column; with the ordered distance O(c m) for c classes and m values.
    """
    if not models:
        return
    for column in range(len(packed.sensitive_columns)):
        values = _values(packed, column)[solution.row_type]
        counts = [_rows(values, solution, class_of)]
        if packed.has_entity:
            counts.append(_people(packed, values, solution, class_of))
        heartbeat()
        for counted in counts:
            _require_diversity(counted, models)
            _require_closeness(counted, models, heartbeat)


def _values(packed: PackedRowTypes, column: int) -> NDArray[np.int64]:
    """Number the values of a sensitive column; numbers ascending, NULL last."""
    cells = np.frombuffer(packed.sensitive_cells[column], dtype=">i8").astype(np.int64)
    buffer = packed.sensitive_values[column]
    kinds, place, values = np.unique(cells, return_index=True, return_inverse=True)
    if buffer is None:
        return values
    numbers = np.frombuffer(buffer, dtype=">f8").astype(np.float64)[place]
    rank = np.empty(kinds.size, dtype=np.int64)
    rank[np.lexsort((kinds, numbers))] = np.arange(kinds.size)
    return rank[values]


def _rows(values: NDArray[np.int64], solution: Solution, class_of: NDArray[np.int64]) -> _Counts:
    width = int(values.max()) + 1
    pairs, place = np.unique(class_of * width + values, return_inverse=True)
    return _Counts(
        pairs // width,
        pairs % width,
        _sums(place, solution.rows),
        _sums(class_of, solution.rows),
        _sums(values, solution.rows),
    )


def _sums(group: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.bincount(group, weights=rows).astype(np.float64)


def _people(
    packed: PackedRowTypes, values: NDArray[np.int64], solution: Solution, class_of: NDArray[np.int64]
) -> _Counts:
    """Count distinct people; parts are whole row types, because those of an entity are never divided."""
    keys = np.frombuffer(packed.keys, dtype=">i8").astype(np.int64)[solution.row_type]
    order = np.argsort(keys)
    pair_keys = np.frombuffer(packed.pair_keys, dtype=">i8").astype(np.int64)
    part = order[np.searchsorted(keys[order], pair_keys)]
    person = np.unique(np.frombuffer(packed.pair_people, dtype=">i8"), return_inverse=True)[1]
    width = int(values.max()) + 1
    pairs = np.unique(class_of * width + values)
    known = np.searchsorted(pairs, class_of[part] * width + values[part])
    return _Counts(
        pairs // width,
        pairs % width,
        _distinct(known, person, pairs.size),
        _distinct(class_of[part], person, int(class_of.max()) + 1),
        _distinct(values[part], person, width),
    )


def _distinct(group: NDArray[np.int64], person: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    """Count the distinct people of each group, at least one."""
    met = np.unique(np.stack([group, person]), axis=1)
    return np.maximum(np.bincount(met[0], minlength=groups), 1).astype(np.float64)


def _require_diversity(counts: _Counts, models: PrivacyModels) -> None:
    classes = counts.size.size
    different = np.bincount(counts.owner, minlength=classes)
    total = np.bincount(counts.owner, weights=counts.number, minlength=classes)
    _require(models.p is None or bool((different >= models.p).all()), "p-sensitivity")
    if models.l is None:
        return
    if models.diversity == "distinct":
        _require(bool((different >= models.l).all()), "distinct l-diversity")
    elif models.diversity == "frequency":
        is_rare = counts.number * models.l <= counts.size[counts.owner]
        _require(bool(is_rare.all()), "frequency l-diversity")
    else:
        share = counts.number / total[counts.owner]
        entropy = np.bincount(counts.owner, weights=-share * np.log(share), minlength=classes)
        _require(bool((entropy >= np.log(models.l) - _TOLERANCE).all()), "entropy l-diversity")


def _require_closeness(counts: _Counts, models: PrivacyModels, heartbeat: Callable[[], None]) -> None:
    """Compare dense shares of some classes at a time with those of the table."""
    if models.t is None:
        return
    classes, width = counts.size.size, counts.whole.size
    whole = counts.whole / counts.whole.sum()
    step = max(1, _MOST_AT_ONCE // width)
    for begin in range(0, classes, step):
        low, high = np.searchsorted(counts.owner, [begin, begin + step])
        shares = np.zeros((min(step, classes - begin), width))
        shares[counts.owner[low:high] - begin, counts.value[low:high]] = counts.number[low:high]
        shares = shares / shares.sum(axis=1, keepdims=True) - whole
        if models.distance == "ordered":
            distance = np.abs(np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1) / max(1, width - 1)
        else:
            distance = np.abs(shares).sum(axis=1) / 2
        _require(bool((distance <= models.t + _TOLERANCE).all()), "t-closeness")
        heartbeat()


def _require(is_satisfied: bool, model: str) -> None:
    if not is_satisfied:
        raise SolverError(
            f"The recount of the solution found a class that violates {model}.",
            hint="Nothing was published. Please report this as a defect.",
        )
