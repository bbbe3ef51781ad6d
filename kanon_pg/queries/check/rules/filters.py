"""A level has few FILTERs, because every two of them are compared."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.plan.divisions import filters
from kanon_pg.queries.check.plan.levels import Level

_MOST = 12


def number_of_filters(level: Level) -> Iterator[Finding]:
    """Yield a finding if a level has too many different FILTERs."""
    found = filters(level)
    if len(found) > _MOST:
        span = found[_MOST].span
        sentence = f"One query may have {_MOST} different FILTERs."
        yield Finding("Q312", span.start, span.end, sentence, "Group by what the filters tell apart.")
