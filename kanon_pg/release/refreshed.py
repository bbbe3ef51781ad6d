"""What a release has after a refresh, counted as its readers see it."""

from __future__ import annotations

from kanon_pg.core.generalization import LevelFields
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.release.plan import suppressed_in


def record_refresh(db: Database, row: Row, storage: Identifier) -> None:
    """Count a refreshed release and put the figures in the place of those before.

    What was proven speaks of the table as it was published, and stays as it is.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    row : Row
        The record of the release.
    storage : Identifier
        Its materialized view.
    """
    fields = _fields(db, row)
    seen = db.row(
        statement(
            "recount_seen",
            storage=storage,
            entity=row["has_entity"],
            columns=[
                {"cell": Identifier.of(name), "is_suppressed": suppressed_in(fields, "kanon_pattern", place)}
                for place, name in enumerate(row["quasi_identifiers"])
            ],
        )
    )
    people = (
        db.row(statement("count_people", storage=storage))["people"] if row["has_entity"] else seen["rows"]
    )
    average = int(seen["memberships"]) / max(1, int(seen["classes"]))
    db.execute(
        statement("record_refresh"),
        row["name"],
        seen["rows"],
        people,
        seen["classes"],
        seen["smallest"],
        average,
        seen["largest"],
        seen["suppressed"],
    )


def _fields(db: Database, row: Row) -> LevelFields:
    """Return where the levels of a release's columns stand, from its own copies of their hierarchies."""
    if not row["generalized"]:
        return LevelFields((1,) * len(row["quasi_identifiers"]))
    found = db.rows(statement("fetch_heights"), row["name"])
    heights = dict(zip(row["generalized"], (one["height"] for one in found), strict=True))
    return LevelFields(tuple(heights.get(name, 1) for name in row["quasi_identifiers"]))
