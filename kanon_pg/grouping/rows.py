"""The rows of the SQL functions that group a column."""

from __future__ import annotations

import json
from typing import Any

from kanon_pg.grouping.found import Box, FoundClass, FoundValue, Grouped

Row = dict[str, Any]


def value_rows(found: Grouped) -> list[Row]:
    """Return the rows of ``kanon_intervals``, ``kanon_groups`` and ``kanon_regions``."""
    return [
        {"value": value.value, "label": own.label, **_facts(found, own)}
        for value in found.values
        for own in [found.class_of(value)]
    ]


def point_rows(found: Grouped) -> list[Row]:
    """Return the rows of ``kanon_rectangles``; rectangle and polygon are text."""
    return [_point(found, value, found.class_of(value)) for value in found.values]


def _point(found: Grouped, value: FoundValue, own: FoundClass) -> Row:
    box = own.box
    return {
        "x": value.x,
        "y": value.y,
        "rectangle": None if box is None else f"({box[2]!r},{box[3]!r}),({box[0]!r},{box[1]!r})",
        "polygon": None if box is None else json.dumps(polygon(box)),
        **_facts(found, own),
    }


def _facts(found: Grouped, own: FoundClass) -> Row:
    return {
        "class_number": own.number,
        "size": own.size,
        "cost": found.cost,
        "lower_bound": found.lower_bound,
        "ratio": found.ratio,
        "optimal": found.optimal,
        "method": found.method,
        "termination": found.termination,
    }


def polygon(box: Box) -> dict[str, Any]:
    """Return a rectangle as GeoJSON (RFC 7946): one ring, counter-clockwise, closed."""
    left, low, right, high = box
    ring = [[left, low], [right, low], [right, high], [left, high], [left, low]]
    return {"type": "Polygon", "coordinates": [ring]}
