"""Mode 'suppress': which groups are left out, so that totals do not give them back.

A group is left out if one of its counted numbers is too small. If the people of all groups left out
are fewer than k in any counted set, the smallest kept group is left out, too.

Guarantee (for one answer with one protected level): in every counted set, what is left out is empty or
has at least k people, so the total over all groups, known from elsewhere, minus everything shown is a
figure over at least k people. Proof: a kept group has at least k people in every counted set (in this
mode nobody at all counts as too few, too), so the group left out in addition brings them in. The group
is chosen by its people and then by its keys, never by chance, so that asking again shows nothing more.
Not guaranteed: the group left out in addition can be asked for by itself; comparing answers is the
ledger's part.
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.divisions import divisions
from kanon_pg.queries.check.plan.levels import Level, Plan
from kanon_pg.queries.check.plan.mixed_conditions import known_conditions
from kanon_pg.queries.check.plan.people import Counted
from kanon_pg.queries.check.write.percentile_sides import uneven_percentiles
from kanon_pg.queries.check.write.shares import dominated

_MOST_DIVISIONS = 3
"""Every one doubles the numbers that are counted with a group."""


def kept_groups(
    level: Level, counts: tuple[Counted, ...], lacking: tuple[str, ...], base: str, table: str
) -> tuple[str, ...]:
    """Return the common table expressions that reduce the groups of a level to those that may be shown.

    Parameters
    ----------
    level : Level
        The protected level.
    counts : tuple of Counted
        What its columns ``h0`` ... hold.
    lacking : tuple of str
        SQL conditions under which a group that the text names has nobody.
    base, table : str
        Quoted names of the groups and of those kept.

    Returns
    -------
    tuple of str
        In order; both are materialized, so that nothing above looks at groups left out.
    """
    large = " AND ".join(
        f'"h{position}" OPERATOR(pg_catalog.>=) {item.minimum}' for position, item in enumerate(counts)
    )
    short = " OR ".join([*(_short(position, item) for position, item in enumerate(counts)), *lacking])
    order = ", ".join(['"h0"', *(f'"k{position}"' for position in range(len(level.keys)))])
    ranked = (
        f'SELECT *, ({large}) AS "ok",'
        f' pg_catalog.row_number() OVER (PARTITION BY ({large}) ORDER BY {order}) AS "place" FROM {base}'
    )
    short_of_people = f'SELECT ({short}) AS "short" FROM ({ranked}) AS "g" WHERE NOT "ok"'
    kept = (
        f'SELECT "g".* FROM ({ranked}) AS "g" CROSS JOIN ({short_of_people}) AS "d"'
        ' WHERE "g"."ok" AND ("d"."short" IS NOT TRUE OR "g"."place" OPERATOR(pg_catalog.>) 1)'
    )
    return (f"{table} AS MATERIALIZED ({kept})",)


def _short(position: int, item: Counted) -> str:
    k = item.instance.protection.k if item.instance.protection is not None else item.minimum
    largest = f'pg_catalog.max("h{position}")'
    return f"({largest} OPERATOR(pg_catalog.>) 0 AND {largest} OPERATOR(pg_catalog.<) {k})"


def suppressible(plan: Plan, options: Options) -> Iterator[Finding]:
    """Yield a finding if the guarantee of this mode cannot be given for a plan."""
    levels = [level for level in plan.levels() if level.protected()]
    if options.mode != "suppress":
        return
    for level in levels:
        for item in known_conditions(level):
            sentence = "A condition on sensitive columns and others cannot be asked in this mode."
            yield Finding("Q512", item.span.start, item.span.end, sentence, "Ask in the mode 'reject'.")
        if len(divisions(level)) > _MOST_DIVISIONS:
            sentence = f"{_MOST_DIVISIONS} FILTERs or columns with NULLs can be told apart in this mode."
            yield Finding("Q512", level.span.start, level.span.end, sentence, "Ask in the mode 'reject'.")
    for level in levels[1:]:
        sentence = (
            "In the mode 'suppress' small groups are left out of one grouping of people at a time; others in "
            "the same question (UNION, subqueries, ROLLUP, CUBE) would give them back."
        )
        hint = "Ask each grouping as a question of its own."
        yield Finding("Q510", level.span.start, level.span.end, sentence, hint)
    if levels and options.dominance is not None:
        for item in dominated(levels[0]):
            sentence = "Sums that one person may dominate cannot be left out group by group."
            yield Finding("Q511", item.span.start, item.span.end, sentence, "Ask in the mode 'reject'.")
    for item in uneven_percentiles(levels[0]) if levels else ():
        sentence = "Percentiles cannot be left out group by group where a person may have many rows."
        yield Finding("Q511", item.span.start, item.span.end, sentence, "Ask in the mode 'reject'.")
    if levels and levels[0] not in plan.branches:
        sentence = "Groups can be left out of the query itself only, not of a subquery."
        yield Finding(
            "Q510", levels[0].span.start, levels[0].span.end, sentence, "Ask the subquery by itself."
        )
