"""Syntax trees of queries: the only module that knows sqlglot.

sqlglot knows functions of twenty dialects by heart and rewrites them; the dialect below forgets them, so
that a call stays the name and the arguments that were written. Whatever it drops or invents all the same is
found: the tree is written out again and compared with the text token by token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.parsers.postgres import PostgresParser

from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import NUMBER_MARK, PLACE, Scanned, Token, scan

_KEPT = ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")
"""Calls that have a grammar of their own."""


class _Postgres(Postgres):
    class Parser(PostgresParser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: PostgresParser.FUNCTION_PARSERS[name] for name in _KEPT
        }

        def _parse_limit(self, this: Any = None, top: bool = False, skip_limit_token: bool = False) -> Any:
            """Parse LIMIT; ``LIMIT 5, 10`` is other servers' syntax, which PostgreSQL refuses."""
            node = super()._parse_limit(this, top, skip_limit_token)
            if node is not None and node.args.get("offset") is not None:
                self.raise_error("LIMIT with a comma is not supported")
            return node

    class Generator(PostgresGenerator):
        TYPE_MAPPING: ClassVar[dict[Any, str]] = {
            **PostgresGenerator.TYPE_MAPPING,
            exp.DataType.Type.DECIMAL: "NUMERIC",
        }

        def not_sql(self, expression: exp.Not) -> str:
            """Write NOT where it was: before LIKE, IN, BETWEEN and NULL."""
            inner = expression.this
            for kind, word in _NEGATED.items():
                if type(inner) is kind:
                    written = self.sql(inner)
                    left = self.sql(inner, "this")
                    return (
                        f"{left} {word}{written[len(left) :].removeprefix(' IS' if kind is exp.Is else '')}"
                    )
            return super().not_sql(expression)

        def extract_sql(self, expression: exp.Extract) -> str:
            """Write EXTRACT as it was."""
            return f"EXTRACT({self.sql(expression, 'this')} FROM {self.sql(expression, 'expression')})"

        def trim_sql(self, expression: exp.Trim) -> str:
            """Write TRIM as it was."""
            parts = [expression.text("position"), self.sql(expression, "expression")]
            before = " ".join(part for part in parts if part)
            if not before:
                return super().trim_sql(expression)
            return f"TRIM({before} FROM {self.sql(expression, 'this')})"


_NEGATED = {
    exp.Like: "NOT",
    exp.ILike: "NOT",
    exp.In: "NOT",
    exp.Between: "NOT",
    exp.Is: "IS NOT",
}

Value: TypeAlias = "Tree | tuple[Value, ...] | str | bool | int"


@dataclass(frozen=True, slots=True)
class Tree:
    """A node: its kind, which is the name of sqlglot's class, and its arguments that are not empty."""

    kind: str
    args: Mapping[str, Value]
    place: int = field(default=0, compare=False)
    """Where it begins in the text as written; not compared."""

    def __hash__(self) -> int:
        """Return a hash that equal trees share."""
        return hash((self.kind, frozenset(self.args.items())))

    def child(self, name: str) -> Tree | None:
        """Return the argument of that name, or None if it is no node."""
        value = self.args.get(name)
        return value if isinstance(value, Tree) else None

    def children(self, name: str) -> tuple[Tree, ...]:
        """Return the nodes in the argument of that name."""
        return tuple(_nodes(self.args[name])) if name in self.args else ()

    def text(self, name: str) -> str:
        """Return the argument of that name, or an empty text if it is none."""
        value = self.args.get(name)
        return value if isinstance(value, str) else ""

    @property
    def parts(self) -> tuple[Tree, ...]:
        """All nodes right below."""
        return tuple(part for value in self.args.values() for part in _nodes(value))

    @property
    def operands(self) -> tuple[Tree, ...]:
        """What an operator has on its left, and on its right."""
        return (*self.children("this"), *self.children("expression"))

    @property
    def bare(self) -> Tree:
        """The node without parentheses around it."""
        inner = self.child("this") if self.kind == "Paren" else None
        return self if inner is None else inner.bare

    @property
    def called(self) -> str:
        """Name of the function that is called, in lower case; empty if none is."""
        return self.text("this").lower() if self.kind == "Anonymous" else ""

    @property
    def arguments(self) -> tuple[Tree, ...]:
        """What stands in a list: arguments of a call, outputs of a SELECT."""
        return self.children("expressions")

    @property
    def columns(self) -> tuple[Tree, ...]:
        """All columns in it, itself among them."""
        return tuple(node for node in self.walk() if node.kind == "Column")

    def walk(self, enter: Callable[[Tree], bool] = lambda tree: True) -> Iterator[Tree]:
        """Yield this node and all below, but nothing below those that `enter` says no to."""
        yield self
        if enter(self):
            for part in self.parts:
                yield from part.walk(enter)

    def replaced(self, change: Callable[[Tree], Tree | None]) -> Tree:
        """Return the tree with other nodes: what `change` returns for a node; None leaves it as it is."""
        other = change(self)
        if other is not None:
            return other
        args = {name: _replaced(value, change) for name, value in self.args.items()}
        return Tree(self.kind, args, self.place)

    def having(self, **args: Value | None) -> Tree:
        """Return the node with other arguments; None takes one away."""
        merged = {name: value for name, value in {**self.args, **args}.items() if value is not None}
        return Tree(self.kind, merged, self.place)


def _nodes(value: Value) -> Iterator[Tree]:
    if isinstance(value, Tree):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def _replaced(value: Value, change: Callable[[Tree], Tree | None]) -> Value:
    if isinstance(value, Tree):
        return value.replaced(change)
    if isinstance(value, tuple):
        return tuple(_replaced(item, change) for item in value)
    return value


