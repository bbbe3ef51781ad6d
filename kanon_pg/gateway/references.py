"""Decides by the names in a query whether it reads protected tables, and what else it may use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kanon_pg.db.identifiers import Identifier
from kanon_pg.gateway.reading import NameChain
from kanon_pg.gateway.session_settings import permitted, string_value
from kanon_pg.gateway.tokens import Token, TokenKind
from kanon_pg.gateway.vocabulary import CATALOG_VIEWS, HARMLESS_CATALOGS, SYNTAX_FUNCTIONS, Vocabulary
from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.findings import Refusal, Span


@dataclass(frozen=True, slots=True)
class Replacement:
    """A piece of the text and what stands there instead.

    Parameters
    ----------
    start, end : int
        The piece; it begins and ends with whole tokens.
    """

    start: int
    end: int
    text: str


def reads_protected(chains: Sequence[NameChain], common: frozenset[str], snapshot: CatalogSnapshot) -> bool:
    """Whether FROM names a protected relation.

    Parameters
    ----------
    snapshot : CatalogSnapshot
        With the session's search path.
    """
    for chain in chains:
        if not chain.relation:
            continue
        *schemas, name = chain.parts
        if not schemas and name in common:
            continue
        found = snapshot.find(schemas[-1] if schemas else None, name)
        if found is not None and found.protection is not None:
            return True
    return False


_WRITES = ("insert", "update", "delete", "merge")


def check_passing(
    query: Sequence[Token], chains: Sequence[NameChain], vocabulary: Vocabulary
) -> list[Replacement]:
    """Refuse a query that may not pass; return which names are to be replaced.

    Raises
    ------
    Refusal
        Codes G030 to G033.
    """
    for index, token in enumerate(query):
        before = query[index - 1] if index else None
        begins = before is None or before.kind in (TokenKind.OPEN, TokenKind.CLOSE)
        if token.is_word("into") or (token.is_word(*_WRITES) and begins):
            raise Refusal("G030", token.span, "Only reading passes the gateway.", "Write one SELECT.")
        if token.is_word("update", "share", "no", "key") and before is not None and before.is_word("for"):
            raise Refusal("G030", token.span, "Locks do not pass the gateway.", "Leave FOR ... out.")
    found: list[Replacement] = []
    for chain in chains:
        decide = _called if chain.called else _named
        found += decide(query, chain, vocabulary)
    return found


def _split(chain: NameChain) -> tuple[str | None, str]:
    *schemas, name = chain.parts
    return (schemas[-1] if schemas else None), name


def _called(query: Sequence[Token], chain: NameChain, vocabulary: Vocabulary) -> Iterator[Replacement]:
    schema, name = _split(chain)
    if len(chain.tokens) == 1 and chain.tokens[0].is_word(*SYNTAX_FUNCTIONS):
        return
    if schema == "pg_catalog" and name in SYNTAX_FUNCTIONS:  # a type with a modifier
        return
    if schema in (None, "pg_catalog") and name in vocabulary.view_functions:
        yield _in_views(chain)
        return
    if schema in (None, "pg_catalog") and name == "set_config":
        _check_set_config(query, chain)
        return
    if not vocabulary.calls(schema, name):
        hint = "Allowed are functions of PostgreSQL that neither act nor look behind tables."
        raise Refusal(
            "G031", _span(chain), f"The function {Identifier((name,))} does not pass the gateway.", hint
        )


def _check_set_config(query: Sequence[Token], chain: NameChain) -> None:
    """Let ``set_config('name', 'value', ...)`` pass where SET would."""
    after = chain.index + chain.length + 1
    written = query[after : after + 4]
    name = string_value(written[0]) if len(written) == 4 else None
    value = string_value(written[2]) if len(written) == 4 else None
    commas = len(written) == 4 and written[1].text == written[3].text == ","
    if (
        name is None
        or value is None
        or not commas
        or name.lower() == "search_path"
        or not permitted(name, value)
    ):
        raise Refusal("G020", _span(chain), "This setting may not be changed, or not to this value.")


def _named(_query: Sequence[Token], chain: NameChain, vocabulary: Vocabulary) -> Iterator[Replacement]:
    parts = chain.parts
    for place, schema in enumerate(parts[:-1]):
        if schema in ("pg_catalog", "information_schema") and place <= 1:
            yield from _catalog(chain, place + 1, schema, vocabulary)
            return
    if len(parts) == 1 and not chain.alias and parts[0] in vocabulary.catalogs:
        yield from _catalog(chain, 0, "pg_catalog", vocabulary)
    elif chain.relation and parts[-1].startswith("pg_") and parts[-2:-1] != (CATALOG_VIEWS,):
        # extensions look behind tables, too, and show it to everybody: pg_stat_statements
        raise _not_shown(chain, parts[-1])


def _catalog(chain: NameChain, place: int, schema: str, vocabulary: Vocabulary) -> Iterator[Replacement]:
    """Decide about a catalog, whose name is at `place` in the chain."""
    name = chain.parts[place]
    if name in vocabulary.views:
        yield _in_views(chain, place)
        return
    if schema == "information_schema":
        return  # shows what the role has rights on, by itself
    if name in vocabulary.catalogs and name not in HARMLESS_CATALOGS:
        raise _not_shown(chain, name)


def _not_shown(chain: NameChain, name: str) -> Refusal:
    hint = "Not shown are catalogs with statistics, sizes, activity or secrets."
    return Refusal(
        "G032", _span(chain), f"The catalog {Identifier((name,))} does not pass the gateway.", hint
    )


def _in_views(chain: NameChain, place: int | None = None) -> Replacement:
    """Return the name in the schema of the views; further names, of columns, stay."""
    token = chain.tokens[-1 if place is None else place]
    return Replacement(chain.tokens[0].start, token.end, f"{CATALOG_VIEWS}.{token.text}")


def _span(chain: NameChain) -> Span:
    return Span(chain.tokens[0].start, chain.tokens[-1].end)
