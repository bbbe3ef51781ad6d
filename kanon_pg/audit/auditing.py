"""Finds sets of columns that single people out or tell all rows apart, and tests k-anonymity.

Acts with the rights of the caller; no statement writes. A report shows more than the sets: what each column
contributes, class sizes, and how likely people are found again in the table and in its releases.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanon_pg.audit.assessing import class_sizes, relation_risk, release_risk, releases_of, risk_in_people
from kanon_pg.audit.columns import (
    AuditSession,
    AuditSubject,
    all_columns,
    audit_session,
    linking_columns,
    look_up,
    quasi_identifiers,
    sensitive_columns,
)
from kanon_pg.audit.findings import (
    AuditResult,
    ClassSizes,
    ColumnFigures,
    CombinedClasses,
    IdentifyingSet,
    ReleaseRisk,
    RiskFigures,
    ViolatingSet,
)
from kanon_pg.audit.request import AnonymityRequest, AuditRequest, IdentifyRequest, RiskRequest
from kanon_pg.core.termination import Termination
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, LimitExceeded
from kanon_pg.relations.counting import Counted
from kanon_pg.relations.subject import LOSSES, Roles, no_rows


def with_details(result: AuditResult, subject: AuditSubject, details: Mapping[str, Any]) -> AuditResult:
    """Add the figures of columns and of all columns together, as the worker counted them."""
    return replace(
        result,
        column_figures=_column_figures(result, subject, details),
        audited=_combined(result.columns, details["audited"]),
        quasi_identifiers=_combined(subject.linking, details["quasi_identifiers"]),
    )


def _column_figures(
    result: AuditResult, subject: AuditSubject, details: Mapping[str, Any]
) -> tuple[ColumnFigures, ...]:
    roles = subject.known.roles or Roles()
    listed = Counter(name for violation in result.sets for name in violation.columns)
    return tuple(
        ColumnFigures(
            name=name,
            role=roles.role_of(name),
            distinct_values=alone["classes"],
            smallest_class=alone["smallest_class"],
            people_at_risk=alone["people_at_risk"],
            people_at_risk_without=without,
            violating_sets=listed[name],
        )
        for name, alone, without in zip(result.columns, details["alone"], details["without"], strict=True)
    )


def _combined(columns: Sequence[str], counted: Mapping[str, Any]) -> CombinedClasses:
    sizes = tuple(ClassSizes(*bar) for bar in counted["sizes"])
    return CombinedClasses(tuple(columns), **{**counted, "sizes": sizes})


_UNIQUES_SECONDS = 3.0
"""Most time for the minimal uniques of one relation: there may be more of them than a report can use."""


def with_risk(
    worker: AuditSession, result: AuditResult, subject: AuditSubject, counted: Counted
) -> AuditResult:
    """Add the risk by the quasi-identifiers, before and after each release."""
    # A person in a class of fewer than k people has a risk above 1 / k.
    call = RiskRequest(None, threshold=1 / result.k, uniques_seconds=_UNIQUES_SECONDS)
    table = _risk_by(worker, call, subject, None, counted)
    releases = [
        _release_risk(worker, call, subject, row, table) for row in releases_of(worker.db, subject.known)
    ]
    return replace(result, risk=table, releases=tuple(releases))


def _risk_by(
    worker: AuditSession,
    call: RiskRequest,
    subject: AuditSubject,
    columns: Sequence[str] | None,
    counted: Counted | None = None,
) -> RiskFigures:
    known = subject.known
    if known.hides_people:
        return risk_in_people(worker, call, known)
    if columns is None and subject.left_out:  # was said already
        columns = [one.name for one in quasi_identifiers(known) if one.name not in subject.left_out]
    linking = linking_columns(worker.db, known, columns)
    sensitive = sensitive_columns(worker.db, known, None, linking)
    is_same = linking.names == subject.names and not sensitive
    return relation_risk(worker, call, linking, sensitive, counted=counted if is_same else None)


def _release_risk(
    worker: AuditSession, call: RiskRequest, subject: AuditSubject, row: Row, table: RiskFigures
) -> ReleaseRisk:
    own = set(row["quasi_identifiers"])
    return ReleaseRisk(
        release=row["release"],
        k=row["k"],
        suppressed_cells=row["suppressed_cells"],
        suppressed_share=row["suppressed_share"],
        before=table if own == set(table.columns) else _risk_by(worker, call, subject, tuple(own)),
        after=release_risk(worker, call, row),
        **{name: row[name] for name in LOSSES},
    )


_AUDIT_SHARE = 0.75
"""Share of the time for the sets and columns where risk and releases are to be shown as well."""

_NOTHING: Mapping[str, Any] = {
    "sets": [],
    "figures": [],
    "is_complete": True,
    "minimum": None,
    "details": None,
    "termination": Termination.OPTIMAL,
}
"""The worker's answer if no set of columns violates."""

