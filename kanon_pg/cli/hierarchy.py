"""The commands ``hierarchy build``, ``load``, ``list``, ``show``, ``missing`` and ``drop``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from kanon_pg.cli.arguments import Relation, fields_in, read_json
from kanon_pg.cli.connection import Dsn, connected, installed
from kanon_pg.cli.interfaces import opened_interface
from kanon_pg.cli.output import Json, check_plot, errors_as, listing, progress_bar, show, write_plot
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.errors import InputError, UnknownName, as_given
from kanon_pg.hierarchies import operations
from kanon_pg.hierarchies.operations import BUILD_HIERARCHY, MISSING_VALUES, tree_lines, tree_of
from kanon_pg.hierarchies.sources import read_csv
from kanon_pg.release.missing import MissingValue

Name = Annotated[str, typer.Argument(help="Name of the hierarchy.", metavar="NAME")]
Description = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What `kanon hierarchy list` says of it.")
]
Shared = Annotated[bool, typer.Option("--shared", help="Let every curator see and use it.")]


@dataclass(frozen=True, slots=True)
class HierarchyDone:
    """What was done to a hierarchy."""

    action: str
    hierarchy: str
    version: int | None = None
    """The version that was stored."""


@dataclass(frozen=True, slots=True)
class ListedHierarchy:
    """One line of ``kanon hierarchy list``: fields of ``kanon.hierarchies``."""

    hierarchy: str
    version: int
    description: str | None
    kind: str
    output: str
    height: int
    nodes: tuple[int, ...]
    shared: bool
    created_by: str
    created_at: str


def build(
    hierarchy: Name,
    relation: Relation,
    column_name: Annotated[str, typer.Argument(help="The column.", metavar="COLUMN")],
    spec: Annotated[str, typer.Argument(help="How, as JSON; @FILE reads a file.", metavar="JSON")],
    description: Description = None,
    shared: Shared = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Build a hierarchy over the values of a column, and store it.

    For example `kanon hierarchy build ages patients age '{"builder": "intervals", "width": 5}'`. Builders:
    intervals, dates, prefix, networks, classes, priority.
    """
    arguments = fields_in(BUILD_HIERARCHY, locals()) | {"options": _options(description, shared)}
    with errors_as(as_json):
        arguments["spec"] = read_json(spec, "the specification", example='{"builder": "prefix"}')
        with opened_interface(dsn) as interface, progress_bar(not as_json) as advance:
            advance("building", None)
            version = interface.build_hierarchy(arguments)
        _show_done(HierarchyDone("stored", hierarchy, version), as_json)


def load(
    hierarchy: Name,
    file: Annotated[
        Path | None, typer.Argument(help="CSV file: a value per line, then its nodes.", metavar="FILE")
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="TABLE", help="Read a table or view instead of a file.")
    ] = None,
    child: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The table's entries, if it names parents.")
    ] = None,
    parent: Annotated[str | None, typer.Option(metavar="COLUMN", help="The entries' parents.")] = None,
    repeat: Annotated[
        bool, typer.Option("--repeat", help="Entries less deep than others repeat themselves.")
    ] = False,
    inner: Annotated[
        bool, typer.Option("--inner", help="Entries with entries below them are values, too.")
    ] = False,
    delimiter: Annotated[
        str | None, typer.Option(help="Of the file; what follows level_0 in its header, else a semicolon.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the file's first line names the columns."),
    ] = None,
    description: Description = None,
    shared: Shared = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Store a hierarchy from a CSV file or a table.

    A file has the header `level_0,level_1,...`, or no header and semicolons.
    """
    with errors_as(as_json):
        of_tables = {
            "--child": child is not None,
            "--parent": parent is not None,
            "--repeat": repeat,
            "--inner": inner,
        }
        of_files = {
            "--delimiter": delimiter is not None,
            "--header": header is True,
            "--no-header": header is False,
        }
        _require_one_source(file, table, of_files, of_tables)
        options: dict[str, Any] = _options(description, shared)
        rows = None if file is None else read_csv(file, delimiter, header)
        with opened_interface(dsn) as interface, progress_bar(not as_json) as advance:
            advance("storing", None)
            arguments = {"hierarchy": hierarchy, "options": options}
            if table is None:
                version = interface.define_hierarchy({**arguments, "rows": rows})
            else:
                options |= _tree_options(child, parent, repeat, inner)
                version = interface.load_hierarchy({**arguments, "relation": table})
        _show_done(HierarchyDone("stored", hierarchy, version), as_json)


def _require_one_source(
    file: Path | None, table: str | None, of_files: dict[str, bool], of_tables: dict[str, bool]
) -> None:
    """Refuse both and none, and options that were given and are for the other one."""
    if (file is None) == (table is None):
        raise InputError("Either a file or a table is needed.", hint="Give FILE, or --table TABLE.")
    if table is None:
        _require_none(of_tables, "a file", "Leave it out, or name a table with --table in place of FILE.")
    else:
        _require_none(of_files, "a table", "Leave it out, or name FILE in place of --table.")


def list_all(dsn: Dsn = None, as_json: Json = False) -> None:
    """List the stored hierarchies."""
    with errors_as(as_json):
        with connected(dsn) as connection, installed(connection):
            found = _listed(PsycopgDatabase(connection))
        show(found, as_json, _table)


def show_one(
    hierarchy: Name,
    most: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="Nodes shown below each.")] = 10,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .svg or .pdf.")] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show a stored hierarchy as a tree, or draw it."""
    with errors_as(as_json):
        check_plot(plot)
        with connected(dsn) as connection, installed(connection):
            listed = {one.hierarchy: one for one in _listed(PsycopgDatabase(connection))}.get(hierarchy)
        if listed is None:
            raise UnknownName(
                f"There is no hierarchy {as_given(hierarchy)}.", hint="kanon hierarchy list shows them."
            )
        with opened_interface(dsn) as interface:
            top = tree_of(interface.hierarchy_content(hierarchy), listed.output)
        if plot is not None:
            from kanon_pg.reports.plots import draw_hierarchy

            write_plot(draw_hierarchy(top, f"{hierarchy}, version {listed.version}"), plot)
        show(top, as_json, lambda tree: Text("\n".join(tree_lines(tree, most))))


