"""The command ``kanon``: the same services as in SQL, for a shell.

Exit codes: 0 done; 1 refused or failed, with the reason on standard error; 2 wrong usage; 3 from
``kanon status``: the private server is not running; 4 from ``kanon audit --fail-on``: the condition holds,
and from ``kanon policy apply --check``: something differs; 130 interrupted.
"""

from __future__ import annotations

from typing import Annotated

import typer

from kanon_pg import __version__
from kanon_pg.cli.commands import CommandGroup

app = typer.Typer(
    cls=CommandGroup,
    name="kanon",
    help="k-anonymity enforced inside PostgreSQL.",
    epilog="Exit codes: 0 done; 1 refused or failed, with the reason on standard error; 2 wrong usage; "
    "3 from `kanon status`: the private server is not running; 4 from `kanon audit --fail-on`: the condition "
    "holds, and from `kanon policy apply --check`: something differs; 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    # a traceback with local variables could show values of the data
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def kanon(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """k-anonymity enforced inside PostgreSQL."""
