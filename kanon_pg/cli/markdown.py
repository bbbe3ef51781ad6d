"""Markdown for tickets and pull requests; names and values stay what they are in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kanon_pg.reports.document import Document, Table, visible

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>|#"})


def page(document: Document) -> str:
    """Return a report as Markdown."""
    return "\n".join(_lines(document))


def _lines(document: Document) -> Iterator[str]:
    yield from (f"# {plain(document.title)}", "", plain(document.subtitle), "")
    yield from (f"**{plain(document.verdict)}**", "")
    yield from (f"- {plain(sentence)}" for sentence in document.sentences)
    yield from ("", plain(document.advice))
    for section in document.sections:
        yield from heading(section.title)
        for sentence in section.sentences:
            yield from (plain(sentence), "")
        yield from tables([figure.table for figure in section.figures] + list(section.tables))
    yield plain(document.made)


def heading(title: str) -> Iterator[str]:
    """Yield the lines of a heading."""
    yield from ("", f"## {plain(title)}", "")


def fence(code: str) -> str:
    """Return the mark around a block: more backticks than the block has in a row."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    return "`" * max(3, longest + 1)


def tables(some: Iterable[Table]) -> Iterator[str]:
    """Yield the lines of tables with their captions."""
    for one in some:
        yield from (f"{plain(one.caption)}:", "")
        yield from table(one.headings, one.rows)
        yield ""
        if one.note:
            yield from (plain(one.note), "")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| " + " | ".join(headings) + " |"
    yield "|" + " --- |" * len(headings)
    for cells in rows:
        yield "| " + " | ".join(plain(cell) for cell in cells) + " |"


def plain(text: str) -> str:
    """Return text so that Markdown shows it as it is: names of columns may contain anything."""
    return visible(text).translate(_SPECIAL)
