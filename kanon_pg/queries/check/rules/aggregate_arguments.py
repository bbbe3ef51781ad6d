"""Arguments of aggregates weigh all people alike: linear combinations of columns, nothing that selects.

Sums and averages take several columns, because the sum of a combination is the combination of the sums.
Percentiles and spreads take one: the percentile of ``born * 1000000000 + cost`` is one person's cost beside
their day of birth, and the variance of ``cost + born`` has the product of both in it, a sum of costs weighed
by a number that somebody knows. The time between two moments that are both known, or both sensitive, has
percentiles like a column in which the owner could have stored it.

Rounding selects, too: what is left of ``(cost * 0.0000001 + 1e12) / 1e12`` after sixteen digits says who
has more than a limit that the constants set. So nothing below a division adds, and nothing is added to
floating point numbers. Additions, products and casts of whole and decimal numbers are exact in PostgreSQL.

What is rounded for each row with a constant of the query, such as the quotient by 7.0 or a cast to floating
point, is another function of the values for each constant. Such constants stand outside of the aggregates
that run (`bind.constants_outside`); where they cannot, they are refused here. The pairs of corr and the
regressions are added up as floating point numbers, whose last digits any constant changes.

Dates take part by the time between them, which is linear, and by steps that are the same for every query:
the year of a date, the day of a timestamp, the whole years between two columns (`plan.sums`). A month more
is not linear. An age on a day of the query's choice tells whose birthday it is: those who have had it are
divided from those who have not (`plan.classes`).

What is not linear but takes few values whatever the data (`plan.classes`) divides the rows by its value:
its sum is a sum of numbers of people, as if it stood in GROUP BY. So do the numbers of public tables.

A column that is zero for all but one person of a set (which its sum tells) makes a product with it a mask
that nobody counts. So a divisor, a factor, and one side of corr, covar_pop and regr_slope have to be whole
numbers: then the rows are divided by it, and each of its values has k people (`plan.classes`). In the same
way mode, bool_or, bool_and and string_agg(DISTINCT ...) show values that k people have, and max the largest
of a public table's.

Codes: Q310.

Refused::

    SELECT sum(CASE WHEN id = 7 THEN income ELSE 1 END) FROM people

    SELECT sum(income * score::numeric) FROM people

    SELECT avg(age / nullif(income, 0)) FROM people

    SELECT corr(income, score) FROM people

    SELECT stddev(c.size) FROM people p JOIN cities c ON c.city = p.city

    SELECT stddev(income + age) FROM people

    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY income + age) FROM people

    SELECT sum(extract(epoch from (born + interval '1 month') - born)) FROM people

    SELECT avg(seen::date - born) FROM people

    SELECT sum(round(age + 4, -1)) FROM people

    SELECT avg((extract(year from born) + 16777216)::real) FROM people

    SELECT sum(date_part('year', born) + 1000000000000) FROM people

    SELECT sum(age::float8 + 5) FROM people

    SELECT sum((age * 123456789)::pg_catalog.float4::numeric) FROM people

    SELECT sum(income / $1) FROM people

    SELECT regr_intercept(income, age + 2000) FROM people

    SELECT corr(CASE WHEN age > 30 THEN 3 ELSE 1 END, income) FROM people

Accepted::

    SELECT sum(income) FILTER (WHERE age > 30) FROM people

    SELECT sum(2 * income + 100) FROM people

    SELECT sum(income / 7.0), avg(score * 3.7), stddev(age / 7.0), sum((income * 3)::float8) FROM people

    SELECT sum(income / 7.0 + age / 3.0), corr(income / 7.0, age * 3 + 1) FROM people

    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY income / 7.0), sum(coalesce(income, 0) / 100.0)
        FROM people

    SELECT stddev(age) FROM people

    SELECT avg(date '2024-05-15' - born) / 365.25, avg(extract(year from age(born))) FROM people

    SELECT avg(income / nullif(age, 0)) FROM people

    SELECT sum(income) / nullif(sum(age), 0) FROM people

    SELECT corr(income, age), corr(round(income, -3)::int, score) FROM people

    SELECT mode() WITHIN GROUP (ORDER BY city), bool_or(income > 40000) FROM people

    SELECT age, string_agg(DISTINCT city, ', ' ORDER BY city) FROM people GROUP BY age

    SELECT avg(c.size) FROM people p JOIN cities c ON c.city = p.city

    SELECT sum(income * c.price) FROM people p JOIN cities c ON c.city = p.city

    SELECT avg(extract(year from age(seen, born))), avg(extract(month from seen)) FROM people

    SELECT sum(CASE WHEN age < 18 THEN 1 WHEN age < 65 THEN 2 ELSE 3 END) FROM people

    SELECT c.country, count(*) / max(c.size) FROM people p JOIN cities c ON c.city = p.city GROUP BY c.country

    SELECT avg(extract(year from current_date) - extract(year from born)) FROM people

    SELECT avg(round(date_part('year', current_date) - date_part('year', born))) FROM people
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.functions import EXTREMES, PAIRS, PERCENTILES, SUMS, VALUES
from kanon_pg.queries.check.plan.classes import dividing_expressions, weighed_columns
from kanon_pg.queries.check.plan.divisions import ColumnKinds
from kanon_pg.queries.check.plan.joins import fact_instance
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.sums import duration, is_linear, is_step, is_whole, parts_above, rounds
from kanon_pg.queries.check.plan.typed import (
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    TypedConstant,
    columns_in,
    is_constant,
    walk,
)
from kanon_pg.queries.check.types import FLOATS

_ADDED = frozenset({"+", "-"})
_HINTS = {
    "case": "Write the condition as a filter: count(*) FILTER (WHERE ...), sum(column) FILTER (WHERE ...).",
    "*": "Multiply by constants or columns of whole numbers only.",
    "/": "Divide sums: sum(a) / nullif(sum(b), 0); or by columns of whole numbers, or by 100.0.",
    "%": "Group by it instead.",
    "cast": "Take the time between moments as it is: avg(a - b), or extract(epoch from a - b) / 86400;"
    " or its days in one zone for all: SET timezone = 'UTC'.",
    "coalesce": "Write coalesce(column, constant).",
    **dict.fromkeys(
        ("extract", "date_part", "age"),
        "Count days: avg(date '2024-01-31' - column) / 365.25; or take the year of a plain date.",
    ),
    "nullif": "Write sum(column) FILTER (WHERE column <> value).",
}


def aggregate_arguments(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every argument that is not linear in columns of the fact."""
    rows = fact_instance(level)
    for aggregate in level.aggregates():
        if aggregate.argument is None or (aggregate.function == "count" and aggregate.distinct):
            continue
        classes = dividing_expressions(level, aggregate)
        if aggregate.function in VALUES or (aggregate.function in EXTREMES and classes):
            continue
        if aggregate.function in SUMS and classes == (aggregate.argument,):
            # a sum of numbers of people
            continue
        number = rows.number if rows is not None else None
        if aggregate.function in PAIRS and isinstance(aggregate.argument, AllowedCall):
            yield from _pair(aggregate, aggregate.argument, level, number)
        else:
            yield from _argument(aggregate, aggregate.argument, level, number, classes)


