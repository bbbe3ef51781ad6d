"""A parameter stands for values of one type, in one notation.

Codes: Q208.

Refused::

    SELECT count(*) FROM people WHERE age = $1 AND city = $1

Accepted::

    SELECT count(*) FROM people WHERE age = $1 AND city = $2
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.check.findings import Finding, finding_at
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.levels import Plan, parameter_uses


def parameters_of_one_type(plan: Plan, options: Options) -> Iterator[Finding]:
    """Yield a finding for every parameter that would need two types, or two notations."""
    del options
    uses = parameter_uses(plan)
    types: dict[int, str] = {}
    for use in uses:
        if types.setdefault(use.number, use.type) != use.type:
            sentence = "This parameter stands for values of different types."
            yield finding_at("Q208", use, sentence, "Use one parameter per type, or a cast.")
    if len({use.number >= 100 for use in uses}) > 1:
        use = uses[0]
        yield finding_at("Q208", use, "Parameters are written $1 or %s, not both.", "Write $1.")
