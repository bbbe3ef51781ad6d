"""Draws a hierarchy: a band per level, the top above, each node as wide as it has values."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kanon_pg.hierarchies.tree import Node
from kanon_pg.reports.plots.figure_file import BLUE, GREY, INK, TINT, plain

_WIDTH = 9.0
_CHARACTER = 0.075
"""Inches of one character of a label, about."""

_NARROW = 0.004
"""Share of the width below which neighbours are drawn as one: nobody could tell them apart."""


def draw_hierarchy(top: Node, title: str) -> Figure:
    """Return a figure of a hierarchy."""
    figure = Figure(figsize=(_WIDTH, 1.2 + 0.45 * (top.level + 1)), layout="constrained")
    axes = figure.subplots()
    axes.set_xlim(0, top.leaves)
    axes.set_ylim(-0.1, top.level + 1.0)
    _draw(axes, top, 0, top)
    axes.set_yticks([level + 0.45 for level in range(top.level + 1)], _level_names(top))
    axes.tick_params(length=0, labelsize=9, labelcolor=INK)
    axes.set_xticks([])
    axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
    axes.set_title(plain(title), loc="left", fontsize=12, color=INK)
    axes.set_xlabel(f"{top.leaves:,} values, each of the same width", fontsize=9, color=GREY)
    return figure


def _draw(axes: Axes, node: Node, start: int, top: Node) -> None:
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


def _draw_cell(axes: Axes, node: Node, start: int, top: Node) -> None:
    fill, ink = _colours(node.level, top.level)
    axes.add_patch(
        Rectangle((start, node.level), node.leaves, 0.9, facecolor=fill, edgecolor="white", linewidth=0.8)
    )
    room = int(node.leaves / top.leaves * (_WIDTH - 1.0) / _CHARACTER)
    label = node.label if len(node.label) <= room else f"{node.label[: room - 1]}…" if room >= 6 else ""
    if label:
        middle = start + node.leaves / 2
        axes.text(middle, node.level + 0.45, plain(label), ha="center", va="center", fontsize=8, color=ink)


def _draw_strip(axes: Axes, below: int, start: int, leaves: int, top: Node) -> None:
    """Fill the levels below a node where its parts are too narrow."""
    for level in range(below if leaves else 0):
        fill, _ = _colours(level, top.level)
        axes.add_patch(Rectangle((start, level), leaves, 0.9, facecolor=fill, linewidth=0))


def _colours(level: int, height: int) -> tuple[str, str]:
    """Return fill and ink of a level: the more is generalized, the darker."""
    dark, light = ([int(tint[i : i + 2], 16) for i in (1, 3, 5)] for tint in (BLUE, TINT))
    share = level / height
    mixed = [round(share * a + (1 - share) * b) for a, b in zip(dark, light, strict=True)]
    return "#" + "".join(f"{one:02x}" for one in mixed), "white" if share > 0.55 else INK


def _level_names(top: Node) -> list[str]:
    between = [f"level {level}" for level in range(1, top.level)]
    return ["values", *between, "suppressed"]
