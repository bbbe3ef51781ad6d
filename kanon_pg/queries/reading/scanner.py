"""Tokens of a query, as PostgreSQL reads them, and the constants among them.

No parser of ours reads a constant: each is kept as it was written, and stands in the text that is parsed as a
string of a name that only this module gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.queries.reading.findings import Refusal

MOST_CHARACTERS = 100_000
MOST_TOKENS = 10_000
DEEPEST = 64

_TOKEN = re.compile(
    r"""(?P<blank>\s+|--[^\r\n]*)
    |(?P<comment>/\*)
    |(?P<string>'(?:[^']|'')*')
    |(?P<escaped>[eE]'(?:[^'\\]|''|\\.)*')
    |(?P<dollar>\$(?P<tag>[^\W\d]\w*)?\$.*?\$(?(tag)(?P=tag))\$)
    |(?P<quoted>"(?:[^"]|"")+")
    |(?P<other_string>(?:[bBxXnN]|[uU]&)['"])
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w))
    |(?P<word>[^\W\d][\w$]*)
    |(?P<parameter>\$\d+)
    |(?P<sign>::|[(),.;\[\]:])
    |(?P<operator>[-+*/<>=~!@\#%^&|`?]+)""",
    re.VERBOSE | re.DOTALL,
)


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_TYPES_BEFORE_CONSTANTS = words(
    "date time timetz timestamp timestamptz interval numeric decimal int2 int4 int8 smallint integer bigint"
    " real float4 float8 text varchar bool boolean uuid inet cidr bytea"
)
"""Types that may stand before a string, so that both are one constant."""

_ZONES = (["with", "time", "zone"], ["without", "time", "zone"])
_INTERVAL_FIELDS = words("year month day hour minute second")

PLACE = "kanon:"
"""How the strings begin that stand for constants."""

NUMBER_MARK = "n"
"""How those end that stand for numbers with a fraction, which are numeric in PostgreSQL."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text."""

    kind: str
    """One of 'string', 'name', 'number', 'word', 'parameter', 'sign'. A quoted name is a 'name'; a word may
    be a name or a key word."""
    text: str
    """As written; of a name without quotes, and of a word with ASCII letters in lower case."""
    start: int
    end: int
    """`start`, `end`: place in the text."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """A text with its constants taken out."""

    text: str
    """Has a string ``'kanon:N'`` in place of constant number N."""
    constants: tuple[str, ...]
    """SQL of each, in the order of their numbers."""
    places: tuple[tuple[int, int], ...]
    """Where something is in `text`, and where the same was in the text as written, in ascending order."""

    def written_at(self, place: int) -> int:
        """Return the place in the text as written of a place in `text`."""
        before = [pair for pair in self.places if pair[0] <= place]
        return before[-1][1] + place - before[-1][0] if before else place


def scan(text: str) -> tuple[Token, ...]:
    """Return the tokens of one statement, without comments and a semicolon at the end."""
    if len(text) > MOST_CHARACTERS:
        raise Refusal("Q001", 0, f"The query is longer than {MOST_CHARACTERS:,} characters.")
    tokens: list[Token] = []
    place = depth = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        kind = None if match is None else match.lastgroup
        if match is None or kind == "other_string":
            raise _strange(text, place)
        if kind == "comment":
            place = _after_comment(text, place)
            continue
        if kind != "blank":
            tokens.append(_token(kind or "dollar", match))
            depth += (match.group() == "(") - (match.group() == ")")
        place = tokens[-1].end if kind == "operator" else match.end()
        if len(tokens) > MOST_TOKENS or depth > DEEPEST:
            raise Refusal(
                "Q001", place, "The query is too long or too deeply nested.", "Write a simpler query."
            )
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    for token in tokens:
        if token.text == ";" and token.kind == "sign":
            raise Refusal("Q002", token.start, "Only one statement can be run.", "Run each query by itself.")
    return tuple(tokens)


def calls_in(tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """Yield what may be the name of a called function, and its number among the tokens."""
    for number, (token, following) in enumerate(pairwise(tokens)):
        if token.kind in {"name", "word"} and following.kind == "sign" and following.text == "(":
            yield token.text, number


def functions_in(tokens: Sequence[Token]) -> frozenset[str]:
    """Return what may be names of called functions; a.b calls function b as well, if a has no column b."""
    named = (token.text for dot, token in pairwise(tokens) if dot.kind == "sign" and dot.text == ".")
    return frozenset((*(name for name, _ in calls_in(tokens)), *named))


def take_out_constants(tokens: Sequence[Token], values: Sequence[str | None] = ()) -> Scanned:
    """Return a text of the tokens in which strings of our own stand for constants, and for parameters."""
    pieces: list[str] = []
    constants: dict[str, int] = {}
    places: list[tuple[int, int]] = []
    length = number = 0
    while number < len(tokens):
        token = tokens[number]
        used, constant = _constant_at(tokens, number, values)
        if constant is not None:
            # equal ones are one, so that an expression is found again where it is repeated
            number_mark = NUMBER_MARK if token.kind == "number" else ""
            piece = f"'{PLACE}{constants.setdefault(constant, len(constants))}{number_mark}'"
        elif token.kind == "name" or not token.text.isascii():
            piece = str(Identifier.of(token.text))
        else:
            piece = token.text
        places.append((length, token.start))
        pieces.append(piece)
        length += len(piece) + 1
        number += used
    return Scanned(" ".join(pieces), tuple(constants), tuple(places))


def _constant_at(
    tokens: Sequence[Token], number: int, values: Sequence[str | None]
) -> tuple[int, str | None]:
    """Return how many tokens make a constant, and its SQL; 1 and None if none begins here."""
    token = tokens[number]
    if token.kind == "string":
        return 1, token.text
    if token.kind == "parameter":
        return 1, _parameter(token, values)
    if token.kind == "number" and not token.text.isdigit():
        return 1, token.text
    if token.kind != "word" or token.text not in _TYPES_BEFORE_CONSTANTS:
        return 1, None
    has_zone = [one.text for one in tokens[number + 1 : number + 4]] in _ZONES
    last = number + (4 if has_zone else 1)
    if last >= len(tokens) or tokens[last].kind != "string":
        return 1, None
    if token.text == "interval" and last + 1 < len(tokens) and tokens[last + 1].text in _INTERVAL_FIELDS:
        last += 1
    return last + 1 - number, f"({' '.join(one.text for one in tokens[number : last + 1])})"


def _parameter(token: Token, values: Sequence[str | None]) -> str:
    number = int(token.text[1:])
    if not 1 <= number <= len(values):
        raise Refusal(
            "Q011", token.start, f"There is no value for {token.text}.", "Give one value for each parameter."
        )
    value = values[number - 1]
    return "NULL" if value is None else str(Literal(value))


def _token(kind: str, match: re.Match[str]) -> Token:
    text, start, end = match.group(), match.start(), match.end()
    if kind in {"string", "escaped", "dollar", "tag"}:
        return Token("string", text, start, end)
    if kind == "quoted":
        return Token("name", text[1:-1].replace('""', '"'), start, end)
    if kind == "word":
        return Token("word", "".join(one.lower() if one.isascii() else one for one in text), start, end)
    if kind == "operator":
        text = _operator(text)
        return Token("sign", text, start, start + len(text))
    return Token(kind, text, start, end)


def _operator(text: str) -> str:
    """Return the part of a run of signs that PostgreSQL reads as one operator."""
    ends = [place for place in (text.find("--"), text.find("/*")) if place > 0]
    text = text[: min(ends, default=len(text))]
    while len(text) > 1 and text[-1] in "+-" and not set(text) & set("~!@#%^&|`?"):
        text = text[:-1]
    return text


def _after_comment(text: str, place: int) -> int:
    """Return where a comment ends, which may have others in it."""
    depth, start = 0, place
    for match in re.compile(r"/\*|\*/").finditer(text, place):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    raise Refusal("Q008", start, "A comment does not end.", "Add */.")


def _strange(text: str, place: int) -> Refusal:
    character = text[place]
    if character in {"'", '"'}:
        return Refusal("Q008", place, "A string or a quoted name does not end.", "Add the closing quote.")
    if character in "bBxXnNuU":
        return Refusal(
            "Q004", place, "Strings with this prefix are not read.", "Write an ordinary string: 'text'."
        )
    return Refusal("Q009", place, "This character has no place in a query.", "Leave it out.")
