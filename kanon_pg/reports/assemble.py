"""Puts a report together from what was found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kanon_pg.audit.amounts import counted, percent
from kanon_pg.audit.findings import AuditResult, Suggestion, ViolatingSet
from kanon_pg.audit.sentences import column_list, sentences
from kanon_pg.curves.points import Curve
from kanon_pg.reports.classes import classes_section
from kanon_pg.reports.columns import columns_section
from kanon_pg.reports.costs import curve_section, releases_section
from kanon_pg.reports.document import Document, KeyFigure
from kanon_pg.reports.risk import risk_section
from kanon_pg.reports.sets import sets_section
from kanon_pg.reports.steps import roles_section, steps_section
from kanon_pg.reports.wording import number

_MOST_NAMED = 4
"""Columns of a set that are named in the most important sentence."""


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
        verdict=_verdict(audit),
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


def _verdict(audit: AuditResult) -> str:
    if audit.is_anonymous:
        return f"Nobody: every combination of values is shared by at least {audit.k} people."
    if not audit.sets:
        return "Nobody was found so far, but not all sets of columns were looked at."
    worst = max(audit.sets, key=lambda found: (found.people_at_risk or 0, -found.size))
    if not worst.columns:
        return f"Everybody: the whole table has {counted(audit.people, 'person', 'people')}."
    if worst.people_at_risk is None:
        return f"Some people, by {_named(worst)}; there was no time to count them."
    at_risk, share = worst.people_at_risk, worst.people_at_risk / max(1, audit.people)
    everybody = "All" if at_risk == audit.people else f"{number(at_risk)} of"
    shown = "" if at_risk == audit.people else f" ({percent(share)})"
    return f"{everybody} {counted(audit.people, 'person', 'people')}{shown}, by {_named(worst)}."


def _named(found: ViolatingSet) -> str:
    if found.size == 1:
        return f"{found.columns[0]} alone"
    return f"{column_list(found.columns) if found.size <= _MOST_NAMED else f'{found.size} columns'} together"


def _advice(audit: AuditResult) -> str:
    if audit.is_anonymous:
        return "Nothing needs to be done now; look again whenever the table has changed."
    if audit.releases:
        return "Give analysts the release instead of the table; the statements that test it are below."
    return (
        "Do not hand the table out as it is. Say which columns others may know, then publish a view in which "
        f"at least {audit.k} people share every combination of values; the exact statements are below."
    )


def _key_figures(audit: AuditResult) -> list[KeyFigure]:
    found = []
    whole = audit.quasi_identifiers
    if whole is not None:
        at_risk = whole.people_at_risk
        share = percent(at_risk / audit.people) if audit.people else "0%"
        known = "all columns" if whole.columns == audit.columns else "the quasi-identifiers"
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
