"""Draws classes of one column: rectangles or regions on a plain map, and all sizes against k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kanon_pg.grouping.found import FoundValue, Grouped
from kanon_pg.reports.plots.figure_file import BLUE, COUNTS, FAINT, INK, SKY_BLUE, TINT, plain

COLOURS = (BLUE, "#E69F00", "#009E73", "#CC79A7", SKY_BLUE, "#D55E00", "#F0E442")
"""Palette of Okabe and Ito (2008), which the colour-blind can tell apart."""

_LOG_FROM = 20.0
"""Ratio of the largest class to k from which a linear axis would hide the others."""


def draw_grouping(found: Grouped) -> Figure:
    """Return a figure: a map, if the values have places, above the sizes of the classes."""
    placed = [value for value in found.values if value.x is not None and value.y is not None]
    if placed:
        figure = Figure(figsize=(8, 7.2), layout="constrained")
        above, below = figure.subplots(2, 1, height_ratios=[3.4, 1])
        draw_map(above, found, placed)
        _entitle(above, found)
    else:
        figure = Figure(figsize=(8, 3.2), layout="constrained")
        below = figure.subplots()
        _entitle(below, found)
    draw_sizes(below, found)
    return figure


_MOST_UNEVEN = 8
"""Width over height, or the other way round, of a map whose scales are equal."""


def draw_map(axes: Axes, found: Grouped, placed: Sequence[FoundValue]) -> None:
    """Draw values at their places: within their rectangles, or joined to neighbours of their class.

    Parameters
    ----------
    placed : sequence of FoundValue
        Those with a place.
    """
    size = 40 / len(placed) ** 0.5
    if found.kind == "rectangles":
        boxes = [one.box for one in found.classes if one.box is not None]
        patches = [Rectangle((box[0], box[1]), box[2] - box[0], box[3] - box[1]) for box in boxes]
        axes.add_collection(PatchCollection(patches, facecolor=TINT, edgecolor=INK, linewidth=0.4))
        tints = [BLUE] * len(placed)
    else:
        colour = _colours(found)
        tints = [colour[value.class_number] for value in placed]
        axes.add_collection(_edges(found, colour, size))
    axes.scatter(
        [value.x for value in placed if value.x is not None],
        [value.y for value in placed if value.y is not None],
        s=size,
        c=tints,
        linewidths=0,
        zorder=3,
        rasterized=len(placed) > 5_000,
    )
    axes.autoscale_view()
    if _is_map(axes):
        axes.set_aspect("equal")
    axes.spines[:].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8, length=0)
    axes.grid(color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)


def _is_map(axes: Axes) -> bool:
    """Tell whether both coordinates can be of one scale: else one of them would have no room."""
    spans = [high - low for low, high in (axes.get_xlim(), axes.get_ylim())]
    return max(spans) <= _MOST_UNEVEN * min(spans)


def _edges(found: Grouped, colour: Mapping[int, str], size: float) -> LineCollection:
    """Return the lines between neighbours of one class."""
    lines, tints = [], []
    for one, other in found.edges:
        a, b = found.values[one], found.values[other]
        if a.class_number == b.class_number and None not in (a.x, a.y, b.x, b.y):
            lines.append([(a.x or 0.0, a.y or 0.0), (b.x or 0.0, b.y or 0.0)])
            tints.append(colour[a.class_number])
    return LineCollection(lines, colors=tints, linewidths=max(0.8, size / 3), zorder=2)


def _colours(found: Grouped) -> dict[int, str]:
    """Return a colour of each class, one that no neighbour has as long as there are enough."""
    beside: dict[int, set[int]] = {one.number: set() for one in found.classes}
    for one, other in found.edges:
        a, b = found.values[one].class_number, found.values[other].class_number
        if a != b:
            beside[a].add(b)
            beside[b].add(a)
    chosen: dict[int, int] = {}
    for number in sorted(beside, key=lambda one: -len(beside[one])):
        used = {chosen[other] for other in beside[number] if other in chosen}
        free = [place for place in range(len(COLOURS)) if place not in used]
        chosen[number] = free[number % len(free)] if free else number % len(COLOURS)
    return {number: COLOURS[place] for number, place in chosen.items()}


def draw_sizes(axes: Axes, found: Grouped) -> None:
    """Draw the sizes of the classes from large to small, with k and what is proven about the largest."""
    sizes = sorted((one.size for one in found.classes), reverse=True)
    axes.bar(range(1, len(sizes) + 1), sizes, width=1.0, color=SKY_BLUE, linewidth=0)
    marks: list[tuple[int, str, Any]] = [(found.k, f"k = {found.k:,}", "-")]
    if found.cost_kind == "max" and found.lower_bound > found.k:
        marks.append((found.lower_bound, "largest class: at least", (0, (4, 2))))
    for height, text, style in marks:
        axes.axhline(height, color=INK, linewidth=1, linestyle=style, label=text)
    if sizes[0] > _LOG_FROM * found.k:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1.15 * sizes[0])
    axes.set_xlim(0.5, len(sizes) + 0.5)
    axes.set_xlabel("classes, the largest first", color=INK, fontsize=9)
    axes.set_ylabel(plain(found.unit), color=INK, fontsize=9)
    axes.yaxis.set_major_formatter(COUNTS)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, fontsize=8, labelcolor=INK, frameon=False)


def _entitle(axes: Axes, found: Grouped) -> None:
    name = f"{found.relation.replace(chr(34), '')}: {', '.join(found.columns)}"
    subtitle = (
        f"{len(found.classes):,} classes of at least {found.k:,}; cost ({found.cost_kind}) {found.proof}"
    )
    axes.set_title(plain(f"{name}\n{subtitle}"), loc="left", fontsize=10, color=INK)
