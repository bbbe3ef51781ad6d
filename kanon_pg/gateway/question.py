"""Which statements may be about people, and the text in which their parameters are constants.

Only names decide, which is cheap and need not be exact: a statement that is taken for a query without being
one comes back from the server as it is, and one that is not recognized meets PostgreSQL's own rights.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kanon_pg.db.identifiers import Literal
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import Token, scan

_TYPES: Mapping[int, str] = {
    16: "bool", 17: "bytea", 20: "int8", 21: "int2", 23: "int4", 700: "float4", 701: "float8",
    650: "cidr", 869: "inet", 1082: "date", 1083: "time", 1114: "timestamp", 1184: "timestamptz",
    1186: "interval", 1266: "timetz", 1700: "numeric", 2950: "uuid",
}  # fmt: skip
"""Types that stand before a constant, by OID; other constants get their types from where they stand."""

DATES = frozenset({1082, 1114, 1184})
"""OIDs of types whose text depends on the setting DateStyle."""


@dataclass(frozen=True, slots=True)
class Question:
    """A statement that may be about people."""

    before: str
    query: str
    after: str
    """`before`, `after`: what stands around the query: DECLARE and COPY have one inside."""
    takes_parameters: bool = True
    """Whether PostgreSQL lets the statement have parameters; COPY has none."""
    returns_rows: bool = True
    """Whether the statement is the query."""


def question(text: str, names: Collection[str]) -> Question | None:
    """Return the query of a statement if it may have one of the names of protected relations.

    Examples
    --------
    >>> question('DECLARE c CURSOR FOR SELECT count(*) FROM "patients"', {"patients"}).query
    ' SELECT count(*) FROM "patients"'
    >>> question("SELECT 'patients' FROM wards", {"patients"})
    """
    tokens = _naming(text, names)
    match [token.text if token.kind != "name" else "" for token in tokens]:
        case ["select" | "with" | "(", *_]:
            return Question("", text, "")
        case ["declare", _, *rest] if "for" in rest:
            end = tokens[2 + rest.index("for")].end
            return Question(text[:end], text[end:], "", returns_rows=False)
        case ["copy", "(", *_]:
            start, end = tokens[1].end, _closing(tokens[1:]).start
            return Question(text[:start], text[start:end], text[end:], False, False)
    return None


def _naming(text: str, names: Collection[str]) -> Sequence[Token]:
    """Return the tokens of a statement that names a relation; none of any other."""
    lowered = text.lower()
    if not any(name.lower().replace('"', '""') in lowered for name in names):
        return ()  # most statements need not be scanned
    try:
        tokens = scan(text)
    except Refusal:
        return ()
    is_named = any(token.kind in {"word", "name"} and token.text in names for token in tokens)
    return tokens if is_named else ()


def _closing(tokens: Sequence[Token]) -> Token:
    depth = 0
    for token in tokens:
        depth += (token.kind == "sign") * ((token.text == "(") - (token.text == ")"))
        if depth == 0:
            return token
    return tokens[-1]


@dataclass(frozen=True, slots=True)
class ConstantText:
    """A text with constants in place of its parameters."""

    text: str
    places: tuple[tuple[int, int], ...]
    """Where a piece begins here, and where it does in the text as written; in ascending order."""

    def written_at(self, place: int) -> int:
        """Return the place in the text as written."""
        here, there = next(pair for pair in reversed(self.places) if pair[0] <= place)
        return there + place - here


def with_constants(text: str, values: Sequence[str | None], types: Sequence[int]) -> ConstantText:
    """Return a query in which constants of types, by their OIDs, stand for its parameters.

    Examples
    --------
    >>> with_constants("SELECT $1, $2", ["7", "it's"], [23, 25]).text
    "SELECT int4 '7', 'it''s'"
    """
    constants = [_constant(value, kind) for value, kind in zip(values, types, strict=True)]
    return replaced(text, constants)


def replaced(text: str, constants: Sequence[str]) -> ConstantText:
    """Return a text with SQL in place of its parameters; those that have none stay."""
    pieces: list[str] = []
    places = [(0, 0)]
    place = length = 0
    for token in scan(text) if constants else ():
        number = int(token.text[1:]) if token.kind == "parameter" else 0
        if 1 <= number <= len(constants):
            pieces += [text[place : token.start], constants[number - 1]]
            places.append((length + token.start - place, token.start))
            length += token.start - place + len(constants[number - 1])
            place = token.end
            places.append((length, place))
    return ConstantText("".join([*pieces, text[place:]]), tuple(places))


def _constant(value: str | None, kind: int) -> str:
    if value is None:
        return "NULL"
    name = _TYPES.get(kind)
    literal = str(Literal(value)).strip()
    return literal if name is None or literal.startswith("E") else f"{name} {literal}"
