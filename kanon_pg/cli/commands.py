"""The table of commands, and a group that imports a command's module only when it runs.

``kanon --help`` is read far more often than any one command runs, and database drivers and solvers take
their time to import.
"""

from __future__ import annotations

import gc
import re
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import get_data
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
POLICY = "Policy as a file"
MONITORING = "Monitoring"
GROUPS = "Groups of one column"
QUERIES = "Queries"


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Where a command is, and what ``kanon --help`` says of it."""

    module: str
    """Module below ``kanon_pg.cli``."""
    function: str
    """The function in it; its docstring is the help of the command."""
    panel: str
    """Heading under which it is listed."""
    context: dict[str, Any] = field(default_factory=dict)
    """Settings of Click."""
    work: str = ""
    """What its own worker has to do, as `kanon_pg.runner.launch` names it; empty without one."""

    @property
    def summary(self) -> str:
        """The first line of the docstring, read without importing the module."""
        source = get_data("kanon_pg.cli", f"{self.module}.py") or b""
        head = re.search(
            rf'^def {self.function}\(.*?"""(.+?)(?:"""|\n)', source.decode(), re.DOTALL | re.MULTILINE
        )
        return head[1] if head else ""


INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the number of the signal."""

PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}

COMMANDS = {
    "up": CommandEntry("cluster", "up", SERVER),
    "down": CommandEntry("cluster", "down", SERVER),
    "status": CommandEntry("cluster", "status", SERVER),
    "dsn": CommandEntry("cluster", "dsn", SERVER),
    "psql": CommandEntry("cluster", "psql", SERVER, PASS_ON),
    "demo": CommandEntry("demo", "demo", SERVER),
    "install": CommandEntry("install", "install", DATABASES),
    "uninstall": CommandEntry("install", "uninstall", DATABASES),
    "check": CommandEntry("install", "check", DATABASES),
    "extension install": CommandEntry("install", "install_extension", DATABASES),
    "compile": CommandEntry("install", "compile_", DATABASES),
    "gateway": CommandEntry("serving", "gateway", DATABASES),
    "load": CommandEntry("tables", "load", TABLES),
    "export": CommandEntry("tables", "export", TABLES),
    "dump": CommandEntry("dump", "dump", TABLES),
    "suggest": CommandEntry("audit", "suggest", RELEASES),
    "declare": CommandEntry("release", "declare", RELEASES),
    "undeclare": CommandEntry("release", "undeclare", RELEASES),
    "link": CommandEntry("release", "link", RELEASES),
    "unlink": CommandEntry("release", "unlink", RELEASES),
    "links": CommandEntry("release", "links", RELEASES),
    "anonymize": CommandEntry("release", "anonymize", RELEASES),
    "refresh": CommandEntry("release", "refresh", RELEASES),
    "erase": CommandEntry("release", "erase", RELEASES),
    "drop": CommandEntry("release", "drop", RELEASES),
    "audit": CommandEntry("audit", "audit", RELEASES, work="AUDITOR"),
    "risk": CommandEntry("analyses", "risk", RELEASES, work="AUDITOR"),
    "identify": CommandEntry("analyses", "identify", RELEASES, work="AUDITOR"),
    "measure": CommandEntry("analyses", "measure", RELEASES),
    "curve": CommandEntry("analyses", "curve", RELEASES, work="SOLVER"),
    "releases": CommandEntry("release", "releases", RELEASES),
    "report": CommandEntry("report", "report", RELEASES),
    "composition": CommandEntry("release", "composition", RELEASES),
    "certificate": CommandEntry("release", "certificate", RELEASES),
    "policy export": CommandEntry("policy", "export", POLICY),
    "policy apply": CommandEntry("policy", "apply", POLICY),
    "policy schema": CommandEntry("policy", "print_schema", POLICY),
    "health": CommandEntry("monitor", "health", MONITORING),
    "history": CommandEntry("monitor", "history", MONITORING),
    "metrics": CommandEntry("monitor", "metrics", MONITORING),
    "hierarchy build": CommandEntry("hierarchy", "build", HIERARCHIES),
    "hierarchy load": CommandEntry("hierarchy", "load", HIERARCHIES),
    "hierarchy list": CommandEntry("hierarchy", "list_all", HIERARCHIES),
    "hierarchy show": CommandEntry("hierarchy", "show_one", HIERARCHIES),
    "hierarchy missing": CommandEntry("hierarchy", "list_missing", HIERARCHIES),
    "hierarchy drop": CommandEntry("hierarchy", "drop", HIERARCHIES),
    "group intervals": CommandEntry("analyses", "intervals", GROUPS, work="GROUPER"),
    "group labels": CommandEntry("analyses", "labels", GROUPS, work="GROUPER"),
    "group regions": CommandEntry("analyses", "regions", GROUPS, work="GROUPER"),
    "group rectangles": CommandEntry("analyses", "rectangles", GROUPS, work="GROUPER"),
    "protect": CommandEntry("protection", "protect", QUERIES),
    "unprotect": CommandEntry("protection", "unprotect", QUERIES),
    "query": CommandEntry("queries", "query", QUERIES),
    "check-query": CommandEntry("queries", "check_query", QUERIES),
    "mcp": CommandEntry("serving", "mcp", QUERIES),
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
    """Import a command, while its worker loads libraries, too."""
    if entry.work:
        # most commands need neither
        from kanon_pg.runner import launch
        from kanon_pg.runner.solver_session import solver_session

        with suppress(KanonError):  # it is tried again for its work, in which errors reach the user
            solver_session.start(prepared=getattr(launch, entry.work))
    # what is imported stays: a seventh of the time would go into looking for garbage among it
    gc.disable()
    function = getattr(import_module(f"kanon_pg.cli.{entry.module}"), entry.function)
    gc.freeze()
    gc.enable()
    single = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    single.command(name, context_settings=entry.context)(function)
    command = typer.main.get_command(single)
    assert isinstance(command, TyperCommand)  # noqa: S101  # a Typer with one function is not a group
    return command
