"""A client's text as a sequence of statements, the queries in them, and the names that those use.

Works on tokens, without a grammar. A relation of the analyst's that this misses reaches PostgreSQL under the
analyst's own rights, which end at protected tables; names of catalogs are found wherever they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kanon_pg.gateway.allowed_names import BEFORE_PARENTHESIS
from kanon_pg.gateway.search_path import Effects
from kanon_pg.gateway.statements import STATEMENTS, StatementPart, unknown_kind
from kanon_pg.gateway.tokens import Token, TokenKind, statements, tokens


@dataclass(frozen=True, slots=True)
class QualifiedName:
    """One or more names joined by dots.

    Parameters
    ----------
    tokens : tuple of Token
        The names, without the dots.
    index : int
        Number of the first token in the statement.
    length : int
        Number of tokens, dots included.
    called : bool
        Whether an opening parenthesis follows that begins the arguments of a call.
    relation : bool
        Whether it stands where FROM has a relation.
    alias : bool
        Whether it can only be a new name.
    """

    tokens: tuple[Token, ...]
    index: int
    length: int
    called: bool
    relation: bool
    alias: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """The names as folded."""
        return tuple(token.name for token in self.tokens)


@dataclass
class _Level:
    """State inside a pair of parentheses."""

    is_list: bool = False  # between FROM and the next clause
    in_condition: bool = False  # there, after ON
    expects: bool = False  # a relation comes next
    is_call: bool = False  # arguments, where FROM separates


_SEPARATED = frozenset({"extract", "substring", "trim", "overlay", "position"})
_ENDS_LIST = (
    "where", "group", "having", "order", "limit", "offset", "fetch", "window", "for", "union", "intersect",
    "except", "select", "values", "returning", "set",
)  # fmt: skip
_BEFORE_RELATION = ("only", "lateral", "rows")


@dataclass
class NameScan:
    """Walks over the tokens of one statement."""

    tokens: Sequence[Token]
    _levels: list[_Level] = field(default_factory=lambda: [_Level()])

    def qualified_names(self) -> Iterator[QualifiedName]:
        """Yield every qualified name in order, words of the grammar among them."""
        index = 0
        while index < len(self.tokens):
            token = self.tokens[index]
            if not token.is_name:
                self._step(token)
                index += 1
                continue
            if self._is_clause(index):
                index += 1
                continue
            qualified = self._qualified_name(index)
            self._levels[-1].expects = False
            index += qualified.length
            if qualified.called:
                separated = len(qualified.parts) == 1 and qualified.parts[0] in _SEPARATED
                self._levels.append(_Level(is_call=separated))
                index += 1
            yield qualified

    def _step(self, token: Token) -> None:
        level = self._levels[-1]
        if token.kind is TokenKind.OPEN:
            # a subquery or a joined table, if a relation was expected
            self._levels.append(_Level(is_list=level.expects, expects=level.expects))
            level.expects = False
        elif token.kind is TokenKind.CLOSE:
            if len(self._levels) > 1:
                self._levels.pop()
        elif token.text == "," and level.is_list:
            level.expects, level.in_condition = True, False
        elif token.kind is not TokenKind.SIGN or token.text != "*":
            level.expects = False

    def _is_clause(self, index: int) -> bool:
        """Whether the token is a word that moves between clauses, and do it."""
        token, level = self.tokens[index], self._levels[-1]
        if self._text(index - 1) == "." or token.kind is TokenKind.QUOTED:
            return False
        if token.name in ("from", "join"):
            distinct = self._is_word(index - 1, "distinct") and self._is_word(index - 2, "is", "not")
            if not level.is_call and not distinct:
                level.is_list, level.expects, level.in_condition = True, True, False
        elif token.name == "on" and level.is_list:
            level.in_condition = True
        elif token.name == "table" and self._starts_query(index):
            level.expects = True
        elif token.name in _ENDS_LIST:
            level.is_list = level.expects = level.in_condition = False
        else:
            return level.expects and token.name in _BEFORE_RELATION
        return True

    def _starts_query(self, index: int) -> bool:
        before = self.tokens[index - 1] if index else None
        return (
            before is None
            or before.kind in (TokenKind.OPEN, TokenKind.CLOSE)
            or before.is_word("union", "intersect", "except", "all", "for", "as", "distinct")
        )

    def _qualified_name(self, index: int) -> QualifiedName:
        names = [self.tokens[index]]
        length = 1
        while self._text(index + length) == "." and self._is_name(index + length + 1):
            names.append(self.tokens[index + length + 1])
            length += 2
        before = self.tokens[index - 1] if index else None
        opens = index + length < len(self.tokens) and self.tokens[index + length].kind is TokenKind.OPEN
        word = len(names) == 1 and names[0].is_word(*BEFORE_PARENTHESIS)
        called = opens and not word and not self._lists_columns(index, index + length)
        return QualifiedName(
            tuple(names),
            index,
            length,
            called,
            self._levels[-1].expects and not opens,
            before is not None and before.is_word("as"),
        )

    def _lists_columns(self, index: int, opening: int) -> bool:
        """Whether the parentheses after a new name hold names of columns, as in ``AS t(a, b)``."""
        before = self.tokens[index - 1] if index else None
        if before is None or before.is_word("as"):
            return before is not None
        level = self._levels[-1]
        if not level.is_list:
            begins = before.is_word("with", "recursive") or before.text == ","
            return begins and self._is_common_table(opening)
        if level.expects or level.in_condition:
            return False
        named = before.kind is TokenKind.WORD and before.name not in BEFORE_PARENTHESIS
        return named or before.kind in (TokenKind.CLOSE, TokenKind.QUOTED)

    def _is_common_table(self, opening: int) -> bool:
        """Whether parentheses are the columns of a common table expression: AS ( SELECT follows them."""
        depth = 0
        for index in range(opening, len(self.tokens)):
            kind = self.tokens[index].kind
            depth += (kind is TokenKind.OPEN) - (kind is TokenKind.CLOSE)
            if not depth:
                return self.introduces_query(index + 1)
        return False

    def introduces_query(self, index: int) -> bool:
        """Whether AS, MATERIALIZED perhaps, and a query in parentheses stand at this place."""
        if not self._is_word(index, "as"):
            return False
        index += 1
        while self._is_word(index, "not", "materialized"):
            index += 1
        opens = index < len(self.tokens) and self.tokens[index].kind is TokenKind.OPEN
        inside = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        return (
            opens
            and inside is not None
            and (inside.kind is TokenKind.OPEN or inside.is_word("select", "with", "values", "table"))
        )

    def common_tables(self) -> frozenset[str]:
        """Return the names of common table expressions, wherever they are defined."""
        found = set()
        for index, token in enumerate(self.tokens):
            if not token.is_name or self._text(index - 1) == ".":
                continue
            followed = index + 1 < len(self.tokens) and self.tokens[index + 1].kind is TokenKind.OPEN
            if self.introduces_query(index + 1) or (followed and self._is_common_table(index + 1)):
                found.add(token.name)
        return frozenset(found)

    def _text(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def _is_name(self, index: int) -> bool:
        return index < len(self.tokens) and self.tokens[index].is_name

    def _is_word(self, index: int, *names: str) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].is_word(*names)


@dataclass(frozen=True, slots=True)
class ScannedQuery:
    """A query inside a statement.

    Parameters
    ----------
    common_tables : frozenset of str
        Names of its common table expressions.
    """

    tokens: Sequence[Token]
    qualified_names: tuple[QualifiedName, ...]
    common_tables: frozenset[str]


@dataclass(frozen=True, slots=True)
class ScannedStatement:
    """A statement whose kind may pass.

    Parameters
    ----------
    query : ScannedQuery or None
        The query in it.
    """

    part: StatementPart
    query: ScannedQuery | None


@dataclass(frozen=True)
class ScannedText:
    """A text split into statements."""

    text: str
    tokens: Sequence[Token]
    statements: tuple[ScannedStatement, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """Names, schemas among them, that stand where relations do and may be those of tables of people."""
        found: set[str] = set()
        for statement in self.statements:
            if statement.query is None:
                continue
            for qualified in statement.query.qualified_names:
                if not qualified.relation or qualified.parts[0] in _SYSTEM_SCHEMAS:
                    continue
                if len(qualified.parts) > 1 or qualified.parts[0] not in statement.query.common_tables:
                    found.update(qualified.parts)
        return frozenset(found)

    @property
    def effects(self) -> Effects:
        """What each statement does to the search path."""
        return tuple(statement.part.effect for statement in self.statements)


_SYSTEM_SCHEMAS = frozenset({"pg_catalog", "information_schema", "kanon_catalog"})


def scan_text(text: str) -> ScannedText:
    """Split a text into statements and find the names in their queries.

    Raises
    ------
    Refusal
        Codes G001 to G020: a piece of it, or the kind of a statement, is refused everywhere.
    """
    found = tokens(text)
    return ScannedText(text, found, tuple(_statement(statement) for statement in statements(found)))


def _statement(statement: Sequence[Token]) -> ScannedStatement:
    part = STATEMENTS.get(statement[0].text.lower(), unknown_kind)(statement)
    if part.query is None:
        return ScannedStatement(part, None)
    query = statement[part.query]
    scan = NameScan(query)
    return ScannedStatement(part, ScannedQuery(query, tuple(scan.qualified_names()), scan.common_tables()))
