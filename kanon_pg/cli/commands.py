"""The table of commands, and a group that imports a command's module only when it runs.

``kanon --help`` is read far more often than any one command runs, and database drivers and solvers take
their time to import.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from kanon_pg.cli.failures import known_errors
from kanon_pg.errors import KanonError

SERVER = "Private server"
DATABASES = "Any database"
TABLES = "Tables"
RELEASES = "Releases"
HIERARCHIES = "Hierarchies"
GROUPS = "Groups of one column"
QUERIES = "Queries"


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Where a command is, and what ``kanon --help`` says of it.

    Parameters
    ----------
    module : str
        Module below ``kanon_pg.cli``.
    function : str
        The function in it; its docstring is the help of the command.
    """

    module: str
    function: str
    panel: str
    summary: str
    context: dict[str, Any] = field(default_factory=dict)


INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the number of the signal."""

PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}

COMMANDS = {
    "up": CommandEntry("cluster", "up", SERVER, "Start the private server, ready for use; print its DSN."),
    "down": CommandEntry("cluster", "down", SERVER, "Stop the private server."),
    "status": CommandEntry("cluster", "status", SERVER, "Say whether the private server runs, and where."),
    "dsn": CommandEntry("cluster", "dsn", SERVER, "Print how to connect to the private server."),
    "psql": CommandEntry("cluster", "psql", SERVER, "Run psql on the private server.", PASS_ON),
    "demo": CommandEntry(
        "demo", "demo", SERVER, "Show what kanon_pg does, step by step, on a generated table."
    ),
    "install": CommandEntry(
        "install", "install", DATABASES, "Install kanon into a database, or bring it up to date."
    ),
    "uninstall": CommandEntry(
        "install",
        "uninstall",
        DATABASES,
        "Remove kanon from a database with all releases; your own tables stay.",
    ),
    "check": CommandEntry(
        "install",
        "check",
        DATABASES,
        "Prove that everything works in a database, in seconds; leaves nothing behind.",
    ),
    "extension install": CommandEntry(
        "install",
        "install_extension",
        DATABASES,
        "Write the files of the extension kanon_pg into a server's folder, for CREATE EXTENSION.",
    ),
    "compile": CommandEntry(
        "install",
        "compile_",
        DATABASES,
        "Compile the solvers, once for every account of this machine.",
    ),
    "gateway": CommandEntry(
        "queries",
        "gateway",
        DATABASES,
        "Let any PostgreSQL client ask about protected tables, through a checked connection.",
    ),
    "load": CommandEntry("tables", "load", TABLES, "Load a CSV file into a table."),
    "export": CommandEntry("tables", "export", TABLES, "Write a release to a CSV or Parquet file."),
    "suggest": CommandEntry(
        "audit", "suggest", RELEASES, "Propose a role for each column of a table, with reasons."
    ),
    "declare": CommandEntry("release", "declare", RELEASES, "Record the roles of a table's columns."),
    "undeclare": CommandEntry("release", "undeclare", RELEASES, "Forget the roles of a table's columns."),
    "link": CommandEntry(
        "release", "link", RELEASES, "Say that the rows of one table belong to the people of another."
    ),
    "unlink": CommandEntry(
        "release", "unlink", RELEASES, "Forget whose people the rows of a table belong to."
    ),
    "links": CommandEntry("release", "links", RELEASES, "List the links between tables."),
    "anonymize": CommandEntry("release", "anonymize", RELEASES, "Publish a k-anonymous release of a table."),
    "refresh": CommandEntry("release", "refresh", RELEASES, "Bring a release up to date with its table."),
    "drop": CommandEntry("release", "drop", RELEASES, "Remove a release; the table stays."),
    "audit": CommandEntry(
        "audit", "audit", RELEASES, "Find every minimal set of columns that singles people out."
    ),
    "risk": CommandEntry(
        "analyses", "risk", RELEASES, "Say how likely people are found again in a table and in its releases."
    ),
    "identify": CommandEntry(
        "analyses", "identify", RELEASES, "Find few columns that tell rows apart as well as all columns do."
    ),
    "measure": CommandEntry(
        "analyses", "measure", RELEASES, "Measure how anonymous a table, view or release is."
    ),
    "curve": CommandEntry(
        "analyses", "curve", RELEASES, "Show what each of several k would cost a table, with proven bounds."
    ),
    "releases": CommandEntry("release", "releases", RELEASES, "List the releases and their certificates."),
    "composition": CommandEntry(
        "release",
        "composition",
        RELEASES,
        "Say what several releases of a table, put side by side, tell about people.",
    ),
    "certificate": CommandEntry(
        "release",
        "certificate",
        RELEASES,
        "Write what proves the bound of a release, without values, to a file.",
    ),
    "hierarchy build": CommandEntry(
        "hierarchy", "build", HIERARCHIES, "Build a hierarchy over the values of a column, and store it."
    ),
    "hierarchy load": CommandEntry(
        "hierarchy", "load", HIERARCHIES, "Store a hierarchy from a CSV file or a table."
    ),
    "hierarchy list": CommandEntry("hierarchy", "list_all", HIERARCHIES, "List the stored hierarchies."),
    "hierarchy show": CommandEntry(
        "hierarchy", "show_one", HIERARCHIES, "Show a stored hierarchy as a tree, or draw it."
    ),
    "hierarchy drop": CommandEntry(
        "hierarchy", "drop", HIERARCHIES, "Forget a stored hierarchy; releases made with it stay."
    ),
    "group intervals": CommandEntry(
        "analyses",
        "intervals",
        GROUPS,
        "Group the values of an ordered column into intervals, at the least cost there is.",
    ),
    "group labels": CommandEntry("analyses", "labels", GROUPS, "Group the values of a column without order."),
    "group regions": CommandEntry(
        "analyses", "regions", GROUPS, "Group the values of a column into regions of neighbours."
    ),
    "group rectangles": CommandEntry(
        "analyses", "rectangles", GROUPS, "Group points into rectangles that do not overlap."
    ),
    "query": CommandEntry("queries", "query", QUERIES, "Ask about protected tables."),
    "check-query": CommandEntry(
        "queries",
        "check_query",
        QUERIES,
        "Say whether a query is accepted, and mark what is wrong with it.",
    ),
}


class CommandGroup(TyperGroup):
    """All of `COMMANDS`; errors of the package become a message and an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | TyperGroup | None:
        """Return a command, or only its summary if it is about to be listed."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return _family(cmd_name)
        if ctx.meta.get(_LISTING):
            return TyperCommand(cmd_name, help=entry.summary, rich_help_panel=entry.panel)
        return loaded(cmd_name, entry)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the whole program without importing the commands."""
        ctx.meta[_LISTING] = True
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; turn a refusal into its text on standard error and exit code 1."""
        try:
            with known_errors():
                return super().invoke(ctx)
        except KanonError as error:
            typer.secho(f"error {error.sqlstate}: {error.message}", fg="red", err=True)
            for label, text in (("detail", error.detail), ("hint", error.hint)):
                if text:
                    typer.echo(f"{label}: {text}", err=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


_LISTING = "kanon_pg.cli.listing"


class CommandFamily(TyperGroup):
    """The commands of two words whose first is the same; its name is that word."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the second words in the order of the table."""
        return [name.removeprefix(f"{self.name} ") for name in COMMANDS if name.startswith(f"{self.name} ")]

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        """Return a command by its second word."""
        entry = COMMANDS.get(f"{self.name} {cmd_name}")
        return None if entry is None else loaded(cmd_name, entry)


def _family(word: str) -> CommandFamily | None:
    members = [entry for name, entry in COMMANDS.items() if name.startswith(f"{word} ")]
    if not members:
        return None
    return CommandFamily(name=word, help=f"{members[0].panel}.", no_args_is_help=True)


def loaded(name: str, entry: CommandEntry) -> TyperCommand:
    """Import a command."""
    function = getattr(import_module(f"kanon_pg.cli.{entry.module}"), entry.function)
    single = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    single.command(name, context_settings=entry.context)(function)
    command = typer.main.get_command(single)
    assert isinstance(command, TyperCommand)  # noqa: S101  # a Typer with one function is not a group
    return command
