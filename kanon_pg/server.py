"""What the PL/Python functions call: opens the server's door, calls a service, shapes the result.

Imported inside PostgreSQL backends, after ``kanon.boot()`` has put this package on the path and checked
its version. There is no logic here: what a function does, the services say.
"""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from typing import Any

import kanon_pg
from kanon_pg.curves import service as tracing
from kanon_pg.curves.request import CurveRequest
from kanon_pg.db.catalog import requesting_role
from kanon_pg.db.spi_adapter import SpiDatabase, serve
from kanon_pg.errors import InputError
from kanon_pg.install import check
from kanon_pg.measure import service as measuring
from kanon_pg.release import base, declaration
from kanon_pg.release import service as releasing
from kanon_pg.release.models import option_fields
from kanon_pg.release.request import AnonymizeRequest

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
            _names("identifiers", identifiers) or (),
            _names("quasi_identifiers", quasi_identifiers) or (),
            _names("sensitive", sensitive) or (),
            _names("insensitive", insensitive) or (),
            entity,
            _json(weights),
            role=requesting_role(db, "declare"),
        )
    )


def undeclare(relation: SqlValue) -> None:
    """Serve ``kanon_undeclare``."""
    serve(lambda db: declaration.undeclare(db, relation, role=requesting_role(db, "undeclare")))


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
            quasi_identifiers=_names("quasi_identifiers", quasi_identifiers),
            sensitive=_names("sensitive", sensitive),
            method=method,
            patterns=_json(patterns),
            time_limit=time_limit,
            release=release,
            seed=seed,
            l=l,
            p=p,
            t=t,
            hierarchies=_json(hierarchies),
            **option_fields(_json(options)),
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
            quasi_identifiers=_names("quasi_identifiers", quasi_identifiers),
            patterns=_json(patterns),
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
                db, relation, _names("quasi_identifiers", quasi_identifiers), _names("sensitive", sensitive)
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
            request = AnonymizeRequest(relation=relation, k=2, release=release)
            releasing.anonymize(db, request, role=base.OWNER)

        return [asdict(item) for item in check.run(db, trial)]

    return serve(operation)


def _names(argument: str, names: SqlValue) -> list[str] | None:
    """Take a one-dimensional array without NULLs; PL/Python nests lists for further dimensions."""
    if names is None:
        return None
    if not all(isinstance(name, str) for name in names):
        raise InputError(
            f"Argument {argument} must be a plain list of column names.",
            hint="Without NULLs and nested arrays, for example '{zip,sex}'.",
        )
    return list(names)


def _json(text: SqlValue) -> Any:
    try:
        return None if text is None else json.loads(text, parse_int=_number)
    except RecursionError as error:
        raise InputError(
            "A JSON argument is nested too deeply.", hint="Give plain lists and objects."
        ) from error


def _number(digits: str) -> int | float:
    """Take a jsonb integer, which may have thousands of digits; infinity is refused where it arrives."""
    return int(digits) if len(digits) < 20 else float(digits)
