"""Demands on sensitive columns that no release can satisfy, recognised before anything is searched.

A class of the whole table is the best there is: if classes satisfy p-sensitivity or l-diversity, so does
their union (see `kanon_pg.worker.models.evaluator`), hence values that are too few or too often in the
whole table are so in some class of every release. The whole table satisfies t-closeness for every t.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import PrivacyModels
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.models.evaluator import require_usable, sensitive_codes
from kanon_pg.worker.row_types import RowTypeTable

_TOLERANCE = 1e-9


def require_feasible(table: RowTypeTable, models: PrivacyModels) -> None:
    """Raise if the whole table violates a privacy model, which proves that every release does.

    Raises
    ------
    InputError
        See `kanon_pg.worker.models.evaluator.require_usable`.
    InfeasibleError
        Says which number the sensitive column allows at most.

    Notes
    -----
    People are looked at only if their counts add up: nobody is in two row types, everybody is known.
    """
    require_usable(table, models)
    if not models:
        return
    for number, column in enumerate(table.sensitive_columns):
        codes = sensitive_codes(table, number)
        counts = np.bincount(codes, weights=table.rows).astype(np.float64)
        _require_values(column.name, counts.size, models)
        _require_diversity(column.name, counts, "rows", models)
        if table.has_entity and adds_up(table):
            people = np.bincount(codes, weights=table.people).astype(np.float64)
            _require_diversity(column.name, people, "people", models)


def adds_up(table: RowTypeTable) -> bool:
    """Return whether people of disjoint sets of row types add up to those of their union."""
    return not table.has_entity or not (table.has_shared_people or (table.people == 0).any())


def _require_values(name: str, values: int, models: PrivacyModels) -> None:
    asked = [("p", models.p)]
    if models.diversity == "distinct":
        asked.append(("l", models.l))
    for letter, number in asked:
        if number is not None and values < number:
            raise InfeasibleError(
                f'Sensitive column "{name}" has {values} different values, fewer than {letter} = {number}.',
                hint=f"Choose {letter} of at most {values}." if values > 1 else _leave_out(name),
            )


def _require_diversity(name: str, counts: NDArray[np.float64], unit: str, models: PrivacyModels) -> None:
    if models.l is None or models.diversity == "distinct":
        return
    if models.diversity == "frequency":
        most, what = float(counts.sum() / counts.max()), "most frequent value"
        reason = f"is in {int(counts.max())} of {int(counts.sum())} {unit}, more than 1 in {models.l}"
    else:
        share = counts / counts.sum()
        most, what = float(np.exp(-(share * np.log(share)).sum())), "entropy"
        reason = f"is that of {most:.3f} equally frequent values in {unit}, fewer than l = {models.l}"
    possible = int(most + _TOLERANCE)
    if possible < models.l:
        raise InfeasibleError(
            f'No release can be l-diverse: the {what} of sensitive column "{name}" {reason}.',
            hint=f"Choose l of at most {possible}." if possible > 1 else _leave_out(name),
        )


def _leave_out(name: str) -> str:
    return f'Leave column "{name}" out of the sensitive columns that the model looks at.'
