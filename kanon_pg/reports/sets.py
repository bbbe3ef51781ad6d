"""The section on the sets of columns that single people out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kanon_pg.audit.amounts import counted
from kanon_pg.audit.findings import AuditResult, ViolatingSet
from kanon_pg.audit.sentences import column_list
from kanon_pg.reports.document import Figure, Section, Table
from kanon_pg.reports.matrix import MOST_COLUMNS, MOST_SETS, drawable, set_matrix
from kanon_pg.reports.wording import number

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
    """Return the sets level by level, as a drawing and as a table.

    Parameters
    ----------
    audit : AuditResult
        With or without details.
    """
    return Section(
        "sets",
        "Which columns single people out",
        sentences=tuple(_sentences(audit)),
        figures=(_figure(audit),) if any(found.columns for found in audit.sets) else (),
    )


def _sentences(audit: AuditResult) -> list[str]:
    if audit.sets:
        found = [
            f"A set of columns is listed if some combination of its values is shared by fewer than {audit.k} "
            "people, and no column can be left out of it. Every larger set that contains it singles people "
            "out, too."
        ]
    elif audit.is_complete:
        found = [
            f"None: every combination of values of all {counted(len(audit.columns), 'audited column')} is "
            f"shared by at least {audit.k} people, hence also that of any of them."
        ]
    else:
        found = ["None was found so far."]
    open_question = audit.open_question()
    if open_question is not None:
        found.append(open_question)
    elif audit.sets:
        found.append("The list is complete: it is proven that there is no other.")
    return found


def _figure(audit: AuditResult) -> Figure:
    shown = drawable(audit.sets)
    order = _by_frequency(audit)
    note = ""
    if len(shown) < len(audit.sets):
        note = (
            f"Drawn: {len(shown):,} of {counted(len(audit.sets), 'set')}, taken from the levels in turn, "
            f"those with the most people at risk first, at most {MOST_SETS} sets with at most {MOST_COLUMNS} "
            "different columns."
        )
    first = shown[0]
    return Figure(
        "lattice",
        f"Minimal sets that single out fewer than {audit.k} people, level by level",
        f"{counted(len(audit.sets), 'set')}: {_levels(audit.sets)}. Each line is a set, each large dot one "
        "of its columns, each bar the number of people at risk. The first line is "
        f"{column_list(first.columns)} with {number(first.people_at_risk)} people at risk.",
        set_matrix(shown, order, Counter(found.size for found in audit.sets)),
        _table(audit),
        note,
    )


def _levels(sets: Sequence[ViolatingSet]) -> str:
    sizes = sorted({found.size for found in sets})
    return ", ".join(
        f"{sum(found.size == size for found in sets):,} of {counted(size, 'column')}" for size in sizes
    )


def _by_frequency(audit: AuditResult) -> list[str]:
    """Return the columns, those in most sets first, so that lines between dots are short."""
    often = {name: sum(name in found.columns for found in audit.sets) for name in audit.columns}
    return sorted(audit.columns, key=lambda name: -often[name])


def _table(audit: AuditResult) -> Table:
    hidden = len(audit.sets) - MOST_LINES
    note = (
        ""
        if hidden <= 0
        else f"{counted(hidden, 'set')} more, of the largest sizes, are in the output of --json."
    )
    return Table(
        f"Minimal sets of columns that single out fewer than {audit.k} people",
        _HEADINGS,
        tuple(_cells(found) for found in audit.sets[:MOST_LINES]),
        texts=2,
        note=note,
    )


def _cells(found: ViolatingSet) -> tuple[str, ...]:
    return (
        ", ".join(found.columns) or "(no column: the whole table)",
        found.kind,
        number(found.people_at_risk),
        number(found.smallest_class),
        number(found.rows_at_risk),
        number(found.distinct_values),
        _ratio(found.distinction),
        _ratio(found.separation),
    )


def _ratio(value: float | None) -> str:
    return number(None) if value is None else f"{value:.4f}"
