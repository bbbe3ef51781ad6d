"""Commands for the private server: ``up``, ``down``, ``status``, ``dsn``, ``psql``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from kanon_pg.admin.cluster import DEFAULT_NAME, Cluster, ClusterStatus, State
from kanon_pg.admin.cluster.server import DATABASE
from kanon_pg.cli.output import Json, errors_as, show

NOT_RUNNING = 3
"""Exit code of ``kanon status`` unless the server runs, as ``pg_ctl status`` has it."""

Name = Annotated[str, typer.Option("--name", help="Which private server; several can run side by side.")]


@dataclass(frozen=True, slots=True)
class PrivateServerDsn:
    """How to connect to the private server."""

    dsn: str


def _status_text(status: ClusterStatus) -> str:
    facts = (
        ("PostgreSQL", status.major),
        ("DSN", status.dsn),
        ("TCP port", status.tcp_port),
        ("process", status.pid),
        ("runs as", status.server_user),
        ("files", status.folder),
    )
    lines = [f"  {label:<10} {value}" for label, value in facts if value is not None]
    return "\n".join([f'The private server "{status.name}" is {status.state.value}.', *lines])


def _install(dsn: str, *, quiet: bool) -> None:
    # only `up` needs the compiler and the installer, and with it the database driver
    from kanon_pg.admin.install.installer import install
    from kanon_pg.cli.install import compiled_ahead

    compiled_ahead(quiet=quiet)
    install(dsn)


def up(
    name: Name = DEFAULT_NAME,
    tcp: Annotated[
        int | None, typer.Option("--tcp", metavar="PORT", help="Also listen on this port of 127.0.0.1.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Start the private server, ready for use; print its DSN.

    The first start makes a server of your own from the installed PostgreSQL and installs kanon into its
    database. It listens on a socket that only you can reach. Starting again is harmless, also after a
    crash.
    """
    with errors_as(as_json):
        cluster = Cluster(name)
        status = cluster.up(tcp_port=tcp, prepare=partial(_install, quiet=as_json))
        show(status, as_json, lambda started: cluster.tcp_dsn() if tcp is not None else str(started.dsn))


def down(
    name: Name = DEFAULT_NAME,
    delete: Annotated[bool, typer.Option("--delete", help="Also delete all of its data for good.")] = False,
    as_json: Json = False,
) -> None:
    """Stop the private server.

    Its data stay for the next start, unless they are to be deleted.
    """
    with errors_as(as_json):
        cluster = Cluster(name)
        before = cluster.status().state
        show(cluster.down(delete=delete), as_json, _status_text)
        if before is not State.RUNNING and not as_json:
            typer.echo(
                "It did not run before." if before is State.STOPPED else "There was none of this name."
            )


def status(name: Name = DEFAULT_NAME, as_json: Json = False) -> None:
    """Say whether the private server runs, and where.

    The exit code is 3 unless it runs.
    """
    with errors_as(as_json):
        found = Cluster(name).status()
        show(found, as_json, _status_text)
        if found.state is not State.RUNNING:
            raise typer.Exit(NOT_RUNNING)


def dsn(
    name: Name = DEFAULT_NAME,
    database: Annotated[str, typer.Option("--database", help="A database of the server.")] = DATABASE,
    tcp: Annotated[bool, typer.Option("--tcp", help="For TCP, with the password.")] = False,
    as_json: Json = False,
) -> None:
    """Print how to connect to the private server."""
    with errors_as(as_json):
        cluster = Cluster(name)
        found = cluster.tcp_dsn(database) if tcp else cluster.dsn(database)
        show(PrivateServerDsn(found), as_json, lambda one: one.dsn)


def psql(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGUMENTS]...", help="Handed on to psql.")
    ] = None,
    name: Name = DEFAULT_NAME,
) -> None:
    """Run psql on the private server.

    Options for kanon come first, then those for psql: kanon psql --name other -c 'SELECT 1'
    """
    cluster = Cluster(name)
    program = str(cluster.instance.programs.program("psql"))
    environment = os.environ | cluster.client_environment()
    os.execve(program, [program, *(arguments or [])], environment)  # noqa: S606  # becomes psql, terminal and all
