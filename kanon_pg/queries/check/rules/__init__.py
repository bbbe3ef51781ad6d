"""Rules on bound levels, one a module; each yields findings for one level.

`RULES` lists those that look at a single level over protected relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.plan.levels import Level
from kanon_pg.queries.check.rules.aggregate_arguments import aggregate_arguments
from kanon_pg.queries.check.rules.arithmetic import arithmetic
from kanon_pg.queries.check.rules.collations import collations
from kanon_pg.queries.check.rules.distinct_values import distinct_values
from kanon_pg.queries.check.rules.extremes import extremes
from kanon_pg.queries.check.rules.filters import number_of_filters
from kanon_pg.queries.check.rules.foreign_values import foreign_values
from kanon_pg.queries.check.rules.joined_rows import joined_rows
from kanon_pg.queries.check.rules.mixed_columns import mixed_columns
from kanon_pg.queries.check.rules.outer_joins import outer_joins
from kanon_pg.queries.check.rules.percentiles import number_of_percentiles
from kanon_pg.queries.check.rules.personal_columns import personal_columns
from kanon_pg.queries.check.rules.selected_values import selected_values

RULES: Final[tuple[Callable[[Level], Iterator[Finding]], ...]] = (
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
    mixed_columns,
)
