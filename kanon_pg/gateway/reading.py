"""A client's text, taken apart: its statements, the queries in them, and what those name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kanon_pg.gateway.names import Chain, Scan
from kanon_pg.gateway.statements import KINDS, Part, unknown_kind
from kanon_pg.gateway.tokens import Token, statements, tokens


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query inside a statement.

    Parameters
    ----------
    tokens : sequence of Token
        All of it.
    chains : tuple of Chain
        The names in it.
    common_tables : frozenset of str
        Names of its common table expressions.
    """

    tokens: Sequence[Token]
    chains: tuple[Chain, ...]
    common_tables: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """A statement whose kind may pass.

    Parameters
    ----------
    part : Part
        What its kind says.
    query : ReadQuery or None
        The query in it.
    """

    part: Part
    query: ReadQuery | None


@dataclass(frozen=True)
class Reading:
    """A text, taken apart.

    Parameters
    ----------
    text : str
        As the client wrote it.
    tokens : sequence of Token
        Of all statements.
    statements : tuple of ReadStatement
        In order.
    """

    text: str
    tokens: Sequence[Token]
    statements: tuple[ReadStatement, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """Names, schemas among them, that stand where relations do and may be those of tables of people."""
        found: set[str] = set()
        for statement in self.statements:
            if statement.query is None:
                continue
            for chain in statement.query.chains:
                if not chain.relation or chain.parts[0] in _OF_THE_SYSTEM:
                    continue
                if len(chain.parts) > 1 or chain.parts[0] not in statement.query.common_tables:
                    found.update(chain.parts)
        if found:  # what a text sets, it may use
            found.update(name for one in self.statements for name in one.part.search_path or ())
        return frozenset(found)


_OF_THE_SYSTEM = frozenset({"pg_catalog", "information_schema", "kanon_catalog"})


def read(text: str) -> Reading:
    """Take a text apart.

    Parameters
    ----------
    text : str
        Any number of statements.

    Raises
    ------
    Refusal
        Codes G001 to G020: a piece of it, or the kind of a statement, is refused everywhere.
    """
    found = tokens(text)
    return Reading(text, found, tuple(_statement(statement) for statement in statements(found)))


def _statement(statement: Sequence[Token]) -> ReadStatement:
    part = KINDS.get(statement[0].text.lower(), unknown_kind)(statement)
    if part.query is None:
        return ReadStatement(part, None)
    query = statement[part.query]
    scan = Scan(query)
    return ReadStatement(part, ReadQuery(query, tuple(scan.chains()), scan.common_tables()))
