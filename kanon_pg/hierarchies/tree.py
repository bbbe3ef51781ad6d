"""Shows a hierarchy as a tree of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.hierarchies.ranges import TEXT

TOP = "*"
"""How the top is shown, at which a cell is suppressed."""

MOST_LINES = 2_000
_PARTS = re.compile(r"\d+(?:\.\d+)?")
_SIGNED = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Node:
    """A node with all that is below it.

    Parameters
    ----------
    label : str
        The node as it is published.
    level : int
        0 for a value.
    leaves : int
        Values below it, itself if it is one.
    children : tuple of Node
        The nodes one level below, in the order of numbers within their labels.
    """

    label: str
    level: int
    leaves: int
    children: tuple[Node, ...]


def tree_of(hierarchy: GeneralizationHierarchy, output: str = TEXT) -> Node:
    """Return the top of a hierarchy with everything below it.

    Parameters
    ----------
    output : str
        Type of its nodes; in ranges of numbers a minus is a sign, elsewhere a hyphen.
    """
    numbers = _SIGNED if output in ("int4range", "int8range", "numrange") else _PARTS
    below = {value: Node(value, 0, 1, ()) for value in hierarchy.values}
    names = hierarchy.values
    for level, above in enumerate((*hierarchy.levels, (TOP,) * len(names)), 1):
        groups: dict[str, dict[str, Node]] = {}
        for name, node in zip(names, above, strict=True):
            groups.setdefault(node, {})[name] = below[name]
        below = {node: _node(node, level, list(group.values()), numbers) for node, group in groups.items()}
        names = above
    return below[TOP]


def tree_lines(top: Node, most: int = 10) -> Iterator[str]:
    """Yield the lines of a tree, at most `MOST_LINES` of them.

    Parameters
    ----------
    most : int
        Most children shown of each node, >= 1; a line says how many more there are.
    """
    lines = _lines(top, most, "", "")
    for _, line in zip(range(MOST_LINES), lines, strict=False):
        yield line
    if next(lines, None) is not None:
        yield "..."


def _node(label: str, level: int, children: list[Node], numbers: re.Pattern[str]) -> Node:
    ordered = sorted(children, key=lambda child: _place(child.label, numbers))
    return Node(label, level, sum(child.leaves for child in children), tuple(ordered))


def _place(label: str, numbers: re.Pattern[str]) -> tuple[bool, list[Decimal], str]:
    """Return what sorts labels as readers expect: by their numbers, an open beginning first."""
    return not label.startswith("("), [Decimal(number) for number in numbers.findall(label)], label


def _lines(node: Node, most: int, lead: str, hang: str) -> Iterator[str]:
    many = f"  ({node.leaves:,} {'value' if node.leaves == 1 else 'values'})" if node.level > 0 else ""
    yield f"{lead}{node.label}{many}"
    rest = len(node.children) - most
    shown = node.children if rest <= 1 else node.children[:most]
    for child in shown:
        is_last = child is node.children[-1]
        yield from _lines(
            child, most, hang + ("└── " if is_last else "├── "), hang + ("    " if is_last else "│   ")
        )
    if len(shown) < len(node.children):
        yield f"{hang}└── ... {rest:,} more"
