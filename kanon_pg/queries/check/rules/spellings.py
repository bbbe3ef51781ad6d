"""Groups of people are shown in a spelling that does not depend on one of them.

'1 mon' and '30 days' are equal, and their group shows one of the two: that of one row. Numbers are written
in one spelling instead (`plan.spellings`).

Codes: Q341.

Refused::

    SELECT age(date '2024-05-15', born), count(*) FROM people GROUP BY 1

    SELECT CASE WHEN age > 30 THEN interval '1 month' ELSE interval '30 days' END FROM people

Accepted::

    SELECT extract(year from age(date '2024-05-15', born)), count(*) FROM people GROUP BY 1
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.spellings import has_several_spellings


def spellings(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every group key of people whose equal values can look different."""
    for key in level.keys:
        if has_several_spellings(key):
            sentence = "Equal intervals can look different (a month, thirty days): a group would show one's."
            yield finding_at("Q341", key, sentence, "Group by a part of it: extract(year from age(a, b)).")
