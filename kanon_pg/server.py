"""What the PL/Python functions call: opens the server's door, calls a service, shapes the result.

Imported inside PostgreSQL backends, after ``kanon.boot()`` has put this package on the path and checked
its version. There is no logic here: what a function does, the services say.
"""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Any

import kanon_pg
from kanon_pg.audit_functions import audit, identify, is_anonymous, risk, suggest
from kanon_pg.curves import service as tracing
from kanon_pg.curves.request import CurveRequest
from kanon_pg.db.catalog import requesting_role
from kanon_pg.db.json_argument import read_json
from kanon_pg.db.name_arguments import read_names
from kanon_pg.db.spi_adapter import SpiDatabase, serve
from kanon_pg.enforce import ledgers
from kanon_pg.enforce import protect as protecting
from kanon_pg.grouping_functions import groups, intervals, rectangles, regions
from kanon_pg.hierarchy_functions import (
    build_hierarchy,
    drop_hierarchy,
    hierarchy_values,
    read_hierarchy,
    show_hierarchy,
    store_hierarchy,
)
from kanon_pg.install import check
from kanon_pg.measure import service as measuring
from kanon_pg.question_functions import (
    ask,
    check_query,
    hold_relations,
    query,
    record_query,
    serve_question,
)
from kanon_pg.release import base, declaration
from kanon_pg.release import service as releasing
from kanon_pg.release.models import option_fields
from kanon_pg.release.request import AnonymizeRequest

__all__ = [
    "ask",
    "audit",
    "build_hierarchy",
    "check_query",
    "drop_hierarchy",
    "groups",
    "hierarchy_values",
    "hold_relations",
    "identify",
    "intervals",
    "is_anonymous",
    "query",
    "read_hierarchy",
    "record_query",
    "rectangles",
    "regions",
    "risk",
    "serve_question",
    "show_hierarchy",
    "store_hierarchy",
    "suggest",
]

SqlValue = Any
"""An argument as PL/Python hands it over; None for NULL, which the services judge."""


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


def protect(relation: SqlValue, k: SqlValue, options: SqlValue) -> None:
    """Serve ``kanon_protect``; `options` is JSON text."""
    serve(
        lambda db: protecting.protect(
            db, relation, k, read_json(options), role=requesting_role(db, "protect")
        )
    )


def unprotect(relation: SqlValue) -> None:
    """Serve ``kanon_unprotect``."""
    serve(lambda db: protecting.unprotect(db, relation, role=requesting_role(db, "unprotect")))


def restart_ledger(relation: SqlValue) -> None:
    """Serve ``kanon.restart_ledger``."""
    serve(lambda db: ledgers.restart_record(db, relation, requesting_role(db, "restart_ledger")))


def query_log() -> list[dict[str, Any]]:
    """Serve ``kanon.query_log``."""
    return serve(ledgers.query_log)


def anonymize(
    relation: SqlValue,
    k: SqlValue,
    quasi_identifiers: SqlValue,
    sensitive: SqlValue,
    method: SqlValue,
    l: SqlValue,  # noqa: E741 - named as in SQL
    p: SqlValue,
    t: SqlValue,
    patterns: SqlValue,
    hierarchies: SqlValue,
    time_limit: SqlValue,
    release: SqlValue,
    seed: SqlValue,
    options: SqlValue,
) -> dict[str, Any]:
    """Serve ``kanon_anonymize``; arguments of type jsonb are JSON text, `time_limit` is in seconds."""

    def operation(db: SpiDatabase) -> dict[str, Any]:
        role = requesting_role(db, "anonymize")
        request = AnonymizeRequest(
            relation=relation,
            k=k,
            quasi_identifiers=read_names("quasi_identifiers", quasi_identifiers),
            sensitive=read_names("sensitive", sensitive),
            method=method,
            patterns=read_json(patterns),
            time_limit=time_limit,
            release=release,
            seed=seed,
            l=l,
            p=p,
            t=t,
            hierarchies=read_json(hierarchies),
            **option_fields(read_json(options)),
        )
        report = asdict(releasing.anonymize(db, request, role=role))
        return report | {"elapsed": f"{report['elapsed']:.6f} seconds"}

    return serve(operation)


def curve(
    relation: SqlValue,
    ks: SqlValue,
    quasi_identifiers: SqlValue,
    patterns: SqlValue,
    method: SqlValue,
    time_limit: SqlValue,
    seed: SqlValue,
) -> list[dict[str, Any]]:
    """Serve ``kanon_curve``; `patterns` is JSON text, `time_limit` is in seconds."""

    def operation(db: SpiDatabase) -> list[dict[str, Any]]:
        request = CurveRequest(
            relation=relation,
            ks=ks,
            quasi_identifiers=read_names("quasi_identifiers", quasi_identifiers),
            patterns=read_json(patterns),
            method=method,
            time_limit=time_limit,
            seed=seed,
        )
        points = tracing.curve(db, request).points
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


def version() -> list[dict[str, str]]:
    """Serve ``kanon_version``."""

    def operation(db: SpiDatabase) -> list[dict[str, str]]:
        found = check.versions(db)
        return [
            {
                "sql_version": found.sql,
                "package_version": kanon_pg.__version__,
                "python_version": platform.python_version(),
                "server_version": found.server,
            }
        ]

    return serve(operation)


def install_check() -> list[dict[str, Any]]:
    """Serve ``kanon_install_check``."""

    def operation(db: SpiDatabase) -> list[dict[str, Any]]:
        def trial(relation: str, release: str) -> None:
            request = AnonymizeRequest(
                relation=relation, k=2, release=release, quasi_identifiers=check.TRIAL_QUASI_IDENTIFIERS
            )
            releasing.anonymize(db, request, role=base.OWNER)

        return [asdict(item) for item in check.run(db, trial)]

    return serve(operation)
