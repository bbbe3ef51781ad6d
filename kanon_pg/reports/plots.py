"""Figures in files: suppression curves, classes of one column, hierarchies.

The only module that imports Matplotlib; nothing that runs in a server imports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, NullLocator, PercentFormatter

from kanon_pg.curves import Curve, CurvePoint
from kanon_pg.errors import InputError
from kanon_pg.grouping.classes import Grouped, GroupedValue
from kanon_pg.hierarchies.operations import TreeNode
from kanon_pg.tables.complete_file import complete_or_absent

FORMATS = (".png", ".svg", ".pdf")
"""Suffixes of files that can be written."""

_BLUE, _SKY_BLUE = "#0072B2", "#56B4E9"
"""Of the palette of Okabe and Ito (2008), which the colour-blind can tell apart."""

_TINT = "#cce3f0"
"""A light tint of the blue: opaque, so that a grid does not run through it."""

_INK, _GREY, _FAINT = "#333333", "#666666", "#d9d9d9"

_LOG_FROM = 20.0
"""Ratio of the largest number to the smallest from which a linear axis would hide the smallest."""

_COUNTS = FuncFormatter(lambda value, _: f"{value:,.0f}")
"""Labels of an axis of counts."""


def _plain(text: str) -> str:
    """Return a text in which Matplotlib sees no formula."""
    return text.replace("$", r"\$")


def figure_format(path: Path) -> str:
    """Return the format that a file's name asks for; refuse another one, and a folder that is not there."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(
            "The figure's name does not say which format it has.", hint=f"End it in {', '.join(FORMATS)}."
        )
    if not path.parent.is_dir():
        raise InputError("The figure's folder does not exist.", hint="Make it first.")
    return suffix.removeprefix(".")


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure to a file whose suffix is one of `FORMATS`; one that exists is replaced."""
    file_format = figure_format(path)
    with complete_or_absent(path, "The figure") as file:
        figure.savefig(file, format=file_format, dpi=200)


_MOST_TICKS = 12


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
        _plain(f"What k-anonymity costs: {curve.relation.replace(chr(34), '')}"),
        loc="left",
        fontsize=12,
        color=_INK,
        pad=24,
    )
    above.text(0, 1.025, _subtitle(curve), transform=above.transAxes, fontsize=9, color=_GREY)
    return figure


def _draw_share(axes: Axes, curve: Curve) -> None:
    points, weight = curve.points, curve.rows * curve.row_weight
    ks = [point.k for point in points]
    shares = [point.weighted_cost / weight for point in points]
    proven = [(point.lower_bound or 0.0) / weight for point in points]
    axes.fill_between(ks, proven, shares, color=_TINT, linewidth=0)
    axes.plot(ks, proven, color=_BLUE, linewidth=1, linestyle=(0, (4, 2)))
    axes.plot(ks, shares, color=_BLUE, linewidth=2)
    for point, share in zip(points, shares, strict=True):
        axes.plot([point.k], [share], **_marker(point.optimal, is_cut=point.termination.is_cut))
    highest = max(max(shares) * 1.12, 1e-4)
    axes.set_ylim(0, highest)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=_decimals(highest)))
    is_weighted = curve.row_weight != len(curve.quasi_identifiers)
    axes.set_ylabel("suppressed cells, by weight" if is_weighted else "suppressed cells")
    legend = axes.legend(handles=_legend(points), loc="upper left", fontsize=9, labelcolor=_INK)
    legend.get_frame().set(facecolor="white", alpha=1, linewidth=0)


def _decimals(highest: float) -> int:
    """Return the decimals of percentages that tell the ticks of an axis apart."""
    return 0 if highest >= 0.05 else 1 if highest >= 0.005 else 2


def _marker(is_optimal: bool, *, is_cut: bool = False) -> dict[str, Any]:
    return {
        "marker": "v" if is_cut else "o",
        "markersize": 6,
        "markeredgewidth": 1.6,
        "markeredgecolor": _BLUE,
        "markerfacecolor": _BLUE if is_optimal else "white",
        "linestyle": "none",
        "zorder": 3,
    }


def _legend(points: Sequence[CurvePoint]) -> list[Line2D | Patch]:
    """Return the legend of the marks in a figure."""
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
        handles.append(Line2D([], [], color=_BLUE, linewidth=1, linestyle=(0, (4, 2)), label="proven bound"))
        handles.append(Patch(color=_TINT, linewidth=0, label="possibly avoidable"))
    return handles


def _handle(is_optimal: bool, label: str, *, is_cut: bool = False) -> Line2D:
    marker = _marker(is_optimal, is_cut=is_cut) | {"linestyle": "-"}
    return Line2D([], [], color=_BLUE, linewidth=2, label=label, **marker)


def _draw_classes(axes: Axes, points: Sequence[CurvePoint]) -> None:
    classes = [point.classes for point in points]
    axes.plot([point.k for point in points], classes, color=_INK, linewidth=1.5, marker="o", markersize=4)
    axes.set_ylabel("classes")
    if max(classes) > _LOG_FROM * min(classes):
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, max(classes) * 1.15)
    axes.yaxis.set_major_formatter(_COUNTS)


def _draw_ks(axes: Axes, points: Sequence[CurvePoint]) -> None:
    ks = [point.k for point in points]
    axes.set_xscale("log")
    if len(ks) <= _MOST_TICKS:
        axes.set_xticks(ks)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(_COUNTS)
    axes.set_xlim(ks[0] / 1.12, ks[-1] * 1.12)
    axes.set_xlabel("k: people in the smallest class (logarithmic)")


def _quiet(axes: Axes) -> None:
    """Leave only the lines that carry information."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_INK)
    axes.grid(axis="y", color=_FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK, labelsize=9)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(_INK)
        label.set_fontsize(10)


