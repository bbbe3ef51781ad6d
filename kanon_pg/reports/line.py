"""Draws what each k costs: shares over k on a logarithmic axis, with what is proven to be necessary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from kanon_pg.audit.amounts import percent
from kanon_pg.curves.points import Curve
from kanon_pg.reports.svg import across, add_dot, add_line, add_share_plot, add_text, drawing

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
