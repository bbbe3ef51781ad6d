"""Which instances the rows of a level stand for.

A join may look something up for a row, but must not multiply rows: multiplied rows are weights, and
weights that somebody chose encode single people in one figure. The rows of a level stand for exactly one
protected instance, the *fact*; every other instance is reached from it over a unique key.

A level that counts different people only may join several protected instances in which a person has many
rows, if all of them are joined by the person: then a row is a combination of rows of one person, and
belongs to that person's group. Any other join that multiplies would let its author draw the groups: with
``day >= admitted`` the groups by day grow by one day's people each, and their differences are single people.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TypeAlias

from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, ColumnRef, columns_in
from kanon_pg.queries.check.types import FLOATS


def fact_instance(level: GroupingLevel) -> Instance | None:
    """Return the instance whose rows the level counts, or None if no protected instance can be it.

    Returns
    -------
    Instance or None
        The first protected instance, in the order of the text, from which every other one is looked up.
    """
    pairs = _pairs(level)
    candidates = (item for item in level.protected() if not item.outer)
    return next((item for item in candidates if not _unreached(level, {item.number}, pairs)), None)


Pairs: TypeAlias = dict[int, list[tuple[str, frozenset[int]]]]
"""For every instance its columns, each with the instances of an expression that it is equal to."""


def _pairs(level: GroupingLevel) -> Pairs:
    pairs: Pairs = {}
    for own, other in determined_columns(level) if len(level.instances) > 1 else ():
        read = frozenset(item.instance for item in columns_in(other))
        pairs.setdefault(own.instance, []).append((own.name, read))
    return pairs


def multiplied_instances(level: GroupingLevel, *, people_only: bool) -> tuple[Instance, ...]:
    """Return the instances that may repeat the rows of every protected instance, as few as possible.

    Parameters
    ----------
    people_only : bool
        Whether it counts different people only, so that all rows of one person may be combined.
    """
    pairs = _pairs(level)
    starts = {frozenset({item.number}) for item in level.protected() if not item.outer}
    if people_only:
        starts = _persons(level, starts)
    found = (_unreached(level, start, pairs) for start in sorted(starts, key=sorted))
    return min(found, key=len, default=())


def _unreached(level: GroupingLevel, starts: Set[int], pairs: Pairs) -> tuple[Instance, ...]:
    """Return the instances that equalities do not reach from some others over unique keys.

    Every round adds the instances one of whose unique keys is equated, column by column, with expressions
    over instances reached before; at most n rounds for n instances.
    """
    reached = set(starts)
    waiting = [item for item in level.instances if item.number not in reached]
    while True:
        found = {item.number for item in waiting if _is_looked_up(item, reached, pairs)}
        if not found:
            return tuple(waiting)
        reached |= found
        waiting = [item for item in waiting if item.number not in found]


def _is_looked_up(instance: Instance, reached: Set[int], pairs: Pairs) -> bool:
    known = {name for name, read in pairs.get(instance.number, ()) if read <= reached}
    return any(key <= known for key in instance.unique_keys())


def _persons(level: GroupingLevel, starts: Set[frozenset[int]]) -> set[frozenset[int]]:
    """Return the starts, those together that WHERE joins by equality of what identifies people."""
    people = {item.number: item for item in level.protected() if not item.outer}
    parts = set(starts)
    for condition in level.where:
        for pair in _links(condition, people):
            joined = {part for part in parts if part & pair}
            parts = (parts - joined) | {frozenset().union(*joined)}
    return parts


def _links(condition: Bound, people: dict[int, Instance]) -> list[frozenset[int]]:
    found = []
    for sides in equated_sides(condition):
        left, right = map(plain_column, sides)
        if left is None or right is None or not {left.instance, right.instance} <= people.keys():
            continue
        if all(_identifies(side, people[side.instance]) for side in (left, right)):
            found.append(frozenset({left.instance, right.instance}))
    return found


def _identifies(column: ColumnRef, instance: Instance) -> bool:
    return instance.protection is not None and instance.protection.entity == column.name


_EXACT_FLOATS = frozenset({("int2", "float4"), ("int2", "float8"), ("int4", "float8"), ("float4", "float8")})


def plain_column(expression: Bound) -> ColumnRef | None:
    """Return the column behind casts that keep different values different, or None."""
    while isinstance(expression, AllowedCall) and expression.name == "cast":
        inner = expression.operands[0]
        if _may_merge(inner.type, expression.type):
            return None
        expression = inner
    return expression if isinstance(expression, ColumnRef) else None


def _may_merge(source: str, target: str) -> bool:
    """Return whether a cast can make different values equal."""
    if target in FLOATS:
        return (source, target) not in _EXACT_FLOATS
    return (source, target) in {
        ("timestamp", "date"),
        # clocks may skip a whole day
        ("date", "timestamptz"),
        ("timestamp", "timestamptz"),
        ("timestamptz", "date"),
        ("timestamptz", "timestamp"),
    }


def equalities(level: GroupingLevel) -> tuple[tuple[ColumnRef, ColumnRef], ...]:
    """Return pairs of columns that every row has equal, so that the second determines the first."""
    found = ((one, plain_column(other)) for one, other in determined_columns(level))
    return tuple((one, other) for one, other in found if other is not None)


def determined_columns(level: GroupingLevel) -> tuple[tuple[ColumnRef, Bound], ...]:
    """Return columns with an expression over other instances that every row has equal.

    An equality of WHERE holds both ways. That of a LEFT JOIN restricts the rows of the joined instance only,
    whatever else it names.
    """
    pairs = [pair for condition in level.where for pair in _determined(condition)]
    for instance in level.instances:
        if instance.condition is not None:
            found = _determined(instance.condition)
            pairs += [pair for pair in found if pair[0].instance == instance.number]
    return tuple(pairs)


def _determined(condition: Bound) -> list[tuple[ColumnRef, Bound]]:
    found = []
    for left, right in equated_sides(condition):
        for own, other in ((left, right), (right, left)):
            column = plain_column(own)
            read = {item.instance for item in columns_in(other)}
            if column is not None and read and column.instance not in read:
                found.append((column, other))
    return found


def equated_sides(condition: Bound) -> list[tuple[Bound, Bound]]:
    """Return both sides of every equality that has to hold where the condition holds."""
    parts = (part for part in conjuncts(condition) if isinstance(part, AllowedCall) and part.name == "=")
    return [(part.operands[0], part.operands[1]) for part in parts]


def conjuncts(condition: Bound) -> tuple[Bound, ...]:
    """Return the parts of a condition that is joined by AND."""
    if isinstance(condition, AllowedCall) and condition.name == "and":
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return (condition,)