def _subtitle(curve: Curve) -> str:
    people = "" if curve.people == curve.rows else f" of {curve.people:,} people"
    names = ", ".join(curve.quasi_identifiers)
    many = len(curve.quasi_identifiers)
    columns = names if len(names) <= 60 else f"{many} quasi-identifiers"
    return _plain(f"{curve.rows:,} rows{people}; {columns}")


COLOURS = (_BLUE, "#E69F00", "#009E73", "#CC79A7", _SKY_BLUE, "#D55E00", "#F0E442")
"""Palette of Okabe and Ito (2008), which the colour-blind can tell apart."""


def draw_grouping(grouped: Grouped) -> Figure:
    """Return a figure: a map, if the values have places, above the sizes of the classes."""
    placed = [value for value in grouped.values if value.x is not None and value.y is not None]
    if placed:
        figure = Figure(figsize=(8, 7.2), layout="constrained")
        above, below = figure.subplots(2, 1, height_ratios=[3.4, 1])
        draw_map(above, grouped, placed)
        _entitle(above, grouped)
    else:
        figure = Figure(figsize=(8, 3.2), layout="constrained")
        below = figure.subplots()
        _entitle(below, grouped)
    draw_sizes(below, grouped)
    return figure


_MOST_UNEVEN = 8
"""Width over height, or the other way round, of a map whose scales are equal."""


def draw_map(axes: Axes, grouped: Grouped, placed: Sequence[GroupedValue]) -> None:
    """Draw values at their places: within their rectangles, or joined to neighbours of their class."""
    size = 40 / len(placed) ** 0.5
    if grouped.kind == "rectangles":
        boxes = [one.box for one in grouped.classes if one.box is not None]
        patches = [Rectangle((box[0], box[1]), box[2] - box[0], box[3] - box[1]) for box in boxes]
        axes.add_collection(PatchCollection(patches, facecolor=_TINT, edgecolor=_INK, linewidth=0.4))
        tints = [_BLUE] * len(placed)
    else:
        colour = _class_colours(grouped)
        tints = [colour[value.class_number] for value in placed]
        axes.add_collection(_edges(grouped, colour, size))
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
    axes.tick_params(colors=_INK, labelsize=8, length=0)
    axes.grid(color=_FAINT, linewidth=0.5)
    axes.set_axisbelow(True)


def _is_map(axes: Axes) -> bool:
    """Return whether both coordinates can be of one scale: else one of them would have no room."""
    spans = [high - low for low, high in (axes.get_xlim(), axes.get_ylim())]
    return max(spans) <= _MOST_UNEVEN * min(spans)


def _edges(grouped: Grouped, colour: Mapping[int, str], size: float) -> LineCollection:
    """Return the lines between neighbours of one class."""
    segments, tints = [], []
    for one, other in grouped.edges:
        a, b = grouped.values[one], grouped.values[other]
        if a.class_number == b.class_number and None not in (a.x, a.y, b.x, b.y):
            segments.append([(a.x or 0.0, a.y or 0.0), (b.x or 0.0, b.y or 0.0)])
            tints.append(colour[a.class_number])
    return LineCollection(segments, colors=tints, linewidths=max(0.8, size / 3), zorder=2)


def _class_colours(grouped: Grouped) -> dict[int, str]:
    """Return a colour of each class, one that no neighbour has as long as there are enough."""
    beside: dict[int, set[int]] = {one.number: set() for one in grouped.classes}
    for one, other in grouped.edges:
        a, b = grouped.values[one].class_number, grouped.values[other].class_number
        if a != b:
            beside[a].add(b)
            beside[b].add(a)
    chosen: dict[int, int] = {}
    for number in sorted(beside, key=lambda one: -len(beside[one])):
        used = {chosen[other] for other in beside[number] if other in chosen}
        free = [place for place in range(len(COLOURS)) if place not in used]
        chosen[number] = free[number % len(free)] if free else number % len(COLOURS)
    return {number: COLOURS[place] for number, place in chosen.items()}


