"""Hierarchies from a table of parents: one row per entry, which names the entry above it."""

from __future__ import annotations

from collections.abc import Iterable

from kanon_pg.core.hierarchy import GeneralizationHierarchy, hierarchy_of
from kanon_pg.errors import InputError


def taxonomy(
    entries: Iterable[tuple[str | None, str | None]], *, with_inner: bool = False, repeats: bool = False
) -> GeneralizationHierarchy:
    """Return the hierarchy that entries and their parents form.

    Levels are counted from the top, so that entries of the same depth share a level. Running time is linear
    in the number of entries times the height.

    Parameters
    ----------
    entries : iterable of tuple
        Entry and parent; NULL as parent: it has none. A parent need not be an entry.
    with_inner : bool
        Whether entries that have entries below them are values, too; else only the lowest ones are.
    repeats : bool
        Whether a value that is less deep than others repeats itself up to its own level; else it is refused.

    Raises
    ------
    InputError
        If an entry is NULL, occurs twice, has two parents, or is above itself, or depths differ.
    """
    parents = _parents(entries)
    depths = _depths(parents)
    above = set(parents.values())
    values = [entry for entry in depths if with_inner or entry not in above]
    deepest = max((depths[value] for value in values), default=0)
    uneven = sum(depths[value] < deepest for value in values)
    if uneven and not (repeats or with_inner):
        raise InputError(
            f"The hierarchy is uneven: {uneven} of {len(values)} values are less deep than {deepest} levels.",
            hint='With the option {"uneven": "repeat"} they repeat themselves up to their own level.',
        )
    return hierarchy_of(_path(value, parents, depths, deepest) for value in values)


def _parents(entries: Iterable[tuple[str | None, str | None]]) -> dict[str, str | None]:
    parents: dict[str, str | None] = {}
    nulls = repeated = torn = 0
    for entry, parent in entries:
        if entry is None:
            nulls += 1
        elif entry not in parents:
            parents[entry] = parent
        elif parents[entry] == parent:
            repeated += 1
        else:
            torn += 1
    if nulls:
        raise InputError(f"The hierarchy has gaps: {nulls} of its entries are NULL.", hint="Leave them out.")
    if torn:
        raise InputError(
            f"The hierarchy is not a tree: {torn} rows give an entry a second parent.",
            hint="Give each entry one parent.",
        )
    if repeated:
        raise InputError(
            f"The hierarchy has duplicates: {repeated} rows repeat an entry.", hint="Give each entry one row."
        )
    for above in {parent for parent in parents.values() if parent is not None}:
        parents.setdefault(above, None)
    return parents


def _depths(parents: dict[str, str | None]) -> dict[str, int]:
    """Return how deep each entry is: 1 without parent."""
    depths: dict[str, int] = {}
    for entry in list(parents):
        way: dict[str, None] = {}
        climbing: str | None = entry
        while climbing is not None and climbing not in depths:
            if climbing in way:
                raise InputError(
                    "The hierarchy is not a tree: it has a cycle, in which entries are above themselves.",
                    hint="Follow the parents from entry to entry; the highest has none.",
                )
            way[climbing] = None
            climbing = parents[climbing]
        depth = 0 if climbing is None else depths[climbing]
        for number, one in enumerate(reversed(way), 1):
            depths[one] = depth + number
    return depths


def _path(value: str, parents: dict[str, str | None], depths: dict[str, int], deepest: int) -> list[str]:
    """Return a value and its nodes; it repeats itself up to the level of its depth."""
    path = [value] * (deepest - depths[value] + 1)
    above = parents[value]
    while above is not None:
        path.append(above)
        above = parents[above]
    return path
