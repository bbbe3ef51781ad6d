"""Whom a query chooses by known columns alone, whatever its sensitive parts say.

A refusal tells something about a secret only if it depends on the secret. Whether "these 40 people and one
more, who have the flu" differs from "these 40 people, by illness" depends on the one more person's illness;
whether *these 40 people* differ from *these 40 and one more* does not. So a level whose rows are chosen by
sensitive columns has a second one, its *known level*: what is left when every condition, group key and part
of a FILTER that reads a sensitive column is dropped. The ledger compares the sets of known levels with each
other first, and what it refuses because of them it refuses in every world.

Where several tables of people are joined, whom known columns choose in each of them by itself is compared,
too (`level_alone`): who has rows in the others is no more known than a sensitive column.

Of a mixed part the known conditions inside divide the groups of the known level, as they divide cells
(`kanon_pg.queries.check.plan.divisions`). Instances that nothing but a sensitive equality joins are dropped
with it.

The *secret level* is the counterpart: what is left when every part that reads a known column is dropped. It
says how frequent a secret is among everybody, hence how many of some known people are to be expected to have
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

from kanon_pg.queries.check.functions import PERCENTILES
from kanon_pg.queries.check.plan.divisions import (
    ColumnKinds,
    conjoin,
    known_conditions,
    may_be_null,
    negation,
)
from kanon_pg.queries.check.plan.joins import conjuncts
from kanon_pg.queries.check.plan.levels import GroupingLevel, Instance, Output
from kanon_pg.queries.check.plan.typed import Aggregate, AllowedCall, Bound, columns_in, has_value


def chooses_by_secrets(level: GroupingLevel) -> bool:
    """Return whether sensitive columns choose rows, groups, or the rows behind a figure.

    Values that are missing do not count: whom an aggregate leaves out because they have none, it leaves out
    of groups whose rows are compared with and without them.
    """
    kinds = ColumnKinds(level)
    conditions = [item.condition for item in level.aggregates() if item.condition is not None]
    if any(kinds.are_secret(part) for part in (*level.conditions(), *level.keys, *conditions)):
        return True
    ordered = (item for item in level.aggregates() if item.function in PERCENTILES or item.distinct)
    return any(item.argument is not None and kinds.are_secret(item.argument) for item in ordered)


def known_level(level: GroupingLevel, instance: Instance) -> GroupingLevel | None:
    """Return the known level of one protected instance, None if it is the level itself.

    Returns
    -------
    Level or None
        Its outputs are counts of the rows that are left of each FILTER. Where nothing but percentiles or
        different values depend on a sensitive column it has the rows of the level.
    """
    return _known(level, instance, frozenset()) if chooses_by_secrets(level) else None


def level_alone(level: GroupingLevel, instance: Instance) -> GroupingLevel | None:
    """Return whom known columns choose in one protected instance, whoever has rows in the other ones.

    That somebody has a row in a second table of people may be a secret, too, and a join by people chooses by
    it: "these people, as far as they visited oncology", then "these and one more".

    Returns
    -------
    Level or None
        None if no other table of people is joined.
    """
    others = frozenset(item.number for item in level.protected() if item.number != instance.number)
    return _known(level, instance, others) if others else None


def _known(level: GroupingLevel, instance: Instance, without: frozenset[int]) -> GroupingLevel:
    """Return what known columns choose, by parts of a level that read none of some instances."""
    kinds = ColumnKinds(level)
    participating = [_participating(item) for item in level.aggregates()]
    where = [
        part
        for whole in level.where
        for part in conjuncts(whole)
        if not kinds.are_secret(part) and without.isdisjoint(item.instance for item in columns_in(part))
    ]
    found = _joined(level, instance, where, kinds)
    joined = tuple(item for item in found if item.number not in without)
    kept = {item.number for item in joined}

    def is_left(part: Bound) -> bool:
        return not kinds.are_secret(part) and {item.instance for item in columns_in(part)} <= kept

    divisions = [item for item in known_conditions(level) if is_left(item)]
    chosen = (list(filter(is_left, parts)) for parts in participating)
    masks = {reduce(conjoin, left) for left in chosen if left}
    keys = tuple(dict.fromkeys([*filter(is_left, level.keys), *divisions]))
    return _counting(level, joined, tuple(filter(is_left, where)), keys, masks)


@dataclass(frozen=True, slots=True)
class SecretLevel:
    """Whom a level chooses by sensitive columns alone.

    Parameters
    ----------
    level : GroupingLevel
        Its groups, and the rows of each FILTER and those that it leaves out.
    is_whole : bool
        Whether every part that reads a sensitive column is in it; a mixed part is not.
    """

    level: GroupingLevel
    is_whole: bool


def secret_level(level: GroupingLevel, instance: Instance) -> SecretLevel:
    """Return the secret level of one protected instance.

    A column whose different values are counted is a group key here: each value needs people of its own.
    """
    kinds = ColumnKinds(level)
    counted = [item.argument for item in level.aggregates() if item.distinct and item.argument is not None]
    keys = [key for key in dict.fromkeys([*level.keys, *counted]) if kinds.are_secret(key)]
    conditions = [part for whole in level.where for part in conjuncts(whole)]
    where = [part for part in conditions if "known" not in kinds.of(part)]
    joined = _joined(level, instance, where, kinds)
    kept = {item.number for item in joined}

    def is_left(part: Bound) -> bool:
        return "known" not in kinds.of(part) and {item.instance for item in columns_in(part)} <= kept

    masks: set[Bound] = set()
    choosing = [*(part for part in conditions if kinds.are_secret(part)), *keys]
    for parts in _choices(level, kinds):
        choosing += parts
        left = [part for part in parts if is_left(part)]
        if left:
            masks |= {reduce(conjoin, left), negation(reduce(conjoin, left))}
    for item in level.aggregates():
        if item.argument is not None and may_be_null(item.argument) and kinds.are_secret(item.argument):
            choosing.append(item.argument)
            if is_left(item.argument):
                masks.add(has_value(item.argument))
    found = _counting(level, joined, tuple(filter(is_left, where)), tuple(filter(is_left, keys)), masks)
    return SecretLevel(found, all(map(is_left, choosing)))


def _choices(level: GroupingLevel, kinds: ColumnKinds) -> Iterator[list[Bound]]:
    """Yield what has to hold of sensitive columns in each FILTER, and where values are counted."""
    for item in level.aggregates():
        if item.condition is not None:
            yield [part for part in conjuncts(item.condition) if kinds.are_secret(part)]
        counted = item.argument if item.function == "count" and not item.distinct else None
        if counted is not None and may_be_null(counted) and kinds.are_secret(counted):
            yield [has_value(counted)]


def _counting(
    level: GroupingLevel,
    instances: tuple[Instance, ...],
    where: tuple[Bound, ...],
    keys: tuple[Bound, ...],
    masks: set[Bound],
) -> GroupingLevel:
    """Return a level of the same number that counts its groups, and the rows of each mask in them."""
    return replace(
        level,
        instances=instances,
        where=where,
        keys=keys,
        outputs=tuple(
            Output(
                "chosen",
                Aggregate(type="int8", function="count", argument=None, condition=mask, span=level.span),
            )
            for mask in sorted(masks, key=repr)
        ),
        having=None,
        sorting=(),
        repeated=False,
    )


def is_union_of_groups(known: GroupingLevel, level: GroupingLevel) -> bool:
    """Return whether a known level has the rows of all groups of its level, in one group."""
    return (known.where, known.instances) == (level.where, level.instances) and not (
        known.keys or known.aggregates() or len(level.protected()) > 1
    )


def is_everybody(level: GroupingLevel) -> bool:
    """Return whether a known or secret level has all rows of its one instance in one group."""
    return len(level.instances) == 1 and not (level.where or level.keys or level.aggregates())


def _participating(aggregate: Aggregate) -> tuple[Bound, ...]:
    """Return conditions that all hold for the rows of an aggregate."""
    parts = conjuncts(aggregate.condition) if aggregate.condition is not None else ()
    if aggregate.argument is not None and may_be_null(aggregate.argument):
        return (*parts, has_value(aggregate.argument))
    return parts


def _joined(
    level: GroupingLevel, start: Instance, where: list[Bound], kinds: ColumnKinds
) -> tuple[Instance, ...]:
    """Return the instances that equalities in `where` connect with one of them, in the order of the text."""
    kept = {start.number}
    found = True
    while found:
        found = False
        for item in level.instances:
            if item.number not in kept and _is_connected(item, kept, where, kinds):
                kept.add(item.number)
                found = True
    return tuple(item for item in level.instances if item.number in kept)


def _is_connected(instance: Instance, kept: set[int], where: list[Bound], kinds: ColumnKinds) -> bool:
    if instance.condition is not None:
        parts = conjuncts(instance.condition)
        if kinds.are_secret(instance.condition):
            return False
    else:
        parts = tuple(where)
    for part in parts:
        if not isinstance(part, AllowedCall) or part.name != "=":
            continue
        sides = [{item.instance for item in columns_in(side)} for side in part.operands]
        for own, other in (sides, sides[::-1]):
            if own == {instance.number} and other and other <= kept:
                return True
    return False
