"""What a class must satisfy, in a form that kernels can evaluate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.models.class_counts import ModelEvaluator
from kanon_pg.worker.models.evaluator import evaluator_of, is_class
from kanon_pg.worker.row_types import RowTypeTable


class Demands(NamedTuple):
    """At least k distinct people per class, and privacy models.

    Where `is_simple` is 1 the people of row types add up and there are no models, so that sums suffice.
    """

    k: np.int64
    is_simple: np.int64
    people: NDArray[np.int64]
    evaluator: ModelEvaluator

    @property
    def has_models(self) -> bool:
        """Whether there are privacy models."""
        return bool(self.evaluator.codes.shape[0] > 0)


def demands_of(table: RowTypeTable, k: int, models: PrivacyModels) -> Demands:
    """Return the demands on classes of a table's row types."""
    is_simple = not models and not table.has_shared_people
    return Demands(np.int64(k), np.int64(is_simple), table.people, evaluator_of(table, models))


@kernel
def is_allowed(demands: Demands, items: NDArray[np.int32]) -> bool:
    """Return whether some row types, at least one, may be a class."""
    return is_class(demands.evaluator, items, int(demands.k))


@kernel
def forbidden_classes(
    demands: Demands, order: NDArray[np.int32], begin: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which of some classes, listed one after the other, may not be."""
    forbidden = np.zeros(begin.size - 1, dtype=np.bool_)
    for number in range(forbidden.size):
        items = order[begin[number] : begin[number + 1]]
        forbidden[number] = items.size > 0 and not is_allowed(demands, items)
    return forbidden


def find_forbidden(demands: Demands, class_of: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each class, numbered from 0, whether it violates a demand; empty ones do not."""
    order = np.argsort(class_of, kind="stable").astype(np.int32)
    begin = np.searchsorted(class_of[order], np.arange(int(class_of.max()) + 2)).astype(np.int64)
    return forbidden_classes(demands, order, begin)
