"""The syntax tree of a query: what was read, before names mean anything.

The tree is the grammar: whatever it cannot express is refused. Spans take no part in equality. The
functions at the end find aggregates and window functions in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kanon_pg.queries.check.findings import Span
from kanon_pg.queries.check.functions import AGGREGATES, PAIRS, PAIRS_COUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of the query with its place in the text."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Node):
    """A column: ``column``, ``table.column`` or ``schema.table.column``."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Star(Node):
    """``*``, ``table.*`` or ``schema.table.*`` in a list of outputs."""

    table: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant(Node):
    """A literal; ``text`` is None for NULL."""

    kind: Literal["number", "string", "boolean", "null"]
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder(Node):
    """A parameter, numbered from 1."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentTime(Node):
    """The time of the statement: ``current_date``, ``current_timestamp`` or ``localtimestamp``."""

    what: Literal["current_date", "current_timestamp", "localtimestamp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval(Node):
    """A constant interval, such as ``interval '30 days'``."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply(Node):
    """An operator by its name in lower case, such as ``+``, ``and``, ``like``, ``is null``, ``between``."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast(Node):
    """``operand::type``; the type as written, in lower case, without modifiers."""

    operand: Expression
    type_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(Node):
    """``CASE WHEN condition THEN result ... ELSE default END``."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayLiteral(Node):
    """``ARRAY[...]``: the fractions of a percentile."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InQuery(Node):
    """``value IN (SELECT ...)``: a part of WHERE that is joined by AND."""

    value: Expression
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarQuery(Node):
    """``(SELECT avg(x) FROM ...)`` in the place of a value."""

    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """A function or an aggregate."""

    function: str
    arguments: tuple[Expression, ...]
    star: bool = False
    distinct: bool = False
    condition: Expression | None = None
    within: OrderItem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderItem(Node):
    """An element of ORDER BY."""

    expression: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Windowed(Node):
    """``call OVER (PARTITION BY ... ORDER BY ...)``."""

    call: Call
    partition: tuple[Expression, ...]
    order: tuple[OrderItem, ...]


Expression: TypeAlias = (
    Name
    | Star
    | Constant
    | Placeholder
    | CurrentTime
    | Interval
    | Apply
    | Cast
    | Case
    | ArrayLiteral
    | InQuery
    | ScalarQuery
    | Call
    | Windowed
)


Groupings: TypeAlias = tuple[tuple[Expression, ...], ...]
"""Lists of group keys, one for each grouping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputItem(Node):
    """An output of a SELECT.

    Parameters
    ----------
    alias : str or None
        Its name after AS.
    given_name : str
        The name that PostgreSQL gives it if it has no alias.
    """

    expression: Expression
    alias: str | None
    given_name: str = "?column?"

    @property
    def name(self) -> str:
        """What the output is called."""
        return self.alias if self.alias is not None else self.given_name


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTable(Node):
    """A relation or a common table expression in FROM."""

    schema: str | None
    name: str
    alias: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subquery(Node):
    """A subquery in FROM."""

    query: Query
    alias: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Join(Node):
    """A source with the way it is joined to those before it; the first is a cross join."""

    kind: Literal["cross", "inner", "left"]
    source: NamedTable | Subquery
    condition: Expression | None = None
    using: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Node):
    """One SELECT without ORDER BY and LIMIT.

    ``sets`` holds what ROLLUP, CUBE and GROUPING SETS mean, each as the groupings that it stands for.
    """

    items: tuple[OutputItem, ...]
    sources: tuple[Join, ...]
    distinct: bool = False
    where: Expression | None = None
    group: tuple[Expression, ...] = ()
    sets: tuple[Groupings, ...] = ()
    having: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Node):
    """Branches of UNION ALL (one is an ordinary SELECT) with what stands around them."""

    branches: tuple[Select | Query, ...]
    tables: tuple[tuple[str, Query], ...] = ()
    order: tuple[OrderItem, ...] = ()
    limit: Expression | None = None
    offset: Expression | None = None


def is_aggregate(function: str) -> bool:
    """Return whether the function is an aggregate."""
    return function in {"count", PAIRS_COUNT} or function in AGGREGATES or function in PAIRS


def holds_aggregate(expression: Expression) -> bool:
    """Return whether an aggregate occurs anywhere in the expression."""
    if isinstance(expression, Call) and is_aggregate(expression.function):
        return True
    if isinstance(expression, Windowed):
        # the function of a window is no aggregate of the query
        parts = (
            *expression.call.arguments,
            *expression.partition,
            *(item.expression for item in expression.order),
        )
        return any(map(holds_aggregate, parts))
    return any(map(holds_aggregate, subexpressions(expression)))


def holds_window(expression: Expression) -> bool:
    """Return whether a window function occurs anywhere in the expression."""
    return isinstance(expression, Windowed) or any(map(holds_window, subexpressions(expression)))


def scalar_queries(expression: Expression) -> Iterator[ScalarQuery]:
    """Yield the queries that stand for a value anywhere in the expression, not those inside of them."""
    if isinstance(expression, ScalarQuery):
        yield expression
    parts = list(subexpressions(expression))
    if isinstance(expression, Windowed):
        ordered = (item.expression for item in expression.order)
        parts = [expression.call, *expression.partition, *ordered]
    if isinstance(expression, Call) and expression.condition is not None:
        parts.append(expression.condition)
    if isinstance(expression, Call) and expression.within is not None:
        parts.append(expression.within.expression)
    for part in parts:
        yield from scalar_queries(part)


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """Yield the expressions directly inside an expression, those of windows left out."""
    if isinstance(expression, Call):
        yield from expression.arguments
    elif isinstance(expression, Apply):
        yield from expression.operands
    elif isinstance(expression, Cast):
        yield expression.operand
    elif isinstance(expression, Case):
        yield from (part for branch in expression.branches for part in branch)
        if expression.default is not None:
            yield expression.default
