"""Known values of people whom sensitive columns choose are added up over people who can be counted in parts.

What a list names of known columns divides the people (`kanon_pg.queries.check.plan.lists`). Patterns,
products of columns and other calculations choose people one by one, too, and leave no parts to count. Sums
of a range of people whose values happen to be such that they tell one person are not stopped
(`docs/threat-model-queries.md`).

Codes: Q325.

Refused::

    SELECT sum(age) FROM people WHERE income > 40000 AND (age - 30) * (age - 41) = 0

    SELECT city, avg(age) FILTER (WHERE income > 9) FROM people WHERE sex LIKE '%f%' GROUP BY city

    SELECT count(DISTINCT age) FROM people WHERE income > 40000 AND age % 7 = 3

Accepted::

    SELECT avg(age) FROM people WHERE income > 40000 AND city = 'Berlin' AND born >= '1950-01-01'

    SELECT avg(age) FROM people WHERE income > 40000 AND city IN ('Berlin', 'Bonn') AND sex <> 'f'

    SELECT city, date_trunc('year', born), avg(age) FROM people WHERE income > 40000 GROUP BY 1, 2

    SELECT avg(score) FROM people WHERE age % 7 = 3

    SELECT count(*), sum(income) FROM people WHERE income > 9 AND sex LIKE '%f%'
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.plan.divisions import known_conditions
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.lists import is_plain, known_lists, known_values_added


def known_values(level: GroupingLevel) -> Iterator[Finding]:
    """Yield a finding for every list of people whose known values are added up and who cannot be counted."""
    names = known_values_added(level)
    if not names:
        return
    shown = ", ".join(names)
    # of conditions that secrets are mixed with, the known ones divide people already
    listing = [item for item in known_conditions(level) if not is_plain(item)]
    for part in (*(item.part for item in known_lists(level) if item.keys is None), *listing):
        sentence = f"This may choose people one by one, of whom {shown} is known."
        hint = (
            "Compare the column with constants (=, IN, BETWEEN, < or >), in a part of WHERE by itself; group"
            f" by it; or leave {shown} out and only count."
        )
        yield finding_at("Q325", part, sentence, hint)