_FIGURES = ("smallest_class", "people_at_risk", "rows_at_risk", "distinction", "separation")


def audit(db: Database, request: AuditRequest) -> AuditResult:
    """Return every minimal set of columns that singles out fewer than k people, with the caller's rights."""
    request.check()
    began = time.monotonic()
    known = look_up(db, request.relation)
    subject = all_columns(db, known, request.columns)
    is_known_safe = known.hides_people and _is_safe_release(db, subject, request.k)
    with audit_session(db, request.time_limit) as worker:
        counted = worker.count(subject)
        answer = _NOTHING if is_known_safe else _violating_sets(worker, subject, counted, request)
        result = _result(subject, counted, request, answer)
        if known.hides_people:
            result = replace(result, hides_people=True) if is_known_safe else _in_rows(result)
        elif answer["details"] is not None:
            result = with_details(result, subject, answer["details"])
        if request.details:
            result = with_risk(worker, result, subject, counted)
    _notify(db, result)
    return replace(result, seconds=time.monotonic() - began)


def rows_of_audit(db: Database, request: AuditRequest) -> tuple[ViolatingSet, ...]:
    """Return the sets of `audit` to somebody who sees nothing else; refuse what no rows would hide."""
    result = audit(db, request)
    limitation = result.limitation()
    is_as_requested = result.max_columns is not None and result.complete_columns >= result.max_columns
    if result.sets or limitation is None or is_as_requested:
        return result.sets
    if result.hides_people:
        raise InputError(
            f"Release {result.relation} does not tell whose rows it has; rows show no set, people might.",
            hint="Audit the table itself, or test all quasi-identifiers with kanon_is_anonymous.",
        )
    raise LimitExceeded(
        "No set of columns was found, but not all could be looked at.",
        detail=limitation,
        hint="Pass a larger time_limit, or ask for sets of few columns: max_columns => 2.",
    )


def _is_safe_release(db: Database, subject: AuditSubject, k: int) -> bool:
    """Return whether each class of a release that hides people has k of them, hence those of its columns."""
    return subject.is_within_classes and class_sizes(db, subject.known)[0].people >= k


def _in_rows(result: AuditResult) -> AuditResult:
    """Say of sets that were found by counting rows what holds in people: fewer rows are fewer people."""
    ended = Termination.EXHAUSTED if result.termination is Termination.OPTIMAL else result.termination
    sets = tuple(replace(violation, kind="minimal", termination=ended) for violation in result.sets)
    return replace(
        result,
        hides_people=True,
        sets=sets,
        complete_columns=0,
        is_complete=False,
        minimum=None,
        termination=ended,
    )


def _violating_sets(
    worker: AuditSession, subject: AuditSubject, counted: Counted, request: AuditRequest
) -> Mapping[str, Any]:
    return worker.run(
        "violating",
        counted.row_types,
        share=_AUDIT_SHARE if request.details else 1.0,
        k=request.k,
        max_columns=request.max_columns,
        details=request.details,
        quasi_identifiers=[place for place, name in enumerate(subject.names) if name in subject.linking],
    )


def _result(
    subject: AuditSubject, counted: Counted, request: AuditRequest, answer: Mapping[str, Any]
) -> AuditResult:
    minimum, ended = answer["minimum"], Termination(answer["termination"])
    sets = tuple(
        _violating_set([subject.names[place] for place in places], figures, minimum, ended)
        for places, figures in zip(answer["sets"], answer["figures"], strict=True)
    )
    known = subject.known
    return AuditResult(
        relation=str(known.relation.identifier),
        k=request.k,
        rows=counted.rows,
        people=max(1, counted.people if known.hidden_people is None else known.hidden_people),
        entity=known.entity_name,
        columns=subject.names,
        left_out=subject.left_out,
        max_columns=request.max_columns,
        sets=sets,
        complete_columns=answer.get("complete_columns", len(subject.names)),
        is_complete=answer["is_complete"],
        minimum=minimum,
        seconds=0.0,
        release=known.release,
        declared=() if known.roles is None else subject.linking,
        sensitive=_not_audited(subject),
        termination=ended,
    )


def _not_audited(subject: AuditSubject) -> tuple[str, ...]:
    """Return the sensitive columns of a release that are not among those that are audited."""
    roles = subject.known.roles
    if roles is None or not subject.known.is_release:
        return ()
    return tuple(name for name in roles.sensitive if name not in subject.names)


