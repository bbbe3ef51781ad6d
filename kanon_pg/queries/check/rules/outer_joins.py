"""LEFT JOIN looks up public facts only: rows without people would show who is missing."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.plan.levels import Level


def outer_joins(level: Level) -> Iterator[Finding]:
    """Yield a finding for every protected relation that is joined by LEFT JOIN."""
    for instance in level.protected():
        if instance.outer:
            sentence = "LEFT JOIN to a protected relation is not allowed."
            hint = "Write JOIN, or start FROM with the protected relation."
            yield Finding("Q402", instance.span.start, instance.span.end, sentence, hint)
