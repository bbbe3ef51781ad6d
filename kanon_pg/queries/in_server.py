"""Queries through the functions in the server, which answer the blocks; the rest is the asker's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import Statement, statement


@dataclass(frozen=True, slots=True)
class Rest:
    """What remains to be run of a query whose blocks the server's functions answered."""

    statement: Statement
    """The asker's own SQL, to be run with their rights; `arguments` are its parameters."""
    arguments: tuple[str, ...]
    notices: tuple[str, ...]
    """What the asker is told beside the answer."""


def answered_blocks(db: Database, text: str, parameters: Sequence[str | None] | None) -> Rest:
    """Have the server's functions answer the blocks of a query, which any analyst may."""
    blocks = db.row(statement("call_answer_blocks"), text, parameters)
    arguments = () if blocks["rows"] == "{}" else (blocks["rows"],)  # without blocks there is no parameter
    return Rest(Statement(blocks["rest"], ("jsonb",) * len(arguments)), arguments, tuple(blocks["notices"]))
