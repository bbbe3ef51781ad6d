"""Rules on bound levels, one a module; each yields findings for one level.

`RULES` lists those that look at a single level over protected relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kanon_pg.query.findings import Finding
from kanon_pg.query.level import Level
from kanon_pg.query.rules.aggregate_arguments import aggregate_arguments
from kanon_pg.query.rules.arithmetic import arithmetic
from kanon_pg.query.rules.collations import collations
from kanon_pg.query.rules.distinct_values import distinct_values
from kanon_pg.query.rules.extremes import extremes
from kanon_pg.query.rules.filters import number_of_filters
from kanon_pg.query.rules.foreign_values import foreign_values
from kanon_pg.query.rules.joined_rows import joined_rows
from kanon_pg.query.rules.mixed_columns import mixed_columns
from kanon_pg.query.rules.outer_joins import outer_joins
from kanon_pg.query.rules.percentiles import number_of_percentiles
from kanon_pg.query.rules.personal_columns import personal_columns
from kanon_pg.query.rules.selected_values import selected_values

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
