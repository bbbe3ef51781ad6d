"""min and max show the value of one person.

A column that tells nothing about a person may show it, but not where sensitive columns choose, or rows in
another table of people: whoever knows whose value is the greatest learns whether that person was chosen.

Codes: Q320.

Refused::

    SELECT max(income) FROM people

    SELECT city, min(age) FROM people GROUP BY city

    SELECT max(score) FROM people WHERE income > 40000

Accepted::

    SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY age) FROM people

    SELECT max(score) FROM people
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.catalog import ColumnRole
from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.functions import EXTREMES
from kanon_pg.queries.check.plan.known import chooses_by_secrets
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.typed import ColumnRef, columns_in
from kanon_pg.queries.check.types import NUMBERS


def extremes(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every min and max that the protection of its column does not allow."""
    for aggregate in level.aggregates():
        if aggregate.function not in EXTREMES or aggregate.argument is None:
            continue
        if all(_is_allowed(level, column) for column in columns_in(aggregate.argument)):
            continue
        sentence = f"{aggregate.function} shows the value of one person."
        function = "percentile_cont" if aggregate.argument.type in NUMBERS else "percentile_disc"
        hint = f"Write {function}(0.05) or (0.95) WITHIN GROUP (ORDER BY column)."
        yield finding_at("Q320", aggregate, sentence, hint)


def _is_allowed(level: GroupingLevel, column: ColumnRef) -> bool:
    instance = level.instances[column.instance - 1]
    if instance.relation is None or instance.protection is None:
        return True
    choice = instance.protection.extremes
    found = instance.relation.column(column.name)
    if choice == "insensitive":
        is_insensitive = found is not None and found.role is ColumnRole.INSENSITIVE
        return is_insensitive and len(level.protected()) == 1 and not chooses_by_secrets(level)
    return choice == "always"
