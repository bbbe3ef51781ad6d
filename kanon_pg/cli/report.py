"""The command ``report``: what a release keeps of its table, for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from kanon_pg.before_after.request import RELEASE_REPORT
from kanon_pg.cli import markdown as markdown_document
from kanon_pg.cli.arguments import Release, fields_in
from kanon_pg.cli.audit import Markdown, check_page, write_page
from kanon_pg.cli.connection import Dsn
from kanon_pg.cli.interfaces import opened_interface
from kanon_pg.cli.output import Json, errors_as, lay_out, listing, note, progress_bar
from kanon_pg.relations.arguments import DEFAULT_SECONDS
from kanon_pg.reports.document import Document, html_page
from kanon_pg.reports.release import release_page


def report(
    release: Release,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one self-contained page with charts.")
    ] = None,
    markdown: Markdown = False,
    curve: Annotated[
        bool, typer.Option("--curve", help="Find out what other k would cost; takes the time limit.")
    ] = False,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="For the search for solutions of other k.")
    ] = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Say what a release keeps of its table, before and after.

    What is guaranteed and what is not; what became of each column; class sizes; risk; associations; errors of
    counts; what is proven. Needs the right to read the table. Shows no value and no count of fewer than k
    people.
    """
    arguments = fields_in(RELEASE_REPORT, locals())
    with errors_as(as_json):
        if html is not None:
            check_page(html)
        with opened_interface(dsn) as interface, progress_bar(not as_json) as advance:
            found = interface.release_report(arguments, advance)
        page = release_page(found, made=datetime.now(UTC))
        if html is not None:
            write_page(html_page(page), html)
            note(f"the page is in {html}")
        if as_json:
            typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        elif markdown:
            typer.echo(markdown_document.page(page))
        elif html is None:
            lay_out(report_view(page))


def report_view(page: Document) -> Group:
    """Lay out a report for a terminal: its sentences and tables."""
    return Group(*_parts(page))


def _parts(page: Document) -> Iterator[RenderableType]:
    yield Text(page.verdict, style="bold")
    yield Text(f"{page.subtitle}\n")
    for sentence in page.sentences:
        yield Text(f"- {sentence}")
    for section in page.sections:
        yield Text(f"\n{section.title}", style="bold")
        for sentence in section.sentences:
            yield Text(sentence)
        for table in (*(figure.table for figure in section.figures), *section.tables):
            yield Text(f"\n{table.caption}", style="italic")
            yield listing(table.headings, table.rows, frozenset(table.headings[table.texts :]))
    yield Text(f"\n{page.made}", style="dim")
