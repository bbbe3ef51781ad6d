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

from kanon_pg.errors import KanonError

SERVER = "Private server"
DATABASES = "Any database"
TABLES = "Tables"
RELEASES = "Releases"


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Where a command is, and what ``kanon --help`` says of it.

    Parameters
    ----------
    module : str
        Module below ``kanon_pg.cli``.
    function : str
        The function in it; its docstring is the help of the command.
    panel : str
        Heading in ``kanon --help``.
    summary : str
        First line of the docstring.
    context : dict
        Settings of click's context.
    """

    module: str
    function: str
    panel: str
    summary: str
    context: dict[str, Any] = field(default_factory=dict)


PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}

COMMANDS = {
    "up": CommandEntry("cluster", "up", SERVER, "Start the private server, ready for use; print its DSN."),
    "down": CommandEntry("cluster", "down", SERVER, "Stop the private server."),
    "status": CommandEntry("cluster", "status", SERVER, "Say whether the private server runs, and where."),
    "dsn": CommandEntry("cluster", "dsn", SERVER, "Print how to connect to the private server."),
    "psql": CommandEntry("cluster", "psql", SERVER, "Run psql on the private server.", PASS_ON),
    "demo": CommandEntry("demo", "demo", SERVER, "Show the whole story on a generated table."),
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
    "load": CommandEntry("tables", "load", TABLES, "Load a CSV file into a table."),
    "export": CommandEntry("tables", "export", TABLES, "Write a release to a CSV or Parquet file."),
    "declare": CommandEntry("release", "declare", RELEASES, "Record the roles of a table's columns."),
    "undeclare": CommandEntry("release", "undeclare", RELEASES, "Forget the roles of a table's columns."),
    "anonymize": CommandEntry("release", "anonymize", RELEASES, "Publish a k-anonymous release of a table."),
    "refresh": CommandEntry("release", "refresh", RELEASES, "Bring a release up to date with its table."),
    "drop": CommandEntry("release", "drop", RELEASES, "Remove a release; the table stays."),
    "measure": CommandEntry(
        "measure", "measure", RELEASES, "Measure how anonymous a table, view or release is."
    ),
    "curve": CommandEntry(
        "curve", "curve", RELEASES, "Show what each of several k would cost a table, with proven bounds."
    ),
    "releases": CommandEntry("release", "releases", RELEASES, "List the releases and their certificates."),
}


class CommandGroup(TyperGroup):
    """All of `COMMANDS`; errors of the package become a message and an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        """Return a command, or only its summary if it is about to be listed."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
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
            return super().invoke(ctx)
        except KanonError as error:
            typer.secho(f"error {error.sqlstate}: {error.message}", fg="red", err=True)
            for label, text in (("detail", error.detail), ("hint", error.hint)):
                if text:
                    typer.echo(f"{label}: {text}", err=True)
            raise typer.Exit(1) from error


_LISTING = "kanon_pg.cli.listing"


def loaded(name: str, entry: CommandEntry) -> TyperCommand:
    """Import a command.

    Parameters
    ----------
    name : str
        Its name on the command line.
    entry : CommandEntry
        Its entry in the table.
    """
    function = getattr(import_module(f"kanon_pg.cli.{entry.module}"), entry.function)
    single = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    single.command(name, context_settings=entry.context)(function)
    command = typer.main.get_command(single)
    assert isinstance(command, TyperCommand)  # noqa: S101  # a Typer with one function is not a group
    return command
