"""What the PL/Python functions for declarations, releases, measures and curves call."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kanon_pg.curves import tracing
from kanon_pg.curves.request import CURVE
from kanon_pg.db.arguments import read_json, read_names
from kanon_pg.db.catalog import requesting_role
from kanon_pg.db.spi_adapter import SpiDatabase, serve
from kanon_pg.measure import measuring
from kanon_pg.release import declaration, releasing
from kanon_pg.release.request import ANONYMIZE
from kanon_pg.server.values import SqlValue


def declare(
    relation: SqlValue,
    identifiers: SqlValue,
    quasi_identifiers: SqlValue,
    sensitive: SqlValue,
    insensitive: SqlValue,
    entity: SqlValue,
    weights: SqlValue,
) -> None:
    """Serve ``kanon_declare``; `weights` is JSON text."""
    serve(
        lambda db: declaration.declare(
            db,
            relation,
            read_names("identifiers", identifiers) or (),
            read_names("quasi_identifiers", quasi_identifiers) or (),
            read_names("sensitive", sensitive) or (),
            read_names("insensitive", insensitive) or (),
            entity,
            read_json(weights),
            role=requesting_role(db, "declare"),
        )
    )


def undeclare(relation: SqlValue) -> None:
    """Serve ``kanon_undeclare``."""
    serve(lambda db: declaration.undeclare(db, relation, role=requesting_role(db, "undeclare")))


def anonymize(*arguments: SqlValue) -> dict[str, Any]:
    """Serve ``kanon_anonymize``."""

    def operation(db: SpiDatabase) -> dict[str, Any]:
        role = requesting_role(db, "anonymize")
        report = asdict(releasing.anonymize(db, ANONYMIZE.request(*arguments), role=role))
        return report | {"elapsed": f"{report['elapsed']:.6f} seconds"}

    return serve(operation)


def curve(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_curve``."""

    def operation(db: SpiDatabase) -> list[dict[str, Any]]:
        points = tracing.curve(db, CURVE.request(*arguments)).points
        return [asdict(point) | {"elapsed": f"{point.elapsed:.6f} seconds"} for point in points]

    return serve(operation)


def refresh(release: SqlValue) -> None:
    """Serve ``kanon_refresh``."""
    serve(lambda db: releasing.refresh(db, release))


def drop(release: SqlValue) -> None:
    """Serve ``kanon_drop``."""
    serve(lambda db: releasing.drop(db, release))


def measure(relation: SqlValue, quasi_identifiers: SqlValue, sensitive: SqlValue) -> dict[str, Any]:
    """Serve ``kanon_measure``."""
    return serve(
        lambda db: asdict(
            measuring.measure(
                db,
                relation,
                read_names("quasi_identifiers", quasi_identifiers),
                read_names("sensitive", sensitive),
            )
        )
    )
