"""Draws sets of columns level by level: a line per set, a dot per column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from xml.etree.ElementTree import Element

from kanon_pg.audit.amounts import counted
from kanon_pg.audit.findings import ViolatingSet
from kanon_pg.reports.svg import across, add_bar, add_dot, add_line, add_text, add_upright_text, drawing
from kanon_pg.reports.wording import number, shortened

MOST_SETS = 24
"""Sets that are drawn."""

MOST_COLUMNS = 14
"""Columns that are drawn, unless a single set has more."""

_ROW = 22
_LEVEL = 32
_MOST_NAME = 16
_LETTER = 6.6
"""Pixels of a letter of a column's name, about."""

_DOTS_END = 0.6
_WIDEST_STEP = 0.1
_BARS = 0.63, 0.78


def drawable(sets: Sequence[ViolatingSet]) -> tuple[ViolatingSet, ...]:
    """Return the sets that are drawn: from the levels in turn, most people first, as far as there is room.

    Parameters
    ----------
    sets : sequence of ViolatingSet
        All.

    Returns
    -------
    tuple of ViolatingSet
        Fewest columns first; at most `MOST_SETS` with at most `MOST_COLUMNS` different columns, unless the
        first has more. Each set is taken that still fits, so that every level is shown if it can be.
    """
    chosen: list[ViolatingSet] = []
    columns: set[str] = set()
    for found in _in_turn(sets):
        together = columns.union(found.columns)
        if len(chosen) < MOST_SETS and (len(together) <= MOST_COLUMNS or not chosen):
            chosen.append(found)
            columns = together
    return tuple(sorted(chosen, key=_rank))


def _in_turn(sets: Sequence[ViolatingSet]) -> Iterator[ViolatingSet]:
    """Yield the first set of each level, then the second of each, and so on."""
    levels = [list(level) for _, level in groupby(sorted(sets, key=_rank), key=lambda found: found.size)]
    for places in zip_longest(*levels):
        yield from (found for found in places if found is not None)


def _rank(found: ViolatingSet) -> tuple[int, int, tuple[str, ...]]:
    return found.size, -(found.people_at_risk or 0), found.columns


def set_matrix(sets: Sequence[ViolatingSet], order: Sequence[str], sizes: Counter[int]) -> Element:
    """Return the drawing of some sets.

    Parameters
    ----------
    sets : sequence of ViolatingSet
        Ordered by size; at least one.
    order : sequence of str
        All columns, in the order in which they are drawn.
    sizes : Counter of int
        How many sets of each size there are in all.
    """
    used = {name for found in sets for name in found.columns}
    names = [name for name in order if name in used]
    step = min(_WIDEST_STEP, _DOTS_END / max(1, len(names)))
    places = {name: across((place + 0.5) * step) for place, name in enumerate(names)}
    labels = {name: shortened(name, _MOST_NAME) for name in names}
    head = 16 + max((len(label) for label in labels.values()), default=8) * _LETTER
    levels = [(size, list(level)) for size, level in groupby(sets, key=lambda found: found.size)]
    picture = drawing(round(head + len(levels) * _LEVEL + len(sets) * _ROW + 4))
    for name in names:
        add_upright_text(picture, places[name], head - 8, labels[name], "upright")
    add_text(picture, "100%", head - 8, "people at risk", "small", "end")
    most = max((found.people_at_risk or 0 for found in sets), default=0) or 1
    top = head
    for size, level in levels:
        add_line(picture, (0, top), ("100%", top), "rule")
        drawn = "" if len(level) == sizes[size] else f"{len(level)} of "
        title = f"{counted(size, 'column')}: {drawn}{counted(sizes[size], 'set')}"
        add_text(picture, 0, top + 21, title, "name")
        top += _LEVEL
        for found in level:
            _draw_set(picture, found, top + _ROW / 2 - 2, places, most)
            top += _ROW
    return picture


def _draw_set(
    picture: Element, found: ViolatingSet, middle: float, places: dict[str, str], most: int
) -> None:
    radius = 4.5 if len(places) <= 16 else 3
    for name, place in places.items():
        if name not in found.columns:
            add_dot(picture, place, middle, 1.5, "absent")
    members = [place for name, place in places.items() if name in found.columns]
    if len(members) > 1:
        add_line(picture, (members[0], middle), (members[-1], middle), "join")
    for place in members:
        add_dot(picture, place, middle, radius, "mark risk")
    start, end = _BARS
    if found.people_at_risk is not None:
        length = max(0.004, (end - start) * found.people_at_risk / most)
        add_bar(picture, across(start), middle - 6, across(length), 12, "mark risk")
    add_text(picture, "100%", middle + 4, number(found.people_at_risk), "label", "end")
