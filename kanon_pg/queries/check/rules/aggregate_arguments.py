"""Arguments of aggregates weigh all people alike: linear combinations of columns, nothing that selects.

Sums and averages take several columns, because the sum of a combination is the combination of the sums.
Percentiles and spreads take one: the percentile of ``born * 1000000000 + cost`` is one person's cost beside
their day of birth, and the variance of ``cost + born`` has the product of both in it, a sum of costs weighed
by a number that somebody knows.

Rounding selects, too: what is left of ``(cost * 0.0000001 + 1e12) / 1e12`` after sixteen digits says who
has more than a limit that the constants set. So nothing below a division adds, and nothing is added to
floating point numbers. Additions, products and casts of whole and decimal numbers are exact in PostgreSQL.

Aggregates of products, corr and the regr family are not on the list for the same reason: a column that is
zero for all but one person of a set (which its sum tells) makes the product a mask that nobody counts.

Codes: Q310.

Refused::

    SELECT sum(CASE WHEN id = 7 THEN income ELSE 1 END) FROM people

    SELECT sum(income * age) FROM people

    SELECT stddev(income + age) FROM people

Accepted::

    SELECT sum(income) FILTER (WHERE age > 30) FROM people

    SELECT sum(2 * income + 100) FROM people

    SELECT stddev(age) FROM people
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.functions import PERCENTILES, SUMS
from kanon_pg.queries.check.plan.joins import fact_instance
from kanon_pg.queries.check.plan.levels import Level
from kanon_pg.queries.check.plan.typed import (
    Aggregate,
    Bound,
    ColumnRef,
    Operation,
    TypedConstant,
    columns_in,
    is_constant,
    walk,
)
from kanon_pg.queries.check.types import FLOATS, INTEGERS, NUMBERS

_ADDED = frozenset({"+", "-"})
_HINTS = {
    "case": "Write the condition as a filter: count(*) FILTER (WHERE ...), sum(column) FILTER (WHERE ...).",
    "*": "Multiply by constants only.",
    "/": "Divide by constants with a decimal point: sum(x / 100.0), or outside: sum(x) / 100.",
    "%": "Group by it instead.",
    "coalesce": "Write coalesce(column, constant).",
    "nullif": "Write sum(column) FILTER (WHERE column <> value).",
}


def aggregate_arguments(level: Level) -> Iterator[Finding]:
    """Yield a finding for every argument that is not linear in columns of the fact."""
    rows = fact_instance(level)
    for aggregate in level.aggregates():
        if aggregate.argument is None or (aggregate.function == "count" and aggregate.distinct):
            continue
        yield from _argument(aggregate, aggregate.argument, level, rows.number if rows is not None else None)


def _argument(aggregate: Aggregate, argument: Bound, level: Level, rows: int | None) -> Iterator[Finding]:
    if aggregate.function == "count" and not isinstance(argument, ColumnRef):
        hint = "Write count(column), or count(*) FILTER (WHERE ...)."
        yield _finding(argument, "count takes a plain column.", hint)
        return
    if aggregate.function == "sum" and isinstance(argument, TypedConstant) and argument.type == "int4":
        return
    if is_constant(argument):
        yield _finding(
            argument, "An aggregate of a constant is not allowed.", "Write count(*) and multiply it."
        )
        return
    wrong = next((item for item in walk(argument) if not _is_linear(item)), None)
    if wrong is not None:
        name = wrong.name if isinstance(wrong, Operation) else "this"
        sentence = f"{name} may not select or weigh people inside an aggregate."
        hint = _HINTS.get(name, "Aggregate the plain column, or group by the expression.")
        yield _finding(wrong, sentence, hint)
        return
    rounded = next((item for item in walk(argument) if _rounds_a_sum(item)), None)
    if rounded is not None:
        hint = "Calculate with the aggregate: (avg(x) - 32) / 1.8."
        yield _finding(rounded, "Rounding a sum inside an aggregate can select people.", hint)
    replaced = next((item for item in walk(argument) if getattr(item, "name", "") == "coalesce"), None)
    if replaced is not None and aggregate.function in PERCENTILES:
        sentence = "coalesce inside a percentile moves people to one end: its neighbor is an extreme value."
        yield _finding(replaced, sentence, "Leave coalesce out: percentiles pass over NULL.")
    if aggregate.function not in SUMS and len(set(columns_in(argument))) > 1:
        sentence = f"{aggregate.function} takes one column."
        yield _finding(argument, sentence, "Let a curator declare a view with the result as a column.")
    for item in walk(argument):
        if isinstance(item, ColumnRef) and rows is not None and item.instance != rows:
            yield _foreign(item, level)


def _foreign(column: ColumnRef, level: Level) -> Finding:
    if level.instances[column.instance - 1].protection is None:
        sentence = (
            f"{column.name} is not a column of the protected relation: adding it up would weigh people."
        )
        return _finding(column, sentence, "Group by it.")
    sentence = f"{column.name} repeats in this join and would be added up several times."
    return _finding(column, sentence, "Aggregate it in a query of its own.")


def _finding(item: Bound, sentence: str, hint: str) -> Finding:
    return finding_at("Q310", item, sentence, hint)


def _is_linear(item: Bound) -> bool:
    if not isinstance(item, Operation) or is_constant(item):
        return True
    if item.name == "cast":
        source, target = item.operands[0].type, item.type
        return source == target or (source in NUMBERS and target in NUMBERS and _widens(source, target))
    fixed = [is_constant(operand) for operand in item.operands]
    allowed = {
        "+": True,
        "-": True,
        "neg": True,
        "difference": True,
        "*": any(fixed),
        "/": fixed[-1] and item.type not in INTEGERS,
        # a constant in place of NULL: who has no value is counted like whoever a filter leaves out
        "coalesce": fixed == [False, True],
    }
    return allowed.get(item.name, False)


def _rounds_a_sum(item: Bound) -> bool:
    if not isinstance(item, Operation) or is_constant(item):
        return False
    if item.name in _ADDED and item.type in FLOATS:
        return True
    to_float = item.name == "cast" and item.type in FLOATS
    if item.name != "/" and not to_float:
        return False
    return any(
        isinstance(part, Operation) and part.name in _ADDED and not is_constant(part)
        for operand in item.operands
        for part in walk(operand)
    )


def _widens(source: str, target: str) -> bool:
    return NUMBERS.index(source) <= NUMBERS.index(target) or (source == "float4" and target == "numeric")
