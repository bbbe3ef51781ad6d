"""What the PL/Python functions call that generalize one column, see `kanon_pg.server`."""

from __future__ import annotations

from typing import Any

from kanon_pg.db.arguments import read_names
from kanon_pg.db.spi_adapter import SpiDatabase, serve
from kanon_pg.grouping import service
from kanon_pg.grouping.found import point_rows, value_rows
from kanon_pg.grouping.request import IntervalsCall, LabelsCall, RectanglesCall, RegionsCall
from kanon_pg.server.values import SqlValue


def intervals(
    relation: SqlValue, column: SqlValue, k: SqlValue, weight: SqlValue, cost: SqlValue, time_limit: SqlValue
) -> list[dict[str, Any]]:
    """Serve ``kanon_intervals``; `time_limit` is in seconds."""
    call = IntervalsCall(
        relation=relation, column=column, k=k, weight=weight, cost=cost, time_limit=time_limit
    )
    return serve(lambda db: value_rows(service.intervals(db, call)))


def groups(
    relation: SqlValue,
    column: SqlValue,
    k: SqlValue,
    method: SqlValue,
    weight: SqlValue,
    cost: SqlValue,
    epsilon: SqlValue,
    time_limit: SqlValue,
) -> list[dict[str, Any]]:
    """Serve ``kanon_groups``; `time_limit` is in seconds."""
    call = LabelsCall(
        relation=relation,
        column=column,
        k=k,
        method=method,
        weight=weight,
        cost=cost,
        epsilon=epsilon,
        time_limit=time_limit,
    )
    return serve(lambda db: value_rows(service.labels(db, call)))


def regions(
    relation: SqlValue,
    column: SqlValue,
    adjacency: SqlValue,
    k: SqlValue,
    neighbours: SqlValue,
    weight: SqlValue,
    method: SqlValue,
    on_light: SqlValue,
    cost: SqlValue,
    time_limit: SqlValue,
) -> list[dict[str, Any]]:
    """Serve ``kanon_regions``; `time_limit` is in seconds."""

    def operation(db: SpiDatabase) -> list[dict[str, Any]]:
        call = RegionsCall(
            relation=relation,
            column=column,
            adjacency=adjacency,
            k=k,
            neighbours=read_names("neighbours", neighbours),
            weight=weight,
            method=method,
            on_light=on_light,
            cost=cost,
            time_limit=time_limit,
        )
        return value_rows(service.regions(db, call))

    return serve(operation)


def rectangles(
    relation: SqlValue,
    x: SqlValue,
    y: SqlValue,
    k: SqlValue,
    weight: SqlValue,
    method: SqlValue,
    cost: SqlValue,
    time_limit: SqlValue,
) -> list[dict[str, Any]]:
    """Serve ``kanon_rectangles``; `time_limit` is in seconds."""
    call = RectanglesCall(
        relation=relation,
        x=x,
        y=y,
        k=k,
        weight=weight,
        method=method,
        cost=cost,
        time_limit=time_limit,
    )
    return serve(lambda db: point_rows(service.rectangles(db, call)))
