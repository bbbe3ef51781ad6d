"""A hierarchy as a list without repetitions, in which it travels between functions.

Written out, a hierarchy of 200,000 values and 20 levels has 4 million nodes, most of them many times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kanon_pg.core.hierarchy import MAX_HEIGHT, MAX_VALUES, GeneralizationHierarchy, from_levels
from kanon_pg.errors import InputError


def folded(hierarchy: GeneralizationHierarchy) -> list[Any]:
    """Return the values, then per level its nodes, and for each node below the number of the one above it.

    Examples
    --------
    >>> folded(GeneralizationHierarchy(("Bern", "Basel", "Bonn"), (("CH", "CH", "DE"),)))
    [['Bern', 'Basel', 'Bonn'], [['CH', 'DE'], [0, 0, 1]]]
    """
    tree: list[Any] = [list(hierarchy.values)]
    below = hierarchy.values
    for level in hierarchy.levels:
        place = {node: number for number, node in enumerate(dict.fromkeys(level))}
        above = dict(zip(below, level, strict=True))
        tree.append([list(place), [place[node] for node in above.values()]])
        below = level
    return tree


def unfolded(tree: Any) -> GeneralizationHierarchy:
    """Return the hierarchy that `folded` made a list of, checked as any other.

    Raises
    ------
    InputError
        If it has another form, or is no hierarchy.
    """
    try:
        values, *folds = tree
        _require(isinstance(values, list) and len(values) <= MAX_VALUES and len(folds) < MAX_HEIGHT)
        levels = list(_levels(len(values), folds))
        _require(all(isinstance(text, str) for column in (values, *levels) for text in set(column)))
    except (TypeError, ValueError, LookupError):
        raise _misshapen() from None
    return from_levels(values, levels, keeps_all=True)


def _levels(count: int, folds: list[Any]) -> Iterator[list[Any]]:
    places: Sequence[int] = range(count)
    for nodes, above in folds:
        places = [above[place] for place in places]
        yield [nodes[place] for place in places]


def _require(is_so: bool) -> None:
    if not is_so:
        raise _misshapen()


def _misshapen() -> InputError:
    return InputError(
        "A hierarchy on its way between two functions has another form than they give it.",
        hint="Call kanon_hierarchy_build or kanon_hierarchy_load, which give it this form.",
    )
