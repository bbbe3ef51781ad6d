"""Joins look up, they do not multiply rows.

Codes: Q401.

Refused::

    SELECT count(*) FROM people p JOIN cities c ON c.country = p.city

    SELECT count(*) FROM people p JOIN cities c ON c.size > p.age

Accepted::

    SELECT o.city, sum(o.amount) FROM orders o JOIN people p ON o.buyer = p.id GROUP BY o.city

    SELECT c.country, count(*) FROM people p JOIN cities c ON c.city = p.city GROUP BY c.country
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.joins import fact_instance, multiplied_instances
from kanon_pg.queries.check.plan.levels import GroupingLevel


def joined_rows(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding if no protected instance reaches all others over unique keys.

    Numbers of distinct people do not change when rows repeat, so a level that returns nothing else may start
    from all rows of a person in several relations.
    """
    if fact_instance(level) is not None:
        return
    for instance in multiplied_instances(level, people_only=_counts_people_only(level)):
        if instance.outer and instance.protection is not None:
            # another rule says that it cannot be joined so at all
            continue
        sentence = "This join can multiply rows, which would weigh people."
        hint = "Join it on equality with all columns of a unique key, or return count(DISTINCT ...) only."
        yield finding_at("Q401", instance, sentence, hint)


def _counts_people_only(level: GroupingLevel) -> bool:
    return not level.repeated and all(aggregate.distinct for aggregate in level.aggregates())
