"""Splits SQL into tokens exactly where PostgreSQL does, and into statements.

Only for what passes without being a query: transactions, settings, cursors, catalog queries of tools.
PostgreSQL's lexer depends on two settings that the gateway keeps fixed for the whole session: UTF-8, and
``standard_conforming_strings``. Forms that it reads differently from version to version are refused.

Why no library: the binding of PostgreSQL's own lexer that is kept, pglast, is under the GNU GPL; sqlglot,
which the checker uses for queries, takes all of EXECUTE but its first word for one string, for example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from kanon_pg.queries.check.findings import Refusal, Span

MAX_TEXT_CHARACTERS = 262_144
"""Longest text of statements that is not refused."""
MAX_NAME_BYTES = 63
"""Longest name that PostgreSQL does not cut off."""


class TokenKind(Enum):
    """Kinds of tokens."""

    WORD = "word"
    QUOTED = "quoted name"
    STRING = "string"
    NUMBER = "number"
    PARAMETER = "parameter"
    SIGN = "sign"
    OPEN = "("
    CLOSE = ")"
    END = ";"


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its position.

    Parameters
    ----------
    start, end : int
        Its place in the whole text.
    name : str
        Of a word or quoted name: what it names, as PostgreSQL folds it; empty for all others.
    """

    kind: TokenKind
    text: str
    start: int
    end: int
    name: str = ""

    def is_word(self, *names: str) -> bool:
        """Whether this is one of these words, unquoted."""
        return self.kind is TokenKind.WORD and self.name in names

    @property
    def is_name(self) -> bool:
        """Whether it may be a name."""
        return self.kind in (TokenKind.WORD, TokenKind.QUOTED)

    @property
    def span(self) -> Span:
        """Its position in the text."""
        return Span(self.start, self.end)


_LETTER = r"[A-Za-z_\u0080-\U0010ffff]"
_PIECE = re.compile(
    rf"""(?P<space>[ \t\r\n\f]+|--[^\r\n]*)
    |(?P<comment>/\*)
    |(?P<string>[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*')
    |(?P<strange>[uU]&['"]|[bBxXnN]'|\$\$|\${_LETTER})
    |(?P<quoted>"(?:[^"]|"")+")
    |(?P<word>{_LETTER}(?:{_LETTER}|[0-9$])*)
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<parameter>\$[0-9]+)
    |(?P<open>\()|(?P<close>\))|(?P<end>;)
    |(?P<sign>::|:=|=>|[-~!@\#^&|`?+*/%<>=.,:\[\]])""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_FOLDED = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_KINDS = {kind.name.lower(): kind for kind in TokenKind}


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, blanks and comments left out.

    Raises
    ------
    Refusal
        Codes G001 to G005: the text is too long, or holds a piece that is refused everywhere.
    """
    if len(text) > MAX_TEXT_CHARACTERS:
        raise Refusal(
            "G001", Span(0, len(text)), f"The text is longer than {MAX_TEXT_CHARACTERS} characters."
        )
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _PIECE.match(text, position)
        if match is None or match.lastgroup == "strange":
            raise _refused(text, position)
        if match.lastgroup == "comment":
            position = _comment_end(text, position)
            continue
        position = match.end()
        if match.lastgroup != "space":
            found.append(_token(match, found[-1] if found else None))
    return found


def _token(match: re.Match[str], before: Token | None) -> Token:
    kind, piece = _KINDS[match.lastgroup or ""], match.group()
    span = Span(*match.span())
    name = ""
    if kind is TokenKind.WORD:
        name = piece.translate(_FOLDED)
    elif kind is TokenKind.QUOTED:
        name = piece[1:-1].replace('""', '"')
    if len(name.encode()) > MAX_NAME_BYTES:
        hint = "PostgreSQL would cut it off."
        raise Refusal("G002", span, f"A name is longer than {MAX_NAME_BYTES} bytes.", hint)
    touches = before is not None and before.end == span.start
    if touches and before is not None and before.kind in (TokenKind.NUMBER, TokenKind.PARAMETER):
        runs_on = kind in (TokenKind.WORD, TokenKind.NUMBER, TokenKind.PARAMETER) or (
            piece == "." and "." in before.text
        )
        if runs_on:
            raise Refusal("G003", span, "A number runs into what follows.", "Put a space between them.")
    return Token(kind, piece, span.start, span.end, name)


def _comment_end(text: str, start: int) -> int:
    """Return where a comment ends; comments nest."""
    depth, position = 1, start + 2
    while depth:
        edge = _COMMENT_EDGE.search(text, position)
        if edge is None:
            raise Refusal("G005", Span(start, start + 2), "A comment does not end.", "Add the closing */.")
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
    return position


_UNCLOSED = {
    "'": ("A string does not end.", "Add the closing quote."),
    '"': ("A quoted name does not end or is empty.", "Add the closing quote."),
}
_FORBIDDEN_CHARACTERS = {
    "$": ("Dollar quotes are not allowed.", "Write strings in single quotes: 'text'."),
    **_UNCLOSED,
    **dict.fromkeys("uUbBxXnN", ("Strings with this prefix are not allowed.", "Write a string: 'text'.")),
}


def _refused(text: str, position: int) -> Refusal:
    plain = ("This character has no place in a statement.", "Leave it out.")
    sentence, hint = _FORBIDDEN_CHARACTERS.get(text[position], plain)
    code = "G005" if text[position] in _UNCLOSED else "G003"
    return Refusal(code, Span(position, position + 1), sentence, hint)


def statements(found: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of each statement; an empty one yields nothing.

    Raises
    ------
    Refusal
        G004 if parentheses are not closed where a statement ends.
    """
    start = depth = 0
    for index, token in enumerate(found):
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        if depth < 0 or (depth and token.kind is TokenKind.END):
            raise Refusal("G004", token.span, "Parentheses do not match.", "Close every one that is open.")
        if token.kind is TokenKind.END:
            if index > start:
                yield found[start:index]
            start = index + 1
    if depth:
        raise Refusal("G004", found[-1].span, "Parentheses do not match.", "Close every one that is open.")
    if len(found) > start:
        yield found[start:]
