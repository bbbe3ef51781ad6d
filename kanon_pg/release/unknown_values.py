"""Values that came after a release was made and that its hierarchies do not know."""

from __future__ import annotations

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.release.plan import ReleasePlan
from kanon_pg.release.storage import StorageNames


def create_unknown_view(db: Database, plan: ReleasePlan, names: StorageNames) -> None:
    """Create the view that counts, at any time, rows with values that the hierarchies do not know.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    plan : ReleasePlan
        What is published.
    names : StorageNames
        The view to create and the tables it reads; nothing is done without generalized columns.
    """
    if names.unknown is None:
        return
    parts = [
        {
            "alias": g.column.alias,
            "expression": g.column.expression,
            "known": g.known,
            "count": Identifier.of(f"unknown_{position}"),
            "table": table,
        }
        for position, (g, table) in enumerate(zip(plan.generalized, names.nodes, strict=True))
    ]
    db.execute(
        statement("create_unknown", view=names.unknown, relation=plan.base.identifier, generalized=parts)
    )


def tell_unknown(db: Database, row: Row) -> None:
    """Say of which columns a refresh suppressed values that their hierarchies do not know.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    row : Row
        The record of a release.
    """
    if not row["unknown_name"]:
        return
    view = Identifier.of(row["unknown_schema"], row["unknown_name"])
    counts = db.row(statement("count_unknown", view=view))
    for position, name in enumerate(row["generalized"]):
        unknown = counts[f"unknown_{position}"]
        if unknown:
            db.notice(
                f"{unknown} rows have values of column {Identifier.of(name)} that its hierarchy does not "
                "know; they are suppressed. Publish the release anew with a hierarchy that has these values."
            )
