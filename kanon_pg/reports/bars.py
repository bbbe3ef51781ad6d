"""Bar charts that lie on their side, so that labels are read without turning the head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from kanon_pg.reports.svg import across, add_bar, add_line, add_text, drawing
from kanon_pg.reports.wording import shortened

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
