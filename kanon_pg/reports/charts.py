"""The charts of a report: bars, what each k costs, and sets of columns level by level.

Bars lie on their side, so that labels are read without turning the head.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from xml.etree.ElementTree import Element, SubElement

from kanon_pg.audit.findings import ViolatingSet
from kanon_pg.audit.sentences import counted, percent
from kanon_pg.curves.points import Curve
from kanon_pg.reports.svg import (
    across,
    add_bar,
    add_dot,
    add_line,
    add_share_plot,
    add_text,
    add_upright_text,
    drawing,
)
from kanon_pg.reports.wording import number, shortened

_ROW = 26
_BAR = 18
_STEP = 20
_LABELS = 0.34
"""Share of the width for the labels of `bar_chart`."""

_INSIDE_FROM = 0.5
"""Bars from this share of the longest on carry their number inside: beside them there is no room for it."""

_MOST_NAME = 32


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar.

    Parameters
    ----------
    label : str
        What it stands for; empty in groups.
    value : float
        Its length, >= 0.
    text : str
        The number that is written beside it.
    kind : {'risk', 'safe', 'quiet'}
        Its colour.
    """

    label: str
    value: float
    text: str
    kind: str


def bar_chart(bars: Sequence[Bar], divider: int | None = None, divider_text: str = "") -> Element:
    """Return bars with labels on their left.

    Parameters
    ----------
    bars : sequence of Bar
        From top to bottom.
    divider : int, optional
        Draw a line above the bar of this number, with a text.
    divider_text : str
        The text.
    """
    gap = 30 if divider is not None else 0
    picture = drawing(len(bars) * _ROW + gap + 2)
    longest = max((bar.value for bar in bars), default=0) or 1
    top = 0.0
    for place, bar in enumerate(bars):
        if place == divider:
            add_line(picture, (0, top + 8), ("100%", top + 8), "rule")
            add_text(picture, "100%", top + 22, divider_text, "small", "end")
            top += gap
        add_text(picture, across(_LABELS - 0.02), top + 14, bar.label, anchor="end")
        _draw(picture, bar, top, _LABELS, longest)
        top += _ROW
    add_line(picture, (across(_LABELS), 0), (across(_LABELS), top), "axis")
    return picture


def grouped_bars(
    groups: Sequence[tuple[str, Sequence[Bar]]], legend: Sequence[tuple[str, str]], longest: float
) -> Element:
    """Return groups of bars, each below its name.

    Parameters
    ----------
    groups : sequence of (str, sequence of Bar)
        Name and bars.
    legend : sequence of (str, str)
        Kind of bar and what it means.
    longest : float
        What a bar of the whole width stands for, > 0.
    """
    head = 22 * len(legend) + 8 if legend else 0
    heights = [20 + _STEP * len(bars) + 12 for _, bars in groups]
    picture = drawing(head + sum(heights))
    for place, (kind, meaning) in enumerate(legend):
        add_bar(picture, 0, place * 22 + 2, 14, 14, f"mark {kind}")
        add_text(picture, 22, place * 22 + 14, shortened(meaning, _MOST_NAME), "small")
    top = float(head)
    for (name, bars), height in zip(groups, heights, strict=True):
        add_text(picture, 0, top + 14, shortened(name, _MOST_NAME), "name")
        for place, bar in enumerate(bars):
            _draw(picture, bar, top + 20 + place * _STEP, 0, longest)
        top += height
    return picture


def _draw(picture: Element, bar: Bar, top: float, left: float, longest: float) -> None:
    share = min(1.0, bar.value / longest)
    length = share * (1 - left)
    if share:
        add_bar(picture, across(left), top, across(max(length, 0.004)), _BAR, f"mark {bar.kind}")
    if share >= _INSIDE_FROM:
        add_text(picture, across(left + length), top + 13, bar.text, f"on-{bar.kind}", "end", -7)
    else:
        add_text(picture, across(left + length), top + 13, bar.text, shift=7)


_TOP, _HEIGHT = 62, 230
_LEFT, _RIGHT = 0.13, 0.95
_CUT, _ABOVE = "cut", 10
"""What stands beside points whose search a limit ended, and how far above them."""

_CLOSEST = 0.06
"""Labels of the axis keep so much of its length between them."""


