"""Frequency l-diversity: no value has more than 1/l of a class, ``l n(E, s) <= |E|`` for every value s.

R. Wong, J. Li, A. Fu, K. Wang: "(alpha, k)-Anonymity" (2006); X. Xiao, Y. Tao: "Anatomy" (2006); R.
Bredereck, A. Nichterlein, R. Niedermeier, G. Philip: "The Effect of Homogeneity on the Computational
Complexity of Combinatorial Data Anonymization" (2014), Definition 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import SensitiveColumn
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.models.class_counts import (
    ROWS,
    TOLERANCE,
    ClassCounts,
    ModelEvaluator,
    end_of,
    most_frequent,
    size_of,
)
from kanon_pg.worker.models.privacy_model import Kernels, LinearProgram, PrivacyModel, leave_out


@inner_kernel
def _lack(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, l: float) -> float:  # noqa: E741
    _, most = most_frequent(evaluator, counts, unit, column)
    return most * l - size_of(counts, unit)


@inner_kernel
def _largest(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, l: float) -> int:  # noqa: E741
    """Return the most rows of a part in which no value has more than its share.

    With at most c rows per value the part is largest; more rows per value only pay if enough other
    values follow, so the largest c that is allowed is the best (a search by bisection finds it).
    """
    low, high, best = 0, counts.size[ROWS], 0
    while low < high:
        middle = (low + high + 1) // 2
        kept = 0
        for place in range(evaluator.first[column], end_of(evaluator, counts, column)):
            value = counts.held[place]
            kept += min(counts.number[ROWS, value], middle)
        if kept >= l * middle:
            low, best = middle, kept
        else:
            high = middle - 1
    return best


@inner_kernel
def _surplus(
    evaluator: ModelEvaluator,
    counts: ClassCounts,
    unit: int,
    column: int,
    l: float,  # noqa: E741
) -> tuple[int, int]:
    """Return the most frequent value and the fewest rows without which the others are enough."""
    value, most = most_frequent(evaluator, counts, unit, column)
    share = np.int64(l)
    return value, (most * share - counts.size[unit] + share - 2) // (share - 1)


class Frequency(PrivacyModel):
    """No value in more than 1/l of a class."""

    name = "frequency"
    kernels = Kernels(_lack, _largest, _surplus)

    def least_values(self, demand: float) -> int:
        """Return l: with fewer values one of them has a larger share."""
        return int(demand)

    def require_possible(
        self, models: PrivacyModels, column: SensitiveColumn, counts: NDArray[np.float64], unit: str
    ) -> None:
        """Raise if a value has more than its share of the whole table."""
        possible = int(float(counts.sum() / counts.max()) + TOLERANCE)
        if models.l is not None and possible < models.l:
            raise InfeasibleError(
                f'No release can be l-diverse: the most frequent value of sensitive column "{column.name}" '
                f"is in {int(counts.max())} of {int(counts.sum())} {unit}, more than 1 in {models.l}.",
                hint=f"Choose l of at most {possible}." if possible > 1 else leave_out(column),
            )

    def write(self, program: LinearProgram, demand: float) -> None:
        """Add ``l n_s <= N`` for the n_s of value s among the N of a class."""
        held = program.held
        row = program.at_least_0(held.owner.size)
        program.put(row, program.total[held.owner], np.ones(row.size))
        program.put(row[held.of_pair], program.pair, -demand * program.weight)
