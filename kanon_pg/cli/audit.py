"""The commands ``audit`` and ``suggest``: which columns single people out, which roles they should have.

``audit --html`` writes a page about it, for which the curve and proposed roles are computed as well. In a
terminal, and as Markdown for tickets and pull requests, sentences come first, then the tables behind them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kanon_pg import client
from kanon_pg.audit.findings import AuditResult, CombinedClasses, Suggestion, ViolatingSet
from kanon_pg.audit.request import AUDIT, SUGGEST
from kanon_pg.audit.sentences import headline, next_steps, sentences
from kanon_pg.cli import markdown
from kanon_pg.cli.arguments import AnyRelation, Relation, column_option, fields_in, k_option
from kanon_pg.cli.connection import Dsn, answer_of, connected
from kanon_pg.cli.interfaces import ServerInterface
from kanon_pg.cli.output import Json, errors_as, listing, note, progress_bar, show, with_notes
from kanon_pg.client import Progress
from kanon_pg.curves import DEFAULT_KS, Curve
from kanon_pg.db.psycopg_adapter import Connection
from kanon_pg.errors import InputError, KanonError
from kanon_pg.relations.arguments import DEFAULT_SECONDS
from kanon_pg.release.compare.composition import MOST, Composition
from kanon_pg.reports.costs import releases_section, together_section
from kanon_pg.reports.risk import risk_section
from kanon_pg.tables.complete_file import complete_or_absent

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


def size_rows(whole: CombinedClasses) -> list[tuple[str, ...]]:
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
    if together is not None and together.tables:
        yield _heading(together.title)
        (table,) = together.tables
        yield listing(table.headings, table.rows, frozenset(table.headings[1:]))
    steps = [*next_steps(result)]
    if steps:
        yield _heading("What to do next")
        for step in steps:
            yield Text(f"{step.why}\n    {step.sql}")


def _histogram(whole: CombinedClasses) -> Iterator[RenderableType]:
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


def audit_markdown(result: AuditResult) -> str:
    """Return an audit as a Markdown document, all sets included."""
    return "\n".join(_markdown_lines(result))


def _markdown_lines(result: AuditResult) -> Iterator[str]:
    yield f"# Audit of {markdown.plain(result.relation)}, k = {result.k}"
    yield ""
    yield f"{result.rows:,} rows, {result.people:,} people, {len(result.columns)} columns."
    yield ""
    yield f"**Who is singled out? {markdown.plain(headline(result))}**"
    yield ""
    for sentence in sentences(result):
        yield f"- {markdown.plain(sentence)}"
    if result.sets:
        yield from markdown.heading("Minimal sets of columns that single people out")
        yield from markdown.table(SET_HEADINGS, (set_cells(found) for found in result.sets))
    if result.column_figures:
        yield from markdown.heading("What each column contributes")
        yield from markdown.table(COLUMN_HEADINGS, column_rows(result))
    if result.quasi_identifiers is not None:
        yield from markdown.heading("Class sizes by the quasi-identifiers")
        yield from markdown.table(("class size", "classes", "people"), size_rows(result.quasi_identifiers))
    for part in (risk_section(result), releases_section(result), together_section(result)):
        if part is not None:
            yield from markdown.heading(part.title)
            if not (part.figures or part.tables):
                yield from map(markdown.plain, part.sentences)
            yield from markdown.tables([figure.table for figure in part.figures] + list(part.tables))
    steps = [*next_steps(result)]
    if steps:
        yield from markdown.heading("What to do next")
        for step in steps:
            yield from (
                f"{markdown.plain(step.why)}",
                "",
                f"{markdown.fence(step.sql)}sql",
                step.sql,
                markdown.fence(step.sql),
                "",
            )


GATE_EXIT_CODE = 4
"""Exit code if the condition of ``--fail-on`` holds."""

_CONDITION = re.compile(r"\s*k\s*<\s*(\d{1,9})\s*")
_SUGGESTION_HEADINGS = ("column", "role", "values", "unique", "missing", "hierarchy", "because")


K = Annotated[
    int | None,
    k_option("Fewest people that may share their values; that of --fail-on."),
]
Columns = Annotated[
    list[str] | None,
    column_option("--column", "What to audit, in place of all but identifiers."),
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

    Needs the right to read the table, changes nothing, and shows counts and column names only. Without a
    declaration all columns are audited, except single-column keys. `--fail-on` counts by the given columns,
    else the declared quasi-identifiers (all audited columns without a declaration): exit code 4 if the
    condition holds.
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
            report_progress = with_notes(advance)
            found = client.audit(connection, on_progress=report_progress, **arguments)
            found = _with_comparison(connection, found)
            fails = least is not None and not client.is_anonymous(connection, relation, least, columns)
            if html is not None:
                page = page_of(
                    connection, found, with_curve=curve, time_limit=time_limit, on_progress=report_progress
                )
                write_page(page, html)
                note(f"the page is in {html}")
        _show_audit(found, markdown, as_json)
        if fails:
            note(f"k < {least}: some combination of values is shared by fewer than {least} people")
            raise typer.Exit(GATE_EXIT_CODE)


def _show_audit(found: AuditResult, markdown: bool, as_json: bool) -> None:
    if markdown and not as_json:
        typer.echo(audit_markdown(found))
    else:
        show(found, as_json, audit_view)


def suggest(
    relation: Relation,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="For counting.")] = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Propose a role for each column of a table, with reasons.

    Looks at keys, types, names, values and statistics, such as columns that tell the value of others.
    Declares nothing: the statement that would is printed beside.
    """
    arguments = fields_in(SUGGEST, locals())
    with errors_as(as_json):
        found = answer_of(client.suggest, dsn, as_json, arguments)
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
            "" if one.hierarchy is None else json.dumps(one.hierarchy),
            " ".join(one.reasons),
        )
        for one in found
    ]
    return listing(_SUGGESTION_HEADINGS, rows, frozenset({"values", "unique", "missing"}))


