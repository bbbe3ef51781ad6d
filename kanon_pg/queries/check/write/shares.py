"""Rules that group the rows once more by person: dominance, and percentiles where a person has many rows.

Dominance: no person has more than a given share of a sum or an average. The share is that of the person's
own total among the absolute totals of all persons of the group, over the rows that take part in the
aggregate.

Percentiles: k people on each side, not k rows. A percentile with the fraction f leaves at least f * n of n
rows on its smaller side. If nobody has more than m rows, those belong to at least f * n / m people, so n / m
has to be k / f at least. Where every row is a person m is 1, and counting people is the same rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from kanon_pg.queries.check.plan.aggregates import participation
from kanon_pg.queries.check.plan.joins import fact_instance
from kanon_pg.queries.check.plan.levels import GroupingLevel, Plan
from kanon_pg.queries.check.plan.typed import Aggregate
from kanon_pg.queries.check.write.expressions import Writer, entity_sql
from kanon_pg.queries.check.write.sources import from_and_where


def largest_shares(
    level: GroupingLevel, aggregate: Aggregate, writer: Writer, answers: Mapping[Plan, str]
) -> str:
    """Return a SELECT with the largest person's total (``top``) and that of all (``total``) per group."""
    if aggregate.argument is None:
        raise TypeError("only aggregates of a column have shares")
    argument = f"CAST({writer.write(aggregate.argument)} AS pg_catalog.numeric)"
    if aggregate.argument.type == "interval":
        argument = f"EXTRACT(epoch FROM {writer.write(aggregate.argument)})"
    return _by_person(
        level,
        aggregate,
        writer,
        answers,
        f'pg_catalog.abs(pg_catalog.sum({argument})) AS "s"',
        'pg_catalog.max("s") AS "top", pg_catalog.sum("s") AS "total"',
    )


def share_check(share: float, table: str) -> str:
    """Return a scalar subquery: 1 if no group of the table of shares is dominated, otherwise 0."""
    allowed = f"CAST('{share!r}' AS pg_catalog.numeric)"
    kept = f'"top" OPERATOR(pg_catalog.<=) ({allowed} OPERATOR(pg_catalog.*) "total")'
    smallest = f'pg_catalog.min(CASE WHEN "top" IS NULL OR {kept} THEN 1 ELSE 0 END)'
    return f"(SELECT COALESCE({smallest}, 1) FROM {table})"


def person_ratio(
    level: GroupingLevel, aggregate: Aggregate, writer: Writer, answers: Mapping[Plan, str]
) -> str:
    """Return a SELECT with rows over the most rows of one person (``ratio``, rounded down) per group."""
    ratio = 'CAST(pg_catalog.div(pg_catalog.sum("n"), pg_catalog.max("n")) AS pg_catalog.int8)'
    return _by_person(level, aggregate, writer, answers, 'pg_catalog.count(*) AS "n"', f'{ratio} AS "ratio"')


def _by_person(
    level: GroupingLevel,
    aggregate: Aggregate,
    writer: Writer,
    answers: Mapping[Plan, str],
    figure: str,
    result: str,
) -> str:
    """Return a SELECT of a result per group over a figure per person who takes part."""
    rows = fact_instance(level)
    if rows is None:
        raise TypeError("only levels over a fact are grouped by person")
    keys = [f'{writer.write(key)} AS "k{position}"' for position, key in enumerate(level.keys)]
    mask = participation(aggregate)
    text = from_and_where(level, writer, answers, () if mask is None else (writer.write(mask),))
    grouping = ", ".join(str(position + 1) for position in range(len(keys) + 1))
    columns = ", ".join([*keys, f'{entity_sql(rows)} AS "e"', figure])
    persons = f"SELECT {columns}{text} GROUP BY {grouping}"
    groups = ", ".join(f'"k{position}"' for position in range(len(keys)))
    whole = f'SELECT {result} FROM ({persons}) AS "p"'
    return f"{whole} GROUP BY {groups}" if keys else whole
