"""FROM and WHERE of a level.

Which relations are read, and how far, must not depend on who is in them: ``EXPLAIN (ANALYZE, BUFFERS)``
around a call shows the blocks. An inner join reads one side no further once the other one turns out to be
empty. So where people are looked up in other relations, or others for people, all of them are joined by FULL
JOIN, which reads both sides to their ends, and rows without a partner are dropped afterwards, by a condition
that does not let the server make an inner join of it. Answers that have one row stand first, and the rest is
joined to them by LEFT JOIN, so that they are there before any row is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.joins import conjuncts, fact_instance
from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance, Plan
from kanon_pg.queries.check.plan.typed import AllowedCall, Bound, columns_in
from kanon_pg.queries.check.write.expressions import Writer, quoted
from kanon_pg.queries.check.write.table_snapshot import has_tids

_IS_THERE = '"kanon_is_there"'


def from_and_where(
    level: GroupingLevel, writer: Writer, answers: Mapping[Plan, str], more: tuple[str, ...] = ()
) -> str:
    """Return FROM and WHERE of a level.

    Parameters
    ----------
    answers : Mapping
        Names of the common table expressions that hold the answers of inner queries.
    more : tuple of str
        SQL of further conditions on the rows.

    Returns
    -------
    str
        Empty if the level reads nothing and has no condition.
    """
    parts = _parts_of_full_joins(level)
    if parts is not None:
        return _full_joins(level, parts, writer, answers, more)
    text = ""
    for instance in level.instances:
        source = f"{_relation(instance, answers)} AS {quoted(instance.alias)}"
        if not text:
            text = f" FROM {source}"
        elif instance.outer and instance.condition is not None:
            text += f" LEFT JOIN {source} ON {writer.write(instance.condition)}"
        else:
            text += f" CROSS JOIN {source}"
    conditions = [*map(writer.write, level.where), *more]
    return f"{text} WHERE {' AND '.join(conditions)}" if conditions else text


def _relation(instance: Instance, answers: Mapping[Plan, str]) -> str:
    if instance.relation is not None:
        name = f"{quoted(instance.relation.schema)}.{quoted(instance.relation.name)}"
        # a child that it gets meanwhile was not part of what was checked
        return f"ONLY {name}" if instance.relation.single_table else name
    if instance.plan is not None:
        return quoted(answers[instance.plan])
    raise Refusal("Q100", Span(0, 0), "A source is missing.")


@dataclass(frozen=True, slots=True)
class _PlacedConditions:
    """The conditions of a level by where they stand.

    Parameters
    ----------
    own : dict
        By number of an instance, those that choose among its rows before it is joined.
    links : dict
        By number of an instance, equalities with instances before it.
    rest : list
        Those on joined rows.
    """

    own: dict[int, list[Bound]] = field(default_factory=dict)
    links: dict[int, list[Bound]] = field(default_factory=dict)
    rest: list[Bound] = field(default_factory=list)


def _parts_of_full_joins(level: GroupingLevel) -> _PlacedConditions | None:
    """Return where the conditions stand if the level is written with FULL JOIN, None if it is not.

    It is where the rows of one instance look up at most one row each in all others, so that rows without a
    partner are no more than the relations have, and where every instance is equated with earlier ones.
    """
    scalars, joined = _scalars_and_others(level)
    if not level.protected() or len(level.instances) < 2 or any(item.outer for item in scalars):
        return None
    if len(joined) > 1 and fact_instance(level) is None:
        return None
    if joined[0].outer or any(item.outer and item.protection is not None for item in joined):
        return None
    parts = _PlacedConditions()
    for condition in (part for item in level.where for part in conjuncts(item)):
        if not _is_placed(condition, level, parts, None):
            parts.rest.append(condition)
    for instance in joined:
        if instance.outer and instance.condition is not None:
            placed = [_is_placed(part, level, parts, instance) for part in conjuncts(instance.condition)]
            if not all(placed):
                return None
    return parts if all(item.number in parts.links for item in joined[1:]) else None


def _scalars_and_others(level: GroupingLevel) -> tuple[list[Instance], list[Instance]]:
    scalars = [item for item in level.instances if item.is_scalar]
    return scalars, [item for item in level.instances if not item.is_scalar]


def _is_placed(
    condition: Bound, level: GroupingLevel, parts: _PlacedConditions, outer: Instance | None
) -> bool:
    """Note where a condition stands, of WHERE or of an outer join; return whether that is before WHERE."""
    read = {column.instance for column in columns_in(condition)}
    # a known level may lack some instances
    instances = {item.number: item for item in level.instances}
    if not read or any(instances[number].is_scalar for number in read):
        return False
    last = instances[max(read)]
    if last is not outer and (last.outer or outer is not None):
        return False
    if len(read) == 1:
        parts.own.setdefault(last.number, []).append(condition)
        return True
    if not (isinstance(condition, AllowedCall) and condition.name == "="):
        return False
    sides = condition.operands
    reads = [{column.instance for column in columns_in(side)} for side in sides]
    # FULL JOIN takes what can be sorted or hashed, which operators of one type can
    if sides[0].type != sides[1].type or {last.number} not in reads or not all(reads) or reads[0] & reads[1]:
        return False
    parts.links.setdefault(last.number, []).append(condition)
    return True


def _full_joins(
    level: GroupingLevel,
    parts: _PlacedConditions,
    writer: Writer,
    answers: Mapping[Plan, str],
    more: tuple[str, ...],
) -> str:
    scalars, joined = _scalars_and_others(level)
    text = " CROSS JOIN ".join(f"{_relation(item, answers)} AS {quoted(item.alias)}" for item in scalars)
    for place, instance in enumerate(joined):
        source = f"({_with_presence(instance, answers, parts, writer)}) AS {quoted(instance.alias)}"
        if place:
            links = " AND ".join(map(writer.write, parts.links[instance.number]))
            text += f" FULL JOIN {source} ON {links}"
        else:
            text += f" LEFT JOIN {source} ON true" if text else source
    text = f" FROM {text}"
    needed = [f"{quoted(item.alias)}.{_IS_THERE}" for item in joined if not item.outer]
    present = " AND ".join(needed)
    rest = " AND ".join([*map(writer.write, parts.rest), *more])
    # as a condition that is never true of NULL, each of them would make an inner join of the outer ones
    if rest:
        return f"{text} WHERE CASE WHEN {present} THEN {rest} ELSE false END"
    return f"{text} WHERE COALESCE({present}, false)"


def _with_presence(
    instance: Instance, answers: Mapping[Plan, str], parts: _PlacedConditions, writer: Writer
) -> str:
    alias = quoted(instance.alias)
    columns = [f"{alias}.*", f"true AS {_IS_THERE}"]
    if instance.relation is not None and has_tids(instance.relation):
        columns += [f"{alias}.ctid", f"{alias}.tableoid"]
    own = parts.own.get(instance.number, ())
    condition = f" WHERE {' AND '.join(map(writer.write, own))}" if own else ""
    return f"SELECT {', '.join(columns)} FROM {_relation(instance, answers)} AS {alias}{condition}"
