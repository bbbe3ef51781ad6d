"""The page of an audit: its sections on sets of columns, on suggested roles and on what to do next."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby, zip_longest

from kanon_pg.audit.findings import AuditResult, ColumnFigures, CombinedClasses, Suggestion, ViolatingSet
from kanon_pg.audit.sentences import (
    Recommendation,
    about_not_compared,
    counted,
    headline,
    next_steps,
    not_counted,
    percent,
    sentences,
)
from kanon_pg.audit.suggesting import declaring, publishing
from kanon_pg.curves import Curve
from kanon_pg.db.identifiers import Literal
from kanon_pg.errors import in_words
from kanon_pg.reports.costs import curve_section, releases_section, together_section
from kanon_pg.reports.document import (
    Bar,
    BarChart,
    BarGroup,
    Document,
    KeyFigure,
    PageFigure,
    Section,
    SetLine,
    SetMatrix,
    Table,
    counts,
    made_on,
    thousands,
)
from kanon_pg.reports.risk import classes_section, risk_section

MOST_SETS = 24
"""Sets that are drawn."""

MOST_COLUMNS = 14
"""Columns that are drawn, unless a single set has more."""


MOST_LINES = 200
"""Sets in the table; JSON has all of them."""

_HEADINGS = (
    "columns",
    "kind",
    "people at risk",
    "smallest class",
    "rows at risk",
    "different values",
    "distinction",
    "separation",
)


def sets_section(audit: AuditResult) -> Section:
    """Return the sets level by level, as a drawing and as a table."""
    return Section(
        "sets",
        "Which columns single people out",
        sentences=tuple(_sentences(audit)),
        figures=(_figure(audit),) if any(violation.columns for violation in audit.sets) else (),
    )


def _sentences(audit: AuditResult) -> list[str]:
    if audit.sets:
        sentences = [
            f"A set of columns is listed if some combination of its values is shared by fewer than {audit.k} "
            "people, and no column can be left out of it. Every larger set that contains it singles people "
            "out, too."
        ]
    elif audit.is_complete:
        sentences = [
            f"None: every combination of values of all {counted(len(audit.columns), 'audited column')} is "
            f"shared by at least {audit.k} people, hence also that of any of them."
        ]
    else:
        sentences = ["None was found so far."]
    limitation = audit.limitation()
    if limitation is not None:
        sentences.append(limitation)
    elif audit.sets:
        sentences.append("The list is complete: it is proven that there is no other.")
    return sentences


def _figure(audit: AuditResult) -> PageFigure:
    shown = drawable(audit.sets)
    note = ""
    if len(shown) < len(audit.sets):
        note = (
            f"Drawn: {len(shown):,} of {counted(len(audit.sets), 'set')}, taken from the levels in turn, "
            f"those with the most people at risk first, at most {MOST_SETS} sets with at most {MOST_COLUMNS} "
            "different columns."
        )
    first = shown[0]
    return PageFigure(
        "lattice",
        f"Minimal sets that single out fewer than {audit.k} people, level by level",
        f"{counted(len(audit.sets), 'set')}: {_levels(audit.sets)}. Each line is a set, each large dot one "
        "of its columns, each bar the number of people at risk. The first line is "
        f"{in_words(first.columns)} with {thousands(first.people_at_risk)} people at risk.",
        _matrix(audit, shown),
        _table(audit),
        note,
    )


def drawable(sets: Sequence[ViolatingSet]) -> tuple[ViolatingSet, ...]:
    """Return the sets that are drawn: from the levels in turn, most people first, as far as there is room.

    Returns
    -------
    tuple of ViolatingSet
        Fewest columns first; at most `MOST_SETS` with at most `MOST_COLUMNS` different columns, unless the
        first has more. Each set is taken that still fits, so that every level is shown if it can be.
    """
    chosen: list[ViolatingSet] = []
    columns: set[str] = set()
    for violation in _in_turn(sets):
        together = columns.union(violation.columns)
        if len(chosen) < MOST_SETS and (len(together) <= MOST_COLUMNS or not chosen):
            chosen.append(violation)
            columns = together
    return tuple(sorted(chosen, key=_rank))


def _in_turn(sets: Sequence[ViolatingSet]) -> Iterator[ViolatingSet]:
    """Yield the first set of each level, then the second of each, and so on."""
    levels = [
        list(level) for _, level in groupby(sorted(sets, key=_rank), key=lambda violation: violation.size)
    ]
    for places in zip_longest(*levels):
        yield from (violation for violation in places if violation is not None)


def _rank(violation: ViolatingSet) -> tuple[int, int, tuple[str, ...]]:
    return violation.size, -(violation.people_at_risk or 0), violation.columns


def _matrix(audit: AuditResult, shown: Sequence[ViolatingSet]) -> SetMatrix:
    sizes = Counter(violation.size for violation in audit.sets)
    used = {name for violation in shown for name in violation.columns}
    levels = []
    for size, level in groupby(shown, key=lambda violation: violation.size):
        lines = tuple(
            SetLine(
                frozenset(violation.columns),
                Bar(violation.people_at_risk or 0, thousands(violation.people_at_risk), "risk"),
            )
            for violation in level
        )
        drawn = "" if len(lines) == sizes[size] else f"{len(lines)} of "
        levels.append((f"{counted(size, 'column')}: {drawn}{counted(sizes[size], 'set')}", lines))
    columns = tuple(name for name in _by_frequency(audit) if name in used)
    return SetMatrix(columns, tuple(levels), "people at risk")


def _levels(sets: Sequence[ViolatingSet]) -> str:
    sizes = Counter(violation.size for violation in sets)
    return ", ".join(f"{sizes[size]:,} of {counted(size, 'column')}" for size in sorted(sizes))


def _by_frequency(audit: AuditResult) -> list[str]:
    """Return the columns, those in most sets first, so that lines between dots are short."""
    often = {name: sum(name in violation.columns for violation in audit.sets) for name in audit.columns}
    return sorted(audit.columns, key=lambda name: -often[name])


def _table(audit: AuditResult) -> Table:
    hidden = len(audit.sets) - MOST_LINES
    more = f"{counted(hidden, 'set')} more, of the largest sizes, are in the output of --json."
    return Table(
        f"Minimal sets of columns that single out fewer than {audit.k} people",
        _HEADINGS,
        tuple(_cells(violation) for violation in audit.sets[:MOST_LINES]),
        texts=2,
        note=more if hidden > 0 else "",
    )


def _cells(violation: ViolatingSet) -> tuple[str, ...]:
    return (
        ", ".join(violation.columns) or "(no column: the whole table)",
        violation.kind,
        *counts(violation.people_at_risk, violation.smallest_class),
        *counts(violation.rows_at_risk, violation.distinct_values),
        *(
            thousands(None) if one is None else f"{one:.4f}"
            for one in (violation.distinction, violation.separation)
        ),
    )


MOST_DRAWN = 15
"""Columns in a drawing; the table has all of them."""

_COLUMN_HEADINGS = (
    "column",
    "role",
    "at risk by it alone",
    "no longer at risk without it",
    "at risk without it",
    "in sets",
    "different values",
    "smallest class",
)


def columns_section(audit: AuditResult) -> Section | None:
    """Return the contribution of each column; None if it was not counted."""
    if audit.audited is None or not audit.column_figures:
        return None
    return Section(
        "columns",
        "What each column contributes",
        sentences=(_sentence(audit, audit.audited),),
        figures=tuple(_figures(audit, audit.audited)),
    )


def _sentence(audit: AuditResult, combined: CombinedClasses) -> str:
    best = max(audit.column_figures, key=lambda column: _saved(column, combined))
    saved = _saved(best, combined)
    if not combined.people_at_risk:
        return "By all audited columns together nobody is at risk, so no column contributes to it."
    at_risk = counted(combined.people_at_risk, "person is", "people are")
    if not saved:
        return (
            f"By all audited columns together {at_risk} at risk. Removing a single column would spare "
            "nobody: what one column tells, others tell as well."
        )
    return (
        f"By all audited columns together {at_risk} at risk. Removing {best.name} would spare the most: "
        f"{counted(saved, 'person', 'people')}."
    )


def _figures(audit: AuditResult, combined: CombinedClasses) -> Iterator[PageFigure]:
    """Yield a figure for each measure, unless there is nothing to compare."""
    columns = sorted(
        audit.column_figures,
        key=lambda column: (-_saved(column, combined), -column.people_at_risk, -column.violating_sets),
    )
    at_risk = [column for column in columns if column.people_at_risk or _saved(column, combined)]
    if at_risk:
        table = Table(
            "People at risk by each column",
            _COLUMN_HEADINGS,
            tuple(_column_cells(column, combined) for column in columns),
            texts=2,
        )
        yield _people_figure(audit, combined, at_risk, table)
    listed = [column for column in columns if column.violating_sets]
    listed.sort(key=lambda column: -column.violating_sets)
    if listed and listed[0].violating_sets > 1:
        yield _sets_figure(audit, listed)


def _people_figure(
    audit: AuditResult, combined: CombinedClasses, columns: Sequence[ColumnFigures], table: Table
) -> PageFigure:
    drawn = columns[:MOST_DRAWN]
    pairs = [(column.name, column.people_at_risk, _saved(column, combined)) for column in drawn]
    groups = tuple(
        BarGroup(name, (Bar(at_risk, thousands(at_risk), "risk"), Bar(saved, thousands(saved), "safe")))
        for name, at_risk, saved in pairs
    )
    legend = (("risk", "people at risk by this column alone"), ("safe", "people spared if it is removed"))
    return PageFigure(
        "contribution",
        "People at risk by one column, and people spared by removing it",
        f"{counted(len(drawn), 'column')} with two bars each, out of "
        f"{counted(audit.people, 'person', 'people')}. The first is {drawn[0].name}: {pairs[0][1]:,} at risk "
        f"by it alone, {pairs[0][2]:,} no longer at risk without it.",
        BarChart(groups, legend),
        table,
        _note(
            len(drawn),
            audit,
            "those whose removal spares most people, then those that put most people at risk by themselves; "
            f"at most {MOST_DRAWN}, and none for which both are zero",
        ),
    )


def _sets_figure(audit: AuditResult, columns: Sequence[ColumnFigures]) -> PageFigure:
    drawn = columns[:MOST_DRAWN]
    groups = tuple(
        BarGroup(column.name, (Bar(column.violating_sets, thousands(column.violating_sets), "quiet"),))
        for column in drawn
    )
    return PageFigure(
        "membership",
        "In how many of the minimal sets a column is",
        f"{counted(len(drawn), 'bar')}, out of {counted(len(audit.sets), 'set')}. The first is "
        f"{drawn[0].name}: in {counted(drawn[0].violating_sets, 'set')}.",
        BarChart(groups),
        Table(
            "Minimal sets that contain each column",
            ("column", "sets", "different values"),
            tuple(
                (column.name, *counts(column.violating_sets, column.distinct_values)) for column in columns
            ),
        ),
        _note(len(drawn), audit, f"those in most sets; at most {MOST_DRAWN}, and none that is in no set"),
    )


def _note(drawn: int, audit: AuditResult, rule: str) -> str:
    every = len(audit.column_figures)
    return "" if drawn == every else f"Drawn: {drawn} of {counted(every, 'column')}, {rule}."


def _saved(column: ColumnFigures, combined: CombinedClasses) -> int:
    return max(0, combined.people_at_risk - column.people_at_risk_without)


def _column_cells(column: ColumnFigures, combined: CombinedClasses) -> tuple[str, ...]:
    return (
        column.name,
        "not declared" if column.role is None else column.role.replace("_", "-"),
        *counts(column.people_at_risk, _saved(column, combined), column.people_at_risk_without),
        *counts(column.violating_sets, column.distinct_values, column.smallest_class),
    )


_BETWEEN = ",\n    "
"""An argument per line."""


def roles_section(suggestions: Sequence[Suggestion]) -> Section | None:
    """Return the proposed roles; None if nothing is proposed."""
    if not suggestions:
        return None
    rows = tuple((one.column, one.role.replace("_", "-"), _because(one)) for one in suggestions)
    return Section(
        "roles",
        "Which roles the columns might have",
        sentences=(
            "Proposed from keys, types, names, values and statistics. Nothing was declared: whoever knows "
            "the data decides.",
        ),
        tables=(Table("Proposed roles", ("column", "role", "because"), rows, texts=3),),
    )


def _because(one: Suggestion) -> str:
    suits = () if one.hierarchy is None else (f"A hierarchy suits it: {json.dumps(one.hierarchy)}.",)
    return " ".join((*one.reasons, *suits))


def unchecked_section(audit: AuditResult) -> Section | None:
    """Return the checks that were not made; None if there is none."""
    unchecked = (about_not_compared(audit), *audit.unchecked, not_counted(audit))
    sentences = tuple(sentence for sentence in unchecked if sentence is not None)
    return Section("unchecked", "What was not checked", sentences=sentences) if sentences else None


def steps_section(audit: AuditResult, suggestions: Sequence[Suggestion]) -> Section:
    """Return the next steps, each with its SQL; proposed roles are to be declared first."""
    statements = [*next_steps(audit)]
    is_proposed = any(one.role == "quasi_identifier" for one in suggestions)
    if is_proposed and all(column.role is None for column in audit.column_figures):
        statements.insert(
            0 if not statements else 1,
            Recommendation(
                "Declare the roles, once they are right.", declaring(audit.relation, suggestions, _BETWEEN)
            ),
        )
        statements += [
            Recommendation("Publish ranges and periods in place of values.", one)
            for one in publishing(audit.relation, suggestions, audit.k)
        ]
    statements.append(
        Recommendation(
            "Look again whenever the table has changed.",
            f"SELECT * FROM kanon_audit({Literal(audit.relation)}, {audit.k});",
        )
    )
    return Section("next", "What to do next", statements=tuple(statements))


_TERMS = (
    ("Class", "All rows that agree on some columns. Its size is the number of different people in it."),
    (
        "At risk",
        "A person in a class of fewer than k people: whoever knows the columns of somebody has few to choose "
        "from.",
    ),
    ("Minimal set", "A set of columns that puts people at risk, while none of its parts does."),
    ("Minimum set", "A minimal set with the fewest columns of all."),
    (
        "Distinction, separation",
        "The share of rows that differ on a set, and the share of pairs of rows that do (Motwani and Xu "
        "2007).",
    ),
    ("Suppressed cell", "A value that a release leaves out, so that its row joins a larger class."),
)


def report(
    audit: AuditResult,
    *,
    curve: Curve | None = None,
    suggestions: Sequence[Suggestion] = (),
    made: datetime | None = None,
) -> Document:
    """Return the report of an audit; sections whose figures are missing are left out."""
    sections = (
        sets_section(audit),
        columns_section(audit),
        classes_section(audit),
        risk_section(audit),
        None if curve is None or not curve.points else curve_section(curve, audit.k),
        releases_section(audit),
        together_section(audit),
        roles_section(suggestions),
        unchecked_section(audit),
        steps_section(audit, suggestions),
    )
    entity = "" if audit.entity is None else f" (told apart by {audit.entity})"
    return Document(
        title=f"Who is singled out in {_plain_name(audit.relation)}?",
        subtitle=f"{counted(audit.rows, 'row')}, {counted(audit.people, 'person', 'people')}{entity}, "
        f"{counted(len(audit.columns), 'column')}; audited for groups of fewer than k = {audit.k} people.",
        verdict=headline(audit),
        is_bad=not (audit.is_anonymous and audit.may_be_read_together),
        sentences=sentences(audit),
        advice=_advice(audit),
        key_figures=tuple(_key_figures(audit)),
        sections=tuple(section for section in sections if section is not None),
        terms=_TERMS,
        made=_made(audit, made),
    )


def _plain_name(relation: str) -> str:
    """Return a qualified name without the quotes that every name has, for a heading."""
    return ".".join(
        part.replace('""', '"') for part in relation.removeprefix('"').removesuffix('"').split('"."')
    )


def _advice(audit: AuditResult) -> str:
    if audit.not_compared:
        return (
            f"Let nobody read more than one of the {len(audit.releases)} releases before it is known what "
            "they disclose together; the statement that says so is below."
        )
    if not audit.may_be_read_together:
        return (
            f"Let nobody read more than one of the {len(audit.releases)} releases: who reads several of them "
            "may tell people apart whom each of them hides. Publish one; the statements are below."
        )
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
    figures = []
    combined = audit.quasi_identifiers
    if combined is not None:
        at_risk = combined.people_at_risk
        share = percent(at_risk / audit.people) if audit.people else "0%"
        known = "the declared quasi-identifiers" if audit.declared else "all columns"
        meaning = f"of the people ({thousands(at_risk)}) are at risk by {known}"
        figures.append(KeyFigure(share, meaning, at_risk > 0))
        smallest = combined.smallest_class
        figures.append(KeyFigure(thousands(smallest), "in the smallest class by them", smallest < audit.k))
    sets = len(audit.sets)
    figures.append(KeyFigure(thousands(sets), "minimal set" if sets == 1 else "minimal sets", sets > 0))
    if audit.minimum is not None:
        meaning = "column suffices" if audit.minimum == 1 else "columns suffice"
        figures.append(KeyFigure(thousands(audit.minimum), meaning, True))
    return figures


def _made(audit: AuditResult, made: datetime | None) -> str:
    took = f"Made by kanon_pg{made_on(made)}; the audit took {audit.seconds:,.1f} s."
    return f"{took} It contains counts and names of columns, and no value of any person."
