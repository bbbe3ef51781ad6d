"""Groups that the text itself names: values of a condition or of a CASE with constants in GROUP BY.

``GROUP BY (born that day AND in that ward)`` names the groups true and false whatever the data. If a named
group has one person, the answer is refused; if it has nobody, the group is merely absent, and that
difference is an answer about one person. In the strict mode every named group has to be there.
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.levels import Level
from kanon_pg.queries.check.plan.people import _values
from kanon_pg.queries.check.plan.typed import ColumnRef, Operation, walk


def hidden_conditions(level: Level, options: Options) -> Iterator[Finding]:
    """Yield a finding for every condition inside a group key whose groups cannot be told from the text."""
    if not options.strict or not level.protected():
        return
    for key in level.keys:
        if _values(key) is not None or isinstance(key, ColumnRef):
            continue
        for item in walk(key):
            if isinstance(item, Operation) and (item.type == "bool" or item.name == "case"):
                sentence = "A condition inside a calculated group hides which groups there can be."
                hint = "Group by the condition itself, or by a CASE with constants only."
                yield Finding("Q340", item.span.start, item.span.end, sentence, hint)
                break
