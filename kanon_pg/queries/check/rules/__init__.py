"""The rules about queries, one a module: what the text may not do, whatever the data.

A rule yields findings for one level over protected relations (`LEVEL_RULES`) or for a whole plan
(`PLAN_RULES`). The docstring of its module has queries that it refuses and queries that it accepts instead;
a test checks them all. Rules see plans alone: no text, no SQL and no data; what has to be counted is for
`plan.people` and `plan.divisions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.levels import GroupingLevel, Plan
from kanon_pg.queries.check.rules.aggregate_arguments import aggregate_arguments
from kanon_pg.queries.check.rules.arithmetic import arithmetic
from kanon_pg.queries.check.rules.collations import collations
from kanon_pg.queries.check.rules.distinct_values import distinct_values
from kanon_pg.queries.check.rules.extremes import extremes
from kanon_pg.queries.check.rules.filters import number_of_filters
from kanon_pg.queries.check.rules.foreign_values import foreign_values
from kanon_pg.queries.check.rules.joined_rows import joined_rows
from kanon_pg.queries.check.rules.known_values import known_values
from kanon_pg.queries.check.rules.mixed_columns import mixed_columns
from kanon_pg.queries.check.rules.named_groups import named_group_conditions
from kanon_pg.queries.check.rules.outer_joins import outer_joins
from kanon_pg.queries.check.rules.parameters import parameters_of_one_type
from kanon_pg.queries.check.rules.percentiles import number_of_percentiles
from kanon_pg.queries.check.rules.personal_columns import personal_columns
from kanon_pg.queries.check.rules.selected_values import selected_values
from kanon_pg.queries.check.rules.simulatable import simulatable
from kanon_pg.queries.check.rules.spellings import spellings
from kanon_pg.queries.check.rules.suppression import suppressible

LEVEL_RULES: Final[tuple[Callable[[GroupingLevel], Iterator[Finding]], ...]] = (
    personal_columns,
    joined_rows,
    outer_joins,
    aggregate_arguments,
    distinct_values,
    extremes,
    arithmetic,
    foreign_values,
    number_of_filters,
    collations,
    number_of_percentiles,
    selected_values,
    known_values,
    mixed_columns,
    spellings,
)

PLAN_RULES: Final[tuple[Callable[[Plan, Options], Iterator[Finding]], ...]] = (
    parameters_of_one_type,
    suppressible,
    simulatable,
    named_group_conditions,
)


def findings(plan: Plan, options: Options) -> Iterator[Finding]:
    """Yield the findings of all rules."""
    for rule in PLAN_RULES:
        yield from rule(plan, options)
    for level in plan.levels():
        if level.protected():
            yield from (finding for rule in LEVEL_RULES for finding in rule(level))