def _pair(
    aggregate: Aggregate, pair: AllowedCall, level: GroupingLevel, rows: int | None
) -> Iterator[Finding]:
    """Yield the findings about both sides: one divides the rows, of the other there are sums and squares."""
    classes = dividing_expressions(level, aggregate)
    if not classes:
        sentence = f"{aggregate.function} takes a whole number on one side: its products weigh people."
        hint = "Round one of the two: corr(round(a, -3)::int, b)."
        yield _finding(aggregate, sentence, hint)
        return
    for side in pair.operands:
        if _is_moved(side):
            hint = "Leave the constant out; what it adds or multiplies can be calculated from the figure."
            yield _finding(side, f"{aggregate.function} rounds sums, another way with each constant.", hint)
        elif side not in classes:
            yield from _argument(aggregate, side, level, rows, ())


def _argument(
    aggregate: Aggregate, argument: Bound, level: GroupingLevel, rows: int | None, classes: tuple[Bound, ...]
) -> Iterator[Finding]:
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
    read = weighed_columns(aggregate, classes) if classes else columns_in(argument)
    others = [item for item in read if rows is not None and item.instance != rows]
    if others:
        yield from (_foreign(item, level) for item in others)
        return
    wrong = [item for item in parts_above(argument, classes) if not is_linear(item, classes)]
    if wrong:
        names = [item.name for item in wrong if isinstance(item, AllowedCall)]
        sentence = f"{names[0]} may not select or weigh people inside an aggregate."
        hints = (_HINTS[name] for name in names if name in _HINTS)
        yield _finding(
            wrong[0], sentence, next(hints, "Aggregate the plain column, or group by the expression.")
        )
        return
    added = aggregate.function not in PERCENTILES
    rounded = next((item for item in walk(argument) if _rounds_a_sum(item, added=added)), None)
    if rounded is not None:
        hint = "Calculate with the aggregate: (avg(x) - 32) / 1.8."
        yield _finding(rounded, "Rounding a sum inside an aggregate can select people.", hint)
    inexact = next((item for item in parts_above(argument, classes) if rounds(item)), None)
    if inexact is not None and rounded is None:
        sentence = "This is rounded for each row: with other constants it is another function of the values."
        hint = "Calculate with the aggregate: sum(x) / 7.0, avg(x)::real, (avg(x) - 32) * 1.8."
        yield _finding(inexact, sentence, hint)
    replaced = next((item for item in walk(argument) if getattr(item, "name", "") == "coalesce"), None)
    if replaced is not None and aggregate.function in PERCENTILES:
        sentence = "coalesce inside a percentile moves people to one end: its neighbor is an extreme value."
        yield _finding(replaced, sentence, "Leave coalesce out: percentiles pass over NULL.")
    if (
        aggregate.function not in SUMS
        and len(set(columns_in(argument))) > 1
        and not (aggregate.function in PERCENTILES and _is_value_like_a_column(argument, level))
    ):
        sentence = f"{aggregate.function} takes one column."
        hint = (
            "Count by classes: GROUP BY floor(extract(epoch from a - b) / 86400); or let a curator declare"
            " a view with the result as a column."
        )
        yield _finding(argument, sentence, hint)


