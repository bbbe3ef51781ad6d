"""Puts a report together from what was found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kanon_pg.audit.amounts import counted, percent
from kanon_pg.audit.findings import AuditResult, Suggestion
from kanon_pg.audit.sentences import headline, sentences
from kanon_pg.curves.points import Curve
from kanon_pg.reports.classes import classes_section
from kanon_pg.reports.columns import columns_section
from kanon_pg.reports.costs import curve_section, releases_section
from kanon_pg.reports.document import Document, KeyFigure
from kanon_pg.reports.risk import risk_section
from kanon_pg.reports.sets import sets_section
from kanon_pg.reports.steps import roles_section, steps_section
from kanon_pg.reports.wording import number


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
