"""The risk of a relation from what the worker answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_pg.audit.risk_findings import HomogeneousClasses, RiskFigures
from kanon_pg.core.risk import AttackerRisk
from kanon_pg.core.termination import Termination


def risk_figures(
    relation: str,
    columns: Sequence[str],
    rows: int,
    threshold: float,
    answer: Mapping[str, Any],
) -> RiskFigures:
    """Return the figures of a relation.

    Parameters
    ----------
    relation : str
        Its name.
    columns : sequence of str
        What the attacker knows.
    rows : int
        Its rows.
    threshold : float
        Risk above which a record counts.
    answer : mapping
        Fields of `Risk` and `MinimalUniques` of `kanon_pg.core.risk`.
    """
    found, uniques = answer["risk"], answer["uniques"]
    prosecutor, journalist = AttackerRisk(**found["prosecutor"]), AttackerRisk(**found["journalist"])
    homogeneous = tuple(HomogeneousClasses(**one) for one in found["homogeneous"])
    return RiskFigures(
        relation=relation,
        columns=tuple(columns),
        rows=rows,
        people=found["people"],
        classes=found["classes"],
        smallest_class=round(1 / prosecutor.highest),
        prosecutor_risk=prosecutor.highest,
        prosecutor_average=prosecutor.average,
        journalist_risk=journalist.highest,
        journalist_average=journalist.average,
        journalist_basis=found["journalist_basis"],
        marketer_risk=found["marketer"],
        threshold=threshold,
        people_above=prosecutor.people_above,
        share_above=prosecutor.share_above,
        sample_uniques=found["sample_uniques"],
        minimal_uniques=tuple(uniques["sets_by_size"]),
        people_by_unique=tuple(uniques["people_by_size"]),
        homogeneous_people=max((one.people for one in homogeneous), default=None),
        homogeneous=homogeneous,
        termination=Termination(answer["termination"]),
    )
