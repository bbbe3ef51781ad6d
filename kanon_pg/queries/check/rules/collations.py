"""Texts of different collations do not meet: PostgreSQL would fail on the first row that compares them.

Codes: Q332.

Refused::

    SELECT count(*) FROM people WHERE dutch = latin

Accepted::

    SELECT count(*) FROM people WHERE dutch = 'een' AND latin = 'unus'
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.typed import Aggregate, AllowedCall, Bound, ColumnRef, KeyRef, walk

_NEUTRAL = frozenset({0, 100})
"""No collation, and the database's default, which gives way to any other."""


def collations(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every operation whose texts have two different collations."""
    for expression in level.row_expressions():
        for item in walk(expression):
            if isinstance(item, AllowedCall) and len(_of_parts(item, level)) > 1:
                sentence = "Texts of different collations meet here."
                yield finding_at("Q332", item, sentence, "Compare columns of one collation.")


def _of_parts(operation: AllowedCall, level: GroupingLevel) -> frozenset[int]:
    return frozenset[int]().union(*(_of(operand, level) for operand in operation.operands))


def _of(expression: Bound, level: GroupingLevel) -> frozenset[int]:
    if expression.type != "text":
        return frozenset()
    if isinstance(expression, ColumnRef):
        return _of_column(expression, level)
    if isinstance(expression, AllowedCall):
        return _of_parts(expression, level)
    if isinstance(expression, KeyRef):
        return _of(level.keys[expression.position], level)
    if isinstance(expression, Aggregate) and expression.argument is not None:
        return _of(expression.argument, level)
    return frozenset()


def _of_column(column: ColumnRef, level: GroupingLevel) -> frozenset[int]:
    instance = level.instances[column.instance - 1]
    if instance.relation is not None:
        found = instance.relation.column(column.name)
        return frozenset({found.collation} if found is not None else ()) - _NEUTRAL
    branches = instance.plan.branches if instance.plan is not None else ()
    return frozenset[int]().union(
        *(
            _of(output.expression, branch)
            for branch in branches
            for output, first in zip(branch.outputs, branches[0].outputs, strict=True)
            if first.name == column.name
        )
    )
