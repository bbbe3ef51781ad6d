"""Many percentiles of a column are the column itself, sorted."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.functions import PERCENTILES
from kanon_pg.queries.check.plan.levels import Level
from kanon_pg.queries.check.plan.typed import columns_in

_MOST = 9


def number_of_percentiles(level: Level) -> Iterator[Finding]:
    """Yield a finding if a level returns more percentiles of one column than deciles.

    Percentiles of a column times a number, or plus one, are percentiles of the column.
    """
    found: dict[object, int] = {}
    for aggregate in level.aggregates():
        if aggregate.function not in PERCENTILES:
            continue
        ordered = frozenset(columns_in(aggregate.argument)) if aggregate.argument is not None else None
        found[ordered] = found.get(ordered, 0) + 1
        if found[ordered] > _MOST:
            sentence = f"One query may return {_MOST} percentiles of a column."
            hint = "Return deciles, or count with width_bucket."
            yield Finding("Q321", aggregate.span.start, aggregate.span.end, sentence, hint)
            return
