"""What the gateway asks in a client's session: the blocks of a query, and the rest that it runs in its place.

All are prepared statements and portals of a name of their own, within the client's transaction, so that its
locks, its rights and its settings are those of the query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kanon_pg.db.identifiers import Literal
from kanon_pg.gateway.protocol import Bind, Fields, WireMessage, decoded, encoded, fields_of, parse_message
from kanon_pg.gateway.question import DATES, Question, replaced

OWN = b"kanon_gateway"
"""Name of the statements and portals of the gateway in a client's session."""

TEXT, JSONB = 25, 3802
"""OIDs of types."""

_ANSWER = (
    "SELECT b.rest, b.rows, CASE WHEN pg_catalog.current_setting('client_min_messages')"
    " OPERATOR(pg_catalog.=) ANY (ARRAY['warning', 'error', 'fatal', 'panic']) THEN '[]'::pg_catalog.json"
    " ELSE pg_catalog.to_json(b.notices) END"
    " FROM kanon.answer_blocks($1, NULL, pg_catalog.current_schemas(false)) AS b"
)


@dataclass(frozen=True, slots=True)
class Blocks:
    """What ``kanon.answer_blocks`` returned: SQL whose parameter ``$1`` is `rows`, and notices."""

    rest: str
    rows: str
    notices: tuple[str, ...]

    @property
    def is_about_people(self) -> bool:
        """Whether the query has blocks; otherwise it is as it was."""
        return self.rows != "{}"


def asking(text: str) -> list[WireMessage]:
    """Return the messages that ask for the blocks of a query; `Blocks` comes as one row."""
    return _running(_ANSWER, (TEXT,), Bind(OWN, OWN, values=(encoded(text),)))


def answered(rows: Sequence[WireMessage]) -> Blocks:
    """Return what came."""
    rest, shown, notices = _row(rows)
    return Blocks(rest or "", shown or "{}", tuple(json.loads(notices or "[]")))


def reading(given: Bind, types: Sequence[int]) -> list[WireMessage]:
    """Return the messages that ask for a client's parameters, of types by their OIDs, as text in one row."""
    texts = ", ".join(
        f"pg_catalog.to_json(${number}) OPERATOR(pg_catalog.#>>) '{{}}'::pg_catalog.text[]"
        if kind in DATES
        else f"CAST(${number} AS pg_catalog.text)"
        for number, kind in enumerate(types, 1)
    )
    return _running(f"SELECT {texts}", types, Bind(OWN, OWN, given.formats, given.values))


def texts(rows: Sequence[WireMessage]) -> tuple[str | None, ...]:
    """Return what came."""
    return _row(rows)


def resting(question: Question, blocks: Blocks) -> list[WireMessage]:
    """Return the messages that prepare the rest of a statement as `OWN`."""
    rest = blocks.rest
    if not question.takes_parameters:
        rest = replaced(rest, [f"CAST({Literal(blocks.rows)} AS pg_catalog.jsonb)"]).text
    types = (JSONB,) if question.takes_parameters else ()
    return [_close(b"S"), parse_message(OWN, f"{question.before} {rest} {question.after}", types)]


def rows_bound(question: Question, blocks: Blocks, portal: bytes, results: bytes) -> WireMessage:
    """Return the message that binds the rows of the blocks to the rest."""
    values = (encoded(blocks.rows),) if question.takes_parameters else ()
    return Bind(portal, OWN, values=values, results=results).message()


def _running(text: str, types: Sequence[int], bind: Bind) -> list[WireMessage]:
    run = [parse_message(OWN, text, types), bind.message(), WireMessage(b"E", OWN + b"\0\0\0\0\0")]
    return [_close(b"P"), _close(b"S"), *run, _close(b"P")]


def _close(kind: bytes) -> WireMessage:
    return WireMessage(b"C", kind + OWN + b"\0")


def _row(messages: Sequence[WireMessage]) -> tuple[str | None, ...]:
    (row,) = (message.body for message in messages if message.kind == b"D")
    return tuple(None if value is None else decoded(value) for value in fields_of(row)[0])


_PLACE = re.compile(r"^(\w+ at )(\d+)(?=:)", re.MULTILINE)
"""In the detail of a refusal: a code, and the place in the query."""


def places_written(fields: Fields, written_at: Callable[[int], int]) -> Fields:
    """Return an error about a query with places in the client's statement, which `written_at` tells."""
    places = []

    def moved(match: re.Match[str]) -> str:
        places.append(written_at(int(match[2])))
        return f"{match[1]}{places[-1]}"

    moved_fields = without_places(fields)
    if b"D" in fields:
        moved_fields[b"D"] = encoded(_PLACE.sub(moved, decoded(fields[b"D"])))
    if places and places[0]:
        moved_fields[b"P"] = str(places[0] + 1).encode()
    return moved_fields


def without_places(fields: Fields) -> Fields:
    """Return an error of the rest, whose places are those of another text."""
    return {code: value for code, value in fields.items() if code not in (b"P", b"p", b"q", b"W")}
