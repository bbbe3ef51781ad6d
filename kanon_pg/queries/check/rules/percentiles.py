"""Percentiles of people are means over the people nearest in rank: of numbers and times, and not many.

Texts have no mean, so their percentiles would be single people's values.

Codes: Q321, Q324.

Refused::

    SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY city) FROM people

    SELECT percentile_disc(0.10) WITHIN GROUP (ORDER BY age), percentile_disc(0.11) WITHIN GROUP (ORDER
        BY age), percentile_disc(0.12) WITHIN GROUP (ORDER BY age), percentile_disc(0.13) WITHIN GROUP
        (ORDER BY age), percentile_disc(0.14) WITHIN GROUP (ORDER BY age), percentile_disc(0.15) WITHIN
        GROUP (ORDER BY age), percentile_disc(0.16) WITHIN GROUP (ORDER BY age), percentile_disc(0.17)
        WITHIN GROUP (ORDER BY age), percentile_disc(0.18) WITHIN GROUP (ORDER BY age),
        percentile_disc(0.19) WITHIN GROUP (ORDER BY age) FROM people

Accepted::

    SELECT percentile_disc(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY age) FROM people
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.functions import PERCENTILES
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.typed import columns_in

_MOST = 9


def number_of_percentiles(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for percentiles of texts, and for more percentiles of one column than deciles.

    Percentiles of a column times a number, or plus one, are percentiles of the column.
    """
    found: dict[object, int] = {}
    for aggregate in level.aggregates():
        if aggregate.function not in PERCENTILES:
            continue
        if aggregate.type == "text":
            hint = "Write GROUP BY, count(*) and sum(count(*)) OVER (ORDER BY ...)."
            yield finding_at("Q324", aggregate, "A percentile of texts shows the value of one person.", hint)
        ordered = frozenset(columns_in(aggregate.argument)) if aggregate.argument is not None else None
        found[ordered] = found.get(ordered, 0) + 1
        if found[ordered] > _MOST:
            sentence = f"One query may return {_MOST} percentiles of a column."
            hint = "Return deciles, or count with width_bucket."
            yield finding_at("Q321", aggregate, sentence, hint)
            return