def curve_chart(curve: Curve) -> Element:
    """Return the drawing of a curve.

    Parameters
    ----------
    curve : Curve
        At least one point.
    """
    whole = curve.rows * curve.row_weight
    ks = [point.k for point in curve.points]
    found = [point.weighted_cost / whole for point in curve.points]
    proven = [(point.lower_bound or 0.0) / whole for point in curve.points]
    highest = _round_up(max(found))
    picture = drawing(_TOP + _HEIGHT + 48)
    ends = [point.termination for point in curve.points]
    _draw_legend(
        picture,
        has_open=any(not point.optimal for point in curve.points),
        has_cut=any(end.is_cut for end in ends),
    )
    for tick in range(5):
        share = highest * tick / 4
        height = _TOP + _HEIGHT * (1 - tick / 4)
        add_line(picture, (across(_LEFT), height), (across(_RIGHT + 0.02), height), "rule")
        add_text(picture, across(_LEFT - 0.02), height + 4, percent(share), "small", "end")
    places = _places(ks)
    _draw_shares(picture, places, found, proven, highest)
    for place, share, point in zip(places, found, curve.points, strict=True):
        x = across(_LEFT + place * (_RIGHT - _LEFT))
        kind = "mark safe" if point.optimal else "open-dot"
        y = _TOP + _HEIGHT * (1 - share / highest)
        add_dot(picture, x, y, 5, kind)
        if point.termination.is_cut:
            add_text(picture, x, y - _ABOVE, _CUT, "small", "middle")
    _draw_ks(picture, ks, places)
    return picture


def _draw_legend(picture: Element, *, has_open: bool, has_cut: bool) -> None:
    add_dot(picture, 7, 9, 5, "mark safe")
    add_text(picture, 20, 14, "suppressed cells, proven to be the least", "small")
    if has_open:
        add_dot(picture, 7, 31, 5, "open-dot")
        cut = f"; {_CUT}: a limit cut the search" if has_cut else ""
        add_text(picture, 20, 36, f"best found; the tinted area may be avoidable{cut}", "small")


def _draw_shares(
    picture: Element, places: Sequence[float], found: Sequence[float], proven: Sequence[float], highest: float
) -> None:
    plot = add_share_plot(picture, _TOP, _HEIGHT, _LEFT, _RIGHT)

    def points(shares: Sequence[float]) -> list[str]:
        heights = [_HEIGHT * (1 - share / highest) for share in shares]
        return [f"{1000 * place:.1f},{height:.1f}" for place, height in zip(places, heights, strict=True)]

    above, below = points(found), points(proven)
    SubElement(plot, "polygon", {"points": " ".join(above + below[::-1]), "class": "band"})
    for line, kind in ((below, "bound"), (above, "curve")):
        SubElement(
            plot, "polyline", {"points": " ".join(line), "class": kind, "vector-effect": "non-scaling-stroke"}
        )


def _draw_ks(picture: Element, ks: Sequence[int], places: Sequence[float]) -> None:
    last = -1.0
    for k, place in zip(ks, places, strict=True):
        if place - last >= _CLOSEST or last < 0:
            x = across(_LEFT + place * (_RIGHT - _LEFT))
            add_text(picture, x, _TOP + _HEIGHT + 20, f"{k:,}", "small", "middle")
            last = place
    middle = across((_LEFT + _RIGHT) / 2)
    add_text(picture, middle, _TOP + _HEIGHT + 42, "k, people in the smallest class", "small", "middle")


def _places(ks: Sequence[int]) -> list[float]:
    """Return where each k is on the axis, 0 to 1, by its logarithm."""
    first, last = math.log(ks[0]), math.log(ks[-1])
    if first == last:
        return [0.5] * len(ks)
    return [(math.log(k) - first) / (last - first) for k in ks]


def _round_up(share: float) -> float:
    """Return the end of the axis: the least of some round numbers that is not below a share."""
    ends = (0.001, 0.002, 0.004, 0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    return next((end for end in ends if share <= end), 1.0)


MOST_SETS = 24
"""Sets that are drawn."""

MOST_COLUMNS = 14
"""Columns that are drawn, unless a single set has more."""

_SET_ROW = 22
_LEVEL = 32
_MOST_COLUMN_NAME = 16
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
    labels = {name: shortened(name, _MOST_COLUMN_NAME) for name in names}
    head = 16 + max((len(label) for label in labels.values()), default=8) * _LETTER
    levels = [(size, list(level)) for size, level in groupby(sets, key=lambda found: found.size)]
    picture = drawing(round(head + len(levels) * _LEVEL + len(sets) * _SET_ROW + 4))
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
            _draw_set(picture, found, top + _SET_ROW / 2 - 2, places, most)
            top += _SET_ROW
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
