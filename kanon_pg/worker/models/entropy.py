"""Entropy l-diversity: ``-sum_s p(E, s) ln p(E, s) >= ln l`` for the shares p(E, .) of the values in a class.

A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam: "l-Diversity: Privacy beyond k-Anonymity"
(2007).
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
    number_of,
)
from kanon_pg.worker.models.privacy_model import (
    SHARE_LEFT_OUT,
    Kernels,
    LinearProgram,
    PrivacyModel,
    leave_out,
)

_ROUNDING = 1e-6
"""The parameter is a logarithm: l is found again up to this."""


@inner_kernel
def _lack(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, demand: float) -> float:
    total, uncertain = 0, 0.0
    for place in range(evaluator.first[column], end_of(evaluator, counts, column)):
        value = counts.held[place]
        number = number_of(counts, unit, value)
        total += number
        uncertain += number * np.log(number)
    return float(total * (demand - TOLERANCE - np.log(total)) + uncertain)


@inner_kernel
def _largest(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, demand: float) -> int:
    """Return all rows if there are enough values: the entropy cannot exceed the logarithm of their number."""
    return int(counts.size[ROWS]) if counts.different[column] >= np.exp(demand) - _ROUNDING else 0


@inner_kernel
def _surplus(
    evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, demand: float
) -> tuple[int, int]:
    """Return the most frequent value and a part of what it has above the average."""
    value, most = most_frequent(evaluator, counts, unit, column)
    above = most - counts.size[unit] / counts.different[column]
    return value, max(1, int(above) // SHARE_LEFT_OUT)


class Entropy(PrivacyModel):
    """Enough entropy; the parameter is ln l."""

    name = "entropy"
    kernels = Kernels(_lack, _largest, _surplus)
    learns = True

    def threshold(self, number: float) -> float:
        """Return ln l."""
        return float(np.log(number))

    def least_values(self, demand: float) -> int:
        """Return l: the entropy cannot exceed the logarithm of the number of values."""
        return int(np.ceil(np.exp(demand) - _ROUNDING))

    def require_possible(
        self, models: PrivacyModels, column: SensitiveColumn, counts: NDArray[np.float64], unit: str
    ) -> None:
        """Raise if the whole table has too little entropy."""
        share = counts / counts.sum()
        most = float(np.exp(-(share * np.log(share)).sum()))
        possible = int(most + TOLERANCE)
        if models.l is not None and possible < models.l:
            raise InfeasibleError(
                f'No release can be l-diverse: the entropy of sensitive column "{column.name}" is that of '
                f"{most:.3f} equally frequent values in {unit}, fewer than l = {models.l}.",
                hint=f"Choose l of at most {possible}." if possible > 1 else leave_out(column),
            )

    def write(self, program: LinearProgram, demand: float) -> None:
        """Add ``-sum n_s ln v_s >= N ln l`` for the shares v of every cut.

        The entropy is not linear. But this holds for all classes with enough entropy (Gibbs' inequality) and
        fails for a class whose own shares are v.
        """
        for shares in program.cuts:
            surprise = program.weight * -np.log(shares[program.values])
            used = surprise != 0
            row = program.at_least_0(program.total.size)
            program.put(row, program.total, np.full(row.size, TOLERANCE - demand))
            program.put(row[program.owner[used]], program.pair[used], surprise[used])
