"""What the guard of a release demands of every class beside k people, as its template needs it.

Comparisons are those of `kanon_pg.worker.models.evaluator`: whole numbers exactly; entropies and distances,
which are sums of rounded numbers, up to a tolerance. So a class may miss what is demanded of these by a
billionth.
"""

from __future__ import annotations

import math
from typing import Any

from kanon_pg.core.request import PrivacyModels
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.release.canonical import CanonicalColumn

TOLERANCE = 1e-9
"""Entropies and distances that differ by less are equal."""

_STEPS = ("unit", "cell", "whole", "curve", "step", "judged")


def model_parts(models: PrivacyModels) -> dict[str, Any]:
    """Return the thresholds of the models, None for what is not demanded.

    Parameters
    ----------
    models : PrivacyModels
        Already checked.
    """
    diversity = {models.diversity: models.l}
    return {
        "distinct": max(1, models.p or 0, diversity.get("distinct") or 0),
        "frequency": diversity.get("frequency"),
        "entropy": None if not diversity.get("entropy") else _number(math.log(models.l or 1) - TOLERANCE),
        "closeness": None if models.t is None else _number(models.t + TOLERANCE),
        "is_ordered": models.t is not None and models.distance == "ordered",
    }


def judgements(columns: tuple[CanonicalColumn, ...], *, has_entity: bool) -> list[dict[str, Any]]:
    """Return what is judged: each sensitive column in rows and, with an entity, in people.

    Parameters
    ----------
    columns : tuple of CanonicalColumn
        The sensitive columns of the privacy models.
    has_entity : bool
        Whether a person may have several rows.
    """
    found: list[dict[str, Any]] = []
    for column in columns:
        for of_people in (False, True) if has_entity else (False,):
            number = len(found) + 1
            steps = {step: Identifier.of(f"{step}_{number}") for step in _STEPS}
            found.append({"value": column.alias, "of_people": of_people, **steps})
    return found


def _number(value: float) -> Fragment:
    return Fragment(f"{value!r}::double precision")