def _violating_set(
    names: Sequence[str], figures: Mapping[str, Any] | None, minimum: int | None, ended: Termination
) -> ViolatingSet:
    known = figures or dict.fromkeys((*_FIGURES, "classes"))
    return ViolatingSet(
        columns=tuple(names),
        size=len(names),
        kind="minimum" if len(names) == minimum else "minimal",
        distinct_values=known["classes"],
        termination=Termination.TIME if figures is None else ended,
        **{name: known[name] for name in _FIGURES},
    )


def _notify(db: Database, result: AuditResult) -> None:
    """Name the limits that the audit met."""
    limitation = result.limitation()
    if limitation is not None:
        db.notice(limitation)
    uncounted = sum(violation.smallest_class is None for violation in result.sets)
    if uncounted:
        db.notice(f"The time did not suffice for the figures of {uncounted:,} of {len(result.sets):,} sets.")


def identify(db: Database, request: IdentifyRequest) -> tuple[IdentifyingSet, ...]:
    """Return a smallest and a minimal set of columns that identify as much as all columns do.

    First the smallest set known, with what is proven about its size, then the one that Algorithm 5.1 of Yuan
    leaves over.
    """
    request.check()
    subject = all_columns(db, look_up(db, request.relation), request.columns)
    with audit_session(db, request.time_limit) as worker:
        counted = worker.count(subject)
        answer = worker.run("identifying", counted.row_types)
    at_least, distinct = answer["at_least"], answer["distinct_rows"]

    def shown(places: Sequence[int], method: str, *, is_smallest: bool) -> IdentifyingSet:
        is_optimal = len(places) == at_least
        return IdentifyingSet(
            columns=tuple(subject.names[place] for place in places),
            size=len(places),
            kind="minimum" if is_smallest and is_optimal else "minimal",
            at_least=at_least,
            optimal=is_optimal,
            distinct_rows=distinct,
            distinction=distinct / counted.rows,
            method=method,
            termination=_termination(answer["termination"], is_optimal=is_optimal, is_smallest=is_smallest),
        )

    if len(answer["smallest"]) > at_least:
        db.notice(
            f"The search ended before the smallest set was proven: each has at least {at_least} columns."
        )
    return (
        shown(answer["smallest"], answer["method"], is_smallest=True),
        shown(answer["minimal"], "leaving out columns", is_smallest=False),
    )


def _termination(searched: str, *, is_optimal: bool, is_smallest: bool) -> Termination:
    """Return how a search ended; leaving out columns simply ends."""
    if is_optimal:
        return Termination.OPTIMAL
    return Termination(searched) if is_smallest else Termination.EXHAUSTED


def is_anonymous(db: Database, request: AnonymityRequest) -> bool:
    """Return whether every combination of values of some columns is shared by at least k people.

    The k-anonymity-test of Yuan, "Finding Quasi-identifiers Against k-anonymity", in SQL: by Lemma 1 no
    subset of the columns singles out fewer than k people then.
    """
    request.check()
    known = look_up(db, request.relation)
    subject = linking_columns(db, known, request.columns)
    db.progress("counting")
    if known.hides_people:
        return _is_release_anonymous(db, subject, request.k, of_all=request.columns is None)
    return _smallest_class(db, subject) >= request.k


def _is_release_anonymous(db: Database, subject: AuditSubject, k: int, *, of_all: bool) -> bool:
    """Test a release that does not tell which rows are the same person's.

    Refused if neither the people in the classes of all quasi-identifiers nor the rows by the columns decide.
    """
    smallest = class_sizes(db, subject.known)[0].people
    if of_all:
        return smallest >= k
    if smallest >= k and subject.is_within_classes:
        return True
    if _smallest_class(db, subject) < k:
        return False  # there are no more people than rows
    raise InputError(
        f"Release {subject.known.relation.identifier} does not tell whose rows it has, so that people by "
        "these columns cannot be counted.",
        hint="Leave out the columns to test all quasi-identifiers, or test the table itself.",
    )


def _smallest_class(db: Database, subject: AuditSubject) -> int:
    entity = subject.known.entity
    command = statement(
        "audit_smallest_class",
        relation=subject.known.source,
        columns=[{"name": column.compared, "alias": column.alias} for column in subject.columns],
        keys=Fragment(", ".join(str(column.alias) for column in subject.columns)),
        entity=None if entity is None else entity.output,
    )
    with reading(db, subject.known.relation):
        (row,) = db.read(command)
    smallest: int | None = row["smallest"]
    if smallest is None:
        raise no_rows(subject.known.relation)
    return smallest
