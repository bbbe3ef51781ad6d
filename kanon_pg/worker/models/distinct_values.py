"""p-sensitivity and distinct l-diversity: a class has at least p (l) different sensitive values.

T. M. Truta, B. Vinay: "Privacy Protection: p-Sensitive k-Anonymity Property" (2006); A. Machanavajjhala, D.
Kifer, J. Gehrke, M. Venkitasubramaniam: "l-Diversity: Privacy beyond k-Anonymity" (2007).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import SensitiveColumn
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.models.class_counts import ROWS, ClassCounts, ModelEvaluator
from kanon_pg.worker.models.privacy_model import Kernels, LinearProgram, PrivacyModel, leave_out


@inner_kernel
def _lack(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, p: float) -> float:
    return float(p - counts.different[column])


@inner_kernel
def _largest(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, p: float) -> int:
    return int(counts.size[ROWS]) if counts.different[column] >= p else 0


class DistinctValues(PrivacyModel):
    """At least p different values. Rows and people have the same ones, so only rows are looked at."""

    name = "distinct"
    kernels = Kernels(_lack, _largest)
    in_people = False

    def least_values(self, demand: float) -> int:
        """Return p."""
        return int(demand)

    def require_possible(
        self, models: PrivacyModels, column: SensitiveColumn, counts: NDArray[np.float64], unit: str
    ) -> None:
        """Raise if the whole table has fewer values."""
        for letter, number in _least_counts(models):
            if counts.size < number:
                raise InfeasibleError(
                    f'Sensitive column "{column.name}" has {counts.size} different values, '
                    f"fewer than {letter} = {number}.",
                    hint=f"Choose {letter} of at most {counts.size}."
                    if counts.size > 1
                    else leave_out(column),
                )


def _least_counts(models: PrivacyModels) -> list[tuple[str, int]]:
    asked = [("p", models.p), ("l", models.l if models.diversity == "distinct" else None)]
    return [(letter, number) for letter, number in asked if number is not None]


def write_values(program: LinearProgram, least: int) -> None:
    """Ask for different values in every class that is used.

    Bredereck, Nichterlein, Niedermeier and Philip (2014), section 4.3: ``y_s <= n_s``, ``y_s <= 1`` and
    ``sum y_s >= p u`` for the n_s rows with value s and an opened class, u = 1.
    """
    held = program.held
    occurs = program.new_columns(held.owner.size, 1.0)
    row = program.at_least_0(held.owner.size)
    program.put(row, occurs, -np.ones(row.size))
    program.put(row[held.of_pair], program.pair, np.ones(program.pair.size))
    row = program.at_least_0(program.opened.size)
    program.put(row[held.owner], occurs, np.ones(occurs.size))
    program.put(row, program.opened, np.full(row.size, -float(least)))
