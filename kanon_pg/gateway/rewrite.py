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
from kanon_pg.gateway.reading import Reading, ReadQuery
from kanon_pg.gateway.references import Replacement, check_passing, reads_protected
from kanon_pg.gateway.tokens import Token
from kanon_pg.gateway.vocabulary import Vocabulary
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
class Knowledge:
    """What the gateway knows of the database on behalf of one role.

    Parameters
    ----------
    snapshot : CatalogSnapshot
        The relations that a text names.
    check : callable
        Checks a query against a snapshot, under the rules of the protected relations.
    """

    snapshot: CatalogSnapshot
    vocabulary: Vocabulary
    check: Callable[[str, CatalogSnapshot], Verdict]


@dataclass(frozen=True, slots=True)
class Passed:
    """What to send.

    Parameters
    ----------
    text : str
        Instead of the client's.
    same_places : bool
        Whether positions in it are those of the client's text.
    queries : int
        How many queries are in it.
    search_path : tuple of str or None
        What the session's search path becomes, None if it stays.
    """

    text: str
    same_places: bool = True
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
    reading: Reading,
    knowledge: Knowledge,
    search_path: Sequence[str],
    start_path: Sequence[str] = (),
    types: Sequence[int] = (),
) -> Passed | Refused:
    """Say what to send in place of a client's text.

    Parameters
    ----------
    knowledge : Knowledge
        On behalf of the session's role.
    search_path, start_path : sequence of str
        The session's now, and what RESET makes of it.
    types : sequence of int
        OIDs of the parameters' types, as far as the client gives them.
    """
    try:
        return _Rewriting(reading, knowledge, tuple(search_path), tuple(start_path), types).passed()
    except _Findings as refused:
        return Refused(refused.findings)
    except Refusal as refusal:
        return Refused((refusal.finding,))
    except Exception:
        # a defect here must not let a statement pass, nor show anything but this sentence
        whole = Finding("G099", 0, len(reading.text), "The statement cannot be checked.")
        return Refused((whole,))


class _Findings(Exception):
    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__()
        self.findings = findings


@dataclass
class _Rewriting:
    """One text, being rewritten."""

    reading: Reading
    knowledge: Knowledge
    path: tuple[str, ...]
    start_path: tuple[str, ...]
    types: Sequence[int]
    replaced: list[Replacement] = field(default_factory=list)
    queries: int = 0
    new_path: tuple[str, ...] | None = None

    def passed(self) -> Passed:
        for statement in self.reading.statements:
            part = statement.part
            if part.search_path is not None or part.starts_path_anew:
                self.path = self.new_path = part.search_path or self.start_path
            if statement.query is not None:
                self._query(statement.query)
        return Passed(self._written(), not self.replaced, self.queries, self.new_path)

    def _query(self, query: ReadQuery) -> None:
        snapshot = replace(self.knowledge.snapshot, search_path=self.path)
        if reads_protected(query.chains, query.common_tables, snapshot):
            self._checked_query(query.tokens, snapshot)
        else:
            self.replaced += check_passing(query.tokens, query.chains, self.knowledge.vocabulary)

    def _checked_query(self, query: Sequence[Token], snapshot: CatalogSnapshot) -> None:
        start, end = query[0].start, query[-1].end
        text = self.reading.text[start:end]
        verdict = self.knowledge.check(text, snapshot)
        if not verdict.accepted:
            raise _Findings(
                tuple(
                    replace(item, start=item.start + start, end=item.end + start) for item in verdict.findings
                )
            )
        self.queries += 1
        written = query_call(text, verdict, self.types, self.knowledge.vocabulary.api_schema)
        self.replaced.append(Replacement(start, end, written))

    def _written(self) -> str:
        """Return the text with blanks in place of comments, and the replacements."""
        text, pieces, position = self.reading.text, [], 0
        starting = {item.start: item for item in self.replaced}
        for token in self.reading.tokens:
            if token.start < position:
                continue  # inside a piece that was replaced
            pieces.append("".join(c if c.isspace() else " " for c in text[position : token.start]))
            item = starting.pop(token.start, None)
            pieces.append(token.text if item is None else item.text)
            position = token.end if item is None else item.end
        if starting:
            raise AssertionError("a replacement does not begin at a token")
        return "".join(pieces)
