"""Queries about a row of the query around them, by the equalities that connect the two.

Which names belong to the query around follows from the text: a name with the name of a table in front that
the inner FROM does not have. Any other name is the inner query's own, and if it is not, it is refused where
it is bound, because nothing from around is in sight there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kanon_pg.queries.check.findings import Span
from kanon_pg.queries.check.read.syntax import (
    Apply,
    Expression,
    InQuery,
    Name,
    NamedTable,
    OutputItem,
    Query,
    Select,
    holds_aggregate,
)


@dataclass(frozen=True, slots=True)
class Correlation:
    """How a SELECT depends on the row around it.

    Parameters
    ----------
    equalities : tuple of (Name, Name)
        A column of its own and the column of the row that it is equal to.
    select : Select
        Without these parts of its WHERE.
    """

    equalities: tuple[tuple[Name, Name], ...]
    select: Select


def correlation(select: Select) -> Correlation:
    """Return the equalities of WHERE with columns of the query around, and the query without them."""
    own = {name for join in select.sources for name in _names(join.source)}
    equalities, rest = [], []
    for part in written_conjuncts(select.where):
        pair = _equality(part, own)
        if pair is None:
            rest.append(part)
        else:
            equalities.append(pair)
    return Correlation(tuple(equalities), replace(select, where=joined_by_and(rest)))


def _names(source: object) -> set[tuple[str, ...]]:
    if isinstance(source, NamedTable) and source.alias is None:
        schema = {(source.schema, source.name)} if source.schema is not None else set()
        return {(source.name,), *schema}
    alias = getattr(source, "alias", None)
    return {(alias,)} if alias else set()


def _equality(part: Expression, own: set[tuple[str, ...]]) -> tuple[Name, Name] | None:
    if not isinstance(part, Apply) or part.operator != "=":
        return None
    left, right = part.operands
    if not isinstance(left, Name) or not isinstance(right, Name):
        return None
    outside = [bool(name.parts[:-1]) and name.parts[:-1] not in own for name in (left, right)]
    if outside == [False, True]:
        return left, right
    return (right, left) if outside == [True, False] else None


def as_membership(query: Query, span: Span) -> InQuery | None:
    """Return ``EXISTS (SELECT ... WHERE inner = outer AND ...)`` as ``outer IN (SELECT inner ...)``.

    Both hold for the same rows where they are parts of WHERE: a NULL on either side is equal to nothing.

    Returns
    -------
    InQuery or None
        None unless one equality connects the two queries. An aggregate without GROUP BY always has a row, so
        that EXISTS would hold whatever the condition says.
    """
    select = single_select(query)
    if select is None or any(holds_aggregate(item.expression) for item in select.items):
        return None
    found = correlation(select)
    if len(found.equalities) != 1:
        return None
    ((inner, outer),) = found.equalities
    item = OutputItem(span=inner.span, expression=inner, alias=None)
    members = replace(found.select, items=(item,), distinct=False)
    return InQuery(span=span, value=outer, query=replace(query, branches=(members,)))


def single_select(query: Query) -> Select | None:
    """Return the only SELECT of a query that neither groups nor cuts, or None."""
    around = (query.tables, query.order, query.limit, query.offset)
    select = query.branches[0]
    if len(query.branches) != 1 or any(around) or not isinstance(select, Select):
        return None
    grouped = select.group or select.sets or select.having is not None
    return None if grouped or not select.sources else select


def written_conjuncts(condition: Expression | None) -> list[Expression]:
    """Return the parts of a condition that is joined by AND."""
    if condition is None:
        return []
    if isinstance(condition, Apply) and condition.operator == "and":
        return [part for operand in condition.operands for part in written_conjuncts(operand)]
    return [condition]


def joined_by_and(parts: list[Expression]) -> Expression | None:
    """Return the condition that all parts hold, None for no parts."""
    condition: Expression | None = None
    for part in parts:
        condition = (
            part if condition is None else Apply(span=part.span, operator="and", operands=(condition, part))
        )
    return condition
