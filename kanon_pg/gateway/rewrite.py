"""What is sent to the server in place of a client's text, or why nothing is.

Queries of protected tables become calls of ``kanon_query_record``, so that types, formats, portals and
cursors stay PostgreSQL's own. Other statements pass if their kind is on the list of `statements`, rewritten
from their tokens without comments. The names in them decide, too: of catalogs and functions only those on the
list of `allowed_names` pass, and the names of catalogs become those of the views in ``kanon_catalog``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.gateway.allowed_names import CATALOG_VIEWS, HARMLESS_CATALOGS, SYNTAX_FUNCTIONS, AllowedNames
from kanon_pg.gateway.scanned_text import QualifiedName, ScannedQuery, ScannedText
from kanon_pg.gateway.search_path import Effects, Schemas
from kanon_pg.gateway.statements import permitted, string_value
from kanon_pg.gateway.tokens import Token, TokenKind
from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.findings import Finding, Refusal, Span
from kanon_pg.queries.check.verdict import Verdict


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


def query_call(text: str, verdict: Verdict, types: Sequence[int], api_schema: str) -> str:
    """Return a SELECT with the columns of the answer, which hands the query to the server as a text.

    Parameters
    ----------
    text : str
        The query, which is checked once more in the server.
    types : sequence of int
        OIDs of the parameters' types as far as the client gives them; 0 or none leaves one open.
    api_schema : str
        Where ``kanon_query_record`` is.
    """
    columns = [f"c{number}" for number in range(1, len(verdict.outputs) + 1)]
    named = list(zip(columns, verdict.outputs, strict=True))
    shown = ", ".join(f"{column} AS {Identifier((output.name,))}" for column, output in named)
    defined = ", ".join(f"{column} {_type(output.type_name)}" for column, output in named)
    function = Identifier((api_schema, "kanon_query_record"))
    arguments = ", ".join(filter(None, (str(Literal(text)), _values(verdict, types))))
    return f"SELECT {shown} FROM {function}({arguments}) AS kanon_answer({defined})"


def _type(name: str) -> str:
    """Return a type as it is written in SQL; the brackets of an array are no part of its name."""
    element = name.removesuffix("[]")
    return f"{Identifier(('pg_catalog', element))}{name[len(element) :]}"


def _values(verdict: Verdict, types: Sequence[int]) -> str:
    """Return the array of the parameters' values as text, nothing if there are none."""
    expected = {parameter.number: parameter.type_name for parameter in verdict.parameters}
    if not expected:
        return ""
    values = []
    for number in range(1, max(expected) + 1):
        value = f"${number}"
        if number not in expected:
            values.append("NULL")
            continue
        if number > len(types) or not types[number - 1]:
            value = f"CAST({value} AS {_type(expected[number])})"
        values.append(f"CAST({value} AS pg_catalog.text)")
    return f"CAST(ARRAY[{', '.join(values)}] AS pg_catalog.text[])"


@dataclass(frozen=True, slots=True)
class RewriteContext:
    """What a rewrite depends on besides the text: the catalog as one role sees it.

    Parameters
    ----------
    snapshot : CatalogSnapshot
        The relations that a text names.
    check : callable
        Checks a query against a snapshot, under the rules of the protected relations.
    """

    snapshot: CatalogSnapshot
    allowed_names: AllowedNames
    check: Callable[[str, CatalogSnapshot], Verdict]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The text to send.

    Parameters
    ----------
    text : str
        Sent in place of the client's.
    keeps_positions : bool
        Whether positions in it are those in the client's text.
    queries : int
        How many queries are in it.
    effects : Effects
        What each statement does to the search path.
    """

    text: str
    keeps_positions: bool = True
    queries: int = 0
    effects: Effects = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing is sent.

    Parameters
    ----------
    findings : tuple of Finding
        At least one; places are those of the client's text.
    """

    findings: tuple[Finding, ...]


def rewrite(
    scanned: ScannedText,
    context: RewriteContext,
    paths: Sequence[Schemas],
    types: Sequence[int] = (),
) -> Rewritten | Refused:
    """Return the text to send in place of a client's, or why nothing is sent.

    Parameters
    ----------
    paths : sequence of tuple of str
        The search path before each statement.
    types : sequence of int
        OIDs of the parameters' types, as far as the client gives them.
    """
    try:
        return _TextRewriting(scanned, context, paths, types).rewritten()
    except _Findings as refused:
        return Refused(refused.findings)
    except Refusal as refusal:
        return Refused((refusal.finding,))
    except Exception:
        # a bug here must not let a statement pass, nor show anything but this sentence
        whole = Finding("G099", 0, len(scanned.text), "The statement cannot be checked.")
        return Refused((whole,))


class _Findings(Exception):
    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__()
        self.findings = findings


@dataclass
class _TextRewriting:
    """One text, being rewritten."""

    scanned: ScannedText
    context: RewriteContext
    paths: Sequence[Schemas]
    types: Sequence[int]
    replaced: list[Replacement] = field(default_factory=list)
    queries: int = 0

    def rewritten(self) -> Rewritten:
        for number, statement in enumerate(self.scanned.statements):
            if statement.query is not None:
                self._query(statement.query, self.paths[number])
        return Rewritten(self._written(), not self.replaced, self.queries, self.scanned.effects)

    def _query(self, query: ScannedQuery, path: Schemas) -> None:
        snapshot = replace(self.context.snapshot, search_path=path)
        if reads_protected(query.qualified_names, query.common_tables, snapshot):
            self._checked_query(query.tokens, snapshot)
        else:
            self.replaced += check_passing(query.tokens, query.qualified_names, self.context.allowed_names)

    def _checked_query(self, query: Sequence[Token], snapshot: CatalogSnapshot) -> None:
        start, end = query[0].start, query[-1].end
        text = self.scanned.text[start:end]
        verdict = self.context.check(text, snapshot)
        if not verdict.accepted:
            raise _Findings(
                tuple(
                    replace(item, start=item.start + start, end=item.end + start) for item in verdict.findings
                )
            )
        self.queries += 1
        written = query_call(text, verdict, self.types, self.context.allowed_names.api_schema)
        self.replaced.append(Replacement(start, end, written))

    def _written(self) -> str:
        """Return the text with blanks in place of comments, and the replacements."""
        text, pieces, position = self.scanned.text, [], 0
        starting = {item.start: item for item in self.replaced}
        for token in self.scanned.tokens:
            if token.start < position:
                continue  # inside a piece that was replaced
            pieces.append("".join(c if c.isspace() else " " for c in text[position : token.start]))
            item = starting.pop(token.start, None)
            pieces.append(token.text if item is None else item.text)
            position = token.end if item is None else item.end
        if starting:
            raise AssertionError("a replacement does not begin at a token")
        return "".join(pieces)
