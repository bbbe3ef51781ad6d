"""Known and sensitive columns meet in AND, OR, NOT, CASE and || only, where people can be counted.

Codes: Q323.

Refused::

    SELECT count(*) FROM people WHERE income > age * 1000

Accepted::

    SELECT count(*) FROM people WHERE income > 40000 AND age > 40
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.divisions import uncountable_mixtures
from kanon_pg.queries.check.plan.levels import GroupingLevel


def mixed_columns(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every expression that calculates or compares known columns with sensitive ones."""
    for item in uncountable_mixtures(level):
        sentence = "This condition reads sensitive columns together with others."
        hint = "Compare them with constants, each by itself, and join the conditions with AND or OR."
        yield finding_at("Q323", item, sentence, hint)
