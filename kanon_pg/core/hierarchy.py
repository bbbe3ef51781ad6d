"""Generalization hierarchies: each value has one node per level, up to the top, where the cell is suppressed.

A hierarchy comes from whoever owns the data, so nothing about it is taken for granted. What is checked here
makes it a tree of equal height over its values: only then a node stands for a set of values, and a higher
level never says more than a lower one. Sentences name levels and counts, never a value or a node.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import eq

from kanon_pg.errors import InputError

MAX_HEIGHT = 63
"""Levels above the values, the top among them: a level is one of at most six bits of a pattern vector."""

MAX_VALUES = 500_000
MAX_BYTES = 2_000
"""Of one value or node: what an index of PostgreSQL can hold."""


@dataclass(frozen=True, slots=True)
class GeneralizationHierarchy:
    """A checked hierarchy without its top; build it with `hierarchy_of`."""

    values: tuple[str, ...]
    """Level 0, without repetition; NULL is not among them."""
    levels: tuple[tuple[str, ...], ...]
    """Per level 1 to ``height - 1`` the node of each value, in the order of `values`."""

    @property
    def height(self) -> int:
        """The top level, >= 1; there the cell is suppressed."""
        return len(self.levels) + 1

    @property
    def node_counts(self) -> tuple[int, ...]:
        """Different nodes per level from 0 to the top."""
        return len(self.values), *(len(set(level)) for level in self.levels), 1

    def rows(self) -> list[list[str]]:
        """Return one list per value: the value, then its nodes from level 1."""
        return [list(row) for row in zip(self.values, *self.levels, strict=True)]


def hierarchy_of(rows: Iterable[Sequence[str | None]]) -> GeneralizationHierarchy:
    """Check rows of values and nodes, and return the hierarchy that they are.

    If the last level has one node for all values, that node is the top; else a top is added above it.
    Running time is linear in the number of cells.

    Parameters
    ----------
    rows : iterable of sequence
        Per value the value itself, then its node at level 1, 2 ...

    Raises
    ------
    InputError
        If a row is shorter or longer than the first, a cell is NULL, a value occurs twice, a node has two
        parents, a name two meanings, or there are no values, too many, or too many levels.
    """
    whole = _rectangle(rows)
    return _checked(whole[: _levels_below_top(whole)])


def from_levels(
    values: Sequence[str], levels: Iterable[Sequence[str]], *, keeps_all: bool = False
) -> GeneralizationHierarchy:
    """Return the hierarchy with these nodes at the levels 1, 2 ...

    Parameters
    ----------
    values : sequence of str
        Level 0.
    levels : iterable of sequence of str
        Per level the node of each value, as many as there are values.
    keeps_all : bool
        Whether highest levels with a single node stay; else the lowest of them is the top.

    Raises
    ------
    InputError
        See `hierarchy_of`.
    """
    kept = list(levels)
    while kept and not keeps_all and len(set(kept[-1])) == 1:
        kept.pop()
    return _checked([tuple(column) for column in (values, *kept)])


def _checked(columns: Sequence[tuple[str, ...]]) -> GeneralizationHierarchy:
    """Return the hierarchy of columns of equal length, the top not among them."""
    hierarchy = GeneralizationHierarchy(columns[0], tuple(columns[1:]))
    _require_sizes(hierarchy)
    _require_distinct(hierarchy.values)
    _require_one_parent(hierarchy)
    _require_one_meaning(hierarchy)
    return hierarchy


def names_with_two_meanings(levels: Iterable[Sequence[Hashable]]) -> int:
    """Return how many names mark nodes at different levels neither of which holds the other.

    Parameters
    ----------
    levels : iterable of sequence
        Per level, rising, the name of each value's node.

    Notes
    -----
    Names may go up along a path: then readers take the upper node for what is meant. O(number of cells).
    """
    last: dict[Hashable, int] = {}
    wrong: set[Hashable] = set()
    for names in levels:
        found = dict(zip(names, range(len(names)), strict=True))
        # All values of a node have one node above it, so that one of them is enough to ask.
        wrong |= {name for name in found.keys() & last.keys() if names[last[name]] != name}
        last |= found
    return len(wrong)


def two_meanings(count: int, where: str) -> str:
    """Return the sentence that refuses names with two meanings, without the names: they may be values.

    Examples
    --------
    >>> two_meanings(1, "the hierarchy")
    'One name of the hierarchy stands for nodes of different levels, none of which holds the other.'
    >>> two_meanings(3, "the hierarchy")
    '3 names of the hierarchy stand for nodes of different levels, none of which holds the other.'
    """
    which = f"One name of {where} stands" if count == 1 else f"{count} names of {where} stand"
    return f"{which} for nodes of different levels, none of which holds the other."


def _rectangle(rows: Iterable[Sequence[str | None]]) -> list[tuple[str, ...]]:
    """Return the columns of rows of equal length without NULLs."""
    kept: list[Sequence[str | None]] = []
    for number, row in enumerate(rows, 1):
        if kept and len(row) != len(kept[0]):
            raise InputError(
                f"The hierarchy has gaps: row {number} has {len(row)} levels, the first has {len(kept[0])}.",
                hint="Give every value a node at every level; repeat the node where nothing changes.",
            )
        if number > MAX_VALUES:
            raise _too_many_values()
        kept.append(row)
    if not kept or not kept[0]:
        raise _no_values()
    columns = []
    for level, column in enumerate(zip(*kept, strict=True)):
        gaps = 0 if set(map(type, column)) == {str} else sum(not isinstance(cell, str) for cell in column)
        if gaps:
            raise InputError(
                f"The hierarchy has gaps: {gaps} of its cells at level {level} are NULL or no text.",
                hint="Leave NULL out as a value, it needs none; repeat the node where nothing changes.",
            )
        columns.append(column)
    return columns


def _no_values() -> InputError:
    return InputError("The hierarchy has no values.", hint="Give one row per value.")


def _too_many_values() -> InputError:
    return InputError(
        f"The hierarchy has more than {MAX_VALUES:,} values.",
        hint="Round the column in a view first, and use that.",
    )


def _levels_below_top(columns: list[tuple[str, ...]]) -> int:
    has_top = len(columns) > 1 and len(set(columns[-1])) == 1
    return len(columns) - has_top


def _require_sizes(hierarchy: GeneralizationHierarchy) -> None:
    if not hierarchy.values:
        raise _no_values()
    if len(hierarchy.values) > MAX_VALUES:
        raise _too_many_values()
    if hierarchy.height > MAX_HEIGHT:
        raise InputError(
            f"The hierarchy has {hierarchy.height} levels above its values, more than {MAX_HEIGHT}.",
            hint="Leave out levels that differ little from their neighbours.",
        )
    for level, column in enumerate((hierarchy.values, *hierarchy.levels)):
        if not all(map(_can_be_stored, set(column))):
            raise InputError(
                f"A cell of the hierarchy at level {level} has more than {MAX_BYTES:,} bytes, a NUL, "
                "or half a character.",
                hint="Texts of this length are no quasi-identifiers.",
            )


def _can_be_stored(cell: str) -> bool:
    try:
        return len(cell.encode()) <= MAX_BYTES and "\0" not in cell
    except UnicodeEncodeError:  # half of a surrogate pair, which is not text but can come from JSON
        return False


def _require_distinct(values: tuple[str, ...]) -> None:
    repeated = len(values) - len(set(values))
    if repeated:
        raise InputError(
            f"The hierarchy has duplicates: {repeated} of {len(values)} rows repeat a value.",
            hint="Give each value one row.",
        )


def _require_one_meaning(hierarchy: GeneralizationHierarchy) -> None:
    """Refuse names that readers cannot understand: a cell shows the name of a node, and not its level."""
    count = names_with_two_meanings((hierarchy.values, *hierarchy.levels))
    if count:
        raise InputError(
            two_meanings(count, "the hierarchy"),
            hint="Give such nodes different names: a published cell does not show its level.",
        )


def _require_one_parent(hierarchy: GeneralizationHierarchy) -> None:
    """Refuse a node that has different nodes above it: then levels do not nest."""
    for level, (below, above) in enumerate(zip(hierarchy.levels, hierarchy.levels[1:], strict=False), 1):
        parents = dict(zip(below, above, strict=True))
        if all(map(eq, map(parents.__getitem__, below), above)):
            continue
        torn = {node for node, parent in zip(below, above, strict=True) if parents[node] != parent}
        raise InputError(
            f"The hierarchy is not a tree: {len(torn)} nodes of level {level} have two parents at "
            f"level {level + 1}.",
            hint="Values that share a node must share all nodes above it.",
        )
