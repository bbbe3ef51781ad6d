"""Puts a report together from what was found, with the sections on suggested roles and on what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kanon_pg.audit.findings import AuditResult, Suggestion
from kanon_pg.audit.sentences import counted, headline, next_steps, percent, sentences
from kanon_pg.audit.suggesting import declaring
from kanon_pg.curves.points import Curve
from kanon_pg.db.identifiers import Literal
from kanon_pg.reports.costs import curve_section, releases_section, together_section
from kanon_pg.reports.document import Document, KeyFigure, Section, Statement, Table
from kanon_pg.reports.risk import classes_section, risk_section
from kanon_pg.reports.sets import columns_section, sets_section
from kanon_pg.reports.wording import number

_BETWEEN = ",\n    "
"""An argument per line."""


def roles_section(suggestions: Sequence[Suggestion]) -> Section | None:
    """Return the proposed roles; None if nothing is proposed.

    Parameters
    ----------
    suggestions : sequence of Suggestion
        In the table's order.
    """
    if not suggestions:
        return None
    rows = tuple(
        (
            one.column,
            one.role.replace("_", "-"),
            " ".join(one.reasons),
        )
        for one in suggestions
    )
    return Section(
        "roles",
        "Which roles the columns might have",
        sentences=(
            "Proposed from keys, types, names and statistics. Nothing was declared: whoever knows the data "
            "decides.",
        ),
        tables=(
            Table(
                "Proposed roles",
                ("column", "role", "because"),
                rows,
                texts=3,
            ),
        ),
    )


def steps_section(audit: AuditResult, suggestions: Sequence[Suggestion]) -> Section:
    """Return what to do next, with the exact SQL.

    Parameters
    ----------
    suggestions : sequence of Suggestion
        Proposed roles, if any were asked for.
    """
    statements = [Statement(step.why, step.sql) for step in next_steps(audit)]
    is_proposed = any(one.role == "quasi_identifier" for one in suggestions)
    if is_proposed and all(column.role is None for column in audit.column_figures):
        statements.insert(
            0 if not statements else 1,
            Statement(
                "Declare the roles, once they are right.", declaring(audit.relation, suggestions, _BETWEEN)
            ),
        )
    statements.append(
        Statement(
            "Look again whenever the table has changed.",
            f"SELECT * FROM kanon_audit({Literal(audit.relation)}, {audit.k});",
        )
    )
    return Section("next", "What to do next", statements=tuple(statements))


def report(
    audit: AuditResult,
    *,
    curve: Curve | None = None,
    suggestions: Sequence[Suggestion] = (),
    made: datetime | None = None,
) -> Document:
    """Return the report of an audit.

    Parameters
    ----------
    audit : AuditResult
        Sections whose figures it lacks are left out.
    curve : Curve, optional
        What each k would cost.
    suggestions : sequence of Suggestion
        Proposed roles.
    made : datetime, optional
        When the audit was made; not said unless given.
    """
    sections = (
        sets_section(audit),
        columns_section(audit),
        classes_section(audit),
        risk_section(audit),
        None if curve is None or not curve.points else curve_section(curve, audit.k),
        releases_section(audit),
        together_section(audit),
        roles_section(suggestions),
        steps_section(audit, suggestions),
    )
    entity = "" if audit.entity is None else f" (told apart by {audit.entity})"
    return Document(
        title=f"Who is singled out in {_plain_name(audit.relation)}?",
        subtitle=f"{counted(audit.rows, 'row')}, {counted(audit.people, 'person', 'people')}{entity}, "
        f"{counted(len(audit.columns), 'column')}; audited for groups of fewer than k = {audit.k} people.",
        verdict=headline(audit),
        is_bad=not audit.is_anonymous,
        sentences=sentences(audit),
        advice=_advice(audit),
        key_figures=tuple(_key_figures(audit)),
        sections=tuple(section for section in sections if section is not None),
        made=_made(audit, made),
    )


def _plain_name(relation: str) -> str:
    """Return a qualified name without the quotes that every name has, for a heading."""
    return ".".join(
        part.replace('""', '"') for part in relation.removeprefix('"').removesuffix('"').split('"."')
    )


def _advice(audit: AuditResult) -> str:
    if audit.is_anonymous:
        return "Nothing needs to be done now; look again whenever the table has changed."
    if audit.releases:
        return "Give analysts the release instead of the table; the statements that test it are below."
    first = "Publish" if audit.declared else "Say which columns others may know, then publish"
    return (
        f"Do not hand the table out as it is. {first} a view in which at least {audit.k} people share every "
        "combination of values; the exact statements are below."
    )


def _key_figures(audit: AuditResult) -> list[KeyFigure]:
    found = []
    whole = audit.quasi_identifiers
    if whole is not None:
        at_risk = whole.people_at_risk
        share = percent(at_risk / audit.people) if audit.people else "0%"
        known = "the declared quasi-identifiers" if audit.declared else "all columns"
        meaning = f"of the people ({number(at_risk)}) are at risk by {known}"
        found.append(KeyFigure(share, meaning, at_risk > 0))
        smallest = whole.smallest_class
        found.append(KeyFigure(number(smallest), "in the smallest class by them", smallest < audit.k))
    sets = len(audit.sets)
    found.append(KeyFigure(number(sets), "minimal set" if sets == 1 else "minimal sets", sets > 0))
    if audit.minimum is not None:
        meaning = "column suffices" if audit.minimum == 1 else "columns suffice"
        found.append(KeyFigure(number(audit.minimum), meaning, True))
    return found


def _made(audit: AuditResult, made: datetime | None) -> str:
    when = "" if made is None else f" on {made:%Y-%m-%d} at {made:%H:%M} {made.tzname() or ''}".rstrip()
    return f"Made by kanon_pg{when}; the audit took {audit.seconds:,.1f} s."
