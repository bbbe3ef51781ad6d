"""Percentiles of tables in which a person has many rows: k people on each side, not k rows.

A percentile with the fraction f leaves at least f * n of n rows on its smaller side. If nobody has more than
m rows, those belong to at least f * n / m people, so n / m has to be k / f at least. Where every row is a
person m is 1, and counting people is the same rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from kanon_pg.queries.check.functions import PERCENTILES
from kanon_pg.queries.check.plan.joins import fact
from kanon_pg.queries.check.plan.levels import Level, Plan
from kanon_pg.queries.check.plan.people import participation
from kanon_pg.queries.check.plan.typed import Aggregate
from kanon_pg.queries.check.write.expressions import Writer, entity, rows_of


def uneven_percentiles(level: Level) -> tuple[Aggregate, ...]:
    """Return the percentiles of a level in which a person may have several rows."""
    if not level.protected():
        return ()
    rows = fact(level)
    if rows is None or rows.relation is None or rows.protection is None:
        return ()
    person = rows.protection.entity
    if person is None or frozenset({person}) in rows.relation.unique_keys:
        return ()
    return tuple(item for item in level.aggregates() if item.function in PERCENTILES)


def sides(level: Level, aggregate: Aggregate, writer: Writer, answers: Mapping[Plan, str]) -> str:
    """Return a SELECT with the number of rows over the largest number of one person (``ratio``) per group.

    Parameters
    ----------
    level : Level
        A level with a fact.
    aggregate : Aggregate
        A percentile.
    writer : Writer
        The level's writer.
    answers : Mapping
        Names of answers of inner queries.

    Returns
    -------
    str
        One row per group in which somebody takes part; rounded down.
    """
    rows = fact(level)
    if rows is None:
        raise TypeError("only percentiles over a fact have sides")
    keys = [f'{writer.write(key)} AS "k{position}"' for position, key in enumerate(level.keys)]
    columns = [*keys, f'{entity(rows)} AS "e"', 'pg_catalog.count(*) AS "n"']
    mask = participation(aggregate)
    text = rows_of(level, writer, answers)
    if mask is not None:
        text += (" AND " if level.where else " WHERE ") + writer.write(mask)
    grouping = ", ".join(str(position + 1) for position in range(len(keys) + 1))
    persons = f"SELECT {', '.join(columns)}{text} GROUP BY {grouping}"
    groups = ", ".join(f'"k{position}"' for position in range(len(keys)))
    ratio = 'CAST(pg_catalog.div(pg_catalog.sum("n"), pg_catalog.max("n")) AS pg_catalog.int8)'
    result = f'SELECT {ratio} AS "ratio" FROM ({persons}) AS "p"'
    return f"{result} GROUP BY {groups}" if keys else result
