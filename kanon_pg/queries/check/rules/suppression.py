"""Mode 'suppress': which groups are left out, so that totals do not give them back.

A group is left out if one of its counted numbers is too small. If the people of all groups left out
are fewer than k in any counted set, the smallest kept group is left out, too.

Guarantee (for one answer with one protected level): in every counted set, what is left out is empty or
has at least k people, so the total over all groups, known from elsewhere, minus everything shown is a
figure over at least k people. Proof: a kept group has at least k people in every counted set (in this
mode nobody at all counts as too few, too), so the group left out in addition brings them in. The group
is chosen by its people and then by its keys, never by chance, so that the same query always leaves out the
same group. Not guaranteed: the group left out in addition can be queried by itself; comparing answers is
the ledger's part.

Codes: Q510, Q511, Q512.

Refused with mode suppress::

    SELECT city, count(*) FROM people GROUP BY ROLLUP (city)

    SELECT count(*) FROM people UNION ALL SELECT count(*) FROM answers

Accepted with mode suppress::

    SELECT city, count(*) FROM people GROUP BY city
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.aggregates import dominance_aggregates, secret_values, uneven_percentiles
from kanon_pg.queries.check.plan.divisions import divisions, known_conditions
from kanon_pg.queries.check.plan.levels import Plan

_MOST_DIVISIONS = 3
"""Every one doubles the numbers that are counted with a group."""


def suppressible(plan: Plan, options: Options) -> Iterator[Finding]:
    """Yield a finding if the guarantee of this mode cannot be given for a plan."""
    levels = [level for level in plan.levels() if level.protected() and level not in plan.sides]
    if options.mode != "suppress":
        return
    for level in plan.all_lists():
        sentence = "In this mode people may not be listed whose known values are aggregated."
        yield finding_at("Q512", level, sentence, "Group by the column, or ask in the mode 'reject'.")
    for level in plan.sides:
        sentence = "In this mode a column that is aggregated may not be limited: who is beyond counts."
        hint = "Group by ranges of the column, or ask in the mode 'reject'."
        yield finding_at("Q512", level, sentence, hint)
    for level in levels:
        for item in known_conditions(level):
            sentence = "A condition on sensitive columns and others is not allowed in this mode."
            yield finding_at("Q512", item, sentence, "Ask in the mode 'reject'.")
        if len(divisions(level)) > _MOST_DIVISIONS:
            sentence = f"{_MOST_DIVISIONS} FILTERs or columns with NULLs are the most in this mode."
            yield finding_at("Q512", level, sentence, "Ask in the mode 'reject'.")
    for level in levels[1:]:
        sentence = (
            "In the mode 'suppress' small groups are left out of one grouping of people at a time; others in "
            "the same query (UNION, subqueries, ROLLUP, CUBE) would give them back."
        )
        hint = "Run each grouping as a query of its own."
        yield finding_at("Q510", level, sentence, hint)
    if levels and options.dominance is not None:
        for item in dominance_aggregates(levels[0]):
            sentence = "Sums that one person may dominate cannot be left out group by group."
            yield finding_at("Q511", item, sentence, "Ask in the mode 'reject'.")
    for item in uneven_percentiles(levels[0]) if levels else ():
        sentence = "Percentiles cannot be left out group by group where a person may have many rows."
        yield finding_at("Q511", item, sentence, "Ask in the mode 'reject'.")
    for item in secret_values(levels[0]) if levels else ():
        sentence = "Numbers of different values of a sensitive column cannot be left out group by group."
        yield finding_at("Q511", item, sentence, "Ask in the mode 'reject'.")
    if levels and levels[0] not in plan.branches:
        sentence = "Groups can be left out of the query itself only, not of a subquery."
        yield finding_at("Q510", levels[0], sentence, "Ask the subquery by itself.")
