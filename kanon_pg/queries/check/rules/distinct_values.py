"""count(DISTINCT ...) counts plain columns of protected relations."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.plan.levels import Level
from kanon_pg.queries.check.plan.typed import ColumnRef


def distinct_values(level: Level) -> Iterator[Finding]:
    """Yield a finding for every count(DISTINCT ...) of something else."""
    for aggregate in level.aggregates():
        argument = aggregate.argument
        if not aggregate.distinct or argument is None:
            continue
        if isinstance(argument, ColumnRef) and level.instances[argument.instance - 1].protection is not None:
            continue
        sentence = "count(DISTINCT ...) takes a plain column of a protected relation."
        hint = "Write count(DISTINCT column), or group by the expression."
        yield Finding("Q311", argument.span.start, argument.span.end, sentence, hint)
