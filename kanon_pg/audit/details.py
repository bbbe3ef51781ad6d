"""What a report shows beside the sets: columns and class sizes, from the worker's answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanon_pg.audit.findings import AuditResult, ClassSizes, ColumnFigures, Whole
from kanon_pg.audit.subject import AuditSubject


def with_details(result: AuditResult, subject: AuditSubject, details: Mapping[str, Any]) -> AuditResult:
    """Return a result with the figures of columns and of all columns together.

    Parameters
    ----------
    result : AuditResult
        With its sets.
    subject : AuditSubject
        Whose columns they are.
    details : mapping
        What the worker counted.
    """
    linking = {column.name for column in subject.known.quasi_identifiers()}
    return replace(
        result,
        column_figures=_column_figures(result, subject, details),
        audited=_whole(result.columns, details["audited"]),
        quasi_identifiers=_whole(
            [name for name in result.columns if name in linking], details["quasi_identifiers"]
        ),
    )


def _column_figures(
    result: AuditResult, subject: AuditSubject, details: Mapping[str, Any]
) -> tuple[ColumnFigures, ...]:
    listed = Counter(name for found in result.sets for name in found.columns)
    return tuple(
        ColumnFigures(
            name=name,
            role=subject.known.role_of(name),
            distinct_values=alone["classes"],
            smallest_class=alone["smallest_class"],
            people_at_risk=alone["people_at_risk"],
            people_at_risk_without=without,
            violating_sets=listed[name],
        )
        for name, alone, without in zip(result.columns, details["alone"], details["without"], strict=True)
    )


def _whole(columns: Sequence[str], counted: Mapping[str, Any]) -> Whole:
    sizes = tuple(ClassSizes(*bar) for bar in counted["sizes"])
    return Whole(tuple(columns), **{**counted, "sizes": sizes})