def parse(scanned: Scanned) -> Tree:
    """Parse one statement, whose constants are taken out."""
    try:
        statements = [one for one in _Postgres().parse(scanned.text) if one is not None]
    except ParseError as error:
        details = error.errors[0] if error.errors else {}
        column = details.get("col")
        place = scanned.written_at(column - 1) if isinstance(column, int) else 0
        raise Refusal("Q010", place, "The query cannot be parsed here.", _HINT) from None
    except (SqlglotError, RecursionError, ValueError, LookupError, TypeError, AttributeError):
        raise Refusal("Q010", 0, "The query cannot be parsed.", _HINT) from None
    if len(statements) != 1:
        raise Refusal("Q002", 0, "Exactly one query is expected.", "Write one SELECT.")
    tree = _tree(statements[0], scanned)
    _require_same(scanned, tree)
    return tree


_HINT = "Allowed is one SELECT in PostgreSQL's grammar."


def render(tree: Tree, constants: Sequence[str]) -> str:
    """Return SQL of a tree, with its constants as they were written."""
    written = _sql(tree)
    pieces, place = [], 0
    for token in scan(written):
        if token.kind == "string" and token.text.startswith(f"'{PLACE}"):
            pieces += [
                written[place : token.start],
                constants[int(token.text[len(PLACE) + 1 : -1].rstrip(NUMBER_MARK))],
            ]
            place = token.end
    return "".join([*pieces, written[place:]])


def _sql(tree: Tree) -> str:
    return _Postgres().generate(_expression(tree), comments=False)


def _require_same(scanned: Scanned, tree: Tree) -> None:
    """Refuse a text that means something else than the tree."""
    written, read = _meaning(scan(scanned.text)), _meaning(scan(_sql(tree)))
    for one, other in zip(written, read, strict=False):
        if one.text != other.text or (one.kind == "string") != (other.kind == "string"):
            place = scanned.written_at(one.start)
            raise Refusal("Q010", place, f"The query is not understood from here on: {one.text[:30]}", _HINT)
    if len(written) != len(read):
        raise Refusal("Q010", 0, "The query is not understood as a whole.", _HINT)


_SAME = {
    "!=": "<>",
    "decimal": "numeric",
    "int": "integer",
    "int4": "integer",
    "int2": "smallint",
    "int8": "bigint",
    "real": "float4",
    "float": "float8",
    "bool": "boolean",
    "~~": "like",
    "~~*": "ilike",
    "isnull": "null",
    "some": "any",
}
"""Words that mean the same as others."""

_PHRASES = {
    ("double", "precision"): "float8",
    ("character", "varying"): "varchar",
    ("timestamp", "with", "time", "zone"): "timestamptz",
    ("timestamp", "without", "time", "zone"): "timestamp",
    ("time", "with", "time", "zone"): "timetz",
    ("time", "without", "time", "zone"): "time",
    ("nulls", "first"): ")",
    ("nulls", "last"): ")",
}
"""Names of types that have several words; and where NULLs stand, which sqlglot may leave out."""

_WITHOUT_MEANING = frozenset(["(", ")", "as", "asc", "outer", "inner", "::", "cast"])
"""Tokens that sqlglot leaves out or adds: parentheses are in the tree, and after a cast is its type."""


def _phrases(tokens: Sequence[Token]) -> Iterator[Token]:
    number = 0
    while number < len(tokens):
        for phrase, word in _PHRASES.items():
            some = tokens[number : number + len(phrase)]
            if tuple(token.text for token in some) == phrase:
                yield Token("sign" if word == ")" else "word", word, some[0].start, some[-1].end)
                number += len(phrase)
                break
        else:
            yield tokens[number]
            number += 1


def _meaning(tokens: Sequence[Token]) -> list[Token]:
    meaning = []
    for token in _phrases(tokens):
        text = _SAME.get(token.text, token.text) if token.kind != "string" else token.text
        if token.kind in {"word", "sign"} and text in _WITHOUT_MEANING:
            continue
        kind = "word" if token.kind == "name" else token.kind
        meaning.append(Token(kind, text, token.start, token.end))
    return meaning


def _tree(node: exp.Expr, scanned: Scanned) -> Tree:
    args = {}
    for name, value in node.args.items():
        converted = _value(value, scanned)
        if converted is not None:
            args[name] = converted
    starts = [part.place for value in args.values() for part in _nodes(value) if part.place]
    start = node.meta.get("start")
    if isinstance(start, int):
        starts.append(scanned.written_at(start))
    return Tree(type(node).__name__, args, min(starts, default=0))


def _value(value: object, scanned: Scanned) -> Value | None:
    if isinstance(value, exp.Expr):
        return _tree(value, scanned)
    if isinstance(value, list):
        return tuple(item for item in (_value(one, scanned) for one in value) if item is not None) or None
    if value is None:
        return None
    if isinstance(value, bool | str | int):
        return value
    return _Word(value)


class _Word(str):
    """An argument of sqlglot that is neither text nor a node, such as the name of a type."""

    __slots__ = ("value",)
    value: Any

    def __new__(cls, value: Any) -> _Word:
        """Keep the value beside its name."""
        word = super().__new__(cls, getattr(value, "value", value))
        word.value = value
        return word


def _expression(tree: Tree) -> exp.Expr:
    args = {name: _argument(value) for name, value in tree.args.items()}
    made: exp.Expr = getattr(exp, tree.kind)(**args)
    return made


def _argument(value: Value) -> Any:
    if isinstance(value, Tree):
        return _expression(value)
    if isinstance(value, tuple):
        return [_argument(item) for item in value]
    return value.value if isinstance(value, _Word) else value
