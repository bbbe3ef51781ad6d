"""What is sent to the server in place of a client's text, or why nothing is.

Queries of protected tables become calls of ``kanon_query_record``, so that types, formats, portals and
cursors stay PostgreSQL's own. Other statements pass if their kind is on the list of `statements`, rewritten
from their tokens without comments; the names of catalogs in them become those of the views in
``kanon_catalog``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.gateway.allowed_names import AllowedNames
from kanon_pg.gateway.references import Replacement, check_passing, reads_protected
from kanon_pg.gateway.scanned_text import ScannedQuery, ScannedText
from kanon_pg.gateway.tokens import Token
from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.findings import Finding, Refusal
from kanon_pg.queries.check.verdict import Verdict


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
    defined = ", ".join(
        f"{column} {Identifier(('pg_catalog', output.type_name))}" for column, output in named
    )
    function = Identifier((api_schema, "kanon_query_record"))
    arguments = ", ".join(filter(None, (str(Literal(text)), _values(verdict, types))))
    return f"SELECT {shown} FROM {function}({arguments}) AS kanon_answer({defined})"


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
            value = f"CAST({value} AS {Identifier(('pg_catalog', expected[number]))})"
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
    search_path : tuple of str or None
        What the session's search path becomes, None if it stays.
    """

    text: str
    keeps_positions: bool = True
    queries: int = 0
    search_path: tuple[str, ...] | None = None


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
    search_path: Sequence[str],
    start_path: Sequence[str] = (),
    types: Sequence[int] = (),
) -> Rewritten | Refused:
    """Return the text to send in place of a client's, or why nothing is sent.

    Parameters
    ----------
    context : RewriteContext
        Of the session's role.
    search_path, start_path : sequence of str
        The session's now, and what RESET makes of it.
    types : sequence of int
        OIDs of the parameters' types, as far as the client gives them.
    """
    try:
        return _Rewriting(scanned, context, tuple(search_path), tuple(start_path), types).rewritten()
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
class _Rewriting:
    """One text, being rewritten."""

    scanned: ScannedText
    context: RewriteContext
    path: tuple[str, ...]
    start_path: tuple[str, ...]
    types: Sequence[int]
    replaced: list[Replacement] = field(default_factory=list)
    queries: int = 0
    new_path: tuple[str, ...] | None = None

    def rewritten(self) -> Rewritten:
        for statement in self.scanned.statements:
            part = statement.part
            if part.search_path is not None or part.resets_path:
                self.path = self.new_path = part.search_path or self.start_path
            if statement.query is not None:
                self._query(statement.query)
        return Rewritten(self._written(), not self.replaced, self.queries, self.new_path)

    def _query(self, query: ScannedQuery) -> None:
        snapshot = replace(self.context.snapshot, search_path=self.path)
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