def list_missing(
    hierarchy: Name,
    relation: Relation,
    column_name: Annotated[str, typer.Argument(help="The column.", metavar="COLUMN")],
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List the values of a column that a stored hierarchy lacks, with the rows that have them."""
    with errors_as(as_json):
        with opened_interface(dsn) as interface:
            found = interface.missing_values(fields_in(MISSING_VALUES, locals()))
        show(found, as_json, _missing_table)


def _missing_table(found: tuple[MissingValue, ...]) -> Table | str:
    if not found:
        return "It lacks none."
    return listing(("value", "rows"), [(one.value, f"{one.rows:,}") for one in found], frozenset({"rows"}))


def drop(hierarchy: Name, dsn: Dsn = None, as_json: Json = False) -> None:
    """Forget a stored hierarchy; releases made with it stay.

    All its versions are forgotten.
    """
    with errors_as(as_json):
        with opened_interface(dsn) as interface:
            interface.run("kanon_hierarchy_drop", hierarchy)
        _show_done(HierarchyDone("dropped", hierarchy), as_json)


def _listed(db: PsycopgDatabase) -> list[ListedHierarchy]:
    return [ListedHierarchy(**{**row, "nodes": tuple(row["nodes"])}) for row in operations.hierarchies(db)]


def _table(found: list[ListedHierarchy]) -> Table | str:
    if not found:
        return "There are no hierarchies yet; `kanon hierarchy build` and `kanon hierarchy load` store one."
    rows = [
        (
            one.hierarchy,
            str(one.version),
            one.kind,
            one.output,
            " > ".join(f"{count:,}" for count in one.nodes),
            "everybody" if one.shared else one.created_by,
            one.created_at[:16],
            one.description or "",
        )
        for one in found
    ]
    headings = ("hierarchy", "version", "kind", "output", "nodes per level", "for", "stored", "description")
    return listing(headings, rows, frozenset({"version"}))


def _show_done(done: HierarchyDone, as_json: bool) -> None:
    version = "" if done.version is None else f", version {done.version}"
    show(done, as_json, lambda one: f"{one.action} {one.hierarchy}{version}")


def _require_none(given: dict[str, bool], source: str, hint: str) -> None:
    """Refuse options that were given though they say nothing about what the hierarchy is read from."""
    options = [option for option, is_given in given.items() if is_given]
    if options:
        raise InputError(f"With {source}, {' and '.join(options)} would have no effect.", hint=hint)


def _options(description: str | None, shared: bool) -> dict[str, Any]:
    return {"description": description, "shared": shared}


def _tree_options(child: str | None, parent: str | None, repeat: bool, inner: bool) -> dict[str, Any]:
    given = {
        "child": child,
        "parent": parent,
        "uneven": "repeat" if repeat else None,
        "values": "all" if inner else None,
    }
    return {key: one for key, one in given.items() if one is not None}