def _is_value_like_a_column(argument: Bound, level: GroupingLevel) -> bool:
    """Return whether an expression is the time between two columns, all known or all sensitive."""
    return duration(argument) is not None and not ColumnKinds(level).are_mixed(argument)


def _foreign(column: ColumnRef, level: GroupingLevel) -> Finding:
    if level.instances[column.instance - 1].protection is None:
        sentence = (
            f"{column.name} is not a column of the protected relation: adding it up would weigh people."
        )
        return _finding(column, sentence, "Group by it, or take its max where it is the same for a group.")
    sentence = f"{column.name} repeats in this join and would be added up several times."
    return _finding(column, sentence, "Aggregate it in a query of its own.")


def _finding(item: Bound, sentence: str, hint: str) -> Finding:
    return finding_at("Q310", item, sentence, hint)


def _is_moved(side: Bound) -> bool:
    """Return whether constants change the numbers on one side of a pair, besides those that round them."""
    if is_constant(side):
        return side.type != "text"
    if not isinstance(side, AllowedCall) or side.type == "bool" or is_step(side):
        return False
    operands = side.operands[:1] if side.name == "round" else side.operands
    return any(map(_is_moved, operands))


def _rounds_a_sum(item: Bound, *, added: bool) -> bool:
    if not isinstance(item, AllowedCall) or is_constant(item):
        return False
    # numbers of columns may be so large that the sum over all people, where these are added, is rounded
    small = not added or not any(isinstance(part, ColumnRef) for part in parts_above(item, ()))
    if item.type == "float8" and item.name != "/" and small and all(map(is_whole, item.operands)):
        return False
    if item.name in _ADDED and item.type in FLOATS:
        return True
    to_float = item.name == "cast" and item.type in FLOATS
    if item.name != "/" and not to_float:
        return False
    return any(
        isinstance(part, AllowedCall) and part.name in _ADDED and not is_constant(part)
        for operand in item.operands
        for part in walk(operand)
    )
