"""What is counted behind every group: people, filtered people, those that a filter leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from kanon_pg.queries.check.functions import PERCENTILES, SUMS
from kanon_pg.queries.check.plan.divisions import (
    Cells,
    ColumnKinds,
    cell_conditions,
    cells_of,
    conjoin,
    k_of,
    may_be_null,
)
from kanon_pg.queries.check.plan.few_values import has_default, results_of
from kanon_pg.queries.check.plan.joins import fact_instance
from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance
from kanon_pg.queries.check.plan.spreads import is_spread, people_of_spreads, spreads_alone
from kanon_pg.queries.check.plan.typed import (
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    TypedConstant,
    columns_in,
    has_value,
    is_constant,
    walk,
)


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


def percentile_minimum(aggregate: Aggregate, k: int) -> int:
    """Return the fewest people of whom k are on the smaller side of a percentile."""
    fraction = Decimal(aggregate.fraction or "0.5")
    smaller = min(fraction, 1 - fraction)
    return int((k / smaller).to_integral_value(rounding=ROUND_CEILING))


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


@dataclass(frozen=True, slots=True)
class NamedGroups:
    """The values that the text gives a group key.

    Parameters
    ----------
    key : int
        Position of the key.
    values : int
        Number of values other than NULL.
    null : bool
        Whether NULL is one, too.
    """

    key: int
    values: int
    null: bool


def named_groups(level: GroupingLevel, *, strict: bool) -> tuple[NamedGroups, ...]:
    """Return the keys of a level whose values the text names.

    Unless `strict`, these are keys by sensitive columns, and nobody has to be without a value.
    """
    found = []
    kinds = ColumnKinds(level)
    for position, key in enumerate(level.keys):
        named = named_values(key)
        if named is not None and (strict or kinds.are_secret(key)):
            values, null = named
            found.append(NamedGroups(position, values, null and strict))
    return tuple(found)


def named_values(key: Bound) -> tuple[int, bool] | None:
    """Return how many values the text names for a key, and whether NULL is one; None if it names none.

    Parameters count as different values.
    """
    while isinstance(key, AllowedCall) and key.name == "cast":
        (key,) = key.operands
    if isinstance(key, ColumnRef) or is_constant(key):
        return None
    if key.type == "bool":
        return 2, any(column.nullable for column in columns_in(key))
    if isinstance(key, AllowedCall) and key.name == "case":
        results = results_of(key)
        if all(map(is_constant, results)):
            values = set(results)
            nothing = {item for item in values if isinstance(item, TypedConstant) and item.text is None}
            return len(values - nothing), bool(nothing) or not has_default(key)
    return None
