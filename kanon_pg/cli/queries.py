"""The commands ``query``, ``check-query``, ``gateway`` and ``mcp``.

They query protected tables, show why a query is refused, and serve clients of PostgreSQL and language models.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from kanon_pg.cli.arguments import Relation, k_option, read_json
from kanon_pg.cli.connection import Dsn, DsnArgument, chosen_dsn, connected, installed
from kanon_pg.cli.interfaces import opened_interface
from kanon_pg.cli.output import Json, errors_as, lay_out, show_done
from kanon_pg.client import answered_blocks
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, TextRows
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError
from kanon_pg.gateway.listener import GatewayOptions, run_gateway
from kanon_pg.gateway.state import ClientLimits

QueryText = Annotated[
    str, typer.Argument(help="One SELECT; - reads it from standard input.", metavar="QUERY")
]


def protect(
    relation: Relation,
    k: Annotated[int, k_option("Fewest people behind every part of an answer, 2 to 100.")] = 5,
    options: Annotated[
        str | None, typer.Option(metavar="JSON", help="Further rules, noise among them; @FILE reads a file.")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Let analysts ask about a table.

    At least k people stand behind every part of an answer. Protecting it again replaces its rules.
    """
    with errors_as(as_json):
        rules = None if options is None else read_json(options, "options", example='{"mode": "reject"}')
        with opened_interface(dsn) as interface:
            interface.protect({"relation": relation, "k": k, "options": rules})
        show_done("protected", relation, as_json)


def unprotect(relation: Relation, dsn: Dsn = None, as_json: Json = False) -> None:
    """Let nobody ask about a table any more.

    The record of answers stays.
    """
    with errors_as(as_json):
        with opened_interface(dsn) as interface:
            interface.run_on_table("kanon_unprotect", relation)
        show_done("unprotected", relation, as_json)


def query(
    query: QueryText,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="VALUE", help="Value of $1, $2 ..., in this order."),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Ask about protected tables.

    Answered if at least k people stand behind every part of the answer. Every query is recorded.
    With --json, numeric values are texts, so that no digit is lost.
    """
    with errors_as(as_json), connected(dsn) as connection:
        db = PsycopgDatabase(connection)
        rest = answered_blocks(db, _text(query), parameter)
        answer = db.texts(rest.statement, *rest.arguments)
    for notice in rest.notices:
        typer.echo(notice, err=True)
    if as_json:
        found = {"columns": _columns(answer), "rows": _json_rows(answer)}
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    lay_out(_table(answer))


def check_query(query: QueryText, dsn: Dsn = None, as_json: Json = False) -> None:
    """Say whether a query is accepted, and mark what is wrong with it.

    Touches no data and records nothing. The exit code is 1 if the query is refused.
    """
    text = _text(query)
    with errors_as(as_json), connected(dsn) as connection:
        found = _checked(PsycopgDatabase(connection), text)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    elif found["accepted"]:
        typer.echo("The query is accepted.")
        for cost in found["noise"] or ():
            typer.echo(f"A block is answered with noise: it costs {cost['share']:g} of the account.")
    else:
        lay_out(*(_finding(text, finding) for finding in found["findings"]))
    if not found["accepted"]:
        raise typer.Exit(1)


def _checked(db: PsycopgDatabase, text: str) -> dict[str, Any]:
    try:
        row = db.row(statement("call_check_query"), text)
    except InputError as error:  # what is no query at all, such as an empty text
        finding = {"code": None, "place": 0, "sentence": error.message, "hint": error.hint or ""}
        return {"accepted": False, "findings": [finding], "canonical_sql": None, "noise": None}
    return {**row, **{name: json.loads(row[name] or "null") for name in ("findings", "noise")}}


def _text(query: str) -> str:
    return typer.get_text_stream("stdin").read() if query == "-" else query


def _columns(answer: TextRows) -> list[dict[str, str]]:
    return [{"name": name, "type": kind} for name, kind in zip(answer.names, answer.types, strict=True)]


def _json_rows(answer: TextRows) -> list[dict[str, Any]]:
    names = _unique(answer.names)
    return [dict(zip(names, line, strict=True)) for line in answer.json_values()]


def _unique(names: Sequence[str]) -> list[str]:
    """Return names of which no two are equal: a repeated one gets a number."""
    found: list[str] = []
    for name in names:
        number, chosen = 1, name
        while chosen in found:
            number += 1
            chosen = f"{name}_{number}"
        found.append(chosen)
    return found


_NUMBERS = frozenset({"smallint", "integer", "bigint", "real", "double precision", "numeric"})


def _table(answer: TextRows) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, kind in zip(answer.names, answer.types, strict=True):
        table.add_column(Text(name), justify="right" if kind in _NUMBERS else "left", overflow="fold")
    for line in answer.lines:
        table.add_row(*(Text("" if value is None else value) for value in line))
    return table


def _finding(text: str, finding: dict[str, Any]) -> Text:
    shown = Text()
    if finding["code"]:
        shown.append(f"{finding['code']} ", style="bold red")
    shown.append(finding["sentence"], style="bold")
    piece = _PIECE.match(text, finding["place"])
    line, mark = marked(text, finding["place"], finding["place"] if piece is None else piece.end())
    if mark:
        shown.append(f"\n  {line}\n  ")
        shown.append(mark, style="red")
    if finding["hint"]:
        shown.append(f"\n  {finding['hint']}", style="dim")
    shown.append("\n")
    return shown


_PIECE = re.compile(r"[\w$]+|\S")
_BEFORE, _AFTER = 60, 60


def marked(text: str, start: int, end: int) -> tuple[str, str]:
    r"""Return the line in which a piece begins, and the line of marks that belongs below it.

    Parameters
    ----------
    start, end : int
        The piece is ``text[start:end]``; positions beyond the text are those of its end.

    Returns
    -------
    tuple of (str, str)
        Long lines are cut around the piece. No marks for an empty piece.

    Examples
    --------
    >>> print(*marked("SELECT name\nFROM patients", 7, 11), sep="\n")
    SELECT name
           ^^^^
    """
    start, end = min(start, len(text)), min(end, len(text))
    if start >= end:
        return "", ""
    first = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    breaks = [place for place in (text.find("\n", start), text.find("\r", start)) if place >= 0]
    last = min(breaks, default=len(text))
    first, last = max(first, start - _BEFORE), min(last, max(end, start + 1) + _AFTER)
    piece = max(1, min(end, last) - start)
    return _printable(text[first:last]), " " * (start - first) + "^" * piece


def _printable(line: str) -> str:
    """Return a line of as many characters in which each takes one place and moves no cursor."""
    return "".join(
        character
        if character.isprintable()
        and unicodedata.east_asian_width(character) not in "WF"
        and not unicodedata.combining(character)
        else " "
        if character.isspace()
        else "?"
        for character in line
    )


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
