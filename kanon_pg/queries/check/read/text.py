"""Bounds on the text before any parser sees it.

A small automaton walks over the text once and refuses everything that different lexers could read
differently: characters beyond ASCII outside of string literals, escape and Unicode strings, bit strings,
dollar quotes, backslashes, over-long names, deep parentheses, a second statement.
"""

from __future__ import annotations

import re

from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.options import QueryLimits

_PIECE = re.compile(
    r"""(?P<space>[ \t\r\n\f]+)
    |(?P<line>--[^\r\n]*)
    |(?P<block>/\*(?:(?!/\*|\*/).)*\*/)
    |(?P<string>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")+")
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<parameter>\$[0-9]+)
    |(?P<open>[(\[])
    |(?P<close>[)\]])
    |(?P<end>;)
    |(?P<sign>::|<=|>=|<>|!=|!?~\*?|\|\||/(?!\*)|\*(?!/)|[-+%=<>,.])""",
    re.VERBOSE | re.DOTALL,
)
_PREFIXED = frozenset({"e", "b", "x", "n", "u", "r", "_utf8"})
_NAME_BYTES = 63


def check_text(text: str, limits: QueryLimits) -> str:
    """Refuse a text that is too large or holds pieces that have no place in a query.

    Returns
    -------
    str
        The text with blanks in place of comments; positions stay as they are.

    Raises
    ------
    Refusal
        Codes Q001 to Q009.
    """
    if len(text) > limits.characters:
        whole = Span(0, len(text))
        raise Refusal("Q001", whole, f"The query is longer than {limits.characters} characters.")
    position = tokens = depth = 0
    previous = ""
    plain: list[str] = []
    ended = False
    while position < len(text):
        match = _PIECE.match(text, position)
        if match is None:
            raise _strange(text, position)
        kind, piece = match.lastgroup or "", match.group()
        span = Span(*match.span())
        position = match.end()
        if kind in {"space", "line", "block"}:
            _check_comment(kind, piece, span)
            plain.append(" " * len(piece))
            previous = ""
            continue
        _check_place(piece, span, first=tokens == 0, ended=ended)
        ended = kind == "end"
        tokens += 1
        depth += (kind == "open") - (kind == "close")
        _check_piece(kind, piece, previous, span)
        previous = piece
        plain.append(piece)
        if tokens > limits.tokens or depth > limits.depth:
            raise Refusal(
                "Q001", span, "The query is too long or too deeply nested.", "Write a simpler query."
            )
    return "".join(plain)


def _check_comment(kind: str, piece: str, span: Span) -> None:
    if kind != "space" and not piece.isascii():
        raise Refusal("Q003", span, "A comment holds characters beyond ASCII.", "Leave the comment out.")


def _check_place(piece: str, span: Span, *, first: bool, ended: bool) -> None:
    if ended:
        raise Refusal("Q002", span, "Only one statement can be run.", "Run each query by itself.")
    if first and piece.lower() not in {"select", "with", "("}:
        raise Refusal("Q021", span, "Only SELECT can be run.", "Write one SELECT.")


def _check_piece(kind: str, piece: str, previous: str, span: Span) -> None:
    if kind == "string":
        if previous.lower() in _PREFIXED:
            hint = "Write an ordinary string: 'text'."
            raise Refusal("Q004", span, "Strings with a prefix are not allowed.", hint)
        if "\0" in piece or any("\ud800" <= character <= "\udfff" for character in piece):
            raise Refusal("Q003", span, "The string holds a character that PostgreSQL does not store.")
        return
    if not piece.isascii():
        hint = "Use names of letters, digits and underscores."
        raise Refusal("Q003", span, "Characters beyond ASCII are allowed in strings only.", hint)
    if kind == "quoted" and (not piece.isprintable() or previous == "'"):
        raise Refusal("Q003", span, "A quoted name holds a control character.")
    if kind in {"word", "quoted"} and len(piece.strip('"')) > _NAME_BYTES:
        raise Refusal("Q005", span, "The name is longer than 63 characters.", "PostgreSQL would cut it off.")
    if kind in {"word", "quoted"} and previous[-1:].isdigit() and previous[0] in "0123456789.$":
        raise Refusal("Q006", span, "A number runs into a name.", "Put a space between them.")


_FORBIDDEN_CHARACTERS = {
    "$": ("Q007", "Dollar quotes are not allowed.", "Write strings in single quotes: 'text'."),
    "'": ("Q008", "A string does not end.", "Add the closing quote."),
    '"': ("Q008", "A quoted name does not end or is empty.", "Add the closing quote."),
    "/": ("Q008", "A comment does not end, or holds another one.", "Leave the comment out."),
    ":": ("Q009", "Parameters are written $1 or %s.", "Write $1."),
    **dict.fromkeys(
        "!@#&^|?",
        ("Q009", "This operator is not allowed.", "Allowed are + - * / % ||, comparisons and LIKE."),
    ),
}


def _strange(text: str, position: int) -> Refusal:
    span = Span(position, position + 1)
    character = text[position]
    if not character.isascii():
        hint = "Use ordinary spaces, and names of letters, digits and underscores."
        return Refusal("Q003", span, "Characters beyond ASCII are allowed in strings only.", hint)
    plain = ("Q009", "This character has no place in a query.", "Leave it out.")
    code, sentence, hint = _FORBIDDEN_CHARACTERS.get(character, plain)
    return Refusal(code, span, sentence, hint)
