"""Group keys whose values the text names: the values of a condition, or of a CASE with constants.

Whether such a group is in the answer tells whether anybody is in the group.
"""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.queries.check.plan.divisions import ColumnKinds
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.typed import (
    AllowedCall,
    Bound,
    ColumnRef,
    TypedConstant,
    columns_in,
    has_default,
    is_constant,
    results_of,
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
