"""Figures with sums of squares, and how many people they need.

A standard deviation beside a mean is a sum of squares beside a sum: two equations about the values of the
same people. Of two people both values follow, of three people with whole numbers from 0 to 20 in 72 of 100
cases, of five in 4, of eight in 1 of 1000 (`docs/threat-model-queries.md` has the table, a test enumerates
it). An attacker who knows the values of k - 1 people takes them out of both sums. So spreads are of at least
k + 7 people: eight are left. That holds for each group, for what a FILTER chooses and leaves out, for cells,
and for differences of the sets behind spreads, which the ledger compares with each other by this number.

corr and the regressions are spreads, too: of one of their columns there are squares.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kanon_pg.queries.check.functions import SPREADS
from kanon_pg.queries.check.plan.levels import GroupingLevel, Output
from kanon_pg.queries.check.plan.typed import Aggregate

_MORE_THAN_K: Final = 7


def people_of_spreads(k: int) -> int:
    """Return the fewest people of whom a sum and a sum of squares may be known."""
    return k + _MORE_THAN_K


def is_spread(aggregate: Aggregate) -> bool:
    """Return whether an aggregate discloses a sum of squares."""
    return aggregate.function in SPREADS


def spreads_alone(level: GroupingLevel) -> GroupingLevel | None:
    """Return a level with its spreads and no other figures, None if it has none."""
    found = tuple(Output("", item) for item in level.aggregates() if is_spread(item))
    return replace(level, outputs=found, having=None, sorting=(), repeated=False) if found else None
