"""Groups that the text itself names: values of a condition or of a CASE with constants in GROUP BY.

``GROUP BY (born that day AND in that ward)`` names the groups true and false whatever the data. If a named
group has one person, the answer is refused; if it has nobody, the group is merely absent, and that
difference is an answer about one person. In the strict mode every named group has to be there.

Codes: Q340.

Refused with strict true::

    SELECT lower(CASE WHEN age > 30 THEN 'old' ELSE city END), count(*) FROM people GROUP BY 1

Accepted with strict true::

    SELECT CASE WHEN age > 30 THEN 'old' ELSE 'young' END, count(*) FROM people GROUP BY 1
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.levels import Plan
from kanon_pg.queries.check.plan.named_groups import named_values
from kanon_pg.queries.check.plan.typed import AllowedCall, ColumnRef, walk


def named_group_conditions(plan: Plan, options: Options) -> Iterator[Finding]:
    """Yield a finding for every condition inside a group key whose groups the text does not name."""
    levels = plan.levels() if options.strict else ()
    for key in (key for level in levels if level.protected() for key in level.keys):
        if named_values(key) is not None or isinstance(key, ColumnRef):
            continue
        for item in walk(key):
            if isinstance(item, AllowedCall) and (item.type == "bool" or item.name == "case"):
                sentence = "A condition inside a calculated group hides which groups there can be."
                hint = "Group by the condition itself, or by a CASE with constants only."
                yield finding_at("Q340", item, sentence, hint)
                break
