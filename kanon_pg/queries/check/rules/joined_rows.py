"""Joins look up, they do not multiply rows."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.plan.joins import fact_instance, multiplied_instances
from kanon_pg.queries.check.plan.levels import Level


def joined_rows(level: Level) -> Iterator[Finding]:
    """Yield a finding if no protected instance reaches all others over unique keys.

    Numbers of distinct people do not change when rows repeat, so a level that returns nothing else may start
    from all rows of a person in several relations.
    """
    if fact_instance(level) is not None:
        return
    for instance in multiplied_instances(level, people_only=_counts_people_only(level)):
        sentence = "This join can multiply rows, which would weigh people."
        hint = "Join it on equality with all columns of a unique key, or return count(DISTINCT ...) only."
        yield Finding("Q401", instance.span.start, instance.span.end, sentence, hint)


def _counts_people_only(level: Level) -> bool:
    return not level.repeated and all(aggregate.distinct for aggregate in level.aggregates())
