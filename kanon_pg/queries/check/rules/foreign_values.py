"""Values of public tables and of inner answers are compared as they are, not calculated with.

Somebody may have chosen them: a number close to the largest makes arithmetic fail for exactly those
people whose row meets it, and the failure would answer a query about them. In sums such numbers have bounds
(`plan.sums`), and divide the people.

Codes: Q331.

Refused::

    SELECT count(*) FROM people p JOIN cities c ON c.city = p.city WHERE c.size + 1 > 10

Accepted::

    SELECT sum(p.age * c.price) FROM people p JOIN cities c ON c.city = p.city

    SELECT count(*) FROM people p JOIN cities c ON c.city = p.city WHERE c.size > 10
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.sums import is_bounded
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, ColumnRef
from kanon_pg.queries.check.types import INTEGERS

_HARMLESS = frozenset({"case", "coalesce", "nullif", "greatest", "least"})
_SLOW = frozenset({"ilike", "~", "~*"})
_EXACT = (*INTEGERS, "numeric")


def foreign_values(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every calculation with a column that is not protected."""
    for expression in level.row_expressions():
        waiting: list[Bound] = [expression]
        while waiting:
            item = waiting.pop()
            if not isinstance(item, AllowedCall):
                continue
            if is_bounded(item):
                continue
            waiting.extend(item.operands)
            if not _passes_on(item) and any(_holds_foreign(operand, level) for operand in item.operands):
                sentence = f"{item.name} may be applied to columns of protected relations only."
                hint = (
                    "Group by it and calculate with the groups: SELECT sum(n * x) FROM (SELECT x, sum(a) AS n"
                    " ... GROUP BY x) AS q; or compare it as it is."
                )
                yield finding_at("Q331", item, sentence, hint)


def _passes_on(item: AllowedCall) -> bool:
    if item.name == "cast":
        source, target = item.operands[0].type, item.type
        return (source in _EXACT and target in _EXACT) or source == "float4"
    return item.name in _HARMLESS or (item.type == "bool" and item.name not in _SLOW)


def _holds_foreign(expression: Bound, level: GroupingLevel) -> bool:
    """Return whether the value of a foreign column can be the value of the expression."""
    if isinstance(expression, ColumnRef):
        return level.instances[expression.instance - 1].protection is None
    if isinstance(expression, AllowedCall) and expression.type != "bool" and not is_bounded(expression):
        return any(_holds_foreign(operand, level) for operand in expression.operands)
    return False
