"""What conditions and groups list of known values, where such values are added up by secrets.

Whoever knows the column that is added up has weights: of 50 people with an even number of days and one with
an odd number, the sum of the days of those who have the flu is odd if the one has it. The number of people
says nothing of that, because there are 51 of them. In the same way ``count(DISTINCT days)`` tells whether the
one who has a number of days of their own is among them. Such people rarely follow each other in a column:
they are chosen one by one, by lists, OR, NOT and CASE, and by inner queries that are joined.

So where sensitive columns choose rows, and a figure reads the values of known columns, what a list names
divides the people whom known columns choose: each value of IN, each that is looked up in the answer of an
inner query, both sides of every comparison within OR, NOT and CASE. The parts are counted, and the ledger
compares them as it compares the people among whom sensitive columns choose (the rule ``margin``), whoever of
them has the secret. What cannot be divided so is refused (`kanon_pg.queries.check.rules.known_values`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from kanon_pg.queries.check.plan.classes import dividing_expressions
from kanon_pg.queries.check.plan.divisions import ColumnKinds
from kanon_pg.queries.check.plan.joins import conjuncts, determined_columns
from kanon_pg.queries.check.plan.known import chooses_by_secrets, known_level
from kanon_pg.queries.check.plan.levels import GroupingLevel
from kanon_pg.queries.check.plan.sums import UTC_DAY
from kanon_pg.queries.check.plan.typed import (
    Aggregate,
    AllowedCall,
    Bound,
    ColumnRef,
    columns_in,
    has_default,
    is_constant,
    results_of,
)

_COMPARISONS: Final = frozenset({"=", "<", "<=", ">", ">=", "between"})
_POINTS: Final = frozenset({"<>", "is distinct from", "is not distinct from"})
_TESTS: Final = frozenset({"is null", "is true", "is false"})
_CONNECTING: Final = frozenset({"and", "or", "not", "is true", "is false", "is null"})
_ITEMS: Final = frozenset({"in", "any"})
_STEPS: Final = frozenset(
    {
        *("+", "-", "*", "/", "neg", "cast", "difference", "age", UTC_DAY),
        *("floor", "ceil", "ceiling", "round", "trunc"),
        *("extract", "date_part", "date_trunc", "to_char"),
        *("left", "substr", "substring", "lower", "upper", "btrim", "coalesce", "width_bucket"),
    }
)
"""Operations that give values next to each other the same result, or move all by the same."""


@dataclass(frozen=True, slots=True)
class KnownList:
    """A condition or group of a level that may choose people one by one by what is known of them.

    Parameters
    ----------
    part : Bound
        The condition or group key.
    keys : tuple of Bound or None
        What divides people as it does; None if nothing does.
    """

    part: Bound
    keys: tuple[Bound, ...] | None

    @property
    def leaves_others(self) -> bool:
        """Whether people stay whom it does not name; those who stay of a plain list are named."""
        return getattr(self.part, "name", "") not in _ITEMS


def known_values_added(level: GroupingLevel) -> tuple[str, ...]:
    """Return the known columns, by name, whose values a level tells of people whom sensitive ones choose."""
    if not chooses_by_secrets(level):
        return ()
    kinds = ColumnKinds(level)
    added = (column for item in level.aggregates() for column in _added(level, item, kinds))
    return tuple(sorted({column.name for column in added}))


def _added(level: GroupingLevel, aggregate: Aggregate, kinds: ColumnKinds) -> Iterator[ColumnRef]:
    argument = aggregate.argument
    if argument is None or (aggregate.function == "count" and not aggregate.distinct):
        return
    if dividing_expressions(level, aggregate) == (argument,):
        # a sum of numbers of people, each of whom there are enough
        return
    for column in columns_in(argument):
        instance = level.instances[column.instance - 1]
        is_value = instance.protection is not None and not instance.is_personal(column)
        if is_value and not kinds.are_secret(column):
            yield column


def known_lists(level: GroupingLevel) -> tuple[KnownList, ...]:
    """Return the lists of a level: parts of its WHERE and FILTERs, and its group keys."""
    kinds = ColumnKinds(level)
    filters = (item.condition for item in level.aggregates() if item.condition is not None)
    parts = [part for condition in (*level.conditions(), *filters) for part in conjuncts(condition)]
    listing = [part for part in parts if kinds.of(part) == {"known"} and not is_plain(part)]
    listing += [key for key in level.keys if kinds.of(key) == {"known"} and not is_step(key)]
    known = _known(level)
    kept = set() if known is None else {item.number for item in known.instances}
    # whom an outer join leaves without a partner cannot be counted apart from its condition
    outer = {part for item in level.instances if item.condition for part in conjuncts(item.condition)}
    found = [KnownList(part, None if part in outer else _keys(part, kept)) for part in dict.fromkeys(listing)]
    return (*found, *(KnownList(part, _as_key(part, kept)) for part in _looked_up(level, kinds)))


def _looked_up(level: GroupingLevel, kinds: ColumnKinds) -> Iterator[Bound]:
    """Yield what is looked up in answers of inner queries, which may list values."""
    pairs = determined_columns(level) if len(level.instances) > 1 else ()
    for instance in level.instances:
        if instance.plan is not None and not instance.is_scalar:
            joined = dict.fromkeys(other for own, other in pairs if own.instance == instance.number)
            yield from (other for other in joined if "known" in kinds.of(other))


def _as_key(part: Bound, kept: set[int]) -> tuple[Bound, ...] | None:
    return (part,) if {column.instance for column in columns_in(part)} <= kept else None


def _known(level: GroupingLevel) -> GroupingLevel | None:
    """Return whom known columns choose; None of several tables of people, where it is no known fact."""
    people = level.protected()
    return known_level(level, *people) if len(people) == 1 else None


def levels_of_lists(level: GroupingLevel, number: Callable[[], int]) -> tuple[GroupingLevel, ...]:
    """Return whom known columns choose in a level, divided as its lists divide them.

    Parameters
    ----------
    number : callable
        Returns the number of a new level within the query.

    Returns
    -------
    tuple of GroupingLevel
        One, or none if nothing is listed, or known values are not added up.
    """
    known = _known(level) if known_values_added(level) else None
    lists = [item for item in known_lists(level) if item.keys is not None] if known is not None else []
    if known is None or not lists:
        return ()
    dropped = {item.part for item in lists if item.leaves_others}
    keys = (key for item in lists for key in item.keys or ())
    own = number()
    found = replace(
        known,
        number=own,
        family=own,
        where=tuple(part for whole in known.where for part in conjuncts(whole) if part not in dropped),
        keys=tuple(dict.fromkeys((*(key for key in known.keys if key not in dropped), *keys))),
        outputs=(),
    )
    return (found,)


def _keys(part: Bound, kept: set[int]) -> tuple[Bound, ...] | None:
    """Return what divides people as an expression does, by instances that are kept; None if nothing does."""
    found = tuple(_divisions(part))
    keys = tuple(item for item in found if item is not None)
    is_whole = len(keys) == len(found) and {column.instance for column in columns_in(part)} <= kept
    return keys if is_whole else None


def _divisions(part: Bound) -> Iterator[Bound | None]:
    """Yield what divides people as an expression does; None where that is not known."""
    if is_constant(part):
        return
    if not isinstance(part, AllowedCall):
        yield part
    elif part.name == "case":
        for item in part.operands[: -1 if has_default(part) else None : 2]:
            yield from _divisions(item)
        yield from (item if is_step(item) else None for item in results_of(part) if not is_constant(item))
    elif part.name in _CONNECTING and all(item.type == "bool" for item in part.operands):
        for item in part.operands:
            yield from _divisions(item)
    elif part.name in _ITEMS and is_step(part.operands[0]) and all(map(is_constant, part.operands[1:])):
        yield _named_value(part)
    elif is_plain(part) or (part.name in _POINTS and all(map(is_step, part.operands))):
        yield AllowedCall(
            type="bool", name="is true", template="({0} IS TRUE)", operands=(part,), span=part.span
        )
    else:
        yield None


def _named_value(part: AllowedCall) -> Bound:
    """Return the value that a list names, NULL for all others."""
    value = part.operands[0]
    return AllowedCall(
        type=value.type,
        as_numeric=value.as_numeric,
        name="named value",
        template="CASE WHEN {0} THEN {1} END",
        operands=(part, value),
        span=part.span,
    )


def is_plain(part: Bound) -> bool:
    """Return whether a condition compares steps of columns, with constants or each other."""
    if not isinstance(part, AllowedCall):
        return True
    if part.name == "not":
        return _is_test(part.operands[0])
    return _is_test(part) or (part.name in _COMPARISONS and all(map(is_step, part.operands)))


def _is_test(part: Bound) -> bool:
    if isinstance(part, AllowedCall) and part.name in _TESTS:
        return is_step(part.operands[0])
    return isinstance(part, ColumnRef)


def is_step(item: Bound) -> bool:
    """Return whether an expression is a column, or a step of columns, which constants move and scale."""
    if not isinstance(item, AllowedCall) or is_constant(item):
        return True
    varying = [operand for operand in item.operands if not is_constant(operand)]
    if item.name in {"*", "/", "coalesce"} and len(varying) > 1:
        return False
    return item.name in _STEPS and all(map(is_step, varying))
