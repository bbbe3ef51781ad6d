"""WHERE: an expression whose parts, joined by AND, may also be ``IN (SELECT ...)``."""

from __future__ import annotations

from collections.abc import Callable

from kanon_pg.queries.check.read.expressions import read_expression
from kanon_pg.queries.check.read.raw_tree import child, only
from kanon_pg.queries.check.read.sqlglot_parser import RawNode
from kanon_pg.queries.check.read.syntax import Apply, Expression, InQuery, Query


def read_where(node: RawNode, read_query: Callable[[RawNode], Query]) -> Expression:
    """Read the condition of WHERE.

    Only a part that has to hold by itself may be a membership in the answer of a query: under OR and NOT it
    would not be a join.

    Parameters
    ----------
    node : RawNode
        The condition.
    read_query : callable
        Reads a query.

    Returns
    -------
    Expression
        The condition.
    """
    if node.kind == "Paren":
        only(node, "this")
        return read_where(child(node, "this"), read_query)
    if node.kind == "And":
        only(node, "this", "expression")
        parts = tuple(read_where(child(node, name), read_query) for name in ("this", "expression"))
        return Apply(span=node.span, operator="and", operands=parts)
    if node.kind == "In" and "query" in node.values:
        only(node, "this", "query")
        value = read_expression(child(node, "this"))
        return InQuery(span=node.span, value=value, query=read_query(child(node, "query")))
    return read_expression(node)
