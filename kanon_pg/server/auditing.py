"""What the PL/Python functions for audits call; `kanon_pg.server` offers them to the bodies."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from kanon_pg.audit import anonymous as testing
from kanon_pg.audit import auditing
from kanon_pg.audit import identify as identifying
from kanon_pg.audit import risk as assessing
from kanon_pg.audit import suggest as suggesting
from kanon_pg.audit.request import AUDIT, RISK
from kanon_pg.db.arguments import read_names
from kanon_pg.db.spi_adapter import serve
from kanon_pg.server.values import SqlValue


def audit(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_audit``."""
    return serve(lambda db: [_row(found) for found in auditing.rows_of_audit(db, AUDIT.request(*arguments))])


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


def risk(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_risk``."""
    return serve(
        lambda db: [
            _row(found) | {"homogeneous": json.dumps([asdict(one) for one in found.homogeneous])}
            for found in assessing.risk(db, RISK.request(*arguments))
        ]
    )


def _row(found: Any) -> dict[str, Any]:
    """Return a dataclass as PL/Python takes a row: arrays are lists."""
    return {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(found).items()}
