"""What the PL/Python functions call that generalize one column, see `kanon_pg.server`."""

from __future__ import annotations

from typing import Any

from kanon_pg.db.spi_adapter import serve
from kanon_pg.grouping import classifying
from kanon_pg.grouping.found import point_rows, value_rows
from kanon_pg.grouping.request import GROUPS, INTERVALS, RECTANGLES, REGIONS
from kanon_pg.server.values import SqlValue


def intervals(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_intervals``."""
    return serve(lambda db: value_rows(classifying.intervals(db, INTERVALS.request(*arguments))))


def groups(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_groups``."""
    return serve(lambda db: value_rows(classifying.labels(db, GROUPS.request(*arguments))))


def regions(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_regions``."""
    return serve(lambda db: value_rows(classifying.regions(db, REGIONS.request(*arguments))))


def rectangles(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_rectangles``."""
    return serve(lambda db: point_rows(classifying.rectangles(db, RECTANGLES.request(*arguments))))
