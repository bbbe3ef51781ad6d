"""LEFT JOIN looks up public facts only: rows without people would show who is missing.

Groups of a public table without people are no rows of people (`bind.empty_groups`), if they are groups by
its columns, and every figure passes over rows without a partner, as ``count(p.id)`` does and ``count(*)``
does not.

Codes: Q402.

Refused::

    SELECT c.country, count(*) FROM cities c LEFT JOIN people p ON p.city = c.city GROUP BY c.country

    SELECT count(*) FROM orders o LEFT JOIN people p ON p.id = o.buyer

Accepted::

    SELECT c.country, count(*) FROM people p LEFT JOIN cities c ON p.city = c.city GROUP BY c.country

    SELECT c.country, count(p.id) FROM cities c LEFT JOIN people p ON p.city = c.city GROUP BY c.country
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.levels import GroupingLevel


def outer_joins(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every protected relation that is joined by LEFT JOIN."""
    for instance in level.protected():
        if instance.outer:
            sentence = "LEFT JOIN to a protected relation is not allowed."
            hint = (
                "Write JOIN; or count by columns of a public table that are never NULL:"
                " SELECT w.key, count(s.column) FROM w LEFT JOIN s ON s.key = w.key GROUP BY w.key."
            )
            yield finding_at("Q402", instance, sentence, hint)
