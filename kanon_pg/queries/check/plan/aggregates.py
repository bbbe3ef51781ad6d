"""Which rows take part in an aggregate, and which aggregates need more than k people in their groups.

A percentile needs k people on its smaller side. Where a person may have several rows, percentiles and sums
are also looked at by person (`kanon_pg.queries.check.write.shares`), and of a number of different sensitive
values each has to be shared by k people.

Spreads are aggregates with sums of squares. A standard deviation beside a mean is a sum of squares beside a
sum: two equations about the values of the same people. Of two people both values follow, of three people with
whole numbers from 0 to 20 in 72 of 100 cases, of five in 4, of eight in 1 of 1000
(`docs/threat-model-queries.md` has the table, a test enumerates it). An attacker who knows the values of
k - 1 people takes them out of both sums. So spreads are of at least k + 7 people: eight are left. That holds
for each group, for what a FILTER chooses and leaves out, for cells, and for differences of the sets behind
spreads, which the ledger compares with each other by this number.

corr and the regressions are spreads, too: of one of their columns there are squares.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from typing import Final

from kanon_pg.queries.check.functions import PERCENTILES, SPREADS, SUMS
from kanon_pg.queries.check.plan.divisions import ColumnKinds, conjoin, may_be_null
from kanon_pg.queries.check.plan.joins import fact_instance
from kanon_pg.queries.check.plan.levels import GroupingLevel, Output
from kanon_pg.queries.check.plan.typed import Aggregate, Bound, TypedConstant, has_value


def participation(aggregate: Aggregate) -> Bound | None:
    """Return the condition under which a row takes part in an aggregate, None if always.

    Returns
    -------
    Bound or None
        FILTER and "the argument is not NULL".
    """
    parts = [aggregate.condition] if aggregate.condition is not None else []
    if aggregate.argument is not None and may_be_null(aggregate.argument):
        parts.append(has_value(aggregate.argument))
    if len(parts) == 2:
        return conjoin(parts[0], parts[1])
    return parts[0] if parts else None


def percentile_minimum(aggregate: Aggregate, k: int) -> int:
    """Return the fewest people of whom k are on the smaller side of a percentile."""
    fraction = Decimal(aggregate.fraction or "0.5")
    smaller = min(fraction, 1 - fraction)
    return int((k / smaller).to_integral_value(rounding=ROUND_CEILING))


def dominance_aggregates(level: GroupingLevel) -> tuple[Aggregate, ...]:
    """Return the aggregates of a level to which the rule applies."""
    if not level.protected():
        return ()
    return tuple(
        item
        for item in level.aggregates()
        if item.function in SUMS and not isinstance(item.argument, TypedConstant)
    )


def uneven_percentiles(level: GroupingLevel) -> tuple[Aggregate, ...]:
    """Return the percentiles of a level in which a person may have several rows."""
    if not level.protected():
        return ()
    rows = fact_instance(level)
    if rows is None or rows.relation is None or rows.protection is None:
        return ()
    person = rows.protection.entity
    if person is None or frozenset({person}) in rows.relation.unique_keys:
        return ()
    return tuple(item for item in level.aggregates() if item.function in PERCENTILES)


def secret_values(level: GroupingLevel) -> tuple[Aggregate, ...]:
    """Return the numbers of different values of sensitive columns, each of which k people must share."""
    if not level.protected():
        return ()
    kinds = ColumnKinds(level)
    return tuple(
        item
        for item in level.aggregates()
        if item.distinct and item.argument is not None and kinds.are_secret(item.argument)
    )


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