def _with_comparison(connection: Connection, found: AuditResult) -> AuditResult:
    """Return an audit with what the releases disclose together, or with the reason why that is not known.

    If one release cannot be compared with the others, those are.
    """
    names = [one.release for one in found.releases]
    if len(names) < 2:
        return found
    unchecked = [f"No more than {MOST} releases are compared."] if len(names) > MOST else []
    names = names[:MOST]
    refusals: list[str] = []
    without_one = [[name for name in names if name != left_out] for left_out in reversed(names)]
    for compared in (names, *(without_one if len(names) > 2 else ())):
        together = _together(connection, compared)
        if not isinstance(together, KanonError):
            return replace(found, together=together, unchecked=(*found.unchecked, *unchecked, *refusals[:1]))
        refusals.append(f"The releases could not be compared: {together.message}")
    note(f"it is not shown what the releases disclose together: {refusals[0]}")
    return replace(found, unchecked=(*found.unchecked, *unchecked, refusals[0]))


def _together(connection: Connection, names: Sequence[str]) -> tuple[Composition, ...] | KanonError:
    """Return what some releases disclose together, or why nothing says it: the functions, or the client."""
    refusal: KanonError | None = None
    for is_first in (True, False):
        try:
            if is_first:
                asked = {"releases": names, "k": None}
                return ServerInterface(connection).composition(asked, lambda _phase, _share: None)
            return client.composition(connection, names)
        except KanonError as error:
            refusal = refusal or error
        finally:
            # the client's operations, the next ones here, begin a transaction of their own
            connection.rollback()
    assert refusal is not None  # noqa: S101 - both refused
    return refusal


_CURVE_SHARE = 1 / 3
"""What a curve may take in addition, as a share of the time limit."""


def check_page(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is counted."""
    if not path.parent.is_dir():
        raise InputError("The page's folder does not exist.", hint="Make it first.")
    if path.is_dir():
        raise InputError("The page's name is that of a folder.", hint="Name a file in it.")


def page_of(
    connection: Connection,
    found: AuditResult,
    *,
    with_curve: bool,
    time_limit: float,
    on_progress: Progress,
) -> str:
    """Return the page of an audit.

    A third of the time limit is for the curve, all of it for suggesting roles if none are declared.
    """
    from kanon_pg.reports.assemble import report
    from kanon_pg.reports.document import html_page

    suggestions = _suggestions(connection, found, time_limit)
    curve, refusal = _curve(connection, found, time_limit, on_progress) if with_curve else (None, None)
    if refusal is not None:
        found = replace(found, unchecked=(*found.unchecked, refusal))
    return html_page(report(found, curve=curve, suggestions=suggestions, made=datetime.now(UTC)))


def _curve(
    connection: Connection, found: AuditResult, time_limit: float, on_progress: Progress
) -> tuple[Curve | None, str | None]:
    """Return what each k would cost, None for a release; or why that is not known."""
    ks = sorted({k for k in (*DEFAULT_KS, found.k) if k <= found.people})
    if found.release is not None or not ks:
        return None, None
    try:
        curve = client.curve(
            connection,
            found.relation,
            ks,
            time_limit=time_limit * _CURVE_SHARE,
            on_progress=on_progress,
        )
    except KanonError as error:
        note(f"the page does not show what each k would cost: {error.message}")
        return None, f"What each k would cost could not be counted: {error.message}"
    return curve, None


def _suggestions(connection: Connection, found: AuditResult, time_limit: float) -> tuple[Suggestion, ...]:
    """Return proposed roles, unless columns have roles or it is not known whether they have."""
    if not found.column_figures or any(column.role is not None for column in found.column_figures):
        return ()
    return client.suggest(connection, found.relation, time_limit=time_limit)


def write_page(page: str, path: Path) -> None:
    """Write a page to a file; one that exists is replaced."""
    with complete_or_absent(path, "The page") as file:
        file.write(page.encode())
