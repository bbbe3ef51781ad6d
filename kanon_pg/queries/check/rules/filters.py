"""A level has few FILTERs, because every two of them are compared.

Codes: Q312.

Refused::

    SELECT count(*) FILTER (WHERE age > 20), count(*) FILTER (WHERE age > 21), count(*) FILTER (WHERE
        age > 22), count(*) FILTER (WHERE age > 23), count(*) FILTER (WHERE age > 24), count(*) FILTER
        (WHERE age > 25), count(*) FILTER (WHERE age > 26), count(*) FILTER (WHERE age > 27), count(*)
        FILTER (WHERE age > 28), count(*) FILTER (WHERE age > 29), count(*) FILTER (WHERE age > 30),
        count(*) FILTER (WHERE age > 31), count(*) FILTER (WHERE age > 32) FROM people

Accepted::

    SELECT age / 10, count(*) FROM people GROUP BY 1
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.divisions import filters
from kanon_pg.queries.check.plan.levels import GroupingLevel

_MOST = 12


def number_of_filters(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding if a level has too many different FILTERs."""
    found = filters(level)
    if len(found) > _MOST:
        span = found[_MOST].span
        sentence = f"One query may have {_MOST} different FILTERs."
        yield finding_at("Q312", span, sentence, "Group by what the filters distinguish.")
