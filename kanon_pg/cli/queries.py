"""The commands ``query`` and ``check-query``: questions about protected tables, and why one is refused."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from kanon_pg.cli.connection import Dsn, connected
from kanon_pg.cli.output import Json, errors_as, lay_out
from kanon_pg.db.catalog import server_function
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, TextRows
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError
from kanon_pg.queries.in_server import answered_blocks

QueryText = Annotated[
    str, typer.Argument(help="One SELECT; - reads it from standard input.", metavar="QUERY")
]


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
    function = server_function(db, "kanon_check_query")
    try:
        row = db.row(statement("call_check_query", function=function), text)
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
