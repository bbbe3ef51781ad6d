"""What passes by its kind: statements by their first word, and settings by name and value.

Says which part of a statement is a query, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from kanon_pg.errors import NotPermitted
from kanon_pg.gateway.search_path import START, PathAction, PathEffect, Schemas
from kanon_pg.gateway.tokens import MAX_NAME_BYTES, Token, TokenKind
from kanon_pg.queries.check.findings import Refusal, Span

_UTF8 = frozenset({"utf8", "unicode"})
_DATE_STYLE = re.compile(r"iso(\s*,\s*(dmy|mdy|ymd|us|european|euro|noneuro|noneuropean))?", re.IGNORECASE)


def _any(_value: str) -> bool:
    return True


def _utf8(value: str) -> bool:
    # PostgreSQL looks at letters and digits of a name only: asyncpg writes 'utf-8', with the quotes
    return re.sub("[^a-z0-9]", "", value.lower()) in _UTF8


def _one_of(*values: str) -> Callable[[str], bool]:
    return lambda value: value.lower() in values


ALLOWED: Final[Mapping[str, Callable[[str], bool]]] = {
    "application_name": _any,
    "bytea_output": _any,
    "client_encoding": _utf8,
    # below notice, messages tell what the server does while it answers: plans, subtransactions, calls
    "client_min_messages": _one_of("notice", "warning", "error"),
    # answers travel as text inside the server: only forms that are read back as they were written
    "datestyle": lambda value: _DATE_STYLE.fullmatch(value.strip()) is not None,
    "default_transaction_deferrable": _any,
    "default_transaction_isolation": _any,
    "default_transaction_read_only": _any,
    "extra_float_digits": _one_of("1", "2", "3"),
    "idle_in_transaction_session_timeout": _any,
    "intervalstyle": _one_of("postgres", "postgres_verbose", "iso_8601"),
    "jit": _any,
    "lc_messages": _any,
    "lock_timeout": _any,
    "search_path": _any,
    "standard_conforming_strings": _one_of("on", "true", "yes", "1"),
    "statement_timeout": _any,
    "timezone": _any,
    "transaction_isolation": _any,
    "transaction_read_only": _any,
}
"""Names in lower case, and which values each may have."""

FIXED: Final[Mapping[str, str]] = {
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "standard_conforming_strings": "on",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
}
"""What a session starts with unless the client asks for another allowed value: no default of the server may
change how statements and values are written."""

_OPTION = re.compile(r"(?:-c\s*|--)([A-Za-z_]+)=((?:[^\s\\]|\\.)*)")


def permitted(name: str, value: str) -> bool:
    """Whether a session may have a setting."""
    allowed = ALLOWED.get(name.lower())
    return allowed is not None and allowed(value)


def start_parameters(given: Mapping[str, str], database: str) -> dict[str, str]:
    """Return what is sent to the server in place of a client's first packet.

    Parameters
    ----------
    given : mapping
        The client's parameters.

    Raises
    ------
    NotPermitted
        If the client requests something that the gateway does not pass on.
    """
    settings = dict(given)
    user = settings.pop("user", "")
    if not user:
        raise NotPermitted("No user is named.")
    if settings.pop("database", database) != database:
        raise NotPermitted("This gateway serves another database.", hint="Ask whoever runs it for its name.")
    if settings.pop("replication", "off").lower() not in ("off", "false", "no", "0"):
        raise NotPermitted("Replication does not go through the gateway.")
    options = settings.pop("options", "")
    settings |= _command_line(options)
    for name, value in settings.items():
        if not permitted(name, value):
            raise NotPermitted(
                f"The connection may not start with this value of {_shown(name)}.",
                hint="Leave it out; the gateway works with UTF8 and dates in ISO form.",
            )
    lower = {name.lower() for name in settings}
    fixed = {name: value for name, value in FIXED.items() if name.lower() not in lower}
    return {"user": user, "database": database, **settings, **fixed}


def _command_line(options: str) -> dict[str, str]:
    """Parse ``-c name=value ...``."""
    if _OPTION.sub("", options).strip():
        raise NotPermitted("The connection may not start with these options.", hint="Write -c name=value.")
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in _OPTION.findall(options)}


def _shown(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_.]{1,63}", name) else "a setting"


def check_set(statement: Sequence[Token]) -> tuple[str, str] | None:
    """Refuse a SET that is not allowed; return which setting becomes what, None if it is a transaction's.

    Raises
    ------
    Refusal
        Code G020.
    """
    words = list(statement[1:])
    if (
        words
        and words[0].is_word("session", "local")
        and not (len(words) > 1 and words[1].text in ("=", "to"))
    ):
        words = words[1:]
    if words and words[0].is_word("transaction", "characteristics"):
        _only_words(words)
        return None
    if len(words) > 1 and words[0].is_word("time") and words[1].is_word("zone"):
        return "timezone", ""
    if words and words[0].is_word("names"):
        name, value = "client_encoding", words[1:]
    elif len(words) > 2 and words[0].is_name and (words[1].text == "=" or words[1].is_word("to")):
        name, value = words[0].name.lower(), words[2:]
    else:
        raise _refused(statement)
    written = _value(value, statement)
    if value[0].is_word("default") or permitted(name, written):
        return name, written
    raise _refused(statement)


def _value(tokens: Sequence[Token], statement: Sequence[Token]) -> str:
    if not tokens:
        raise _refused(statement)
    parts = []
    for token in tokens:
        if token.kind is TokenKind.STRING and token.text.startswith("'"):
            parts.append(token.text[1:-1].replace("''", "'"))
        elif token.is_name:
            parts.append(token.name)
        elif token.kind is TokenKind.NUMBER or token.text in (",", "-", "+"):
            parts.append(token.text)
        else:
            raise _refused(statement)
    return "".join(parts)


def string_value(token: Token) -> str | None:
    """Return the value of a plain string literal, None for any other token."""
    if token.kind is not TokenKind.STRING or not token.text.startswith("'"):
        return None
    return token.text[1:-1].replace("''", "'")


def path_of(statement: Sequence[Token]) -> Schemas:
    """Return the schemas that a SET search_path names, `START` for DEFAULT.

    Raises
    ------
    Refusal
        Code G020 if PostgreSQL would read another path than is written.
    """
    place = next(index for index, token in enumerate(statement) if token.name.lower() == "search_path")
    values = statement[place + 2 :]
    if values[0].is_word("default"):
        return START
    named = tuple(token.name or string_value(token) or "" for token in values if token.text != ",")
    plain = all(token.is_name or token.kind is TokenKind.STRING for token in values[::2])
    # PostgreSQL makes one string of two that follow each other in two lines
    separated = len(values) % 2 == 1 and all(token.text == "," for token in values[1::2])
    if not plain or not separated or any(len(name.encode()) > MAX_NAME_BYTES for name in named):
        span = Span(values[0].start, values[-1].end)
        hint = f"Write names of schemas of up to {MAX_NAME_BYTES} bytes, with commas between them."
        raise Refusal("G020", span, "PostgreSQL would not read this search path as it is written.", hint)
    return named


def listed_path(value: str) -> tuple[str, ...]:
    """Return the schemas of a setting's text, as in ``"$user", public``.

    Examples
    --------
    >>> listed_path('"$user", Public, "a ""b"')
    ('$user', 'public', 'a "b')
    """
    found = re.findall(r'\s*(?:"((?:[^"]|"")*)"|([^",\s]+))\s*(?:,|$)', value)
    return tuple(quoted.replace('""', '"') if quoted else plain.lower() for quoted, plain in found)


def _only_words(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.kind is not TokenKind.WORD and token.text != ",":
            raise Refusal("G020", token.span, "This setting may not be changed.")


def _refused(statement: Sequence[Token]) -> Refusal:
    span = Span(statement[0].start, statement[-1].end)
    hint = "Allowed are: " + ", ".join(sorted(ALLOWED)) + ", with values that keep texts unambiguous."
    return Refusal("G020", span, "This setting may not be changed, or not to this value.", hint)


@dataclass(frozen=True, slots=True)
class StatementPart:
    """What is left to look at.

    Parameters
    ----------
    query : slice or None
        The tokens of the query in the statement.
    effect : PathEffect or None
        What the statement does to the search path.
    """

    query: slice | None = None
    effect: PathEffect | None = None


_NOTHING = StatementPart()
_RESETS: Final[Mapping[str, PathEffect]] = {
    "all": PathEffect(PathAction.RESET_ALL),
    "search_path": PathEffect(PathAction.SET),
}
_KINDS_HINT = "Allowed are SELECT, transactions, cursors, COPY (SELECT ...) TO STDOUT and some settings."
_COMMANDS = (
    "abort", "alter", "analyse", "analyze", "begin", "call", "checkpoint", "close", "cluster",
    "comment", "commit", "copy", "create", "deallocate", "declare", "delete", "discard", "do", "drop",
    "end", "execute", "explain", "fetch", "grant", "import", "insert", "listen", "load", "lock",
    "merge", "move", "notify", "prepare", "reassign", "refresh", "reindex", "release", "repack",
    "reset", "revoke", "rollback", "savepoint", "security", "select", "set", "show", "start", "table",
    "truncate", "unlisten", "update", "vacuum", "values", "wait", "with",
)  # fmt: skip
"""With these words statements of any version of PostgreSQL begin."""


def _refuse(statement: Sequence[Token], sentence: str, hint: str = "") -> NoReturn:
    raise Refusal("G010", Span(statement[0].start, statement[-1].end), sentence, hint)


def unknown_kind(statement: Sequence[Token]) -> NoReturn:
    """Refuse a statement of any other kind.

    Raises
    ------
    Refusal
        Always: code G005 if no statement of PostgreSQL begins so, otherwise G010.
    """
    first = statement[0]
    if not first.is_word(*_COMMANDS):
        raise Refusal("G005", first.span, "No statement begins with this.", _KINDS_HINT)
    _refuse(statement, "This kind of statement does not pass the gateway.", _KINDS_HINT)


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
    local = statement[1].is_word("local")
    action = PathAction.SET_LOCAL if local else PathAction.SET
    return StatementPart(effect=PathEffect(action, path_of(statement)))


def _reset(statement: Sequence[Token]) -> StatementPart:
    _of_names(statement)
    names = [token.name for token in statement[1:]]
    if names in (["all"], ["time", "zone"]) or (len(names) == 1 and names[0].lower() in ALLOWED):
        return StatementPart(effect=_RESETS.get(names[0].lower()))
    _refuse(statement, "This setting may not be changed.")


def _discard(statement: Sequence[Token]) -> StatementPart:
    _of_names(statement)
    if any(token.is_word("all") for token in statement):
        return StatementPart(effect=PathEffect(PathAction.DISCARD_ALL))
    return _NOTHING


def _transaction(statement: Sequence[Token]) -> StatementPart:
    _of_names(statement)
    ends = statement[0].is_word("commit", "end")
    return StatementPart(effect=PathEffect(PathAction.COMMIT if ends else PathAction.ROLLBACK))


def _savepoint(statement: Sequence[Token]) -> StatementPart:
    _of_names(statement)
    action = PathAction.SAVEPOINT if statement[0].is_word("savepoint") else PathAction.RELEASE
    return StatementPart(effect=PathEffect(action, name=statement[-1].name))


def _rollback(statement: Sequence[Token]) -> StatementPart:
    if not any(token.is_word("to") for token in statement):
        return _transaction(statement)
    _of_names(statement)
    return StatementPart(effect=PathEffect(PathAction.ROLLBACK_TO, name=statement[-1].name))


def _deallocate(statement: Sequence[Token]) -> StatementPart:
    _of_names(statement)
    name = "" if statement[-1].is_word("all") else statement[-1].name
    return StatementPart(effect=PathEffect(PathAction.FORGET_STATEMENT, name=name))


def _declare(statement: Sequence[Token]) -> StatementPart:
    for index, token in enumerate(statement):
        if token.is_word("for"):
            effect = PathEffect(PathAction.FORGET_CURSOR, name=statement[1].name)
            return replace(_inner(statement, slice(index + 1, None)), effect=effect)
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
            effect = PathEffect(PathAction.FORGET_STATEMENT, name=statement[1].name)
            return replace(_inner(statement, slice(index + 1, None)), effect=effect)
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
    **dict.fromkeys(("begin", "start", "show", "close", "fetch", "move", "unlisten"), _of_names),
    **dict.fromkeys(("commit", "end"), _transaction),
    **dict.fromkeys(("rollback", "abort"), _rollback),
    **dict.fromkeys(("savepoint", "release"), _savepoint),
    "deallocate": _deallocate,
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
