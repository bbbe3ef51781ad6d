"""Text to syntax tree: queries, their sources and clauses. `read_query` is the whole way from the text.

ROLLUP, CUBE and GROUPING SETS are read as the lists of keys that they stand for.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final

from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.options import QueryLimits
from kanon_pg.queries.check.read.correlation import as_membership
from kanon_pg.queries.check.read.expressions import read_expression, read_order_item, read_subqueries_by
from kanon_pg.queries.check.read.output_names import given_name
from kanon_pg.queries.check.read.raw_tree import RawNode, child, children, identifier, only, optional, unknown
from kanon_pg.queries.check.read.sqlglot_parser import parse_text
from kanon_pg.queries.check.read.syntax import (
    Apply,
    Constant,
    Expression,
    Groupings,
    InQuery,
    Join,
    NamedTable,
    OrderItem,
    OutputItem,
    Query,
    ScalarQuery,
    Select,
    Subquery,
)
from kanon_pg.queries.check.read.text import check_text

MOST_GROUPINGS: Final = 16
_SETS = frozenset({"Rollup", "Cube", "GroupingSets"})
_MOST_PARTS = 8


def _read_grouping(node: RawNode) -> tuple[tuple[Expression, ...], tuple[Groupings, ...]]:
    """Read the elements of GROUP BY.

    Returns
    -------
    tuple of Groupings
        One entry for every ROLLUP, CUBE or GROUPING SETS.

    Raises
    ------
    Refusal
        Q507 if they stand for too many groupings.
    """
    only(node, "expressions")
    keys: list[Expression] = []
    sets: list[Groupings] = []
    for item in children(node, "expressions"):
        if item.kind in _SETS:
            sets.append(_bounded(item, _groupings(item)))
        else:
            keys.extend(_part(item))
    return tuple(keys), tuple(sets)


def _groupings(node: RawNode) -> Groupings:
    only(node, "expressions")
    items = children(node, "expressions")
    if node.kind == "GroupingSets":
        nested = (_groupings(item) if item.kind in _SETS else (_part(item),) for item in items)
        return tuple(grouping for groupings in nested for grouping in groupings)
    parts = [_part(item) for item in items]
    if not 1 <= len(parts) <= _MOST_PARTS:
        raise _too_many(node)
    if node.kind == "Rollup":
        return tuple(_joined(parts[:length]) for length in range(len(parts), -1, -1))
    return tuple(
        _joined(chosen) for length in range(len(parts), -1, -1) for chosen in combinations(parts, length)
    )


def _part(node: RawNode) -> tuple[Expression, ...]:
    """Read one element: an expression, or several in parentheses that belong together."""
    if node.kind in _SETS:
        unknown(node)
    if node.kind != "Tuple":
        return (read_expression(node),)
    only(node, "expressions")
    return tuple(read_expression(item) for item in children(node, "expressions"))


def _joined(parts: Iterable[tuple[Expression, ...]]) -> tuple[Expression, ...]:
    return tuple(item for part in parts for item in part)


def _bounded(node: RawNode, groupings: Groupings) -> Groupings:
    if len(groupings) > MOST_GROUPINGS:
        raise _too_many(node)
    return groupings


def _too_many(node: RawNode) -> Refusal:
    sentence = f"ROLLUP, CUBE and GROUPING SETS stand for {MOST_GROUPINGS} groupings at most."
    return Refusal("Q507", node.span, sentence, "Ask for fewer totals at a time.")


def _where(node: RawNode) -> Expression:
    """Read a condition of WHERE.

    Only a part that has to hold by itself may be a membership in the answer of a query, EXISTS among them:
    under OR and NOT it would not be a join.
    """
    if node.kind == "Paren":
        only(node, "this")
        return _where(child(node, "this"))
    if node.kind == "And":
        only(node, "this", "expression")
        parts = tuple(_where(child(node, name)) for name in ("this", "expression"))
        return Apply(span=node.span, operator="and", operands=parts)
    if node.kind == "In" and "query" in node.values:
        only(node, "this", "query")
        value = read_expression(child(node, "this"))
        return InQuery(span=node.span, value=value, query=_query(child(node, "query")))
    if node.kind == "Exists":
        only(node, "this")
        membership = as_membership(_query(child(node, "this")), node.span)
        if membership is None:
            sentence = "EXISTS takes a query with one equality between a column of its own and one around it."
            hint = "Write EXISTS (SELECT 1 FROM t WHERE t.key = q.key AND ...), or join it."
            raise Refusal("Q021", node.span, sentence, hint)
        return membership
    return read_expression(node)


_AROUND = ("with_", "order", "limit", "offset")
_SIDES = {"": "inner", "INNER": "inner", "CROSS": "cross", "LEFT": "left", "LEFT OUTER": "left"}


def read_query(text: str, limits: QueryLimits) -> Query:
    """Read a query.

    Raises
    ------
    Refusal
        Codes Q001 to Q029: the text is no query of the allowed grammar.
    """
    root = parse_text(check_text(text, limits))
    _count_nodes(root, limits)
    return _query(root)


def _count_nodes(root: RawNode, limits: QueryLimits) -> None:
    waiting, seen = [root], 0
    while waiting:
        node = waiting.pop()
        seen += 1
        for value in node.values.values():
            items = value if isinstance(value, tuple) else (value,)
            waiting.extend(item for item in items if isinstance(item, RawNode))
        if seen > limits.nodes:
            raise Refusal("Q001", root.span, "The query has too many parts.", "Write a simpler query.")


def _query(node: RawNode) -> Query:
    while node.kind == "Subquery" and set(node.values) == {"this"}:
        node = child(node, "this")
    if node.kind not in {"Select", "Union", "Subquery"}:
        unknown(node)
    return Query(
        span=node.span,
        branches=_branches(node),
        tables=_common_tables(optional(node, "with_")),
        order=_order(optional(node, "order")),
        limit=_row_count(optional(node, "limit"), "Limit"),
        offset=_row_count(optional(node, "offset"), "Offset"),
    )


def _branches(node: RawNode) -> tuple[Select | Query, ...]:
    if node.kind == "Select":
        return (_select(node),)
    if node.kind == "Subquery":
        only(node, "this", *_AROUND)
        return (_query(child(node, "this")),)
    branches: list[Select | Query] = []
    top = True
    while node.kind == "Union":
        only(node, "this", "expression", *(_AROUND if top else ()))
        branches.insert(0, _branch(child(node, "expression")))
        node, top = child(node, "this"), False
    branches.insert(0, _branch(node))
    return tuple(branches)


def _branch(node: RawNode) -> Select | Query:
    if node.kind == "Select" and not any(name in node.values for name in _AROUND):
        return _select(node)
    return _query(node)


def _common_tables(node: RawNode | None) -> tuple[tuple[str, Query], ...]:
    if node is None:
        return ()
    only(node, "expressions")
    tables = []
    for item in children(node, "expressions"):
        if item.kind != "CTE":
            unknown(item)
        only(item, "this", "alias", "materialized")
        alias = child(item, "alias")
        only(alias, "this")
        tables.append((identifier(child(alias, "this")), _query(child(item, "this"))))
    return tuple(tables)


def _order(node: RawNode | None) -> tuple[OrderItem, ...]:
    if node is None:
        return ()
    only(node, "expressions")
    return tuple(read_order_item(item) for item in children(node, "expressions"))


def _row_count(node: RawNode | None, kind: str) -> Expression | None:
    if node is None:
        return None
    if node.kind == "Fetch":
        return _fetched(node)
    if node.kind != kind:
        raise Refusal("Q021", node.span, "This form of LIMIT is not allowed.", "Write LIMIT 10.")
    only(node, "expression")
    return read_expression(child(node, "expression"))


def _fetched(node: RawNode) -> Expression:
    """Read ``FETCH FIRST 10 ROWS ONLY``, which is ``LIMIT 10``."""
    only(node, "direction", "count", "limit_options")
    options = optional(node, "limit_options")
    if options is not None:
        only(options, "rows")
    if "count" not in node.values:
        return Constant(span=node.span, kind="number", text="1")
    return read_expression(child(node, "count"))


def _select(node: RawNode) -> Select:
    only(node, "expressions", "distinct", "from_", "joins", "where", "group", "having", *_AROUND)
    distinct, where = optional(node, "distinct"), optional(node, "where")
    having, group = optional(node, "having"), optional(node, "group")
    for clause in (distinct, where, having):
        if clause is not None:
            only(clause, "this" if clause is not distinct else "")
    keys, sets = _read_grouping(group) if group is not None else ((), ())
    return Select(
        span=node.span,
        items=tuple(_item(item) for item in children(node, "expressions")),
        sources=_sources(node),
        distinct=distinct is not None,
        where=_where(child(where, "this")) if where else None,
        group=keys,
        sets=sets,
        having=read_expression(child(having, "this")) if having else None,
    )


def _item(node: RawNode) -> OutputItem:
    if node.kind == "Alias":
        only(node, "this", "alias")
        expression = read_expression(child(node, "this"))
        return OutputItem(span=node.span, expression=expression, alias=identifier(child(node, "alias")))
    expression = read_expression(node)
    return OutputItem(span=node.span, expression=expression, alias=None, given_name=given_name(node))


def _sources(node: RawNode) -> tuple[Join, ...]:
    start = optional(node, "from_")
    if start is None:
        return ()
    only(start, "this")
    first = child(start, "this")
    joins = [Join(span=first.span, kind="cross", source=_source(first))]
    joins.extend(_join(item) for item in (*children(first, "joins"), *children(node, "joins")))
    return tuple(joins)


def _join(node: RawNode) -> Join:
    if node.kind != "Join":
        unknown(node)
    only(node, "this", "side", "kind", "on", "using")
    words = " ".join(str(node.values[name]) for name in ("side", "kind") if name in node.values)
    kind = _SIDES.get(words)
    if kind is None:
        hint = "Write JOIN or LEFT JOIN; turn a RIGHT JOIN round."
        raise Refusal("Q027", node.span, f"{words} JOIN is not allowed.", hint)
    condition = optional(node, "on")
    using = tuple(identifier(item) for item in children(node, "using"))
    if kind == "inner" and condition is None and not using:
        kind = "cross"
    source = child(node, "this")
    if "joins" in source.values:
        raise Refusal("Q027", source.span, "Nested joins are not allowed.", "Write one join after the other.")
    return Join(
        span=node.span,
        kind=kind,  # type: ignore[arg-type]
        source=_source(source),
        condition=read_expression(condition) if condition else None,
        using=using,
    )


def _source(node: RawNode) -> NamedTable | Subquery:
    relation = optional(node, "this") if node.kind == "Table" else None
    if node.kind not in {"Table", "Subquery"} or (relation is not None and relation.kind != "Identifier"):
        unknown(node if relation is None else relation)
    alias = optional(node, "alias")
    if alias is not None:
        only(alias, "this")
    name = identifier(child(alias, "this")) if alias is not None else None
    if relation is not None:
        only(node, "this", "db", "alias", "joins")
        schema = optional(node, "db")
        return NamedTable(
            span=node.span,
            schema=identifier(schema) if schema else None,
            name=identifier(relation),
            alias=name,
        )
    only(node, "this", "alias", "joins")
    if name is None:
        raise Refusal("Q028", node.span, "A subquery in FROM needs a name.", "Write (SELECT ...) AS x.")
    return Subquery(span=node.span, query=_query(child(node, "this")), alias=name)


def _scalar(node: RawNode) -> ScalarQuery:
    return ScalarQuery(span=node.span, query=_query(node))


read_subqueries_by(_scalar)
