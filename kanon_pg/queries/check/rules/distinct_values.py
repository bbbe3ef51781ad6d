"""count(DISTINCT ...) counts plain columns of protected relations.

Codes: Q311.

Refused::

    SELECT count(DISTINCT age / 10) FROM people

Accepted::

    SELECT count(DISTINCT age) FROM people
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.typed import ColumnRef


def distinct_values(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every count(DISTINCT ...) of something else."""
    for aggregate in level.aggregates():
        argument = aggregate.argument
        if not aggregate.distinct or argument is None:
            continue
        if isinstance(argument, ColumnRef) and level.instances[argument.instance - 1].protection is not None:
            continue
        sentence = "count(DISTINCT ...) takes a plain column of a protected relation."
        hint = "Write count(DISTINCT column), or group by the expression."
        yield finding_at("Q311", argument, sentence, hint)
