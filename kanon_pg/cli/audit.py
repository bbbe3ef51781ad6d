"""The commands ``audit`` and ``suggest``: which columns single people out, which roles they should have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kanon_pg import client
from kanon_pg.audit.findings import AuditResult, Suggestion
from kanon_pg.audit.request import AUDIT
from kanon_pg.cli.arguments import AnyRelation, Relation, column_list, fields_in
from kanon_pg.cli.audit_page import check_page, page_of, write_page
from kanon_pg.cli.connection import Dsn, connected
from kanon_pg.cli.output import Json, errors_as, listing, note, progress_bar, show, with_notes
from kanon_pg.errors import InputError
from kanon_pg.release.request import DEFAULT_SECONDS

GATE_EXIT_CODE = 4
"""Exit code if the condition of ``--fail-on`` holds."""

_CONDITION = re.compile(r"\s*k\s*<\s*(\d{1,9})\s*")
_SUGGESTION_HEADINGS = ("column", "role", "values", "unique", "missing", "because")


K = Annotated[
    int | None,
    typer.Option("-k", metavar="K", help="Fewest people that may share their values; that of --fail-on."),
]
Columns = Annotated[
    list[str] | None,
    column_list("--column", "What to audit, in place of all but identifiers."),
]
MostColumns = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="Most columns of a set; any number unless given.")
]
TimeLimit = Annotated[
    float, typer.Option(metavar="SECONDS", help="What is not proven by then is said to be open.")
]
FailOn = Annotated[
    str | None,
    typer.Option(
        metavar="'k<K'", help="Exit with code 4 if fewer than K people share their quasi-identifiers, for CI."
    ),
]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
Html = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write one self-contained page: drawings, tables, next steps."),
]
WithCurve = Annotated[
    bool,
    typer.Option(
        "--curve/--no-curve", help="Show on the page what each k costs; a third of the time limit more."
    ),
]


def audit(
    relation: AnyRelation,
    k: K = None,
    columns: Columns = None,
    max_columns: MostColumns = None,
    time_limit: TimeLimit = DEFAULT_SECONDS,
    fail_on: FailOn = None,
    markdown: Markdown = False,
    html: Html = None,
    curve: WithCurve = True,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Find every minimal set of columns that singles people out.

    Needs no more than the right to read the table; works also where kanon is not installed; changes
    nothing and shows counts and column names only. Without a declaration all columns are audited, except
    single-column keys. `--fail-on` judges the given columns, else the declared quasi-identifiers (all
    audited columns without a declaration): exit code 4 if the condition holds.
    """
    arguments = fields_in(AUDIT, locals()) | {"details": True}
    with errors_as(as_json):
        least = None if fail_on is None else _least(fail_on)
        arguments["k"] = k if k is not None else least
        if arguments["k"] is None:
            raise InputError("k is missing.", hint="For example: kanon audit patients -k 5")
        if html is not None:
            check_page(html)
        with connected(dsn) as connection, progress_bar(not as_json) as advance:
            hear = with_notes(advance)
            found = client.audit(connection, on_progress=hear, **arguments)
            fails = least is not None and not client.is_anonymous(connection, relation, least, columns)
            if html is not None:
                page = page_of(connection, found, with_curve=curve, time_limit=time_limit, on_progress=hear)
                write_page(page, html)
                note(f"the page is in {html}")
        _show_audit(found, markdown, as_json)
        if fails:
            note(f"k < {least}: some combination of values is shared by fewer than {least} people")
            raise typer.Exit(GATE_EXIT_CODE)


def _show_audit(found: AuditResult, markdown: bool, as_json: bool) -> None:
    if markdown and not as_json:
        from kanon_pg.cli.audit_markdown import audit_markdown

        typer.echo(audit_markdown(found))
    else:
        from kanon_pg.cli.audit_view import audit_view

        show(found, as_json, audit_view)


def suggest(
    relation: Relation,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="For counting.")] = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Propose a role for each column of a table, with reasons.

    Looks at keys, types, names and statistics, such as columns that tell the value of others. Declares
    nothing: the statement that would is printed beside.
    """
    with errors_as(as_json):
        with connected(dsn) as connection, progress_bar(not as_json) as advance:
            found = client.suggest(
                connection, relation, time_limit=time_limit, on_progress=with_notes(advance)
            )
        show(found, as_json, _suggestion_table)


def _least(condition: str) -> int:
    match = _CONDITION.fullmatch(condition)
    if match is None:
        raise InputError("--fail-on is not a condition that is known.", hint="For example: --fail-on 'k<5'")
    return int(match[1])


def _suggestion_table(found: tuple[Suggestion, ...]) -> Table:
    rows = [
        (
            one.column,
            one.role.replace("_", "-"),
            "" if one.distinct_values is None else f"{one.distinct_values:,}",
            "" if one.unique_values is None else f"{one.unique_values:,}",
            f"{one.missing:.1%}",
            " ".join(one.reasons),
        )
        for one in found
    ]
    return listing(_SUGGESTION_HEADINGS, rows, frozenset({"values", "unique", "missing"}))
