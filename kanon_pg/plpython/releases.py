"""What the PL/Python functions for declarations, releases and hierarchies call.

What stores something has the rights of the owner role and checks what others read for it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kanon_pg.db.catalog import requesting_role
from kanon_pg.db.operation import SqlValue, read_json
from kanon_pg.db.spi_adapter import SpiDatabase, serve
from kanon_pg.hierarchies import operations, storage
from kanon_pg.hierarchies.operations import BUILD_HIERARCHY, LOAD_HIERARCHY, MISSING_VALUES, SHOW_HIERARCHY
from kanon_pg.release import certificate as certificates
from kanon_pg.release import missing, releasing
from kanon_pg.release.certificate import CERTIFICATE
from kanon_pg.release.compare import composition as compositions
from kanon_pg.release.compare.composition import COMPOSITION
from kanon_pg.release.declare import declaration, linking
from kanon_pg.release.declare.linking import LINK
from kanon_pg.release.plan.request import ANONYMIZE, DECLARE


def declare(*arguments: SqlValue) -> None:
    """Serve ``kanon_declare``."""
    serve(
        lambda db: declaration.declare(db, DECLARE.request(*arguments), role=requesting_role(db, "declare"))
    )


def undeclare(relation: SqlValue) -> None:
    """Serve ``kanon_undeclare``."""
    serve(lambda db: declaration.undeclare(db, relation, role=requesting_role(db, "undeclare")))


def link(*arguments: SqlValue) -> None:
    """Serve ``kanon_link``."""
    serve(lambda db: linking.link(db, LINK.request(*arguments), role=requesting_role(db, "link")))


def unlink(child: SqlValue) -> None:
    """Serve ``kanon_unlink``."""
    serve(lambda db: linking.unlink(db, child, role=requesting_role(db, "unlink")))


def anonymize(*arguments: SqlValue) -> dict[str, Any]:
    """Serve ``kanon_anonymize``."""

    def operation(db: SpiDatabase) -> dict[str, Any]:
        role = requesting_role(db, "anonymize")
        report = asdict(releasing.anonymize(db, ANONYMIZE.request(*arguments), role=role))
        return report | {"elapsed": f"{report['elapsed']:.6f} seconds"}

    return serve(operation)


def certificate(*arguments: SqlValue) -> str:
    """Serve ``kanon_certificate``."""
    return serve(
        lambda db: certificates.certificate(
            db, CERTIFICATE.request(*arguments), role=requesting_role(db, "certificate")
        )
    )


def composition(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon_composition``."""

    def operation(db: SpiDatabase) -> list[dict[str, Any]]:
        request = COMPOSITION.request(*arguments)
        found = compositions.composition(db, request, role=requesting_role(db, "composition"))
        return [asdict(one) | {"releases": list(one.releases)} for one in found]

    return serve(operation)


def refresh(release: SqlValue) -> None:
    """Serve ``kanon_refresh``."""
    serve(lambda db: releasing.refresh(db, release, role=requesting_role(db, "refresh")))


def drop(release: SqlValue) -> None:
    """Serve ``kanon_drop``."""
    serve(lambda db: releasing.drop(db, release, role=requesting_role(db, "drop")))


def erase(release: SqlValue, person: SqlValue) -> None:
    """Serve ``kanon_erase``."""
    serve(lambda db: releasing.erase(db, release, person or (), role=requesting_role(db, "erase")))


def store_hierarchy(hierarchy: SqlValue, definition: SqlValue) -> int:
    """Serve ``kanon.store_hierarchy``."""
    return serve(
        lambda db: (
            operations.define(
                db, hierarchy, read_json(definition), role=requesting_role(db, "hierarchy_define")
            ).version
        )
    )


def read_hierarchy(*arguments: SqlValue) -> str:
    """Serve ``kanon.read_hierarchy``, with the caller's rights."""
    return serve(lambda db: operations.read_table(db, *LOAD_HIERARCHY.read(*arguments).values()).to_json())


def build_hierarchy(*arguments: SqlValue) -> str:
    """Serve ``kanon.build_hierarchy``, with the caller's rights."""
    return serve(lambda db: operations.build_column(db, *BUILD_HIERARCHY.read(*arguments).values()).to_json())


def hierarchy_values(hierarchy: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon.hierarchy_values``."""
    found = serve(lambda db: operations.content(db, hierarchy, role=requesting_role(db, "hierarchy_values")))
    return [{"value": row[0], "nodes": row[1:]} for row in found.hierarchy.rows()]


def missing_values(*arguments: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon.missing_values``, with the caller's rights."""
    *given, known = arguments
    return serve(
        lambda db: [
            asdict(one) for one in missing.missing_values(db, **MISSING_VALUES.read(*given), known=known)
        ]
    )


def show_hierarchy(*arguments: SqlValue) -> list[str]:
    """Serve ``kanon.show_hierarchy``."""

    def operation(db: SpiDatabase) -> list[str]:
        request = SHOW_HIERARCHY.request(*arguments)
        return operations.show(
            db, request.hierarchy, request.most, role=requesting_role(db, "hierarchy_show")
        )

    return serve(operation)


def drop_hierarchy(hierarchy: SqlValue) -> None:
    """Serve ``kanon.drop_hierarchy``."""
    serve(lambda db: storage.drop(db, hierarchy, requesting_role(db, "hierarchy_drop")))
