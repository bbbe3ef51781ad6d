"""Adds to an audit how likely people are found again, in the table and in its releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kanon_pg.audit.asking import Asking
from kanon_pg.audit.findings import AuditResult
from kanon_pg.audit.released import risk_in_people
from kanon_pg.audit.request import RiskCall
from kanon_pg.audit.risk import (
    relation_risk,
    release_risk,
    releases_of,
)
from kanon_pg.audit.risk_findings import ReleaseRisk, RiskFigures
from kanon_pg.audit.subject import AuditSubject, linking_columns, sensitive_columns
from kanon_pg.db.protocol import Row
from kanon_pg.release.counting import Counted

_UNIQUES_SECONDS = 3.0
"""Most time for the minimal uniques of one relation: there may be more of them than a report can use."""


def with_risk(worker: Asking, result: AuditResult, subject: AuditSubject, counted: Counted) -> AuditResult:
    """Return a result with the risk by the quasi-identifiers, before and after each release.

    Parameters
    ----------
    worker : Asking
        Of the caller.
    result : AuditResult
        With its sets.
    subject : AuditSubject
        What was audited.
    counted : Counted
        Its row types.
    """
    # A person in a class of fewer than k people has a risk above 1 / k.
    call = RiskCall(None, threshold=1 / result.k, uniques_seconds=_UNIQUES_SECONDS)
    table = _risk(worker, call, subject, None, counted)
    releases = [_release(worker, call, subject, row, table) for row in releases_of(worker.db, subject.known)]
    return replace(result, risk=table, releases=tuple(releases))


def _risk(
    worker: Asking,
    call: RiskCall,
    subject: AuditSubject,
    columns: Sequence[str] | None,
    counted: Counted | None = None,
) -> RiskFigures:
    known = subject.known
    if known.hides_people:
        return risk_in_people(worker, call, known)
    if columns is None and subject.left_out:  # was said already
        columns = [one.name for one in known.quasi_identifiers() if one.name not in subject.left_out]
    linking = linking_columns(worker.db, known, columns)
    sensitive = sensitive_columns(worker.db, known, None, linking)
    is_same = linking.names == subject.names and not sensitive
    return relation_risk(worker, call, linking, sensitive, counted=counted if is_same else None)


def _release(
    worker: Asking, call: RiskCall, subject: AuditSubject, row: Row, table: RiskFigures
) -> ReleaseRisk:
    own = set(row["quasi_identifiers"])
    return ReleaseRisk(
        release=row["release"],
        k=row["k"],
        suppressed_cells=row["suppressed_cells"],
        suppressed_share=row["suppressed_share"],
        before=table if own == set(table.columns) else _risk(worker, call, subject, tuple(own)),
        after=release_risk(worker, call, row),
        certainty_penalty=row["certainty_penalty"],
        generalization_height=row["generalization_height"],
        entropy_loss=row["entropy_loss"],
        marginal_divergence=row["marginal_divergence"],
    )
