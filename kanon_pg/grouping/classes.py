"""The classes of a column, and the rows of SQL functions that show them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.core.shown import Shown, rows_of
from kanon_pg.core.termination import Termination

Box = tuple[float, float, float, float]
"""Least x, least y, greatest x, greatest y."""


@dataclass(frozen=True, slots=True)
class ValueClass:
    """A class of values."""

    number: int
    """From 1 on, in the order of the first values."""
    label: str | None
    """What the class is called; None if it has the missing values alone."""
    size: int
    """Weight of its values, at least k."""
    values: int
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class GroupedValue:
    """A value and its class."""

    value: str | None
    """As text; None for missing ones and for points."""
    class_number: int
    weight: int
    x: float | None = None
    y: float | None = None
    """`x`, `y`: its place on the map, if it has one."""


@dataclass(frozen=True, slots=True)
class Grouped(Shown):
    """The classes of a column and what is proven about them."""

    relation: str
    columns: tuple[str, ...]
    kind: str
    """'intervals', 'labels', 'regions' or 'rectangles'."""
    k: int
    unit: str
    """What sizes count: 'people', 'rows', or the weight column's name."""
    cost_kind: str
    cost: int
    lower_bound: int
    """`cost`, `lower_bound`: proven: no other grouping of this kind costs less than the bound."""
    ratio: float | None
    """Cost divided by the bound, >= 1; None if the bound is 0 and the cost is not."""
    optimal: bool
    method: str
    bound_method: str
    classes: tuple[ValueClass, ...]
    values: tuple[GroupedValue, ...]
    edges: tuple[tuple[int, int], ...] = ()
    """Of regions: neighbours as places in `values`."""
    degree: int | None = None
    """Of regions: largest degree of the spanning trees that were cut."""
    termination: Termination = Termination.EXHAUSTED

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return the classes."""
        return rows_of(self.classes, ValueClass)

    @property
    def proof(self) -> str:
        """Proof about the cost, in words."""
        if self.optimal:
            return "proven to be the least"
        words = "nothing proven" if self.ratio is None else f"at most {self.ratio:.3f} times the least"
        return f"{words} ({self.termination.words})" if self.termination.is_cut else words

    def class_of(self, value: GroupedValue) -> ValueClass:
        """Return the class of one of the values."""
        return self.classes[value.class_number - 1]


Row = dict[str, Any]


def value_rows(grouped: Grouped) -> list[Row]:
    """Return the rows of ``kanon_intervals``, ``kanon_groups`` and ``kanon_regions``."""
    return [
        {"value": value.value, "label": own.label, **_facts(grouped, own)}
        for value in grouped.values
        for own in [grouped.class_of(value)]
    ]


def point_rows(grouped: Grouped) -> list[Row]:
    """Return the rows of ``kanon_rectangles``; rectangle and polygon are text."""
    rows = []
    for value in grouped.values:
        own = grouped.class_of(value)
        box = own.box
        corners = None if box is None else f"({box[2]!r},{box[3]!r}),({box[0]!r},{box[1]!r})"
        shape = None if box is None else json.dumps(polygon(box))
        rows.append(
            {"x": value.x, "y": value.y, "rectangle": corners, "polygon": shape, **_facts(grouped, own)}
        )
    return rows


def _facts(grouped: Grouped, own: ValueClass) -> Row:
    names = ("cost", "lower_bound", "ratio", "optimal", "method", "termination")
    return {"class_number": own.number, "size": own.size} | {name: getattr(grouped, name) for name in names}


def polygon(box: Box) -> dict[str, Any]:
    """Return a rectangle as GeoJSON (RFC 7946): one ring, counter-clockwise, closed."""
    left, low, right, high = box
    ring = [[left, low], [right, low], [right, high], [left, high], [left, low]]
    return {"type": "Polygon", "coordinates": [ring]}