def draw_sizes(axes: Axes, grouped: Grouped) -> None:
    """Draw the sizes of the classes from large to small, with k and what is proven about the largest."""
    sizes = sorted((one.size for one in grouped.classes), reverse=True)
    axes.bar(range(1, len(sizes) + 1), sizes, width=1.0, color=_SKY_BLUE, linewidth=0)
    marks: list[tuple[int, str, Any]] = [(grouped.k, f"k = {grouped.k:,}", "-")]
    if grouped.cost_kind == "max" and grouped.lower_bound > grouped.k:
        marks.append((grouped.lower_bound, "largest class: at least", (0, (4, 2))))
    for height, text, style in marks:
        axes.axhline(height, color=_INK, linewidth=1, linestyle=style, label=text)
    if sizes[0] > _LOG_FROM * grouped.k:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1.15 * sizes[0])
    axes.set_xlim(0.5, len(sizes) + 0.5)
    axes.set_xlabel("classes, the largest first", color=_INK, fontsize=9)
    axes.set_ylabel(_plain(grouped.unit), color=_INK, fontsize=9)
    axes.yaxis.set_major_formatter(_COUNTS)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=_INK, labelsize=8)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, fontsize=8, labelcolor=_INK, frameon=False)


def _entitle(axes: Axes, grouped: Grouped) -> None:
    name = f"{grouped.relation.replace(chr(34), '')}: {', '.join(grouped.columns)}"
    cost = f"cost ({grouped.cost_kind}) {grouped.proof}"
    subtitle = f"{len(grouped.classes):,} classes of at least {grouped.k:,}; {cost}"
    axes.set_title(_plain(f"{name}\n{subtitle}"), loc="left", fontsize=10, color=_INK)


_WIDTH = 9.0
_CHARACTER = 0.075
"""Inches of one character of a label, about."""

_NARROW = 0.004
"""Share of the width below which neighbours are drawn as one: nobody could tell them apart."""


def draw_hierarchy(top: TreeNode, title: str) -> Figure:
    """Return a figure of a hierarchy."""
    figure = Figure(figsize=(_WIDTH, 1.2 + 0.45 * (top.level + 1)), layout="constrained")
    axes = figure.subplots()
    axes.set_xlim(0, top.leaves)
    axes.set_ylim(-0.1, top.level + 1.0)
    _draw(axes, top, 0, top)
    axes.set_yticks([level + 0.45 for level in range(top.level + 1)], _level_names(top))
    axes.tick_params(length=0, labelsize=9, labelcolor=_INK)
    axes.set_xticks([])
    axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
    axes.set_title(_plain(title), loc="left", fontsize=12, color=_INK)
    axes.set_xlabel(f"{top.leaves:,} values, each of the same width", fontsize=9, color=_GREY)
    return figure


def _draw(axes: Axes, node: TreeNode, start: int, top: TreeNode) -> None:
    """Draw a node and what is below it; neighbours that are too narrow to be told apart are one strip."""
    _draw_cell(axes, node, start, top)
    narrow = 0
    for child in node.children:
        if child.leaves / top.leaves < _NARROW:
            narrow += child.leaves
        else:
            _draw_strip(axes, node.level, start, narrow, top)
            start, narrow = start + narrow, 0
            _draw(axes, child, start, top)
            start += child.leaves
    _draw_strip(axes, node.level, start, narrow, top)


def _draw_cell(axes: Axes, node: TreeNode, start: int, top: TreeNode) -> None:
    fill, ink = _level_colours(node.level, top.level)
    axes.add_patch(
        Rectangle((start, node.level), node.leaves, 0.9, facecolor=fill, edgecolor="white", linewidth=0.8)
    )
    room = int(node.leaves / top.leaves * (_WIDTH - 1.0) / _CHARACTER)
    label = node.label if len(node.label) <= room else f"{node.label[: room - 1]}…" if room >= 6 else ""
    if label:
        middle = start + node.leaves / 2
        axes.text(middle, node.level + 0.45, _plain(label), ha="center", va="center", fontsize=8, color=ink)


def _draw_strip(axes: Axes, below: int, start: int, leaves: int, top: TreeNode) -> None:
    """Fill the levels below a node where its parts are too narrow."""
    for level in range(below if leaves else 0):
        fill, _ = _level_colours(level, top.level)
        axes.add_patch(Rectangle((start, level), leaves, 0.9, facecolor=fill, linewidth=0))


def _level_colours(level: int, height: int) -> tuple[str, str]:
    """Return fill and ink of a level: the more is generalized, the darker."""
    dark, light = ([int(tint[i : i + 2], 16) for i in (1, 3, 5)] for tint in (_BLUE, _TINT))
    share = level / height
    mixed = [round(share * a + (1 - share) * b) for a, b in zip(dark, light, strict=True)]
    return "#" + "".join(f"{one:02x}" for one in mixed), "white" if share > 0.55 else _INK


def _level_names(top: TreeNode) -> list[str]:
    between = [f"level {level}" for level in range(1, top.level)]
    return ["values", *between, "suppressed"]
