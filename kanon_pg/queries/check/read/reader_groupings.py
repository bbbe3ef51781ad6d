"""GROUP BY with ROLLUP, CUBE and GROUPING SETS, read as the lists of keys that they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final

from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.read.expressions import read_expression
from kanon_pg.queries.check.read.raw_tree import children, only, unknown
from kanon_pg.queries.check.read.sqlglot_parser import RawNode
from kanon_pg.queries.check.read.syntax import Expression, Groupings

MOST_GROUPINGS: Final = 16
_SETS = frozenset({"Rollup", "Cube", "GroupingSets"})
_MOST_PARTS = 8


def read_grouping(node: RawNode) -> tuple[tuple[Expression, ...], tuple[Groupings, ...]]:
    """Read the elements of GROUP BY.

    Parameters
    ----------
    node : RawNode
        The clause.

    Returns
    -------
    tuple of Expression
        Ordinary group keys.
    tuple of Groupings
        One entry for every ROLLUP, CUBE or GROUPING SETS.

    Raises
    ------
    Refusal
        Q507 if they stand for too many groupings.
    """
    only(node, "expressions")
    keys: list[Expression] = []
    sets: list[Groupings] = []
    for item in children(node, "expressions"):
        if item.kind in _SETS:
            sets.append(_bounded(item, _groupings(item)))
        else:
            keys.extend(_part(item))
    return tuple(keys), tuple(sets)


def _groupings(node: RawNode) -> Groupings:
    only(node, "expressions")
    items = children(node, "expressions")
    if node.kind == "GroupingSets":
        nested = (_groupings(item) if item.kind in _SETS else (_part(item),) for item in items)
        return tuple(grouping for groupings in nested for grouping in groupings)
    parts = [_part(item) for item in items]
    if not 1 <= len(parts) <= _MOST_PARTS:
        raise _too_many(node)
    if node.kind == "Rollup":
        return tuple(_joined(parts[:length]) for length in range(len(parts), -1, -1))
    return tuple(
        _joined(chosen) for length in range(len(parts), -1, -1) for chosen in combinations(parts, length)
    )


def _part(node: RawNode) -> tuple[Expression, ...]:
    """Read one element: an expression, or several in parentheses that belong together."""
    if node.kind in _SETS:
        unknown(node)
    if node.kind != "Tuple":
        return (read_expression(node),)
    only(node, "expressions")
    return tuple(read_expression(item) for item in children(node, "expressions"))


def _joined(parts: Iterable[tuple[Expression, ...]]) -> tuple[Expression, ...]:
    return tuple(item for part in parts for item in part)


def _bounded(node: RawNode, groupings: Groupings) -> Groupings:
    if len(groupings) > MOST_GROUPINGS:
        raise _too_many(node)
    return groupings


def _too_many(node: RawNode) -> Refusal:
    sentence = f"ROLLUP, CUBE and GROUPING SETS stand for {MOST_GROUPINGS} groupings at most."
    return Refusal("Q507", node.span, sentence, "Ask for fewer totals at a time.")
