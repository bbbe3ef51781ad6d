"""What the PL/Python functions for audits call; `kanon_pg.server` offers them to the bodies."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from kanon_pg.audit import anonymous as testing
from kanon_pg.audit import identify as identifying
from kanon_pg.audit import risk as assessing
from kanon_pg.audit import service as auditing
from kanon_pg.audit import suggest as suggesting
from kanon_pg.audit.request import AuditCall, RiskCall
from kanon_pg.db.arguments import read_names
from kanon_pg.db.spi_adapter import SpiDatabase, serve
from kanon_pg.server.values import SqlValue


def audit(
    relation: SqlValue, k: SqlValue, columns: SqlValue, max_columns: SqlValue, time_limit: SqlValue
) -> list[dict[str, Any]]:
    """Serve ``kanon_audit``; `time_limit` is in seconds."""

    def operation(db: SpiDatabase) -> list[dict[str, Any]]:
        call = AuditCall(relation, k, read_names("columns", columns), max_columns, time_limit)
        return [_row(found) for found in auditing.rows_of_audit(db, call)]

    return serve(operation)


def is_anonymous(relation: SqlValue, k: SqlValue, columns: SqlValue) -> bool:
    """Serve ``kanon_is_anonymous``."""
    return serve(lambda db: testing.is_anonymous(db, relation, k, read_names("columns", columns)))


def identify(relation: SqlValue, columns: SqlValue, time_limit: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_identify``; `time_limit` is in seconds."""
    return serve(
        lambda db: [
            _row(found)
            for found in identifying.identify(db, relation, read_names("columns", columns), time_limit)
        ]
    )


def suggest(relation: SqlValue, time_limit: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_suggest``; `time_limit` is in seconds."""
    return serve(lambda db: [_row(found) for found in suggesting.suggest(db, relation, time_limit)])


def risk(
    relation: SqlValue,
    columns: SqlValue,
    sensitive: SqlValue,
    threshold: SqlValue,
    population: SqlValue,
    sampling_fraction: SqlValue,
    time_limit: SqlValue,
) -> list[dict[str, Any]]:
    """Serve ``kanon_risk``; `time_limit` is in seconds."""

    def operation(db: SpiDatabase) -> list[dict[str, Any]]:
        call = RiskCall(
            relation=relation,
            columns=read_names("columns", columns),
            sensitive=read_names("sensitive", sensitive),
            threshold=threshold,
            population=population,
            sampling_fraction=sampling_fraction,
            time_limit=time_limit,
        )
        return [
            _row(found) | {"homogeneous": json.dumps([asdict(one) for one in found.homogeneous])}
            for found in assessing.risk(db, call)
        ]

    return serve(operation)


def _row(found: Any) -> dict[str, Any]:
    """Return a dataclass as PL/Python takes a row: arrays are lists."""
    return {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(found).items()}
