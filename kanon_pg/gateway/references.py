"""Decides by the names in a query whether it reads protected tables, and what else it may use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kanon_pg.db.identifiers import Identifier
from kanon_pg.gateway.allowed_names import CATALOG_VIEWS, HARMLESS_CATALOGS, SYNTAX_FUNCTIONS, AllowedNames
from kanon_pg.gateway.scanned_text import QualifiedName
from kanon_pg.gateway.session_settings import permitted, string_value
from kanon_pg.gateway.tokens import Token, TokenKind
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


def reads_protected(
    qualified_names: Sequence[QualifiedName], common: frozenset[str], snapshot: CatalogSnapshot
) -> bool:
    """Whether FROM names a protected relation.

    Parameters
    ----------
    snapshot : CatalogSnapshot
        With the session's search path.
    """
    for qualified in qualified_names:
        if not qualified.relation:
            continue
        *schemas, name = qualified.parts
        if not schemas and name in common:
            continue
        found = snapshot.find(schemas[-1] if schemas else None, name)
        if found is not None and found.protection is not None:
            return True
    return False


_WRITES = ("insert", "update", "delete", "merge")


def check_passing(
    query: Sequence[Token], qualified_names: Sequence[QualifiedName], allowed_names: AllowedNames
) -> list[Replacement]:
    """Refuse a query that may not pass, or return the names to replace in it.

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
    for qualified in qualified_names:
        decide = _called if qualified.called else _named
        found += decide(query, qualified, allowed_names)
    return found


def _split(qualified: QualifiedName) -> tuple[str | None, str]:
    *schemas, name = qualified.parts
    return (schemas[-1] if schemas else None), name


def _called(
    query: Sequence[Token], qualified: QualifiedName, allowed_names: AllowedNames
) -> Iterator[Replacement]:
    schema, name = _split(qualified)
    if len(qualified.tokens) == 1 and qualified.tokens[0].is_word(*SYNTAX_FUNCTIONS):
        return
    if schema == "pg_catalog" and name in SYNTAX_FUNCTIONS:  # a type with a modifier
        return
    if schema in (None, "pg_catalog") and name in allowed_names.view_functions:
        yield _in_views(qualified)
        return
    if schema in (None, "pg_catalog") and name == "set_config":
        _check_set_config(query, qualified)
        return
    if not allowed_names.may_call(schema, name):
        hint = "Allowed are functions of PostgreSQL that neither act nor look behind tables."
        raise Refusal(
            "G031", _span(qualified), f"The function {Identifier((name,))} does not pass the gateway.", hint
        )


def _check_set_config(query: Sequence[Token], qualified: QualifiedName) -> None:
    """Let ``set_config('name', 'value', ...)`` pass where SET would."""
    after = qualified.index + qualified.length + 1
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
        raise Refusal("G020", _span(qualified), "This setting may not be changed, or not to this value.")


def _named(
    _query: Sequence[Token], qualified: QualifiedName, allowed_names: AllowedNames
) -> Iterator[Replacement]:
    parts = qualified.parts
    for place, schema in enumerate(parts[:-1]):
        if schema in ("pg_catalog", "information_schema") and place <= 1:
            yield from _catalog(qualified, place + 1, schema, allowed_names)
            return
    if len(parts) == 1 and not qualified.alias and parts[0] in allowed_names.catalogs:
        yield from _catalog(qualified, 0, "pg_catalog", allowed_names)
    elif qualified.relation and parts[-1].startswith("pg_") and parts[-2:-1] != (CATALOG_VIEWS,):
        # extensions look behind tables, too, and show it to everybody: pg_stat_statements
        raise _not_shown(qualified, parts[-1])


def _catalog(
    qualified: QualifiedName, place: int, schema: str, allowed_names: AllowedNames
) -> Iterator[Replacement]:
    """Decide about a catalog, whose name is at `place` in the qualified name."""
    name = qualified.parts[place]
    if name in allowed_names.views:
        yield _in_views(qualified, place)
        return
    if schema == "information_schema":
        return  # shows what the role has rights on, by itself
    if name in allowed_names.catalogs and name not in HARMLESS_CATALOGS:
        raise _not_shown(qualified, name)


def _not_shown(qualified: QualifiedName, name: str) -> Refusal:
    hint = "Not shown are catalogs with statistics, sizes, activity or secrets."
    return Refusal(
        "G032", _span(qualified), f"The catalog {Identifier((name,))} does not pass the gateway.", hint
    )


def _in_views(qualified: QualifiedName, place: int | None = None) -> Replacement:
    """Return the name in the schema of the views; further names, of columns, stay."""
    token = qualified.tokens[-1 if place is None else place]
    return Replacement(qualified.tokens[0].start, token.end, f"{CATALOG_VIEWS}.{token.text}")


def _span(qualified: QualifiedName) -> Span:
    return Span(qualified.tokens[0].start, qualified.tokens[-1].end)
