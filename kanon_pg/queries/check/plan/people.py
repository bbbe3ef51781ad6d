"""What is counted behind every group: people, filtered people, those that a filter leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.queries.check.functions import PERCENTILES
from kanon_pg.queries.check.plan.aggregates import (
    is_spread,
    participation,
    people_of_spreads,
    percentile_minimum,
    spreads_alone,
)
from kanon_pg.queries.check.plan.divisions import (
    Cells,
    ColumnKinds,
    cell_conditions,
    cells_of,
    conjoin,
    k_of,
)
from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance
from kanon_pg.queries.check.plan.typed import Aggregate, AllowedCall, Bound, has_value, walk


@dataclass(frozen=True, slots=True)
class PeopleCount:
    """A number of people that is computed with every group.

    Parameters
    ----------
    instance : Instance
        Whose people are counted.
    mask : Bound or None
        Condition on rows; None counts the whole group.
    negated : bool
        Whether those are counted for whom the mask is not true.
    may_be_none : bool
        Whether nobody at all is allowed, too (nobody is left out by a filter).
    what : str
        As in `kanon_pg.queries.check.verdict.HiddenColumn`.
    """

    instance: Instance
    mask: Bound | None
    negated: bool
    minimum: int
    may_be_none: bool
    what: str


def people_counts(level: GroupingLevel, *, strict: bool, suppress: bool = False) -> tuple[PeopleCount, ...]:
    """Return everything that has to be counted with the groups of a level.

    For every protected instance: the people of the group; for every FILTER and every aggregate of a column
    that may be NULL, the people whose rows take part; the people outside of every FILTER, and those without
    a value where values are counted or replaced: nobody, or enough. What several FILTERs distinguish is
    counted by cells (`cell_counts`); the mode 'suppress' looks at one group at a time, so there the
    cells of a group are counted with it.

    Parameters
    ----------
    strict : bool
        Whether a filter that leaves nobody out counts as too few, too; one by sensitive columns always does.

    Returns
    -------
    tuple of PeopleCount
        Each once, the people of the groups first.
    """
    found: dict[PeopleCount, None] = {}
    kinds = ColumnKinds(level)
    for instance in level.protected():
        k = k_of(instance)
        found[PeopleCount(instance, None, False, k, False, "people")] = None
        for aggregate in level.aggregates():
            by_secrets = aggregate.condition is not None and kinds.are_secret(aggregate.condition)
            needed = people_of_spreads(k) if is_spread(aggregate) else k
            counts = _of_aggregate(aggregate, instance, needed, strict=strict or by_secrets)
            found.update(dict.fromkeys(counts))
        if suppress:
            found.update(dict.fromkeys(_of_cells((level,), instance, k)))
            alone = spreads_alone(level)
            if alone is not None:
                found.update(dict.fromkeys(_of_cells((alone,), instance, people_of_spreads(k))))
    return tuple(found)


def _of_cells(levels: tuple[GroupingLevel, ...], instance: Instance, k: int) -> list[PeopleCount]:
    """Return what is counted with a group for each of its cells."""
    cells = cells_of(levels)
    if cells is None:
        return []
    return [
        PeopleCount(instance, mask, False, k, True, "complement")
        for cell in cell_conditions(cells.divisions)
        for mask in (cell, *(conjoin(cell, has_value(value)) for value in cells.values))
    ]


def cell_counts(cells: Cells, *, of_spreads: bool = False) -> tuple[PeopleCount, ...]:
    """Return what is counted with every cell: its people, and nobody or enough with every value.

    Parameters
    ----------
    of_spreads : bool
        Whether these are the cells that spreads tell apart.
    """
    found = []
    for instance in cells.level.protected():
        k = people_of_spreads(k_of(instance)) if of_spreads else k_of(instance)
        found.append(PeopleCount(instance, None, False, k, False, "complement"))
        masks = map(has_value, cells.values)
        found.extend(PeopleCount(instance, mask, False, k, True, "complement") for mask in masks)
    return tuple(found)


def _of_aggregate(aggregate: Aggregate, instance: Instance, k: int, *, strict: bool) -> list[PeopleCount]:
    mask = participation(aggregate)
    found = []
    if mask is not None or is_spread(aggregate):
        found.append(PeopleCount(instance, mask, False, k, False, "filter"))
    left_out = mask if aggregate.function == "count" else aggregate.condition
    if left_out is not None:
        found.append(PeopleCount(instance, left_out, True, k, not strict, "complement"))
    for replaced in _replaced(aggregate):
        found.append(PeopleCount(instance, replaced, False, k, False, "filter"))
        found.append(PeopleCount(instance, replaced, True, k, not strict, "complement"))
    if aggregate.function in PERCENTILES:
        found.append(
            PeopleCount(instance, mask, False, percentile_minimum(aggregate, k), False, "percentile")
        )
    return found


def _replaced(aggregate: Aggregate) -> list[Bound]:
    """Return "has a value" for every operand that COALESCE replaces inside the aggregate."""
    if aggregate.argument is None:
        return []
    operations = (item for item in walk(aggregate.argument) if isinstance(item, AllowedCall))
    return [has_value(item.operands[0]) for item in operations if item.name == "coalesce"]
