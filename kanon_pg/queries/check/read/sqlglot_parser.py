"""Text to raw nodes: the only module that knows sqlglot.

sqlglot knows functions of twenty dialects by heart and rewrites them; the dialect below forgets them,
so that a call stays the name and the arguments that were written. What comes out are plain
`RawNode` objects; `kanon_pg.queries.check.read.selects` accepts or refuses every one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parsers.postgres import PostgresParser

from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.read.raw_tree import RawNode, RawValue

_KEPT = ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")


class KanonPostgres(Postgres):
    """PostgreSQL's grammar as sqlglot knows it, without any knowledge of functions."""

    class Parser(PostgresParser):
        """Parser that remembers where nodes end."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: PostgresParser.FUNCTION_PARSERS[name] for name in _KEPT
        }

        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            **PostgresParser.NO_PAREN_FUNCTION_PARSERS,
            "CASE": lambda self: self.parse_case(),
        }

        def parse_case(self) -> Any:
            """Parse CASE and note where it begins and ends."""
            start = self._prev.start
            node = self._parse_case()
            if node is not None:
                node.meta["start"], node.meta["last"] = start, self._prev.end
            return node

        def _parse_limit(self, this: Any = None, top: bool = False, skip_limit_token: bool = False) -> Any:
            """Parse LIMIT; ``LIMIT 5, 10`` is other servers' syntax, which PostgreSQL refuses."""
            node = super()._parse_limit(this, top, skip_limit_token)
            if node is not None and node.args.get("offset") is not None:
                self.raise_error("LIMIT with a comma is not supported")
            return node

        def expression(self, instance: Any, token: Any = None, comments: Any = None) -> Any:
            """Build a node as usual and note the last character that was read for it."""
            node = super().expression(instance, token, comments)
            if self._prev is not None:
                node.meta["last"] = self._prev.end
            return node


def parse_text(text: str) -> RawNode:
    """Parse one statement.

    Parameters
    ----------
    text : str
        Text that `kanon_pg.queries.check.read.text.check_text` has let pass.

    Raises
    ------
    Refusal
        Q010 if the text cannot be parsed, Q002 if it holds no or several statements.
    """
    whole = Span(0, len(text))
    try:
        statements = [item for item in KanonPostgres().parse(text) if item is not None]
    except ParseError as error:
        raise Refusal(
            "Q010", _error_span(error, text), "The query cannot be parsed here.", _PARSE_HINT
        ) from None
    except (SqlglotError, RecursionError, ValueError, LookupError, TypeError, AttributeError):
        raise Refusal("Q010", whole, "The query cannot be parsed.", _PARSE_HINT) from None
    if len(statements) != 1:
        raise Refusal("Q002", whole, "Exactly one query is expected.", "Write one SELECT.")
    return _raw(statements[0], text)


_PARSE_HINT = "Allowed is one SELECT in PostgreSQL's grammar."


def _error_span(error: ParseError, text: str) -> Span:
    details = error.errors[0] if error.errors else {}
    line, column = details.get("line"), details.get("col")
    highlight = details.get("highlight") or ""
    if not isinstance(line, int) or not isinstance(column, int):
        return Span(0, len(text))
    lines = text.splitlines(keepends=True)
    end = min(len(text), sum(map(len, lines[: line - 1])) + column)
    return Span(max(0, end - len(highlight)), end)


def _raw(node: exp.Expr, text: str) -> RawNode:
    values: dict[str, RawValue] = {}
    for name, value in node.args.items():
        converted = _value(value, text)
        if converted is not None:
            values[name] = converted
    return RawNode(type(node).__name__, values, _closed(_span(node, values, text), text))


def _value(value: object, text: str) -> RawValue | None:
    if isinstance(value, exp.Expr):
        return _raw(value, text)
    if isinstance(value, list):
        items = tuple(item for item in (_value(one, text) for one in value) if item is not None)
        return items or None
    if value is None or value is False:
        return None
    if isinstance(value, bool | str | int):
        return value
    return str(getattr(value, "value", value))


def _span(node: exp.Expr, values: Mapping[str, RawValue], text: str) -> Span:
    inner = [child.span for value in values.values() for child in _children(value)]
    inner = [span for span in inner if (span.start, span.end) != (0, len(text))]
    starts = [span.start for span in inner]
    ends = [span.end for span in inner]
    meta = node.meta
    if isinstance(meta.get("start"), int):
        starts.append(meta["start"])
    if isinstance(meta.get("end"), int):
        ends.append(meta["end"] + 1)
    if isinstance(meta.get("last"), int):
        ends.append(meta["last"] + 1)
    if not starts and ends:
        starts = [min(ends) - 1]
    return Span(min(starts), max(ends)) if starts and ends else Span(0, len(text))


def _closed(span: Span, text: str) -> Span:
    """Take in closing parentheses that follow, as many as the piece leaves open."""
    piece, end = text[span.start : span.end], span.end
    for _ in range(piece.count("(") - piece.count(")")):
        following = end
        while following < len(text) and text[following].isspace():
            following += 1
        if following == len(text) or text[following] != ")":
            break
        end = following + 1
    return Span(span.start, end)


def _children(value: RawValue) -> list[RawNode]:
    if isinstance(value, RawNode):
        return [value]
    return [item for item in value if isinstance(item, RawNode)] if isinstance(value, tuple) else []
