"""The command ``demo``: what kanon_pg does, step by step, on the private server."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from kanon_pg.admin.cluster import DEFAULT_NAME, Cluster
from kanon_pg.admin.demo.patients import create_patients, patients
from kanon_pg.admin.demo.story import ANALYST, READER, Actors, Exchange, Psql, Scene, scenes
from kanon_pg.admin.install.installer import install
from kanon_pg.cli.install import compiled_ahead
from kanon_pg.cli.output import Json, console_up_to, errors_as, note, show
from kanon_pg.core.solving import DEMO_KERNELS
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, connected
from kanon_pg.db.statements import statement

DATABASE = "kanon_demo"
"""The demo's own database; made anew each time."""

_WIDTH = 100

_NEXT = """
Look around yourself:     {kanon} psql {database}
Explain every function:   SELECT * FROM kanon_help(); and SELECT * FROM kanon_help('anonymize');
Take the release along:   {kanon} export patients patients.parquet --dsn '{dsn}'
Use your own table:       {kanon} load people.csv people
                          {kanon} anonymize people -k 5
                          (in the private server's own database; {kanon} psql opens it)
Use your own server:      {kanon} install DSN
Stop the private server:  {kanon} down"""


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What the demo showed."""

    database: str
    """Where its table and release are."""
    scenes: tuple[Scene, ...]


def demo(
    name: Annotated[str, typer.Option("--name", help="Which private server.")] = DEFAULT_NAME,
    as_json: Json = False,
) -> None:
    """Show what kanon_pg does, step by step, on a generated table.

    Starts the private server if need be, and works in a database of its own that is made anew each time.
    The exit code is 1 if anything that a step claims is not so.
    """
    with errors_as(as_json):
        console = console_up_to(_WIDTH)
        say: Callable[[str], None] = note if as_json else console.print
        shown = []
        for number, scene in enumerate(scenes(_prepare(Cluster(name), say)), 1):
            shown.append(scene)
            if not as_json:
                _perform(console, number, scene)
            if scene.broken:
                break
        if as_json:
            show(DemoReport(DATABASE, tuple(shown)), as_json, str)
        if shown[-1].broken:
            raise typer.Exit(1)
        if not as_json:
            _say_goodbye(console, Cluster(name).dsn(DATABASE))


def _prepare(cluster: Cluster, say: Callable[[str], None]) -> Actors:
    compiled_ahead(DEMO_KERNELS)
    say("Starting the private server ...")
    cluster.up(prepare=_install)
    with connected(cluster.dsn()) as connection:
        connection.commit()
        connection.autocommit = True
        db = PsycopgDatabase(connection)
        database = Identifier.of(DATABASE)
        db.execute(statement("demo_drop_database", database=database))
        db.execute(statement("demo_create_database", database=database))
    say("Installing kanon into a fresh database, generating patients ...")
    install(cluster.dsn(DATABASE))
    with connected(cluster.dsn(DATABASE)) as connection:
        create_patients(connection, patients())
        roles = {"reader": Identifier.of(READER), "analyst": Identifier.of(ANALYST)}
        PsycopgDatabase(connection).execute(statement("demo_create_readers", **roles))
    environment = {**cluster.client_environment(), "PGDATABASE": DATABASE}
    program = cluster.instance.programs.program("psql")
    return Actors(
        owner=Psql(program, environment, superuser=True),
        reader=Psql(program, {**environment, "PGUSER": READER}),
        analyst=Psql(program, {**environment, "PGUSER": ANALYST}),
    )


def _install(dsn: str) -> None:
    # also the database that all other commands use unless another is named
    install(dsn)


def _perform(console: Console, number: int, scene: Scene) -> None:
    console.print()
    console.print(Rule(f"{number}. {scene.title}", align="left", characters="=", style="bold"))
    console.print(scene.before)
    for exchange in scene.exchanges:
        console.print(_transcript(exchange), soft_wrap=True)
    console.print(Text("\n-> " + scene.after, style="green"))
    for claim in scene.broken:
        console.print(Text(f"NOT SO: {claim}", style="bold red"))


def _say_goodbye(console: Console, dsn: str) -> None:
    console.print()
    console.print(Rule("What next", align="left", characters="=", style="bold"))
    text = _NEXT.format(kanon=_this_command(), database=DATABASE, dsn=dsn)
    console.print(text.strip(), soft_wrap=True, markup=False)


def _this_command() -> str:
    """Return how to call this program again: by its name if the shell finds it, else by its path."""
    called = Path(sys.argv[0])
    found = shutil.which(called.name)
    if found is not None and Path(found).resolve() == called.resolve():
        return called.name
    return shlex.quote(os.path.relpath(called))


def _transcript(exchange: Exchange) -> Text:
    text = Text("\n")
    text.append(f"{exchange.prompt} ", style="dim")
    text.append(exchange.sql + ";\n", style="bold")
    text.append(exchange.output, style="" if exchange.accepted else "red")
    return text
