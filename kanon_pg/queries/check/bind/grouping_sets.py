"""ROLLUP, CUBE and GROUPING SETS as one level for every grouping, over the same rows.

Each level is a grouping SELECT like any other: its groups are counted by themselves. What the levels say
together is counted, too: totals and details of one answer are equations about the same rows, so the
groups by all keys at once are counted even where they are not answered (see
`kanon_pg.queries.check.plan.divisions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from kanon_pg.queries.check.bind.scopes import GROUPING
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.levels import Level, Output
from kanon_pg.queries.check.plan.typed import Bound, Fixed, KeyOf, Operation
from kanon_pg.queries.check.read.reader_groupings import MOST_GROUPINGS


def groupings(
    keys: tuple[Bound, ...], sets: tuple[tuple[tuple[Bound, ...], ...], ...], span: Span
) -> tuple[tuple[Bound, ...], ...]:
    """Return the key lists of all groupings.

    Parameters
    ----------
    keys : tuple of Bound
        Keys of every grouping.
    sets : tuple
        For every ROLLUP, CUBE or GROUPING SETS the lists that it stands for; one of each is combined.
    span : Span
        Place for messages.

    Returns
    -------
    tuple of tuple of Bound
        Without repeated keys.

    Raises
    ------
    Refusal
        Q507 for too many groupings, Q509 for a grouping that occurs twice.
    """
    found = []
    for chosen in product(*sets):
        found.append(tuple(dict.fromkeys((*keys, *(key for part in chosen for key in part)))))
        if len(found) > MOST_GROUPINGS:
            sentence = f"GROUP BY stands for more than {MOST_GROUPINGS} groupings."
            raise Refusal("Q507", span, sentence, "Ask for fewer totals at a time.")
    if len({frozenset(item) for item in found}) != len(found):
        raise Refusal("Q509", span, "GROUP BY names one grouping twice.", "Name each grouping once.")
    return tuple(found)


def grouped_by(level: Level, keys: tuple[Bound, ...], number: int) -> Level:
    """Return a level by some of its keys; the other ones are NULL.

    Parameters
    ----------
    level : Level
        Grouped by all keys.
    keys : tuple of Bound
        Keys to keep.
    number : int
        Number of the new level.

    Returns
    -------
    Level
        Over the same rows, with outputs, condition and order in terms of the keys that are left.
    """
    places = {level.keys.index(key): place for place, key in enumerate(keys)}
    outputs = tuple(Output(item.name, _restricted(item.expression, places)) for item in level.outputs)
    sorting = tuple(
        item
        if isinstance(item.expression, int)
        else replace(item, expression=_restricted(item.expression, places))
        for item in level.sorting
    )
    having = _restricted(level.having, places) if level.having is not None else None
    return replace(level, number=number, keys=keys, outputs=outputs, sorting=sorting, having=having)


def _restricted(expression: Bound, places: Mapping[int, int]) -> Bound:
    if isinstance(expression, KeyOf):
        place = places.get(expression.position)
        return _null(expression) if place is None else replace(expression, position=place)
    if not isinstance(expression, Operation):
        return expression
    if expression.name == GROUPING:
        bits = "".join("1" if _position(key) not in places else "0" for key in expression.operands)
        return Fixed(type="int4", text=str(int(bits, 2)), span=expression.span)
    operands = tuple(_restricted(operand, places) for operand in expression.operands)
    return replace(expression, operands=operands) if expression.operands else expression


def _position(key: Bound) -> int:
    return key.position if isinstance(key, KeyOf) else -1


def _null(key: KeyOf) -> Bound:
    carrier = "numeric" if key.wide else key.type
    template = f"CAST(NULL AS pg_catalog.{carrier})"
    return Operation(type=key.type, wide=key.wide, name="cast", template=template, operands=(), span=key.span)
