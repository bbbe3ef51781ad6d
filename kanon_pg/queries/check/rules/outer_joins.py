"""LEFT JOIN looks up public facts only: rows without people would show who is missing.

Codes: Q402.

Refused::

    SELECT c.country, count(p.id) FROM cities c LEFT JOIN people p ON p.city = c.city GROUP BY c.country

Accepted::

    SELECT c.country, count(*) FROM people p LEFT JOIN cities c ON p.city = c.city GROUP BY c.country
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.levels import Level


def outer_joins(level: Level) -> Iterator[Finding]:
    """Yield a finding for every protected relation that is joined by LEFT JOIN."""
    for instance in level.protected():
        if instance.outer:
            sentence = "LEFT JOIN to a protected relation is not allowed."
            hint = "Write JOIN, or start FROM with the protected relation."
            yield finding_at("Q402", instance, sentence, hint)
