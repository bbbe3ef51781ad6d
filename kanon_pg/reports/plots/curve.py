"""Draws a suppression curve: what each k costs, and how much of that is proven to be necessary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator, PercentFormatter

from kanon_pg.curves.points import Curve, CurvePoint
from kanon_pg.reports.plots.figure_file import BLUE, COUNTS, FAINT, GREY, INK, TINT, plain

_MOST_TICKS = 12
_LOG_FROM = 20.0
"""Ratio of the most classes to the fewest from which a linear axis would hide the fewest."""


def draw_curve(curve: Curve) -> Figure:
    """Return a figure: the suppressed share with its proven bound above, the classes below."""
    figure = Figure(figsize=(7.2, 5.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.15])
    _draw_share(above, curve)
    _draw_classes(below, curve.points)
    _draw_ks(below, curve.points)
    for axes in (above, below):
        _quiet(axes)
    figure.align_ylabels()
    above.set_title(
        plain(f"What k-anonymity costs: {curve.relation.replace(chr(34), '')}"),
        loc="left",
        fontsize=12,
        color=INK,
        pad=24,
    )
    above.text(0, 1.025, _subtitle(curve), transform=above.transAxes, fontsize=9, color=GREY)
    return figure


def _draw_share(axes: Axes, curve: Curve) -> None:
    points, whole = curve.points, curve.rows * curve.row_weight
    ks = [point.k for point in points]
    found = [point.weighted_cost / whole for point in points]
    proven = [(point.lower_bound or 0.0) / whole for point in points]
    axes.fill_between(ks, proven, found, color=TINT, linewidth=0)
    axes.plot(ks, proven, color=BLUE, linewidth=1, linestyle=(0, (4, 2)))
    axes.plot(ks, found, color=BLUE, linewidth=2)
    for point, share in zip(points, found, strict=True):
        axes.plot([point.k], [share], **_marker(point.optimal, is_cut=point.termination.is_cut))
    highest = max(max(found) * 1.12, 1e-4)
    axes.set_ylim(0, highest)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=_decimals(highest)))
    is_weighted = curve.row_weight != len(curve.quasi_identifiers)
    axes.set_ylabel("suppressed cells, by weight" if is_weighted else "suppressed cells")
    legend = axes.legend(handles=_legend(points), loc="upper left", fontsize=9, labelcolor=INK)
    legend.get_frame().set(facecolor="white", alpha=1, linewidth=0)


def _decimals(highest: float) -> int:
    """Return the decimals of percentages that tell the ticks of an axis apart."""
    return 0 if highest >= 0.05 else 1 if highest >= 0.005 else 2


def _marker(is_optimal: bool, *, is_cut: bool = False) -> dict[str, Any]:
    return {
        "marker": "v" if is_cut else "o",
        "markersize": 6,
        "markeredgewidth": 1.6,
        "markeredgecolor": BLUE,
        "markerfacecolor": BLUE if is_optimal else "white",
        "linestyle": "none",
        "zorder": 3,
    }


def _legend(points: Sequence[CurvePoint]) -> list[Line2D | Patch]:
    """Return what explains the marks that the figure has."""
    optimal = {point.optimal for point in points if not point.termination.is_cut}
    has_cut = any(point.termination.is_cut for point in points)
    handles: list[Line2D | Patch] = []
    if True in optimal:
        handles.append(_handle(True, "found, proven to be the least"))
    if False in optimal:
        handles.append(_handle(False, "found"))
    if has_cut:
        handles.append(_handle(False, "found until a limit cut the search", is_cut=True))
    if has_cut or False in optimal:
        handles.append(Line2D([], [], color=BLUE, linewidth=1, linestyle=(0, (4, 2)), label="proven bound"))
        handles.append(Patch(color=TINT, linewidth=0, label="possibly avoidable"))
    return handles


def _handle(is_optimal: bool, label: str, *, is_cut: bool = False) -> Line2D:
    marker = _marker(is_optimal, is_cut=is_cut) | {"linestyle": "-"}
    return Line2D([], [], color=BLUE, linewidth=2, label=label, **marker)


def _draw_classes(axes: Axes, points: Sequence[CurvePoint]) -> None:
    classes = [point.classes for point in points]
    axes.plot([point.k for point in points], classes, color=INK, linewidth=1.5, marker="o", markersize=4)
    axes.set_ylabel("classes")
    if max(classes) > _LOG_FROM * min(classes):
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, max(classes) * 1.15)
    axes.yaxis.set_major_formatter(COUNTS)


def _draw_ks(axes: Axes, points: Sequence[CurvePoint]) -> None:
    ks = [point.k for point in points]
    axes.set_xscale("log")
    if len(ks) <= _MOST_TICKS:
        axes.set_xticks(ks)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(COUNTS)
    axes.set_xlim(ks[0] / 1.12, ks[-1] * 1.12)
    axes.set_xlabel("k: people in the smallest class (logarithmic)")


def _quiet(axes: Axes) -> None:
    """Leave only the lines that carry information."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=9)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(INK)
        label.set_fontsize(10)


def _subtitle(curve: Curve) -> str:
    people = "" if curve.people == curve.rows else f" of {curve.people:,} people"
    names = ", ".join(curve.quasi_identifiers)
    many = len(curve.quasi_identifiers)
    columns = names if len(names) <= 60 else f"{many} quasi-identifiers"
    return plain(f"{curve.rows:,} rows{people}; {columns}")
