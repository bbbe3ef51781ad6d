"""The kinds of statements that pass, by their first word, and which part of each is a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from kanon_pg.gateway.session_settings import ALLOWED, check_set, path_of
from kanon_pg.gateway.tokens import Token, TokenKind
from kanon_pg.queries.check.findings import Refusal, Span


@dataclass(frozen=True, slots=True)
class StatementPart:
    """What is left to look at.

    Parameters
    ----------
    query : slice or None
        The tokens of the query in the statement.
    search_path : tuple of str or None
        What the search path becomes.
    resets_path : bool
        Whether the search path becomes what it was at the start.
    """

    query: slice | None = None
    search_path: tuple[str, ...] | None = None
    resets_path: bool = False


_NOTHING = StatementPart()


def _refuse(statement: Sequence[Token], sentence: str, hint: str = "") -> NoReturn:
    raise Refusal("G010", Span(statement[0].start, statement[-1].end), sentence, hint)


def unknown_kind(statement: Sequence[Token]) -> NoReturn:
    """Refuse a statement of any other kind.

    Raises
    ------
    Refusal
        Code G010, always.
    """
    hint = "Allowed are SELECT, transactions, cursors, COPY (SELECT ...) TO STDOUT and some settings."
    _refuse(statement, "This kind of statement does not pass the gateway.", hint)


def _query(_statement: Sequence[Token]) -> StatementPart:
    return StatementPart(slice(None))


def _of_names(statement: Sequence[Token]) -> StatementPart:
    """Let a statement pass that consists of names and numbers only."""
    for token in statement:
        if token.is_word("prepared") or (statement[0].is_word("prepare") and token.is_word("transaction")):
            _refuse(statement, "Transactions in two phases do not pass the gateway.")
        if not (token.is_name or token.kind is TokenKind.NUMBER or token.text in (",", "*", "-", "+", ".")):
            raise Refusal("G011", token.span, "This has no place here.", "Leave it out.")
    return _NOTHING


def _set(statement: Sequence[Token]) -> StatementPart:
    changed = check_set(statement)
    if changed is None or changed[0] != "search_path":
        return _NOTHING
    path = path_of(statement)
    return StatementPart(search_path=path, resets_path=path is None)


def _reset(statement: Sequence[Token]) -> StatementPart:
    _of_names(statement)
    names = [token.name for token in statement[1:]]
    if names in (["all"], ["time", "zone"]) or (len(names) == 1 and names[0].lower() in ALLOWED):
        return StatementPart(resets_path=names[0].lower() in ("all", "search_path"))
    _refuse(statement, "This setting may not be changed.")


def _discard(statement: Sequence[Token]) -> StatementPart:
    _of_names(statement)
    return StatementPart(resets_path=any(token.is_word("all") for token in statement))


def _declare(statement: Sequence[Token]) -> StatementPart:
    for index, token in enumerate(statement):
        if token.is_word("for"):
            return _inner(statement, slice(index + 1, None))
        if not token.is_name:
            break
    _refuse(statement, "This cursor cannot be read.", "Write DECLARE name CURSOR FOR SELECT ...")


def _inner(statement: Sequence[Token], part: slice) -> StatementPart:
    """Return the part if a query begins there."""
    inside = statement[part]
    if not inside or not (inside[0].kind is TokenKind.OPEN or inside[0].is_word(*QUERIES)):
        _refuse(statement, "A query is expected in this statement.", "Write one SELECT.")
    return StatementPart(part)


def _prepare(statement: Sequence[Token]) -> StatementPart:
    if len(statement) < 2 or not statement[1].is_name or statement[1].is_word("transaction"):
        _refuse(statement, "Transactions in two phases do not pass the gateway.")
    for index, token in enumerate(statement[2:], 2):
        if token.is_word("as"):
            return _inner(statement, slice(index + 1, None))
        if token.kind in (TokenKind.STRING, TokenKind.PARAMETER):
            break
    _refuse(statement, "This statement cannot be prepared.", "Write PREPARE name AS SELECT ...")


def _execute(statement: Sequence[Token]) -> StatementPart:
    """Let an EXECUTE with constants pass."""
    for index, token in enumerate(statement[1:], 1):
        opens = token.kind is TokenKind.OPEN and index != 2
        named = index > 2 and token.is_name and not token.is_word("null", "true", "false")
        if opens or (named and not _is_cast(statement, index)):
            raise Refusal("G011", token.span, "EXECUTE takes constants only.", "Write the value itself.")
    return _NOTHING


def _is_cast(statement: Sequence[Token], index: int) -> bool:
    return statement[index - 1].text in ("::", ".")


def _copy(statement: Sequence[Token]) -> StatementPart:
    if len(statement) < 2 or statement[1].kind is not TokenKind.OPEN:
        _refuse(statement, "Only queries are copied.", "Write COPY (SELECT ...) TO STDOUT.")
    end = _closing(statement, 1)
    rest = statement[end + 1 :]
    if len(rest) < 2 or not rest[0].is_word("to") or not rest[1].is_word("stdout"):
        _refuse(statement, "A query is copied to the client only.", "Write COPY (SELECT ...) TO STDOUT.")
    for token in rest[2:]:
        parentheses = token.kind in (TokenKind.OPEN, TokenKind.CLOSE)
        plain = (
            token.is_name or token.kind in (TokenKind.STRING, TokenKind.NUMBER) or token.text in (",", "*")
        )
        if not parentheses and not plain:
            raise Refusal("G011", token.span, "This option has no place here.", "Leave it out.")
    return _inner(statement, slice(2, end))


def _closing(statement: Sequence[Token], opening: int) -> int:
    depth = 0
    for index in range(opening, len(statement)):
        kind = statement[index].kind
        depth += (kind is TokenKind.OPEN) - (kind is TokenKind.CLOSE)
        if not depth:
            return index
    return len(statement) - 1  # statements are cut so that parentheses match


def _explain(statement: Sequence[Token]) -> StatementPart:
    _refuse(statement, "EXPLAIN does not pass: it shows estimates from the data.", "Run the query itself.")


QUERIES: Final = ("select", "with", "values", "table")

STATEMENTS: Final[Mapping[str, Callable[[Sequence[Token]], StatementPart]]] = {
    **dict.fromkeys((*QUERIES, "("), _query),
    **dict.fromkeys(
        ("begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"), _of_names
    ),
    **dict.fromkeys(("show", "deallocate", "close", "fetch", "move", "unlisten"), _of_names),
    "set": _set,
    "reset": _reset,
    "discard": _discard,
    "declare": _declare,
    "prepare": _prepare,
    "execute": _execute,
    "copy": _copy,
    "explain": _explain,
}
"""By the first word in lower case: checks the statement, says what part of it is a query."""
