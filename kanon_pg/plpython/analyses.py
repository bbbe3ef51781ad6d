"""What the PL/Python functions call that measure, audit and group with the caller's rights; none stores."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from kanon_pg import curves
from kanon_pg.audit import assessing, auditing, suggesting
from kanon_pg.audit.request import AUDIT, IDENTIFY, IS_ANONYMOUS, RISK, SUGGEST
from kanon_pg.curves import CURVE
from kanon_pg.db.operation import SqlValue
from kanon_pg.db.spi_adapter import SpiDatabase, serve
from kanon_pg.grouping import classifying
from kanon_pg.grouping.classes import point_rows, value_rows
from kanon_pg.grouping.request import GROUPS, INTERVALS, RECTANGLES, REGIONS
from kanon_pg.measures import MEASURE
from kanon_pg.measures import measure as measure_relation


def measure(*arguments: SqlValue) -> dict[str, Any]:
    """Serve ``kanon_measure``."""
    return serve(lambda db: asdict(measure_relation(db, MEASURE.request(*arguments))))


def curve(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_curve``."""

    def operation(db: SpiDatabase) -> list[dict[str, Any]]:
        points = curves.curve(db, CURVE.request(*arguments)).points
        return [asdict(point) | {"elapsed": f"{point.elapsed:.6f} seconds"} for point in points]

    return serve(operation)


def audit(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_audit``."""
    return serve(lambda db: [_row(found) for found in auditing.rows_of_audit(db, AUDIT.request(*arguments))])


def is_anonymous(*arguments: SqlValue) -> bool:
    """Serve ``kanon_is_anonymous``."""
    return serve(lambda db: auditing.is_anonymous(db, IS_ANONYMOUS.request(*arguments)))


def identify(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_identify``."""
    return serve(lambda db: [_row(found) for found in auditing.identify(db, IDENTIFY.request(*arguments))])


def suggest(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_suggest``."""
    return serve(
        lambda db: [
            _row(found) | {"hierarchy": None if found.hierarchy is None else json.dumps(found.hierarchy)}
            for found in suggesting.suggest(db, SUGGEST.request(*arguments))
        ]
    )


def risk(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_risk``."""
    return serve(
        lambda db: [
            _row(found) | {"homogeneous": json.dumps([asdict(one) for one in found.homogeneous])}
            for found in assessing.risk(db, RISK.request(*arguments))
        ]
    )


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


def _row(found: Any) -> dict[str, Any]:
    """Return a dataclass as PL/Python takes a row: arrays are lists."""
    return {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(found).items()}
