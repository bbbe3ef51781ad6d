"""What is counted behind every group: people, filtered people, and those that a filter leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from itertools import permutations

from kanon_pg.query.bound import Aggregate, Bound, ColumnOf, Operation, walk
from kanon_pg.query.functions import PERCENTILES
from kanon_pg.query.level import Instance, Level


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of people that is computed with every group.

    Parameters
    ----------
    instance : Instance
        Whose people are counted.
    mask : Bound or None
        Condition on rows; None counts the whole group.
    negated : bool
        Whether those are counted for whom the mask is not true.
    minimum : int
        Fewest people.
    may_be_none : bool
        Whether nobody at all is allowed, too (nobody is left out by a filter).
    what : str
        As in `kanon_pg.query.verdict.HiddenColumn`.
    """

    instance: Instance
    mask: Bound | None
    negated: bool
    minimum: int
    may_be_none: bool
    what: str


def counted(level: Level, *, strict: bool) -> tuple[Counted, ...]:
    """Return everything that has to be counted with the groups of a level.

    For every protected instance: the people of the group; for every FILTER and every aggregate of a column
    that may be NULL, the people whose rows take part. What one figure has and another one of the same row
    has not is a figure, too, so the people outside of every FILTER, in one FILTER but not in another, and
    without a value where values are counted, are counted as well: nobody, or enough.

    Parameters
    ----------
    level : Level
        The level.
    strict : bool
        Whether a filter that leaves nobody out counts as too few, too.

    Returns
    -------
    tuple of Counted
        Each once, the people of the groups first.
    """
    found: dict[Counted, None] = {}
    for instance in level.protected():
        k = _k(instance)
        found[Counted(instance, None, False, k, False, "people")] = None
        for aggregate in level.aggregates():
            found.update(dict.fromkeys(_of_aggregate(aggregate, instance, k, strict=strict)))
        for mask in _differences(level):
            found[Counted(instance, mask, False, k, True, "complement")] = None
    return tuple(found)


def _k(instance: Instance) -> int:
    return instance.protection.k if instance.protection is not None else 1


def _of_aggregate(aggregate: Aggregate, instance: Instance, k: int, *, strict: bool) -> list[Counted]:
    mask = participation(aggregate)
    found = []
    if mask is not None:
        found.append(Counted(instance, mask, False, k, False, "filter"))
    left_out = mask if aggregate.function == "count" else aggregate.condition
    if left_out is not None:
        found.append(Counted(instance, left_out, True, k, not strict, "complement"))
    for replaced in _replaced(aggregate):
        found.append(Counted(instance, replaced, False, k, False, "filter"))
        found.append(Counted(instance, replaced, True, k, not strict, "complement"))
    if aggregate.function in PERCENTILES:
        found.append(Counted(instance, mask, False, _percentile_minimum(aggregate, k), False, "percentile"))
    return found


def filters(level: Level) -> tuple[Bound, ...]:
    """Return the different FILTER conditions of a level."""
    conditions = (aggregate.condition for aggregate in level.aggregates())
    return tuple(dict.fromkeys(condition for condition in conditions if condition is not None))


def _differences(level: Level) -> tuple[Bound, ...]:
    template = "({0} AND ({1}) IS NOT TRUE)"
    return tuple(
        Operation(type="bool", name="and not", template=template, operands=(one, other), span=one.span)
        for one, other in permutations(filters(level), 2)
    )


def _replaced(aggregate: Aggregate) -> list[Bound]:
    """Return "has a value" for every operand that COALESCE replaces inside the aggregate."""
    if aggregate.argument is None:
        return []
    operations = (item for item in walk(aggregate.argument) if isinstance(item, Operation))
    return [_has_value(item.operands[0]) for item in operations if item.name == "coalesce"]


def _has_value(operand: Bound) -> Operation:
    return Operation(
        type="bool", name="not null", template="({0} IS NOT NULL)", operands=(operand,), span=operand.span
    )


def _percentile_minimum(aggregate: Aggregate, k: int) -> int:
    fraction = Decimal(aggregate.fraction or "0.5")
    smaller = min(fraction, 1 - fraction)
    return int((k / smaller).to_integral_value(rounding=ROUND_CEILING))


def participation(aggregate: Aggregate) -> Bound | None:
    """Return the condition under which a row takes part in an aggregate, None if always.

    Parameters
    ----------
    aggregate : Aggregate
        The aggregate.

    Returns
    -------
    Bound or None
        FILTER and "the argument is not NULL".
    """
    parts = [aggregate.condition] if aggregate.condition is not None else []
    if aggregate.argument is not None and _may_be_null(aggregate.argument):
        parts.append(_has_value(aggregate.argument))
    if len(parts) == 2:
        both = (parts[0], parts[1])
        return Operation(
            type="bool", name="and", template="({0} AND {1})", operands=both, span=aggregate.span
        )
    return parts[0] if parts else None


def _may_be_null(argument: Bound) -> bool:
    if isinstance(argument, ColumnOf):
        return argument.nullable
    if isinstance(argument, Operation) and argument.name in {"cast", "+", "-", "*", "neg"}:
        return any(_may_be_null(operand) for operand in argument.operands)
    return isinstance(argument, Operation) or getattr(argument, "text", "") is None
