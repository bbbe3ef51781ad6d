"""What the PL/Python functions for hierarchies call; `kanon_pg.server` offers them to the bodies.

What reads tables runs with the caller's rights and returns a definition; what stores it has the rights of the
owner role and checks it anew.
"""

from __future__ import annotations

from typing import Any

from kanon_pg.db.arguments import read_json
from kanon_pg.db.catalog import requesting_role
from kanon_pg.db.spi_adapter import serve
from kanon_pg.hierarchies import defining
from kanon_pg.server.values import SqlValue


def store_hierarchy(hierarchy: SqlValue, definition: SqlValue) -> int:
    """Serve ``kanon.store_hierarchy``."""
    return serve(
        lambda db: (
            defining.define(
                db, hierarchy, read_json(definition), role=requesting_role(db, "hierarchy_define")
            ).version
        )
    )


def read_hierarchy(relation: SqlValue, options: SqlValue) -> str:
    """Serve ``kanon.read_hierarchy``."""
    return serve(lambda db: defining.read_table(db, relation, read_json(options)).to_json())


def build_hierarchy(relation: SqlValue, column_name: SqlValue, spec: SqlValue, options: SqlValue) -> str:
    """Serve ``kanon.build_hierarchy``."""
    return serve(
        lambda db: defining.build_column(
            db, relation, column_name, read_json(spec), read_json(options)
        ).to_json()
    )


def hierarchy_values(hierarchy: SqlValue) -> list[dict[str, Any]]:
    """Serve ``kanon.hierarchy_values``."""
    found = serve(lambda db: defining.content(db, hierarchy, role=requesting_role(db, "hierarchy_values")))
    return [{"value": row[0], "nodes": row[1:]} for row in found.hierarchy.rows()]


def show_hierarchy(hierarchy: SqlValue, most: SqlValue) -> list[str]:
    """Serve ``kanon.show_hierarchy``."""
    return serve(lambda db: defining.show(db, hierarchy, most, role=requesting_role(db, "hierarchy_show")))


def drop_hierarchy(hierarchy: SqlValue) -> None:
    """Serve ``kanon.drop_hierarchy``."""
    serve(lambda db: defining.drop(db, hierarchy, role=requesting_role(db, "hierarchy_drop")))
