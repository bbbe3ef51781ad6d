"""An audit in a terminal, and as Markdown for tickets, wikis and pull requests.

Both begin with sentences; the tables behind them follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_pg.audit.findings import AuditResult, ViolatingSet, Whole
from kanon_pg.audit.sentences import headline, next_steps, sentences
from kanon_pg.cli.output import listing
from kanon_pg.reports.costs import releases_section, together_section
from kanon_pg.reports.document import Table
from kanon_pg.reports.risk import risk_section
from kanon_pg.reports.wording import visible

MOST_SETS = 40
"""Sets that are shown; JSON has all of them."""

_BAR = 40

SET_HEADINGS = ("columns", "kind", "smallest class", "people at risk", "values", "distinction", "separation")
COLUMN_HEADINGS = ("column", "role", "values", "at risk alone", "at risk without it", "in sets")
_TEXTS = frozenset({"columns", "kind", "column", "role"})


def audit_view(result: AuditResult) -> Group:
    """Lay out an audit for a terminal; at most `MOST_SETS` sets are shown."""
    return Group(*_parts(result))


def set_cells(found: ViolatingSet) -> tuple[str, ...]:
    """Return the texts of a set, under `SET_HEADINGS`; figures that were not counted are empty."""
    return (
        ", ".join(found.columns) or "(none)",
        found.kind,
        _number(found.smallest_class),
        _number(found.people_at_risk),
        _number(found.distinct_values),
        "" if found.distinction is None else f"{found.distinction:.4f}",
        "" if found.separation is None else f"{found.separation:.4f}",
    )


def column_rows(result: AuditResult) -> list[tuple[str, ...]]:
    """Return the texts of all columns, under `COLUMN_HEADINGS`."""
    return [
        (
            column.name,
            (column.role or "").replace("_", "-"),
            _number(column.distinct_values),
            _number(column.people_at_risk),
            _number(column.people_at_risk_without),
            _number(column.violating_sets),
        )
        for column in result.column_figures
    ]


def size_rows(whole: Whole) -> list[tuple[str, ...]]:
    """Return size, number of classes and people of each bar of a histogram."""
    return [
        (
            f"{bar.smallest:,}" if bar.smallest == bar.largest else f"{bar.smallest:,} to {bar.largest:,}",
            _number(bar.classes),
            _number(bar.people),
        )
        for bar in whole.sizes
    ]


def _parts(result: AuditResult) -> Iterator[RenderableType]:
    yield Text(f"Audit of {result.relation}, k = {result.k}", style="bold")
    yield Text(f"{result.rows:,} rows, {result.people:,} people, {len(result.columns)} columns\n")
    yield Text(f"Who is singled out? {headline(result)}\n", style="bold")
    for sentence in sentences(result):
        yield Text(f"- {sentence}")
    if result.sets:
        yield _heading("Minimal sets of columns that single people out")
        rows = [set_cells(found) for found in result.sets[:MOST_SETS]]
        yield listing(SET_HEADINGS, rows, frozenset(SET_HEADINGS) - _TEXTS)
        if len(result.sets) > MOST_SETS:
            yield Text(f"and {len(result.sets) - MOST_SETS:,} more: --json and --markdown show all of them")
    if result.column_figures:
        yield _heading("What each column contributes")
        yield listing(COLUMN_HEADINGS, column_rows(result), frozenset(COLUMN_HEADINGS) - _TEXTS)
    if result.quasi_identifiers is not None:
        yield from _histogram(result.quasi_identifiers)
    together = together_section(result)
    if together is not None:
        yield _heading(together.title)
        (table,) = together.tables
        yield listing(table.headings, table.rows, frozenset(table.headings[1:]))
    steps = next_steps(result)
    if steps:
        yield _heading("What to do next")
        for step in steps:
            yield Text(f"{step.why}\n    {step.sql}")


def _histogram(whole: Whole) -> Iterator[RenderableType]:
    yield _heading("Class sizes by the quasi-identifiers")
    most = max(bar.people for bar in whole.sizes)
    rows = [
        (*cells, "█" * max(1, round(_BAR * bar.people / most)))
        for cells, bar in zip(size_rows(whole), whole.sizes, strict=True)
    ]
    yield listing(("class size", "classes", "people", ""), rows, frozenset({"classes", "people"}))


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>|#"})


def audit_markdown(result: AuditResult) -> str:
    """Return an audit as a Markdown document, all sets included."""
    return "\n".join(_markdown_lines(result))


def _markdown_lines(result: AuditResult) -> Iterator[str]:
    yield f"# Audit of {_plain(result.relation)}, k = {result.k}"
    yield ""
    yield f"{result.rows:,} rows, {result.people:,} people, {len(result.columns)} columns."
    yield ""
    yield f"**Who is singled out? {_plain(headline(result))}**"
    yield ""
    for sentence in sentences(result):
        yield f"- {_plain(sentence)}"
    if result.sets:
        yield from _section("Minimal sets of columns that single people out")
        yield from _table(SET_HEADINGS, (set_cells(found) for found in result.sets))
    if result.column_figures:
        yield from _section("What each column contributes")
        yield from _table(COLUMN_HEADINGS, column_rows(result))
    if result.quasi_identifiers is not None:
        yield from _section("Class sizes by the quasi-identifiers")
        yield from _table(("class size", "classes", "people"), size_rows(result.quasi_identifiers))
    for part in (risk_section(result), releases_section(result), together_section(result)):
        if part is not None:
            yield from _section(part.title)
            yield from _tables([figure.table for figure in part.figures] + list(part.tables))
    steps = next_steps(result)
    if steps:
        yield from _section("What to do next")
        for step in steps:
            yield from (f"{_plain(step.why)}", "", f"{_fence(step.sql)}sql", step.sql, _fence(step.sql), "")


def _section(title: str) -> Iterator[str]:
    yield from ("", f"## {title}", "")


def _fence(code: str) -> str:
    """Return the mark around a block: more backticks than the block has in a row."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    return "`" * max(3, longest + 1)


def _tables(tables: Iterable[Table]) -> Iterator[str]:
    for table in tables:
        yield from (f"{_plain(table.caption)}:", "")
        yield from _table(table.headings, table.rows)
        yield ""


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(headings) + " |"
    yield "|" + " --- |" * len(headings)
    for cells in rows:
        yield "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    """Return text so that Markdown shows it as it is: names of columns may contain anything."""
    return visible(text).translate(_SPECIAL)
