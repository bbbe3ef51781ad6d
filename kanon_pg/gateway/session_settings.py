"""Settings that a session may have and change, as data, and checks of the commands that change them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kanon_pg.errors import NotPermitted
from kanon_pg.gateway.tokens import Token, TokenKind
from kanon_pg.queries.check.findings import Refusal, Span

_UTF8 = frozenset({"utf8", "utf-8", "unicode"})
_DATE_STYLE = re.compile(r"iso(\s*,\s*(dmy|mdy|ymd|us|european|euro|noneuro|noneuropean))?", re.IGNORECASE)


def _any(_value: str) -> bool:
    return True


def _one_of(*values: str) -> Callable[[str], bool]:
    return lambda value: value.lower() in values


ALLOWED: Final[Mapping[str, Callable[[str], bool]]] = {
    "application_name": _any,
    "bytea_output": _any,
    "client_encoding": lambda value: value.lower() in _UTF8,
    "client_min_messages": _any,
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
    "standard_conforming_strings": "on",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
}
"""What a session starts with unless the client asks for another allowed value: no default of the server may
change how statements and values are written."""

_OPTION = re.compile(r"(?:-c\s*|--)([A-Za-z_]+)=((?:[^\s\\]|\\.)*)")
_ALIASES = {"names": "client_encoding"}


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
        If something is asked for that the gateway does not pass on.
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


def path_of(statement: Sequence[Token]) -> tuple[str, ...] | None:
    """Return the schemas that a SET search_path names, None for DEFAULT."""
    values = [token for token in statement if token.is_name or token.kind is TokenKind.STRING]
    place = next(index for index, token in enumerate(values) if token.name.lower() == "search_path")
    named = [token for token in values[place + 1 :] if not token.is_word("to")]
    if named and named[0].is_word("default"):
        return None
    return tuple(token.name if token.is_name else string_value(token) or "" for token in named)


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
