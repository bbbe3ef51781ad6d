"""The commands ``gateway`` and ``mcp``, which serve clients of PostgreSQL and language models."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Annotated

import typer

from kanon_pg.cli.connection import Dsn, DsnArgument, chosen_dsn, connected, installed
from kanon_pg.cli.output import Json, errors_as
from kanon_pg.gateway.listener import GatewayOptions, run_gateway
from kanon_pg.gateway.state import ClientLimits

_MEBIBYTE = 1024 * 1024
_DEFAULTS = ClientLimits()

_Host = Annotated[str, typer.Option("--host", help="Address to listen on, or a folder for a Unix socket.")]
_Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")]
_Certificate = Annotated[
    Path | None, typer.Option("--certificate", metavar="FILE", help="Certificate for TLS, PEM.")
]
_Key = Annotated[Path | None, typer.Option("--key", metavar="FILE", help="Its key, PEM without a password.")]
_Trust = Annotated[
    bool, typer.Option("--trust", help="Also let in whom the server does not ask for a password.")
]
_Connections = Annotated[int, typer.Option("--connections", min=1, help="Most clients at a time.")]
_PerAddress = Annotated[int, typer.Option("--per-address", min=1, help="Most clients of one address.")]
_Unauthenticated = Annotated[
    int, typer.Option("--unauthenticated", min=1, help="Most connections that have not logged in yet.")
]
_Login = Annotated[float, typer.Option("--login", min=0.1, help="Seconds until a login must be complete.")]
_Message = Annotated[
    int, typer.Option("--message", min=1, max=1024, help="Longest message of a client, in MiB.")
]
_Idle = Annotated[float, typer.Option("--idle", min=1.0, help="Seconds after which a silent session ends.")]
_Quiet = Annotated[bool, typer.Option("--quiet", help="Log warnings only.")]


def gateway(
    dsn: Dsn = None,
    host: _Host = "127.0.0.1",
    port: _Port = 6432,
    certificate: _Certificate = None,
    key: _Key = None,
    trust: _Trust = False,
    connections: _Connections = _DEFAULTS.connections,
    per_address: _PerAddress = _DEFAULTS.per_address,
    unauthenticated: _Unauthenticated = _DEFAULTS.unauthenticated,
    login: _Login = _DEFAULTS.login_seconds,
    message: _Message = _DEFAULTS.message_bytes // _MEBIBYTE,
    idle: _Idle = _DEFAULTS.idle_seconds,
    as_json: Json = False,
    quiet: _Quiet = False,
) -> None:
    """Let any PostgreSQL client ask about protected tables, through a checked connection.

    The gateway connects with --dsn to read the catalog, and opens one connection of each client's own to
    the same server, under the client's role and password. It runs until it gets SIGTERM or Ctrl-C. The log,
    on standard error, names roles and counts statements; it never shows a statement or a value.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("kanon_pg.gateway").setLevel(logging.WARNING if quiet else logging.INFO)
    options = GatewayOptions(
        dsn=chosen_dsn(dsn),
        host=host,
        port=port,
        certificate=certificate,
        key=key,
        trusts_server=trust,
        limits=ClientLimits(
            connections=connections,
            per_address=per_address,
            unauthenticated=unauthenticated,
            message_bytes=message * _MEBIBYTE,
            login_seconds=login,
            idle_seconds=idle,
        ),
    )

    def say(chosen: int) -> None:
        plain = f"listening on {host} port {chosen}"
        typer.echo(json.dumps({"host": host, "port": chosen}) if as_json else plain)

    with errors_as(as_json):
        asyncio.run(run_gateway(options, say))


_Exact = Annotated[bool, typer.Option("--exact", help="Also give exact answers, where the login gets them.")]
_Epsilon = Annotated[
    float,
    typer.Option("--epsilon", min=0.0, max=100.0, help="Most that all noisy answers reveal of a person."),
]
_Queries = Annotated[int, typer.Option("--queries", min=1, help="Most queries.")]


def mcp(
    dsn: DsnArgument = None, exact: _Exact = False, epsilon: _Epsilon = 0.5, queries: _Queries = 50
) -> None:
    """Let a language model ask about protected tables.

    Serves the Model Context Protocol on standard input and output, until the input ends. The login must be
    an analyst and nothing more. Once it has asked what the limits allow, somebody has to start it again.
    """
    from kanon_pg.agents import Agent, Budget, tool_server

    address = chosen_dsn(dsn)
    agent = Agent(lambda: connected(address), Budget(queries, epsilon), exact)
    with connected(address) as connection, installed(connection), agent.asking():
        pass  # refuses at once, not the first question
    tool_server(agent).run()
