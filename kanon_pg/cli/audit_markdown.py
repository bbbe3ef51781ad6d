"""An audit as Markdown, for tickets, wikis and pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kanon_pg.audit.findings import AuditResult
from kanon_pg.audit.sentences import headline, next_steps, sentences
from kanon_pg.cli.audit_view import COLUMN_HEADINGS, SET_HEADINGS, column_rows, set_cells, size_rows
from kanon_pg.reports.costs import releases_section
from kanon_pg.reports.document import Table
from kanon_pg.reports.risk import risk_section
from kanon_pg.reports.wording import visible

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>|#"})


def audit_markdown(result: AuditResult) -> str:
    """Return an audit as a Markdown document, all sets included.

    Parameters
    ----------
    result : AuditResult
        With or without details.
    """
    return "\n".join(_lines(result))


def _lines(result: AuditResult) -> Iterator[str]:
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
    for part in (risk_section(result), releases_section(result)):
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
