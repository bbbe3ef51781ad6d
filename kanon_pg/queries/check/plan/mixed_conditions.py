"""Conditions on what is known about people together with what is secret.

``(<one person> AND ward = 'oncology') OR born < '1950-01-01'`` has many people behind it. But who was born
when is known, so the number of people says whether the one person is one of them: the condition treats them
by their secret, and all others by what is known anyway.

A part of WHERE, of a FILTER or of a group key that reads sensitive columns alone, or none, treats alike
everybody whom the other parts leave. One that reads both is *mixed*. What it says about people by known
columns divides them, and each of these divisions, with the group keys, has to hold nobody or at least k
people, counted before the mixed part of WHERE is applied: so no secret of fewer than k people enters in a
way of its own. Where known and secret columns meet in anything but AND, OR, NOT, CASE and ``||`` there
is nothing to count, and the condition is refused (Q323).
"""

from __future__ import annotations

from kanon_pg.queries.check.catalog import Role
from kanon_pg.queries.check.plan.levels import Level, conjuncts, determined
from kanon_pg.queries.check.plan.typed import Bound, ColumnOf, Operation, columns

_CONNECTING = frozenset({"and", "or", "not", "is null", "is true", "is false", "case", "||", "cast"})


def mixed_parts(level: Level) -> tuple[Bound, ...]:
    """Return the parts of WHERE that are mixed."""
    kinds = Kinds(level)
    return tuple(part for part in level.where if kinds.are_mixed(part))


def known_conditions(level: Level) -> tuple[Bound, ...]:
    """Return the conditions on known columns inside all mixed parts of a level.

    Parameters
    ----------
    level : Level
        A protected level.

    Returns
    -------
    tuple of Bound
        Conditions, each as large as it can be without reading a sensitive column.
    """
    kinds = Kinds(level)
    found: dict[Bound, None] = {}
    for part in _selecting(level):
        waiting = [part] if kinds.are_mixed(part) else []
        while waiting:
            item = waiting.pop()
            if kinds.are_mixed(item) and isinstance(item, Operation):
                waiting.extend(item.operands)
            elif item.type == "bool" and "known" in kinds.of(item):
                found[item] = None
    return tuple(found)


def entangled(level: Level) -> tuple[Bound, ...]:
    """Return the expressions in which known and sensitive columns meet so that nothing can be counted."""
    kinds = Kinds(level)
    found: dict[Bound, None] = {}
    for instance in level.instances:
        parts = conjuncts(instance.condition) if instance.condition is not None else ()
        found.update((part, None) for part in parts if kinds.are_mixed(part))
    for part in _selecting(level):
        waiting = [part]
        while waiting:
            item = waiting.pop()
            if not isinstance(item, Operation) or not kinds.are_mixed(item):
                continue
            if item.name in _CONNECTING:
                waiting.extend(item.operands)
            else:
                found[item] = None
    return tuple(found)


def _selecting(level: Level) -> tuple[Bound, ...]:
    conditions = [
        *level.where,
        *(item.condition for item in level.aggregates() if item.condition is not None),
    ]
    return (*(part for condition in conditions for part in conjuncts(condition)), *level.keys)


class Kinds:
    """Says whether expressions of a level read known columns of people, sensitive ones, or both.

    A public relation or an answer says nothing about people by itself, but which of its rows a person is
    joined with tells the columns that it is joined by. These are found by a fixed point: each round
    passes kinds on over every equality, and there are two kinds.
    """

    def __init__(self, level: Level) -> None:
        self._level = level
        self._carried: dict[int, frozenset[str]] = {}
        links = [
            (own.instance, other) for own, other in (determined(level) if len(level.instances) > 1 else ())
        ]
        links += [(item.number, item.condition) for item in level.instances if item.condition is not None]
        links = [(number, read) for number, read in links if self._carries(number)]
        changed = True
        while changed:
            before = dict(self._carried)
            for number, read in links:
                self._carried[number] = self._carried.get(number, frozenset()) | self.of(read)
            changed = self._carried != before

    def _carries(self, number: int) -> bool:
        instance = self._level.instances[number - 1]
        return instance.protection is None or instance.outer

    def are_mixed(self, expression: Bound) -> bool:
        """Tell whether an expression reads known columns and sensitive ones."""
        return len(self.of(expression)) > 1

    def of(self, expression: Bound) -> frozenset[str]:
        """Return ``known`` and ``sensitive`` as they are read."""
        return frozenset[str]().union(*map(self._of_column, columns(expression)))

    def _of_column(self, column: ColumnOf) -> frozenset[str]:
        instance = self._level.instances[column.instance - 1]
        carried = self._carried.get(instance.number, frozenset())
        if instance.relation is None or instance.protection is None or instance.is_personal(column):
            return carried
        found = instance.relation.column(column.name)
        kind = "sensitive" if found is not None and found.role is Role.SENSITIVE else "known"
        return carried | {kind}
